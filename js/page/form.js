// A form made from a table's columns: for a row to be, or for one that is.

import { el, field } from './element.js'

/** @import { Entity } from './streams.js' */
/** @import { Given } from './fields.js' */

/** @typedef {Entity['columns'][number]} Column */
/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control */

const NUMBERS = /^(smallint|integer|bigint|numeric|real|double precision)/
const LONG = /^(json|jsonb|xml)$/

/** Controls for columns, and the values that a person gave. */
export class RowForm {
  /** @type {{ column: Column, control: Control, none: HTMLInputElement | null, first: string | null }[]} */
  #fields

  /**
   * @param {Column[]} columns
   * @param {{ prefix: string, submit: string, row?: Record<string, string | null>, cancel?: () => void }} how
   */
  constructor(columns, { prefix, submit, row, cancel }) {
    this.#fields = columns.map((column) => {
      const before = row ? (row[column.name] ?? null) : null
      const control = controlOf(column, `${prefix}-${column.name}`, before, row !== undefined)
      const none = row && !column.notNull ? nullBox(column, control, before) : null
      return { column, control, none, first: row ? before : null }
    })
    const fields = this.#fields.map(({ column, control, none }) =>
      field(
        column.name,
        control,
        el('small', { id: `${control.id}-hint` }, hint(column, row === undefined)),
        none && el('label', { class: 'none' }, none, 'null'),
      ),
    )
    this.element = el(
      'form',
      { class: 'row', autocomplete: 'off' },
      ...fields,
      el(
        'p',
        { class: 'actions' },
        el('button', { class: 'primary' }, submit),
        cancel && el('button', { type: 'button', onclick: cancel }, 'Cancel'),
      ),
    )
    this.#began = this.#fields.map(({ control }) => control.value)
  }

  /** What the controls made of the values they were given. */
  #began

  /** @returns {Given[]} the values that were given, or are other than before */
  given() {
    return this.#fields.flatMap(({ column, control, none, first }, index) => {
      const value = none?.checked ? null : control.value
      const isAsBefore =
        value === null || (none && first === null) ? value === first : value === this.#began[index]
      return isAsBefore ? [] : [{ column, value }]
    })
  }

  focus() {
    this.#fields[0]?.control.focus()
  }
}

/**
 * @param {Column} column
 * @param {string} id
 * @param {string | null} value
 * @param {boolean} isEdited
 * @returns {Control}
 */
function controlOf({ name, type }, id, value, isEdited) {
  const attributes = { id, name, 'aria-describedby': `${id}-hint` }
  if (type === 'boolean') {
    const values = isEdited ? ['true', 'false'] : ['', 'true', 'false']
    const select = el('select', attributes, ...values.map((it) => el('option', {}, it)))
    select.value = value ?? values[0] ?? ''
    return select
  }
  const isLong = LONG.test(type) || value?.includes('\n')
  const words = { spellcheck: 'false', autocapitalize: 'none' }
  const control = isLong
    ? el('textarea', { ...attributes, ...words, rows: 3 })
    : el('input', {
        ...attributes,
        ...words,
        type: 'text',
        inputmode: NUMBERS.test(type) ? 'decimal' : null,
      })
  control.value = value ?? ''
  return control
}

/**
 * Tells null from an empty text. Typing is no longer null.
 *
 * @param {Column} column
 * @param {Control} control
 * @param {string | null} value
 */
function nullBox({ name }, control, value) {
  const box = el('input', { type: 'checkbox', 'aria-label': `${name} is null` })
  box.checked = value === null
  control.addEventListener('input', () => {
    box.checked = false
  })
  return box
}

/**
 * @param {Column} column
 * @param {boolean} isForNew
 */
function hint({ type, notNull, default: otherwise }, isForNew) {
  if (!isForNew) return type
  if (otherwise === 'identity') return `${type}, counted if left empty`
  if (otherwise !== null) return `${type}, ${otherwise.replace(/::[\w ]+$/, '')} if left empty`
  return notNull ? `${type}, needed` : `${type}, null if left empty`
}
