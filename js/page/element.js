// Elements, made in one call. Data becomes text and never markup.

/**
 * @typedef {string | number | boolean | null | undefined | ((event: any) => void)} Attribute
 * @typedef {Node | string | null | undefined | false} Child
 */

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, Attribute>} [attributes] listeners too, as `onclick`
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key.slice(2), value)
    else if (value === true) element.setAttribute(key, '')
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(key, String(value))
    }
  }
  element.append(...children.filter((child) => child instanceof Node || typeof child === 'string'))
  return element
}

/**
 * An element of the document, by its id.
 *
 * @param {string} id
 */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id))
}

/**
 * A control under its label.
 *
 * @param {string} label
 * @param {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} control with an id
 * @param {...Child} more
 */
export function field(label, control, ...more) {
  return el('p', { class: 'field' }, el('label', { for: control.id }, label), control, ...more)
}

/**
 * Says that something is not there yet, and what to do.
 *
 * @param {...Child} children
 */
export function empty(...children) {
  return el('p', { class: 'empty' }, ...children)
}

const ofDay = new Intl.DateTimeFormat([], { timeStyle: 'medium', hourCycle: 'h23' })
const whole = new Intl.DateTimeFormat([], { dateStyle: 'medium', timeStyle: 'long' })

/**
 * A time of day, with all of it at hand.
 *
 * @param {Date} date
 */
export function time(date) {
  const attributes = { datetime: date.toISOString(), title: whole.format(date) }
  return el('time', attributes, ofDay.format(date))
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

const SIGNS = /** @type {Record<string, string>} */ ({
  insert: '+',
  create: '+',
  update: '~',
  delete: '−',
  truncate: '×',
  gap: '!',
})

/**
 * What happened to a row: a sign for the eye, a word for who listens.
 *
 * @param {string} op
 */
export function sign(op) {
  return el(
    'span',
    { class: 'sign', 'data-op': op },
    el('span', { 'aria-hidden': 'true' }, SIGNS[op] ?? '·'),
    el('span', { class: 'heard' }, `${op} `),
  )
}
