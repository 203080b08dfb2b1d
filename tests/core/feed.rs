//! Where a reader of the log begins, and when the log is trimmed.
#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

use millstream::error::Code;
use millstream::feed::{Feed, Retention, Since, Start, Trim, Trimmer};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn feed(oldest: u64, head: u64) -> Feed {
    Feed {
        epoch: "e".into(),
        oldest,
        head,
        time_ms: 0,
    }
}

#[track_caller]
fn check(since: Since, feed: &Feed, expected: Start) {
    assert_eq!(feed.start(since).unwrap(), expected, "{since:?} {feed:?}");
}

#[test]
fn now_is_after_the_newest_entry() {
    check(Since::Now, &feed(1, 0), Start::At(0));
    check(Since::Now, &feed(5, 9), Start::At(9));
    check(Since::Now, &feed(10, 9), Start::At(9));
}

#[test]
fn the_start_is_before_the_oldest_entry_and_misses_nothing() {
    check(Since::Start, &feed(1, 0), Start::At(0));
    check(Since::Start, &feed(5, 9), Start::At(4));
    check(Since::Start, &feed(10, 9), Start::At(9));
}

#[test]
fn a_number_goes_on_after_it_or_tells_what_is_missing() {
    check(Since::Seq(0), &feed(1, 9), Start::At(0));
    check(Since::Seq(9), &feed(1, 9), Start::At(9));
    check(Since::Seq(4), &feed(5, 9), Start::At(4));
    check(Since::Seq(3), &feed(5, 9), Start::Gap(4));
    check(Since::Seq(0), &feed(10, 9), Start::Gap(9));
    check(Since::Seq(9), &feed(10, 9), Start::At(9));
}

#[test]
fn a_number_the_log_has_not_reached_is_refused() {
    for (since, feed) in [(1, feed(1, 0)), (10, feed(5, 9)), (u64::MAX, feed(5, 9))] {
        let error = feed.start(Since::Seq(since)).unwrap_err();
        assert_eq!(error.code, Code::BadSince);
        assert!(
            error.message.contains(&since.to_string()),
            "{}",
            error.message
        );
    }
}

#[test]
fn an_empty_log_holds_nothing() {
    assert_eq!(feed(1, 0).retained(), 0);
    assert_eq!(feed(10, 9).retained(), 0);
    assert_eq!(feed(5, 9).retained(), 5);
    assert_eq!(Feed::default().retained(), 0);
}

const MINUTE: u64 = 60_000;
const NOW: u64 = 1_000_000;

fn trimmer(entries: u64) -> Trimmer {
    Trimmer::new(Retention {
        entries,
        age_ms: 5_000,
    })
}

#[test]
fn the_first_reading_orders_what_is_past_count_or_age() {
    let order = trimmer(100).order(&feed(1, 150), NOW).unwrap();
    assert_eq!(
        order,
        Trim {
            to: 50,
            before_ms: NOW - 5_000,
            limit: 1_000
        }
    );
    // A log shorter than its bound has no number to trim to, but may still hold old entries.
    assert_eq!(trimmer(100).order(&feed(1, 20), NOW).unwrap().to, 0);
    assert_eq!(
        trimmer(100).order(&feed(1, 20), 3_000).unwrap().before_ms,
        0
    );
}

#[test]
fn an_empty_log_orders_nothing_and_is_looked_at_again_in_time() {
    let mut trimmer = trimmer(100);
    assert!(trimmer.is_due(0));
    assert_eq!(trimmer.order(&feed(10, 9), NOW), None);
    assert!(!trimmer.is_due(NOW + MINUTE - 1));
    assert!(trimmer.is_due(NOW + MINUTE));
}

#[test]
fn a_count_has_a_tenth_to_spare() {
    let mut trimmer = trimmer(100);
    assert!(trimmer.order(&feed(1, 100), NOW).is_some());
    assert_eq!(trimmer.order(&feed(1, 110), NOW + 1), None);
    assert_eq!(trimmer.order(&feed(1, 111), NOW + 2).unwrap().to, 11);
}

#[test]
fn an_order_that_moved_the_log_is_followed_by_another() {
    let mut trimmer = trimmer(100);
    assert_eq!(trimmer.order(&feed(1, 3_000), NOW).unwrap().to, 2_900);
    assert_eq!(trimmer.order(&feed(1_001, 3_000), NOW).unwrap().to, 2_900);
    assert_eq!(trimmer.order(&feed(2_001, 3_000), NOW).unwrap().to, 2_900);
    assert_eq!(trimmer.order(&feed(2_901, 3_000), NOW).unwrap().to, 2_900);
    assert_eq!(trimmer.order(&feed(2_901, 3_000), NOW), None);
}

#[test]
fn an_order_that_moved_nothing_is_not_repeated_until_it_is_time_to_look() {
    let mut trimmer = trimmer(100);
    assert!(trimmer.order(&feed(1, 500), NOW).is_some());
    for head in 500..600 {
        assert_eq!(trimmer.order(&feed(1, head), NOW + 1), None);
    }
    assert!(trimmer.order(&feed(1, 600), NOW + MINUTE).is_some());
}

#[test]
fn a_bound_beyond_all_numbers_is_none() {
    let mut trimmer = trimmer(u64::MAX);
    assert_eq!(trimmer.order(&feed(1, u64::MAX - 1), NOW).unwrap().to, 0);
    assert_eq!(trimmer.order(&feed(1, u64::MAX - 1), NOW), None);
}
