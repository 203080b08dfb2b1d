//! A row as its database wrote it: the version of a relation, and slices of the database's own text.

pub(crate) mod scan;

use std::rc::Rc;

/// One version of a relation's definition: the columns in force when a row was written.
///
/// A table that is altered gets a new version under a new `id`, so that a row from before the change
/// keeps the names it was written under.
#[derive(Debug)]
pub struct Relation {
    /// The version's number in its log; dense, from 1.
    pub id: u32,
    /// What stays the same across versions: the table's identity in its database.
    pub table: u32,
    /// The schema the relation lives in.
    pub namespace: String,
    /// The relation's name. A partition bears the name of the table it is a part of.
    pub name: String,
    /// The primary key's columns, in key order; empty where there is none.
    pub key_columns: Vec<String>,
    /// The columns in the order of a row's cells; empty once the table was dropped.
    pub columns: Vec<Column>,
    /// Whether this version says that the table is gone.
    pub dropped: bool,
}

/// One column of a relation.
#[derive(Debug)]
pub struct Column {
    /// Its name, exactly as declared.
    pub name: String,
    /// How its text is to be read.
    pub kind: Kind,
    /// Whether the database computes it on reading, so that a row's image never holds it.
    pub unsent: bool,
}

/// How the text of a cell is read. What has no kind of its own is text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// One value.
    Scalar(Scalar),
    /// A PostgreSQL array of values, in its text form.
    Array(Scalar),
}

/// The values that readers see as something else than a string.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scalar {
    /// `t` or `f`.
    Bool,
    /// Bytes, as `\x` and hex digits.
    Bytes,
    /// An exact decimal number, of which readers get the database's text.
    Decimal,
    /// A binary floating-point number.
    Float,
    /// An integer of at most 64 bits.
    Int,
    /// A JSON document.
    Json,
    /// Everything else: the database's text is the value.
    Text,
    /// A date or a point in time, of which readers get the database's text.
    Time,
}

impl Kind {
    /// The kind of a PostgreSQL type, by the name that `format_type` gives it without a modifier.
    pub fn of_postgres(name: &str) -> Self {
        match name.strip_suffix("[]") {
            // Boxes hold commas, so that arrays of them, alone among all, are divided by semicolons.
            Some("box") | None => Self::Scalar(Scalar::of_postgres(name)),
            Some(element) => Self::Array(Scalar::of_postgres(element)),
        }
    }
}

impl Scalar {
    fn of_postgres(name: &str) -> Self {
        match name {
            "boolean" => Self::Bool,
            "bytea" => Self::Bytes,
            "real" | "double precision" => Self::Float,
            "smallint" | "integer" | "bigint" | "oid" => Self::Int,
            "json" | "jsonb" => Self::Json,
            "numeric" => Self::Decimal,
            "date" | "timestamp without time zone" | "timestamp with time zone" => Self::Time,
            _ => Self::Text,
        }
    }
}

/// One value of a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cell<'a> {
    /// SQL's null.
    Null,
    /// Text, exactly the value's.
    Plain(&'a str),
    /// Text in which every `"` and `\` still stands twice, as within a quoted field of a record.
    Doubled(&'a str),
    /// The source did not send this column.
    Unsent,
}

/// A row: the relation version that names its cells, and the text they are slices of.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The definition in force when the row was written.
    pub relation: &'a Rc<Relation>,
    /// The row in PostgreSQL's record form: `(1,"a, b",)`.
    pub record: &'a str,
}

impl<'a> Row<'a> {
    /// The columns with their cells, in the relation's order.
    ///
    /// A record with fewer fields than columns gives `Unsent` for the rest; surplus fields are not shown.
    pub fn cells(&self) -> impl Iterator<Item = (&'a Column, Cell<'a>)> + use<'a> {
        let mut fields = Fields::new(self.record);
        self.relation.columns.iter().map(move |column| {
            let cell = fields.next().unwrap_or(Cell::Unsent);
            (column, if column.unsent { Cell::Unsent } else { cell })
        })
    }

    /// Whether the record is whole: parentheses around exactly one field for each column.
    pub fn is_whole(&self) -> bool {
        if self.relation.columns.is_empty() {
            // The same text as of a single null.
            return self.record == "()";
        }
        let mut fields = Fields::new(self.record);
        fields.by_ref().count() == self.relation.columns.len() && fields.ended
    }
}

/// The fields of a record's text, as `record_out` writes them.
///
/// The format is PostgreSQL's composite literal: fields divided by commas, an empty field is null, and a
/// field in quotes has its `"` and `\` doubled. See "Composite Type Input and Output Syntax" in its manual.
struct Fields<'a> {
    rest: &'a str,
    /// Whether the closing parenthesis was reached, with nothing after it.
    ended: bool,
    done: bool,
}

impl<'a> Fields<'a> {
    fn new(record: &'a str) -> Self {
        let rest = record.strip_prefix('(');
        Self {
            rest: rest.unwrap_or(""),
            ended: false,
            done: rest.is_none(),
        }
    }

    /// Takes the delimiter after a field: a comma goes on, the parenthesis ends.
    fn close(&mut self, after: &'a str) {
        if let Some(rest) = after.strip_prefix(',') {
            self.rest = rest;
        } else {
            self.done = true;
            self.ended = after == ")";
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Cell<'a>;

    fn next(&mut self) -> Option<Cell<'a>> {
        if self.done {
            return None;
        }
        if let Some(quoted) = self.rest.strip_prefix('"') {
            let (end, doubled) = closing_quote(quoted.as_bytes());
            let (text, after) = quoted.split_at_checked(end).unwrap_or((quoted, ""));
            self.close(after.get(1..).unwrap_or(""));
            return Some(if doubled {
                Cell::Doubled(text)
            } else {
                Cell::Plain(text)
            });
        }
        let end = scan::bare(self.rest.as_bytes());
        let (text, after) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.close(after);
        Some(if text.is_empty() {
            Cell::Null
        } else {
            Cell::Plain(text)
        })
    }
}

/// Where the quote that ends a quoted field stands, the text's end if it never comes; and whether any
/// quotes or backslashes come before it.
fn closing_quote(text: &[u8]) -> (usize, bool) {
    let mut doubled = false;
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        at += scan::plain(rest);
        match text.get(at..) {
            // Doubled quotes and backslashes are values, and so is whatever a lone backslash escapes.
            Some([b'"', b'"', ..] | [b'\\', ..]) => {
                doubled = true;
                at += 2;
            }
            Some([b'"', ..]) => return (at, doubled),
            Some([_control, ..]) => at += 1,
            Some([]) | None => return (text.len(), doubled),
        }
    }
}
