// The newest rows of a table, each to be edited or deleted.

import { el, empty } from './element.js'
import { newest, remove, update } from './fields.js'
import { RowForm } from './form.js'
import { value } from './log.js'

/** @import { Server } from './server.js' */
/** @import { Entity } from './streams.js' */

/** @typedef {Record<string, string | null>} Row */

export class Rows {
  #server
  /** @type {Entity | null} */
  #entity = null
  #isLoading = false
  #isStale = false
  #title = el('h3', { tabindex: '-1' }, 'Newest rows')
  #said = el('p', { class: 'said', role: 'status' })
  #table = el('div', {
    class: 'scroll',
    role: 'region',
    'aria-label': 'Newest rows',
    tabindex: '0',
  })

  /** @param {Server} server */
  constructor(server) {
    this.#server = server
    this.element = el('div', { class: 'rows' }, this.#title, this.#said, this.#table)
  }

  /** @param {Entity} entity */
  of(entity) {
    this.#entity = entity
    this.#said.textContent = ''
    this.#table.replaceChildren()
    this.load()
  }

  /** Reads them; while that is under way, another reading waits, and stands for all that come meanwhile. */
  async load() {
    this.#isStale = true
    if (this.#isLoading) return
    this.#isLoading = true
    try {
      while (this.#isStale && this.#entity) {
        this.#isStale = false
        const entity = this.#entity
        const { rows } = await this.#server.sql(newest(entity))
        if (entity === this.#entity) this.#show(entity, /** @type {Row[]} */ (rows))
      }
    } catch (error) {
      this.#say(/** @type {Error} */ (error).message, 'error')
    } finally {
      this.#isLoading = false
    }
  }

  /**
   * @param {Entity} entity
   * @param {Row[]} rows
   */
  #show(entity, rows) {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.focus
    if (rows.length === 0) {
      this.#table.replaceChildren(empty('The table is empty. Add a row above.'))
    } else {
      const head = entity.columns.map(({ name }) => el('th', { scope: 'col' }, name))
      this.#table.replaceChildren(
        el(
          'table',
          {},
          el('thead', {}, el('tr', {}, ...head, el('td', {}))),
          el('tbody', {}, ...rows.map((row) => this.#row(entity, row))),
        ),
      )
    }
    if (!focused) return
    const again = [...this.#table.querySelectorAll('button')]
    const button = again.find((it) => it.dataset.focus === focused) ?? this.#title
    button.focus({ preventScroll: true })
  }

  /**
   * @param {Entity} entity
   * @param {Row} row
   */
  #row(entity, row) {
    const key = entity.key.map((name) => row[name]).join(', ')
    const cells = entity.columns.map(({ name }) => el('td', {}, value(row[name])))
    const edit = el(
      'button',
      {
        class: 'small',
        type: 'button',
        'data-focus': `edit ${key}`,
        'aria-label': `Edit ${entity.name} ${key}`,
        onclick: () => this.#edit(entity, row, key),
      },
      'Edit',
    )
    return el(
      'tr',
      {},
      ...cells,
      el('td', { class: 'actions' }, edit, this.#removal(entity, row, key)),
    )
  }

  /**
   * A button that is pressed twice: the first time it asks.
   *
   * @param {Entity} entity
   * @param {Row} row
   * @param {string} key
   */
  #removal(entity, row, key) {
    const label = `Delete ${entity.name} ${key}`
    const button = el(
      'button',
      { class: 'small', type: 'button', 'data-focus': `delete ${key}`, 'aria-label': label },
      'Delete',
    )
    const ask = (/** @type {boolean} */ isAsking) => {
      button.classList.toggle('sure', isAsking)
      button.textContent = isAsking ? 'Sure?' : 'Delete'
      button.setAttribute('aria-label', isAsking ? `${label}: sure?` : label)
    }
    button.addEventListener('blur', () => ask(false))
    button.addEventListener('click', () => {
      if (!button.classList.contains('sure')) return ask(true)
      this.#run(remove(entity, row), `Deleted ${entity.name} ${key}.`)
    })
    return button
  }

  /**
   * @param {Entity} entity
   * @param {Row} row
   * @param {string} key
   */
  #edit(entity, row, key) {
    const title = el('h3', { id: 'edit-title' }, `Edit ${entity.name} ${key}`)
    const said = el('p', { class: 'said', role: 'status', 'data-kind': 'error' })
    const dialog = el('dialog', { 'aria-labelledby': title.id, onclose: () => dialog.remove() })
    const columns = entity.columns.filter(({ generated }) => !generated)
    const form = new RowForm(columns, {
      prefix: 'edit',
      submit: 'Save',
      row,
      cancel: () => dialog.close(),
    })
    form.element.addEventListener('submit', async (event) => {
      event.preventDefault()
      const given = form.given()
      try {
        if (given.length > 0) {
          await this.#server.sql(...update(entity, row, given))
          this.#say(`Saved ${entity.name} ${key}.`)
          await this.load()
        }
        dialog.close()
        const buttons = [...this.#table.querySelectorAll('button')]
        buttons.find((it) => it.dataset.focus === `edit ${key}`)?.focus()
      } catch (error) {
        said.textContent = /** @type {Error} */ (error).message
      }
    })
    dialog.append(title, form.element, said)
    document.body.append(dialog)
    dialog.showModal()
    form.focus()
  }

  /**
   * @param {[sql: string, values: (string | null)[]]} statement
   * @param {string} done
   */
  async #run(statement, done) {
    try {
      await this.#server.sql(...statement)
      this.#say(done)
      await this.load()
    } catch (error) {
      this.#say(/** @type {Error} */ (error).message, 'error')
    }
  }

  /**
   * @param {string} text
   * @param {'' | 'error'} [kind]
   */
  #say(text, kind = '') {
    this.#said.dataset.kind = kind
    this.#said.textContent = text
  }
}
