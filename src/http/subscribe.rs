//! `GET /subscribe/{entity}`: who may open which stream, and how.

use serde_json::Value;

use super::{Refusal, Request, duration};
use crate::catalog::{Catalog, Operation, Operations};
use crate::cursor::EventId;
use crate::encode::sse;
use crate::error::Code;

/// How soon a browser is to connect again.
const RETRY_MS: &str = "2000";
/// How often something is sent, unless the client says otherwise, and what it may say.
const HEARTBEAT_MS: Range = Range {
    default: 25_000,
    least: 1_000,
    most: 300_000,
};
/// How long a stream lasts.
const LIFETIME_MS: Range = Range {
    default: 1_800_000,
    least: 1_000,
    most: 14_400_000,
};

struct Range {
    default: u64,
    least: u64,
    most: u64,
}

/// A stream as it is to be opened.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The subscription, by its index in the catalog.
    pub subscription: usize,
    /// The operations wanted.
    pub operations: Operations,
    /// How often something is sent.
    pub heartbeat_ms: u64,
    /// How long it lasts.
    pub lifetime_ms: u64,
    /// Until when the caller is who it is: milliseconds since 1970.
    pub expires_ms: Option<u64>,
    /// From where.
    pub since: Since,
}

/// From where a stream is wanted.
#[derive(Clone, Copy, Debug)]
pub enum Since {
    /// From now on.
    Now,
    /// After the event of this id.
    Event(EventId),
    /// After the entry of this number.
    Seq(u64),
}

/// The entity of this name, if the caller may read it as far as the schema says.
pub(super) fn readable(
    request: &Request,
    name: &str,
    catalog: &Catalog,
    tenant: &str,
) -> Result<usize, Refusal> {
    let claims = request.claims.as_ref();
    let is_stranger = claims
        .and_then(|claims| claims.get("tenant"))
        .is_some_and(|it| it.as_str() != Some(tenant));
    let found = catalog.entity(name).filter(|_| !is_stranger);
    let (index, entity) = found.ok_or_else(|| {
        Refusal::new(Code::EntityNotFound, format!("there is no entity '{name}'"))
    })?;
    if entity.anonymous || claims.is_some() {
        Ok(index)
    } else {
        Err(unauthenticated(name))
    }
}

/// Finds out what stream of an entity a request is to have.
pub(super) fn opening(
    request: &Request,
    entity: usize,
    catalog: &Catalog,
) -> Result<Opening, Refusal> {
    let name = catalog.entities.get(entity).map_or("", |it| &it.name);
    let subscription = pick(request, entity, name, catalog)?;
    let declared = catalog.subscriptions.get(subscription);
    let declared = declared.map(|it| it.operations).unwrap_or_default();
    // What it listens to may be another entity's, and must be readable too.
    let is_known = request.claims.is_some();
    let source = catalog.source(subscription);
    if !source.is_some_and(|(_, source)| source.anonymous || is_known) {
        return Err(unauthenticated(name));
    }
    let expires = request.claims.as_ref().and_then(|it| it.get("exp"));
    Ok(Opening {
        subscription,
        operations: operations(request, declared)?,
        heartbeat_ms: ranged(request, "heartbeat", Code::BadHeartbeat, &HEARTBEAT_MS)?,
        lifetime_ms: ranged(request, "lifetime", Code::BadLifetime, &LIFETIME_MS)?,
        expires_ms: expires.map(expiry),
        since: since(request)?,
    })
}

/// The end of a token's life in milliseconds, from its claim in seconds; what is no time is over.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates"
)]
fn expiry(claim: &Value) -> u64 {
    claim
        .as_f64()
        .map_or(0, |seconds| (seconds * 1_000.0) as u64)
}

fn unauthenticated(name: &str) -> Refusal {
    let message =
        format!("'{name}' may not be read by callers that nobody knows; send credentials");
    Refusal::new(Code::Unauthenticated, message).with_header("WWW-Authenticate", "Bearer")
}

fn pick(request: &Request, entity: usize, name: &str, catalog: &Catalog) -> Result<usize, Refusal> {
    let names = || {
        catalog
            .subscriptions_of(entity)
            .map(|(_, it)| it.name.clone())
            .collect()
    };
    let mut declared = catalog.subscriptions_of(entity);
    let mut asked = request
        .query
        .iter()
        .filter(|(key, _)| key == "name")
        .map(|(_, name)| name);
    match (asked.next(), asked.next(), declared.next(), declared.next()) {
        (_, _, None, _) => Err(Refusal::new(
            Code::NoSubscriptionDeclared,
            format!("'{name}' declares no subscriptions, so it has no stream"),
        )),
        (Some(wanted), None, ..) => {
            let found = catalog
                .subscriptions_of(entity)
                .find(|(_, it)| it.name == *wanted);
            found.map(|(index, _)| index).ok_or_else(|| {
                let message = format!("'{name}' has no subscription '{wanted}'");
                Refusal::new(Code::SubscriptionNotFound, message)
                    .with_names("subscriptions", names())
            })
        }
        (None, _, Some((index, _)), None) => Ok(index),
        _ => {
            let message = format!("'{name}' has several subscriptions: say which as ?name=");
            Err(Refusal::new(Code::SubscriptionAmbiguous, message)
                .with_names("subscriptions", names()))
        }
    }
}

/// The operations asked for, by commas or by repetition; all that are declared where none are.
fn operations(request: &Request, declared: Operations) -> Result<Operations, Refusal> {
    let mut asked = request
        .query
        .iter()
        .filter(|(key, _)| key == "ops")
        .peekable();
    if asked.peek().is_none() {
        return Ok(declared);
    }
    let words = asked.flat_map(|(_, list)| list.split(','));
    let operations: Option<Operations> = words.map(Operation::parse).collect();
    operations
        .filter(|operations| operations.are_within(declared))
        .ok_or_else(|| {
            let words = declared.words();
            let message = format!("ops may be some of {}, divided by commas", words.join(", "));
            let names = words.into_iter().map(str::to_owned).collect();
            Refusal::new(Code::BadOps, message).with_names("ops", names)
        })
}

fn ranged(request: &Request, key: &'static str, code: Code, range: &Range) -> Result<u64, Refusal> {
    let mut given = request.query.iter().filter(|(name, _)| name == key);
    let Some((_, text)) = given.next() else {
        return Ok(range.default);
    };
    let value = duration::parse(text).filter(|value| (range.least..=range.most).contains(value));
    value.filter(|_| given.next().is_none()).ok_or_else(|| {
        let [least, most, default] = [range.least, range.most, range.default].map(duration::text);
        let message = format!(
            "{key} is one duration from {least} to {most}, such as {default}; its units are ms, s, m and h"
        );
        Refusal::new(code, message)
    })
}

/// Where to begin: the header beats the parameter, since a browser that connects again sends both.
fn since(request: &Request) -> Result<Since, Refusal> {
    let bad = |message: &str| Refusal::new(Code::BadSince, message);
    if let Some(id) = request.last_event_id.as_deref().filter(|id| !id.is_empty()) {
        return EventId::parse(id)
            .map(Since::Event)
            .ok_or_else(|| bad("Last-Event-ID is no id that this stream gave"));
    }
    let mut given = request.query.iter().filter(|(key, _)| key == "since");
    let Some((_, text)) = given.next() else {
        return Ok(Since::Now);
    };
    if given.next().is_some() {
        return Err(bad("since is given twice"));
    }
    if let Some(id) = EventId::parse(text) {
        return Ok(Since::Event(id));
    }
    let is_plain =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    let seq = text.parse().ok().filter(|seq| is_plain && *seq < 1 << 53);
    seq.map(Since::Seq)
        .ok_or_else(|| bad("since is the id of an event, or the number of an entry"))
}

impl Opening {
    /// Writes what a stream opens with. The block that tells its place is not in it.
    pub fn write_head(&self, catalog: &Catalog, out: &mut Vec<u8>) {
        let subscription = catalog.subscriptions.get(self.subscription);
        let entity = subscription.and_then(|it| catalog.entities.get(it.entity));
        let text = format!(
            "subscribed entity={} subscription={} closing-in={}",
            entity.map_or("", |it| &it.name),
            subscription.map_or("", |it| &it.name),
            duration::text(self.lifetime_ms),
        );
        sse::retry(RETRY_MS, out);
        sse::comment(text.as_bytes(), out);
    }
}
