//! Round trips across the boundary: what JavaScript writes is what the engine reads, and the other way round.
#![cfg(target_arch = "wasm32")]

use js_sys::{Reflect, Uint8Array};
use millstream::wasm::Boundary;
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test as test;

const SUBSCRIBE: u8 = 1;
const WAKE: u8 = 6;
const SQL: u8 = 9;

/// An engine with default options.
fn engine() -> Boundary {
    Boundary::new("{}").unwrap_or_else(|_| unreachable!("defaults are good"))
}

/// A view of the engine's memory, as a host makes it: anew each time.
fn view(engine: &Boundary, at: *const u8, length: usize) -> Uint8Array {
    let buffer = Reflect::get(&engine.memory(), &"buffer".into()).unwrap_throw();
    let [at, length] = [at as usize, length].map(|it| u32::try_from(it).unwrap_throw());
    Uint8Array::new_with_byte_offset_and_length(&buffer, at, length)
}

/// Hands over an input, and gives the kinds of the records that came of it with their payloads.
fn input(engine: &mut Boundary, kind: u8, payload: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let at = engine.reserve(payload.len());
    view(engine, at, payload.len()).copy_from(payload);
    let length = engine.input(kind, 1, payload.len(), 1_000.0);
    assert_eq!(length, engine.out_len());
    // A copy outside this memory first: making room for it here may move what is viewed.
    let size = u32::try_from(length).unwrap_throw();
    let bytes = view(engine, engine.out_ptr(), length)
        .slice(0, size)
        .to_vec();
    let mut records = Vec::new();
    let mut rest = bytes.as_slice();
    while let Some((header, after)) = rest.split_first_chunk::<32>() {
        let number = |at: usize| -> usize {
            let bytes = header
                .get(at..at + 4)
                .and_then(|bytes| bytes.try_into().ok());
            usize::try_from(u32::from_le_bytes(bytes.unwrap_throw())).unwrap_throw()
        };
        let (payload, next) = after.split_at(4 * number(20)).1.split_at(number(16));
        let padding = number(16).next_multiple_of(4) - number(16);
        records.push((header[0], payload.to_vec()));
        rest = next.split_at(padding).1;
    }
    assert!(rest.is_empty(), "records end where the area ends");
    records
}

#[test]
fn a_subscription_makes_the_engine_ask_for_the_log_and_then_wait() {
    let declaration = br#"{"selector":{"public":["users"]},"since":"now"}"#;
    let records = input(&mut engine(), SUBSCRIBE, declaration);
    let kinds: Vec<u8> = records.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [1, 10]);
}

#[test]
fn a_refusal_comes_back_as_json() {
    let records = input(
        &mut engine(),
        SUBSCRIBE,
        br#"{"selector":42,"since":"now"}"#,
    );
    let (_, refusal) = records.first().unwrap_throw();
    assert!(refusal.starts_with(br#"{"code":"bad_selector""#));
}

#[test]
fn an_empty_input_is_an_input() {
    for kind in 1..=9 {
        let records = input(&mut engine(), kind, b"");
        assert_eq!(records.last().map(|(kind, _)| *kind), Some(10));
    }
}

#[test]
fn an_unknown_kind_of_input_brings_nothing() {
    let mut engine = engine();
    for kind in [0, 18, 255] {
        assert!(input(&mut engine, kind, b"anything").is_empty());
    }
    assert!(!input(&mut engine, WAKE, b"").is_empty());
}

#[test]
fn text_of_any_size_goes_in_and_comes_out_whole() {
    let mut engine = engine();
    for power in [10, 16, 20, 23] {
        let text = "é".repeat(1 << (power - 1));
        let payload = format!("\0select '{text}'");
        let records = input(&mut engine, SQL, payload.as_bytes());
        let (_, script) = records.first().unwrap_throw();
        assert!(script.len() > text.len(), "{power}");
        assert!(
            std::str::from_utf8(script).unwrap_throw().contains(&text),
            "{power}"
        );
    }
    assert!(!input(&mut engine, WAKE, b"").is_empty());
}

#[test]
fn options_that_make_no_sense_are_refused() {
    for options in [
        r#"{"maxReadRows":"many"}"#,
        r#"{"maxReadRows":0}"#,
        r#"{"maxRows":5}"#,
        "{",
    ] {
        assert!(Boundary::new(options).is_err(), "{options}");
    }
}

#[test]
fn several_engines_share_the_memory_without_harm() {
    let mut engines: Vec<Boundary> = (0..10).map(|_| engine()).collect();
    for engine in &mut engines {
        assert!(!input(engine, WAKE, &vec![7; 100_000]).is_empty());
    }
}
