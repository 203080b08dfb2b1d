// Which tables are captured, and under which definition: the part that follows the catalog.

/**
 * Functions of `millstream` that bring relation versions and triggers in line with the catalog.
 *
 * They compare everything, because DDL reaches a definition by many roads (a renamed schema or
 * type, a domain, the root of a partition) that the command's own object does not name.
 *
 * @param {string} text settings of every function that is called from outside
 */
export const relations = (text) => `
-- A type's name with domains resolved, in arrays too.
create or replace function millstream.base_type(of oid) returns text
language plpgsql stable
as $$
declare
  base oid := (select t.typbasetype from pg_type t where t.oid = of and t.typtype = 'd');
  element oid := (select t.oid from pg_type t where t.typarray = of);
begin
  if base is not null then
    return millstream.base_type(base);
  elsif element is not null then
    return millstream.base_type(element) || '[]';
  end if;
  return format_type(of, null);
end $$;

-- Logs all rows of a table as inserted or deleted; virtual columns are null, as in a trigger.
create or replace function millstream.append_rows(version int, op "char") returns void
language plpgsql
as $$
declare
  query text;
  image text;
begin
  select format('select textin(record_out(row(%s))) from only %I.%I it',
           (select string_agg(
                     case a.attgenerated when 'v' then 'null' else format('it.%I', a.attname) end,
                     ', ' order by a.attnum)
              from pg_attribute a
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
           n.nspname, c.relname)
    into query
    from millstream.relation r
    join pg_class c on c.oid = r.oid
    join pg_namespace n on n.oid = c.relnamespace
   where r.id = version;
  for image in execute query loop
    if op = 'd' then
      perform millstream.append(version, op, image, null, null, null);
    else
      perform millstream.append(version, op, null, image, null, null);
    end if;
  end loop;
end $$;

-- A new version for each table whose definition differs from its latest one.
create or replace function millstream.renew_versions() returns void
language plpgsql
as $$
declare
  -- Until meta has its row the log has not begun, and rows that are already there are not news.
  begun boolean := exists (select from millstream.meta);
  version int := coalesce((select max(r.id) from millstream.relation r), 0);
  shrunk oid[] := '{}';
  change record;
begin
  for change in
    with fresh as (
      select c.oid, f.oid as root, n.nspname::text as namespace, f.relname::text as name,
             coalesce((
               select jsonb_agg(a.attname order by k.place)::text
                 from pg_index i
                cross join unnest(i.indkey::int2[]) with ordinality k (attnum, place)
                 join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
                where i.indrelid = c.oid and i.indisprimary and k.place <= i.indnkeyatts
             ), '[]') as key_columns,
             coalesce((
               select jsonb_agg(
                        jsonb_build_object('name', a.attname, 'type',
                          case when t.typtype = 'd' or e.typtype = 'd'
                               then millstream.base_type(t.oid)
                               else format_type(t.oid, null) end)
                        || case a.attgenerated when 'v' then '{"unsent": true}' else '{}' end::jsonb
                        order by a.attnum)::text
                 from pg_attribute a
                 join pg_type t on t.oid = a.atttypid
                 left join pg_type e on e.oid = t.typelem
                where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
             ), '[]') as columns,
             c.relkind = 'r' as filled
        from pg_class c
        join pg_namespace own on own.oid = c.relnamespace
        join pg_class f on f.oid = coalesce(pg_partition_root(c.oid), c.oid)
        join pg_namespace n on n.oid = f.relnamespace
       where (c.relkind = 'r' or c.relkind = 'p' and f.oid = c.oid) and c.relpersistence <> 't'
         and left(own.nspname, 3) <> 'pg_'
         and own.nspname not in ('information_schema', 'millstream')
    ), latest as (
      select distinct on (r.oid) r.* from millstream.relation r order by r.oid, r.id desc
    )
    select coalesce(f.oid, l.oid) as oid, coalesce(f.root, l.root) as root,
           coalesce(f.namespace, l.namespace) as namespace, coalesce(f.name, l.name) as name,
           coalesce(f.key_columns, l.key_columns) as key_columns,
           coalesce(f.columns, l.columns) as columns,
           f.oid is null as dropped, l.id as was,
           begun and f.filled and not l.dropped and l.root <> f.root as leaves,
           begun and f.filled and (l.id is null or l.dropped or l.root <> f.root) as enters
      from fresh f
      full join latest l on l.oid = f.oid
     where (f.root, f.namespace, f.name, f.key_columns, f.columns, f.oid is null) is distinct from
           (l.root, l.namespace, l.name, l.key_columns, l.columns, l.dropped)
       and (f.oid is not null or not l.dropped)
     order by f.oid is null desc, coalesce(f.oid, l.oid)
  loop
    version := version + 1;
    -- Rows of a partition that is attached or detached leave one relation and enter another.
    if change.leaves then
      perform millstream.append_rows(change.was, 'd');
    end if;
    insert into millstream.relation (id, oid, root, namespace, name, key_columns, columns, dropped)
    values (version, change.oid, change.root, change.namespace, change.name, change.key_columns,
            change.columns, change.dropped);
    if change.enters then
      perform millstream.append_rows(version, 'i');
    end if;
    if change.dropped and change.root <> change.oid then
      shrunk := shrunk || change.root;
    end if;
  end loop;

  -- The rows of a dropped partition can no longer be read, so its root is emptied and filled anew.
  for change in
    select distinct on (l.root = l.oid, l.oid) l.id, l.root = l.oid as emptied
      from millstream.relation l
      join pg_class c on c.oid = l.oid
      join pg_class f on f.oid = l.root
     where begun and l.root = any (shrunk)
       and l.id = (select max(r.id) from millstream.relation r where r.oid = l.oid)
     order by l.root = l.oid desc, l.oid, l.id desc
  loop
    if change.emptied then
      perform millstream.append(change.id, 't', null, null, null, null);
    else
      perform millstream.append_rows(change.id, 'i');
    end if;
  end loop;
end $$;

-- The triggers each captured table must have, whatever became of them.
create or replace function millstream.renew_triggers() returns void
language plpgsql
  -- A mark no ordinary user can set, by which follow_ddl knows commands of our own.
  set session_replication_role = 'local'
as $$
declare
  change record;
begin
  for change in
    with latest as (
      select l.*
        from (select distinct on (r.oid) r.* from millstream.relation r order by r.oid, r.id desc) l
       where not l.dropped
    ), unruly as (
      -- Where rows can be logged out of turn: application row triggers, targets of cascades.
      select coalesce(pg_partition_root(t.tgrelid), t.tgrelid) as root
        from pg_trigger t
       where not t.tgisinternal and t.tgtype & 1 = 1 and t.tgname <> '!millstream'
      union
      select coalesce(pg_partition_root(k.conrelid), k.conrelid)
        from pg_constraint k
       where k.contype = 'f'
         and (k.confdeltype in ('c', 'n', 'd') or k.confupdtype in ('c', 'n', 'd'))
    ), wanted as (
      select l.oid as relid, '!millstream' as name, 'millstream.capture'::regproc::oid as function,
             29::int2 as type, 'after insert or update or delete on %s for each row' as moment,
             array[l.id::text] || array(select 'order' from unruly u where u.root = l.root) as args
        from latest l
        join pg_class c on c.oid = l.oid and c.relkind = 'r'
      union all
      select l.oid, '!millstream truncate', 'millstream.capture_truncate'::regproc,
             34, 'before truncate on %s for each statement', array[l.id::text]
        from latest l
      union all
      select c.oid, '!millstream order', 'millstream.settle'::regproc,
             28, 'after insert or update or delete on %s for each statement', '{}'
        from pg_class c
        join unruly u on u.root = coalesce(pg_partition_root(c.oid), c.oid)
        join latest l on l.oid = u.root
    ), wanted_bytes as (
      -- The catalog ends each argument in a NUL, which text cannot hold.
      select w.*,
             coalesce((
               select string_agg(convert_to(a.arg, 'UTF8') || decode('00', 'hex'), ''
                                 order by a.place)
                 from unnest(w.args) with ordinality a (arg, place)
             ), '') as tgargs
        from wanted w
    ), present as (
      select * from pg_trigger t
       where t.tgname in ('!millstream', '!millstream truncate', '!millstream order')
    )
    select format('%I.%I', n.nspname, c.relname) as place, coalesce(w.name, p.tgname) as name,
           w.moment, w.function::regproc::text as function,
           (select string_agg(quote_literal(a.arg), ', ' order by a.place)
              from unnest(w.args) with ordinality a (arg, place)) as args,
           p.oid is not null
             and (w.name is null or p.tgfoid <> w.function or p.tgconstraint <> 0) as stray
      from wanted_bytes w
      full join present p on p.tgrelid = w.relid and p.tgname = w.name
      join pg_class c on c.oid = coalesce(w.relid, p.tgrelid)
      join pg_namespace n on n.oid = c.relnamespace
     where (w.function, w.type, w.tgargs, '', null, 'A') is distinct from
           (p.tgfoid, p.tgtype, p.tgargs, p.tgattr::text, p.tgqual::text, p.tgenabled)
     order by coalesce(w.relid, p.tgrelid), 2
  loop
    if change.stray then
      execute format('drop trigger %I on %s', change.name, change.place);
    end if;
    continue when change.function is null;
    -- Replaced, not dropped: events that are still pending find their trigger by its oid.
    execute format('create or replace trigger %I ' || change.moment || ' execute function %s(%s)',
                   change.name, change.place, change.function, change.args);
    begin
      execute format('alter table only %s enable always trigger %I', change.place, change.name);
    exception when object_in_use then
      -- Deferred events are pending: the trigger works, and becomes ALWAYS with the next DDL.
      null;
    end;
  end loop;
end $$;

create or replace function millstream.renew() returns void
language plpgsql ${text}
as $$
begin
  perform millstream.renew_versions();
  perform millstream.renew_triggers();
end $$;

create or replace function millstream.follow_ddl() returns event_trigger
language plpgsql security definer ${text}
as $$
begin
  if current_setting('session_replication_role') <> 'local' and tg_tag not in (
    -- Frequent, and without any bearing on a table's definition or triggers.
    'COMMENT', 'CREATE FUNCTION', 'CREATE INDEX', 'CREATE SEQUENCE', 'CREATE VIEW', 'DROP INDEX',
    'DROP VIEW', 'GRANT', 'REFRESH MATERIALIZED VIEW', 'REINDEX', 'REVOKE')
  then
    perform millstream.renew();
  end if;
end $$;
`
