// The section of writing: a form for a row, the newest rows to edit or delete, and SQL.

import { byId, el, empty, field } from './element.js'
import { insert } from './fields.js'
import { RowForm } from './form.js'
import { Rows } from './rows.js'
import { SqlBox } from './sql.js'

/** @import { Server } from './server.js' */
/** @import { Entity } from './streams.js' */

export class Writing {
  #server
  #place = byId('writing')
  #choice = el('select', { id: 'write-entity', onchange: () => this.#showChosen() })
  #chooser = field('Entity', this.#choice)
  #form = el('div', {})
  #said = el('p', { class: 'said', role: 'status' })
  #rows
  #sql
  /** @type {Entity[]} */
  #entities = []
  /** What the form shows, so that it is made again only when that is other. */
  #offered = ''

  /**
   * @param {Server} server
   * @param {() => Promise<void>} reload what the tables are may have changed
   */
  constructor(server, reload) {
    this.#server = server
    this.#rows = new Rows(server)
    this.#sql = new SqlBox(server, async () => {
      await reload()
      await this.#rows.load()
    })
    this.#place.append(empty('Connecting …'))
  }

  lock() {
    this.#offered = ''
    this.#place.replaceChildren(empty('Writing is for the owner: give the token above.'))
  }

  /** @param {Entity[]} entities */
  offer(entities) {
    this.#entities = entities
    const offered = JSON.stringify(entities)
    if (offered === this.#offered) {
      this.#rows.load()
      return
    }
    this.#offered = offered
    const before = this.#choice.value
    this.#choice.replaceChildren(...entities.map(({ name }) => el('option', {}, name)))
    if (entities.some(({ name }) => name === before)) this.#choice.value = before
    this.#chooser.hidden = entities.length < 2
    if (!this.#sql.element.isConnected) {
      const parts = [this.#chooser, this.#form, this.#said, this.#rows.element, this.#sql.element]
      this.#place.replaceChildren(...parts)
    }
    this.#showChosen()
  }

  /**
   * Reads the rows again where commits concern them.
   *
   * @param {{ entries?: { relation: { namespace: string, name: string } }[] }[]} commits
   */
  changed(commits) {
    const chosen = this.#chosen
    const concerns = commits.some(({ entries = [] }) =>
      entries.some(
        ({ relation }) =>
          relation.name === chosen?.relation.name &&
          relation.namespace === chosen.relation.namespace,
      ),
    )
    if (concerns) this.#rows.load()
  }

  get #chosen() {
    return this.#entities[this.#choice.selectedIndex]
  }

  #showChosen() {
    const entity = this.#chosen
    if (!entity) return
    const columns = entity.columns.filter(({ generated }) => !generated)
    const form = new RowForm(columns, { prefix: 'add', submit: `Add ${entity.name}` })
    form.element.setAttribute('aria-label', `Add ${entity.name}`)
    form.element.addEventListener('submit', async (event) => {
      event.preventDefault()
      this.#said.dataset.kind = ''
      try {
        const [sql, values] = insert(entity, form.given())
        const { rows } = await this.#server.sql(sql, values)
        form.element.reset()
        form.focus()
        this.#said.textContent = `Added ${entity.name} ${Object.values(rows[0] ?? {}).join(', ')}.`
      } catch (error) {
        this.#said.dataset.kind = 'error'
        this.#said.textContent = /** @type {Error} */ (error).message
      }
    })
    this.#said.textContent = ''
    this.#form.replaceChildren(form.element)
    this.#rows.of(entity)
  }
}
