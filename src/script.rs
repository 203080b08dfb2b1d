//! What a host sends to the database for a script, or why it may not.

use crate::encode::json::Object;
use crate::error::{Code, Error};
use crate::record::{Out, Record};
use crate::sql::{self, Dialect, Kind, Statement};

/// What is sent for a script.
#[derive(Debug)]
struct Script<'a> {
    /// Whether it may leave a transaction open.
    opens: bool,
    /// What to send, one after the other.
    steps: Vec<&'a str>,
}

/// Answers for a script: one byte, 1 where it is to run inside a transaction body, then its text.
pub fn answer(id: u32, payload: &[u8], out: &mut Out) {
    let (within, text) = payload.split_first().unwrap_or((&0, &[]));
    let text = String::from_utf8_lossy(text);
    #[cfg(feature = "fault")]
    crate::fault::at_script(&text);
    let statements = sql::split(&text, Dialect::Postgres);
    match sql::first_control(&statements) {
        Some(control) if *within == 1 => {
            let error = refusal(control.text(&text));
            out.flagged(Record::Script, 1, id, 0, &[], |payload| {
                error.write(payload);
            });
        }
        _ => {
            let script = plan(&text, &statements);
            out.record(Record::Script, id, 0, &[], |payload| {
                let mut told = Object::new(payload);
                let opens: &[u8] = if script.opens { b"true" } else { b"false" };
                told.key("opens").extend_from_slice(opens);
                told.texts("steps", &script.steps).end();
            });
        }
    }
}

/// A script goes as it is, as one simple query, which PostgreSQL runs as one transaction. Only statements
/// that no transaction may hold are sent by themselves, unless the script begins transactions itself and so
/// says what belongs together.
fn plan<'a>(text: &'a str, statements: &[Statement]) -> Script<'a> {
    let opens = statements.iter().any(|statement| {
        matches!(
            statement.kind,
            Kind::Begin | Kind::Commit { chain: true } | Kind::Rollback { chain: true }
        )
    });
    let is_alone = |statement: &Statement| statement.kind == Kind::Alone;
    if opens || !statements.iter().any(is_alone) {
        let steps = vec![text];
        return Script { opens, steps };
    }
    let steps = statements
        .chunk_by(|a, b| !is_alone(a) && !is_alone(b))
        .filter_map(|group| text.get(group.first()?.start..group.last()?.end))
        .collect();
    Script { opens, steps }
}

fn refusal(statement: &str) -> Error {
    let words: String = statement.chars().take(40).collect();
    let message = format!(
        "'{words}' would begin or end a transaction inside a transaction body: let the body return to commit, \
         throw to roll back, or use savepoints within it"
    );
    Error::new(Code::TransactionControl, message)
}
