//! A scripted host: a database that keeps a log, a virtual clock, and sinks that take what they are told to.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at once"
)]

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use millstream::engine::{Engine, Options};
use millstream::record::{Input, Out};
use millstream::subscription::{WINDOW, WINDOW_BYTES};
use serde_json::{Value, json};

use crate::client::Streams;

/// One entry as the database logged it.
#[derive(Clone, Debug)]
pub(crate) struct Logged {
    pub(crate) seq: u64,
    pub(crate) tx: u64,
    pub(crate) time_ms: u64,
    pub(crate) relation: u32,
    pub(crate) op: char,
    pub(crate) old: Option<String>,
    pub(crate) new: Option<String>,
}

/// A version of a table, with the two columns that every table here has: `id` and `note`.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) table: u32,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) dropped: bool,
}

/// What a reading asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) id: u32,
    pub(crate) after: u64,
    relation_after: u32,
    pub(crate) max_rows: u32,
    max_bytes: u32,
}

/// A database: every entry it ever committed, of which those from `oldest` are still in its log, and what
/// the transaction that is open has written. An entry's `id` column holds its own seq.
pub(crate) struct Store {
    pub(crate) epoch: String,
    pub(crate) oldest: u64,
    pub(crate) log: Vec<Logged>,
    pub(crate) open: Option<Vec<Logged>>,
    pub(crate) versions: Vec<Version>,
    pub(crate) time_ms: u64,
    next_tx: u64,
}

impl Store {
    pub(crate) fn new() -> Self {
        Self {
            epoch: "e1".into(),
            oldest: 1,
            log: Vec::new(),
            open: None,
            versions: Vec::new(),
            time_ms: 1_000,
            next_tx: 700,
        }
    }

    /// Creates a table in `public`, and gives the number of its first version.
    pub(crate) fn create(&mut self, name: &str) -> u32 {
        let table = 16_000 + u32::try_from(self.versions.len()).unwrap();
        self.define(table, "public", name, false)
    }

    /// Adds a version of a table.
    pub(crate) fn define(&mut self, table: u32, namespace: &str, name: &str, dropped: bool) -> u32 {
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        self.versions.push(Version {
            table,
            namespace,
            name,
            dropped,
        });
        u32::try_from(self.versions.len()).unwrap()
    }

    pub(crate) fn version(&self, id: u32) -> &Version {
        &self.versions[usize::try_from(id).unwrap() - 1]
    }

    /// The last entry that is committed.
    pub(crate) fn head(&self) -> u64 {
        u64::try_from(self.log.len()).unwrap()
    }

    pub(crate) fn before_oldest(&self) -> u64 {
        self.oldest - 1
    }

    pub(crate) fn entry(&self, seq: u64) -> &Logged {
        &self.log[usize::try_from(seq).unwrap() - 1]
    }

    /// The entries committed after `seq`, trimmed ones too.
    pub(crate) fn after(&self, seq: u64) -> &[Logged] {
        self.log
            .get(usize::try_from(seq).unwrap()..)
            .unwrap_or_default()
    }

    /// Commits one transaction that inserts a row into each of these relations, in order; gives its seq.
    pub(crate) fn commit(&mut self, relations: &[u32]) -> u64 {
        self.begin();
        for relation in relations {
            self.write(*relation, 'i', "x");
        }
        self.end(true);
        self.head()
    }

    /// Commits one transaction for each of these relations.
    pub(crate) fn commit_each(&mut self, relations: &[u32]) {
        for relation in relations {
            self.commit(&[*relation]);
        }
    }

    pub(crate) fn begin(&mut self) {
        self.open = Some(Vec::new());
        self.next_tx += 3;
    }

    /// Writes an entry within the open transaction.
    pub(crate) fn write(&mut self, relation: u32, op: char, note: &str) {
        let open = self.open.as_mut().unwrap();
        let seq = u64::try_from(self.log.len() + open.len()).unwrap() + 1;
        let (is_there, was_there) = (matches!(op, 'i' | 'u'), matches!(op, 'u' | 'd'));
        open.push(Logged {
            seq,
            tx: self.next_tx,
            time_ms: self.time_ms,
            relation,
            op,
            old: was_there.then(|| format!("({seq},\"was, {note}\")")),
            new: is_there.then(|| format!("({seq},{note})")),
        });
    }

    /// Commits the open transaction, or rolls it back.
    pub(crate) fn end(&mut self, commits: bool) {
        let open = self.open.take().unwrap_or_default();
        if commits {
            self.log.extend(open);
        }
    }

    /// Another log takes the place of this one.
    pub(crate) fn replace_log(&mut self, epoch: &str) {
        let versions = std::mem::take(&mut self.versions);
        *self = Self {
            epoch: epoch.into(),
            versions,
            next_tx: self.next_tx,
            ..Self::new()
        };
    }

    /// Removes the oldest entries, as an order to trim says.
    pub(crate) fn trim(&mut self, to: u64, before_ms: u64, limit: u32) {
        let end = self.oldest + u64::from(limit);
        while self.oldest <= self.head() && self.oldest < end {
            let goes = self.oldest <= to || self.entry(self.oldest).time_ms < before_ms;
            if !goes {
                break;
            }
            self.oldest += 1;
        }
    }

    /// Answers a reading. Within an open transaction the reader sees what that has written.
    pub(crate) fn read(&self, ask: &Ask) -> Vec<u8> {
        let open = self.open.as_deref().unwrap_or_default();
        let head = self.log.len() + open.len();
        let mut out = Vec::new();
        message(b'T', &[0, 0], &mut out);
        row(
            &[
                Some(&self.epoch),
                Some(&self.oldest.to_string()),
                Some(&head.to_string()),
                Some(&self.time_ms.to_string()),
            ],
            &mut out,
        );
        message(b'C', b"SELECT 1\0", &mut out);
        let known = usize::try_from(ask.relation_after).unwrap();
        for (index, version) in self.versions.iter().enumerate().skip(known) {
            relation_row(index + 1, version, &mut out);
        }
        message(b'C', b"SELECT 1\0", &mut out);
        let start = ask.after.max(self.before_oldest());
        let start = usize::try_from(start).unwrap();
        let mut room = usize::try_from(ask.max_bytes).unwrap();
        let rows = self.log.iter().chain(open).skip(start);
        for (index, entry) in rows
            .take(usize::try_from(ask.max_rows).unwrap())
            .enumerate()
        {
            let mut bytes = Vec::new();
            log_row(entry, &mut bytes);
            if index > 0 && room < bytes.len() {
                break;
            }
            room = room.saturating_sub(bytes.len());
            out.extend_from_slice(&bytes);
        }
        message(b'C', b"SELECT 1\0", &mut out);
        message(
            b'Z',
            if self.open.is_some() { b"T" } else { b"I" },
            &mut out,
        );
        out
    }
}

/// One message of PostgreSQL's protocol.
pub(crate) fn message(tag: u8, body: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&u32::try_from(body.len() + 4).unwrap().to_be_bytes());
    out.extend_from_slice(body);
}

/// A row message with these values.
pub(crate) fn row(values: &[Option<&str>], out: &mut Vec<u8>) {
    let mut body = u16::try_from(values.len()).unwrap().to_be_bytes().to_vec();
    for value in values {
        let length = value.map_or(-1, |text| i32::try_from(text.len()).unwrap());
        body.extend_from_slice(&length.to_be_bytes());
        body.extend_from_slice(value.unwrap_or_default().as_bytes());
    }
    message(b'D', &body, out);
}

/// The row message of a log's entry.
pub(crate) fn log_row(entry: &Logged, out: &mut Vec<u8>) {
    let Logged {
        seq,
        tx,
        time_ms,
        relation,
        op,
        old,
        new,
    } = entry;
    let numbers = [*seq, *tx, *time_ms, u64::from(*relation)].map(|number| number.to_string());
    let [seq, tx, time_ms, relation] = numbers.each_ref().map(|text| Some(text.as_str()));
    let op = op.to_string();
    row(
        &[
            seq,
            tx,
            time_ms,
            relation,
            Some(&op),
            old.as_deref(),
            new.as_deref(),
        ],
        out,
    );
}

fn relation_row(id: usize, version: &Version, out: &mut Vec<u8>) {
    const COLUMNS: &str = r#"[{"name":"id","type":"bigint"},{"name":"note","type":"text"}]"#;
    let (id, table) = (id.to_string(), version.table.to_string());
    let values = [
        id.as_str(),
        table.as_str(),
        version.namespace.as_str(),
        version.name.as_str(),
        r#"["id"]"#,
        COLUMNS,
        if version.dropped { "t" } else { "f" },
    ];
    row(&values.map(Some), out);
}

/// What a subscription was told.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    Started(u64),
    Commit(Rc<Given>),
    Gap { seq: u64, reason: String },
    Closed(Value),
}

/// A commit as a subscription was given it.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) seq: u64,
    pub(crate) tx: u64,
    pub(crate) part: Option<u64>,
    pub(crate) partial: bool,
    pub(crate) entries: Vec<Shown>,
}

/// An entry as a subscription was shown it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Shown {
    pub(crate) op: String,
    /// Namespace and name, with a dot between.
    pub(crate) relation: String,
    /// The row's id, which is the entry's seq; 0 for a truncate.
    pub(crate) id: u64,
}

/// A subscription as its host knows it.
#[derive(Debug)]
pub(crate) struct Sub {
    pub(crate) selector: Value,
    pub(crate) since: Value,
    pub(crate) told: Vec<Told>,
    /// What the sink has not taken: numbers and sizes.
    pub(crate) held: VecDeque<(u64, usize)>,
    /// Whether the sink takes everything at once.
    pub(crate) eager: bool,
    /// The last seq handed to the sink, from which it goes on after a crash.
    pub(crate) handed: Option<u64>,
    pub(crate) closed: bool,
}

impl Sub {
    pub(crate) fn commits(&self) -> impl Iterator<Item = &Given> {
        self.told.iter().filter_map(|told| match told {
            Told::Commit(commit) => Some(&**commit),
            Told::Started(_) | Told::Gap { .. } | Told::Closed(_) => None,
        })
    }

    /// The numbers of the commits given.
    pub(crate) fn seqs(&self) -> Vec<u64> {
        self.commits().map(|commit| commit.seq).collect()
    }

    pub(crate) fn gaps(&self) -> Vec<(u64, &str)> {
        let gap = |told: &'_ Told| match told {
            Told::Gap { seq, reason } => Some((*seq, reason.clone())),
            Told::Started(_) | Told::Commit(_) | Told::Closed(_) => None,
        };
        let gaps = self.told.iter().filter(|told| gap(told).is_some());
        gaps.filter_map(|told| match told {
            Told::Gap { seq, reason } => Some((*seq, reason.as_str())),
            Told::Started(_) | Told::Commit(_) | Told::Closed(_) => None,
        })
        .collect()
    }

    pub(crate) fn started(&self) -> Option<u64> {
        self.told.iter().find_map(|told| match told {
            Told::Started(seq) => Some(*seq),
            Told::Commit(_) | Told::Gap { .. } | Told::Closed(_) => None,
        })
    }

    /// Why it was refused.
    pub(crate) fn refusal(&self) -> &Value {
        match self.told.last() {
            Some(Told::Closed(error)) => error,
            Some(Told::Started(_) | Told::Commit(_) | Told::Gap { .. }) | None => &Value::Null,
        }
    }
}

/// A record as it came out of the engine.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) id: u32,
    pub(crate) seq: u64,
    pub(crate) subs: Vec<u32>,
    pub(crate) payload: Vec<u8>,
}

/// The numbers of the kinds of record, as the boundary has them.
pub(crate) mod kind {
    pub(crate) const READ_LOG: u8 = 1;
    pub(crate) const TRIM: u8 = 2;
    pub(crate) const RELATION: u8 = 3;
    pub(crate) const COMMIT: u8 = 4;
    pub(crate) const GAP: u8 = 5;
    pub(crate) const STARTED: u8 = 6;
    pub(crate) const CLOSED: u8 = 7;
    pub(crate) const FAULT: u8 = 8;
    pub(crate) const WAIT: u8 = 10;
    pub(crate) const OPENED: u8 = 11;
    pub(crate) const READ: u8 = 12;
    pub(crate) const RESPOND: u8 = 13;
    pub(crate) const FRAMES: u8 = 14;
    pub(crate) const STATISTICS: u8 = 15;
}

/// A host with its engine.
pub(crate) struct Host {
    pub(crate) engine: Engine,
    pub(crate) options: Options,
    pub(crate) store: Store,
    pub(crate) now: u64,
    pub(crate) subs: BTreeMap<u32, Sub>,
    pub(crate) streams: Streams,
    /// The relation versions the engine has shown.
    relations: BTreeMap<u32, String>,
    pub(crate) reading: Option<Ask>,
    pub(crate) trimming: Option<(u32, u64, u64, u32)>,
    pub(crate) faults: Vec<Value>,
    pub(crate) wait: u64,
    /// The records of the last drain.
    pub(crate) records: Vec<Raw>,
    pub(crate) n_readings: usize,
    pub(crate) n_trims: usize,
}

impl Host {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            engine: Engine::new(options.clone()),
            options,
            store: Store::new(),
            now: 1_000_000,
            subs: BTreeMap::new(),
            streams: Streams::default(),
            relations: BTreeMap::new(),
            reading: None,
            trimming: None,
            faults: Vec::new(),
            wait: u64::MAX,
            records: Vec::new(),
            n_readings: 0,
            n_trims: 0,
        }
    }

    /// A host whose database has the tables `users` and `posts`, numbers 1 and 2, and one commit in each.
    pub(crate) fn with_tables() -> Self {
        Self::with_tables_and(Options::default())
    }

    pub(crate) fn with_tables_and(options: Options) -> Self {
        let mut host = Self::new(options);
        host.store.create("users");
        host.store.create("posts");
        host.store.commit_each(&[1, 2]);
        host
    }

    /// Gives the engine an input and takes its records in.
    pub(crate) fn input(&mut self, input: Input, id: u32, payload: &[u8]) {
        let mut out = Out::default();
        self.engine.handle(input, id, payload, self.now, &mut out);
        self.take(out.bytes());
    }

    /// Gives the engine an input in which it stops: what it had to say is lost.
    pub(crate) fn trap(&mut self, input: Input, id: u32, payload: &[u8]) {
        self.engine
            .handle(input, id, payload, self.now, &mut Out::default());
        self.crash();
    }

    /// Puts a fresh engine in place of the old one, and subscribes everybody again from where they were.
    pub(crate) fn crash(&mut self) {
        self.engine = Engine::new(self.options.clone());
        self.relations.clear();
        (self.reading, self.trimming) = (None, None);
        self.subs.retain(|_, sub| !sub.closed);
        for id in self.subs.keys().copied().collect::<Vec<_>>() {
            let sub = self.subs.get_mut(&id).unwrap();
            sub.held.clear();
            let since = sub.handed.map_or_else(|| sub.since.clone(), Value::from);
            let declaration = json!({ "selector": sub.selector, "since": since }).to_string();
            self.input(Input::Subscribe, id, declaration.as_bytes());
        }
        for (input, id, payload) in self.streams.begin_anew() {
            self.input(input, id, payload.as_bytes());
        }
    }

    pub(crate) fn subscribe(&mut self, id: u32, selector: Value, since: Value) {
        let declaration = json!({ "selector": selector, "since": since }).to_string();
        self.subs.insert(
            id,
            Sub {
                selector,
                since,
                told: Vec::new(),
                held: VecDeque::new(),
                eager: true,
                handed: None,
                closed: false,
            },
        );
        self.input(Input::Subscribe, id, declaration.as_bytes());
    }

    /// Subscribes, and goes on until it is live.
    pub(crate) fn join(&mut self, id: u32, selector: Value, since: Value) {
        self.subscribe(id, selector, since);
        self.settle();
    }

    pub(crate) fn unsubscribe(&mut self, id: u32) {
        self.input(Input::Unsubscribe, id, &[]);
    }

    pub(crate) fn unsubscribe_from_callback(&mut self, id: u32) {
        self.input(Input::Unsubscribe, id, &[1]);
    }

    pub(crate) fn wake(&mut self) {
        self.input(Input::Wake, 0, &[]);
    }

    /// Commits one transaction of inserts, wakes the engine, and goes on until all is quiet.
    pub(crate) fn write(&mut self, relations: &[u32]) -> u64 {
        let seq = self.store.commit(relations);
        self.wake();
        self.settle();
        seq
    }

    /// Answers the reading under way.
    pub(crate) fn answer(&mut self) {
        let ask = self.reading.take().unwrap();
        let rows = self.store.read(&ask);
        self.input(Input::Rows, ask.id, &rows);
    }

    /// Says that the reading under way failed.
    pub(crate) fn fail_reading(&mut self) {
        let ask = self.reading.take().unwrap();
        self.input(Input::Failed, ask.id, b"the connection is gone");
    }

    /// Carries out the order to trim.
    pub(crate) fn carry_out_trim(&mut self) {
        let (id, to, before_ms, limit) = self.trimming.take().unwrap();
        self.store.trim(to, before_ms, limit);
        self.input(Input::Saved, id, &[]);
    }

    /// Acknowledges the first `count` commits that a sink holds.
    pub(crate) fn ack(&mut self, id: u32, count: usize) {
        let payload = self.take_held(id, count);
        self.input(Input::Ack, 0, &payload);
    }

    /// The acknowledgement of the first `count` commits that a sink holds, which it holds no longer.
    pub(crate) fn take_held(&mut self, id: u32, count: usize) -> Vec<u8> {
        let held = &mut self.subs.get_mut(&id).unwrap().held;
        let taken = held.drain(..count.min(held.len())).next_back();
        let mut payload = Vec::new();
        if let Some((seq, _)) = taken {
            payload.extend_from_slice(&id.to_le_bytes());
            payload.extend_from_slice(&seq.to_le_bytes());
        }
        payload
    }

    /// Lets a sink take everything at once, or nothing.
    pub(crate) fn set_eager(&mut self, id: u32, eager: bool) {
        self.subs.get_mut(&id).unwrap().eager = eager;
    }

    /// Goes on until nothing happens but by the clock or a new commit.
    pub(crate) fn settle(&mut self) {
        let retained = self.store.log.len() + 2 - usize::try_from(self.store.oldest).unwrap();
        let bound = 200 + 8 * retained * (self.subs.len().min(100) + 1);
        for _ in 0..bound {
            if self.acknowledge_eagerly() {
            } else if let Some((input, id, payload)) = self.streams.answers.pop_front() {
                self.input(input, id, payload.as_bytes());
            } else if self.trimming.is_some() {
                self.carry_out_trim();
            } else if self.reading.is_some() {
                self.answer();
            } else {
                return;
            }
        }
        unreachable!("the engine is busy over nothing: {:?}", self.records);
    }

    /// Does one thing that is due.
    pub(crate) fn step(&mut self) {
        if let Some((input, id, payload)) = self.streams.answers.pop_front() {
            self.input(input, id, payload.as_bytes());
        } else if self.trimming.is_some() {
            self.carry_out_trim();
        } else if self.reading.is_some() {
            self.answer();
        }
    }

    fn acknowledge_eagerly(&mut self) -> bool {
        let concerned: Vec<u32> = self
            .subs
            .iter()
            .filter(|(_, sub)| sub.eager && !sub.held.is_empty())
            .map(|(id, _)| *id)
            .collect();
        let payload: Vec<u8> = concerned
            .iter()
            .flat_map(|id| self.take_held(*id, usize::MAX))
            .collect();
        if !payload.is_empty() {
            self.input(Input::Ack, 0, &payload);
        }
        !payload.is_empty()
    }

    /// Moves the clock, keeping the engine's appointments on the way.
    pub(crate) fn advance(&mut self, ms: u64) {
        let end = self.now + ms;
        while self.wait <= end {
            self.now = self.now.max(self.wait);
            self.input(Input::Tick, 0, &[]);
            self.settle();
        }
        self.now = end;
    }

    pub(crate) fn sub(&self, id: u32) -> &Sub {
        &self.subs[&id]
    }

    /// How many records of a kind the last drain had.
    pub(crate) fn count(&self, kind: u8) -> usize {
        self.records
            .iter()
            .filter(|record| record.kind == kind)
            .count()
    }

    /// Takes a drain in, and checks what holds for every drain.
    fn take(&mut self, bytes: &[u8]) {
        self.records = parse(bytes);
        let n_waits = self.count(kind::WAIT);
        let last = self.records.last().unwrap();
        assert!(
            n_waits == 1 && last.kind == kind::WAIT,
            "a drain ends with its only Wait"
        );
        assert!(
            last.seq > self.now,
            "a Wait until {} at {} is none",
            last.seq,
            self.now
        );
        self.wait = last.seq;
        for record in std::mem::take(&mut self.records) {
            self.take_record(&record);
            self.records.push(record);
        }
    }

    fn take_record(&mut self, record: &Raw) {
        let Raw {
            kind,
            id,
            seq,
            subs,
            payload,
            flags: _,
        } = record;
        let word = |at: usize| u32::from_le_bytes(payload[at..at + 4].try_into().unwrap());
        let long = |at: usize| u64::from_le_bytes(payload[at..at + 8].try_into().unwrap());
        match *kind {
            kind::READ_LOG => {
                assert!(self.reading.is_none(), "one reading at a time");
                self.n_readings += 1;
                self.reading = Some(Ask {
                    id: *id,
                    after: *seq,
                    relation_after: word(0),
                    max_rows: word(4),
                    max_bytes: word(8),
                });
            }
            kind::TRIM => {
                assert!(self.trimming.is_none(), "one order to trim at a time");
                self.n_trims += 1;
                self.trimming = Some((*id, long(0), long(8), word(16)));
            }
            kind::RELATION => {
                let shown: Value = serde_json::from_slice(payload).unwrap();
                let [namespace, name] =
                    ["namespace", "name"].map(|key| shown[key].as_str().unwrap());
                self.relations.insert(*id, format!("{namespace}.{name}"));
            }
            kind::COMMIT => {
                assert!(!subs.is_empty(), "a commit is for somebody");
                let given = Rc::new(self.parse_commit(payload));
                assert_eq!(given.seq, *seq, "a commit's record has its number");
                for id in subs {
                    self.give(*id, &given, payload.len());
                }
            }
            kind::GAP => {
                let missed: Value = serde_json::from_slice(payload).unwrap();
                let reason = missed["reason"].as_str().unwrap();
                for id in subs {
                    let sub = self.alive(*id);
                    sub.told.push(Told::Gap {
                        seq: *seq,
                        reason: reason.to_owned(),
                    });
                    sub.handed = Some(*seq);
                }
            }
            kind::STARTED => {
                let sub = self.subs.get_mut(id).unwrap();
                sub.told.push(Told::Started(*seq));
                sub.handed = Some(*seq);
            }
            kind::OPENED | kind::READ | kind::RESPOND | kind::FRAMES | kind::STATISTICS => {
                self.streams.take(record);
            }
            kind::CLOSED if self.streams.connections.contains_key(id) => self.streams.take(record),
            kind::CLOSED => {
                let error = if payload.is_empty() {
                    Value::Null
                } else {
                    serde_json::from_slice(payload).unwrap()
                };
                let sub = self.subs.get_mut(id).unwrap();
                assert!(!sub.closed, "subscription {id} ends once");
                sub.told.push(Told::Closed(error));
                sub.closed = true;
                sub.held.clear();
            }
            kind::FAULT => self.faults.push(serde_json::from_slice(payload).unwrap()),
            kind::WAIT => {}
            kind => unreachable!("a record of kind {kind}"),
        }
    }

    fn alive(&mut self, id: u32) -> &mut Sub {
        let sub = self.subs.get_mut(&id).unwrap();
        assert!(!sub.closed, "subscription {id} ended, and is told more");
        assert!(
            sub.handed.is_some(),
            "subscription {id} has not begun, and is told more"
        );
        sub
    }

    fn give(&mut self, id: u32, given: &Rc<Given>, bytes: usize) {
        let sub = self.alive(id);
        let held_bytes: usize = sub.held.iter().map(|(_, bytes)| bytes).sum();
        assert!(
            sub.held.len() < WINDOW && held_bytes < WINDOW_BYTES,
            "subscription {id} has no room"
        );
        sub.held.push_back((given.seq, bytes));
        sub.handed = Some(given.seq);
        sub.told.push(Told::Commit(Rc::clone(given)));
    }

    fn parse_commit(&self, payload: &[u8]) -> Given {
        let (commit, patches): (Value, Value) = serde_json::from_slice(payload).unwrap();
        assert_eq!(patches, json!([]), "nothing here needs a patch");
        let entries: Vec<Shown> = commit["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| self.parse_entry(entry))
            .collect();
        assert!(!entries.is_empty(), "a commit has entries");
        Given {
            seq: commit["seq"].as_u64().unwrap(),
            tx: commit["txId"].as_u64().unwrap(),
            part: commit["part"].as_u64(),
            partial: commit["partial"].as_bool().unwrap_or_default(),
            entries,
        }
    }

    fn parse_entry(&self, entry: &Value) -> Shown {
        let relation = u32::try_from(entry["relation"].as_u64().unwrap()).unwrap();
        let relation = self.relations.get(&relation);
        assert!(
            relation.is_some(),
            "a relation is announced before its first use: {entry}"
        );
        let image = entry.get("new").or_else(|| entry.get("old"));
        Shown {
            op: entry["op"].as_str().unwrap().to_owned(),
            relation: relation.unwrap().clone(),
            id: image.map_or(0, |row| row["id"].as_u64().unwrap()),
        }
    }
}

/// The records of a drain, by the layout of `record.rs`.
fn parse(mut bytes: &[u8]) -> Vec<Raw> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let (header, rest) = bytes.split_at(32);
        let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().unwrap());
        let (length, n_subs) = (word(16), word(20));
        let (subs, rest) = rest.split_at(usize::try_from(n_subs).unwrap() * 4);
        let (payload, rest) = rest.split_at(usize::try_from(length).unwrap());
        records.push(Raw {
            kind: header[0],
            flags: header[1],
            id: word(4),
            seq: u64::from_le_bytes(header[8..16].try_into().unwrap()),
            subs: subs
                .chunks_exact(4)
                .map(|id| u32::from_le_bytes(id.try_into().unwrap()))
                .collect(),
            payload: payload.to_vec(),
        });
        let padding = length.next_multiple_of(4) - length;
        bytes = rest.split_at(usize::try_from(padding).unwrap()).1;
    }
    records
}
