// What PGlite's changelog must hold, read from the tables that the triggers write.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { install, readLog, trim, uninstall } from '../../js/database/pglite/capture.js'

/** @type {PGlite} */
let db

before(async () => {
  db = await PGlite.create()
  await db.exec(install)
  await db.exec('create role app')
})
after(() => db.close())

const rows = async (sql, parameters) => (await db.query(sql, parameters)).rows
const value = async (sql, parameters) => Object.values((await rows(sql, parameters))[0])[0]
const head = () =>
  value('select coalesce((select max(seq) from millstream.log), oldest - 1) from millstream.meta')

/** The log behind a seq, as lines such as `t u (1,a) > (1,b)`; each names its version's relation. */
async function lines(from) {
  const log = await rows(
    `select l.*, r.name from millstream.log l join millstream.relation r on r.id = l.relation
      where l.seq > $1 order by l.seq`,
    [from],
  )
  assert.ok(
    log.every((row, i) => row.seq === from + 1 + i),
    'the log is dense',
  )
  return log.map(({ name, op, old, new: now }) =>
    [name, op, [old, now].filter((image) => image !== null).join(' > ')].filter(Boolean).join(' '),
  )
}

/** Runs a script and compares what it adds to the log. */
async function check(script, expected) {
  const from = await head()
  await db.exec(script)
  assert.deepEqual(await lines(from), expected)
}

/** Runs a script that must fail, and leaves no transaction open. */
async function fails(script, message) {
  await assert.rejects(db.exec(script), message)
  await db.exec('rollback')
}

/** Versions of a table, oldest first. */
const versions = (oid) =>
  rows('select * from millstream.relation where oid = $1 order by id', [oid])
const oidOf = (name) => value('select $1::regclass::oid', [name])
const latest = async (name) => (await versions(await oidOf(name))).at(-1)

describe('statements', () => {
  test('insert, update and delete are logged with whole rows', async () => {
    await db.exec('create table st(id int primary key, a text)')
    await check(`insert into st values (1, 'x'), (2, null), (3, 'a "b", c')`, [
      'st i (1,x)',
      'st i (2,)',
      'st i (3,"a ""b"", c")',
    ])
    await check(`update st set a = 'y' where id < 3`, ['st u (1,x) > (1,y)', 'st u (2,) > (2,y)'])
    await check('delete from st where id = 3', ['st d (3,"a ""b"", c")'])
  })

  test('a key change is one update with both keys, a swap three', async () => {
    await check('update st set id = 9 where id = 1', ['st u (1,y) > (9,y)'])
    await check(
      'begin; update st set id = 0 where id = 9; update st set id = 9 where id = 2;' +
        'update st set id = 2 where id = 0; commit',
      ['st u (9,y) > (0,y)', 'st u (2,y) > (9,y)', 'st u (0,y) > (2,y)'],
    )
  })

  test('an update that changes nothing is logged, one that finds nothing is not', async () => {
    await check('update st set a = a where id = 2', ['st u (2,y) > (2,y)'])
    await check('update st set a = a where false; select 1; create view stv as select 1', [])
  })

  test('upserts log what they did', async () => {
    await check(
      `insert into st values (2, 'new'), (4, 'q') on conflict (id) do update set a = excluded.a`,
      ['st u (2,y) > (2,new)', 'st i (4,q)'],
    )
    await check(`insert into st values (2, 'no') on conflict do nothing`, [])
  })

  test('MERGE logs each branch', async () => {
    await check(
      `merge into st using (values (2, 'm'), (4, null), (5, 'n')) s(id, a) on s.id = st.id
         when matched and s.a is null then delete
         when matched then update set a = s.a
         when not matched then insert values (s.id, s.a)`,
      ['st u (2,new) > (2,m)', 'st d (4,q)', 'st i (5,n)'],
    )
  })

  test('COPY is logged row by row', async () => {
    const from = await head()
    await db.query(`copy st from '/dev/blob' (format csv)`, [], {
      blob: new Blob(['20,c\n21,d\n']),
    })
    assert.deepEqual(await lines(from), ['st i (20,c)', 'st i (21,d)'])
  })

  test('data-modifying CTEs are logged in the order in which they ran', async () => {
    await db.exec('create table st_moved(id int primary key, a text)')
    await check(
      `with gone as (delete from st where id >= 20 returning *) insert into st_moved select * from gone`,
      ['st d (20,c)', 'st_moved i (20,c)', 'st d (21,d)', 'st_moved i (21,d)'],
    )
  })

  test('writes inside functions, rules and views are logged under the table', async () => {
    await db.exec(`create view st_view as select * from st where id < 100;
      create function st_add(i int) returns void language sql as 'insert into st values (i)'`)
    await check('select st_add(50); insert into st_view values (51)', ['st i (50,)', 'st i (51,)'])
  })
})

describe('transactions', () => {
  test('nothing remains of a rollback, and no number is lost', async () => {
    await db.exec('create table tr(id int primary key)')
    await check('begin; insert into tr values (1); rollback', [])
    await fails('insert into tr values (1); insert into tr values (1)', /duplicate key/)
    await check('insert into tr values (1)', ['tr i (1)'])
  })

  test('a savepoint takes back only its own rows', async () => {
    await check(
      `begin; insert into tr values (2); savepoint s; insert into tr values (3); rollback to s;
       insert into tr values (4); commit`,
      ['tr i (2)', 'tr i (4)'],
    )
  })

  test('an exception block takes back only its own rows', async () => {
    await check(
      `do $$ begin
         insert into tr values (5);
         begin insert into tr values (6); perform 1 / 0; exception when division_by_zero then null; end;
         insert into tr values (7);
       end $$`,
      ['tr i (5)', 'tr i (7)'],
    )
  })

  test('a constraint that fails at commit leaves nothing', async () => {
    await db.exec(
      'create table tr_ref(id int primary key references tr deferrable initially deferred)',
    )
    const from = await head()
    await fails('begin; insert into tr_ref values (99); commit', /foreign key/)
    assert.equal(await head(), from)
  })

  test('rows of a transaction share its id, and time never steps back', async () => {
    const from = await head()
    const [{ tx }] = await db.transaction(async (t) => {
      await t.query('insert into tr values (10), (11)')
      return (await t.query('select pg_current_xact_id()::text::bigint as tx')).rows
    })
    await db.exec('insert into tr values (12)')
    const log = await rows('select tx, time_ms from millstream.log where seq > $1 order by seq', [
      from,
    ])
    assert.deepEqual(
      log.map((row) => row.tx === tx),
      [true, true, false],
    )
    assert.ok(log.every((row, i) => i === 0 || row.time_ms >= log[i - 1].time_ms))
    assert.ok(Math.abs(log[0].time_ms - Date.now()) < 60_000)
  })

  test('a commit notifies once, a rollback never', async () => {
    let told = 0
    const stop = await db.listen('millstream', () => told++)
    await db.exec('begin; insert into tr values (30), (31); insert into tr values (32); commit')
    await db.exec('begin; insert into tr values (33); rollback')
    await db.exec(`begin; savepoint s; insert into tr values (34); rollback to s;
                   insert into tr values (35); commit`)
    await db.query('select 1')
    await stop()
    assert.equal(told, 2)
  })

  test('actor and op are those of the transaction', async () => {
    const from = await head()
    await db.exec(`begin; set local millstream.actor = 'ann'; set local millstream.op = 'call';
                   insert into tr values (40); commit; insert into tr values (41)`)
    const log = await rows(
      'select actor, call_op from millstream.log where seq > $1 order by seq',
      [from],
    )
    assert.deepEqual(log, [
      { actor: 'ann', call_op: 'call' },
      { actor: null, call_op: null },
    ])
  })
})

describe('cascades', () => {
  test('rows deleted or set null by foreign keys are logged', async () => {
    await db.exec(`create table fp(id int primary key);
      create table fc(id int primary key, p int references fp on delete cascade on update cascade);
      create table fn(id int primary key, p int references fp on delete set null);
      insert into fp values (1), (2); insert into fc values (1, 1), (2, 2); insert into fn values (1, 1)`)
    await check('update fp set id = 3 where id = 2', ['fp u (2) > (3)', 'fc u (2,2) > (2,3)'])
    await check('delete from fp', [
      'fp d (1)',
      'fp d (3)',
      'fc d (1,1)',
      'fn u (1,1) > (1,)',
      'fc d (2,3)',
    ])
  })

  test('a tree that deletes itself is logged from the root', async () => {
    await db.exec(`create table fs(id int primary key, up int references fs on delete cascade);
      insert into fs values (1, null), (2, 1), (3, 2), (4, 1)`)
    await check('delete from fs where id = 1', [
      'fs d (1,)',
      'fs d (2,1)',
      'fs d (4,1)',
      'fs d (3,2)',
    ])
  })
})

describe('truncate', () => {
  test('each table that TRUNCATE CASCADE empties gets its own entry', async () => {
    await db.exec(`create table tp(id int primary key); create table tc(id int primary key references tp);
      insert into tp values (1); insert into tc values (1)`)
    await check('truncate tp restart identity cascade', ['tp t', 'tc t'])
    await check('truncate tc', ['tc t'])
    await check('begin; truncate tc; rollback', [])
  })

  test('a partitioned root is one entry, a partition alone a delete for each row', async () => {
    await db.exec(`create table tq(id int, k text) partition by list (id);
      create table tq1 partition of tq for values in (1); create table tq2 partition of tq default;
      insert into tq values (1, 'a'), (1, 'b'), (2, 'c')`)
    await check('truncate tq1', ['tq d (1,a)', 'tq d (1,b)'])
    await check('truncate tq', ['tq t'])
    await check(
      `begin; insert into tq values (1, 'd'), (2, 'e'); truncate tq; insert into tq values (1, 'f');
                 truncate tq1; truncate tq2; commit`,
      ['tq i (1,d)', 'tq i (2,e)', 'tq t', 'tq i (1,f)', 'tq d (1,f)'],
    )
  })
})

describe('values', () => {
  const odd = `(1, '2026-01-02 03:04:05.5+02', '2026-01-02', '1 mon 2 days 03:00', 0.1::float8 + 0.2, '\\xdeadbeef',
    '{infinity,-infinity,2024-02-29}', '-0', '1e308', 'NaN', 9007199254740993, '1.50', '{"b": 1, "a": -0.0}',
    '[2026-01-01,2026-02-01)', 12.5::money, 'pg_class')`
  const text =
    '(1,"2026-01-02 01:04:05.5+00",2026-01-02,"1 mon 2 days 03:00:00",0.30000000000000004,"\\\\xdeadbeef",' +
    '"{infinity,-infinity,2024-02-29}",-0,1e+308,NaN,9007199254740993,1.50,"{""a"": 0.0, ""b"": 1}",' +
    '"[2026-01-01,2026-02-01)",$12.50,pg_class)'

  before(() =>
    db.exec(`create table va(id int, at timestamptz, d date, i interval, f float8, b bytea, ds date[], z float8,
      big float8, nan numeric, l bigint, n numeric, j jsonb, r daterange, m money, c regclass)`),
  )

  test('the text of a value is the database’s own', () =>
    check(`insert into va values ${odd}`, [`va i ${text}`]))

  test('no setting of the writer changes it', async () => {
    await check(
      `begin; set local timezone = 'Asia/Tokyo'; set local datestyle = 'German'; set local intervalstyle = 'iso_8601';
       set local extra_float_digits = 0; set local bytea_output = 'escape'; set local quote_all_identifiers = on;
       set local lc_monetary = 'de_DE'; set local search_path = '';
       update public.va set id = id; commit`,
      [`va u ${text} > ${text}`],
    )
  })

  test('virtual columns are unsent, stored ones are sent', async () => {
    await db.exec(`create table vg(id int primary key, v int generated always as (id * 2) virtual,
      s int generated always as (id * 3) stored)`)
    await check('insert into vg (id) values (1)', ['vg i (1,,3)'])
    assert.deepEqual(JSON.parse((await latest('vg')).columns), [
      { name: 'id', type: 'integer' },
      { name: 'v', type: 'integer', unsent: true },
      { name: 's', type: 'integer' },
    ])
  })

  test('large values are whole, changed or not', async () => {
    await db.exec(`create table vl(id int primary key, big text, n int);
      insert into vl values (1, (select string_agg(md5(g::text), '') from generate_series(1, 2000) g), 0)`)
    await db.exec('update vl set n = 1')
    const [{ length }] = await rows(
      `select octet_length(new) as length from millstream.log order by seq desc limit 1`,
    )
    assert.equal(length, 64_000 + '(1,,1)'.length)
  })

  test('types are named by their base, with the schema of the user’s own', async () => {
    await db.exec(`create type mood as enum ('a', 'b'); create domain small as int check (value < 9);
      create domain smaller as small; create domain list as int[]; create type pair as (x int, y text);
      create table vt(a mood, b small, c smaller[], d list, e pair, f varchar(9), g numeric(9, 2)[], h "char",
        i char(3), j timestamp(3) with time zone)`)
    const columns = JSON.parse((await latest('vt')).columns)
    assert.deepEqual(
      columns.map((column) => column.type),
      [
        'public.mood',
        'integer',
        'integer[]',
        'integer[]',
        'public.pair',
        'character varying',
        'numeric[]',
        '"char"',
        'character',
        'timestamp with time zone',
      ],
    )
    await check(`insert into vt (a, c, e) values ('b', '{1}', '(1,"x y")')`, [
      'vt i (b,,{1},,"(1,""x y"")",,,,,)',
    ])
  })
})

describe('names', () => {
  test('mixed case, quotes, percent signs, keywords and 63 bytes keep their names', async () => {
    const long = `${'é'.repeat(31)}x`
    for (const name of [
      'Test',
      'a"b',
      "it's",
      '100%',
      '%I',
      'select',
      'Ünï 🐘',
      long,
      'log',
      'relation',
    ]) {
      const quoted = `"${name.replaceAll('"', '""')}"`
      const schema = name === 'log' ? 'odd' : 'public'
      await db.exec(
        `create schema if not exists odd; create table ${schema}.${quoted}("Id" int primary key, "select" text)`,
      )
      await check(`insert into ${schema}.${quoted} values (1, 'x'); truncate ${schema}.${quoted}`, [
        `${name} i (1,x)`,
        `${name} t`,
      ])
      assert.equal((await latest(`${schema}.${quoted}`)).key_columns, '["Id"]')
    }
  })

  test('columns may have any name', async () => {
    await db.exec(`create table nc("new" int primary key, "old" int, "select" int, op text, was text, it int, head int,
      tg_op text, this_tx int, relation int, seq int)`)
    await check('insert into nc("new") values (1); update nc set "old" = 2; delete from nc', [
      'nc i (1,,,,,,,,,,)',
      'nc u (1,,,,,,,,,,) > (1,2,,,,,,,,,)',
      'nc d (1,2,,,,,,,,,)',
    ])
    await check('create table nc2 as select 1 as "new", 2 as it, 3 as "a""b"', ['nc2 i (1,2,3)'])
  })

  test('a table may have no column, or 1,600', async () => {
    await db.exec('create table n0()')
    await check('insert into n0 default values; delete from n0', ['n0 i ()', 'n0 d ()'])
    const columns = Array.from({ length: 1600 }, (_, i) => `c${i} bool`).join()
    await db.exec(`create table n1600(${columns})`)
    await check('insert into n1600(c1599) values (true)', [`n1600 i (${','.repeat(1599)}t)`])
    assert.equal(JSON.parse((await latest('n1600')).columns).length, 1600)
    await check('create table n1600b as select * from n1600', [`n1600b i (${','.repeat(1599)}t)`])
  })

  test('a compound key is named in key order', async () => {
    await db.exec(
      'create table nk(a int, b int, c int, primary key (c, a) include (b)); create table nk0(a int)',
    )
    assert.equal((await latest('nk')).key_columns, '["c", "a"]')
    assert.equal((await latest('nk0')).key_columns, '[]')
  })
})

describe('reach', () => {
  test('a role with no rights on the log is captured and cannot touch it', async () => {
    await db.exec('create table ro(id int primary key); grant insert on ro to app')
    await check('set role app; insert into ro values (1); reset role', ['ro i (1)'])
    for (const attempt of [
      'select * from millstream.log',
      'delete from millstream.log',
      'select millstream.renew()',
      `select millstream.append(1, 'i', '(1)', null, null, null)`,
      'create table mine(id int); create trigger x after insert on mine for each row execute function millstream.capture(1)',
    ]) {
      await fails(
        `grant create on schema public to app; begin; set local role app; ${attempt}; commit`,
        /permission denied/,
      )
    }
  })

  test('a table owner’s casts, operators and functions never run with our rights', async () => {
    await db.exec(`grant create on schema public to app; create table ran(by text); grant insert on ran to public;
      set role app;
      create table ho(id int primary key);
      create function ho_text(ho) returns text language plpgsql as $$ begin insert into public.ran values (current_user); return 'forged'; end $$;
      create cast (ho as text) with function ho_text(ho) as implicit;
      create function evil(bigint, bigint) returns bigint language plpgsql as $$ begin insert into public.ran values (current_user); return 0; end $$;
      create operator public.+ (leftarg = bigint, rightarg = bigint, function = evil);
      create function public.pg_trigger_depth() returns int language sql as 'select 1 / 0';
      reset role`)
    await check(
      'set role app; set search_path = public, pg_catalog; insert into public.ho values (1); reset role; reset search_path',
      ['ho i (1)'],
    )
    await db.exec('set search_path = public, pg_catalog; create table public.ho2(id int)')
    await db.exec(readLog({ after: 0, relationAfter: 0, maxRows: 10, maxBytes: 1000 }))
    await db.exec(
      `reset search_path; drop operator public.+ (bigint, bigint); drop function public.pg_trigger_depth()`,
    )
    assert.deepEqual(await rows('select * from ran where by <> $1', ['app']), [])
  })

  test('default privileges open nothing', async () => {
    await db.exec(`alter default privileges grant usage on schemas to app; ${uninstall}`)
    await db.exec(install)
    assert.equal(await value(`select has_schema_privilege('app', 'millstream', 'usage')`), false)
    await db.exec('alter default privileges revoke usage on schemas from app')
  })

  test('session_replication_role hides nothing', async () => {
    await check(
      `set session_replication_role = replica; insert into ro values (2); create table ro2(id int);
       insert into ro2 values (1); truncate ro2; set session_replication_role = origin`,
      ['ro i (2)', 'ro2 i (1)', 'ro2 t'],
    )
  })

  test('triggers that are disabled, dropped, renamed or replaced come back', async () => {
    for (const attempt of [
      'alter table ro disable trigger all',
      'alter table ro enable trigger all',
      'drop trigger "!millstream" on ro',
      'alter trigger "!millstream" on ro rename to mine',
      'drop trigger "!millstream truncate" on ro',
      'create or replace trigger "!millstream" after insert on ro for each row when (false) execute function millstream.capture(1)',
      `create function nop() returns trigger language plpgsql as 'begin return null; end';
       create or replace trigger "!millstream" after insert on ro for each row execute function nop()`,
    ]) {
      await db.exec(attempt)
      await db.exec('drop trigger if exists mine on ro')
      await check(
        'insert into ro values (3); update ro set id = 4 where id = 3; delete from ro where id = 4; truncate ro',
        ['ro i (3)', 'ro u (3) > (4)', 'ro d (4)', 'ro t'],
      )
    }
  })

  test('temporary tables, views and materialised views are not captured; unlogged and inherited ones are', async () => {
    await check(
      `create temp table tmp(id int); insert into tmp values (1);
       create materialized view mv as select * from ro; refresh materialized view mv;
       create unlogged table un(id int); insert into un values (1);
       create table kid(more int) inherits (ro); insert into kid values (9, 9)`,
      ['un i (1)', 'kid i (9,9)'],
    )
    await check('truncate ro', ['ro t', 'kid t'])
  })
})

describe('partitions', () => {
  before(() =>
    db.exec(`create table ev(id int, region text, primary key (id, region)) partition by list (region);
      create table ev_us partition of ev for values in ('us');
      create table ev_eu(region text not null, junk int, id int not null);
      alter table ev_eu drop column junk; alter table ev attach partition ev_eu for values in ('eu')`),
  )

  test('rows are logged under the root, in the partition’s own column order', async () => {
    await check(`insert into ev values (1, 'us'), (2, 'eu')`, ['ev i (1,us)', 'ev i (eu,2)'])
    assert.deepEqual(
      JSON.parse((await latest('ev_eu')).columns).map((c) => c.name),
      ['region', 'id'],
    )
    assert.equal((await latest('ev_eu')).key_columns, '["id", "region"]')
  })

  test('a row that moves is a delete and an insert in one transaction', async () => {
    await check(`update ev set region = 'eu' where id = 1`, ['ev d (1,us)', 'ev i (eu,1)'])
  })

  test('new partitions, at any depth, need nothing', async () => {
    await db.exec(`create table ev_as partition of ev for values in ('as') partition by list (id);
      create table ev_as1 partition of ev_as default`)
    await check(
      `insert into ev values (3, 'as'); update ev_as set id = 4; delete from ev_as1; truncate ev_as`,
      ['ev i (3,as)', 'ev u (3,as) > (4,as)', 'ev d (4,as)'],
    )
  })

  test('attaching and detaching move the rows from one relation to the other', async () => {
    await db.exec(
      `create table ev_af(id int not null, region text not null); insert into ev_af values (5, 'af')`,
    )
    await check(`alter table ev attach partition ev_af for values in ('af')`, [
      'ev_af d (5,af)',
      'ev i (5,af)',
    ])
    await check('alter table ev detach partition ev_af', ['ev d (5,af)', 'ev_af i (5,af)'])
    await check('update ev_af set id = 6; truncate ev_af', ['ev_af u (5,af) > (6,af)', 'ev_af t'])
  })

  test('a subtree attached or detached moves whole', async () => {
    await db.exec(`insert into ev values (7, 'as')`)
    await check('alter table ev detach partition ev_as', ['ev d (7,as)', 'ev_as i (7,as)'])
    await check('truncate ev_as', ['ev_as t'])
    await check(`insert into ev_as values (8, 'as')`, ['ev_as i (8,as)'])
    await check(`alter table ev attach partition ev_as for values in ('as')`, [
      'ev_as d (8,as)',
      'ev i (8,as)',
    ])
    await check('truncate ev_as', ['ev d (8,as)'])
  })

  test('dropping a partition empties the root and fills it with what remains', async () => {
    await db.exec(`insert into ev values (9, 'us')`)
    await check('drop table ev_us', ['ev t', 'ev i (eu,2)', 'ev i (eu,1)'])
    await check('drop table ev', [])
  })
})

describe('schema changes', () => {
  test('each row names the definition it was written under, in one transaction too', async () => {
    await db.exec('create table sc(id int primary key, b int)')
    const from = await head()
    await db.exec(`begin; insert into sc values (1, 2); alter table sc add c int not null default 7;
      insert into sc values (2, 3, 4); alter table sc drop b; insert into sc values (3, 5); commit`)
    const log = await rows(
      `select r.columns, l.new from millstream.log l join millstream.relation r on r.id = l.relation
        where l.seq > $1 order by l.seq`,
      [from],
    )
    assert.deepEqual(
      log.map((row) => [
        JSON.parse(row.columns)
          .map((c) => c.name)
          .join(),
        row.new,
      ]),
      [
        ['id,b', '(1,2)'],
        ['id,b,c', '(2,3,4)'],
        ['id,c', '(3,5)'],
      ],
    )
  })

  test('a rolled back change leaves the old version in force', async () => {
    const { id } = await latest('sc')
    await db.exec('begin; alter table sc add d int; rollback')
    assert.equal((await latest('sc')).id, id)
    await check('insert into sc values (4, 5)', ['sc i (4,5)'])
  })

  test('every road to another definition makes a version, and nothing else does', async () => {
    await db.exec(`create type sd_type as enum ('x'); create schema sd; create domain sd_domain as int;
      create table sd.t(id int primary key, e sd_type, d sd_domain)`)
    const oid = await oidOf('sd.t')
    const check = async (ddl, made) => {
      const was = (await versions(oid)).at(-1)
      await db.exec(ddl)
      const found = await versions(oid)
      assert.equal(found.at(-1).id - was.id, made, ddl)
      await db
        .exec('begin; insert into "S d"."T" values (1); rollback')
        .catch(() => db.exec('rollback'))
    }
    await check('alter table sd.t alter id type bigint', 1)
    await check('alter table sd.t drop constraint t_pkey', 1)
    await check('alter table sd.t add primary key (id)', 1)
    await check('alter type sd_type rename to "Sd"', 1)
    await check(`alter type "Sd" add value 'y'`, 0)
    await check('alter table sd.t rename e to f', 1)
    await check('alter table sd.t rename to "T"', 1)
    await check('alter schema sd rename to "S d"', 1)
    await check('alter table "S d"."T" set schema public', 1)
    await check(
      'create index on public."T" (f); comment on table public."T" is $$x$$; analyze "T"',
      0,
    )
    await check('alter table public."T" set unlogged', 0)
    await check('create view tv as select * from public."T"; grant select on "T" to app', 0)
    const last = (await versions(oid)).at(-1)
    assert.deepEqual([last.namespace, last.name], ['public', 'T'])
    await db.exec('drop table public."T" cascade')
    assert.equal((await versions(oid)).at(-1).dropped, true)
  })

  test('renaming the root renames its partitions', async () => {
    await db.exec(`create table sr(id int) partition by list (id); create table sr1 partition of sr default;
      alter table sr rename to sr2`)
    await check('insert into sr2 values (1)', ['sr2 i (1)'])
  })

  test('tables that come filled are logged as inserts', async () => {
    await check('create table sf as select g as id from generate_series(1, 2) g', [
      'sf i (1)',
      'sf i (2)',
    ])
    await check('select * into sf2 from sf', ['sf2 i (1)', 'sf2 i (2)'])
    await check(
      'create schema sf3 create table t as select 1 as id'.replace(
        ' as select 1 as id',
        '(id int)',
      ),
      [],
    )
    await check('insert into sf3.t values (1)', ['t i (1)'])
  })

  test('a definition that changes while deferred events are pending is followed', async () => {
    await db.exec(`create schema sp; create table sp.p(id int primary key);
      create table sp.c(id int references sp.p deferrable initially deferred)`)
    await check(
      `begin; insert into sp.c values (1); alter schema sp rename to sp2; insert into sp2.c values (2);
       insert into sp2.p values (1), (2); commit`,
      ['c i (1)', 'c i (2)', 'p i (1)', 'p i (2)'],
    )
    assert.equal((await latest('sp2.c')).namespace, 'sp2')
    await db.exec('create table heal()')
    assert.deepEqual(
      await rows(`select tgrelid::regclass::text from pg_trigger
      where tgname like '!millstream%' and tgenabled <> 'A'`),
      [],
    )
  })

  test('other roles’ DDL is followed', async () => {
    await check(
      'grant create on schema public to app; set role app; create table sa(id int); insert into sa values (1); reset role',
      ['sa i (1)'],
    )
  })
})

describe('order', () => {
  test('a row that a trigger changes is logged after the statement that made it', async () => {
    await db.exec(`create table oa(id int primary key, v int);
      create function oa() returns trigger language plpgsql as $$ begin
        if pg_trigger_depth() = 1 then update oa set v = v + 10 where id = new.id + 1; end if; return null; end $$;
      create trigger zz after insert or update on oa for each row execute function oa()`)
    await check('insert into oa values (1, 1), (2, 2), (3, 3)', [
      'oa i (1,1)',
      'oa i (2,2)',
      'oa i (3,3)',
      'oa u (2,2) > (2,12)',
      'oa u (3,3) > (3,13)',
    ])
    await check(
      'begin; update oa set v = 0 where id < 3; update oa set v = 1 where id = 1; commit',
      [
        'oa u (1,1) > (1,0)',
        'oa u (2,12) > (2,0)',
        'oa u (2,0) > (2,10)',
        'oa u (3,13) > (3,23)',
        'oa u (1,0) > (1,1)',
        'oa u (2,10) > (2,20)',
      ],
    )
  })

  test('a BEFORE trigger’s change of a row that the statement made comes after it', async () => {
    await db.exec(`create table ob(id int primary key, place int);
      create function ob() returns trigger language plpgsql as $$ begin
        update ob set place = place + 1 where place >= new.place; return new; end $$;
      create trigger shift before insert on ob for each row execute function ob()`)
    await check('insert into ob values (1, 1), (2, 1), (3, 1)', [
      'ob i (1,1)',
      'ob u (1,1) > (1,2)',
      'ob u (1,2) > (1,3)',
      'ob i (2,1)',
      'ob u (2,1) > (2,2)',
      'ob i (3,1)',
    ])
  })

  test('a BEFORE trigger that makes room for a key stays before the insert', async () => {
    await db.exec(`create table oc(id int primary key, v int);
      create function oc() returns trigger language plpgsql as $$ begin
        delete from oc where id = new.id; return new; end $$;
      create trigger replace before insert on oc for each row execute function oc()`)
    await check('insert into oc values (1, 1); insert into oc values (1, 1), (1, 2)', [
      'oc i (1,1)',
      'oc d (1,1)',
      'oc i (1,1)',
      'oc d (1,1)',
      'oc i (1,2)',
    ])
  })

  test('a child that a trigger changes after a delayed cascade is logged after it', async () => {
    await db.exec(`create table od(id int primary key);
      create table od_child(id int primary key, od int references od on delete set null, v int);
      create function od() returns trigger language plpgsql as $$ begin
        update od_child set v = coalesce(v, 0) + 1; return null; end $$;
      create trigger zz after delete on od for each row execute function od();
      insert into od values (1); insert into od_child values (1, 1, 0)`)
    await check('delete from od', [
      'od d (1)',
      'od_child u (1,1,0) > (1,,0)',
      'od_child u (1,,0) > (1,,1)',
    ])
  })

  test('a deferred trigger’s changes come at the end of the transaction', async () => {
    await db.exec(`create table oe(id int primary key, v int);
      create function oe() returns trigger language plpgsql as $$ begin
        update oe set v = v + 1 where id = 3 - new.id; return null; end $$;
      create constraint trigger later after insert on oe deferrable initially deferred
        for each row execute function oe()`)
    await check('begin; insert into oe values (1, 0), (2, 0); update oe set v = 5; commit', [
      'oe i (1,0)',
      'oe i (2,0)',
      'oe u (1,0) > (1,5)',
      'oe u (2,0) > (2,5)',
      'oe u (2,5) > (2,6)',
      'oe u (1,5) > (1,6)',
    ])
  })

  test('the order holds through a partitioned root, and after TRUNCATE in one transaction', async () => {
    await db.exec(`create table op(id int primary key, v int) partition by range (id);
      create table op1 partition of op for values from (0) to (2);
      create table op2 partition of op default;
      create function op() returns trigger language plpgsql as $$ begin
        if pg_trigger_depth() = 1 then update op set v = v + 10 where id = new.id + 1; end if; return null; end $$;
      create trigger zz after insert or update on op for each row execute function op()`)
    const made = ['op i (1,1)', 'op i (2,2)', 'op u (2,2) > (2,12)']
    await check('insert into op values (1, 1), (2, 2)', made)
    await check(
      'begin; truncate op; insert into op values (1, 1), (2, 2); truncate op; insert into op values (1, 1), (2, 2); commit',
      ['op t', ...made, 'op t', ...made],
    )
  })

  test('a function that changes a row of its own statement comes after that row', async () => {
    await db.exec(`create function of_(i int) returns int language plpgsql as $$ begin
        update of_ set v = v + 10 where id = i - 1; return i; end $$;
      create function of_nop() returns trigger language plpgsql as 'begin return null; end';
      create table of_(id int primary key, v int);
      create trigger zz after insert on of_ for each row execute function of_nop();
      insert into of_ values (1, 0), (2, 0), (3, 0)`)
    await check('update of_ set v = of_(id)', [
      'of_ u (1,0) > (1,1)',
      'of_ u (1,1) > (1,11)',
      'of_ u (2,0) > (2,2)',
      'of_ u (2,2) > (2,12)',
      'of_ u (3,0) > (3,3)',
    ])
  })

  test('time does not step back where rows change places', async () => {
    const times = (await rows('select time_ms from millstream.log order by seq')).map(
      (row) => row.time_ms,
    )
    assert.ok(times.every((time, i) => i === 0 || time >= times[i - 1]))
  })

  test('a forged setting reaches no other transaction', async () => {
    const before = await lines(0)
    for (const forged of ['-5', '99999999999999999', 'x', '1e9', '0']) {
      await db.exec(
        `begin; set local millstream.settled_1 = '${forged}'; update oa set v = 0; commit`,
      )
    }
    assert.deepEqual((await lines(0)).slice(0, before.length), before)
  })

  test('five thousand rows out of order are settled without quadratic cost', async () => {
    await db.exec('insert into oa select g, 0 from generate_series(101, 5100) g')
    assert.equal((await lines((await head()) - 9998)).at(0), 'oa i (102,0)')
  })
})

describe('replay', () => {
  const tables = ['ra', 'rb', 'rc']
  const world = `
    create table ra(id int primary key, v int, note text);
    create table rb(id int primary key, v int, up int references rb on delete cascade on update cascade);
    create table rc(id int primary key, v int,
      a int references ra on delete set null on update cascade,
      b int references rb on delete cascade on update cascade);
    create function ra_after() returns trigger language plpgsql as $$
    declare i int := coalesce(new.id, old.id);
    begin
      if pg_trigger_depth() < 4 then
        update ra set v = v + 1 where id in ((i * 7 + 3) % 20, (i + 1) % 20) and id <> i;
        update rc set v = v + 1 where a = i;
        if tg_op = 'DELETE' then
          insert into ra values ((i + 1) % 20, 50), ((i + 3) % 20, 51) on conflict do nothing;
        end if;
      end if;
      return null;
    end $$;
    create trigger zz after insert or update or delete on ra for each row execute function ra_after();
    create function rb_before() returns trigger language plpgsql as $$ begin
      if pg_trigger_depth() < 3 then update rb set v = v + 1 where v >= new.v and id <> new.id; end if;
      return new;
    end $$;
    create trigger "AA" before insert on rb for each row execute function rb_before();
    create function rb_after() returns trigger language plpgsql as $$ begin
      if pg_trigger_depth() < 3 then
        update rb set v = v - 1 where id = (old.id + 5) % 20;
        delete from ra where id = old.id + 2;
      end if;
      return null;
    end $$;
    create trigger zz after delete on rb for each row execute function rb_after();
    create function rc_before() returns trigger language plpgsql as $$ begin
      if pg_trigger_depth() < 3 then update ra set v = -1 where id = new.a; end if;
      return new;
    end $$;
    create trigger zz before update on rc for each row when (new.v > 3) execute function rc_before()`

  /** Mulberry32. */
  const random = (seed) => () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  function statement(below) {
    const pick = (...choices) => choices[below(choices.length)]
    const maybe = () => pick('null', below(20))
    const ids = [...new Set(Array.from({ length: 1 + below(6) }, () => below(20)))]
    const [table, columns, row] = pick(
      ['ra', 'id, v', (i) => `(${i}, ${below(9)})`],
      ['rb', 'id, v, up', (i) => `(${i}, ${below(9)}, ${maybe()}::int)`],
      ['rc', 'id, v, a, b', (i) => `(${i}, ${below(5)}, ${maybe()}::int, ${maybe()}::int)`],
    )
    const values = ids.map(row).join()
    return pick(
      `insert into ${table} (${columns}) values ${values}`,
      `insert into ${table} (${columns}) values ${values} on conflict (id) do nothing`,
      `insert into ${table} (${columns}) values ${values} on conflict (id) do update set v = excluded.v + 1`,
      `update ${table} set v = v + 1 where id in (${ids})`,
      `update ${table} set id = id + ${pick(1, 20)} where id in (${ids})`,
      `update ${table} set id = id - 20 where id >= 20`,
      `delete from ${table} where id in (${ids})`,
      `merge into ${table} using (values ${values}) s(${columns}) on s.id = ${table}.id
         when matched and s.id % 3 = 0 then delete
         when matched then update set v = s.v + 10
         when not matched then insert (${columns}) values (${columns.replace(/\w+/g, 's.$&')})`,
      `with x as (update ra set v = v + 1 where id in (${ids})),
            y as (update rb set v = v + 1 where id in (${ids}))
       update rc set v = v + 1 where a in (${ids})`,
      `with x as (delete from ra where id in (${ids}) returning id, v)
       insert into rb (id, v) select id, v from x on conflict (id) do nothing`,
      `do $$ begin
         update ${table} set v = 0 where id in (${ids});
         begin
           update ${table} set v = 1 where id in (${ids});
           perform 1 / ${below(2)};
         exception when division_by_zero then null; end;
       end $$`,
      below(4)
        ? `delete from ${table} where id = ${below(20)}`
        : `truncate ${pick('rc', 'ra cascade', 'rb cascade')}`,
    )
  }

  /** Follows the log as a strict reader: what a row claims to have been must be what was there. */
  class Follower {
    async restart() {
      this.seen = await head()
      this.state = await this.truth()
    }
    async truth() {
      const state = {}
      for (const table of tables) {
        const found = await rows(
          `select id::text, textin(record_out(x.*)) as image from ${table} x`,
        )
        state[table] = new Map(found.map(({ id, image }) => [id, image]))
      }
      return state
    }
    async verify(context) {
      const key = (image) => image.slice(1).split(/[,)]/)[0]
      const log = await rows(
        `select l.*, r.name from millstream.log l join millstream.relation r on r.id = l.relation
          where seq > $1 order by seq`,
        [this.seen],
      )
      for (const { seq, name, op, old, new: now } of log) {
        assert.equal(seq, ++this.seen, 'dense')
        const table = this.state[name]
        if (op === 't') table.clear()
        if (old !== null) {
          assert.equal(
            table.get(key(old)),
            old,
            `what ${seq} (${op} ${name}) takes is there; ${context}`,
          )
          table.delete(key(old))
        }
        if (now !== null) {
          assert.equal(
            table.get(key(now)),
            undefined,
            `where ${seq} (${op} ${name}) goes is free; ${context}`,
          )
          table.set(key(now), now)
        }
      }
      const sorted = (state) => tables.map((table) => [...state[table]].sort())
      assert.deepEqual(sorted(this.state), sorted(await this.truth()), context)
    }
  }

  test('the log replayed over a snapshot is the tables, whatever triggers, cascades and rollbacks do', async () => {
    await db.exec(world)
    for (const seed of [1, 2, 3]) {
      const next = random(seed)
      const below = (n) => Math.floor(next() * n)
      const follower = new Follower()
      await db.exec('truncate ra, rb, rc')
      await follower.restart()
      for (let tx = 0; tx < 30; tx++) {
        const context = `seed ${seed}, transaction ${tx}`
        const run = async (sql) => {
          await db.exec('savepoint step')
          await db.exec(sql).catch((error) => {
            assert.match(error.message, /violates|affect row a second time|already modified/, sql)
            return db.exec('rollback to step')
          })
        }
        await db.exec('begin')
        for (let i = below(7); i >= 0; i--) {
          const dice = next()
          if (dice < 0.2) {
            await db.exec('savepoint part')
            await run(statement(below))
            await run(statement(below))
            if (below(2)) await db.exec('rollback to part')
          } else {
            await run(statement(below))
          }
        }
        await db.exec(below(6) ? 'commit' : 'rollback')
        await follower.verify(context)
        if (below(4) === 0) {
          // Changed definitions change the texts of rows that nobody touched: a reader starts anew.
          await db.exec(`begin; ${statement(below)}`).catch(() => db.exec('rollback; begin'))
          await follower.verify(context)
          await db.exec(
            `alter table ra ${below(2) ? 'drop column if exists note' : 'add column if not exists note int default 7'}`,
          )
          await follower.restart()
          await run(statement(below))
          await db.exec('commit')
          await follower.verify(context)
        }
      }
    }
  })
})

describe('bounds', () => {
  /** @type {(script: string) => Promise<any[]>} */
  const read = async (from) =>
    (
      await db.exec(readLog({ after: 0, relationAfter: 0, maxRows: 1e6, maxBytes: 1e9, ...from }))
    ).map((r) => r.rows)

  before(async () => {
    await db.exec(uninstall)
    await db.exec(`create table bo(id int primary key); ${install}`)
  })

  test('rows that were there before are not logged', async () => {
    const [[meta], relations, log] = await read({})
    assert.deepEqual([meta.oldest, meta.head, log.length], [1, 0, 0])
    assert.deepEqual(Object.keys(relations[0]), [
      'id',
      'oid',
      'namespace',
      'name',
      'key_columns',
      'columns',
      'dropped',
    ])
    assert.ok(relations.some((relation) => relation.name === 'bo' && !relation.dropped))
  })

  test('a read is bounded by rows and by bytes, and never empty while there is more', async () => {
    await db.exec('insert into bo select generate_series(10, 29)')
    const seqs = async (from) => (await read(from))[2].map((row) => row.seq)
    assert.deepEqual(await seqs({ maxRows: 3 }), [1, 2, 3])
    assert.deepEqual(await seqs({ after: 17 }), [18, 19, 20])
    assert.deepEqual(await seqs({ after: 4, maxBytes: 12 }), [5, 6, 7])
    assert.deepEqual(await seqs({ after: 4, maxBytes: 0 }), [5])
    assert.deepEqual(await seqs({ after: 20 }), [])
    const [[meta], relations, [first]] = await read({ relationAfter: 1 })
    assert.deepEqual([meta.oldest, meta.head], [1, 20])
    assert.ok(relations.every((relation) => relation.id > 1))
    assert.deepEqual(Object.keys(first), ['seq', 'tx', 'time_ms', 'relation', 'op', 'old', 'new'])
  })

  test('trim takes the oldest rows and keeps head, time and density', async () => {
    const trimmed = async (rows) => await value(trim({ to: 0, before: 0, limit: 1000, ...rows }))
    assert.equal(await trimmed({ to: 5, limit: 3 }), 3)
    assert.equal(await trimmed({ to: 5 }), 2)
    assert.equal(await trimmed({ to: 5 }), 0)
    assert.equal((await read({}))[2][0].seq, 6)
    const [[{ time_ms }]] = await read({})
    assert.equal(await trimmed({ before: time_ms + 1 }), 15)
    assert.equal(await trimmed({ to: 1e15, before: 1e15 }), 0)
    const [[meta]] = await read({})
    assert.deepEqual([meta.oldest, meta.head, meta.time_ms], [21, 20, time_ms])
    await db.exec('insert into bo values (1)')
    assert.deepEqual(
      (await read({}))[2].map((row) => row.seq),
      [21],
    )
  })

  test('the cap bounds a log that nobody trims', async () => {
    await db.exec(
      'update millstream.meta set cap = 1000; insert into bo select generate_series(100, 5099)',
    )
    const [[meta], , log] = await read({})
    assert.deepEqual([meta.head, log.at(0).seq, log.at(-1).seq], [5021, meta.oldest, 5021])
    assert.ok(log.length >= 1000 && log.length < 1000 + 1024, String(log.length))
    await db.exec('begin; delete from bo where id > 1000; rollback')
    assert.deepEqual((await read({}))[0][0], meta)
  })

  test('installing again keeps the epoch, the log and the versions', async () => {
    const state = () => read({})
    const before = await state()
    await db.exec(install)
    await db.exec(`begin; ${install}; commit`)
    assert.deepEqual(await state(), before)
    assert.equal(await value('show search_path'), 'public')
  })

  test('a schema of another format is refused', async () => {
    await db.exec('update millstream.meta set format = 0')
    await fails(install, /another format/)
    await db.exec('update millstream.meta set format = 1')
  })

  test('uninstalling leaves no trace', async () => {
    await db.exec(uninstall)
    assert.deepEqual(
      await rows(`
      select tgname from pg_trigger where tgname like '%millstream%'
      union all select proname from pg_proc where proname like '%millstream%'
      union all select nspname from pg_namespace where nspname = 'millstream'
      union all select evtname from pg_event_trigger`),
      [],
    )
    await db.exec('insert into bo values (7777777); create table after_all(id int)')
    await db.exec(uninstall)
  })
})
