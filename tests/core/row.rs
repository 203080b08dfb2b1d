//! A record gives back the cells that the database wrote.

use std::rc::Rc;

use millstream::row::{Cell, Column, Kind, Relation, Row, Scalar};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::random::Rng;

/// A relation of text columns: `c0`, `c1` and on.
fn relation(n_columns: usize) -> Rc<Relation> {
    let column = |index| Column {
        name: format!("c{index}"),
        kind: Kind::Scalar(Scalar::Text),
        unsent: false,
    };
    Rc::new(Relation {
        id: 1,
        table: 1,
        namespace: "public".into(),
        name: "t".into(),
        key_columns: vec!["c0".into()],
        columns: (0..n_columns).map(column).collect(),
        dropped: false,
    })
}

fn check(record: &str, cells: &[Cell<'_>], is_whole: bool) {
    let relation = &relation(cells.len());
    let row = Row { relation, record };
    let found: Vec<_> = row.cells().map(|(_, cell)| cell).collect();
    assert_eq!(found, cells, "{record}");
    assert_eq!(row.is_whole(), is_whole, "{record}");
}

/// The record of these values, as PostgreSQL's `record_out` writes it.
fn record_out(values: &[Option<String>]) -> String {
    let is_special = |c: char| "\"\\(), \t\n\r\u{b}\u{c}".contains(c);
    let field = |value: &Option<String>| match value {
        None => String::new(),
        Some(text) if text.is_empty() || text.contains(is_special) => {
            format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\"\""))
        }
        Some(text) => text.clone(),
    };
    let fields: Vec<_> = values.iter().map(field).collect();
    format!("({})", fields.join(","))
}

/// A cell's value: what the reader of a row makes of it.
fn value(cell: Cell<'_>) -> Option<String> {
    match cell {
        Cell::Null | Cell::Unsent => None,
        Cell::Plain(text) => Some(text.into()),
        Cell::Doubled(text) => Some(text.replace("\"\"", "\"").replace(r"\\", "\\")),
    }
}

const ALPHABET: [&str; 14] = [
    "a", "0", "\"", "\\", "(", ")", ",", " ", "\n", "\t", "\u{b}", "é", "\u{2028}", "😀",
];

#[test]
fn random_rows_come_back_as_they_were_written() {
    let mut random = Rng::new(0x5eed_0001);
    for _ in 0..10_000 {
        let n_columns = random.index(6);
        let values: Vec<_> = (0..n_columns)
            .map(|_| (random.index(4) > 0).then(|| random.text(&ALPHABET, 8)))
            .collect();
        let record = record_out(&values);
        let relation = &relation(n_columns);
        let row = Row {
            relation,
            record: &record,
        };
        let found: Vec<_> = row.cells().map(|(_, cell)| value(cell)).collect();
        assert_eq!(found, values, "{record}");
        assert!(row.is_whole(), "{record}");
    }
}

#[test]
fn any_text_gives_every_column_a_cell() {
    let mut random = Rng::new(0x5eed_0002);
    for _ in 0..10_000 {
        let record = random.text(&ALPHABET, 24);
        let relation = &relation(random.index(6));
        let row = Row {
            relation,
            record: &record,
        };
        assert_eq!(row.cells().count(), relation.columns.len(), "{record}");
        row.is_whole();
    }
}

#[test]
fn null_and_the_empty_text_are_told_apart() {
    check(r#"(,"")"#, &[Cell::Null, Cell::Plain("")], true);
    check(r#"("",)"#, &[Cell::Plain(""), Cell::Null], true);
}

#[test]
fn null_and_texts_that_read_like_null_are_told_apart() {
    check(
        r"(,NULL,null)",
        &[Cell::Null, Cell::Plain("NULL"), Cell::Plain("null")],
        true,
    );
    check(r#"("\\N")"#, &[Cell::Doubled(r"\\N")], true);
}

#[test]
fn the_only_column_may_be_null() {
    check("()", &[Cell::Null], true);
}

#[test]
fn a_table_without_columns_has_rows() {
    check("()", &[], true);
    check("(1)", &[], false);
}

#[test]
fn delimiters_within_quotes_are_text() {
    check(
        r#"("a,b","(c)",d)"#,
        &["a,b", "(c)", "d"].map(Cell::Plain),
        true,
    );
}

#[test]
fn a_field_may_end_in_quotes_and_backslashes() {
    let cells = [r#"a"""#, r"b\\", r#""""#, r#"\\"""#].map(Cell::Doubled);
    check(r#"("a""","b\\","""","\\""")"#, &cells, true);
}

#[test]
fn columns_without_a_field_are_unsent() {
    check(
        "(1)",
        &[Cell::Plain("1"), Cell::Unsent, Cell::Unsent],
        false,
    );
    check("", &[Cell::Unsent], false);
}

#[test]
fn surplus_fields_are_not_shown() {
    check("(1,2,3)", &[Cell::Plain("1")], false);
}

#[test]
fn a_record_without_its_end_is_not_whole() {
    check("(1,2", &[Cell::Plain("1"), Cell::Plain("2")], false);
    check(r#"(1,"2"#, &[Cell::Plain("1"), Cell::Plain("2")], false);
    check("(1,2) ", &[Cell::Plain("1"), Cell::Plain("2")], false);
    check("1,2)", &[Cell::Unsent, Cell::Unsent], false);
}

#[test]
fn a_computed_column_is_unsent_and_those_after_it_are_not_moved() {
    let mut relation = relation(3);
    if let Some(column) = Rc::get_mut(&mut relation).and_then(|it| it.columns.get_mut(1)) {
        column.unsent = true;
    }
    let row = Row {
        relation: &relation,
        record: "(1,,3)",
    };
    let cells: Vec<_> = row.cells().map(|(_, cell)| cell).collect();
    assert_eq!(cells, [Cell::Plain("1"), Cell::Unsent, Cell::Plain("3")]);
}

#[test]
fn types_are_read_by_their_names() {
    let scalars = [
        ("boolean", Scalar::Bool),
        ("bytea", Scalar::Bytes),
        ("real", Scalar::Float),
        ("double precision", Scalar::Float),
        ("smallint", Scalar::Int),
        ("integer", Scalar::Int),
        ("bigint", Scalar::Int),
        ("oid", Scalar::Int),
        ("json", Scalar::Json),
        ("jsonb", Scalar::Json),
        ("numeric", Scalar::Decimal),
        ("timestamp with time zone", Scalar::Time),
        ("character varying", Scalar::Text),
    ];
    for (name, scalar) in scalars {
        assert_eq!(Kind::of_postgres(name), Kind::Scalar(scalar));
        assert_eq!(Kind::of_postgres(&format!("{name}[]")), Kind::Array(scalar));
    }
}

#[test]
fn arrays_that_semicolons_divide_are_text() {
    assert_eq!(Kind::of_postgres("box[]"), Kind::Scalar(Scalar::Text));
}
