//! A value within a schema, with its path: reading it collects what is wrong.

use std::cell::RefCell;

use serde_json::{Map, Value};

use super::Refusal;
use crate::error::Code;

/// Where refusals are collected.
pub(super) type Refusals = RefCell<Vec<Refusal>>;

/// A map of keys at some path.
pub(super) struct Node<'a> {
    pub(super) map: &'a Map<String, Value>,
    pub(super) path: String,
    pub(super) refusals: &'a Refusals,
}

/// The keys that a map may have.
pub(super) struct Keys<'a> {
    pub(super) supported: &'a [&'a str],
    /// Those of the format that are refused, each with what to do instead.
    pub(super) unsupported: &'a [(&'a str, &'a str)],
}

impl<'a> Node<'a> {
    /// The map that stands at a path; nothing, and a refusal, where something else does.
    pub(super) fn new(value: &'a Value, path: String, refusals: &'a Refusals) -> Option<Self> {
        let map = value.as_object();
        if map.is_none() {
            refuse(
                refusals,
                Code::BadValue,
                path.clone(),
                format!("{} is no map of keys", brief(value)),
            );
        }
        map.map(|map| Self {
            map,
            path,
            refusals,
        })
    }

    /// Refuses the keys that are none, with the nearest one that is.
    pub(super) fn check_keys(&self, keys: &Keys<'_>) {
        for key in self.map.keys() {
            if keys.supported.contains(&key.as_str()) {
                continue;
            }
            let unsupported = keys.unsupported.iter().find(|(name, _)| name == key);
            if let Some((_, remedy)) = unsupported {
                self.refuse(
                    Code::UnsupportedKey,
                    key,
                    format!("'{key}' is not supported: {remedy}"),
                );
                continue;
            }
            let known = keys
                .supported
                .iter()
                .chain(keys.unsupported.iter().map(|(name, _)| name));
            let message = match nearest(key, known.copied()) {
                Some(near) => format!("there is no key '{key}'; did you mean '{near}'?"),
                None => format!(
                    "there is no key '{key}'; the keys are {}",
                    keys.supported.join(", ")
                ),
            };
            self.refuse(Code::UnknownKey, key, message);
        }
    }

    /// Refuses what stands at a key.
    pub(super) fn refuse(&self, code: Code, key: &str, message: impl Into<String>) {
        refuse(self.refusals, code, self.at(key), message);
    }

    /// A text.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        let value = self.map.get(key)?;
        let text = value.as_str();
        if text.is_none() {
            self.refuse(Code::BadValue, key, format!("{} is no text", brief(value)));
        }
        text
    }

    /// A name: a text that is not empty and holds no control characters, which could end a line.
    pub(super) fn name(&self, key: &str) -> Option<&'a str> {
        let name = self.text(key)?;
        if name.is_empty() || name.chars().any(char::is_control) {
            let message = format!("{name:?} is no name: it is empty, or holds a control character");
            self.refuse(Code::BadValue, key, message);
            return None;
        }
        Some(name)
    }

    /// A name that must be given.
    pub(super) fn required_name(&self, key: &str) -> Option<&'a str> {
        if !self.map.contains_key(key) {
            self.refuse(Code::MissingKey, key, format!("'{key}' must be given"));
        }
        self.name(key)
    }

    /// Yes or no.
    pub(super) fn boolean(&self, key: &str) -> Option<bool> {
        let value = self.map.get(key)?;
        let boolean = value.as_bool();
        if boolean.is_none() {
            self.refuse(
                Code::BadValue,
                key,
                format!("{} is neither true nor false", brief(value)),
            );
        }
        boolean
    }

    /// One of several words.
    pub(super) fn word(&self, key: &str, words: &[&str]) -> Option<&'a str> {
        let word = self.text(key)?;
        self.check_word(self.at(key), word, words).then_some(word)
    }

    /// A list of some of several words, which is not empty.
    pub(super) fn words(&self, key: &str, words: &[&str]) -> Option<Vec<&'a str>> {
        let listed = self.list(key)?;
        if listed.is_empty() {
            self.refuse(
                Code::BadValue,
                key,
                format!("the list is empty; it may hold {}", words.join(", ")),
            );
        }
        let mut chosen = Vec::new();
        for (index, value) in listed.iter().enumerate() {
            let path = format!("{}[{index}]", self.at(key));
            let Some(word) = value.as_str() else {
                let message = format!("{} is none of {}", brief(value), words.join(", "));
                refuse(self.refusals, Code::BadValue, path, message);
                continue;
            };
            if chosen.contains(&word) {
                refuse(
                    self.refusals,
                    Code::BadValue,
                    path,
                    format!("'{word}' is listed twice"),
                );
            } else if self.check_word(path, word, words) {
                chosen.push(word);
            }
        }
        Some(chosen)
    }

    /// The maps of a list, each with its path.
    pub(super) fn nodes(&self, key: &str) -> Vec<Self> {
        let listed = self.list(key).into_iter().flatten().enumerate();
        listed
            .filter_map(|(index, value)| {
                Self::new(value, format!("{}[{index}]", self.at(key)), self.refusals)
            })
            .collect()
    }

    /// The map at a key.
    pub(super) fn node(&self, key: &str) -> Option<Self> {
        Self::new(self.map.get(key)?, self.at(key), self.refusals)
    }

    fn list(&self, key: &str) -> Option<&'a Vec<Value>> {
        let value = self.map.get(key)?;
        let list = value.as_array();
        if list.is_none() {
            self.refuse(Code::BadValue, key, format!("{} is no list", brief(value)));
        }
        list
    }

    fn check_word(&self, path: String, word: &str, words: &[&str]) -> bool {
        if words.contains(&word) {
            return true;
        }
        let message = match nearest(word, words.iter().copied()) {
            Some(near) => format!(
                "'{word}' is none of {}; did you mean '{near}'?",
                words.join(", ")
            ),
            None => format!("'{word}' is none of {}", words.join(", ")),
        };
        refuse(self.refusals, Code::BadValue, path, message);
        false
    }

    fn at(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }
}

/// Collects a refusal.
pub(super) fn refuse(refusals: &Refusals, code: Code, path: String, message: impl Into<String>) {
    let message = message.into();
    refusals.borrow_mut().push(Refusal {
        code,
        path,
        message,
    });
}

/// The word that somebody may have meant.
pub(super) fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    words
        .map(|it| (strsim::damerau_levenshtein(it, word), it))
        .filter(|(distance, it)| *distance <= it.len().max(word.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, it)| it)
}

/// A value as a message shows it: short, and nobody's whole document.
fn brief(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map of keys".to_owned(),
        Value::String(text) => format!("'{}'", text.chars().take(40).collect::<String>()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
