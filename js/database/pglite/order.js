// The order of the changelog: replayed over a snapshot, it must give the table.
//
// A row trigger runs after its whole statement, so the log is written later than the table. While
// the first row's application trigger changes more rows, those are logged before the statement's
// second; what a function called by the statement or a BEFORE trigger changes is logged before all
// of its rows; rows of a cascade are logged after all of them. Two facts tell where a row belongs:
//
// 1. a row version is made before it is taken (old_at and new_at name the versions);
// 2. when the first AFTER trigger runs, the statement has made all its changes to the table.
//
// A row that was logged too late moves before the row that shows it, and the rows of its statement
// before it move along. Seqs are permuted within the transaction: none is gained or lost.
//
// What neither fact shows: a key (not a version) that a row frees and another statement takes
// while the first is unlogged, where the first is a cascade's or the second a BEFORE trigger's;
// and a table without row triggers or cascades of its own, changed twice by one statement, once
// in a CTE and once by another table's trigger.

/**
 * The function that settles the order after each statement on a table marked 'order'.
 *
 * @param {string} text settings of every function that is called from outside
 */
export const order = (text) => `
create or replace function millstream.settle() returns trigger
language plpgsql security definer ${text}
  set enable_seqscan = off
as $$
declare
  this_tx bigint := pg_current_xact_id()::text::bigint;
  level int := pg_trigger_depth();
  head bigint := (select l.seq from millstream.log l order by l.seq desc limit 1);
  settled bigint := 0;
  word text;
  nested boolean;
  late boolean;
  ours int[];
  first_nested bigint;
  last_pending bigint;
  target bigint;
begin
  -- What is settled already, by the word of settings. One who forges them misleads only the order
  -- of its own transaction, whose rows alone are ever moved.
  for above in 1..level loop
    word := current_setting('millstream.settled_' || above, true);
    if word ~ '^[0-9]{1,18}$' then
      settled := greatest(settled, word::bigint);
    end if;
  end loop;
  if not exists (select from millstream.log l where l.seq = settled and l.tx = this_tx) then
    settled := coalesce(
      (select l.seq from millstream.log l where l.tx <> this_tx order by l.seq desc limit 1), 0);
  end if;
  select bool_or(l.depth > level),
         bool_or(l.depth = level and exists (
           select from millstream.log n
            where n.tx = this_tx and n.old_at = l.new_at and n.seq < l.seq))
    into nested, late
    from millstream.log l
   where l.seq > settled and l.tx = this_tx;
  if nested is null then
    return null;
  end if;

  if nested then
    ours := array(
      select r.id
        from millstream.relation r
       where r.root = coalesce(pg_partition_root(tg_relid), tg_relid));
    -- The first nested change of this table behind a row of the statement's own ...
    select min(n.seq) into first_nested
      from millstream.log n
     where n.tx = this_tx and n.depth > level and n.relation = any (ours)
       and n.seq > (
             select min(l.seq)
               from millstream.log l
              where l.seq > settled and l.tx = this_tx and l.depth = level
                and l.relation = any (ours));
  end if;
  -- ... which all its own rows precede, up to one (of a later cascade) that takes what was nested.
  if first_nested is not null then
    select max(l.seq) into last_pending
      from millstream.log l
     where l.seq > first_nested and l.tx = this_tx and l.depth = level and l.relation = any (ours)
       and l.seq < coalesce((
             select min(t.seq)
               from millstream.log n
               join millstream.log t on t.tx = this_tx and t.old_at = n.new_at and t.seq > n.seq
              where n.seq >= first_nested and n.tx = this_tx and n.depth > level
                and n.relation = any (ours) and t.depth = level and t.relation = any (ours)
           ), head + 1);
  end if;

  -- A move can show another row to be late, hence rounds; their number is bounded all the same.
  for round in 1..8 loop
    exit when not late and last_pending is null;
    update millstream.log l
       set before = a.before
      from (
        select o.seq, min(o.before) over (order by o.seq desc) as before
          from (
            select l.seq, least(
                     (select min(n.seq)
                        from millstream.log n
                       where n.tx = this_tx and n.old_at = l.new_at and n.seq < l.seq),
                     case when l.seq = last_pending then first_nested end) as before
              from millstream.log l
             where l.seq > settled and l.tx = this_tx and l.depth = level
          ) o
      ) a
     where l.seq = a.seq and a.before < a.seq;
    exit when not found;

    -- Through negative numbers, so that no two rows ever share one. Times stay where they are.
    target := (select min(l.before) from millstream.log l where l.seq > settled and l.tx = this_tx);
    update millstream.log l
       set seq = -o.place, time_ms = t.time_ms, before = null
      from (
        select l.seq,
               target - 1 + row_number() over (
                 order by coalesce(l.before, l.seq), l.before is null, l.seq) as place
          from millstream.log l
         where l.seq >= target and l.tx = this_tx
      ) o
      join millstream.log t on t.seq = o.place
     where l.seq = o.seq and (l.seq <> o.place or l.before is not null);
    update millstream.log l set seq = -l.seq where l.seq < 0;
    late := true;
    last_pending := null;
  end loop;
  perform set_config('millstream.settled_' || level, head::text, true);
  return null;
end $$;
`
