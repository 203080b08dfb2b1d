//! How streams begin and end.

use serde_json::Value;

use super::boot::closed;
use super::give::give;
use super::lag::Sink;
use super::{Counts, Member, Phase, START_MS, Streams, Timer};
use crate::catalog::Entity;
use crate::encode::json::{self, Object};
use crate::encode::sse;
use crate::error::{Code, Error};
use crate::http::{self, Asked, Refusal, Request};
use crate::record::{Out, Record};
use crate::subscription::Mark;

/// That a stream follows a response, rather than a body.
pub(super) const STREAM: u8 = 1;

impl Streams {
    /// Takes a request, and answers it, or asks for a read as its caller.
    pub fn request(&mut self, id: u32, payload: &[u8], now: u64, out: &mut Out) {
        let request = match Request::parse(payload) {
            Ok(request) => request,
            Err(error) => return refuse(id, &error.into(), out),
        };
        let Some(catalog) = self.catalog.as_ref() else {
            return turn_away(id, &request, &closed().into(), out);
        };
        if request.closed {
            return turn_away(id, &request, &closed().into(), out);
        }
        let (entity, opening) = match http::route(&request, catalog, &self.tenant) {
            Ok(Asked::Stream(entity, opening)) => (entity, opening),
            Ok(Asked::Methods(methods)) => {
                return respond(id, 0, out, |out| http::write_methods(methods, out));
            }
            Err(refusal) => return turn_away(id, &request, &refusal, out),
        };
        let expires = opening.as_ref().ok().and_then(|it| it.expires_ms);
        if expires.is_some_and(|expires| expires <= now) {
            let refusal = Refusal::new(Code::Unauthenticated, "the credentials have expired");
            return turn_away(id, &request, &refusal, out);
        }
        let phase = match (&opening, request.resumes) {
            (Err(refusal), Some(_)) => return turn_away(id, &request, refusal, out),
            (Ok(_), Some(_)) => {
                self.marking.insert(id);
                Phase::Starting(Mark::Wanted)
            }
            (_, None) => {
                let source = opening
                    .as_ref()
                    .ok()
                    .and_then(|it| catalog.source(it.subscription));
                let own = catalog.entities.get(entity);
                let mut read: Vec<&Entity> = own.into_iter().collect();
                read.extend(source.map(|(_, entity)| entity));
                read.dedup_by_key(|it| (&it.namespace, &it.relation));
                out.record(Record::Read, id, 0, &[], |payload| {
                    json::list(&read, payload, |entity, out| {
                        Object::new(out)
                            .text("namespace", &entity.namespace)
                            .text("name", &entity.relation)
                            .end();
                    });
                });
                Phase::Reading
            }
        };
        let end_ms = now + START_MS;
        self.timers.insert((end_ms, Timer::End, id));
        let member = Member {
            request,
            opening,
            phase,
            is_full: false,
            end_ms,
            ping_ms: u64::MAX,
        };
        self.members.insert(id, member);
    }

    /// Takes the outcome of a read as the caller: JSON `{ guarded }`, or `{ denied }` or `{ failed }` with why.
    pub fn read(&mut self, id: u32, payload: &[u8], out: &mut Out) {
        let Some(member) = self
            .members
            .get_mut(&id)
            .filter(|it| matches!(it.phase, Phase::Reading))
        else {
            return;
        };
        let outcome: Value = serde_json::from_slice(payload).unwrap_or_default();
        let refusal = if outcome.get("guarded").and_then(Value::as_bool) == Some(false) {
            None
        } else if outcome.get("failed").is_some() {
            let message = "the database could not be asked whether the caller may read; try again";
            Some(Refusal::new(Code::LogUnreadable, message).with_header("Retry-After", "2"))
        } else {
            Some(Refusal::new(
                Code::Forbidden,
                "the caller cannot read the entity",
            ))
        };
        if let Some(refusal) = refusal.as_ref().or_else(|| member.opening.as_ref().err()) {
            refuse(id, refusal, out);
            return self.remove(id);
        }
        if member.request.method == "HEAD" {
            respond(id, 0, out, |out| {
                http::write_stream_head(&member.request, out);
            });
            self.remove(id);
            return;
        }
        member.phase = Phase::Starting(Mark::Wanted);
        self.marking.insert(id);
    }

    /// Notes that a sink is full.
    pub fn fill(&mut self, id: u32, now: u64) {
        let Some(member) = self.members.get_mut(&id) else {
            return;
        };
        let Phase::In(index) = member.phase else {
            member.is_full = true;
            return;
        };
        let sink = Sink::full(now);
        if let Some(class) = self.class_mut(index) {
            class.fill(id, sink);
            self.timers
                .extend(sink.due_ms().map(|due| (due, Timer::Stall, id)));
        }
    }

    /// Notes that a sink has room again.
    pub fn drain(&mut self, id: u32) {
        let Some(member) = self.members.get_mut(&id) else {
            return;
        };
        member.is_full = false;
        if let Phase::In(index) = member.phase
            && let Some(lag) = self.class_mut(index).and_then(|it| it.lagging.get_mut(id))
        {
            lag.sink = Sink::Ready;
        }
    }

    /// Does what is due, and tells when to look again.
    pub fn settle(&mut self, now: u64, out: &mut Out) -> Option<u64> {
        let mut pinged = Vec::new();
        while let Some(&(due, timer, id)) = self.timers.first().filter(|(due, ..)| *due <= now) {
            self.timers.remove(&(due, timer, id));
            match timer {
                Timer::End => self.end(id, &unread(), out),
                Timer::Ping => pinged.extend(self.ping(id, now)),
                Timer::Stall => self.stall(id, due, now),
            }
        }
        self.serve(out);
        let mut ping = Vec::new();
        sse::comment(b"ping", &mut ping);
        give(&pinged, None, &ping, out);
        self.timers.first().map(|(due, ..)| *due)
    }

    /// Notes that a sink was full for some time. One that had room meanwhile waits for another time.
    fn stall(&mut self, id: u32, due: u64, now: u64) {
        let Some(Phase::In(index)) = self.members.get(&id).map(|it| it.phase) else {
            return;
        };
        let lag = self.class_mut(index).and_then(|it| it.lagging.get_mut(id));
        if let Some(lag) = lag.filter(|lag| lag.sink.due_ms() == Some(due)) {
            lag.sink = lag.sink.next(now);
            let next = lag.sink.due_ms();
            self.timers.extend(next.map(|due| (due, Timer::Stall, id)));
        }
    }

    /// The stream that is to be sent a sign of life, unless its sink is full.
    fn ping(&mut self, id: u32, now: u64) -> Option<u32> {
        let member = self.members.get_mut(&id)?;
        let heartbeat_ms = member.opening.as_ref().ok()?.heartbeat_ms;
        member.ping_ms = now + heartbeat_ms;
        self.timers.insert((member.ping_ms, Timer::Ping, id));
        let Phase::In(index) = member.phase else {
            return None;
        };
        let lag = self.class(index)?.lagging.get(id);
        lag.is_none_or(|lag| lag.sink == Sink::Ready).then_some(id)
    }

    /// Ends a stream by our own wish.
    pub(super) fn end(&mut self, id: u32, error: &Error, out: &mut Out) {
        let Some(member) = self.members.get(&id) else {
            return;
        };
        if matches!(member.phase, Phase::In(_)) || member.request.resumes.is_some() {
            end_stream(id, out);
        } else {
            let refusal = Refusal::from(error.clone()).with_header("Retry-After", "2");
            refuse(id, &refusal, out);
        }
        self.remove(id);
    }

    /// Forgets a stream, whose client is gone or told so.
    pub fn remove(&mut self, id: u32) {
        let Some(member) = self.members.remove(&id) else {
            return;
        };
        self.marking.remove(&id);
        self.timers.remove(&(member.end_ms, Timer::End, id));
        self.timers.remove(&(member.ping_ms, Timer::Ping, id));
        let Phase::In(index) = member.phase else {
            return;
        };
        let Some(class) = self.class_mut(index) else {
            return;
        };
        let (subscription, dropped) = (class.subscription, class.leave(id));
        if class.is_empty() {
            self.by_relation.clear();
            if let Some(slot) = self.classes.get_mut(index) {
                *slot = None;
            }
        }
        self.count(
            subscription,
            Counts {
                dropped,
                ..Counts::default()
            },
        );
    }
}

/// The refusal of whoever waited too long for its stream to begin.
fn unread() -> Error {
    let message = "the log could not be read in time; try again";
    Error::new(Code::LogUnreadable, message)
}

/// Tells a client that its stream is over, and that it may connect again.
fn end_stream(id: u32, out: &mut Out) {
    let mut closing = Vec::new();
    sse::comment(b"closing, reconnect", &mut closing);
    give(&[id], None, &closing, out);
    out.record(Record::Closed, id, 0, &[], |_| ());
}

/// Refuses a request; a stream that had begun under another engine ends, since it was answered long ago.
fn turn_away(id: u32, request: &Request, refusal: &Refusal, out: &mut Out) {
    if request.resumes.is_some() {
        end_stream(id, out);
    } else {
        refuse(id, refusal, out);
    }
}

pub(super) fn respond(id: u32, flags: u8, out: &mut Out, write: impl FnOnce(&mut Vec<u8>)) {
    out.flagged(Record::Respond, flags, id, 0, &[], write);
}

pub(super) fn refuse(id: u32, refusal: &Refusal, out: &mut Out) {
    respond(id, 0, out, |out| refusal.write(out));
}
