//! Splits a SQL script into its statements and says what kind each is.
//!
//! SQL is not parsed: the lexer below knows where quotes and comments end, and the first words of
//! a statement tell the rest. What is malformed runs to the end of the text in one statement, so
//! that the error is the database's own. Linear in the text, whatever it holds.
//!
//! Postgres is read as with `standard_conforming_strings = on`, its default.

mod lexer;

use std::mem;

use lexer::{Shape, Token, Tokens};

/// Whose SQL a script is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Postgres, PGlite included.
    Postgres,
    /// SQLite, Durable Objects included.
    Sqlite,
}

/// One statement of a script, as bytes `start..end` of its text.
///
/// Neither the semicolon nor the white space and comments around the statement belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Statement {
    /// Where its first token begins.
    pub start: usize,
    /// Where its last token ends.
    pub end: usize,
    /// What it does to the transaction and the schema.
    pub kind: Kind,
}

impl Statement {
    /// Its text within the script it was split from.
    pub fn text<'a>(&self, script: &'a str) -> &'a str {
        script.get(self.start..self.end).unwrap_or_default()
    }
}

/// What a statement does, as far as its text can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Fails, or is silently ignored, within a transaction block, at least in its plain form.
    ///
    /// Forms barred only for some objects (`REINDEX` and `CLUSTER` of a partitioned table, `CALL`
    /// of a procedure that commits) are not of this kind, since a block is what keeps the others
    /// atomic. A statement of this kind may also change the schema.
    Alone,
    /// Begins a transaction.
    Begin,
    /// Commits the transaction.
    Commit {
        /// Whether the next one begins at once (`AND CHAIN`).
        chain: bool,
    },
    /// Everything else; whatever calls code (`CALL`, `DO`, `EXECUTE`) may do anything at all.
    Other,
    /// Hands the transaction over to a later `COMMIT PREPARED`.
    Prepare,
    /// Writes nothing by itself. A hint and no promise: the functions it calls may write.
    Read,
    /// Rolls the whole transaction back.
    Rollback {
        /// Whether the next one begins at once (`AND CHAIN`).
        chain: bool,
    },
    /// `SAVEPOINT`, `RELEASE` or `ROLLBACK TO`: the transaction goes on.
    ///
    /// In SQLite a savepoint outside a transaction opens one.
    Savepoint,
    /// May change a relation's definition or triggers, or its rows past the triggers (`REFRESH`):
    /// every `CREATE`, `ALTER` and `DROP`, since many cascade, and `SELECT … INTO`.
    Schema,
}

impl Kind {
    /// Whether it begins or ends a transaction.
    pub fn is_control(self) -> bool {
        match self {
            Self::Begin | Self::Commit { .. } | Self::Prepare | Self::Rollback { .. } => true,
            Self::Alone | Self::Other | Self::Read | Self::Savepoint | Self::Schema => false,
        }
    }
}

/// The statements of a script, in order. Empty ones are dropped.
pub fn split(script: &str, dialect: Dialect) -> Vec<Statement> {
    let upper = script.to_ascii_uppercase();
    let mut statements = Vec::new();
    let mut open: Option<Open<'_>> = None;
    for token in Tokens::new(script, &upper, dialect) {
        if token.upper == ";" && open.as_ref().is_none_or(Open::can_end) {
            statements.extend(open.take().map(Open::end));
        } else {
            open.get_or_insert_with(|| Open::new(token.start, dialect))
                .take(&token);
        }
    }
    statements.extend(open.map(Open::end));
    statements
}

/// The first statement that would begin or end a transaction, which is refused where the
/// transaction is not the script's own. Savepoints are nobody's concern.
pub fn first_control(statements: &[Statement]) -> Option<&Statement> {
    statements.iter().find(|s| s.kind.is_control())
}

/// How many tokens the longest telling beginning of a statement can have:
/// `ALTER TABLE IF EXISTS ONLY a.b.c DETACH PARTITION a.b.c CONCURRENTLY`.
const HEAD: usize = 18;

/// The statement being read.
///
/// Its body needs no count of `CASE … END`: inside one, every statement ends in a semicolon, so
/// an `END` that begins a statement closes the body, and no other does. (`end` may name a column.)
struct Open<'a> {
    dialect: Dialect,
    start: usize,
    end: usize,
    /// The first tokens, at most `HEAD`.
    head: Vec<&'a str>,
    /// The latest token, or the semicolon that an opening body is as good as.
    before: &'a str,
    /// Counted in Postgres, which has semicolons in them: `CREATE RULE … DO (a; b)`.
    brackets: usize,
    /// `CREATE FUNCTION` or `PROCEDURE`, where alone `BEGIN ATOMIC` opens a body.
    is_routine: bool,
    /// Open bodies: of a trigger in SQLite, of `BEGIN ATOMIC` in Postgres.
    bodies: usize,
    /// What its words make of it if it is a query: `Read`, `Other` or `Schema`.
    query: Kind,
    has_analyze: bool,
}

impl<'a> Open<'a> {
    fn new(start: usize, dialect: Dialect) -> Self {
        Self {
            dialect,
            start,
            end: start,
            head: Vec::new(),
            before: "",
            brackets: 0,
            is_routine: false,
            bodies: 0,
            query: Kind::Read,
            has_analyze: false,
        }
    }

    fn can_end(&self) -> bool {
        self.bodies == 0 && self.brackets == 0
    }

    fn end(self) -> Statement {
        Statement {
            start: self.start,
            end: self.end,
            kind: self.kind(),
        }
    }

    fn take(&mut self, token: &Token<'a>) {
        self.end = token.end;
        let before = mem::replace(&mut self.before, token.upper);
        if self.head.len() < HEAD {
            self.head.push(token.upper);
            self.take_head();
        }
        match token.shape {
            Shape::Mark if self.dialect == Dialect::Postgres => match token.upper {
                "(" => self.brackets += 1,
                ")" => self.brackets = self.brackets.saturating_sub(1),
                _ => {}
            },
            Shape::Word => self.take_word(token.upper, before),
            Shape::Mark | Shape::Quoted | Shape::Value => {}
        }
    }

    /// Runs at each token of the head, so every pattern fits once at most.
    fn take_head(&mut self) {
        let head = match self.head.as_slice() {
            ["EXPLAIN", "QUERY", "PLAN", rest @ ..] | ["EXPLAIN", rest @ ..] => rest,
            head => head,
        };
        match (self.dialect, head) {
            (
                Dialect::Postgres,
                ["CREATE", "FUNCTION" | "PROCEDURE"]
                | ["CREATE", "OR", "REPLACE", "FUNCTION" | "PROCEDURE"],
            ) => self.is_routine = true,
            (
                Dialect::Sqlite,
                ["CREATE", "TRIGGER"] | ["CREATE", "TEMP" | "TEMPORARY", "TRIGGER"],
            ) => self.bodies = 1,
            _ => {}
        }
    }

    fn take_word(&mut self, word: &str, before: &str) {
        match word {
            "ATOMIC" if before == "BEGIN" && self.is_routine && self.brackets == 0 => {
                self.bodies += 1;
                // Since a body can be empty: `BEGIN ATOMIC END`.
                self.before = ";";
            }
            "END" if before == ";" && self.brackets == 0 => {
                self.bodies = self.bodies.saturating_sub(1);
            }
            "ANALYSE" | "ANALYZE" => self.has_analyze = true,
            "INTO" if !matches!(before, "INSERT" | "MERGE") => self.query = Kind::Schema,
            // `SHARE` as in `FOR SHARE`, whose row locks are writes.
            "DELETE" | "INSERT" | "MERGE" | "SHARE" | "UPDATE" if self.query == Kind::Read => {
                self.query = Kind::Other;
            }
            _ => {}
        }
    }

    fn kind(&self) -> Kind {
        match self.head.as_slice() {
            ["BEGIN", ..] => Kind::Begin,
            ["COMMIT" | "ROLLBACK", "PREPARED", ..] | ["VACUUM", ..] => Kind::Alone,
            ["COMMIT" | "END", rest @ ..] => Kind::Commit {
                chain: rest.ends_with(&["AND", "CHAIN"]),
            },
            ["SAVEPOINT" | "RELEASE", ..]
            | ["ROLLBACK", "TO", ..]
            | ["ROLLBACK", "TRANSACTION" | "WORK", "TO", ..]
            // SQLite takes a name here, and ignores it.
            | ["ROLLBACK", "TRANSACTION", _, "TO", ..] => Kind::Savepoint,
            ["ROLLBACK", rest @ ..] => Kind::Rollback {
                chain: rest.ends_with(&["AND", "CHAIN"]),
            },
            head => match self.dialect {
                Dialect::Postgres => self.postgres_kind(head),
                Dialect::Sqlite => self.sqlite_kind(head),
            },
        }
    }

    fn postgres_kind(&self, head: &[&str]) -> Kind {
        match head {
            ["START", "TRANSACTION", ..] => Kind::Begin,
            ["ABORT", rest @ ..] => Kind::Rollback {
                chain: rest.ends_with(&["AND", "CHAIN"]),
            },
            // A statement prepared under the name `transaction`.
            ["PREPARE", "TRANSACTION", "AS" | "(", ..] => Kind::Other,
            ["PREPARE", "TRANSACTION", ..] => Kind::Prepare,
            [
                "CREATE" | "DROP",
                "DATABASE" | "SUBSCRIPTION" | "TABLESPACE",
                ..,
            ]
            | ["CREATE" | "DROP", "INDEX", "CONCURRENTLY", ..]
            | ["CREATE", "UNIQUE", "INDEX", "CONCURRENTLY", ..]
            | ["ALTER", "DATABASE", _, "SET", "TABLESPACE", ..]
            | ["ALTER", "SUBSCRIPTION", _, "REFRESH", ..]
            | [
                "ALTER",
                "SUBSCRIPTION",
                _,
                "ADD" | "DROP" | "SET",
                "PUBLICATION",
                ..,
            ]
            | ["ALTER", "SYSTEM", ..]
            | ["ALTER", "TABLE", .., "CONCURRENTLY"]
            | ["CLUSTER"]
            | ["CLUSTER", "VERBOSE"]
            | ["CLUSTER", "(", .., ")"]
            | ["DISCARD", "ALL"] => Kind::Alone,
            ["REINDEX", rest @ ..] if reindexes_apart(rest) => Kind::Alone,
            ["ALTER", "SUBSCRIPTION", _, "SET", "(", options @ ..]
                if options.contains(&"FAILOVER") || options.contains(&"TWO_PHASE") =>
            {
                Kind::Alone
            }
            ["ALTER" | "CREATE" | "DROP" | "REFRESH", ..] | ["IMPORT", "FOREIGN", ..] => {
                Kind::Schema
            }
            ["EXPLAIN", ..] if self.has_analyze => Kind::Other,
            ["EXPLAIN" | "SHOW", ..] => Kind::Read,
            ["SELECT" | "TABLE" | "VALUES" | "WITH" | "(", ..] => self.query,
            _ => Kind::Other,
        }
    }

    fn sqlite_kind(&self, head: &[&str]) -> Kind {
        match head {
            // Fails once its database was touched by the transaction.
            ["DETACH", ..] => Kind::Alone,
            ["PRAGMA", _, ".", name, value @ ..] | ["PRAGMA", name, value @ ..] => {
                pragma_kind(name, !value.is_empty())
            }
            ["ALTER" | "CREATE" | "DROP", ..] => Kind::Schema,
            // Some pragmas take effect when they are compiled.
            ["EXPLAIN", "PRAGMA", ..] | ["EXPLAIN", "QUERY", "PLAN", "PRAGMA", ..] => Kind::Other,
            ["EXPLAIN", ..] => Kind::Read,
            // An `INTO` here can only be that of `WITH … REPLACE INTO`, which writes.
            ["SELECT" | "VALUES" | "WITH", ..] if self.query == Kind::Read => Kind::Read,
            _ => Kind::Other,
        }
    }
}

/// Whether a `REINDEX` commits between its indexes.
fn reindexes_apart(rest: &[&str]) -> bool {
    let target = match rest {
        ["(", options @ ..] => options.iter().skip_while(|word| **word != ")").nth(1),
        _ => rest.first(),
    };
    rest.contains(&"CONCURRENTLY") || matches!(target, Some(&("DATABASE" | "SCHEMA" | "SYSTEM")))
}

/// What the documentation says of a pragma, by whether it is given a value.
fn pragma_kind(name: &str, has_value: bool) -> Kind {
    match name.trim_matches(['"', '\'', '`', '[', ']']) {
        "WAL_CHECKPOINT" => Kind::Alone,
        // Inside a transaction the first two change nothing and say nothing; the others fail.
        "FOREIGN_KEYS" | "JOURNAL_MODE" | "SYNCHRONOUS" | "TEMP_STORE" | "TEMP_STORE_DIRECTORY" => {
            if has_value {
                Kind::Alone
            } else {
                Kind::Read
            }
        }
        "COLLATION_LIST" | "COMPILE_OPTIONS" | "DATABASE_LIST" | "DATA_VERSION"
        | "FOREIGN_KEY_CHECK" | "FOREIGN_KEY_LIST" | "FREELIST_COUNT" | "FUNCTION_LIST"
        | "INDEX_INFO" | "INDEX_LIST" | "INDEX_XINFO" | "INTEGRITY_CHECK" | "MODULE_LIST"
        | "PAGE_COUNT" | "PRAGMA_LIST" | "QUICK_CHECK" | "TABLE_INFO" | "TABLE_LIST"
        | "TABLE_XINFO" => Kind::Read,
        _ => Kind::Other,
    }
}
