//! The real engine against a scripted database, with faults, crashes and a virtual clock: whoever
//! subscribes is given every commit that concerns them, once and in order, or is told what was missed.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at once"
)]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use millstream::engine::Options;
use millstream::record::Input;
use millstream::selector::Selector;
use millstream::subscription::WINDOW;
use serde_json::{Value, json};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::host::{Ask, Given, Host, Logged, Sub, Told};
use crate::random::Rng;

/// How many crashes the runs of each promise come to.
const CRASHES: usize = if cfg!(target_arch = "wasm32") {
    400
} else {
    5_000
};
const STEPS: usize = 300;

/// What the faults of a run are.
#[derive(Clone, Copy, Debug, Default)]
struct Script {
    /// Whether commits are given in parts.
    parts: bool,
    /// Whether the log is trimmed while it is read.
    trims: bool,
    /// Whether some entries may not be touched.
    poison: bool,
}

#[test]
fn everyone_is_given_every_commit_once_and_in_order_through_all_crashes() {
    run_until_crashed(0, Script::default());
}

#[test]
fn whoever_loses_entries_to_trimming_is_told_and_goes_on() {
    run_until_crashed(
        1 << 32,
        Script {
            trims: true,
            ..Script::default()
        },
    );
}

#[test]
fn commits_in_parts_are_put_together_without_seam() {
    run_until_crashed(
        2 << 32,
        Script {
            parts: true,
            ..Script::default()
        },
    );
}

#[test]
fn untouchable_entries_are_passed_over_and_nothing_else_is() {
    run_until_crashed(
        3 << 32,
        Script {
            poison: true,
            ..Script::default()
        },
    );
}

#[test]
fn all_faults_together_lose_nothing_untold() {
    run_until_crashed(
        4 << 32,
        Script {
            parts: true,
            trims: true,
            poison: true,
        },
    );
}

/// Runs one seed after the other until the engine crashed so many times.
fn run_until_crashed(first_seed: u64, script: Script) {
    let mut crashes = 0;
    let mut seed = first_seed;
    while crashes < CRASHES {
        let run = catch_unwind(AssertUnwindSafe(|| Run::new(seed, script).go()));
        match run {
            Ok(crashed) => crashes += crashed,
            Err(stopped) => {
                print_seed(seed, script);
                resume_unwind(stopped);
            }
        }
        seed += 1;
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the seed is what makes a failure repeatable"
)]
fn print_seed(seed: u64, script: Script) {
    eprintln!("simulation stopped: seed {seed}, {script:?}");
}

/// One run: a host, and what must be true of it.
struct Run {
    host: Host,
    rng: Rng,
    script: Script,
    /// The answer to a reading that has not arrived yet.
    late: Option<(Ask, Vec<u8>)>,
    next_sub: u32,
    checks: BTreeMap<u32, Check>,
    crashes: usize,
}

/// How far what a subscription was told was checked.
#[derive(Debug)]
struct Check {
    /// How many tellings were checked.
    told: usize,
    /// Whether its sink never takes anything.
    hangs: bool,
    /// Where the log ended and began when it subscribed.
    head: u64,
    before_oldest: u64,
    /// Whether it was asked to end.
    leaves: bool,
    /// Up to where it was given or told everything.
    reached: Option<u64>,
    /// After which entry a commit may begin in its middle: where it began, or was told of a gap.
    floor: u64,
    selector: Selector,
}

impl Run {
    fn new(seed: u64, script: Script) -> Self {
        let mut rng = Rng::new(seed);
        let quarantine = if script.poison {
            (0..8).map(|_| 1 + rng.below(400)).collect()
        } else {
            vec![]
        };
        let options = Options {
            max_read_rows: *rng.pick(&[1, 2, 3, 5, 8, 256]),
            max_read_bytes: *rng.pick(&[1, 300, 1 << 20]),
            max_commit_bytes: if script.parts {
                *rng.pick(&[1, 100, 700])
            } else {
                8 << 20
            },
            retain_entries: if script.trims {
                5 + rng.below(120)
            } else {
                100_000
            },
            quarantine,
            ..Options::default()
        };
        let mut host = Host::new(options);
        for table in ["users", "posts", "tags", "audit"] {
            host.store.create(table);
        }
        Self {
            host,
            rng,
            script,
            late: None,
            next_sub: 1,
            checks: BTreeMap::new(),
            crashes: 0,
        }
    }

    /// Goes through the run, and gives how many times the engine crashed.
    fn go(mut self) -> usize {
        for _ in 0..STEPS {
            self.step();
            self.check_all();
        }
        self.come_to_rest();
        self.crashes
    }

    fn step(&mut self) {
        match self.rng.below(100) {
            0..14 => self.write(),
            14..18 => self.end_or_begin(),
            18..22 => self.join(),
            22..24 => self.leave(),
            24..44 => self.answer(),
            44..46 => self.fail(),
            46..52 => self.read_late(),
            52..58 => self.save(),
            58..76 => self.acknowledge(),
            76..80 => self.host.wake(),
            80..84 => self.pass_time(),
            84..86 => self.host.input(Input::Tick, 0, &[]),
            86..88 => self.trim_aside(),
            _ => self.crash(),
        }
    }

    /// Commits a transaction, of which the wake may be lost or come twice.
    fn write(&mut self) {
        if self.host.store.open.is_none() {
            self.host.store.begin();
            self.write_rows();
            self.host.store.end(true);
        }
        for _ in 0..*self.rng.pick(&[0, 1, 1, 1, 2]) {
            self.host.wake();
        }
    }

    fn write_rows(&mut self) {
        let rows = if self.rng.chance(80) {
            1 + self.rng.below(4)
        } else {
            1 + self.rng.below(40)
        };
        let choices: [&[u32]; 5] = [&[1, 2, 3, 4], &[1], &[2], &[3, 4], &[1, 2]];
        let tables = *self.rng.pick(&choices);
        self.host.store.time_ms = self.host.now;
        for _ in 0..rows {
            let relation = *self.rng.pick(tables);
            let op = *self.rng.pick(&['i', 'i', 'u', 'd']);
            self.host.store.write(relation, op, "some note");
        }
    }

    /// A transaction stays open over some steps; what it wrote may be rolled back.
    fn end_or_begin(&mut self) {
        if self.host.store.open.is_some() {
            let commits = self.rng.chance(50);
            self.host.store.end(commits);
            self.host.wake();
        } else {
            self.host.store.begin();
            self.write_rows();
        }
    }

    fn join(&mut self) {
        if self.host.subs.len() > 12 {
            return;
        }
        let head = self.host.store.head();
        let selectors = [
            json!("*"),
            json!({ "public": "users" }),
            json!({ "public": ["posts", "tags"] }),
            json!({ "public": "a%" }),
            json!({ "public": ["!users"] }),
        ];
        let selector = self.rng.pick(&selectors);
        let since = match self.rng.below(4) {
            0 => json!("start"),
            1 => json!(self.rng.below(head + 1)),
            _ => json!("now"),
        };
        let id = self.next_sub;
        self.next_sub += 1;
        self.checks.insert(
            id,
            Check {
                told: 0,
                hangs: self.rng.chance(10),
                head,
                before_oldest: self.host.store.before_oldest(),
                leaves: false,
                reached: None,
                floor: 0,
                selector: Selector::parse(selector).unwrap(),
            },
        );
        self.host.subscribe(id, selector.clone(), since);
        self.host.set_eager(id, false);
    }

    fn leave(&mut self) {
        if let Some(id) = self.some_sub() {
            self.checks.get_mut(&id).unwrap().leaves = true;
            if self.rng.chance(50) {
                self.host.unsubscribe(id);
            } else {
                self.host.unsubscribe_from_callback(id);
            }
        }
    }

    fn some_sub(&mut self) -> Option<u32> {
        let open = self.host.subs.iter().filter(|(_, sub)| !sub.closed);
        let ids: Vec<u32> = open.map(|(id, _)| *id).collect();
        (!ids.is_empty()).then(|| *self.rng.pick(&ids))
    }

    fn answer(&mut self) {
        if let Some((ask, rows)) = self.late.take() {
            self.host.reading = None;
            self.host.input(Input::Rows, ask.id, &rows);
        } else if self.host.reading.is_some() {
            self.host.answer();
        }
    }

    /// The database answers now, and the answer arrives some steps later.
    fn read_late(&mut self) {
        if self.late.is_none() {
            self.late = self
                .host
                .reading
                .map(|ask| (ask, self.host.store.read(&ask)));
        }
    }

    fn fail(&mut self) {
        let Some(ask) = self.host.reading else { return };
        self.late = None;
        if self.rng.chance(50) {
            self.host.fail_reading();
            return;
        }
        let mut rows = self.host.store.read(&ask);
        let end = self.rng.below(u64::try_from(rows.len()).unwrap());
        rows.truncate(usize::try_from(end).unwrap());
        self.host.reading = None;
        self.host.input(Input::Rows, ask.id, &rows);
    }

    fn save(&mut self) {
        if self.host.trimming.is_none() || self.host.store.open.is_some() {
            return;
        }
        if self.rng.chance(80) {
            self.host.carry_out_trim();
        } else {
            let (id, ..) = self.host.trimming.take().unwrap();
            self.host.input(Input::Failed, id, b"no room to work in");
        }
    }

    /// Sinks take some of what they hold: one of them, or several in one input.
    fn acknowledge(&mut self) {
        let mut payload = Vec::new();
        for _ in 0..*self.rng.pick(&[1, 1, 8]) {
            let Some(id) = self.some_sub() else { return };
            if !self.checks[&id].hangs {
                let count = usize::try_from(self.rng.below(40)).unwrap();
                payload.extend(self.host.take_held(id, count));
            }
        }
        self.host.input(Input::Ack, 0, &payload);
    }

    fn pass_time(&mut self) {
        let step = *self.rng.pick(&[1, 40, 400, 70_000]);
        self.host.now = if self.host.wait != u64::MAX && self.rng.chance(50) {
            self.host.now.max(self.host.wait)
        } else {
            self.host.now + step
        };
        self.host.input(Input::Tick, 0, &[]);
    }

    /// Somebody else trims the log.
    fn trim_aside(&mut self) {
        if self.script.trims && self.host.store.open.is_none() {
            let to = self.host.store.head().saturating_sub(self.rng.below(100));
            self.host.store.trim(to, 0, 50);
        }
    }

    /// The engine is gone, between two inputs or within one, whose records are lost.
    fn crash(&mut self) {
        self.crashes += 1;
        self.late = None;
        match self.host.reading {
            Some(ask) if self.rng.chance(60) => {
                let rows = self.host.store.read(&ask);
                self.host.trap(Input::Rows, ask.id, &rows);
            }
            Some(_) | None => self.host.crash(),
        }
        self.checks.retain(|id, _| self.host.subs.contains_key(id));
        // A host that asked for somebody's end asks again.
        for (id, _) in self.checks.iter().filter(|(_, check)| check.leaves) {
            self.host.unsubscribe(*id);
        }
    }

    /// Lets everything end that can end; whoever takes what it is given is at the log's end then.
    fn come_to_rest(&mut self) {
        self.host.store.end(true);
        if let Some((ask, rows)) = self.late.take() {
            self.host.reading = None;
            self.host.input(Input::Rows, ask.id, &rows);
        }
        for (id, check) in &self.checks {
            self.host.set_eager(*id, !check.hangs);
        }
        self.host.input(Input::Tick, 0, &[]);
        self.host.settle();
        self.host.wake();
        self.host.settle();
        self.host.advance(60_000);
        self.check_all();
        assert_eq!(
            self.host.reading.map(|ask| ask.id),
            None,
            "nothing is under way at rest"
        );
        for (id, check) in &self.checks {
            let sub = &self.host.subs[id];
            let owed = self.host.store.after(check.reached.unwrap_or_default());
            let owed = owed
                .iter()
                .filter(|entry| check.concerns(&self.host, entry))
                .count();
            assert!(sub.closed || !check.leaves, "{id} never ended: {check:?}");
            let is_full = check.hangs && sub.held.len() > WINDOW / 2;
            assert!(
                sub.closed || owed == 0 || is_full,
                "{id} is owed {owed} at rest: {check:?}"
            );
            assert!(
                sub.closed || sub.started().is_some(),
                "{id} has not begun: {check:?}"
            );
        }
    }

    fn check_all(&mut self) {
        for (id, check) in &mut self.checks {
            let sub = &self.host.subs[id];
            for index in check.told..sub.told.len() {
                let follows_start = index > 0 && matches!(sub.told[index - 1], Told::Started(_));
                check.check(
                    *id,
                    sub,
                    &sub.told[index],
                    follows_start,
                    &self.host,
                    self.script,
                );
            }
            check.told = sub.told.len();
        }
    }
}

impl Check {
    fn concerns(&self, host: &Host, entry: &Logged) -> bool {
        let version = host.store.version(entry.relation);
        self.selector.matches(&version.namespace, &version.name)
    }

    fn check(
        &mut self,
        id: u32,
        sub: &Sub,
        told: &Told,
        follows_start: bool,
        host: &Host,
        script: Script,
    ) {
        match told {
            Told::Started(seq) if self.reached.is_none() => {
                self.check_start(id, *seq, &sub.since, host);
                self.reached = Some(*seq);
                self.floor = *seq;
            }
            Told::Started(seq) => {
                let reached = self.reached.unwrap();
                assert!(
                    *seq >= reached,
                    "{id} reached {reached} and goes on from {seq}"
                );
                let is_trimmed = *seq <= host.store.before_oldest();
                assert!(
                    *seq == reached || is_trimmed,
                    "{id} reached {reached}, goes on from {seq}"
                );
            }
            Told::Gap { seq, reason } => {
                let reached = self.reached.unwrap();
                let is_told_once = *seq > reached || (*seq == reached && follows_start);
                assert!(
                    is_told_once,
                    "{id} reached {reached}, and is told that it missed {seq}"
                );
                self.check_gap(id, *seq, reason, host, script);
            }
            Told::Commit(commit) => self.check_commit(id, commit, host, script),
            // Whoever takes too long over leaving is told that it was not given everything.
            Told::Closed(error) => assert!(
                error.is_null() || error["code"] == "unfinished",
                "{id} is not refused: {error}"
            ),
        }
    }

    fn check_start(&self, id: u32, seq: u64, since: &Value, host: &Host) {
        let store = &host.store;
        let is_right = match since.as_u64() {
            Some(since) if seq == since => true,
            Some(since) => seq > since && seq <= store.before_oldest(),
            None if *since == "now" => (self.head..=store.head()).contains(&seq),
            None => (self.before_oldest..=store.before_oldest()).contains(&seq),
        };
        assert!(is_right, "{id} asked for {since} and began after {seq}");
    }

    fn check_gap(&mut self, id: u32, seq: u64, reason: &str, host: &Host, script: Script) {
        let reached = self.reached.unwrap();
        match reason {
            "trimmed" => assert!(
                seq <= host.store.before_oldest(),
                "{id}: {seq} is still there"
            ),
            "poison" => {
                let tx = host.store.entry(seq).tx;
                let missed = &host.store.after(reached)[..usize::try_from(seq - reached).unwrap()];
                let mut owed = missed.iter().filter(|it| self.concerns(host, it));
                assert!(
                    owed.all(|it| it.tx == tx),
                    "{id} missed more than a transaction: {seq}"
                );
                let mut entries = host.store.log.iter().filter(|it| it.tx == tx);
                let is_unfit = entries.any(|it| host.options.quarantine.contains(&it.seq));
                assert!(
                    is_unfit && script.poison,
                    "{id}: nothing is wrong with {seq}"
                );
            }
            reason => unreachable!("{id} has a gap for {reason}"),
        }
        self.floor = self.floor.max(seq);
        self.reached = Some(reached.max(seq));
    }

    fn check_commit(&mut self, id: u32, commit: &Given, host: &Host, script: Script) {
        let reached = self.reached.unwrap();
        assert!(
            commit.seq > reached,
            "{id} was given {} after {reached}",
            commit.seq
        );
        let log = host.store.after(reached);
        assert!(
            commit.seq <= host.store.head(),
            "{id} was given {}, uncommitted",
            commit.seq
        );
        let log = &log[..usize::try_from(commit.seq - reached).unwrap()];
        // A commit that lost its beginning to a gap may show it nevertheless.
        let first = commit.entries[0].id;
        let early = host.store.log.iter().filter(|it| {
            it.seq >= first && it.seq <= reached && it.tx == commit.tx && reached == self.floor
        });
        let owed: Vec<&Logged> = early
            .chain(log)
            .filter(|entry| self.concerns(host, entry))
            .collect();
        let shown: Vec<u64> = commit.entries.iter().map(|entry| entry.id).collect();
        let expected: Vec<u64> = owed.iter().map(|entry| entry.seq).collect();
        assert_eq!(
            shown, expected,
            "{id} reached {reached} and was given {}",
            commit.seq
        );
        for (entry, shown) in owed.iter().zip(&commit.entries) {
            let op = match entry.op {
                'i' => "insert",
                'u' => "update",
                _ => "delete",
            };
            assert_eq!(
                (shown.op.as_str(), entry.tx),
                (op, commit.tx),
                "{id}: {shown:?}"
            );
            assert_eq!(
                shown.relation,
                format!("public.{}", host.store.version(entry.relation).name)
            );
        }
        let more = host
            .store
            .after(commit.seq)
            .first()
            .is_some_and(|next| next.tx == commit.tx);
        assert_eq!(
            commit.partial, more,
            "{id}: whether {} is all of its commit",
            commit.seq
        );
        assert!(
            script.parts || !more,
            "{id} was given part of a commit: {}",
            commit.seq
        );
        self.reached = Some(commit.seq);
    }
}
