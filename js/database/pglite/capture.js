// Capture on PGlite: a changelog that triggers write in the writer's own transaction.
//
//   row of a captured table ── "!millstream" ──> millstream.log, seq = last seq + 1
//   end of a statement ── "!millstream order" ──> rows logged out of turn take their places
//   TRUNCATE ── "!millstream truncate" ──> one t, or a d for each row of a partition
//   DDL ── event trigger millstream ──> relation versions and triggers follow the catalog
//
// The log is dense and holds exactly meta.oldest..head, where head is the last row's seq, or
// oldest - 1 in an empty log. It is not stored: a counter in a setting could be forged by any
// user, and one in a row would be rewritten for every row of a transaction.

import { order } from './order.js'
import { relations } from './relations.js'

/** The layout of schema `millstream`; another number is another layout. */
export const format = 1

/**
 * Settings of every function that is called from outside: names resolve where no user can plant
 * any, and a value has the same text in every session. (No locale changes text: PGlite has only C.)
 */
const text = `
  set search_path = pg_catalog, pg_temp
  set "TimeZone" = 'UTC'
  set "DateStyle" = 'ISO, MDY'
  set "IntervalStyle" = 'postgres'
  set extra_float_digits = 1
  set bytea_output = 'hex'
  set quote_all_identifiers = off`

const tables = `
create schema if not exists millstream;

create table if not exists millstream.meta (
  one boolean primary key default true check (one),
  format int not null,
  epoch uuid not null default gen_random_uuid(),
  oldest bigint not null default 1,
  -- The time of the last row that was trimmed: an empty log's time does not step back either.
  time_ms bigint not null default 0,
  -- The most rows the log may hold, whoever fails to trim it.
  cap bigint not null default 1000000 check (cap > 0)
);

create table if not exists millstream.relation (
  id int primary key,
  oid oid not null,
  root oid not null,
  namespace text not null,
  name text not null,
  key_columns text not null,
  columns text not null,
  dropped boolean not null
);
create index if not exists relation_oid on millstream.relation (oid, id);
create index if not exists relation_root on millstream.relation (root);

create table if not exists millstream.log (
  seq bigint primary key,
  tx bigint not null,
  time_ms bigint not null,
  relation int not null,
  op "char" not null,
  depth smallint not null,
  actor text,
  call_op text,
  old text,
  new text,
  -- Where the two row versions stand on disk, kept where settle needs it.
  old_at text,
  new_at text,
  -- While settle sorts: the seq this row must stand before.
  before bigint
);
create index if not exists log_old_at on millstream.log (tx, old_at) where old_at is not null;
create index if not exists log_new_at on millstream.log (tx, new_at) where new_at is not null;
`

const functions = `
-- Keeps the newest meta.cap rows.
create or replace function millstream.bound(head bigint) returns void
language plpgsql
as $$
begin
  update millstream.meta m
     set oldest = l.seq + 1, time_ms = l.time_ms
    from millstream.log l
   where l.seq = head - m.cap;
  if found then
    delete from millstream.log l using millstream.meta m where l.seq < m.oldest;
  end if;
end $$;

create or replace function millstream.append(
  relation int, op "char", old text, new text, old_at text, new_at text
) returns void
language plpgsql
as $$
declare
  this_tx bigint := pg_current_xact_id()::text::bigint;
  last_seq bigint;
  last_tx bigint;
  last_ms bigint;
begin
  select l.seq, l.tx, l.time_ms into last_seq, last_tx, last_ms
    from millstream.log l order by l.seq desc limit 1;
  if last_seq is null then
    select m.oldest - 1, 0, m.time_ms into last_seq, last_tx, last_ms from millstream.meta m;
  end if;
  if last_tx <> this_tx then
    perform pg_notify('millstream', '');
  end if;
  insert into millstream.log
    (seq, tx, time_ms, relation, op, depth, actor, call_op, old, new, old_at, new_at)
  values (
    last_seq + 1, this_tx,
    greatest(last_ms, (extract(epoch from clock_timestamp()) * 1000)::bigint),
    relation, op, pg_trigger_depth(),
    nullif(current_setting('millstream.actor', true), ''),
    nullif(current_setting('millstream.op', true), ''),
    old, new, old_at, new_at);
  if last_seq & 1023 = 1023 then
    perform millstream.bound(last_seq + 1);
  end if;
end $$;

-- Arguments: the relation's version, and 'order' on tables that settle watches over.
create or replace function millstream.capture() returns trigger
language plpgsql security definer ${text}
as $$
declare
  op "char" := case tg_op when 'INSERT' then 'i' when 'UPDATE' then 'u' else 'd' end;
  was text;
  made text;
  was_at text;
  made_at text;
begin
  -- Not new::text: the table's owner may have made a cast to text, and it would have our rights.
  if tg_op <> 'INSERT' then
    was := record_out(old);
  end if;
  if tg_op <> 'DELETE' then
    made := record_out(new);
  end if;
  if tg_nargs > 1 then
    -- With the file, since a rewritten table counts its rows from the start.
    if tg_op <> 'INSERT' then
      was_at := concat(pg_relation_filenode(tg_relid), old.ctid);
    end if;
    if tg_op <> 'DELETE' then
      made_at := concat(pg_relation_filenode(tg_relid), new.ctid);
    end if;
  end if;
  perform millstream.append(tg_argv[0]::int, op, was, made, was_at, made_at);
  return null;
end $$;

-- A partition that is truncated alone is told row by row, for a t would empty its whole root.
create or replace function millstream.capture_truncate() returns trigger
language plpgsql security definer ${text}
as $$
declare
  this_tx bigint := pg_current_xact_id()::text::bigint;
  start bigint := coalesce(
    (select l.seq from millstream.log l where l.tx <> this_tx order by l.seq desc limit 1), 0);
  this millstream.relation;
  versions int[];
  emptied bigint;
begin
  select r.* into this from millstream.relation r where r.id = tg_argv[0]::int;
  versions := array(select r.id from millstream.relation r where r.oid = this.oid);
  -- A file may be emptied in place: its next rows stand where these did.
  update millstream.log l
     set old_at = null, new_at = null
   where l.seq > start and l.relation = any (versions)
     and (l.old_at is not null or l.new_at is not null);
  if this.root = this.oid then
    perform millstream.append(this.id, 't', null, null, null, null);
    return null;
  end if;
  -- Where the root goes too, its trigger was first: its t stands in this transaction's log with
  -- nothing of this partition behind it. By the log such a partition is empty.
  select max(l.seq) into emptied
    from millstream.log l
    join millstream.relation r on r.id = l.relation
   where l.seq > start and l.op = 't' and r.oid = this.root;
  if emptied is null or exists (
    select from millstream.log l where l.seq > emptied and l.relation = any (versions))
  then
    perform millstream.append_rows(this.id, 'd');
  end if;
  return null;
end $$;
`

const readers = `
-- Functions, since the session that reads may have any search_path and any operator in it.
create or replace function millstream.read_meta()
returns table (epoch uuid, oldest bigint, head bigint, time_ms bigint)
language sql stable ${text}
begin atomic
  select m.epoch, m.oldest, coalesce(l.seq, m.oldest - 1), coalesce(l.time_ms, m.time_ms)
    from millstream.meta m
    left join (select seq, time_ms from millstream.log order by seq desc limit 1) l on true;
end;

create or replace function millstream.read_relations(after int)
returns table (
  id int, oid oid, namespace text, name text, key_columns text, columns text, dropped boolean
)
language sql stable ${text}
begin atomic
  select r.id, r.oid, r.namespace, r.name, r.key_columns, r.columns, r.dropped
    from millstream.relation r
   where r.id > after
   order by r.id;
end;

create or replace function millstream.read_rows(after bigint, max_rows bigint, max_bytes bigint)
returns table (
  seq bigint, tx bigint, time_ms bigint, relation int, op "char", old text, new text
)
language sql stable ${text}
begin atomic
  select r.seq, r.tx, r.time_ms, r.relation, r.op, r.old, r.new
    from (
      select l.*, row_number() over total as place,
             sum(coalesce(octet_length(l.old), 0) + coalesce(octet_length(l.new), 0))
               over total as bytes
        from (
          select * from millstream.log where log.seq > after order by log.seq limit max_rows
        ) l
      window total as (order by l.seq)
    ) r
   where r.place = 1 or r.bytes <= max_bytes
   order by r.seq;
end;

create or replace function millstream.trim_log(upto bigint, earlier_than bigint, most bigint)
returns bigint
language plpgsql ${text}
as $$
declare
  deleted bigint;
begin
  -- Time never steps back along the log, so both bounds are prefixes of it.
  update millstream.meta m
     set oldest = l.seq + 1, time_ms = l.time_ms
    from (
      select o.seq, o.time_ms
        from (select * from millstream.log order by seq limit most) o
       where o.seq <= upto or o.time_ms < earlier_than
       order by o.seq desc limit 1
    ) l;
  delete from millstream.log l using millstream.meta m where l.seq < m.oldest;
  get diagnostics deleted = row_count;
  return deleted;
end $$;
`

/** The path of the session is put aside while the script runs, and comes back with its end. */
const enter = `
select pg_catalog.set_config('millstream.path', pg_catalog.current_setting('search_path'), true);
set local search_path = pg_catalog, pg_temp;
`
const leave = `
select pg_catalog.set_config('search_path', pg_catalog.current_setting('millstream.path'), true);
`

/**
 * Installs capture on every table, or brings an installed one up to date; the epoch stays.
 * One script for one transaction, run by a superuser.
 */
export const install = `${enter}
drop event trigger if exists millstream;
${tables}
${functions}
${order(text)}
${relations(text)}
${readers}
revoke all on all functions in schema millstream from public;

do $$
declare
  grantee text;
begin
  -- Default privileges may have let others in.
  for grantee in
    select distinct case a.grantee when 0 then 'public' else a.grantee::regrole::text end
      from pg_namespace n cross join aclexplode(n.nspacl) a
     where n.nspname = 'millstream' and a.grantee <> n.nspowner
  loop
    execute 'revoke all on schema millstream from ' || grantee;
  end loop;
  if exists (select from millstream.meta m where m.format <> ${format}) then
    raise exception 'schema millstream has another format than ${format}';
  end if;
  perform millstream.renew();
  insert into millstream.meta (format) values (${format}) on conflict do nothing;
end $$;

create event trigger millstream on ddl_command_end execute function millstream.follow_ddl();
alter event trigger millstream enable always;
${leave}`

/** Takes out all that install put in. */
export const uninstall = `
drop event trigger if exists millstream;
drop schema if exists millstream cascade;
`

/**
 * Reads what a reader has not seen: one simple-protocol script with three result sets.
 * Meta: epoch, oldest, head, time_ms (of head). Relation versions: id, oid, namespace, name,
 * key_columns, columns, dropped. Rows: seq, tx, time_ms, relation, op, old, new.
 *
 * @param {object} from integers
 * @param {number} from.after the last seq seen
 * @param {number} from.relationAfter the last relation version seen
 * @param {number} from.maxRows
 * @param {number} from.maxBytes of images; the first row comes whatever its size
 * @returns {string}
 */
export const readLog = ({ after, relationAfter, maxRows, maxBytes }) => `
select * from millstream.read_meta();
select * from millstream.read_relations(${relationAfter});
select * from millstream.read_rows(${after}, ${maxRows}, ${maxBytes});
`

/**
 * Deletes the oldest rows up to a seq or from before a time, and says how many they were.
 *
 * @param {object} rows integers
 * @param {number} rows.to the last seq nobody needs; 0 for none
 * @param {number} rows.before milliseconds; 0 for none
 * @param {number} rows.limit the most rows to delete
 * @returns {string}
 */
export const trim = ({ to, before, limit }) =>
  `select millstream.trim_log(${to}, ${before}, ${limit}) as trimmed`
