//! JSON as values.

use super::fault::Fault;
use super::value::{Limits, MAX_VALUE_DEPTH, Value};

/// The value of a document, or nothing where the text is none.
///
/// Numbers are floats as the language has them; or exact, where the database's own are meant: integers of 64
/// bits, and decimals.
pub fn parse(text: &str, is_exact: bool, limits: &mut Limits) -> Result<Option<Value>, Fault> {
    limits.scan(text.len())?;
    let mut reader = Reader {
        rest: text,
        is_exact,
        limits,
    };
    let value = reader.value(0)?;
    reader.space();
    Ok(value.filter(|_| reader.rest.is_empty()))
}

struct Reader<'a, 'l> {
    rest: &'a str,
    is_exact: bool,
    limits: &'l mut Limits,
}

impl Reader<'_, '_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Takes a sign or a word, after any space.
    fn take(&mut self, word: &str) -> bool {
        self.space();
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self, depth: u16) -> Result<Option<Value>, Fault> {
        self.limits.step(1)?;
        if depth > MAX_VALUE_DEPTH {
            return Err(Fault::failed("this JSON is too deep"));
        }
        self.space();
        Ok(match self.rest.bytes().next() {
            Some(b'"') => match self.string() {
                Some(text) => Some(self.limits.text(&text)?),
                None => None,
            },
            Some(b'{') => return self.object(depth),
            Some(b'[') => return self.array(depth),
            Some(b't') => self.take("true").then_some(Value::Bool(true)),
            Some(b'f') => self.take("false").then_some(Value::Bool(false)),
            Some(b'n') => self.take("null").then_some(Value::Nil),
            _ => self.number(),
        })
    }

    fn array(&mut self, depth: u16) -> Result<Option<Value>, Fault> {
        self.take("[");
        let mut items = Vec::new();
        if self.take("]") {
            return self.limits.array(items).map(Some);
        }
        loop {
            let Some(item) = self.value(depth + 1)? else {
                return Ok(None);
            };
            items.push(item);
            if self.take("]") {
                return self.limits.array(items).map(Some);
            }
            if !self.take(",") {
                return Ok(None);
            }
        }
    }

    fn object(&mut self, depth: u16) -> Result<Option<Value>, Fault> {
        self.take("{");
        let mut pairs = Vec::new();
        if self.take("}") {
            return self.limits.map(&pairs).map(Some);
        }
        loop {
            self.space();
            let Some(key) = self.string() else {
                return Ok(None);
            };
            let key = self.limits.text(&key)?;
            if !self.take(":") {
                return Ok(None);
            }
            let Some(value) = self.value(depth + 1)? else {
                return Ok(None);
            };
            pairs.push((key, value));
            if self.take("}") {
                return self.limits.map(&pairs).map(Some);
            }
            if !self.take(",") {
                return Ok(None);
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let mut rest = self.rest.strip_prefix('"')?;
        let mut out = String::new();
        loop {
            let end = rest.find(|letter: char| letter == '"' || letter == '\\' || letter < ' ')?;
            out.push_str(rest.get(..end)?);
            let kind = rest.get(end..)?;
            if let Some(after) = kind.strip_prefix('"') {
                self.rest = after;
                return Some(out);
            }
            let escape = kind.strip_prefix('\\')?;
            rest = escape.get(1..)?;
            out.push(match escape.bytes().next()? {
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                plain @ (b'"' | b'\\' | b'/') => char::from(plain),
                b'u' => unit(&mut rest)?,
                _ => return None,
            });
        }
    }

    fn number(&mut self) -> Option<Value> {
        let end = self
            .rest
            .find(|letter: char| !letter.is_ascii_digit() && !"+-.eE".contains(letter));
        let (text, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        let digits = text.strip_prefix('-').unwrap_or(text);
        let has_zero =
            digits.starts_with('0') && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if has_zero
            || !digits.starts_with(|letter: char| letter.is_ascii_digit())
            || text.ends_with('.')
            || text.contains(".e")
            || text.contains(".E")
        {
            return None;
        }
        self.rest = rest;
        let float = text.parse::<f64>().ok()?;
        if !self.is_exact {
            return float.is_finite().then_some(Value::Float(float));
        }
        if let Ok(int) = text.parse() {
            return Some(Value::Int(int));
        }
        // Up to fifteen digits a float says what the text says.
        let is_short = text.len() <= 16 && !text.contains(['e', 'E']);
        Some(if is_short {
            Value::Float(float)
        } else {
            Value::Decimal(text.into())
        })
    }
}

/// The character of four hex digits, or of two pairs of them where the first is half of one.
fn unit(rest: &mut &str) -> Option<char> {
    let take = |rest: &mut &str| {
        let digits = rest
            .get(..4)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        let number = u32::from_str_radix(digits, 16).ok()?;
        *rest = rest.get(4..)?;
        Some(number)
    };
    let first = take(rest)?;
    if (0xd800..0xdc00).contains(&first)
        && let Some(mut tail) = rest.strip_prefix("\\u")
        && let Some(second @ 0xdc00..=0xdfff) = take(&mut tail)
    {
        *rest = tail;
        return char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00));
    }
    Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
}
