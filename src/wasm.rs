//! The engine as JavaScript holds it: one area of memory for what goes in, one for what comes out.
//!
//! The host asks for room with `reserve`, writes its bytes there and calls `input` with no await between;
//! the records then stand at `out_ptr` until the next call. Memory may grow in any call, so a view of it is
//! made anew after each.

use wasm_bindgen::prelude::*;

use crate::engine::{Engine, Options};
use crate::record::{Input, Out};

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
