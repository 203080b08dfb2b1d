// The page of `millstream serve` in Chromium: over the real process, by mouse and by keyboard, through a restart.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { PGliteClient } from 'millstream/pglite'
import { chromium } from 'playwright-core'
import { Command } from './command.js'

/** @import { Browser, BrowserContextOptions, Page } from 'playwright-core' */

describe('the page', () => {
  /** @type {Browser} */
  let browser
  /** @type {Command} */
  let server
  /** @type {string} */
  let folder
  /** @type {string[]} */
  let serving

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millstream-page-'))
    serving = ['serve', '--database', `pglite:${join(folder, 'db')}`, '--token', 'of-the-test']
    server = await new Command([...serving, '--port', '0']).ready()
    browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    })
  })
  after(async () => {
    await browser?.close()
    await server.kill()
    await rm(folder, { recursive: true })
  })

  /**
   * Opens the page for a person of their own, and waits until its stream is open.
   *
   * @param {BrowserContextOptions} [options]
   */
  async function visit(options = {}) {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
    const page = await context.newPage()
    /** @type {string[]} */
    const errors = []
    page.on('pageerror', (error) => errors.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text())
    })
    await page.goto(server.link.href)
    await page.locator('.card[data-state=open]').waitFor()
    await page.locator('#server[data-state=open]').waitFor()
    await page.getByRole('button', { name: 'Run' }).waitFor()
    return { context, page, errors }
  }

  /**
   * Adds an order by the form, and gives its id.
   *
   * @param {Page} page
   * @param {string} title
   */
  async function add(page, title) {
    await page.getByLabel('title').fill(title)
    await page.getByRole('button', { name: 'Add order' }).click()
    await page.locator('.commit', { hasText: title }).waitFor()
    const { rows } = await server.sql('select id from orders where title = $1', [title])
    return String(rows[0].id)
  }

  /**
   * How many colours a picture has, and how light it is, from 0 to 255.
   *
   * @param {Page} page
   * @param {string} name
   */
  async function look(page, name) {
    const bytes = await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
    const blank = await browser.newPage()
    const seen = await blank.evaluate(async (base64) => {
      const image = new Image()
      image.src = `data:image/png;base64,${base64}`
      await image.decode()
      const canvas = new OffscreenCanvas(image.width, image.height)
      const context = canvas.getContext('2d')
      if (!context) throw new Error('no canvas')
      context.drawImage(image, 0, 0)
      const pixels = new Uint32Array(
        context.getImageData(0, 0, image.width, image.height).data.buffer,
      )
      let sum = 0
      for (const pixel of pixels) {
        sum += ((pixel & 255) + ((pixel >> 8) & 255) + ((pixel >> 16) & 255)) / 3
      }
      return { colours: new Set(pixels).size, light: sum / pixels.length }
    }, bytes.toString('base64'))
    await blank.close()
    return seen
  }

  test('shows a row that its form writes, in the stream, the log and the counters', async () => {
    const { context, page, errors } = await visit()
    assert.equal(new URL(page.url()).hash, '', 'the token is still in the address')
    const id = await add(page, 'Tea for two')

    const frame = page.locator(`.frame[data-subject="${id}"]`)
    await frame.waitFor()
    await frame.locator('summary').click()
    assert.match(
      (await frame.locator('pre').textContent()) ?? '',
      /^id: \w{26}\nevent: entity\.create\ndata: \{/,
    )
    await page.locator('tbody tr', { hasText: 'Tea for two' }).waitFor()
    await page.locator('.term[data-kind=delivered]:not([data-zero])').waitFor()

    await page.getByRole('button', { name: `Edit order ${id}` }).click()
    await page.getByRole('dialog').getByLabel('status', { exact: true }).fill('placed')
    await page.getByRole('dialog').getByLabel('title is null').check()
    await page.getByRole('button', { name: 'Save' }).click()
    const changed = page.locator('.entry[data-op=update]')
    await changed.getByText('placed').waitFor()
    assert.equal(await changed.locator('del').first().textContent(), 'Tea for two')
    assert.deepEqual(
      (await server.sql('select title, status from orders where id = $1', [id])).rows,
      [{ title: null, status: 'placed' }],
    )

    const remove = page.getByRole('button', { name: `Delete order ${id}` })
    await remove.click()
    await remove.click()
    await page.locator('.entry[data-op=delete]').waitFor()

    await page.getByLabel('Statements').fill('select 1 as one; nonsense')
    await page.getByLabel('Statements').press('Control+Enter')
    await page.locator('.sql .said[data-kind=error]', { hasText: 'syntax error' }).waitFor()
    await page.getByLabel('Statements').fill(`select '<b>x</b>' as one`)
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByRole('region', { name: 'Result' }).getByText('<b>x</b>').waitFor()
    assert.deepEqual(errors, [])
    await context.close()
  })

  test('narrows a stream by operations, closes it and goes on', async () => {
    const { context, page, errors } = await visit()
    await page.locator('.card').getByRole('button', { name: 'Close' }).click()
    await page.locator('.card[data-state=closed]').waitFor()
    await page.locator('.card').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No stream is open.').waitFor()

    await page.getByLabel('update').uncheck()
    await page.getByLabel('delete').uncheck()
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    const card = page.locator('.card[data-state=open]')
    await card.waitFor()
    const first = await add(page, 'Only created')
    await card.locator(`.frame[data-subject="${first}"]`).waitFor()
    await card.getByRole('button', { name: 'Close' }).click()
    const second = await add(page, 'While it is closed')
    await page.locator('.card').getByRole('button', { name: 'Open again' }).click()
    await card.locator(`.frame[data-subject="${second}"]`).waitFor()
    assert.equal(await card.locator('.frame').count(), 2)

    await page.getByLabel('create').uncheck()
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.getByText('Choose at least one operation.').waitFor()
    assert.deepEqual(errors, [])
    await context.close()
  })

  test('is worked by the keyboard alone, and names all that it has', async () => {
    const { context, page, errors } = await visit()
    const focused = () => page.evaluate(() => document.activeElement?.id)
    for (let presses = 0; (await focused()) !== 'add-title'; presses++) {
      assert.ok(presses < 60, 'Tab does not come to the form')
      await page.keyboard.press('Tab')
      const outline = await page.evaluate(
        () => getComputedStyle(document.activeElement ?? document.body).outlineStyle,
      )
      assert.equal(outline, 'solid', `the focus is not seen after ${presses} presses`)
    }
    await page.keyboard.type('By keyboard')
    await page.keyboard.press('Enter')
    await page.locator('tbody tr', { hasText: 'By keyboard' }).waitFor()
    assert.equal(await focused(), 'add-title')
    const { rows } = await server.sql(`select id from orders where title = 'By keyboard'`)
    await page.locator(`.frame[data-subject="${rows[0].id}"]`).waitFor()

    const unnamed = await page.evaluate(() => {
      const controls = [...document.querySelectorAll('input, select, textarea, button, summary')]
      return controls
        .filter((it) => {
          const labels = /** @type {HTMLInputElement} */ (it).labels?.length ?? 0
          return labels === 0 && !it.getAttribute('aria-label') && !it.textContent?.trim()
        })
        .map((it) => it.outerHTML)
    })
    assert.deepEqual(unnamed, [])
    const levels = await page.evaluate(() =>
      [...document.querySelectorAll('h1, h2, h3')].map((it) => Number(it.tagName[1])),
    )
    assert.equal(levels[0], 1)
    for (const [index, level] of levels.entries()) assert.ok(level - (levels[index - 1] ?? 0) <= 1)
    assert.deepEqual(errors, [])
    await context.close()
  })

  test('is seen in light, in dark and on a narrow screen', async () => {
    const light = await visit({ colorScheme: 'light' })
    await add(light.page, 'In light')
    const bright = await look(light.page, 'light')
    await light.context.close()

    const dark = await visit({ colorScheme: 'dark' })
    const dim = await look(dark.page, 'dark')
    await dark.context.close()

    const viewport = { width: 360, height: 740 }
    const narrow = await visit({ colorScheme: 'dark', viewport })
    await add(narrow.page, `A long title ${'without an end '.repeat(8)}${'x'.repeat(80)}`)
    const small = await look(narrow.page, 'narrow')
    const width = await narrow.page.evaluate(() => document.documentElement.scrollWidth)
    assert.equal(width, viewport.width)
    await narrow.context.close()

    for (const { colours } of [bright, dim, small]) assert.ok(colours > 50, `${colours} colours`)
    assert.ok(bright.light > 200, `light is ${bright.light}`)
    assert.ok(dim.light < 60, `dark is ${dim.light}`)
    for (const { errors } of [light, dark, narrow]) assert.deepEqual(errors, [])
  })

  test('asks for the token where it has none, and its streams need none', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(server.link.origin)
    await page.getByLabel('Owner token').waitFor()
    await page.getByLabel('Entity').fill('order')
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.locator('.card[data-state=open]').waitFor()

    await page.getByLabel('Owner token').fill('somebody')
    await page.getByLabel('Owner token').press('Enter')
    await page.getByText('The server does not know this token.').waitFor()
    await page.getByLabel('Owner token').fill(server.token)
    await page.getByLabel('Owner token').press('Enter')
    await page.getByText('Connected to').waitFor()
    await page.getByLabel('Owner token').waitFor({ state: 'hidden' })
    const id = await add(page, 'With the token')
    await page.locator(`.frame[data-subject="${id}"]`).waitFor()

    await page.reload()
    await page.getByText('Connected to').waitFor()
    await context.close()
  })

  test('says why a stream is refused', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(server.link.origin)
    await page.getByLabel('Entity').fill('nothing')
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.getByText("there is no entity 'nothing' (404 entity_not_found)").waitFor()
    await context.close()
  })

  test('outlives its server: each stream goes on where it stood, and misses nothing', async () => {
    const { context, page } = await visit()
    const first = await add(page, 'Before the restart')
    await page.locator(`.frame[data-subject="${first}"]`).waitFor()
    const lastId = await page.locator('.frame .id').first().textContent()

    assert.equal(await server.stop(), 0)
    await page.locator('.card[data-state=reconnecting]').waitFor()
    await page.getByText(`It resumes after ${lastId}.`).waitFor()
    await page.getByText('does not answer. Trying again').waitFor()

    const pglite = await PGlite.create(join(folder, 'db'))
    const db = new PGliteClient(pglite)
    const { rows } = await db.query(
      `insert into orders (title) values ('In between') returning id::text`,
    )
    await db.close()
    await pglite.close()

    server = await new Command([...serving, '--port', server.link.port]).ready()
    await page.locator('.card[data-state=open]').waitFor()
    await page.getByText('Connected to').waitFor()
    const last = await add(page, 'After the restart')
    await page.locator(`.frame[data-subject="${last}"]`).waitFor()
    assert.deepEqual(
      await page.locator('.frame').evaluateAll((frames) => {
        return frames.map((frame) => /** @type {HTMLElement} */ (frame).dataset.subject)
      }),
      [last, /** @type {{ id: string }} */ (rows[0]).id, first],
    )
    await page.getByText('The server was started again.').waitFor()
    await context.close()
  })
})
