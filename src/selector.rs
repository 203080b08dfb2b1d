//! Which relations a subscription asks for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::error::{Code, Error};

const FORMS: &str = "a selector is '*', { namespace: 'table' | ['table', …] } \
    or [{ namespace: 'public', name: 'users' }, …]";

/// The relations asked for: a map from namespaces to tables, each a name, a pattern or an exclusion.
///
/// A pattern holds `%` and means what it means to SQL's LIKE; `*` is everything; a leading `!` excludes,
/// and an exclusion wins over whatever else matches. A list of nothing but exclusions includes the rest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Selector {
    namespaces: BTreeMap<String, Vec<String>>,
}

impl Selector {
    /// The selector that JavaScript handed over, in any of its forms.
    pub fn parse(value: &Value) -> Result<Self, Error> {
        let mut selector = Self {
            namespaces: BTreeMap::new(),
        };
        match value {
            Value::String(all) if all == "*" => selector.add("*", "*"),
            Value::Object(map) if !map.is_empty() => {
                for (namespace, tables) in map {
                    selector.add_tables(name(namespace)?, tables, &format!("'{namespace}'"))?;
                }
            }
            Value::Array(list) if !list.is_empty() => {
                for (index, item) in list.iter().enumerate() {
                    selector.add_item(item, index)?;
                }
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => return Err(bad(&format!("{value} is no selector; {FORMS}"))),
        }
        for tables in selector.namespaces.values_mut() {
            tables.sort_unstable();
            tables.dedup();
        }
        Ok(selector)
    }

    fn add(&mut self, namespace: &str, table: &str) {
        self.namespaces
            .entry(namespace.to_owned())
            .or_default()
            .push(table.to_owned());
    }

    fn add_tables(&mut self, namespace: &str, tables: &Value, at: &str) -> Result<(), Error> {
        match tables {
            Value::String(table) => self.add(namespace, name(table)?),
            Value::Array(list) if !list.is_empty() => {
                for table in list {
                    let Value::String(table) = table else {
                        return Err(bad(&format!("{table} at {at} is no table name; {FORMS}")));
                    };
                    self.add(namespace, name(table)?);
                }
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => {
                return Err(bad(&format!("{tables} at {at} names no tables; {FORMS}")));
            }
        }
        Ok(())
    }

    fn add_item(&mut self, item: &Value, index: usize) -> Result<(), Error> {
        let refuse = || bad(&format!("{item} at index {index} is no relation; {FORMS}"));
        let map = item.as_object().ok_or_else(refuse)?;
        let namespace = map
            .get("namespace")
            .and_then(Value::as_str)
            .ok_or_else(refuse)?;
        if map.keys().any(|key| key != "namespace" && key != "name") {
            return Err(refuse());
        }
        match map.get("name") {
            None => self.add(name(namespace)?, "*"),
            Some(tables) => {
                self.add_tables(name(namespace)?, tables, &format!("index {index}"))?;
            }
        }
        Ok(())
    }

    /// Whether a relation is among those asked for.
    pub fn matches(&self, namespace: &str, table: &str) -> bool {
        let excluded = |pattern: &str| {
            pattern
                .strip_prefix('!')
                .is_some_and(|excluded| like(excluded, namespace))
        };
        if self.namespaces.keys().any(|pattern| excluded(pattern)) {
            return false;
        }
        // Nothing but exclusions includes the rest, as within a list of tables.
        let includes_rest = self
            .namespaces
            .keys()
            .all(|pattern| pattern.starts_with('!'));
        self.namespaces
            .iter()
            .filter(|(pattern, _)| includes_rest || like(pattern, namespace))
            .any(|(_, tables)| among(tables, table))
    }

    /// The relations asked for by their very names, which therefore must exist.
    pub fn named(&self) -> impl Iterator<Item = (&str, &str)> {
        self.namespaces
            .iter()
            .filter(|(namespace, _)| is_literal(namespace))
            .flat_map(|(namespace, tables)| {
                tables
                    .iter()
                    .filter(|table| is_literal(table))
                    .map(move |table| (namespace.as_str(), table.as_str()))
            })
    }

    /// One text for all selectors that ask for the same in the same words.
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        for (namespace, tables) in &self.namespaces {
            // Writing to a String cannot fail.
            let _ = write!(text, "{namespace:?}:{tables:?};");
        }
        text
    }
}

fn bad(message: &str) -> Error {
    Error::new(Code::BadSelector, message)
}

fn name(text: &str) -> Result<&str, Error> {
    match text {
        "" | "!" => Err(bad(&format!("an empty name is no relation's; {FORMS}"))),
        name => Ok(name),
    }
}

fn is_literal(pattern: &str) -> bool {
    pattern != "*" && !pattern.starts_with('!') && !pattern.contains('%')
}

/// Whether a list of names, patterns and exclusions lets a table through.
fn among(tables: &[String], table: &str) -> bool {
    let mut includes = tables
        .iter()
        .filter(|pattern| !pattern.starts_with('!'))
        .peekable();
    let included = includes.peek().is_none() || includes.any(|pattern| like(pattern, table));
    let mut excludes = tables
        .iter()
        .filter_map(|pattern| pattern.strip_prefix('!'));
    included && !excludes.any(|pattern| like(pattern, table))
}

/// SQL's LIKE where the pattern holds `%`, equality where it does not: `user_id` is a name, and its `_`
/// stands for itself.
fn like(pattern: &str, text: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    if !pattern.contains('%') {
        return pattern == text;
    }
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // Where to go on when a character fails: after the last `%`, having let it take one more.
    let mut retry: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let mut rest = pattern.clone();
        match (rest.next(), text.clone().next()) {
            (Some('%'), _) => {
                pattern = rest;
                retry = Some((pattern.clone(), text.clone()));
                continue;
            }
            (Some(wanted), Some(found)) if wanted == '_' || wanted == found => {
                pattern = rest;
                text.next();
                continue;
            }
            (None, None) => return true,
            (Some(_), _) | (None, Some(_)) => {}
        }
        let Some((after, mut from)) = retry.take() else {
            return false;
        };
        if from.next().is_none() {
            return false;
        }
        pattern = after.clone();
        text = from.clone();
        retry = Some((after, from));
    }
}
