//! Filters evaluated over and over in wasm, for `bench/expr.js` to time: ours, and those of the `expr-lang` crate.

use std::rc::Rc;

use millstream::expr::{Environment, Index, Limits, Program, Root, Schema, Value};
use millstream::row::{Cell, Column, Kind, Relation, Row};

const SOURCE: &str = "payload.status != \"draft\" && payload.total > 100";
const RECORD: &str =
    "(1,\"order 1\",placed,112.50,0.19,t,\"a note, quoted\",42,\"2026-01-01 00:00:00+00\",\"{a,b}\")";
const COLUMNS: [(&str, &str); 10] = [
    ("id", "bigint"),
    ("title", "text"),
    ("status", "text"),
    ("total", "numeric"),
    ("tax", "double precision"),
    ("paid", "boolean"),
    ("note", "text"),
    ("customer", "integer"),
    ("at", "timestamp with time zone"),
    ("tags", "text[]"),
];

fn relation() -> Rc<Relation> {
    let column = |(name, kind): &(&str, &str)| Column {
        name: (*name).into(),
        kind: Kind::of_postgres(kind),
        unsent: false,
    };
    Rc::new(Relation {
        id: 1,
        table: 1,
        namespace: "public".into(),
        name: "orders".into(),
        key_columns: Vec::new(),
        columns: COLUMNS.iter().map(column).collect(),
        dropped: false,
    })
}

/// Evaluates on a row whose cells are known, or that is divided into them each time; gives how often it held.
#[unsafe(no_mangle)]
pub extern "C" fn filter(count: u32, divides: u32) -> u32 {
    let relation = relation();
    let program = Program::compile(SOURCE, &Schema::of_entries(&relation)).unwrap();
    let row = Row { relation: &relation, record: RECORD };
    let mut cells: Vec<Cell<'_>> = row.cells().map(|(_, cell)| cell).collect();
    let mut held = 0;
    for _ in 0..count {
        if divides > 0 {
            cells.clear();
            cells.extend(row.cells().map(|(_, cell)| cell));
        }
        let roots = Root::of_entry(Root::Row(&cells), Root::Nil, Root::Nil, Root::Nil, &Value::Nil);
        let environment = Environment { roots: &roots, now_ms: 0 };
        held += u32::from(program.holds(&environment, &mut Limits::default()).unwrap());
    }
    held
}

/// The same by the peer, on a map of values that is made once.
#[unsafe(no_mangle)]
pub extern "C" fn peer(count: u32) -> u32 {
    let program = expr::compile(SOURCE).unwrap();
    let mut context = expr::Context::default();
    context.insert("payload", payload());
    let environment = expr::Environment::new();
    let mut held = 0;
    for _ in 0..count {
        let value = environment.run(&program, &context).unwrap();
        held += u32::from(value.as_bool() == Some(true));
    }
    held
}

fn payload() -> expr::Value {
    let mut map = indexmap::IndexMap::new();
    map.insert("id".to_string(), expr::Value::Integer(1));
    map.insert("title".to_string(), expr::Value::String("order 1".into()));
    map.insert("status".to_string(), expr::Value::String("placed".into()));
    map.insert("total".to_string(), expr::Value::Float(112.5));
    map.insert("tax".to_string(), expr::Value::Float(0.19));
    map.insert("paid".to_string(), expr::Value::Bool(true));
    map.insert("note".to_string(), expr::Value::String("a note, quoted".into()));
    map.insert("customer".to_string(), expr::Value::Integer(42));
    map.insert("at".to_string(), expr::Value::String("2026-01-01 00:00:00+00".into()));
    map.insert("tags".to_string(), expr::Value::Array(vec![expr::Value::String("a".into()), expr::Value::String("b".into())]));
    expr::Value::Map(map)
}

/// Finds and evaluates the filters of an index, of which one holds, for a row that is divided each time.
#[unsafe(no_mangle)]
pub extern "C" fn index(filters: u32, count: u32) -> u32 {
    let relation = relation();
    let schema = Schema::of_entries(&relation);
    let mut index = Index::default();
    let mut programs = Vec::new();
    for id in 0..filters {
        let customer = 42 + id;
        let program = Program::compile(&format!("payload.customer == {customer}"), &schema).unwrap();
        index.insert(id, &program);
        programs.push(program);
    }
    let row = Row { relation: &relation, record: RECORD };
    let mut cells = Vec::new();
    let mut held = 0;
    for _ in 0..count {
        cells.clear();
        cells.extend(row.cells().map(|(_, cell)| cell));
        let roots = Root::of_entry(Root::Row(&cells), Root::Nil, Root::Nil, Root::Nil, &Value::Nil);
        let environment = Environment { roots: &roots, now_ms: 0 };
        index.find(&environment, &mut |id| {
            let program = &programs[id as usize];
            held += u32::from(program.holds(&environment, &mut Limits::default()).unwrap());
        });
    }
    held
}
