//! What a subscription declares of itself.

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
        let declared: Value = serde_json::from_slice(payload)
            .map_err(|error| Error::new(Code::BadOptions, error.to_string()))?;
        let of = |key: &str| declared.get(key).unwrap_or(&Value::Null);
        Ok(Self {
            selector: Selector::parse(of("selector"))?,
            since: parse_since(of("since"))?,
            resumes: of("resumes") == true,
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
