//! The clients of entity streams, as a host serves them: connections with sinks that fill and drain, and a
//! reader of server-sent events behind each.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at once"
)]

use std::collections::{BTreeMap, VecDeque};

use millstream::cursor::EventId;
use millstream::record::Input;
use serde_json::{Value, json};

use crate::host::{Host, Raw, kind};

/// What a host keeps of the streams it serves.
#[derive(Default)]
pub(crate) struct Streams {
    /// What the door was opened with.
    pub(crate) declared: Option<Value>,
    pub(crate) refusals: Option<Value>,
    pub(crate) connections: BTreeMap<u32, Connection>,
    /// What the database says to reads as the caller.
    pub(crate) outcome: Value,
    /// Inputs that answer what the engine asked for.
    pub(crate) answers: VecDeque<(Input, u32, String)>,
    pub(crate) statistics: Value,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    request: Value,
    pub(crate) response: Value,
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_full: bool,
    pub(crate) is_closed: bool,
    reached: Option<(u64, bool)>,
    began: u64,
    /// How many records of frames it was given.
    pub(crate) n_writes: usize,
}

/// An event as a reader of server-sent events dispatches it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Event {
    pub(crate) kind: String,
    pub(crate) id: String,
    pub(crate) data: Value,
}

impl Event {
    pub(crate) fn id(&self) -> EventId {
        EventId::parse(&self.id).unwrap()
    }
}

impl Connection {
    /// The events received whole.
    pub(crate) fn events(&self) -> Vec<Event> {
        read(&self.bytes).0
    }

    /// The id that a client would show again.
    pub(crate) fn last_id(&self) -> String {
        read(&self.bytes).1
    }

    pub(crate) fn status(&self) -> u64 {
        self.response["status"].as_u64().unwrap_or(0)
    }

    pub(crate) fn error(&self) -> Value {
        let body = self.response["body"].as_str().unwrap_or("null");
        serde_json::from_str::<Value>(body).unwrap()["error"].clone()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap()
    }
}

/// Reads server-sent events by the letter of the HTML standard, and gives the last event id.
pub(crate) fn read(bytes: &[u8]) -> (Vec<Event>, String) {
    let text = std::str::from_utf8(bytes).unwrap();
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (mut events, mut last_id) = (Vec::new(), String::new());
    let (mut kind, mut id, mut data) = (String::new(), String::new(), Vec::new());
    // What follows the last line break is no line yet.
    let lines: Vec<&str> = text.split('\n').collect();
    for line in &lines[..lines.len() - 1] {
        if line.is_empty() {
            last_id.clone_from(&id);
            if !data.is_empty() {
                let data = data.join("\n");
                events.push(Event {
                    kind: std::mem::take(&mut kind),
                    id: last_id.clone(),
                    data: serde_json::from_str(&data).unwrap_or(Value::String(data)),
                });
            }
            kind.clear();
            data.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut kind),
            "data" => data.push(value.to_owned()),
            "id" if !value.contains('\0') => value.clone_into(&mut id),
            _ => {}
        }
    }
    (events, last_id)
}

impl Streams {
    pub(crate) fn take(&mut self, record: &Raw) {
        let json = || serde_json::from_slice::<Value>(&record.payload).unwrap();
        match record.kind {
            kind::OPENED => self.refusals = Some(json()),
            kind::READ => {
                let answer = self.outcome.to_string();
                self.answers.push_back((Input::Read, record.id, answer));
            }
            kind::RESPOND => {
                // A request that the test made up itself has no connection.
                let Some(connection) = self.connections.get_mut(&record.id) else {
                    return;
                };
                assert_eq!(connection.response, Value::Null, "one answer to a request");
                connection.response = json();
                connection.is_closed = record.flags == 0;
            }
            kind::FRAMES => {
                assert!(!record.subs.is_empty(), "frames are for somebody");
                for id in &record.subs {
                    let connection = self.connections.get_mut(id).unwrap();
                    assert!(
                        !connection.is_closed,
                        "stream {id} has ended, and is told more"
                    );
                    assert_eq!(
                        connection.status(),
                        200,
                        "a stream is answered before its frames"
                    );
                    connection.bytes.extend_from_slice(&record.payload);
                    connection.n_writes += 1;
                    if record.flags != 2 {
                        // What a stream opens with is told in any case.
                        let has_room = !connection.is_full || connection.n_writes == 1;
                        assert!(has_room, "stream {id} has no room");
                        connection.reached = Some((record.seq, record.flags == 1));
                    }
                }
            }
            kind::CLOSED => self.connections.get_mut(&record.id).unwrap().is_closed = true,
            kind::STATISTICS => self.statistics = json(),
            kind => unreachable!("a record of kind {kind}"),
        }
    }

    /// What another engine is told of: the door, and every stream from where it stood.
    pub(crate) fn begin_anew(&mut self) -> Vec<(Input, u32, String)> {
        self.answers.clear();
        let mut inputs = Vec::new();
        if let Some(declared) = &mut self.declared {
            declared["resumes"] = json!(true);
            inputs.push((Input::Open, 0, declared.to_string()));
        }
        for (id, connection) in self.connections.iter().filter(|(_, it)| !it.is_closed) {
            let mut request = connection.request.clone();
            if let Some((seq, within)) = connection.reached {
                request["resumes"] =
                    json!({ "seq": seq, "within": within, "began": connection.began });
            }
            inputs.push((Input::Request, *id, request.to_string()));
            if connection.is_full {
                inputs.push((Input::Full, *id, String::new()));
            }
        }
        inputs
    }
}

impl Host {
    /// Opens the door, and tells what is wrong with the schema.
    pub(crate) fn open(&mut self, schema: &Value) -> Value {
        self.open_guarded(schema, &json!([]))
    }

    pub(crate) fn open_guarded(&mut self, schema: &Value, guarded: &Value) -> Value {
        let declared = json!({
            "schema": schema, "tenant": "acme", "namespace": "public", "guarded": guarded,
        });
        self.streams.outcome = json!({ "guarded": false });
        self.input(Input::Open, 7, declared.to_string().as_bytes());
        self.streams.declared = Some(declared);
        self.settle();
        self.streams.refusals.take().unwrap()
    }

    /// Sends a request, and goes on until it is answered.
    pub(crate) fn request(&mut self, id: u32, request: &Value) -> &Connection {
        self.send(id, request);
        self.settle();
        &self.streams.connections[&id]
    }

    /// Sends a request.
    pub(crate) fn send(&mut self, id: u32, request: &Value) {
        let connection = Connection {
            request: request.clone(),
            response: Value::Null,
            bytes: Vec::new(),
            is_full: false,
            is_closed: false,
            reached: None,
            began: self.now,
            n_writes: 0,
        };
        self.streams.connections.insert(id, connection);
        self.input(Input::Request, id, request.to_string().as_bytes());
    }

    /// Opens a stream at a path with these parameters.
    pub(crate) fn get(&mut self, id: u32, path: &str, query: &Value) -> &Connection {
        self.request(
            id,
            &json!({ "method": "GET", "path": path, "query": query }),
        )
    }

    /// Opens a stream on users that goes on after an event.
    pub(crate) fn resume(&mut self, id: u32, last_event_id: &str) -> &Connection {
        let request = json!({
            "method": "GET", "path": "/subscribe/user", "lastEventId": last_event_id,
        });
        self.request(id, &request)
    }

    pub(crate) fn connection(&self, id: u32) -> &Connection {
        &self.streams.connections[&id]
    }

    /// Lets a sink be full, or have room again, and goes on until all is quiet.
    pub(crate) fn set_full(&mut self, id: u32, is_full: bool) {
        self.set_full_quietly(id, is_full);
        self.settle();
    }

    /// Lets a sink be full, or have room again.
    pub(crate) fn set_full_quietly(&mut self, id: u32, is_full: bool) {
        self.streams.connections.get_mut(&id).unwrap().is_full = is_full;
        let input = if is_full { Input::Full } else { Input::Ready };
        self.input(input, id, &[]);
    }

    /// Lets a client go.
    pub(crate) fn leave(&mut self, id: u32) -> Connection {
        let connection = self.streams.connections.remove(&id).unwrap();
        if !connection.is_closed {
            self.input(Input::Gone, id, &[]);
        }
        connection
    }

    /// What was counted, of which the equation is checked.
    pub(crate) fn statistics(&mut self) -> Value {
        self.input(Input::Statistics, 0, &[]);
        let told = std::mem::take(&mut self.streams.statistics);
        let of = |counts: &Value, name: &str| counts[name].as_u64().unwrap();
        for counts in told["subscriptions"]
            .as_array()
            .unwrap()
            .iter()
            .chain([&told])
        {
            let parts = ["delivered", "dropped", "withheld", "failed", "pending"];
            let sum: u64 = parts.iter().map(|name| of(counts, name)).sum();
            assert_eq!(of(counts, "matched"), sum, "{counts}");
        }
        told
    }
}
