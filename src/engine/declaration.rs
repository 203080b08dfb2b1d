//! What a subscription declares of itself.

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Code, Error};
use crate::feed::Since;
use crate::selector::Selector;

/// A subscription, as it is asked for.
#[derive(Debug)]
pub(crate) struct Declaration {
    /// Which relations.
    pub(crate) selector: Selector,
    /// From where.
    pub(crate) since: Since,
    /// Whether it had begun before, under an engine that stopped: what it names may be gone since.
    pub(crate) resumes: bool,
}

impl Declaration {
    /// Reads the payload of `Subscribe`.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Declared {
            selector: Value,
            since: Value,
            #[serde(default)]
            resumes: bool,
        }
        let declared: Declared = serde_json::from_slice(payload)
            .map_err(|error| Error::new(Code::BadOptions, error.to_string()))?;
        Ok(Self {
            selector: Selector::parse(&declared.selector)?,
            since: parse_since(&declared.since)?,
            resumes: declared.resumes,
        })
    }
}

fn parse_since(since: &Value) -> Result<Since, Error> {
    match (since.as_str(), since.as_u64()) {
        (Some("now"), _) => Ok(Since::Now),
        (Some("start"), _) => Ok(Since::Start),
        (_, Some(seq)) => Ok(Since::Seq(seq)),
        (_, None) => Err(Error::new(
            Code::BadSince,
            format!("since is {since}; it may be 'now', 'start' or the seq of a commit"),
        )),
    }
}
