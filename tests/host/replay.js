// Seeded random transactions, and a model that is fed nothing but the commits they made.
//
//   statements, in one of many ways ──> PGlite ──> commits ──> model
//                                         └──── select * ───────┴─ equal, at every checkpoint

import assert from 'node:assert/strict'
import { PGliteClient } from 'millstream/pglite'

/** How many transactions pass before the model is compared with the tables. */
const CHECK_EVERY = 12

/**
 * Runs random transactions in a schema of their own, and holds the model against the tables.
 *
 * @param {import('@electric-sql/pglite').PGlite} pglite
 * @param {number} seed
 * @param {number} transactions
 */
export async function replay(pglite, seed, transactions) {
  const schema = `replay_${seed}`
  const db = new PGliteClient(pglite)
  await db.exec(`create schema ${schema}; set search_path = ${schema};`)
  await db.exec(tables)
  const world = new World(random(seed))
  const model = new Model(await snapshot(pglite, schema))
  const arrival = new Arrival()
  const seen = new Set()
  /** @type {number | null} */
  let lastSeq = null
  const onError = (/** @type {unknown} */ error) => arrival.fail(error)
  const see = (/** @type {import('millstream').Commit} */ commit) => {
    lastSeq = checkNumbers(commit, lastSeq, seen)
    model.note(commit)
    arrival.note(commit)
  }
  const sub = await db.wal.subscribe({ [schema]: '*' }, see, { onError })

  /** @type {Plan[]} */
  let recent = []
  try {
    for (let done = 0; done < transactions; ) {
      const n = world.chance(0.15) ? 3 : 1
      const plans = Array.from({ length: n }, () => world.transaction(n === 1))
      recent.push(...plans)
      await Promise.all(plans.map((plan) => run(db, pglite, plan, model)))
      done += n
      if (recent.length < CHECK_EVERY && done < transactions) continue
      const arrived = arrival.of(done)
      await db.query('insert into marker values ($1)', [done])
      await arrived
      model.settle()
      assert.deepEqual(model.contents(), textOf(await snapshot(pglite, schema)))
      recent = []
    }
    await sub.abort()
    return seen.size
  } catch (error) {
    const told = recent.map(({ way, commits, statements }) =>
      [`-- by ${way}${commits ? '' : ', rolled back'}`, ...statements].join(';\n  '),
    )
    const message = `seed ${seed}: what was received is not what the tables hold, after\n${told.join('\n')}`
    throw new Error(message, { cause: error })
  } finally {
    await db.close()
    await pglite.exec(`reset search_path; drop schema ${schema} cascade`)
  }
}

/** Every shape of table and trigger that can put a change out of its turn. */
const tables = `
create table marker (n int primary key);
create table item (
  id int primary key,
  parent int references item on delete cascade on update cascade,
  n int not null default 0 check (n < 1000000),
  t text
);
create table note (
  id int primary key,
  item int references item on delete set null on update cascade,
  body text,
  doc jsonb
);
create table pair (a int, b text, v bigint, raw bytea, primary key (b, a));
create table ev (id int, region text, v numeric, primary key (id, region)) partition by list (region);
create table ev_a partition of ev for values in ('a');
create table ev_b partition of ev for values in ('b');
create table ev_rest partition of ev default;
create table tally (name text primary key, n int not null);
create table audit (what text, v text);
create table late (id int primary key, n int not null);

-- An application trigger that runs after a row and changes another row of the same table.
create function item_after() returns trigger language plpgsql as $$
begin
  if pg_trigger_depth() > 3 then
    return null;
  end if;
  if tg_op = 'DELETE' then
    update item set n = n + 1 where id = old.id + 1;
    insert into audit values ('gone', old.id::text);
  else
    if new.n % 7 = 3 then
      update item set n = n + 1 where id = new.id + 1;
    elsif new.n % 7 = 4 then
      update item set t = coalesce(t, '') || '.' where id = new.id;
    elsif new.n % 7 = 5 then
      delete from item where id = new.id + 2;
    elsif new.n % 7 = 6 then
      insert into item (id, n) values (new.id + 40, 0) on conflict (id) do update set n = item.n + 1;
    end if;
    insert into tally values (tg_op, 1) on conflict (name) do update set n = tally.n + 1;
  end if;
  return null;
end $$;
create trigger aaa_item after insert or update or delete on item
  for each row execute function item_after();
create trigger "  first by name" after update of t on item
  for each row when (new.t is distinct from old.t) execute function item_after();

-- One that runs before a row: changes it, passes it over, or changes rows elsewhere.
create function note_before() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    update pair set v = v + 1 where a = old.id % 5;
    return old;
  end if;
  if new.id % 11 = 10 then
    return null;
  end if;
  new.body := coalesce(new.body, '') || '+';
  if pg_trigger_depth() < 2 then
    update note set body = body || '<' where id = new.id - 1;
    update item set n = n + 1 where id = new.item;
  end if;
  return new;
end $$;
create trigger note_before before insert or update or delete on note
  for each row execute function note_before();

-- One that runs after a statement, with the rows it changed.
create function pair_statement() returns trigger language plpgsql as $$
begin
  if pg_trigger_depth() < 2 then
    insert into audit select 'pair', a::text from fresh;
    update pair set v = v + 1 where (a, b) in (select a, b from fresh) and v % 2 = 0;
  end if;
  return null;
end $$;
create trigger pair_statement after update on pair referencing new table as fresh
  for each statement execute function pair_statement();

-- One that waits for the commit.
create function late_deferred() returns trigger language plpgsql as $$
begin
  update late set n = n + 1 where id = new.id + 1 and n < 50;
  insert into audit values ('late', new.n::text);
  if new.n = 13 then
    raise exception 'thirteen';
  end if;
  return null;
end $$;
create constraint trigger late_deferred after insert or update on late deferrable initially deferred
  for each row execute function late_deferred();

-- A function that writes in the middle of the statement that calls it.
create function touch(k int) returns int language plpgsql as $$
begin
  insert into tally values ('touch', k) on conflict (name) do update set n = excluded.n;
  update item set n = n + 1 where id = k + 20;
  update late set n = n + 1 where id = k + 1;
  return k + 1;
end $$;

insert into item select g, null, 0, 'item ' || g from generate_series(1, 12) g;
update item set parent = id / 2 where id > 1;
insert into pair select g, 'p', g, decode('00ff', 'hex') from generate_series(1, 5) g;
insert into late select g, 0 from generate_series(1, 5) g;
insert into ev select g, chr(96 + g % 4 + 1), g / 2.0 from generate_series(1, 12) g;
`

/**
 * One transaction as planned.
 *
 * @typedef {object} Plan
 * @property {string} way how it is run
 * @property {string[]} statements
 * @property {boolean} commits whether it is to be committed
 * @property {Ddl[]} ddl what it does to definitions, if it commits
 *
 * @typedef {{ table: string, drops?: true, changes?: (row: Row) => Row }} Ddl
 * @typedef {Record<string, any>} Row
 */

/** What may be done next. */
class World {
  /** @type {Map<string, string[]>} Columns that were added, by table. */
  #added = new Map()
  /** @type {string[]} */
  #made = []
  #next
  #counter = 0

  /** @param {() => number} next */
  constructor(next) {
    this.#next = next
  }

  /** @param {number} n */
  below(n) {
    return Math.floor(this.#next() * n)
  }

  /** @param {number} share */
  chance(share) {
    return this.#next() < share
  }

  /**
   * @template T
   * @param {readonly T[]} list
   * @returns {T}
   */
  one(list) {
    return /** @type {T} */ (list[this.below(list.length)])
  }

  /**
   * @param {boolean} alone whether no other transaction runs at the same time
   * @returns {Plan}
   */
  transaction(alone) {
    this.#counter += 1
    // The last way is several calls, between which another writer's would be in the same transaction.
    const way = this.one(alone ? ways : ways.slice(0, -1))
    /** @type {Ddl[]} */
    const ddl = []
    const isBlock = !['query', 'query one', 'exec', 'marked', 'raw exec'].includes(way)
    const length = way === 'query one' ? 1 : 1 + this.below(5)
    /** @type {string[]} */
    const statements = []
    while (statements.length < length) {
      if (isBlock && this.chance(0.15)) statements.push(...this.#savepoint())
      else if (this.chance(0.06)) statements.push(this.#definition(ddl))
      else statements.push(this.change())
    }
    // A failure in the end, after all of it was done.
    if (length > 1 && this.chance(0.08)) statements.push('select 1 / 0')
    return { way, statements, ddl, commits: !isBlock || this.chance(0.85) }
  }

  #savepoint() {
    const inner = Array.from({ length: 1 + this.below(3) }, () => this.change())
    const name = `s${this.below(3)}`
    const end = this.chance(0.6) ? `rollback to ${name}` : `release ${name}`
    return [`savepoint ${name}`, ...inner, end]
  }

  /** A random change of rows. It may fail, as an application's may. */
  change() {
    const [id, other, n] = [this.below(30), this.below(30), this.below(60)]
    const region = () => this.one(['a', 'b', 'c', 'd'])
    const text = this.one(["''", 'null', "'it''s'", `'"\\,()'`, "repeat('é', 3000)", "E'a\\nb'"])
    return this.one([
      () =>
        `insert into item (id, parent, n, t) values (${id}, ${this.one([other, 'null'])}, ${n}, ${text})`,
      () =>
        `insert into item (id, n) select g, g from generate_series(${id}, ${id + this.below(5)}) g on conflict do nothing`,
      () =>
        `insert into item (id, n) values (${id}, ${n}), (${id + 1}, 3) on conflict (id) do update set n = excluded.n, t = 'again'`,
      () => `update item set n = n + ${this.below(4)} where id between ${id} and ${id + 6}`,
      () => `update item set n = ${n}, parent = ${this.one([other, 'null', id])} where id = ${id}`,
      () => `update item set id = ${100 + this.#counter * 3 + this.below(3)} where id = ${id}`,
      () => `update item set t = ${text} where parent = ${id} or id = ${other}`,
      () => `update item set n = touch(${this.below(6)}) where id in (${id}, ${other})`,
      () => `delete from item where id = ${id}`,
      () => `delete from item where id > ${60 + this.below(60)}`,
      () =>
        `insert into note (id, item, body, doc) values (${id}, ${this.one([other, 'null'])}, ${text}, '{"a": [1, ${n}, {"b": null}]}')`,
      () =>
        `insert into note select g, null, 'bulk', null from generate_series(${id}, ${id + 4}) g on conflict (id) do update set body = note.body || '!'`,
      () => `update note set body = ${text}, item = ${this.one([other, 'null'])} where id = ${id}`,
      () => `update note set doc = jsonb_build_object('n', ${n}) where id % 3 = ${this.below(3)}`,
      () => `delete from note where id between ${id} and ${id + 2}`,
      () => `update pair set v = v + 1 where a < ${this.below(6)}`,
      () => `update pair set b = b || 'x', v = 9007199254740993 where a = ${this.below(6)}`,
      () =>
        `insert into pair values (${id % 7}, '${this.one(['p', 'q', 'Q"'])}', ${n}, ${this.one(["'\\x'", 'null', "'\\x0001ff'"])}) on conflict (a, b) do update set raw = excluded.raw`,
      () => `delete from pair where v > 100 and a = ${id % 7}`,
      () =>
        `insert into ev values (${id}, '${region()}', ${this.one(["'NaN'", '1.50', 'null', "'Infinity'"])})`,
      () => `update ev set region = '${region()}' where id % 5 = ${this.below(5)}`,
      () => `update ev set v = v + 1, id = id + 30 where region = '${region()}' and id < 12`,
      () => `delete from ev where region = '${region()}' and id > ${id}`,
      () =>
        `insert into late values (${id % 9}, ${n % 12}) on conflict (id) do update set n = late.n + ${this.below(4)}`,
      () => `update late set n = n + 1 where id < ${this.below(9)}`,
      () => `delete from late where id = ${id % 9}`,
      () => `update tally set n = n + 1, name = name || '${this.one(['', '', 'x'])}'`,
      () => `update audit set v = v || 'u' where what = '${this.one(['pair', 'late'])}'`,
      () => `delete from audit where what = '${this.one(['gone', 'pair', 'late'])}'`,
      () => `insert into audit values (null, null), ('same', 'same'), ('same', 'same')`,
      () =>
        `with d as (delete from note where id > ${id} returning *) insert into audit select 'moved', body from d`,
      () =>
        `with u as (update item set n = n + 1 where id = ${id} returning id) update item set n = n + 3 where id = ${other}`,
      () =>
        `with i as (insert into item (id, n) values (${70 + id}, 5) returning id) insert into note (id, item) select id + 200, id from i`,
      () => `merge into item using (select g as id, g * 3 as n from generate_series(${id}, ${id + 6}) g) s on item.id = s.id
        when matched and s.id % 3 = 0 then delete when matched then update set n = s.n, t = 'merged' when not matched and s.id % 2 = 0 then insert (id, n) values (s.id, s.n)`,
      () => `merge into ev using (values (${id}, '${region()}'), (${other}, '${region()}')) s (id, region) on ev.id = s.id and ev.region = s.region
        when matched then update set region = '${region()}' when not matched then insert values (s.id, s.region, 0)`,
      () =>
        `do $$ begin update item set n = n + 1 where id < 5; begin delete from item where id = ${id}; insert into late values (1, 1), (1, 2); exception when others then insert into audit values ('caught', sqlstate); end; end $$`,
      () =>
        `do $$ begin for k in 1..3 loop begin update item set n = n + k where id = ${id} + k; if k = 2 then raise exception 'no'; end if; exception when raise_exception then null; end; end loop; end $$`,
      () => `select touch(${this.below(9)}), touch(${this.below(9)})`,
      () => `set constraints all ${this.one(['immediate', 'deferred'])}`,
      () =>
        `truncate ${this.one(['note', 'audit', 'tally, late', 'ev', 'ev_a', 'ev_b, ev_rest', 'only ev_rest', 'pair'])}`,
      () => (this.chance(0.3) ? 'truncate item restart identity cascade' : 'select 1'),
      () => `copy audit from '/dev/blob' with (format csv)`,
      () => `copy item (id, n, t) from '/dev/blob' with (format csv)`,
    ])()
  }

  /**
   * A change of a definition, with what it does to the rows that are there.
   *
   * @param {Ddl[]} ddl
   */
  #definition(ddl) {
    const table = this.one(['item', 'note', 'pair', 'audit', 'late', 'tally', 'ev'])
    const name = `x${this.#counter}_${this.below(1000)}`
    const added = this.#added.get(table) ?? []
    this.#added.set(table, added)
    const known = this.one(added.length > 0 ? added : [name])
    /** @param {(row: Row) => Row} changes */
    const note = (changes) => ddl.push({ table, changes })
    const make = () => {
      this.#made.push(name)
      return `create table ${name} as select id, n, t from item; alter table ${name} add primary key (id); insert into ${name} (id) values (-1)`
    }
    return this.one([
      () => {
        added.push(name)
        note((row) => ({ ...row, [name]: 7 }))
        return `alter table ${table} add column ${name} int default 7`
      },
      () => {
        added.push(name)
        note((row) => ({ ...row, [name]: null }))
        return `alter table ${table} add column ${name} text`
      },
      () => {
        if (!added.includes(known)) return 'select 2'
        added.splice(added.indexOf(known), 1)
        note(({ [known]: _, ...row }) => row)
        return `alter table ${table} drop column ${known}`
      },
      () => {
        if (!added.includes(known)) return 'select 3'
        added.splice(added.indexOf(known), 1, `${name}r`)
        note(({ [known]: value, ...row }) => ({ ...row, [`${name}r`]: value }))
        return `alter table ${table} rename column ${known} to ${name}r`
      },
      () => {
        if (!added.includes(known)) return 'select 4'
        note((row) => ({ ...row, [known]: row[known] === null ? null : String(row[known]) }))
        return `alter table ${table} alter column ${known} type text using ${known}::text`
      },
      make,
      () => {
        const dropped = this.#made.pop()
        if (!dropped) return make()
        ddl.push({ table: dropped, drops: true })
        return `drop table ${dropped}`
      },
      () =>
        "alter table ev detach partition ev_b; update ev_b set v = 0; alter table ev attach partition ev_b for values in ('b')",
      () => `create index on ${table} ((1)); analyze ${table}`,
      () =>
        `alter table late disable trigger user; update late set n = 0; alter table late enable trigger user`,
      () => 'create temp table scratch (id int) on commit drop; insert into scratch values (1)',
    ])()
  }
}

const ways = [
  'query',
  'query one',
  'exec',
  'transaction',
  'begin',
  'script',
  'marked',
  'raw exec',
  'raw script',
  'raw transaction',
  'raw begin',
]

/**
 * Runs a transaction. That it fails is part of the test; that what failed is not seen, too.
 *
 * @param {PGliteClient} db
 * @param {import('@electric-sql/pglite').PGlite} pglite
 * @param {Plan} plan
 * @param {Model} model
 */
async function run(db, pglite, { way, statements, commits, ddl }, model) {
  const script = statements.join(';\n')
  const block = `begin;\n${script};\n${commits ? 'commit' : 'rollback'};`
  const blob = new Blob(['901,1,x\n902,5,\n903,3,"a,b"\n'])
  const lines = { blob: script.includes('copy audit') ? new Blob(['c,1\nc,1\n,""\n']) : blob }
  try {
    switch (way) {
      case 'query one':
        await db.query(script, { ...(!script.includes(';') && { values: [] }), ...lines })
        break
      case 'query':
        await db.query(script, lines)
        break
      case 'exec':
        await db.exec(script, lines)
        break
      case 'marked':
        await db.exec(script, { ...lines, actor: 'somebody', op: 'replay' })
        break
      case 'script':
        await db.exec(block, lines)
        break
      case 'transaction':
        await db.transaction(async (tx) => {
          for (const statement of statements) await tx.exec(statement, lines)
          if (!commits) await tx.rollback()
        })
        break
      case 'begin': {
        const tx = await db.begin()
        try {
          for (const statement of statements) await tx.query(statement, lines)
        } catch (error) {
          await tx.rollback()
          throw error
        }
        await (commits ? tx.commit() : tx.rollback())
        break
      }
      case 'raw exec':
        await pglite.exec(script, lines)
        break
      case 'raw script':
        await pglite.exec(block, lines)
        break
      case 'raw transaction':
        await pglite.transaction(async (tx) => {
          for (const statement of statements) await tx.exec(statement, lines)
          if (!commits) await tx.rollback()
        })
        break
      case 'raw begin':
        await pglite.exec('begin')
        for (const statement of statements) await pglite.exec(statement, lines)
        await pglite.exec(commits ? 'commit' : 'rollback')
    }
  } catch (error) {
    if (way === 'raw script' || way === 'raw begin') await pglite.exec('rollback')
    if (!(/** @type {any} */ (error).severity)) throw error
    return
  }
  if (commits) model.define(ddl)
}

/** The tables as the commits tell them. */
class Model {
  /** @type {Map<string, Table>} */
  #tables = new Map()
  /** @type {import('millstream').Commit[]} */
  #commits = []
  /** @type {Ddl[]} What was done to definitions, until an entry shows it. */
  #pending = []

  /** @param {Record<string, Row[]>} tables */
  constructor(tables) {
    for (const [name, rows] of Object.entries(tables)) {
      const table = this.#table(name)
      for (const row of rows) table.insert(row)
    }
  }

  /** @param {Ddl[]} ddl */
  define(ddl) {
    this.#pending.push(...ddl)
  }

  /** @param {import('millstream').Commit} commit */
  note(commit) {
    this.#commits.push(commit)
  }

  /** Takes in all that was noted: not before, since a commit may be delivered before its writer hears of it. */
  settle() {
    for (const commit of this.#commits) {
      for (const entry of commit.entries) this.#take(commit, entry)
    }
    this.#commits = []
    for (const ddl of this.#pending) this.#define(ddl)
    this.#pending = []
  }

  contents() {
    const filled = [...this.#tables].filter(([, table]) => table.size > 0)
    return Object.fromEntries(filled.map(([name, table]) => [name, table.contents()]))
  }

  /**
   * @param {import('millstream').Commit} commit
   * @param {import('millstream').Entry} entry
   */
  #take(commit, entry) {
    const { name, keyColumns } = entry.relation
    for (;;) {
      const table = this.#table(name)
      if (table.take(entry, keyColumns)) return
      const next = this.#pending.findIndex((ddl) => ddl.table === name)
      const where = `of transaction ${commit.txId}, entry ${commit.entries.indexOf(entry) + 1}`
      assert.notEqual(
        next,
        -1,
        `no row in ${name} for ${text(entry)} ${where} of ${text(commit.entries)}`,
      )
      for (const ddl of this.#pending.splice(next, 1)) this.#define(ddl)
    }
  }

  /** @param {Ddl} ddl */
  #define({ table, drops, changes }) {
    if (drops) this.#tables.delete(table)
    if (changes) this.#table(table).change(changes)
  }

  /** @param {string} name */
  #table(name) {
    const table = this.#tables.get(name) ?? new Table()
    this.#tables.set(name, table)
    return table
  }
}

/** Rows twice: as many as there are of each, and the last one of each key, as most readers keep them. */
class Table {
  /** @type {Map<string, { row: Row, count: number }>} */
  #rows = new Map()
  /** @type {Map<string, Row> | null} */
  #byKey = null
  /** @type {readonly string[]} */
  #key = []

  get size() {
    return this.#rows.size
  }

  contents() {
    const rows = [...this.#rows].flatMap(([row, { count }]) => Array(count).fill(row)).sort()
    if (this.#byKey) assert.deepEqual([...this.#byKey.values()].map(text).sort(), rows)
    return rows
  }

  /**
   * Takes an entry in; false where the row it speaks of is not there.
   *
   * @param {import('millstream').Entry} entry
   * @param {readonly string[]} key
   */
  take(entry, key) {
    if (entry.op === 'truncate') {
      this.#rows.clear()
      this.#byKey?.clear()
      return true
    }
    const image = entry.op === 'delete' ? entry.old : entry.new
    const known = this.#rows.values().next().value
    if (known && text(Object.keys(known.row).sort()) !== text(Object.keys(image).sort()))
      return false
    if (entry.op !== 'insert' && !this.#remove(entry.old)) return false
    this.#rekey(key)
    if (entry.op !== 'insert') this.#byKey?.delete(this.#keyOf(entry.old))
    if (entry.op !== 'delete') this.insert(entry.new)
    return true
  }

  /** @param {Row} row */
  insert(row) {
    const name = text(row)
    const held = this.#rows.get(name)
    if (held) held.count += 1
    else this.#rows.set(name, { row, count: 1 })
    this.#byKey?.set(this.#keyOf(row), row)
  }

  /** @param {(row: Row) => Row} changes */
  change(changes) {
    const rows = [...this.#rows.values()]
    this.#rows.clear()
    this.#byKey?.clear()
    for (const { row, count } of rows) {
      for (let n = 0; n < count; n++) this.insert(changes(row))
    }
  }

  /** @param {Row} row */
  #remove(row) {
    const name = text(row)
    const held = this.#rows.get(name)
    if (!held) return false
    held.count -= 1
    if (held.count === 0) this.#rows.delete(name)
    return true
  }

  /** @param {readonly string[]} key */
  #rekey(key) {
    if (text(key) === text(this.#key)) return
    this.#key = key
    this.#byKey = new Map()
    for (const { row } of this.#rows.values()) this.#byKey.set(this.#keyOf(row), row)
  }

  /** @param {Row} row */
  #keyOf(row) {
    return text(this.#key.map((column) => row[column]))
  }
}

/** What arrives of the marker rows, and a way to wait for one. */
class Arrival {
  /** @type {Map<number, () => void>} */
  #awaited = new Map()
  /** @type {(error: unknown) => void} */
  #reject = () => undefined
  #failed = new Promise((_, reject) => {
    this.#reject = reject
  })

  constructor() {
    this.#failed.catch(() => undefined)
  }

  /** @param {number} marker */
  of(marker) {
    return Promise.race([
      this.#failed,
      new Promise((resolve) => this.#awaited.set(marker, () => resolve(null))),
    ])
  }

  /** @param {import('millstream').Commit} commit */
  note({ entries }) {
    for (const entry of entries) {
      if (entry.relation.name === 'marker' && entry.op === 'insert') {
        this.#awaited.get(Number(entry.new.n))?.()
      }
    }
  }

  /** @param {unknown} error */
  fail(error) {
    this.#reject(error)
  }
}

/**
 * Checks that numbers are dense, and that a transaction is one commit.
 *
 * @param {import('millstream').Commit} commit
 * @param {number | null} lastSeq
 * @param {Set<number>} seen
 */
function checkNumbers({ seq, txId, entries }, lastSeq, seen) {
  assert.ok(!seen.has(txId), `transaction ${txId} came twice`)
  seen.add(txId)
  if (lastSeq !== null) assert.equal(seq, lastSeq + entries.length)
  return seq
}

/**
 * All tables of a schema, each row as it is.
 *
 * @param {import('@electric-sql/pglite').PGlite} pglite
 * @param {string} schema
 */
async function snapshot(pglite, schema) {
  const { rows: names } = await pglite.query(
    `select relname::text as name from pg_class
      where relnamespace = $1::regnamespace and relkind in ('r', 'p') and not relispartition`,
    [schema],
  )
  /** @type {Record<string, Row[]>} */
  const tables = {}
  for (const { name } of /** @type {{ name: string }[]} */ (names)) {
    const { rows } = await pglite.query(`select * from ${schema}.${name}`)
    tables[name] = /** @type {Row[]} */ (rows)
  }
  return tables
}

/**
 * The same as a model tells it: filled tables, their rows as sorted text.
 *
 * @param {Record<string, Row[]>} tables
 */
function textOf(tables) {
  const filled = Object.entries(tables).filter(([, rows]) => rows.length > 0)
  return Object.fromEntries(filled.map(([name, rows]) => [name, rows.map(text).sort()]))
}

/**
 * One text for values that are the same, whichever order their keys are in.
 *
 * @param {unknown} value
 */
function text(value) {
  return JSON.stringify(value, (_, held) => {
    if (typeof held === 'bigint') return `${held}n`
    if (held instanceof Uint8Array) return `bytes ${Buffer.from(held).toString('hex')}`
    if (typeof held !== 'object' || held === null || Array.isArray(held)) return held
    return Object.fromEntries(Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/**
 * A generator of numbers from 0 to below 1: mulberry32, which is the same on every machine.
 *
 * @param {number} seed
 */
function random(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
