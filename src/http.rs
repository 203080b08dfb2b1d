//! Requests in; a stream, or a refusal, out.

mod duration;
mod path;
mod subscribe;

use serde_json::{Map, Value};

pub use subscribe::{Opening, Since};

use crate::catalog::Catalog;
use crate::encode::json::{self, Object};
use crate::error::{Code, Error};

/// A request, as the host puts it.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The method, in capitals.
    pub method: String,
    /// The path as it was sent, escapes and all.
    pub path: String,
    /// The parameters, decoded.
    pub query: Vec<(String, String)>,
    /// The header of that name.
    pub last_event_id: Option<String>,
    /// The version, where a connection is the server's own to keep: `1.1`.
    pub http_version: Option<String>,
    /// Who is asking; nothing where nobody knows.
    pub claims: Option<Map<String, Value>>,
    /// Whether the one who was asked is closed.
    pub closed: bool,
    /// Where a stream stood under an engine that stopped. It goes on there, and is told nothing of that.
    pub resumes: Option<Resume>,
}

/// Where a stream stood.
#[derive(Clone, Copy, Debug)]
pub struct Resume {
    /// The last entry it was told of, at least in part.
    pub seq: u64,
    /// Whether it was told of a part only.
    pub within: bool,
    /// When it began: milliseconds since 1970.
    pub began: u64,
}

impl Request {
    /// Reads a request from JSON. What is missing or of another type is not there.
    pub fn parse(payload: &[u8]) -> Result<Self, Error> {
        let value: Value = serde_json::from_slice(payload)
            .map_err(|error| Error::new(Code::BadOptions, error.to_string()))?;
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let query = value.get("query").and_then(Value::as_array);
        let pair = |pair: &Value| {
            let [name, value] = pair.as_array()?.as_slice() else {
                return None;
            };
            Some((name.as_str()?.to_owned(), value.as_str()?.to_owned()))
        };
        let resume = |resumes: &Value| {
            Some(Resume {
                seq: resumes.get("seq")?.as_u64()?,
                within: resumes.get("within")?.as_bool()?,
                began: resumes.get("began")?.as_u64()?,
            })
        };
        Ok(Self {
            method: text("method").unwrap_or_default(),
            path: text("path").unwrap_or_default(),
            query: query.into_iter().flatten().filter_map(pair).collect(),
            last_event_id: text("lastEventId"),
            http_version: text("httpVersion"),
            claims: value.get("claims").and_then(Value::as_object).cloned(),
            closed: value.get("closed").is_some_and(|it| *it == true),
            resumes: value.get("resumes").and_then(resume),
        })
    }
}

/// What a request asks for.
#[derive(Debug)]
pub enum Asked {
    /// A stream of this entity, or its headers, after a read as the caller has shown that it may have one.
    /// Only then is it told what else is wrong.
    Stream(usize, Result<Opening, Refusal>),
    /// Which methods a route takes.
    Methods(&'static str),
}

/// A request that is refused.
#[derive(Debug)]
pub struct Refusal {
    error: Error,
    /// What the answer says besides: names that exist, under a key.
    exists: Option<(&'static str, Vec<String>)>,
    header: Option<(&'static str, &'static str)>,
}

/// The methods of a stream's route.
const METHODS: &str = "GET, HEAD, OPTIONS";

/// Finds out what a request asks for.
pub fn route(request: &Request, catalog: &Catalog, tenant: &str) -> Result<Asked, Refusal> {
    let segments = path::segments(&request.path);
    let ["subscribe", entity] = segments.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
        let message = format!(
            "there is nothing at {}; streams are at /subscribe/{{entity}}",
            request.path
        );
        return Err(Refusal::new(Code::NotFound, message));
    };
    match request.method.as_str() {
        "GET" | "HEAD" => {
            let index = subscribe::readable(request, entity, catalog, tenant)?;
            let opening = subscribe::opening(request, index, catalog);
            Ok(Asked::Stream(index, opening))
        }
        "OPTIONS" => Ok(Asked::Methods(METHODS)),
        other => {
            let message = format!("{other} is not taken here; use one of {METHODS}");
            Err(Refusal::new(Code::MethodNotAllowed, message).with_header("Allow", METHODS))
        }
    }
}

/// Writes the head of a stream's response.
pub fn write_stream_head(request: &Request, out: &mut Vec<u8>) {
    let mut headers = vec![
        ("Content-Type", "text/event-stream"),
        // What transforms a stream holds it back.
        ("Cache-Control", "no-cache, no-transform"),
        // Proxies buffer responses by default.
        ("X-Accel-Buffering", "no"),
    ];
    // HTTP/2 forbids it, and there where the server is not ours it is not ours to say.
    if request
        .http_version
        .as_deref()
        .is_some_and(|version| version.starts_with("1."))
    {
        headers.push(("Connection", "keep-alive"));
    }
    write(200, &headers, None, out);
}

/// Writes the answer that tells a route's methods.
pub fn write_methods(methods: &str, out: &mut Vec<u8>) {
    write(204, &[("Allow", methods)], None, out);
}

/// Writes a response: `{ status, headers, body }`.
fn write(status: u16, headers: &[(&str, &str)], body: Option<&[u8]>, out: &mut Vec<u8>) {
    let mut response = Object::new(out);
    response.number("status", status.into());
    json::list(headers, response.key("headers"), |(name, value), out| {
        json::list(&[*name, *value], out, |text, out| {
            json::string(text.as_bytes(), out);
        });
    });
    match body {
        Some(body) => json::string(body, response.key("body")),
        None => response.key("body").extend_from_slice(b"null"),
    }
    response.end();
}

impl Refusal {
    /// A refusal of this code, with this message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            error: Error::new(code, message),
            exists: None,
            header: None,
        }
    }

    /// With the names that would have been accepted.
    #[must_use]
    pub fn with_names(self, key: &'static str, names: Vec<String>) -> Self {
        let exists = Some((key, names));
        Self { exists, ..self }
    }

    /// With a header.
    #[must_use]
    pub fn with_header(self, name: &'static str, value: &'static str) -> Self {
        let header = Some((name, value));
        Self { header, ..self }
    }

    /// Writes the answer: `{ "error": { code, message, … } }`.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        let mut root = Object::new(&mut body);
        let mut error = Object::new(root.key("error"));
        error.text("code", self.error.code.as_str());
        error.text("message", &self.error.message);
        if let Some((key, names)) = &self.exists {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            error.texts(key, &names);
        }
        error.end();
        root.end();
        let mut headers = vec![
            ("Content-Type", "application/json"),
            ("Cache-Control", "no-store"),
            ("X-Accel-Buffering", "no"),
        ];
        headers.extend(self.header);
        write(self.error.code.status(), &headers, Some(&body), out);
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self {
            error,
            exists: None,
            header: None,
        }
    }
}
