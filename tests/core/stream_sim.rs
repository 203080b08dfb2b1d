//! Entity streams under faults: readers that stall, leave, come back and are cut anywhere, an engine that
//! crashes, and a log that is trimmed. Between two frames that a client receives nothing is missing, unless
//! a gap says so; nothing comes twice, and everybody arrives at the end.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at once"
)]

use std::collections::BTreeMap;

use millstream::cursor::{Cursor, EventId};
use millstream::engine::Options;
use millstream::stream::PATIENCE_MS;
use serde_json::{Value, json};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::client::read;
use crate::host::Host;
use crate::random::Rng;

/// How many runs each promise has: a few, unless the environment says otherwise.
fn runs() -> u64 {
    let few = if cfg!(target_arch = "wasm32") { 6 } else { 15 };
    let asked = std::env::var("STREAM_RUNS").ok();
    asked.and_then(|runs| runs.parse().ok()).unwrap_or(few)
}

const STEPS: usize = 400;

/// A client that comes back whenever it is cut.
struct Client {
    ops: &'static [&'static str],
    connection: Option<u32>,
    last_id: String,
    /// The number of the place where it first began.
    began: Option<u64>,
    /// The numbers of the cursors it received, and whether a gap came before each.
    seen: Vec<(u64, bool)>,
    /// The last place that a gap moved it to, not yet followed by an event.
    gap: bool,
}

fn schema() -> Value {
    json!({ "entities": [
        {
            "name": "user", "relation": "users", "access": { "anonymous": true },
            "events": [{ "name": "changed" }],
            "subscriptions": [{ "name": "all" }],
        },
        {
            "name": "post", "relation": "posts", "access": { "anonymous": true },
            "events": [{ "name": "changed" }],
            "subscriptions": [{ "name": "all" }],
        },
    ] })
}

/// The places after each event on users of these operations, in a log's order.
fn events(host: &Host, ops: &[&str]) -> Vec<u64> {
    let mut events = Vec::new();
    for entry in host
        .store
        .after(0)
        .iter()
        .filter(|entry| entry.relation == 1)
    {
        let key = |image: &Option<String>| {
            image
                .as_ref()
                .unwrap()
                .split(',')
                .next()
                .unwrap()
                .to_owned()
        };
        let moved = entry.op == 'u' && key(&entry.old) != key(&entry.new);
        let (within, after) = (
            Cursor::within(entry.seq).number(),
            Cursor::after(entry.seq).number(),
        );
        match entry.op {
            'u' if moved => {
                events.extend(ops.contains(&"delete").then_some(within));
                events.extend(ops.contains(&"create").then_some(after));
            }
            'i' => events.extend(ops.contains(&"create").then_some(after)),
            'u' => events.extend(ops.contains(&"update").then_some(after)),
            'd' => events.extend(ops.contains(&"delete").then_some(after)),
            op => unreachable!("{op}"),
        }
    }
    events
}

/// The first id of a stream.
fn first_id(bytes: &[u8]) -> Option<EventId> {
    let text = std::str::from_utf8(bytes).unwrap();
    let (_, rest) = text.split_once("\nid: ")?;
    EventId::parse(rest.split_once("\n\n")?.0)
}

fn write(host: &mut Host, rng: &mut Rng) {
    host.store.begin();
    let most = if rng.chance(4) { 150 } else { 4 };
    for _ in 0..=rng.below(most) {
        let op = *rng.pick(&['i', 'u', 'd']);
        let relation = if rng.chance(70) { 1 } else { 2 };
        host.store.write(relation, op, "x");
        if op == 'u' && rng.chance(40) {
            let entry = host.store.open.as_mut().unwrap().last_mut().unwrap();
            entry.new = Some(format!("({},x)", entry.seq + 1_000_000));
        }
    }
    host.store.end(rng.chance(90));
    host.wake();
}

impl Client {
    fn connect(&mut self, host: &mut Host, id: u32) {
        let request = json!({
            "method": "GET", "path": "/subscribe/user", "query": [["ops", self.ops.join(",")]],
            "lastEventId": self.last_id,
        });
        self.connection = Some(id);
        host.send(id, &request);
    }

    /// Takes in what a connection received before it was cut after this many bytes.
    fn receive(&mut self, bytes: &[u8]) {
        let (events, last_id) = read(bytes);
        if !last_id.is_empty() {
            self.last_id = last_id;
        }
        if self.began.is_none() {
            self.began = first_id(bytes).map(|id| id.cursor.number());
        }
        for event in events {
            if event.kind == "gap" {
                self.gap = true;
            } else {
                self.seen
                    .push((event.id().cursor.number(), std::mem::take(&mut self.gap)));
            }
        }
    }

    fn check(&self, expected: &[u64]) {
        let mut before = self
            .began
            .map(|began| expected.partition_point(|it| *it <= began));
        before = before.and_then(|n_before| n_before.checked_sub(1));
        for (number, gap) in &self.seen {
            let at = expected.binary_search(number);
            assert!(at.is_ok(), "{number} is an event of the log");
            let at = at.unwrap();
            if let Some(before) = before {
                assert!(at > before, "{number} comes once and in order");
                assert!(
                    *gap || at == before + 1,
                    "something is missing before {number}"
                );
            }
            before = Some(at);
        }
    }
}

fn run(seed: u64, trims: bool) -> (usize, u64) {
    let mut rng = Rng::new(seed);
    let mut host = Host::with_tables_and(Options {
        max_read_rows: *rng.pick(&[3, 20, 256]),
        retain_entries: if trims { 150 } else { 1_000_000 },
        ..Options::default()
    });
    assert_eq!(host.open(&schema()), json!([]));
    let all: &[&[&str]] = &[
        &["create", "update", "delete"],
        &["create"],
        &["update", "delete"],
    ];
    let mut clients: Vec<Client> = (0..4)
        .map(|_| Client {
            ops: rng.pick::<&[&str]>(all),
            connection: None,
            last_id: String::new(),
            began: None,
            seen: Vec::new(),
            gap: false,
        })
        .collect();
    let mut next_id = 100;
    let mut dropped = 0_u64;
    for _ in 0..STEPS {
        let index = rng.index(clients.len());
        let client = &mut clients[index];
        match (rng.below(12), client.connection) {
            (0..3, _) => write(&mut host, &mut rng),
            (3, None) => {
                client.connect(&mut host, next_id);
                next_id += 1;
            }
            (4, Some(id)) if !host.connection(id).is_closed => {
                host.set_full_quietly(id, rng.chance(65));
            }
            (5, Some(id)) => {
                client.connection = None;
                let bytes = host.leave(id).bytes;
                let cut = rng.index(bytes.len() + 1);
                // Cut between characters: those of ours are ASCII.
                client.receive(&bytes[..if rng.chance(50) { bytes.len() } else { cut }]);
            }
            (6, _) if rng.chance(20) => host.crash(),
            (7, _) => host.advance(rng.below(2 * PATIENCE_MS)),
            (8, _) => host.settle(),
            _ => host.step(),
        }
        // Another engine counts from the start.
        dropped = dropped.max(host.statistics()["dropped"].as_u64().unwrap());
    }
    // In the end everybody reads again, and comes back where it must.
    for (index, client) in clients.iter_mut().enumerate() {
        if let Some(id) = client.connection.take() {
            if !host.connection(id).is_closed {
                host.set_full(id, false);
            }
            host.settle();
            let bytes = host.leave(id).bytes;
            client.receive(&bytes);
        }
        client.connect(&mut host, 90 + u32::try_from(index).unwrap());
    }
    host.settle();
    write(&mut host, &mut rng);
    host.settle();
    host.advance(PATIENCE_MS);
    host.settle();
    let mut expected_by_ops: BTreeMap<&[&str], Vec<u64>> = BTreeMap::new();
    for (index, client) in clients.iter_mut().enumerate() {
        let bytes = host.leave(90 + u32::try_from(index).unwrap()).bytes;
        client.receive(&bytes);
        let expected = expected_by_ops
            .entry(client.ops)
            .or_insert_with(|| events(&host, client.ops));
        client.check(expected);
        let last = client.seen.last().map(|(number, _)| *number);
        let is_at_end = last == expected.last().copied() || client.gap || last.is_none();
        assert!(
            is_at_end,
            "seed {seed}: a client ends at {last:?} of {:?}",
            expected.last()
        );
    }
    let told = host.statistics();
    assert_eq!(
        (&told["activeSubscriptions"], &told["pending"]),
        (&json!(0), &json!(0))
    );
    let n_gaps = clients
        .iter()
        .flat_map(|client| &client.seen)
        .filter(|(_, gap)| *gap)
        .count();
    (n_gaps, dropped)
}

#[test]
fn clients_miss_nothing_between_two_frames_and_get_nothing_twice() {
    let mut n_dropped = 0;
    for seed in 0..runs() {
        let (n_gaps, dropped) = run(seed, false);
        assert!(n_gaps == 0 || dropped > 0, "seed {seed}: a gap for nothing");
        n_dropped += dropped;
    }
    assert!(n_dropped > 0, "some reader stalled");
}

#[test]
fn clients_whose_place_was_trimmed_are_told_and_go_on() {
    let n_gaps: usize = (0..runs()).map(|seed| run(1 << 32 | seed, true).0).sum();
    assert!(n_gaps > 0, "some place was trimmed");
}
