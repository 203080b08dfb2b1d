//! The engine as JavaScript holds it: one area of memory for what goes in, one for what comes out.
//!
//! The host asks for room with `reserve`, writes its bytes there and calls `input` with no await between;
//! the records then stand at `out_ptr` until the next call. Memory may grow in any call, so a view of it is
//! made anew after each.

use std::rc::Rc;

use js_sys::{Array, Object};
use wasm_bindgen::prelude::*;

use crate::engine::{Engine, Options};
use crate::expr::{Environment, Fault, Limits, Program, Root, Schema, Value, json};
use crate::record::{Input, Out};
use crate::row::{Column, Kind, Relation};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("wasm/types.d.ts");

/// How much of the input area is kept between calls.
const KEEP: usize = 1 << 20;

/// An engine with its two areas.
#[wasm_bindgen(js_name = Engine)]
#[derive(Debug)]
pub struct Boundary {
    engine: Engine,
    input: Vec<u8>,
    out: Out,
}

#[wasm_bindgen(js_class = Engine)]
impl Boundary {
    /// An engine with these options, as JSON; what is left out has its default.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<Self, JsError> {
        let options = Options::parse(options)?;
        Ok(Self {
            engine: Engine::new(options),
            input: Vec::new(),
            out: Out::default(),
        })
    }

    /// Makes room for `length` bytes of input and tells where it is.
    pub fn reserve(&mut self, length: usize) -> *const u8 {
        if self.input.len() < length {
            self.input.resize(length, 0);
        }
        self.input.as_ptr()
    }

    /// Takes an input of `length` bytes from the area, and tells how many bytes of records came of it.
    ///
    /// An unknown kind of input is none, and brings no records at all.
    pub fn input(&mut self, kind: u8, id: u32, length: usize, now: f64) -> usize {
        self.out.clear();
        let payload = self.input.get(..length).unwrap_or_default();
        if let Some(input) = Input::from_number(kind) {
            self.engine
                .handle(input, id, payload, whole_ms(now), &mut self.out);
        }
        if self.input.len() > KEEP {
            self.input = Vec::new();
        }
        self.out.bytes().len()
    }

    /// Where the records of the last input are.
    pub fn out_ptr(&self) -> *const u8 {
        self.out.bytes().as_ptr()
    }

    /// How many bytes they are.
    pub fn out_len(&self) -> usize {
        self.out.bytes().len()
    }

    /// The memory in which the areas lie.
    #[wasm_bindgen(unchecked_return_type = "WebAssembly.Memory")]
    pub fn memory(&self) -> JsValue {
        wasm_bindgen::memory()
    }

    /// Where the seq of the commit in hand is noted, eight bytes, to be read when the engine has stopped.
    pub fn in_flight_ptr(&self) -> *const u64 {
        self.engine.in_flight().as_ptr()
    }
}

/// A time from JavaScript as whole milliseconds. What is no time counts as 1970.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates, and makes 0 of what is not a number"
)]
fn whole_ms(now: f64) -> u64 {
    now as u64
}

/// A compiled expression on the entries of a relation.
#[wasm_bindgen(js_name = Expression)]
#[derive(Debug)]
pub struct Expression {
    program: Program,
}

#[wasm_bindgen(js_class = Expression)]
impl Expression {
    /// Compiles a source for a relation of these columns. A refusal is thrown as its code, message and position.
    #[wasm_bindgen(constructor)]
    pub fn new(source: &str, names: Vec<String>, types: Vec<String>) -> Result<Self, JsValue> {
        let column = |(name, kind): (String, String)| Column {
            name,
            kind: Kind::of_postgres(&kind),
            unsent: false,
        };
        let relation = Rc::new(Relation {
            id: 0,
            table: 0,
            namespace: String::new(),
            name: String::new(),
            key_columns: Vec::new(),
            columns: names.into_iter().zip(types).map(column).collect(),
            dropped: false,
        });
        let program = Program::compile(source, &Schema::of_entries(&relation));
        let program = program.map_err(|fault| refusal(&fault))?;
        Ok(Self { program })
    }

    /// Its value on an entry, given as the JSON of `{ new, old, op, operation, claims }`.
    pub fn evaluate(&self, entry: &str, now: f64) -> Result<JsValue, JsValue> {
        self.value(entry, now)
            .map(|value| js_value(&value))
            .map_err(|fault| refusal(&fault))
    }

    /// Whether it holds on an entry.
    pub fn holds(&self, entry: &str, now: f64) -> Result<bool, JsValue> {
        self.value(entry, now)
            .map(|value| value.is_truthy())
            .map_err(|fault| refusal(&fault))
    }

    /// The same text for all sources that mean the same.
    pub fn canonical(&self) -> String {
        self.program.canonical().to_owned()
    }

    fn value(&self, entry: &str, now: f64) -> Result<Value, Fault> {
        let limits = &mut Limits::default();
        let entry = json::parse(entry, true, limits)?;
        let field = |name| match &entry {
            Some(Value::Map(map)) => map.find(name).unwrap_or(&Value::Nil),
            _ => &Value::Nil,
        };
        let root = |name| Root::Value(field(name));
        let roots = Root::of_entry(
            root("new"),
            root("old"),
            root("op"),
            root("operation"),
            field("claims"),
        );
        let environment = Environment {
            roots: &roots,
            now_ms: whole_ms(now),
        };
        self.program.evaluate(&environment, limits)
    }
}

fn refusal(fault: &Fault) -> JsValue {
    let position = u32::try_from(fault.position()).unwrap_or(u32::MAX);
    let parts: [JsValue; 3] = [
        fault.code().as_str().into(),
        fault.message().into(),
        position.into(),
    ];
    parts.into_iter().collect::<Array>().into()
}

/// A value as JavaScript has it: integers as callbacks get them, decimals and dates as text.
fn js_value(value: &Value) -> JsValue {
    /// The greatest integer up to which every one is a number.
    const MAX_SAFE: u64 = (1 << 53) - 1;
    match value {
        Value::Nil => JsValue::NULL,
        Value::Bool(truth) => (*truth).into(),
        Value::Int(number) | Value::Duration(number) if number.unsigned_abs() > MAX_SAFE => {
            (*number).into()
        }
        #[expect(clippy::cast_precision_loss, reason = "every safe integer is a float")]
        Value::Int(number) | Value::Duration(number) => (*number as f64).into(),
        Value::Float(number) => (*number).into(),
        Value::Decimal(text) | Value::Text(text) => text.as_ref().into(),
        Value::Time(time) => time.format("2006-01-02T15:04:05.999999999Z07:00").into(),
        Value::Array(array) => array.items.iter().map(js_value).collect::<Array>().into(),
        Value::Map(map) => {
            let pair = |(key, value): &(Value, Value)| -> JsValue {
                [js_value(key), js_value(value)]
                    .into_iter()
                    .collect::<Array>()
                    .into()
            };
            let pairs: Array = map.pairs.iter().map(pair).collect();
            // Each becomes a property of the object's own, whatever its name.
            Object::from_entries(&pairs).map_or(JsValue::NULL, Into::into)
        }
    }
}
