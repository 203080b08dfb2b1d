//! A script is split where the database itself would split it, and each statement has its kind.

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::random::Rng;

use millstream::sql::{Dialect, Kind, Statement, first_control, split};

use Dialect::{Postgres, Sqlite};

const BOTH: [Dialect; 2] = [Postgres, Sqlite];

/// Asserts that, with a semicolon for each bar, the statements are what stands between the bars.
#[track_caller]
fn check(dialect: Dialect, barred: &str) {
    let expected: Vec<&str> = barred.split('|').map(str::trim).collect();
    check_texts(dialect, &barred.replace('|', ";"), &expected);
}

/// Asserts the texts of the statements of `script`.
#[track_caller]
fn check_texts(dialect: Dialect, script: &str, expected: &[&str]) {
    assert_eq!(
        texts(&split(script, dialect), script),
        expected,
        "{dialect:?}: {script}"
    );
}

fn texts<'a>(statements: &[Statement], script: &'a str) -> Vec<&'a str> {
    statements.iter().map(|s| s.text(script)).collect()
}

/// Asserts that each line is one statement, of kind `expected`.
#[track_caller]
fn check_kind(dialect: Dialect, expected: Kind, lines: &str) {
    for script in lines.lines().filter(|line| !line.trim().is_empty()) {
        let kinds: Vec<Kind> = split(script, dialect).iter().map(|s| s.kind).collect();
        assert_eq!(kinds, [expected], "{dialect:?}: {script}");
    }
}

// Splitting in both dialects.

#[test]
fn semicolons_split_and_empty_statements_vanish() {
    for dialect in BOTH {
        check_texts(dialect, "", &[]);
        check_texts(dialect, " ;; -- nothing; at all\n ; /* ; */ ;", &[]);
        check_texts(dialect, ";a;;\n\tb ;", &["a", "b"]);
        check(dialect, "select 1 | select 2");
    }
}

#[test]
fn blank_space_and_comments_around_a_statement_are_not_its_text() {
    let script = "-- a;\n /* b; */ select /* c; */ 1 -- d;\n ; select 2 /* e */";
    for dialect in BOTH {
        check_texts(dialect, script, &["select /* c; */ 1", "select 2"]);
    }
}

#[test]
fn a_semicolon_in_a_string_or_a_name_does_not_split() {
    for dialect in BOTH {
        check(dialect, "select 'a;''b;' | select 2");
        check(dialect, r#"select "a;""b;" | select 2"#);
        check(dialect, "select '' | select '''' | select ''';'");
    }
}

#[test]
fn a_backslash_in_a_plain_string_hides_nothing() {
    for dialect in BOTH {
        check(dialect, r"select 'a\' | select 2");
    }
}

#[test]
fn quotes_in_comments_and_comments_in_quotes_mean_nothing() {
    for dialect in BOTH {
        check(dialect, "a -- it's;\n b | c /* ;\" ' */ d");
        check(dialect, r#"select '--', '/*' | select "--" | select 3"#);
    }
}

#[test]
fn a_comment_may_stand_inside_an_operator() {
    for dialect in BOTH {
        check(dialect, "select 1 +--;\n2 | select 3 */*;*/4");
    }
}

#[test]
fn text_beyond_ascii_is_kept_whole() {
    for dialect in BOTH {
        check(
            dialect,
            "select /* ;変更 */ 'é;ü' | select \"名;前\" | naïve, 流",
        );
    }
}

#[test]
fn what_never_ends_runs_to_the_end_of_the_text() {
    for dialect in BOTH {
        for open in ["'b; c", "\"b; c", "'b;''", "\"b;\"\" é"] {
            check(dialect, &format!("a | select {open}"));
        }
    }
    for open in [
        "$$b; c$",
        "$t$b; $$c$T$",
        r"E'b;\'",
        "E'b;\\",
        "/* b; /* */ ;",
        "(b; c;",
    ] {
        check(Postgres, &format!("a | select {open}"));
    }
    for open in ["[b; c", "`b; c``"] {
        check(Sqlite, &format!("a | select {open}"));
    }
}

// Splitting in Postgres.

#[test]
fn comments_nest_in_postgres_and_not_in_sqlite() {
    check_texts(Postgres, "/* a /* b */ ; */ c", &["c"]);
    check_texts(Sqlite, "/* a /* b */ ; */ c", &["*/ c"]);
    check_texts(Postgres, "/* /*/ ; */ ; **/ c", &["c"]);
    check_texts(Sqlite, "/* /*/ ; */ ; **/ c", &["*/", "**/ c"]);
    // The opening star does not close.
    check_texts(Postgres, "/*/ ; */ c", &["c"]);
    check_texts(Sqlite, "/*/ ; */ c", &["c"]);
}

#[test]
fn a_comment_that_never_ends_is_an_error_to_postgres_and_blank_to_sqlite() {
    check_texts(Postgres, "/* a;", &["/* a;"]);
    check_texts(Postgres, "a; /* b", &["a", "/* b"]);
    check_texts(Sqlite, "a; /* b; c", &["a"]);
    // At the very end SQLite reads two operators.
    check_texts(Sqlite, "a /*", &["a /*"]);
}

#[test]
fn a_carriage_return_ends_a_line_comment_in_postgres_only() {
    check_texts(Postgres, "a -- b\r; c", &["a", "c"]);
    check_texts(Sqlite, "a -- b\r; c", &["a"]);
}

#[test]
fn a_semicolon_in_a_dollar_quoted_body_does_not_split() {
    check(Postgres, "do $$ a; 'b; $$ | c");
    check(Postgres, "do $f$ a; $$ b; $g$ c; $f$ | d");
    check(Postgres, "select $é$;$É$;$é$ | b");
    // The closing tag needs no space before it, and what fails to close may begin what does.
    check(Postgres, "select $a$ x$b$a$ | b");
    check(Postgres, "select $a$ ;$$a$ | b");
}

#[test]
fn dollars_in_names_and_parameters_open_no_string() {
    check(Postgres, "select 1 a$$b | select a$b$c | select é$$ | d");
    check(Postgres, "select $1 | select $2$ | select $1$2 | select $");
    // After a parameter or a number a string can begin.
    check(Postgres, "select $1$$;$$ | select 1$$;$$");
}

#[test]
fn sqlite_knows_no_dollar_quotes() {
    check(Sqlite, "select $$ | select $a$ | select a$$");
}

#[test]
fn a_backslash_hides_a_quote_only_in_an_escape_string() {
    check(
        Postgres,
        r"select E'\';' | select e'\\' | select e'a''\';' | d",
    );
    // A longer word before the quote is a type, and the string a plain one.
    check(Postgres, r"select ae'\' | b");
    check(Sqlite, r"select E'\' | b");
}

#[test]
fn an_escape_string_goes_on_across_a_line_end() {
    check(Postgres, "select E'a'\n'b\\';c' | d");
    check(Postgres, "select E'a' -- x'\n 'b\\';c' | d");
    check(Postgres, "select E'a' 'b\\' | c");
}

#[test]
fn unicode_strings_and_names_are_quoted_as_others_are() {
    check(
        Postgres,
        r#"select U&'\0061;''' , U&"d;""" uescape '!' | b"#,
    );
}

#[test]
fn semicolons_in_the_brackets_of_a_rule_do_not_split() {
    check(
        Postgres,
        "create rule r as on insert to t do also (delete from a; delete from b) | c",
    );
    // A bracket too many closes nothing.
    check(Postgres, "select 1) | select (2) | select 3");
    check(Sqlite, "select (1 | select 2");
}

#[test]
fn an_atomic_body_is_one_statement() {
    for body in [
        "create function f() returns int begin atomic select 1; select 2; end",
        "create or replace procedure p(a int) Begin /* ; */ Atomic end",
        "create function f(begin atomic) begin atomic select case when a then 1 end; end",
        "create function f() begin atomic select 1 as end; select t.end from t; end",
        "create procedure p() begin atomic create function f() begin atomic a; end; end",
        "create function f() begin atomic insert into t values ('; end;'); end language sql",
    ] {
        check(Postgres, &format!("a | {body} | b"));
        check(Postgres, &format!("a | {body}"));
    }
}

#[test]
fn begin_and_end_outside_an_atomic_body_hold_no_statement_together() {
    check(
        Postgres,
        "select begin atomic from t | end | create function f() return 1 | begin | end",
    );
    check(
        Postgres,
        "create function \"begin\"() as 'begin atomic' | b",
    );
}

// Splitting in SQLite.

#[test]
fn sqlite_names_in_brackets_and_backticks_are_quoted() {
    check(Sqlite, "select [a;'b] | select `a;``b;`");
    check(Postgres, "select a[1] | select 2");
}

#[test]
fn the_brackets_of_a_tcl_parameter_belong_to_its_name() {
    check(Sqlite, "select $a(;), @b::c(';), :d(\" | )");
    check(Sqlite, "select ?1, :a, @b, $c | select 2");
}

#[test]
fn sqlite_skips_a_byte_order_mark() {
    let script = "\u{feff}create trigger t insert on a begin b; end; \u{feff}c";
    check_texts(
        Sqlite,
        script,
        &["create trigger t insert on a begin b; end", "c"],
    );
    check_texts(Postgres, "\u{feff}a", &["\u{feff}a"]);
}

#[test]
fn a_vertical_tab_is_blank_to_sqlite_only_after_other_white_space() {
    check_texts(Sqlite, "a \u{b}; \u{b}b", &["a", "b"]);
    check_texts(Sqlite, "a\u{b};b", &["a\u{b}", "b"]);
    check_texts(Postgres, "a\u{b};\u{b}b", &["a", "b"]);
}

#[test]
fn a_trigger_body_is_one_statement() {
    for body in [
        "create trigger t after insert on a begin select 1; end",
        "CREATE TEMP TRIGGER IF NOT EXISTS t UPDATE ON a BEGIN UPDATE b SET c = 1; END",
        "create temporary trigger t delete on a when case when 1 then 1 end begin b; end",
        "create trigger t insert on a begin select case when 1 then 2 end; delete from b; end",
        // `end` may be a name in SQLite; only after a semicolon it is the end.
        "create trigger t insert on a begin select 1 as end; select end from b; /* ; */ end",
        "explain create trigger t insert on a begin select 1; end",
        "explain query plan create trigger t insert on a begin select 1; end",
    ] {
        check(Sqlite, &format!("a | {body} | b"));
        check(Sqlite, &format!("a | {body}"));
    }
    check(
        Postgres,
        "create trigger t after insert on a execute function f() | b",
    );
}

#[test]
fn a_trigger_without_an_end_is_left_to_sqlite() {
    check(Sqlite, "a | create trigger t insert on a begin end; b;");
}

// Kinds.

#[test]
fn transactions_begin_and_end_by_every_name() {
    let commit = Kind::Commit { chain: false };
    let rollback = Kind::Rollback { chain: false };
    for dialect in BOTH {
        let begin = "begin
            BEGIN TRANSACTION
            /* a */ Begin -- b";
        check_kind(dialect, Kind::Begin, begin);
        let commits = "commit
            Commit Transaction
            end
            END TRANSACTION";
        check_kind(dialect, commit, commits);
        let rollbacks = "rollback
            rollback transaction";
        check_kind(dialect, rollback, rollbacks);
        let savepoints = "savepoint a
            release a
            release savepoint a
            rollback to a
            rollback to savepoint a
            rollback transaction to a";
        check_kind(dialect, Kind::Savepoint, savepoints);
    }
    check_kind(Postgres, Kind::Begin, "start transaction read only");
    check_kind(Postgres, Kind::Begin, "begin isolation level serializable");
    check_kind(Postgres, commit, "commit work");
    check_kind(Postgres, commit, "end work and no chain");
    check_kind(Postgres, rollback, "abort");
    check_kind(Postgres, rollback, "rollback work and no chain");
    check_kind(Postgres, Kind::Savepoint, "rollback work to savepoint a");
    check_kind(Sqlite, Kind::Begin, "begin immediate");
    check_kind(Sqlite, Kind::Begin, "begin exclusive transaction");
    check_kind(
        Sqlite,
        Kind::Savepoint,
        "rollback transaction a to savepoint b",
    );
    check_kind(Sqlite, Kind::Other, "start transaction");
    check_kind(Sqlite, Kind::Other, "abort");
}

#[test]
fn a_chained_transaction_is_known() {
    let commit = Kind::Commit { chain: true };
    check_kind(Postgres, commit, "commit and chain");
    check_kind(Postgres, commit, "end work and /* a */ chain");
    let rollback = Kind::Rollback { chain: true };
    check_kind(Postgres, rollback, "rollback and chain");
    check_kind(Postgres, rollback, "abort transaction and chain");
}

#[test]
fn a_prepared_transaction_is_not_a_prepared_statement() {
    check_kind(Postgres, Kind::Prepare, "prepare transaction 'a'");
    check_kind(Postgres, Kind::Alone, "commit prepared 'a'");
    check_kind(Postgres, Kind::Alone, "rollback prepared 'a'");
    check_kind(Postgres, Kind::Other, "prepare a as select 1");
    check_kind(Postgres, Kind::Other, "prepare transaction as select 1");
    check_kind(
        Postgres,
        Kind::Other,
        "prepare transaction (int) as select $1",
    );
}

#[test]
fn what_postgres_bars_from_blocks_runs_alone() {
    let barred = r#"
        vacuum
        VACUUM (full, analyze) t
        create database a
        drop database if exists a with (force)
        alter database "set" set tablespace b
        create tablespace a location '/b'
        drop tablespace a
        alter system set work_mem = '4MB'
        create index concurrently on t (a)
        create unique index /* a */ concurrently if not exists b on t (a)
        drop index concurrently a
        reindex table concurrently t
        reindex (tablespace a, verbose true, concurrently) index b
        reindex (verbose) schema a
        reindex database a
        reindex system
        alter table t detach partition p concurrently
        alter table if exists only a.b.c detach partition d.e.f concurrently
        cluster
        cluster verbose
        cluster (verbose true)
        discard all
        create subscription a connection 'b' publication c
        drop subscription a
        alter subscription "a b" refresh publication
        alter subscription a set publication b, c
        alter subscription a set (slot_name = b, failover = true)"#;
    check_kind(Postgres, Kind::Alone, barred);
}

#[test]
fn what_postgres_takes_in_blocks_does_not_run_alone() {
    let schema = "
        create index a on t (b)
        alter type a add value 'b'
        alter database a set work_mem = '4MB'
        alter table t detach partition p
        refresh materialized view concurrently v
        alter subscription a disable
        alter subscription a set (slot_name = none)
        drop index a";
    check_kind(Postgres, Kind::Schema, schema);
    let other = "
        analyze t
        reindex table system
        reindex (verbose) table t
        cluster t
        cluster (verbose) t using i
        discard temp";
    check_kind(Postgres, Kind::Other, other);
}

#[test]
fn what_sqlite_bars_from_transactions_or_ignores_there_runs_alone() {
    let barred = r#"
        vacuum
        vacuum main into 'a'
        detach a
        pragma journal_mode = wal
        PRAGMA main.journal_mode(WAL)
        pragma foreign_keys = on
        pragma "foreign_keys" = 1
        pragma synchronous = off
        pragma temp_store = memory
        pragma wal_checkpoint
        pragma a.wal_checkpoint(truncate)"#;
    check_kind(Sqlite, Kind::Alone, barred);
    let other = "
        attach 'a' as b
        reindex
        pragma user_version = 2
        pragma defer_foreign_keys = on
        pragma optimize
        pragma";
    check_kind(Sqlite, Kind::Other, other);
}

#[test]
fn what_can_change_a_relation_is_schema() {
    let both = "
        create table t (a int)
        create table t as select 1
        create view v as select 1
        alter table t add column b int
        drop table t";
    for dialect in BOTH {
        check_kind(dialect, Kind::Schema, both);
    }
    let postgres = "
        create function f() returns int begin atomic select 1; end
        refresh materialized view v
        import foreign schema a from server b into c
        select 1 as a into t
        (select 1 into t)
        with a as (insert into b values (1) returning c) select c into t from a";
    check_kind(Postgres, Kind::Schema, postgres);
    check_kind(
        Sqlite,
        Kind::Schema,
        "create trigger t insert on a begin delete from b; end",
    );
}

#[test]
fn a_query_that_names_no_write_is_a_read() {
    let both = r#"
        select 1
        values (1)
        with a as (select 1) select * from a
        select 'insert into', "update" from t -- delete
        explain select 1
        explain delete from t"#;
    for dialect in BOTH {
        check_kind(dialect, Kind::Read, both);
    }
    let postgres = "
        table t
        show all
        ((select 1) union select 2)";
    check_kind(Postgres, Kind::Read, postgres);
    let sqlite = "
        select replace(a, 'b', 'c') from t
        explain query plan delete from t
        pragma table_info(t)
        pragma main.table_list
        pragma foreign_keys";
    check_kind(Sqlite, Kind::Read, sqlite);
}

#[test]
fn what_writes_or_may_write_is_no_read() {
    let both = "
        insert into t values (1)
        update t set a = 1
        with a as (select 1) insert into t select * from a
        with a as (select 1) delete from t";
    for dialect in BOTH {
        check_kind(dialect, Kind::Other, both);
    }
    let postgres = "
        with a as (delete from t returning *) select * from a
        with a as (merge into t using b on c when matched then delete returning 1) table a
        select * from t for update
        select * from t for key share
        explain analyze delete from t
        explain (costs off, analyze) delete from t
        do $$ begin end $$
        call p()
        truncate t
        copy t from stdin
        set role a";
    check_kind(Postgres, Kind::Other, postgres);
    let sqlite = "
        with a as (select 1) replace into t select * from a
        explain pragma foreign_keys = 1";
    check_kind(Sqlite, Kind::Other, sqlite);
}

#[test]
fn a_quoted_word_is_no_keyword() {
    for dialect in BOTH {
        check_kind(dialect, Kind::Other, r#""begin""#);
        check_kind(dialect, Kind::Other, "'commit'");
        check_kind(
            dialect,
            Kind::Rollback { chain: false },
            r#"rollback transaction "to""#,
        );
    }
    check_kind(Postgres, Kind::Other, "$$begin$$");
    check_kind(Sqlite, Kind::Other, "[begin]");
}

// Control.

#[test]
fn the_first_to_begin_or_end_a_transaction_is_found_and_savepoints_are_passed_over() {
    let found = |script: &str| first_control(&split(script, Postgres)).map(|s| s.kind);
    assert_eq!(
        found("select 'commit'; savepoint a; rollback to a; release a; vacuum"),
        None
    );
    assert_eq!(
        found("select 1; commit; begin"),
        Some(Kind::Commit { chain: false })
    );
    assert_eq!(found("savepoint a; start transaction"), Some(Kind::Begin));
    assert_eq!(found("abort"), Some(Kind::Rollback { chain: false }));
    assert_eq!(found("prepare transaction 'a'"), Some(Kind::Prepare));
}

// Whatever the text.

#[test]
fn a_megabyte_of_statements_is_split_in_one_pass() {
    let row = "insert into t values (1, 'a;b'); -- c;\n";
    let n = 1_000_000 / row.len();
    for dialect in BOTH {
        assert_eq!(split(&row.repeat(n), dialect).len(), n);
    }
}

/// What looks ahead for an end that is not there would be quadratic on one of these.
#[test]
fn a_long_run_of_one_opening_is_one_statement() {
    let openings = [
        "(",
        "[",
        "'",
        "\"",
        "$a",
        "$1",
        "a$$",
        ":a(",
        "E'a'\n",
        "E'\\'",
        "- ",
        "/",
        "begin atomic ",
    ];
    for dialect in BOTH {
        for opening in openings {
            let script = format!("select {}", opening.repeat(200_000 / opening.len()));
            assert_eq!(split(&script, dialect).len(), 1, "{dialect:?} {opening}");
        }
    }
    let nested = "/* ".repeat(60_000);
    assert_eq!(split(&nested, Postgres).len(), 1);
    assert_eq!(split(&nested, Sqlite).len(), 0);
    assert_eq!(
        split(&format!("{nested}{}", " */".repeat(60_000)), Postgres).len(),
        0
    );
    assert_eq!(
        split(&format!("$a${}", "$a".repeat(100_000)), Postgres).len(),
        1
    );
    assert_eq!(split(&";".repeat(200_000), Postgres).len(), 0);
}

#[test]
fn any_text_gives_ordered_spans_that_split_no_further() {
    let parts: Vec<&str> =
        "' \" ` [ ] ( ) ; ; ; -- /* */ \\ $ $$ $a$ $1 1 1e E' e U&' é 流 \u{feff} \
        :a( :: @ create temp trigger function or replace begin atomic end case explain select \
        rollback to vacuum"
            .split(' ')
            .chain(["\n", "\r", "\0", "\u{b}", " ", " ", " ", " "])
            .collect();
    let mut random = Rng::new(0x9E37_79B9_7F4A_7C15);
    for round in 0..20_000 {
        let script: String = (0..random.index(40))
            .filter_map(|_| parts.get(random.index(parts.len())))
            .copied()
            .collect();
        check_spans(&script, round);
    }
    for round in 0..2_000 {
        let bytes: Vec<u8> = (0..random.index(200)).map(|_| random.byte()).collect();
        check_spans(&String::from_utf8_lossy(&bytes), round);
    }
}

/// Asserts what holds for every text: spans are ordered, not empty and on character boundaries,
/// the statements joined again split into the same ones, and the steps hold each once.
#[track_caller]
fn check_spans(script: &str, round: usize) {
    for dialect in BOTH {
        let context = format!("{dialect:?}, round {round}: {script:?}");
        let statements = split(script, dialect);
        let mut at = 0;
        for statement in &statements {
            assert!(
                at <= statement.start && statement.start < statement.end,
                "{context}"
            );
            assert!(!statement.text(script).is_empty(), "{context}");
            at = statement.end;
        }

        let joined = texts(&statements, script).join(" ;");
        let again = split(&joined, dialect);
        assert_eq!(
            texts(&again, &joined),
            texts(&statements, script),
            "{context}"
        );
        assert!(
            again
                .iter()
                .map(|s| s.kind)
                .eq(statements.iter().map(|s| s.kind)),
            "{context}"
        );
    }
}
