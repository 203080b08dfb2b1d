//! What one reading of the log brought, as slices of the bytes it came in.
//!
//! The form is PostgreSQL's answer to a simple query of three selects: the log's own state, relation
//! versions, log rows. See "Message Formats" in its manual: `D` is a row, `C` ends a select, `E` is an
//! error, `Z` ends the answer with the state of the transaction.

use serde_json::Value;

use crate::error::{Code, Error};
use crate::feed::Feed;
use crate::row::{Column, Kind, Relation};

/// One reading of the log.
#[derive(Debug)]
pub struct Reading<'a> {
    /// What the log says of itself.
    pub feed: Feed,
    /// Relation versions not seen before.
    pub relations: Vec<Relation>,
    /// Rows of the log, in order.
    pub rows: Vec<LogRow<'a>>,
    /// Whether nobody's transaction was open: within one, a reading may show what is never committed.
    pub settled: bool,
}

/// One row of the log.
#[derive(Clone, Copy, Debug)]
pub struct LogRow<'a> {
    /// The entry's number.
    pub seq: u64,
    /// The transaction it belongs to.
    pub tx: u64,
    /// When it was logged: milliseconds since 1970, never less than its predecessor's.
    pub time_ms: u64,
    /// The relation version that names its cells.
    pub relation: u32,
    /// `i`, `u`, `d` or `t`.
    pub op: u8,
    /// The row before, as record text. Nobody has looked yet whether it is any.
    pub old: Option<&'a [u8]>,
    /// The row after, as record text.
    pub new: Option<&'a [u8]>,
    /// The message's body, from which `LogRow::parse` makes this row again.
    pub body: &'a [u8],
}

impl<'a> Reading<'a> {
    /// Reads the answer whole.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut feed = None;
        let mut relations = Vec::new();
        let mut rows = Vec::new();
        let mut select = 0;
        let mut refused = None;
        for message in Messages(bytes) {
            let (tag, body) = message?;
            match (tag, select) {
                (b'D', 0) => feed = Some(parse_feed(body)?),
                (b'D', 1) => relations.push(parse_relation(body)?),
                (b'D', _) => rows.push(LogRow::parse(body)?),
                (b'C', _) => select += 1,
                (b'E', _) => refused = Some(server_message(body)),
                (b'Z', _) => {
                    let settled = body == b"I";
                    // Within somebody's failed transaction nothing can be read, and nothing is wrong.
                    if let Some(message) = refused.filter(|_| settled) {
                        return Err(Error::new(Code::LogUnreadable, message));
                    }
                    let feed = match feed {
                        Some(feed) => feed,
                        None if settled => {
                            return Err(corrupt("an answer without the log's state"));
                        }
                        None => Feed::default(),
                    };
                    return Ok(Self {
                        feed,
                        relations,
                        rows,
                        settled,
                    });
                }
                // Descriptions, notices and notifications tell us nothing we do not know.
                _ => {}
            }
        }
        Err(corrupt("an answer without an end"))
    }
}

impl<'a> LogRow<'a> {
    /// Reads the body of one row message.
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let mut values = Values::new(body)?;
        Ok(Self {
            seq: values.number()?,
            tx: values.number()?,
            time_ms: values.number()?,
            relation: values.small_number()?,
            op: values.bytes()?.first().copied().unwrap_or(0),
            old: values.optional()?,
            new: values.optional()?,
            body,
        })
    }
}

fn parse_feed(body: &[u8]) -> Result<Feed, Error> {
    let mut values = Values::new(body)?;
    Ok(Feed {
        epoch: values.text()?.to_owned(),
        oldest: values.number()?,
        head: values.number()?,
        time_ms: values.number()?,
    })
}

fn parse_relation(body: &[u8]) -> Result<Relation, Error> {
    let mut values = Values::new(body)?;
    let (id, table) = (values.small_number()?, values.small_number()?);
    let (namespace, name) = (values.text()?.to_owned(), values.text()?.to_owned());
    let texts = |list: Vec<Value>| {
        let texts = list.iter().map(|it| it.as_str().map(str::to_owned));
        texts.collect::<Option<Vec<String>>>()
    };
    let not_columns = || corrupt("a relation whose columns are not JSON");
    let key_columns = texts(json(values.text()?)?).ok_or_else(not_columns)?;
    let columns = json(values.text()?)?;
    Ok(Relation {
        id,
        table,
        namespace,
        name,
        key_columns,
        columns: columns
            .iter()
            .map(column)
            .collect::<Option<_>>()
            .ok_or_else(not_columns)?,
        dropped: values.text()? == "t",
    })
}

fn column(declared: &Value) -> Option<Column> {
    Some(Column {
        kind: Kind::of_postgres(declared.get("type")?.as_str()?),
        name: declared.get("name")?.as_str()?.to_owned(),
        unsent: declared.get("unsent").is_some_and(|it| *it == true),
    })
}

fn json(text: &str) -> Result<Vec<Value>, Error> {
    match serde_json::from_str(text) {
        Ok(Value::Array(list)) => Ok(list),
        _ => Err(corrupt("a relation whose columns are not JSON")),
    }
}

fn corrupt(what: &str) -> Error {
    Error::new(Code::LogCorrupt, format!("reading the log brought {what}"))
}

/// The messages of an answer: a tag, and a body behind four bytes of length.
struct Messages<'a>(&'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = Result<(u8, &'a [u8]), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (&tag, rest) = self.0.split_first()?;
        let cut = || {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            let length = usize::try_from(u32::from_be_bytes(*length))
                .ok()?
                .checked_sub(4)?;
            rest.split_at_checked(length)
        };
        let Some((body, rest)) = cut() else {
            self.0 = &[];
            return Some(Err(corrupt("a message cut short")));
        };
        self.0 = rest;
        Some(Ok((tag, body)))
    }
}

/// The values of one row message, all in text form.
struct Values<'a>(&'a [u8]);

impl<'a> Values<'a> {
    fn new(body: &'a [u8]) -> Result<Self, Error> {
        // The count of values comes first; whoever asks for one too many finds the body at its end.
        body.get(2..)
            .map(Self)
            .ok_or_else(|| corrupt("a row without values"))
    }

    fn optional(&mut self) -> Result<Option<&'a [u8]>, Error> {
        let short = || corrupt("a row with too few values");
        let (length, rest) = self.0.split_first_chunk::<4>().ok_or_else(short)?;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            self.0 = rest;
            return Ok(None);
        };
        let (value, rest) = rest.split_at_checked(length).ok_or_else(short)?;
        self.0 = rest;
        Ok(Some(value))
    }

    fn bytes(&mut self) -> Result<&'a [u8], Error> {
        self.optional()?
            .ok_or_else(|| corrupt("null where a value must be"))
    }

    fn text(&mut self) -> Result<&'a str, Error> {
        std::str::from_utf8(self.bytes()?).map_err(|_| corrupt("text that is not UTF-8"))
    }

    /// A number of the log's own, which is never negative and always exact in JavaScript.
    fn number(&mut self) -> Result<u64, Error> {
        const MAX: u64 = (1 << 53) - 1;
        let digits = self.bytes()?;
        let number = digits.iter().try_fold(0_u64, |number, digit| {
            let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
            Some(number * 10 + u64::from(digit)).filter(|number| *number <= MAX)
        });
        number
            .filter(|_| !digits.is_empty())
            .ok_or_else(|| corrupt("text where a number must be"))
    }

    fn small_number(&mut self) -> Result<u32, Error> {
        u32::try_from(self.number()?).map_err(|_| corrupt("a number too large"))
    }
}

/// The text of an error message: its field `M`.
fn server_message(body: &[u8]) -> String {
    body.split(|&byte| byte == 0)
        .find_map(|field| field.strip_prefix(b"M"))
        .map_or_else(
            || "the database refused".to_owned(),
            |text| String::from_utf8_lossy(text).into_owned(),
        )
}
