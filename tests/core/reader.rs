//! From log rows to commits: where each ends, whatever the size of the readings.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at once"
)]

use std::cell::Cell;

use millstream::commit::Part;
use millstream::decode::log::LogRow;
use millstream::error::{Code, Error};
use millstream::reader::{Along, End, Reader, Relations};
use millstream::row::{Column, Kind, Relation};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::host::{Logged, log_row};
use crate::random::Rng;

/// A group as seen: the numbers of its entries and where it stands in its commit, or the code and range of
/// what is unfit.
#[derive(Debug, Eq, PartialEq)]
enum Seen {
    Commit(u64, Vec<u64>, Part),
    Unfit(Code, u64, u64),
}

fn relation(id: u32) -> Relation {
    let column = |name: &str| Column {
        name: name.into(),
        kind: Kind::of_postgres("text"),
        unsent: false,
    };
    Relation {
        id,
        table: id,
        namespace: "public".into(),
        name: format!("t{id}"),
        key_columns: vec![],
        columns: vec![column("id"), column("note")],
        dropped: false,
    }
}

fn relations() -> Relations {
    let mut relations = Relations::default();
    for id in 1..=2 {
        relations.push(relation(id)).unwrap();
    }
    relations
}

/// A log of transactions of these sizes; their numbers begin with 100.
fn log(sizes: &[u64]) -> Vec<Logged> {
    let mut log = Vec::new();
    for (tx, size) in (100..).zip(sizes) {
        for _ in 0..*size {
            let seq = u64::try_from(log.len()).unwrap() + 1;
            log.push(Logged {
                seq,
                tx,
                time_ms: 7,
                relation: 1,
                op: 'i',
                old: None,
                new: Some(format!("({seq},x)")),
            });
        }
    }
    log
}

/// The bodies of the row messages of a log.
fn bodies(log: &[Logged]) -> Vec<Vec<u8>> {
    let body = |entry: &Logged| {
        let mut bytes = Vec::new();
        log_row(entry, &mut bytes);
        bytes.split_off(5)
    };
    log.iter().map(body).collect()
}

/// Reads one chunk of rows.
fn read_chunk(
    reader: &mut Reader,
    bodies: &[Vec<u8>],
    end: End,
    max_bytes: usize,
    unfit: &[u64],
    seen: &mut Vec<Seen>,
) -> Result<(), Error> {
    let (relations, in_flight) = (relations(), Cell::new(0));
    let along = Along {
        end,
        max_bytes,
        relations: &relations,
        unfit,
        in_flight: &in_flight,
    };
    let rows: Vec<LogRow<'_>> = bodies
        .iter()
        .map(|body| LogRow::parse(body).unwrap())
        .collect();
    reader.read(&rows, &along, |group| {
        assert_eq!(in_flight.get(), group.last(), "the commit in hand is noted");
        seen.push(match group.commit() {
            Ok(commit) => {
                assert_eq!(commit.seq(), group.last());
                let seqs = commit.entries.iter().map(|entry| entry.seq).collect();
                Seen::Commit(commit.tx, seqs, commit.part)
            }
            Err(error) => Seen::Unfit(error.code, group.before(), group.last()),
        });
    })
}

/// Reads a whole log in readings of so many rows.
fn read(log: &[Logged], chunk: usize, max_bytes: usize, unfit: &[u64]) -> Vec<Seen> {
    let (mut reader, mut seen) = (Reader::default(), Vec::new());
    let end = End {
        seq: u64::try_from(log.len()).unwrap(),
        is_within: false,
    };
    for bodies in bodies(log).chunks(chunk) {
        read_chunk(&mut reader, bodies, end, max_bytes, unfit, &mut seen).unwrap();
    }
    assert_eq!((reader.after(), reader.given()), (end.seq, end.seq));
    seen
}

fn whole(tx: u64, seqs: impl IntoIterator<Item = u64>) -> Seen {
    Seen::Commit(tx, seqs.into_iter().collect(), Part::Whole)
}

const ALL: usize = usize::MAX;

#[test]
fn commits_are_the_same_whatever_the_size_of_the_readings() {
    let log = log(&[1, 3, 1, 1, 7, 2]);
    for chunk in 1..=log.len() + 1 {
        let expected = [
            whole(100, 1..=1),
            whole(101, 2..=4),
            whole(102, 5..=5),
            whole(103, 6..=6),
            whole(104, 7..=13),
            whole(105, 14..=15),
        ];
        assert_eq!(read(&log, chunk, ALL, &[]), expected, "{chunk}");
    }
}

#[test]
fn a_commit_that_ends_with_the_reading_and_the_log_is_given_at_once() {
    let (mut reader, mut seen) = (Reader::default(), Vec::new());
    let bodies = bodies(&log(&[2, 2]));
    let end = |seq| End {
        seq,
        is_within: false,
    };
    read_chunk(&mut reader, &bodies[..2], end(2), ALL, &[], &mut seen).unwrap();
    assert_eq!(seen, [whole(100, 1..=2)]);
    read_chunk(&mut reader, &bodies[2..], end(4), ALL, &[], &mut seen).unwrap();
    assert_eq!(seen[1..], [whole(101, 3..=4)]);
}

#[test]
fn a_commit_that_ends_with_the_reading_but_not_the_log_waits_for_the_next_row() {
    let (mut reader, mut seen) = (Reader::default(), Vec::new());
    let bodies = bodies(&log(&[2, 2]));
    let end = End {
        seq: 4,
        is_within: false,
    };
    read_chunk(&mut reader, &bodies[..2], end, ALL, &[], &mut seen).unwrap();
    assert_eq!((seen.len(), reader.after(), reader.given()), (0, 2, 0));
    read_chunk(&mut reader, &bodies[2..3], end, ALL, &[], &mut seen).unwrap();
    assert_eq!(
        (&seen[..], reader.after(), reader.given()),
        (&[whole(100, 1..=2)][..], 3, 2)
    );
}

#[test]
fn a_commit_at_an_end_within_it_is_a_part_and_what_follows_is_its_rest() {
    let (mut reader, mut seen) = (Reader::default(), Vec::new());
    let bodies = bodies(&log(&[4, 1]));
    let within = End {
        seq: 2,
        is_within: true,
    };
    read_chunk(&mut reader, &bodies[..2], within, ALL, &[], &mut seen).unwrap();
    assert!(reader.is_within());
    let end = End {
        seq: 5,
        is_within: false,
    };
    read_chunk(&mut reader, &bodies[2..], end, ALL, &[], &mut seen).unwrap();
    assert!(!reader.is_within());
    assert_eq!(
        seen,
        [
            Seen::Commit(100, vec![1, 2], Part::More(1)),
            Seen::Commit(100, vec![3, 4], Part::Last(2)),
            whole(101, 5..=5),
        ]
    );
}

#[test]
fn a_commit_beyond_the_bound_is_given_in_parts_and_its_neighbours_are_whole() {
    let seen = read(&log(&[2, 5, 1]), 2, 1, &[]);
    assert_eq!(
        seen,
        [
            whole(100, 1..=2),
            Seen::Commit(101, vec![3, 4], Part::More(1)),
            Seen::Commit(101, vec![5, 6], Part::More(2)),
            Seen::Commit(101, vec![7], Part::Last(3)),
            whole(102, 8..=8),
        ]
    );
}

#[test]
fn parts_make_up_their_commits_whatever_the_sizes() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let sizes: Vec<u64> = (0..8).map(|_| 1 + rng.below(12)).collect();
        let log = log(&sizes);
        let chunk = usize::try_from(1 + rng.below(6)).unwrap();
        let max_bytes = usize::try_from(rng.below(400)).unwrap();
        let (mut next, mut parts) = (1, 0);
        for seen in read(&log, chunk, max_bytes, &[]) {
            let Seen::Commit(tx, seqs, part) = seen else {
                unreachable!("seed {seed}: {seen:?}")
            };
            for seq in seqs {
                assert_eq!(
                    (seq, tx),
                    (next, log[usize::try_from(seq).unwrap() - 1].tx),
                    "seed {seed}"
                );
                next += 1;
            }
            let ends = log
                .get(usize::try_from(next).unwrap() - 1)
                .is_none_or(|it| it.tx != tx);
            let expected = match (ends, parts) {
                (false, _) => Part::More(parts + 1),
                (true, 0) => Part::Whole,
                (true, _) => Part::Last(parts + 1),
            };
            assert_eq!(part, expected, "seed {seed}");
            parts = if ends { 0 } else { parts + 1 };
        }
        assert_eq!(next, u64::try_from(log.len()).unwrap() + 1, "seed {seed}");
    }
}

#[test]
fn a_reader_goes_on_from_where_it_is_put() {
    let bodies = bodies(&log(&[2, 3]));
    let (mut reader, mut seen) = (Reader::at(3), Vec::new());
    let end = End {
        seq: 5,
        is_within: false,
    };
    read_chunk(&mut reader, &bodies[3..], end, ALL, &[], &mut seen).unwrap();
    assert_eq!(seen, [whole(101, 4..=5)]);
}

#[test]
fn rows_that_do_not_follow_are_refused() {
    let bodies = bodies(&log(&[1, 4]));
    let end = End {
        seq: 5,
        is_within: false,
    };
    for rows in [
        vec![1],
        vec![0, 2],
        vec![0, 0],
        vec![0, 1, 1],
        vec![0, 1, 3],
        vec![0, 2, 1],
        vec![4],
    ] {
        let chosen: Vec<Vec<u8>> = rows.iter().map(|row| bodies[*row].clone()).collect();
        let mut reader = Reader::default();
        let error = read_chunk(&mut reader, &chosen, end, ALL, &[], &mut Vec::new()).unwrap_err();
        assert_eq!(error.code, Code::LogCorrupt, "{rows:?}");
    }
}

#[test]
fn an_unfit_entry_makes_its_transaction_unfit_and_no_other() {
    let mut log = log(&[2, 3, 1]);
    log[3].relation = 2;
    for chunk in 1..=6 {
        let expected = [
            whole(100, 1..=2),
            Seen::Unfit(Code::Poison, 2, 5),
            whole(102, 6..=6),
        ];
        assert_eq!(read(&log, chunk, ALL, &[4, 99]), expected, "{chunk}");
    }
}

#[test]
fn what_is_no_entry_is_unfit() {
    let check = |change: fn(&mut Logged)| {
        let mut log = log(&[1, 1, 1]);
        change(&mut log[1]);
        assert_eq!(
            read(&log, 3, ALL, &[]),
            [
                whole(100, 1..=1),
                Seen::Unfit(Code::LogCorrupt, 1, 2),
                whole(102, 3..=3),
            ]
        );
    };
    check(|entry| entry.relation = 0);
    check(|entry| entry.relation = 3);
    check(|entry| entry.relation = u32::MAX);
    check(|entry| entry.op = 'x');
    check(|entry| entry.op = 'u');
    check(|entry| entry.op = 'd');
    check(|entry| entry.new = None);
    check(|entry| entry.new = Some("(1)".into()));
    check(|entry| entry.new = Some("(1,2,3)".into()));
    check(|entry| entry.new = Some("(1,2".into()));
    check(|entry| entry.new = Some(String::new()));
}

#[test]
fn each_kind_of_change_is_taken_with_its_images() {
    let mut log = log(&[4]);
    let image = Some("(1,x)".to_owned());
    (log[1].op, log[1].old) = ('u', image.clone());
    (log[2].op, log[2].old, log[2].new) = ('d', image, None);
    (log[3].op, log[3].new) = ('t', None);
    assert_eq!(read(&log, 4, ALL, &[]), [whole(100, 1..=4)]);
}

#[test]
fn relation_versions_are_dense_and_the_newest_of_each_table_is_current() {
    let mut relations = relations();
    assert_eq!(
        relations.push(relation(4)).unwrap_err().code,
        Code::LogCorrupt
    );
    assert_eq!(
        relations.push(relation(2)).unwrap_err().code,
        Code::LogCorrupt
    );
    relations
        .push(Relation {
            table: 1,
            name: "renamed".into(),
            ..relation(3)
        })
        .unwrap();
    relations
        .push(Relation {
            table: 2,
            dropped: true,
            ..relation(4)
        })
        .unwrap();
    let current: Vec<&str> = relations.current().map(|it| it.name.as_str()).collect();
    assert_eq!((current, relations.last()), (vec!["renamed"], 4));
    assert_eq!(relations.find(1).unwrap().name, "t1");
    assert!(relations.find(0).is_none() && relations.find(5).is_none());
}
