//! What one reading of the log brought: the database's bytes in, a reading or a coded refusal out.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at once"
)]

use millstream::decode::log::{LogRow, Reading};
use millstream::error::{Code, Error};
use millstream::feed::Feed;
use millstream::row::{Kind, Scalar};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::host::{message, row};
use crate::random::Rng;

const COLUMNS: &str =
    r#"[{"name":"id","type":"bigint"},{"name":"tags","type":"text[]","unsent":true}]"#;

/// An answer with two relations and two rows, and with messages that tell nothing.
fn answer() -> Vec<u8> {
    let mut out = Vec::new();
    message(b'T', b"\0\x03what the columns are", &mut out);
    row(
        &[Some("e1"), Some("3"), Some("4"), Some("1700000000000")],
        &mut out,
    );
    message(b'C', b"SELECT 1\0", &mut out);
    message(b'N', b"SNOTICE\0Mwell then\0\0", &mut out);
    for (id, name, dropped) in [("1", "users", "f"), ("2", "gone", "t")] {
        let values = [id, "16384", "public", name, r#"["id"]"#, COLUMNS, dropped];
        row(&values.map(Some), &mut out);
    }
    message(b'C', b"SELECT 2\0", &mut out);
    message(b'A', b"\0\0\0\x01channel\0\0", &mut out);
    row(
        &[
            Some("3"),
            Some("700"),
            Some("9"),
            Some("1"),
            Some("i"),
            None,
            Some("(1,é)"),
        ],
        &mut out,
    );
    row(
        &[
            Some("4"),
            Some("700"),
            Some("9"),
            Some("1"),
            Some("d"),
            Some("(1,)"),
            None,
        ],
        &mut out,
    );
    message(b'C', b"SELECT 2\0", &mut out);
    message(b'Z', b"I", &mut out);
    out
}

/// An answer whose only content is these rows, each to be one of the select of this number.
fn answer_of(select: usize, values: &[Option<&str>]) -> Vec<u8> {
    let mut out = Vec::new();
    for index in 0..3 {
        if index == 0 && select != 0 {
            row(&[Some("e1"), Some("1"), Some("0"), Some("0")], &mut out);
        }
        if index == select {
            row(values, &mut out);
        }
        message(b'C', b"SELECT 1\0", &mut out);
    }
    message(b'Z', b"I", &mut out);
    out
}

#[track_caller]
fn check_corrupt(select: usize, values: &[Option<&str>]) {
    let error = Reading::parse(&answer_of(select, values)).unwrap_err();
    assert_eq!(error.code, Code::LogCorrupt, "{values:?}");
}

#[test]
fn an_answer_is_read_whole() {
    let bytes = answer();
    let reading = Reading::parse(&bytes).unwrap();
    assert_eq!(
        reading.feed,
        Feed {
            epoch: "e1".into(),
            oldest: 3,
            head: 4,
            time_ms: 1_700_000_000_000,
        }
    );
    assert!(reading.settled);
    let [users, gone] = reading.relations.as_slice() else {
        unreachable!("two relations")
    };
    assert_eq!(
        (users.id, users.table, users.dropped, gone.dropped),
        (1, 16_384, false, true)
    );
    assert_eq!(
        (users.namespace.as_str(), users.name.as_str()),
        ("public", "users")
    );
    assert_eq!(users.key_columns, ["id"]);
    let columns: Vec<_> = users
        .columns
        .iter()
        .map(|it| (it.name.as_str(), it.kind, it.unsent))
        .collect();
    let expected = [
        ("id", Kind::Scalar(Scalar::Int), false),
        ("tags", Kind::Array(Scalar::Text), true),
    ];
    assert_eq!(columns, expected);
    let rows: Vec<_> = reading
        .rows
        .iter()
        .map(|it| (it.seq, it.op, it.old, it.new))
        .collect();
    assert_eq!(
        rows,
        [
            (3, b'i', None, Some("(1,é)".as_bytes())),
            (4, b'd', Some(b"(1,)".as_slice()), None)
        ]
    );
    assert_eq!(
        (
            reading.rows[0].tx,
            reading.rows[0].time_ms,
            reading.rows[0].relation
        ),
        (700, 9, 1)
    );
}

#[test]
fn a_row_is_made_again_from_its_body() {
    let bytes = answer();
    for row in Reading::parse(&bytes).unwrap().rows {
        let again = LogRow::parse(row.body).unwrap();
        assert_eq!(
            (again.seq, again.op, again.old, again.new),
            (row.seq, row.op, row.old, row.new)
        );
    }
}

#[test]
fn an_open_transaction_leaves_the_answer_unsettled() {
    for (status, settled) in [(b"I", true), (b"T", false), (b"E", false)] {
        let mut bytes = answer();
        bytes.pop();
        bytes.extend_from_slice(status);
        assert_eq!(Reading::parse(&bytes).unwrap().settled, settled);
    }
}

#[test]
fn an_answer_cut_at_any_byte_is_refused() {
    let bytes = answer();
    for end in 0..bytes.len() {
        let error = Reading::parse(&bytes[..end]).unwrap_err();
        assert_eq!(error.code, Code::LogCorrupt, "cut at {end}");
        assert!(
            error.message.starts_with("reading the log brought"),
            "{}",
            error.message
        );
    }
}

#[test]
fn an_answer_with_any_byte_changed_is_read_or_refused() {
    let bytes = answer();
    for at in 0..bytes.len() {
        for change in [0x01, 0x20, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            check_codes(Reading::parse(&changed));
        }
    }
}

#[test]
fn random_bytes_are_refused() {
    for seed in 0..2_000 {
        let mut rng = Rng::new(seed);
        let mut bytes = Vec::new();
        for _ in 0..rng.below(200) {
            bytes.push(u8::try_from(rng.below(256)).unwrap());
        }
        check_codes(Reading::parse(&bytes));
        check_codes(LogRow::parse(&bytes));
        let mut framed = Vec::new();
        for chunk in bytes.chunks(20) {
            message(*rng.pick(b"DDDCCTEZ"), chunk, &mut framed);
        }
        check_codes(Reading::parse(&framed));
    }
}

#[track_caller]
fn check_codes<T>(parsed: Result<T, Error>) {
    if let Err(error) = parsed {
        assert!(
            matches!(error.code, Code::LogCorrupt | Code::LogUnreadable),
            "{error}"
        );
    }
}

#[test]
fn the_database_s_own_error_is_passed_on() {
    let mut bytes = Vec::new();
    message(
        b'E',
        b"SERROR\0VERROR\0C42P01\0Mrelation \"log\" does not exist\0\0",
        &mut bytes,
    );
    message(b'Z', b"I", &mut bytes);
    let error = Reading::parse(&bytes).unwrap_err();
    assert_eq!(
        error,
        Error::new(Code::LogUnreadable, "relation \"log\" does not exist")
    );
    let mut bytes = Vec::new();
    message(b'E', b"SERROR\0\0", &mut bytes);
    message(b'Z', b"I", &mut bytes);
    assert_eq!(
        Reading::parse(&bytes).unwrap_err().code,
        Code::LogUnreadable
    );
}

#[test]
fn an_error_within_somebody_s_failed_transaction_is_none() {
    let mut bytes = Vec::new();
    message(
        b'E',
        b"SERROR\0C25P02\0Mcurrent transaction is aborted\0\0",
        &mut bytes,
    );
    message(b'Z', b"E", &mut bytes);
    let reading = Reading::parse(&bytes).unwrap();
    assert!(!reading.settled && reading.rows.is_empty());
}

#[test]
fn an_error_after_rows_is_an_error() {
    let mut bytes = answer();
    bytes.truncate(bytes.len() - 6);
    message(b'E', b"Mcanceling statement\0\0", &mut bytes);
    message(b'Z', b"I", &mut bytes);
    assert_eq!(
        Reading::parse(&bytes).unwrap_err().message,
        "canceling statement"
    );
}

#[test]
fn values_that_are_not_what_they_must_be_are_refused() {
    check_corrupt(0, &[]);
    check_corrupt(0, &[None, Some("1"), Some("0")]);
    check_corrupt(0, &[Some("e1"), Some("one"), Some("0"), Some("0")]);
    check_corrupt(0, &[Some("e1"), Some("1"), Some("-1"), Some("0")]);
    check_corrupt(
        0,
        &[
            Some("e1"),
            Some("1"),
            Some("99999999999999999999"),
            Some("0"),
        ],
    );
    check_corrupt(0, &[Some("e1"), Some("1"), Some("0")]);
    let relation = [
        Some("1"),
        Some("2"),
        Some("public"),
        Some("t"),
        Some("[]"),
        Some("[]"),
        Some("f"),
    ];
    assert!(Reading::parse(&answer_of(1, &relation)).is_ok());
    for (index, value) in [
        (0, "x"),
        (0, "4294967296"),
        (1, ""),
        (4, "{}"),
        (5, "[1]"),
        (5, "[{}]"),
        (5, ""),
    ] {
        let mut values = relation;
        values[index] = Some(value);
        check_corrupt(1, &values);
    }
    for index in 0..7 {
        let mut values = relation;
        values[index] = None;
        check_corrupt(1, &values);
        check_corrupt(1, &relation[..index]);
    }
    let entry = [
        Some("1"),
        Some("2"),
        Some("3"),
        Some("1"),
        Some("i"),
        None,
        Some("()"),
    ];
    assert!(Reading::parse(&answer_of(2, &entry)).is_ok());
    for index in 0..5 {
        let mut values = entry;
        values[index] = None;
        check_corrupt(2, &values);
    }
    for index in 0..7 {
        check_corrupt(2, &entry[..index]);
    }
}

#[test]
fn an_answer_without_the_log_s_state_is_refused() {
    let mut bytes = Vec::new();
    message(b'C', b"SELECT 0\0", &mut bytes);
    message(b'Z', b"I", &mut bytes);
    assert_eq!(Reading::parse(&bytes).unwrap_err().code, Code::LogCorrupt);
}
