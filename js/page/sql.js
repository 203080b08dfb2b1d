// A box for SQL: what it answers is a table, a count, or what the database says against it.

import { counted, el, field } from './element.js'
import { value } from './log.js'

/** @import { Server } from './server.js' */

const MAX_ROWS = 100

export class SqlBox {
  #server
  #ran
  #text = el('textarea', {
    id: 'sql',
    name: 'sql',
    rows: 3,
    required: true,
    spellcheck: 'false',
    autocapitalize: 'none',
    placeholder: "update orders set status = 'placed'; delete from orders where id = 1",
    'aria-describedby': 'sql-hint',
  })
  #said = el('p', { class: 'said', role: 'status' })
  #result = el('div', {})

  /**
   * @param {Server} server
   * @param {() => Promise<void>} ran
   */
  constructor(server, ran) {
    this.#server = server
    this.#ran = ran
    const hint = 'One run is one commit, however many statements. Ctrl+Enter runs it.'
    this.element = el(
      'form',
      { class: 'sql', onsubmit: (/** @type {Event} */ event) => this.#submit(event) },
      el('h3', {}, 'SQL'),
      field('Statements', this.#text, el('small', { id: 'sql-hint' }, hint)),
      el('p', { class: 'actions' }, el('button', {}, 'Run')),
      this.#said,
      this.#result,
    )
    this.#text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.element.requestSubmit()
    })
  }

  /** @param {Event} event */
  async #submit(event) {
    event.preventDefault()
    this.#result.replaceChildren()
    this.#said.dataset.kind = ''
    this.#said.textContent = 'Running …'
    try {
      const { columns, rows, more, affectedRows } = await this.#server.sql(this.#text.value)
      const total = rows.length + more
      this.#said.textContent =
        columns.length > 0
          ? counted(total, 'row')
          : `Done, ${counted(affectedRows, 'row')} affected.`
      if (columns.length > 0) this.#result.replaceChildren(table(columns, rows))
      if (total > MAX_ROWS) this.#said.textContent += `, the first ${MAX_ROWS} of them here`
      await this.#ran()
    } catch (error) {
      this.#said.dataset.kind = 'error'
      this.#said.textContent = /** @type {Error} */ (error).message
    }
  }
}

/**
 * @param {string[]} columns
 * @param {Record<string, unknown>[]} rows
 */
function table(columns, rows) {
  return el(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': 'Result', tabindex: '0' },
    el(
      'table',
      {},
      el('thead', {}, el('tr', {}, ...columns.map((name) => el('th', { scope: 'col' }, name)))),
      el(
        'tbody',
        {},
        ...rows
          .slice(0, MAX_ROWS)
          .map((row) => el('tr', {}, ...columns.map((name) => el('td', {}, value(row[name]))))),
      ),
    ),
  )
}
