//! The engine with a scripted host: what each subscription is told, and what that costs the others.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at once"
)]

use millstream::engine::Options;
use millstream::record::Input;
use millstream::subscription::{PATIENCE_MS, WINDOW};
use serde_json::{Value, json};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::host::{Ask, Host, Told, kind};

const USERS: u32 = 1;
const POSTS: u32 = 2;

fn users() -> Value {
    json!({ "public": "users" })
}

fn posts() -> Value {
    json!({ "public": "posts" })
}

/// The numbers from `first` to `last`.
fn seqs(first: u64, last: u64) -> Vec<u64> {
    (first..=last).collect()
}

/// A host that reads a row at a time and gives commits in parts of one row.
fn in_small_pieces() -> Host {
    Host::with_tables_and(Options {
        max_read_rows: 1,
        max_commit_bytes: 1,
        ..Options::default()
    })
}

/// The ids of the entries of a subscription's commits, each with whether more of it follows.
fn parts(host: &Host, id: u32) -> Vec<(Vec<u64>, bool)> {
    let commits = host.sub(id).commits();
    commits
        .map(|it| {
            (
                it.entries.iter().map(|entry| entry.id).collect(),
                it.partial,
            )
        })
        .collect()
}

// Beginning

#[test]
fn a_subscription_begins_at_the_head_and_is_given_only_what_comes_later() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    assert_eq!(host.sub(1).started(), Some(2));
    host.write(&[USERS, POSTS]);
    host.write(&[POSTS]);
    assert_eq!(parts(&host, 1), [(vec![3, 4], false), (vec![5], false)]);
    let commit = host.sub(1).commits().next().unwrap();
    assert_eq!((commit.tx, commit.part), (host.store.entry(3).tx, None));
    assert_eq!(commit.entries[1].relation, "public.posts");
}

#[test]
fn a_selector_is_given_its_own_entries_of_a_commit_and_no_others() {
    let mut host = Host::with_tables();
    host.join(1, users(), json!("now"));
    host.join(2, posts(), json!("now"));
    host.write(&[USERS, POSTS, USERS]);
    assert_eq!(parts(&host, 1), [(vec![3, 5], false)]);
    assert_eq!(parts(&host, 2), [(vec![4], false)]);
    assert_eq!((host.sub(1).seqs(), host.sub(2).seqs()), (vec![5], vec![5]));
}

#[test]
fn a_since_in_the_past_is_replayed_and_joins_the_live_stream_without_seam() {
    for rows in [1, 2, 7, 256] {
        let options = Options {
            max_read_rows: rows,
            ..Options::default()
        };
        let mut host = Host::with_tables_and(options);
        host.join(1, json!("*"), json!("now"));
        host.store.commit_each(&[USERS; 100]);
        host.subscribe(2, users(), json!("start"));
        host.subscribe(3, users(), json!(40));
        host.store.commit_each(&[USERS; 20]);
        while host.reading.is_some() {
            host.answer();
            if host.store.head() < 150 {
                host.store.commit(&[USERS]);
                host.wake();
            }
        }
        host.settle();
        let head = host.store.head();
        assert_eq!(host.sub(1).seqs(), seqs(3, head));
        assert_eq!(host.sub(2).seqs(), [vec![1], seqs(3, head)].concat());
        assert_eq!(host.sub(3).seqs(), seqs(41, head));
    }
}

#[test]
fn a_since_within_a_commit_is_given_the_rest_of_it_whoever_else_reads_it() {
    let mut host = Host::with_tables();
    host.store.commit(&[USERS; 6]);
    host.join(1, json!("*"), json!("now"));
    host.subscribe(2, json!("*"), json!(5));
    host.subscribe(3, json!("*"), json!(2));
    host.settle();
    assert_eq!(parts(&host, 2), [(seqs(6, 8), false)]);
    assert_eq!(parts(&host, 3), [(seqs(3, 8), false)]);
}

#[test]
fn whoever_joins_a_class_that_had_nobody_at_the_tip_misses_nothing() {
    let mut host = Host::with_tables();
    host.join(1, posts(), json!("now"));
    host.subscribe(2, users(), json!(4));
    host.store.commit_each(&[USERS; 10]);
    host.settle();
    assert_eq!(host.sub(2).seqs(), seqs(5, 12));
}

#[test]
fn a_since_that_the_log_has_not_reached_is_refused() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!(3));
    assert_eq!(host.sub(1).refusal()["code"], "bad_since");
    host.join(2, json!("*"), json!(2));
    assert_eq!(host.sub(2).started(), Some(2));
}

#[test]
fn what_is_no_declaration_is_refused_at_once() {
    let mut host = Host::with_tables();
    for (selector, since, code) in [
        (json!("*"), json!("then"), "bad_since"),
        (json!("*"), json!(-1), "bad_since"),
        (json!("*"), json!(1.5), "bad_since"),
        (json!("*"), Value::Null, "bad_since"),
        (Value::Null, json!("now"), "bad_selector"),
        (json!({}), json!("now"), "bad_selector"),
    ] {
        host.subscribe(1, selector, since);
        assert_eq!(host.sub(1).refusal()["code"], code);
    }
    for (payload, code) in [
        ("", "bad_options"),
        ("{", "bad_options"),
        ("[]", "bad_selector"),
        (r#"{"selector":"*"}"#, "bad_since"),
    ] {
        host.subscribe(1, Value::Null, Value::Null);
        host.subs.get_mut(&1).unwrap().closed = false;
        host.input(Input::Subscribe, 1, payload.as_bytes());
        assert_eq!(host.sub(1).refusal()["code"], code, "{payload}");
    }
    host.settle();
}

#[test]
fn a_named_table_that_is_not_there_is_refused_with_the_nearest_one() {
    let mut host = Host::with_tables();
    host.join(1, json!({ "public": "usres" }), json!("now"));
    assert_eq!(
        host.sub(1).refusal(),
        &json!({
            "code": "relation_not_found",
            "message": "there is no table public.usres; did you mean public.users?",
        })
    );
    host.join(2, json!({ "public": "zzzzzzzzzzzz" }), json!("now"));
    let message = host.sub(2).refusal()["message"].as_str().unwrap();
    assert!(message.contains("a pattern such as '*'"), "{message}");
    host.join(3, json!({ "private": "users" }), json!("now"));
    assert_eq!(host.sub(3).refusal()["code"], "relation_not_found");
    host.write(&[USERS]);
    assert_eq!(host.sub(1).seqs(), [0; 0]);
}

#[test]
fn a_dropped_table_is_not_there_and_a_renamed_one_has_its_new_name() {
    let mut host = Host::with_tables();
    host.store.define(16_000, "public", "people", false);
    host.store.define(16_001, "public", "posts", true);
    host.join(1, posts(), json!("now"));
    host.join(2, users(), json!("now"));
    host.join(3, json!({ "public": "people" }), json!("now"));
    assert_eq!(host.sub(1).refusal()["code"], "relation_not_found");
    assert_eq!(host.sub(2).refusal()["code"], "relation_not_found");
    host.write(&[3]);
    assert_eq!(host.sub(3).seqs(), [3]);
}

#[test]
fn tables_created_later_reach_everything_and_patterns() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.join(2, json!({ "public": "au%" }), json!("now"));
    host.join(3, json!({ "public": ["!users"] }), json!("now"));
    let audit = host.store.create("audit");
    host.write(&[audit, USERS]);
    assert_eq!(parts(&host, 1), [(vec![3, 4], false)]);
    assert_eq!(parts(&host, 2), [(vec![3], false)]);
    assert_eq!(parts(&host, 3), [(vec![3], false)]);
}

#[test]
fn a_row_keeps_the_name_it_was_written_under() {
    let mut host = Host::with_tables();
    host.store.commit(&[USERS]);
    let people = host.store.define(16_000, "public", "people", false);
    host.store.commit(&[people]);
    host.join(1, json!("*"), json!(2));
    let names: Vec<&str> = host
        .sub(1)
        .commits()
        .map(|it| it.entries[0].relation.as_str())
        .collect();
    assert_eq!(names, ["public.users", "public.people"]);
}

#[test]
fn a_relation_version_is_announced_once_before_its_first_use() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.join(2, users(), json!("now"));
    host.store.commit(&[USERS, POSTS]);
    host.wake();
    host.answer();
    assert_eq!(
        (host.count(kind::RELATION), host.count(kind::COMMIT)),
        (2, 2)
    );
    assert_eq!(host.records[0].kind, kind::RELATION);
    host.settle();
    host.store.commit(&[POSTS, USERS]);
    host.wake();
    host.answer();
    assert_eq!(
        (host.count(kind::RELATION), host.count(kind::COMMIT)),
        (0, 2)
    );
}

// Classes

#[test]
fn equal_selectors_share_one_class_and_one_record() {
    let mut host = Host::with_tables();
    for (id, selector) in [
        (1, json!({ "public": ["users", "posts"] })),
        (
            2,
            json!([{ "namespace": "public", "name": "posts" }, { "namespace": "public", "name": "users" }]),
        ),
        (3, json!({ "public": ["posts", "users", "posts"] })),
        (4, json!("*")),
    ] {
        host.join(id, selector, json!("now"));
    }
    host.store.commit(&[USERS]);
    host.wake();
    host.answer();
    let commits = host
        .records
        .iter()
        .filter(|record| record.kind == kind::COMMIT);
    let subs: Vec<&[u32]> = commits.map(|record| record.subs.as_slice()).collect();
    assert_eq!(subs, [&[1, 2, 3][..], &[4]]);
}

#[test]
fn ten_thousand_subscriptions_on_other_tables_add_no_record_to_a_commit() {
    let mut host = Host::with_tables();
    host.join(1, posts(), json!("now"));
    let mut counts = Vec::new();
    for _ in 0..2 {
        host.store.commit(&[POSTS]);
        host.wake();
        host.answer();
        counts.push((host.records.len(), host.count(kind::COMMIT)));
        host.settle();
        for id in 2..=10_001 {
            let selector = if id % 2 == 0 {
                users()
            } else {
                json!({ "public": format!("t{id}%") })
            };
            host.subscribe(id, selector, json!("now"));
        }
        host.settle();
    }
    // The first of them also announced the table.
    assert_eq!(counts, [(3, 1), (2, 1)]);
    assert_eq!(host.sub(1).seqs(), [3, 4]);
}

#[test]
fn a_class_ends_with_its_last_subscription_and_its_place_is_taken_cleanly() {
    let mut host = Host::with_tables();
    host.join(1, users(), json!("now"));
    host.join(2, users(), json!("now"));
    host.unsubscribe_from_callback(1);
    host.write(&[USERS, POSTS]);
    host.unsubscribe_from_callback(2);
    host.join(3, posts(), json!("start"));
    host.write(&[USERS, POSTS]);
    assert_eq!(host.sub(1).seqs(), [0; 0]);
    assert_eq!(parts(&host, 2), [(vec![3], false)]);
    assert_eq!(
        parts(&host, 3),
        [(vec![2], false), (vec![4], false), (vec![6], false)]
    );
}

// Sinks that do not keep up

#[test]
fn a_stalled_subscription_never_stops_the_others() {
    let mut host = Host::with_tables();
    for id in 1..=3 {
        host.join(id, users(), json!("now"));
    }
    host.join(4, json!("*"), json!("now"));
    host.set_eager(2, false);
    for _ in 0..200 {
        host.write(&[USERS]);
    }
    for id in [1, 3, 4] {
        assert_eq!(host.sub(id).seqs(), seqs(3, 202), "{id}");
    }
    assert_eq!(host.sub(2).seqs(), seqs(3, 66));
    assert_eq!(host.sub(2).held.len(), WINDOW);
}

#[test]
fn a_stalled_subscription_catches_up_without_loss_or_double_once_it_takes() {
    // A little behind, it is served from the ring; far behind, from the log.
    for commits in [65, 80, 128, 129, 500] {
        let mut host = Host::with_tables();
        host.join(1, json!("*"), json!("now"));
        host.join(2, users(), json!("now"));
        host.set_eager(2, false);
        for index in 0..commits {
            host.write(&[if index % 3 == 0 { POSTS } else { USERS }]);
        }
        let readings = host.n_readings;
        while !host.sub(2).held.is_empty() {
            host.ack(2, 10);
            host.settle();
        }
        if commits <= 80 {
            assert_eq!(host.n_readings, readings, "the ring serves {commits}");
        }
        host.write(&[USERS]);
        let users = |seq: &u64| host.store.entry(*seq).relation == USERS;
        let expected: Vec<u64> = seqs(3, host.store.head())
            .into_iter()
            .filter(users)
            .collect();
        assert_eq!(host.sub(2).seqs(), expected, "{commits}");
    }
}

#[test]
fn with_everyone_stalled_the_log_is_left_alone_until_somebody_takes() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.set_eager(1, false);
    for _ in 0..200 {
        host.write(&[USERS]);
    }
    let readings = host.n_readings;
    host.write(&[USERS]);
    host.advance(10_000);
    assert_eq!(host.n_readings, readings);
    host.set_eager(1, true);
    host.settle();
    assert_eq!(host.sub(1).seqs(), seqs(3, 203));
}

#[test]
fn large_commits_fill_a_window_before_its_count_does() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.set_eager(1, false);
    let note = "x".repeat(3 << 20);
    for _ in 0..6 {
        host.store.begin();
        host.store.write(USERS, 'i', &note);
        host.store.end(true);
        host.wake();
        host.settle();
    }
    assert_eq!(host.sub(1).seqs(), [3, 4, 5]);
    host.set_eager(1, true);
    host.settle();
    assert_eq!(host.sub(1).seqs(), seqs(3, 8));
}

#[test]
fn acknowledgements_of_nobody_and_of_nothing_change_nothing() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.set_eager(1, false);
    host.write(&[USERS]);
    host.input(Input::Ack, 0, &[9; 12]);
    host.input(Input::Ack, 0, &[9; 7]);
    host.input(Input::Ack, 0, &[]);
    host.ack(1, 1);
    host.ack(1, 1);
    host.write(&[USERS]);
    assert_eq!(host.sub(1).seqs(), [3, 4]);
}

// Ending

#[test]
fn whoever_leaves_is_handed_what_was_committed_by_then() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.store.commit_each(&[USERS; 3]);
    host.unsubscribe(1);
    assert!(!host.sub(1).closed);
    host.settle();
    assert_eq!(host.sub(1).seqs(), [3, 4, 5]);
    assert!(matches!(
        host.sub(1).told.last(),
        Some(Told::Closed(Value::Null))
    ));
    host.write(&[USERS]);
    assert_eq!(host.sub(1).seqs(), [3, 4, 5]);
}

#[test]
fn whoever_leaves_from_its_own_callback_is_gone_at_once() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.set_eager(1, false);
    host.store.commit_each(&[USERS; 3]);
    host.wake();
    host.answer();
    host.unsubscribe_from_callback(1);
    assert!(host.sub(1).closed);
    host.unsubscribe_from_callback(1);
    host.unsubscribe(1);
    assert_eq!(host.count(kind::CLOSED), 0);
}

#[test]
fn whoever_leaves_before_it_began_is_gone_at_once_unless_it_asked_for_the_past() {
    let mut host = Host::with_tables();
    for id in 1..=3 {
        host.subscribe(
            id,
            json!("*"),
            if id == 1 {
                json!("now")
            } else {
                json!("start")
            },
        );
    }
    host.unsubscribe(1);
    assert!(host.sub(1).closed);
    host.unsubscribe(2);
    let ask = host.reading.take().unwrap();
    let rows = host.store.read(&ask);
    host.store.commit(&[USERS]);
    host.unsubscribe(3);
    host.input(Input::Rows, ask.id, &rows);
    host.settle();
    host.write(&[USERS]);
    assert_eq!(host.sub(1).seqs(), [0; 0]);
    // What was committed before it left is what it is handed, and then it is gone without further delay.
    assert_eq!(host.sub(3).seqs(), [1, 2, 3]);
    assert!(host.sub(2).closed && host.sub(3).closed);
}

#[test]
fn nobody_is_waited_for_beyond_patience() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.set_eager(1, false);
    for _ in 0..5 {
        host.write(&[USERS]);
    }
    // However long it stalled before it left, its patience begins then.
    host.advance(10 * PATIENCE_MS);
    host.unsubscribe(1);
    host.settle();
    host.advance(PATIENCE_MS - 1);
    host.ack(1, 1);
    host.advance(PATIENCE_MS - 1);
    assert!(!host.sub(1).closed);
    host.advance(1);
    assert!(host.sub(1).closed);
}

#[test]
fn nobody_is_waited_for_beyond_patience_where_the_log_cannot_be_read() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.unsubscribe(1);
    host.fail_reading();
    host.now += PATIENCE_MS;
    host.input(Input::Tick, 0, &[]);
    assert!(host.sub(1).closed);
}

#[test]
fn a_steady_writer_does_not_keep_anybody_from_leaving() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.set_eager(1, false);
    host.write(&[USERS]);
    host.unsubscribe(1);
    for _ in 0..10 {
        // Its sink is always one commit behind.
        host.write(&[USERS]);
        if !host.sub(1).closed {
            host.ack(1, 1);
        }
    }
    assert!(host.sub(1).closed);
}

#[test]
fn whoever_leaves_far_behind_is_handed_all_of_it_as_long_as_it_takes() {
    let mut host = Host::with_tables_and(Options {
        max_read_rows: 1,
        ..Options::default()
    });
    host.store.commit_each(&[POSTS; 20]);
    host.store.commit(&[USERS]);
    host.join(1, posts(), json!("now"));
    host.subscribe(2, users(), json!(2));
    host.answer();
    host.unsubscribe(2);
    // Each reading takes its time, and most concern others.
    while host.reading.is_some() {
        host.now += PATIENCE_MS / 3;
        host.input(Input::Tick, 0, &[]);
        host.answer();
    }
    host.settle();
    assert_eq!(host.sub(2).seqs(), [23]);
    assert!(host.sub(2).closed);
}

#[test]
fn whoever_leaves_while_another_log_takes_the_place_is_gone() {
    let mut host = Host::with_tables();
    host.store.commit_each(&[USERS; 20]);
    host.join(1, json!("*"), json!("now"));
    host.join(2, json!("*"), json!("now"));
    host.set_eager(1, false);
    host.write(&[USERS]);
    host.unsubscribe(1);
    host.settle();
    host.store.replace_log("e2");
    host.wake();
    host.settle();
    host.ack(1, 1);
    assert!(host.sub(1).closed);
}

// Logs that are not what they were

#[test]
fn a_trimmed_log_is_one_gap_for_each_who_missed_something() {
    let mut host = Host::with_tables_and(Options {
        max_read_rows: 8,
        ..Options::default()
    });
    host.join(1, json!("*"), json!("now"));
    host.join(2, users(), json!("now"));
    host.set_eager(2, false);
    for _ in 0..200 {
        host.write(&[USERS]);
    }
    host.store.trim(150, 0, 1_000);
    host.set_eager(2, true);
    host.settle();
    host.write(&[USERS]);
    assert_eq!(host.sub(1).gaps(), []);
    assert_eq!(host.sub(1).seqs(), seqs(3, 203));
    // The ring held the last 64; what the log still has before them is not lost either.
    assert_eq!(host.sub(2).gaps(), [(150, "trimmed")]);
    assert_eq!(host.sub(2).seqs(), [seqs(3, 66), seqs(151, 203)].concat());
}

#[test]
fn a_since_before_the_oldest_entry_is_a_gap_and_the_start_is_none() {
    let mut host = Host::with_tables();
    host.store.commit_each(&[USERS; 10]);
    host.store.trim(6, 0, 1_000);
    host.join(1, json!("*"), json!(4));
    host.join(2, json!("*"), json!("start"));
    host.join(3, json!("*"), json!(6));
    assert_eq!(
        (host.sub(1).started(), host.sub(1).gaps()),
        (Some(6), vec![(6, "trimmed")])
    );
    for id in 1..=3 {
        assert_eq!(host.sub(id).seqs(), seqs(7, 12));
    }
    assert_eq!((host.sub(2).gaps(), host.sub(3).gaps()), (vec![], vec![]));
}

#[test]
fn a_commit_that_is_trimmed_while_it_is_read_is_told_of_at_most_once() {
    let mut host = Host::with_tables_and(Options {
        max_read_rows: 2,
        ..Options::default()
    });
    host.join(1, json!("*"), json!("now"));
    host.store.commit(&[USERS; 12]);
    host.wake();
    for _ in 0..3 {
        host.answer();
    }
    host.store.trim(6, 0, 1_000);
    host.settle();
    host.write(&[USERS]);
    assert!(host.sub(1).gaps().len() <= 1, "{:?}", host.sub(1).gaps());
    assert_eq!(host.sub(1).seqs(), [14, 15]);
    assert_eq!(host.sub(1).gaps(), [], "everything trimmed had been read");
}

#[test]
fn another_log_is_a_gap_and_its_relations_are_announced_anew() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.join(2, users(), json!("now"));
    host.set_eager(2, false);
    host.write(&[USERS, POSTS]);
    host.store.replace_log("e2");
    host.store.commit_each(&[USERS; 7]);
    host.wake();
    host.settle();
    for id in [1, 2] {
        assert_eq!(host.sub(id).gaps(), [(7, "other_log")]);
        assert_eq!(host.sub(id).seqs(), [4]);
    }
    host.set_eager(2, true);
    host.store.commit(&[USERS]);
    host.wake();
    host.answer();
    assert_eq!(host.count(kind::RELATION), 1);
    assert_eq!(host.sub(1).seqs(), [4, 8]);
    assert_eq!(host.sub(2).seqs(), [4, 8]);
}

#[test]
fn a_log_that_lost_its_end_is_another_log() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.write(&[USERS; 5]);
    host.store.log.truncate(4);
    host.wake();
    host.settle();
    host.write(&[USERS]);
    assert_eq!(host.sub(1).gaps(), [(4, "other_log")]);
    assert_eq!(host.sub(1).seqs(), [7, 5]);
}

#[test]
fn whoever_joins_while_another_log_takes_the_place_begins_on_that() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.subscribe(2, json!("*"), json!("start"));
    host.store.replace_log("e2");
    host.store.commit_each(&[USERS; 3]);
    host.settle();
    assert_eq!(host.sub(2).gaps(), []);
    assert_eq!(host.sub(2).seqs(), [1, 2, 3]);
}

// Readings that come to nothing

#[test]
fn a_reading_within_an_open_transaction_shows_nothing_and_is_repeated() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.store.begin();
    host.store.write(USERS, 'i', "never");
    host.wake();
    host.answer();
    host.subscribe(2, json!("*"), json!("now"));
    assert_eq!((host.sub(1).seqs(), host.sub(2).started()), (vec![], None));
    assert!(
        host.reading.is_none() && host.wait < host.now + 1_000,
        "it is soon read again"
    );
    for _ in 0..5 {
        host.now = host.wait;
        host.input(Input::Tick, 0, &[]);
        host.answer();
    }
    host.store.end(false);
    host.store.commit(&[POSTS]);
    host.advance(1_000);
    assert_eq!(
        host.sub(1).commits().next().unwrap().entries[0].relation,
        "public.posts"
    );
    assert_eq!(
        (host.sub(1).seqs(), host.sub(2).started()),
        (vec![3], Some(3))
    );
    assert_eq!(host.faults, [] as [Value; 0]);
}

#[test]
fn failing_readings_back_off_are_told_once_a_streak_and_recover() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    for streak in 1..=2 {
        host.store.commit(&[USERS]);
        host.wake();
        let mut waits = Vec::new();
        for _ in 0..12 {
            host.fail_reading();
            assert!(host.reading.is_none());
            waits.push(host.wait - host.now);
            // Impatience changes nothing.
            host.wake();
            host.input(Input::Tick, 0, &[]);
            assert!(host.reading.is_none());
            host.now = host.wait;
            host.input(Input::Tick, 0, &[]);
        }
        assert!(
            waits.is_sorted() && waits[0] <= 100 && waits[11] <= 10_000,
            "{waits:?}"
        );
        assert!(waits[11] >= 5_000, "{waits:?}");
        assert_eq!(host.faults.len(), streak);
        assert_eq!(host.faults[0]["code"], "log_unreadable");
        assert_eq!(host.faults[0]["message"], "the connection is gone");
        host.settle();
    }
    assert_eq!(host.sub(1).seqs(), [3, 4]);
}

#[test]
fn answers_that_are_no_log_are_faults_and_the_log_is_read_again() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.store.commit(&[USERS]);
    host.wake();
    for rows in [&b""[..], b"Z", b"D\0\0\0\x04", &[0xff; 40]] {
        let ask = host.reading.take().unwrap();
        host.input(Input::Rows, ask.id, rows);
        host.now = host.wait;
        host.input(Input::Tick, 0, &[]);
    }
    assert_eq!(host.faults.len(), 1);
    assert_eq!(host.faults[0]["code"], "log_corrupt");
    host.settle();
    assert_eq!(host.sub(1).seqs(), [3]);
}

#[test]
fn answers_nobody_waits_for_are_ignored() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.store.commit(&[USERS]);
    host.wake();
    let ask = host.reading.unwrap();
    let rows = host.store.read(&ask);
    for id in [0, ask.id - 1, ask.id + 1] {
        host.input(Input::Rows, id, &rows);
        host.input(Input::Failed, id, b"");
        host.input(Input::Saved, id, &[]);
    }
    assert_eq!((host.sub(1).seqs(), host.faults.len()), (vec![], 0));
    host.settle();
    host.input(Input::Rows, ask.id, &rows);
    assert_eq!(host.sub(1).seqs(), [3]);
}

#[test]
fn wakes_during_a_reading_are_not_forgotten_and_ask_for_one_more_only() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.wake();
    let ask: Ask = host.reading.unwrap();
    let rows = host.store.read(&ask);
    host.store.commit(&[USERS]);
    for _ in 0..5 {
        host.wake();
    }
    let readings = host.n_readings;
    host.reading = None;
    host.input(Input::Rows, ask.id, &rows);
    host.settle();
    assert_eq!(
        (host.sub(1).seqs(), host.n_readings),
        (vec![3], readings + 1)
    );
}

#[test]
fn without_anybody_to_give_it_to_the_log_is_not_read() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.unsubscribe_from_callback(1);
    let readings = host.n_readings;
    host.write(&[USERS]);
    host.write(&[USERS]);
    assert_eq!((host.n_readings, host.wait), (readings, u64::MAX));
}

// Entries that cannot be taken

#[test]
fn an_untouchable_entry_is_a_gap_to_those_it_concerns_and_the_others_go_on() {
    let mut host = Host::with_tables_and(Options {
        quarantine: vec![5],
        ..Options::default()
    });
    host.join(1, users(), json!("now"));
    host.join(2, posts(), json!("now"));
    host.join(3, json!("*"), json!("now"));
    host.store.commit(&[USERS, POSTS]);
    host.store.commit(&[USERS, USERS]);
    host.store.commit(&[USERS, POSTS]);
    host.wake();
    host.settle();
    // And the same for one who reads it later.
    host.join(4, users(), json!(2));
    host.join(5, posts(), json!(2));
    for id in [1, 3, 4] {
        assert_eq!(host.sub(id).gaps(), [(6, "poison")], "{id}");
    }
    for id in [2, 5] {
        assert_eq!(host.sub(id).gaps(), [], "{id}");
    }
    for id in 1..=5 {
        assert_eq!(host.sub(id).seqs(), [4, 8], "{id}");
    }
    assert_eq!(host.faults, [] as [Value; 0]);
}

#[test]
fn an_entry_that_is_not_of_its_relation_is_a_gap_and_not_the_end() {
    let mut host = Host::with_tables();
    host.join(1, users(), json!("now"));
    host.join(2, posts(), json!("now"));
    host.store.commit(&[USERS]);
    host.store.log[2].new = Some("(1,2,3)".into());
    host.write(&[USERS]);
    assert_eq!(
        (host.sub(1).gaps(), host.sub(1).seqs()),
        (vec![(3, "log_corrupt")], vec![4])
    );
    assert_eq!(host.sub(2).gaps(), []);
}

#[test]
fn an_entry_of_no_known_relation_is_a_gap_to_everybody() {
    let mut host = Host::with_tables();
    host.join(1, users(), json!("now"));
    host.join(2, json!("*"), json!("now"));
    host.store.commit(&[77]);
    host.write(&[USERS]);
    for id in [1, 2] {
        assert_eq!(host.sub(id).gaps(), [(3, "log_corrupt")]);
        assert_eq!(host.sub(id).seqs(), [4]);
    }
}

#[test]
fn a_log_that_lacks_what_it_counts_is_a_fault_and_keeps_nobody_busy() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.store.commit_each(&[USERS; 3]);
    host.wake();
    let mut ask = host.reading.take().unwrap();
    ask.max_rows = 0;
    host.input(Input::Rows, ask.id, &host.store.read(&ask));
    assert_eq!((host.reading.is_none(), host.faults.len()), (true, 1));
    assert_eq!(host.faults[0]["code"], "log_corrupt");
    host.advance(1_000);
    assert_eq!(host.sub(1).seqs(), [3, 4, 5]);
}

#[test]
fn a_log_with_a_hole_is_a_fault() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.store.commit_each(&[USERS; 3]);
    host.store.log[3].seq = 40;
    host.wake();
    host.answer();
    assert_eq!(host.faults[0]["code"], "log_corrupt");
    assert!(host.reading.is_none());
    host.store.log[3].seq = 4;
    host.advance(1_000);
    assert_eq!(host.sub(1).seqs(), [3, 4, 5]);
}

#[test]
fn the_commit_in_hand_is_noted_and_none_is_when_nothing_is_read() {
    let mut host = Host::with_tables();
    host.join(1, json!("*"), json!("now"));
    host.write(&[USERS]);
    assert_eq!(host.engine.in_flight().get(), 0);
}

// Large commits

#[test]
fn a_commit_beyond_the_bound_comes_in_parts() {
    let mut host = in_small_pieces();
    host.join(1, json!("*"), json!("now"));
    host.write(&[USERS; 4]);
    host.write(&[USERS]);
    let expected = [
        (vec![3], true),
        (vec![4], true),
        (vec![5], true),
        (vec![6], false),
        (vec![7], false),
    ];
    assert_eq!(parts(&host, 1), expected);
    let numbers: Vec<Option<u64>> = host.sub(1).commits().map(|it| it.part).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(3), Some(4), None]);
    let txs: Vec<u64> = host.sub(1).commits().map(|it| it.tx).collect();
    assert!(
        txs[..4].iter().all(|tx| *tx == txs[0]) && txs[4] != txs[0],
        "{txs:?}"
    );
}

#[test]
fn a_commit_below_the_bound_is_whole_however_many_readings_it_takes() {
    for rows in 1..=9 {
        let options = Options {
            max_read_rows: rows,
            ..Options::default()
        };
        let mut host = Host::with_tables_and(options);
        host.join(1, json!("*"), json!("now"));
        host.store.commit(&[USERS; 7]);
        host.store.commit(&[USERS; 2]);
        host.wake();
        host.settle();
        assert_eq!(
            parts(&host, 1),
            [(seqs(3, 9), false), (seqs(10, 11), false)],
            "{rows}"
        );
    }
}

#[test]
fn whoever_catches_up_into_a_commit_in_parts_is_told_that_more_follows() {
    let mut host = in_small_pieces();
    host.join(1, json!("*"), json!("now"));
    host.store.commit(&[USERS; 6]);
    host.wake();
    for _ in 0..3 {
        host.answer();
    }
    host.join(2, json!("*"), json!(2));
    let shown = parts(&host, 2);
    let (last, before) = shown.split_last().unwrap();
    assert!(
        before.iter().all(|(_, partial)| *partial) && !last.1,
        "{shown:?}"
    );
    let entries: Vec<u64> = shown.into_iter().flat_map(|(entries, _)| entries).collect();
    assert_eq!(entries, seqs(3, 8));
}

// Trimming

#[test]
fn a_log_past_its_bound_is_trimmed_while_it_is_followed() {
    let options = Options {
        retain_entries: 100,
        ..Options::default()
    };
    let mut host = Host::with_tables_and(options);
    host.join(1, json!("*"), json!("now"));
    for _ in 0..1_000 {
        host.write(&[USERS]);
    }
    let retained = host.store.head() - host.store.before_oldest();
    assert!((100..=111).contains(&retained), "{retained}");
    assert!(host.n_trims < 250, "{} orders", host.n_trims);
    assert_eq!(
        (host.sub(1).gaps().len(), host.sub(1).seqs()),
        (0, seqs(3, 1_002))
    );
}

#[test]
fn a_log_far_past_its_bound_is_trimmed_order_by_order() {
    let options = Options {
        retain_entries: 100,
        ..Options::default()
    };
    let mut host = Host::with_tables_and(options);
    host.store.commit(&[USERS; 3_500]);
    host.join(1, json!("*"), json!("now"));
    assert_eq!(host.store.head() - host.store.before_oldest(), 100);
    assert!((4..=6).contains(&host.n_trims), "{} orders", host.n_trims);
}

#[test]
fn old_entries_are_trimmed_when_somebody_looks() {
    let options = Options {
        retain_ms: 5_000,
        ..Options::default()
    };
    let mut host = Host::with_tables_and(options);
    host.join(1, json!("*"), json!("now"));
    host.store.time_ms = host.now;
    host.write(&[USERS]);
    host.advance(120_000);
    host.store.time_ms = host.now;
    host.write(&[USERS]);
    assert_eq!((host.store.head(), host.store.oldest), (4, 4));
    assert_eq!(
        (host.sub(1).gaps().len(), host.sub(1).seqs()),
        (0, vec![3, 4])
    );
}

#[test]
fn a_log_that_cannot_be_trimmed_keeps_nobody_busy() {
    let options = Options {
        retain_entries: 10,
        ..Options::default()
    };
    let mut host = Host::with_tables_and(options);
    host.store.commit(&[USERS; 50]);
    host.subscribe(1, json!("*"), json!("now"));
    for _ in 0..50 {
        if let Some((id, ..)) = host.trimming.take() {
            host.input(Input::Saved, id, &[]);
        } else if host.reading.is_some() {
            host.answer();
        }
    }
    assert!(
        host.n_trims < 3 && host.n_readings < 6,
        "{} {}",
        host.n_trims,
        host.n_readings
    );
    host.advance(120_000);
    host.write(&[USERS]);
    assert!(
        host.store.oldest > 40,
        "it is tried again when it is time to look"
    );
}

#[test]
fn a_failed_trim_is_a_fault_and_delivery_goes_on() {
    let options = Options {
        retain_entries: 10,
        ..Options::default()
    };
    let mut host = Host::with_tables_and(options);
    host.store.commit(&[USERS; 50]);
    host.subscribe(1, json!("*"), json!("now"));
    host.answer();
    let (id, ..) = host.trimming.take().unwrap();
    host.input(Input::Failed, id, b"disk full");
    assert_eq!(host.faults[0]["message"], "disk full");
    host.store.commit(&[USERS]);
    host.wake();
    host.advance(1_000);
    assert_eq!(host.sub(1).seqs(), [53]);
}

// The boundary

#[test]
fn every_input_is_answered_and_nothing_stops_the_engine() {
    let kinds = (0..=20).filter_map(Input::from_number);
    for input in kinds {
        for payload in [
            &b""[..],
            b"\x01",
            b"null",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            for id in [0, 1, 2, u32::MAX] {
                let mut host = Host::with_tables();
                host.join(1, json!("*"), json!("now"));
                host.subscribe(2, json!("*"), json!("now"));
                host.subscribe(u32::MAX, json!("*"), json!("now"));
                host.subscribe(0, json!("*"), json!("now"));
                // A script's answer is not for this host.
                if input != Input::Sql && input != Input::Subscribe {
                    host.input(input, id, payload);
                }
            }
        }
    }
}
