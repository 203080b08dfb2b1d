//! Where in the log a stream begins, and how.

use super::class::Class;
use super::frames::{Framer, Stamp};
use super::give::give;
use super::lag::{Lag, Sink};
use super::life::{STREAM, refuse, respond};
use super::{Member, Phase, Streams, Timer};
use crate::cursor::Cursor;
use crate::encode::sse;
use crate::error::{Code, Error};
use crate::feed::Feed;
use crate::http::{self, Opening, Since};
use crate::reader::Relations;
use crate::record::Out;
use crate::subscription::Mark;

/// Where a stream begins.
struct Start {
    after: Cursor,
    time_ms: u64,
    /// Why something is missing before that.
    gap: Option<&'static str>,
}

impl Streams {
    /// Answers those who waited to know where the log ends.
    pub fn answer_marks(&mut self, feed: &Feed, relations: &Relations, now: u64, out: &mut Out) {
        self.answer_boot(relations, out);
        for id in std::mem::take(&mut self.marking) {
            match self.members.get(&id).map(|it| it.phase) {
                Some(Phase::Starting(Mark::Asked)) => self.start(id, feed, now, out),
                Some(Phase::Starting(Mark::Wanted)) => {
                    self.marking.insert(id);
                }
                Some(Phase::Reading | Phase::In(_)) | None => {}
            }
        }
    }

    fn start(&mut self, id: u32, feed: &Feed, now: u64, out: &mut Out) {
        let Some(member) = self.members.get(&id) else {
            return;
        };
        let start = match begin(member, feed, self.tag) {
            Ok(start) => start,
            Err(error) => {
                self.remove(id);
                return refuse(id, &error.into(), out);
            }
        };
        if member.request.resumes.is_none() {
            respond(id, STREAM, out, |out| {
                http::write_stream_head(&member.request, out);
            });
            let mut head = Vec::new();
            if let (Some(catalog), Ok(opening)) = (&self.catalog, &member.opening) {
                opening.write_head(catalog, &mut head);
            }
            if start.gap.is_none() {
                let stamp = Stamp {
                    tag: self.tag,
                    time_ms: start.time_ms,
                };
                sse::place(stamp.id(start.after), &mut head);
            }
            give(&[id], Some(start.after), &head, out);
        }
        let began = member.request.resumes.map_or(now, |resume| resume.began);
        self.set_timers(id, began, now);
        self.join(id, &start, feed.time_ms, now);
    }

    /// Replaces the timer of waiting by those of a stream.
    fn set_timers(&mut self, id: u32, began: u64, now: u64) {
        let Some(member) = self.members.get_mut(&id) else {
            return;
        };
        self.timers.remove(&(member.end_ms, Timer::End, id));
        let Ok(opening) = &member.opening else {
            return;
        };
        let Opening {
            heartbeat_ms,
            lifetime_ms,
            expires_ms,
            ..
        } = *opening;
        member.end_ms = began
            .saturating_add(lifetime_ms)
            .min(expires_ms.unwrap_or(u64::MAX));
        member.ping_ms = now + heartbeat_ms;
        self.timers.insert((member.end_ms, Timer::End, id));
        self.timers.insert((member.ping_ms, Timer::Ping, id));
    }

    /// Puts a stream into its class, which is made where it is the first.
    fn join(&mut self, id: u32, start: &Start, time_ms: u64, now: u64) {
        let (Some(member), Some(catalog)) = (self.members.get_mut(&id), &self.catalog) else {
            return;
        };
        let Ok(opening) = &member.opening else {
            return;
        };
        let key = (opening.subscription, opening.operations);
        let is_it = |class: &Class| (class.subscription, class.framer.operations) == key;
        let mut classes = self.classes.iter();
        let found = classes.position(|class| class.as_ref().is_some_and(is_it));
        let index = found.unwrap_or_else(|| {
            let entity = catalog.source(key.0).map_or("", |(_, entity)| &entity.name);
            let framer = Framer::new(entity, key.1, &self.tenant);
            let class = Class::new(key.0, framer, Cursor::after(self.at), time_ms);
            self.by_relation.clear();
            let free = self.classes.iter().position(Option::is_none);
            let index = free.unwrap_or(self.classes.len());
            self.classes
                .resize_with(self.classes.len().max(index + 1), || None);
            if let Some(slot) = self.classes.get_mut(index) {
                *slot = Some(class);
            }
            index
        });
        member.phase = Phase::In(index);
        let sink = if member.is_full {
            Sink::full(now)
        } else {
            Sink::Ready
        };
        let Some(class) = self.class_mut(index) else {
            return;
        };
        let is_there = start.after == class.tip;
        if is_there && start.gap.is_none() && sink == Sink::Ready {
            return class.make_current(id);
        }
        let mut lag = Lag {
            after: start.after,
            time_ms: start.time_ms,
            n_before: is_there.then_some(class.n_frames),
            sink,
            owed: None,
        };
        if let Some(reason) = start.gap {
            lag.owe(reason, None);
        }
        class.lag(id, lag);
        self.timers
            .extend(sink.due_ms().map(|due| (due, Timer::Stall, id)));
    }
}

/// Where a stream begins in this log, or why it cannot.
fn begin(member: &Member, feed: &Feed, tag: u32) -> Result<Start, Error> {
    let (head, oldest) = (feed.head, feed.before_oldest());
    let at = |after, time_ms| Start {
        after,
        time_ms,
        gap: None,
    };
    let other = Start {
        after: Cursor::after(head),
        time_ms: feed.time_ms,
        gap: Some("other_log"),
    };
    let start = if let Some(resume) = member.request.resumes {
        let after = if resume.within {
            Cursor::within(resume.seq)
        } else {
            Cursor::after(resume.seq)
        };
        at(after, 0)
    } else {
        match member.opening.as_ref().map_or(Since::Now, |it| it.since) {
            Since::Now => at(Cursor::after(head), feed.time_ms),
            Since::Event(id) if id.tag != tag => return Ok(other),
            Since::Event(id) => at(id.cursor, id.time_ms),
            Since::Seq(seq) if seq > head => {
                let message = format!("since is {seq}, but this log has only reached {head}");
                return Err(Error::new(Code::BadSince, message));
            }
            Since::Seq(seq) => at(Cursor::after(seq), 0),
        }
    };
    // An id of this log that lies ahead is from before a copy of it was put back.
    if start.after > Cursor::after(head) {
        return Ok(other);
    }
    if start.after.seq() < oldest {
        return Ok(Start {
            after: Cursor::after(oldest),
            gap: Some("trimmed"),
            ..start
        });
    }
    Ok(start)
}
