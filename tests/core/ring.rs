//! What a ring holds, and that it never says it holds more.

use std::rc::Rc;

use millstream::ring::{BYTES, Ring, SLOTS, Slot};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::random::Rng;

fn slot(before: u64, seq: u64, bytes: usize) -> Slot {
    Slot {
        before,
        seq,
        payload: Rc::from(vec![b'x'; bytes]),
    }
}

fn after(ring: &Ring, seq: u64) -> Option<Vec<u64>> {
    ring.after(seq)
        .map(|slots| slots.map(|slot| slot.seq).collect())
}

#[test]
fn a_ring_is_complete_after_where_it_began() {
    let ring = Ring::new(5);
    assert_eq!(after(&ring, 4), None);
    assert_eq!(after(&ring, 5), Some(vec![]));
    assert_eq!(after(&ring, 9), Some(vec![]));
}

#[test]
fn a_full_ring_only_moves_its_beginning() {
    let mut ring = Ring::new(0);
    let slots = u64::try_from(SLOTS).unwrap_or_default();
    for seq in 1..=slots + 10 {
        ring.push(slot(seq - 1, seq, 1));
    }
    assert_eq!(after(&ring, 9), None);
    assert_eq!(after(&ring, 10), Some((11..=slots + 10).collect()));
    assert_eq!(after(&ring, slots + 9), Some(vec![slots + 10]));
}

#[test]
fn a_ring_is_bounded_by_bytes_too() {
    let mut ring = Ring::new(0);
    for seq in 1..=5 {
        ring.push(slot(seq - 1, seq, BYTES / 4));
    }
    assert_eq!(
        (after(&ring, 0), after(&ring, 1)),
        (None, Some(vec![2, 3, 4, 5]))
    );
    ring.push(slot(5, 6, BYTES + 1));
    assert_eq!((after(&ring, 5), after(&ring, 6)), (None, Some(vec![])));
    ring.push(slot(6, 7, BYTES));
    assert_eq!(after(&ring, 6), Some(vec![7]));
}

#[test]
fn an_emptied_ring_begins_where_it_was_emptied() {
    let mut ring = Ring::new(0);
    ring.push(slot(0, 3, 10));
    ring.empty(8);
    assert_eq!((after(&ring, 7), after(&ring, 8)), (None, Some(vec![])));
    ring.push(slot(9, 12, BYTES));
    assert_eq!(
        after(&ring, 8),
        Some(vec![12]),
        "the bytes of what was forgotten do not count"
    );
}

#[test]
fn a_ring_has_no_rest_of_a_commit() {
    let mut ring = Ring::new(0);
    ring.push(slot(2, 5, 1));
    ring.push(slot(7, 9, 1));
    assert_eq!(after(&ring, 1), Some(vec![5, 9]));
    assert_eq!(after(&ring, 2), Some(vec![5, 9]));
    assert_eq!((after(&ring, 3), after(&ring, 4)), (None, None));
    assert_eq!(after(&ring, 6), Some(vec![9]));
    assert_eq!(after(&ring, 8), None);
}

#[test]
fn after_gives_all_that_was_pushed_or_nothing() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let (mut ring, mut pushed, mut head) = (Ring::new(0), Vec::new(), 0);
        for _ in 0..100 {
            let before = head + rng.below(3);
            head = before + 1 + rng.below(3);
            let bytes = if rng.chance(5) { BYTES / 2 } else { 100 };
            ring.push(slot(before, head, bytes));
            pushed.push(head);
            if rng.chance(1) {
                ring.empty(head);
            }
            let from = rng.below(head + 1);
            let expected: Vec<u64> = pushed.iter().copied().filter(|seq| *seq > from).collect();
            let held = after(&ring, from);
            assert!(
                held.as_ref().is_none_or(|held| *held == expected),
                "seed {seed}: {held:?}"
            );
        }
        assert_eq!(after(&ring, head), Some(vec![]));
    }
}
