// The section of streams: what there is to open, and a card for each that is open.

import { Card } from './card.js'
import { byId, el, empty, field } from './element.js'

/** A browser keeps six connections to a server over HTTP/1.1; the log and writing need some too. */
const MAX_OPEN = 4

/**
 * @typedef {object} Entity
 * @property {string} name
 * @property {{ namespace: string, name: string }} relation
 * @property {{ name: string, type: string, notNull: boolean, default: string | null, generated: boolean }[]} columns
 * @property {string[]} key
 * @property {{ name: string, operations: string[] }[]} subscriptions
 */

export class Streams {
  #form = /** @type {HTMLFormElement} */ (byId('open'))
  #cards = byId('cards')
  /** @type {Set<Card>} */
  #open = new Set()
  /** @type {Entity[] | null} */
  #entities = null
  /** What the form shows, so that it is made again only when that is other. */
  #offered = ''

  constructor() {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault()
      this.#openChosen()
    })
    this.#showEmpty()
  }

  /**
   * Offers the schema's streams, or any name where the schema is not known.
   *
   * @param {Entity[] | null} entities
   */
  offer(entities) {
    const offered = entities?.filter(({ subscriptions }) => subscriptions.length > 0) ?? null
    const key = JSON.stringify(offered?.map(({ name, subscriptions }) => [name, subscriptions]))
    if (key === this.#offered && this.#form.childElementCount > 0) return
    this.#offered = key
    this.#entities = offered
    if (offered) this.#offerChoice(offered)
    else this.#offerNames()
  }

  openFirst() {
    if (this.#open.size === 0 && this.#entities?.length) this.#openChosen()
  }

  /** @param {Entity[]} entities */
  #offerChoice(entities) {
    const entity = el('select', { id: 'open-entity', name: 'entity' })
    entity.append(...entities.map(({ name }) => el('option', {}, name)))
    const name = el('select', { id: 'open-name', name: 'name' })
    const ops = el('fieldset', { class: 'ops' })
    const chosen = () => entities[entity.selectedIndex]
    const showOps = () => {
      const operations = chosen()?.subscriptions[name.selectedIndex]?.operations ?? []
      ops.replaceChildren(el('legend', {}, 'Operations'), ...operations.map(checkbox))
    }
    const showNames = () => {
      const names = chosen()?.subscriptions.map((it) => el('option', {}, it.name)) ?? []
      name.replaceChildren(...names)
      showOps()
    }
    entity.addEventListener('change', showNames)
    name.addEventListener('change', showOps)
    showNames()
    this.#form.replaceChildren(
      field('Entity', entity),
      field('Subscription', name),
      ops,
      el('button', { class: 'primary' }, 'Open'),
    )
  }

  #offerNames() {
    const ops = el('fieldset', { class: 'ops' }, el('legend', {}, 'Operations'))
    ops.append(...['create', 'update', 'delete'].map(checkbox))
    const words = { type: 'text', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none' }
    this.#form.replaceChildren(
      field('Entity', el('input', { ...words, id: 'open-entity', name: 'entity', required: true })),
      field('Subscription', el('input', { ...words, id: 'open-name', name: 'name' })),
      ops,
      el('button', { class: 'primary' }, 'Open'),
    )
  }

  #openChosen() {
    const data = new FormData(this.#form)
    const all = this.#form.querySelectorAll('input[name=ops]').length
    const ops = data.getAll('ops').map(String)
    const said = byId('open-said')
    said.textContent = ''
    if (ops.length === 0) {
      said.textContent = 'Choose at least one operation.'
      return
    }
    if ([...this.#open].filter(({ isLive }) => isLive).length >= MAX_OPEN) {
      said.textContent = `${MAX_OPEN} streams are open, as many as a browser has connections for. Close one first.`
      return
    }
    const entity = String(data.get('entity')).trim()
    const name = String(data.get('name')).trim()
    const card = new Card({ entity, name, ops: ops.length < all ? ops : [] }, () => {
      this.#open.delete(card)
      card.element.remove()
      this.#showEmpty()
      this.#form.querySelector('button')?.focus()
    })
    if (this.#open.size === 0) this.#cards.replaceChildren()
    this.#open.add(card)
    this.#cards.prepend(card.element)
  }

  #showEmpty() {
    if (this.#open.size > 0) return
    this.#cards.replaceChildren(empty('No stream is open. Choose one above and press Open.'))
  }
}

/** @param {string} operation */
function checkbox(operation) {
  const input = el('input', { type: 'checkbox', name: 'ops', value: operation, checked: true })
  return el('label', {}, input, operation)
}
