//! What the database holds is what a callback's reader is given.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may stop at once"
)]

use std::iter;
use std::rc::Rc;

use millstream::commit::{Change, Commit, Entry, Part};
use millstream::encode::commit::encode;
use millstream::row::{Column, Kind, Relation, Row};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::random::Rng;

/// Relation 3, with columns of these names and PostgreSQL types.
fn relation(columns: &[(&str, &str)]) -> Rc<Relation> {
    let column = |&(name, postgres): &(&str, &str)| Column {
        name: name.into(),
        kind: Kind::of_postgres(postgres),
        unsent: false,
    };
    Rc::new(Relation {
        id: 3,
        table: 1,
        namespace: "public".into(),
        name: "t".into(),
        key_columns: Vec::new(),
        columns: columns.iter().map(column).collect(),
        dropped: false,
    })
}

fn encode_commit(commit: &Commit<'_>, keep: impl Fn(&Entry<'_>) -> bool) -> String {
    let mut out = Vec::new();
    encode(
        commit,
        commit.entries.iter().filter(|entry| keep(entry)),
        &mut out,
    );
    let json = String::from_utf8(out).unwrap();
    let validity = serde_json::from_str::<IgnoredAny>(&json);
    assert!(validity.is_ok(), "{validity:?}: {json}");
    json
}

fn encode_changes(relation: &Rc<Relation>, changes: &[Change<'_>]) -> String {
    let entry = |(seq, &change)| Entry {
        seq,
        relation,
        change,
    };
    let entries = (1..).zip(changes).map(entry).collect();
    encode_commit(
        &Commit {
            tx: 7,
            time_ms: 8,
            entries,
            part: Part::Whole,
        },
        |_| true,
    )
}

fn check_changes(relation: &Rc<Relation>, changes: &[Change<'_>], entries: &str, patches: &str) {
    let seq = changes.len();
    let expected =
        format!(r#"[{{"txId":7,"commitTime":8,"seq":{seq},"entries":[{entries}]}},[{patches}]]"#);
    assert_eq!(encode_changes(relation, changes), expected);
}

/// The record that holds one value, as PostgreSQL writes it when it quotes: it may always do so.
fn record(text: &str) -> String {
    format!("(\"{}\")", text.replace('\\', r"\\").replace('"', "\"\""))
}

/// A value, and the patch for it if it has one: what follows the column's name.
fn check_patched(postgres: &str, text: &str, value: &str, patches: &[&str]) {
    let relation = &relation(&[("c", postgres)]);
    let entry = format!(r#"{{"op":"insert","relation":3,"new":{{"c":{value}}}}}"#);
    let patches: Vec<_> = patches
        .iter()
        .map(|patch| format!(r#"[0,"new","c",{patch}]"#))
        .collect();
    let patches = patches.join(",");
    let quoted = &record(text);
    check_changes(
        relation,
        &[Change::Insert(Row {
            relation,
            record: quoted,
        })],
        &entry,
        &patches,
    );
    if !text.is_empty() && !text.contains(|c| "\"\\(), \n\t".contains(c)) {
        let bare = &format!("({text})");
        check_changes(
            relation,
            &[Change::Insert(Row {
                relation,
                record: bare,
            })],
            &entry,
            &patches,
        );
    }
}

fn check(postgres: &str, text: &str, value: &str) {
    check_patched(postgres, text, value, &[]);
}

/// A value that is the text itself.
fn check_string(postgres: &str, text: &str) {
    check(postgres, text, &json!(text).to_string());
}

/// The value that the host is left with, a `BigInt` shown as its digits and an `n`.
fn patched(postgres: &str, text: &str) -> Value {
    let relation = &relation(&[("c", postgres)]);
    let row = Row {
        relation,
        record: &record(text),
    };
    let json = encode_changes(relation, &[Change::Insert(row)]);
    let (mut commit, patches): (Value, Vec<Vec<Value>>) = serde_json::from_str(&json).unwrap();
    for patch in patches {
        let ([path @ .., kind, text], mut at) = (&patch[..], &mut commit["entries"]) else {
            unreachable!("a patch has a kind and a text");
        };
        for step in path {
            at = match step.as_u64() {
                Some(index) => at.get_mut(usize::try_from(index).unwrap()).unwrap(),
                None => at.get_mut(step.as_str().unwrap()).unwrap(),
            };
        }
        *at = json!(format!(
            "{}{}",
            text.as_str().unwrap(),
            kind.as_str().unwrap()
        ));
    }
    commit["entries"][0]["new"]["c"].take()
}

// The commit around the values.

#[test]
fn a_commit_has_its_entries_in_order_each_with_its_images() {
    let relation = &relation(&[("id", "integer"), ("note", "text")]);
    let [one, two] = ["(1,a)", "(1,b)"].map(|record| Row { relation, record });
    let changes = [
        Change::Insert(one),
        Change::Update(one, two),
        Change::Delete(two),
        Change::Truncate,
    ];
    let entries = [
        r#"{"op":"insert","relation":3,"new":{"id":1,"note":"a"}}"#,
        r#"{"op":"update","relation":3,"old":{"id":1,"note":"a"},"new":{"id":1,"note":"b"}}"#,
        r#"{"op":"delete","relation":3,"old":{"id":1,"note":"b"}}"#,
        r#"{"op":"truncate","relation":3}"#,
    ];
    check_changes(relation, &changes, &entries.join(","), "");
}

#[test]
fn a_part_has_its_number_and_says_whether_more_come() {
    let relation = &relation(&[]);
    let check = |part, expected: &str| {
        let entries = vec![Entry {
            seq: 9,
            relation,
            change: Change::Truncate,
        }];
        let commit = Commit {
            tx: 7,
            time_ms: 8,
            entries,
            part,
        };
        let entries = r#""entries":[{"op":"truncate","relation":3}]"#;
        assert_eq!(
            encode_commit(&commit, |_| true),
            format!(r#"[{{"txId":7,"commitTime":8,"seq":9,{entries}{expected}}},[]]"#),
        );
    };
    check(Part::Whole, "");
    check(Part::More(1), r#","part":1,"partial":true"#);
    check(Part::Last(20), r#","part":20"#);
}

#[test]
fn a_chosen_entry_keeps_the_commit_s_own_seq() {
    let relation = &relation(&[("c", "bigint")]);
    let [one, two] =
        ["(1)", "(9007199254740993)"].map(|record| Change::Insert(Row { relation, record }));
    let entry = |seq, change| Entry {
        seq,
        relation,
        change,
    };
    let entries = vec![entry(4, one), entry(5, two), entry(6, one)];
    let commit = Commit {
        tx: u64::MAX,
        time_ms: 0,
        entries,
        part: Part::Whole,
    };
    assert_eq!(
        encode_commit(&commit, |entry| entry.seq == 5),
        r#"[{"txId":18446744073709551615,"commitTime":0,"seq":6,"entries":[{"op":"insert","#
            .to_owned()
            + r#""relation":3,"new":{"c":0}}]},[[0,"new","c","n","9007199254740993"]]]"#,
    );
    assert_eq!(
        encode_commit(&commit, |_| false),
        r#"[{"txId":18446744073709551615,"commitTime":0,"seq":6,"entries":[]},[]]"#,
    );
}

#[test]
fn patches_name_the_entry_and_the_image() {
    let relation = &relation(&[("a", "integer"), ("b", "bigint")]);
    let rows = ["(1,2)", "(1,9007199254740992)", "(1,-9007199254740992)"];
    let [plain, one, two] = rows.map(|record| Row { relation, record });
    let changes = [
        Change::Insert(plain),
        Change::Update(one, two),
        Change::Delete(two),
    ];
    let entries = [
        r#"{"op":"insert","relation":3,"new":{"a":1,"b":2}}"#,
        r#"{"op":"update","relation":3,"old":{"a":1,"b":0},"new":{"a":1,"b":0}}"#,
        r#"{"op":"delete","relation":3,"old":{"a":1,"b":0}}"#,
    ];
    let patches = [
        r#"[1,"old","b","n","9007199254740992"]"#,
        r#"[1,"new","b","n","-9007199254740992"]"#,
        r#"[2,"old","b","n","-9007199254740992"]"#,
    ];
    check_changes(relation, &changes, &entries.join(","), &patches.join(","));
}

#[test]
fn columns_that_were_not_sent_are_named_and_absent() {
    let relation = &relation(&[("id", "integer"), ("a\"", "text"), ("b", "jsonb")]);
    let [whole, short] = ["(1,x,{})", "(1)"].map(|record| Row { relation, record });
    let changes = [
        Change::Insert(short),
        Change::Update(whole, short),
        Change::Update(short, whole),
        Change::Delete(short),
    ];
    let entries = [
        r#"{"op":"insert","relation":3,"new":{"id":1},"unchanged":["a\"","b"]}"#,
        r#"{"op":"update","relation":3,"old":{"id":1,"a\"":"x","b":{}},"new":{"id":1},"#,
        r#""unchanged":["a\"","b"]},"#,
        r#"{"op":"update","relation":3,"old":{"id":1},"new":{"id":1,"a\"":"x","b":{}}}"#,
        r#"{"op":"delete","relation":3,"old":{"id":1},"unchanged":["a\"","b"]}"#,
    ];
    let entries = format!(
        "{},{}{}{},{}",
        entries[0], entries[1], entries[2], entries[3], entries[4]
    );
    check_changes(relation, &changes, &entries, "");
}

#[test]
fn computed_columns_are_named_and_absent() {
    let mut relation = relation(&[("a", "integer"), ("b", "integer"), ("c", "integer")]);
    Rc::get_mut(&mut relation).unwrap().columns[0].unsent = true;
    let relation = &relation;
    let change = Change::Insert(Row {
        relation,
        record: "(,2,3)",
    });
    let entry = r#"{"op":"insert","relation":3,"new":{"b":2,"c":3},"unchanged":["a"]}"#;
    check_changes(relation, &[change], entry, "");
}

#[test]
fn any_column_name_is_a_key() {
    let names = [
        "a\"b",
        "back\\slash",
        "new\nline",
        "\u{1}",
        "ünï😀",
        "",
        "__proto__",
        "12",
    ];
    let columns: Vec<_> = names.iter().map(|name| (*name, "bigint")).collect();
    let relation = &relation(&columns);
    let record = format!("({})", ["9223372036854775807"; 8].join(","));
    let json = encode_changes(
        relation,
        &[Change::Insert(Row {
            relation,
            record: &record,
        })],
    );
    let (commit, patches): (Value, Vec<Vec<Value>>) = serde_json::from_str(&json).unwrap();
    for (name, patch) in names.iter().zip(patches) {
        assert_eq!(commit["entries"][0]["new"][name], json!(0));
        assert_eq!(
            patch,
            [
                json!(0),
                json!("new"),
                json!(name),
                json!("n"),
                json!("9223372036854775807")
            ]
        );
    }
}

// Scalars.

#[test]
fn null_is_null_whatever_the_type() {
    for postgres in [
        "boolean",
        "bytea",
        "real",
        "bigint",
        "jsonb",
        "text",
        "integer[]",
    ] {
        let relation = &relation(&[("c", postgres), ("d", postgres)]);
        let change = Change::Insert(Row {
            relation,
            record: "(,)",
        });
        let entry = r#"{"op":"insert","relation":3,"new":{"c":null,"d":null}}"#;
        check_changes(relation, &[change], entry, "");
    }
}

#[test]
fn an_only_column_may_be_null() {
    let relation = &relation(&[("c", "text")]);
    let change = Change::Insert(Row {
        relation,
        record: "()",
    });
    check_changes(
        relation,
        &[change],
        r#"{"op":"insert","relation":3,"new":{"c":null}}"#,
        "",
    );
}

#[test]
fn text_is_never_taken_for_null() {
    for text in ["", "NULL", "null", r"\N", "\"\"", "nil"] {
        check_string("text", text);
    }
}

#[test]
fn text_comes_through_whatever_it_holds() {
    check("text", "a", r#""a""#);
    check("text", r#"say "hi" \ bye"#, r#""say \"hi\" \\ bye""#);
    check(
        "text",
        "\n\r\t\u{8}\u{c}\u{1f}\u{7f}",
        "\"\\n\\r\\t\\u0008\\u000c\\u001f\u{7f}\"",
    );
    check(
        "text",
        "a\u{2028}b\u{2029}c\u{85}d\u{feff}é😀",
        "\"a\u{2028}b\u{2029}c\u{85}d\u{feff}é😀\"",
    );
    check("text", r#"""\\"""#, r#""\"\"\\\\\"\"""#);
}

#[test]
fn every_byte_is_escaped_wherever_it_stands() {
    for byte in 0..=0x7f_u8 {
        for before in 0..20 {
            let text = format!(
                "{}{}{}",
                "x".repeat(before),
                char::from(byte),
                "é".repeat(9)
            );
            assert_eq!(patched("text", &text), json!(text));
        }
    }
}

#[test]
fn booleans_are_booleans() {
    check("boolean", "t", "true");
    check("boolean", "f", "false");
}

#[test]
fn safe_integers_are_numbers() {
    for text in [
        "0",
        "-1",
        "42",
        "2147483647",
        "9007199254740991",
        "-9007199254740991",
    ] {
        check("bigint", text, text);
        check("integer", text, text);
    }
}

#[test]
fn other_integers_are_big_ones() {
    let texts = [
        "9007199254740992",
        "9007199254740993",
        "-9007199254740992",
        "-9007199254740993",
        "10000000000000000",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
    ];
    for text in texts {
        check_patched("bigint", text, "0", &[&format!(r#""n","{text}""#)]);
    }
}

#[test]
fn floats_keep_their_digits() {
    let texts = [
        "0",
        "-0",
        "1",
        "0.1",
        "-1.5",
        "1e+308",
        "1.7976931348623157e+308",
        "1e-320",
        "5e-324",
        "-5e-324",
        "1e+15",
        "123456789012345680",
        "0.30000000000000004",
        "1e-45",
        "3.4028235e+38",
    ];
    for text in texts {
        check("double precision", text, text);
        check("real", text, text);
    }
}

#[test]
fn floats_that_are_no_numbers_are_strings() {
    for text in ["NaN", "Infinity", "-Infinity", "1e400", "-1e309", ""] {
        check_string("double precision", text);
        check_string("real", text);
    }
    check_string("double precision", &"9".repeat(400));
}

#[test]
fn numerics_keep_every_digit() {
    for text in [
        "0.10",
        "1.5000000",
        "NaN",
        "Infinity",
        "123456789012345678901234567890",
        "1012345000999912345001230123445566.00000000",
    ] {
        check_string("numeric", text);
    }
}

#[test]
fn times_keep_the_database_s_text() {
    for text in [
        "infinity",
        "-infinity",
        "2026-01-01 00:00:00.5+00",
        "0044-03-15 00:00:00+00 BC",
    ] {
        check_string("timestamp with time zone", text);
    }
    check_string("interval", "1 year 2 mons -3 days +04:05:06");
}

#[test]
fn bytes_are_patched_in() {
    check_patched("bytea", r"\x", "null", &[r#""b","""#]);
    check_patched("bytea", r"\x00ff80", "null", &[r#""b","00ff80""#]);
}

#[test]
fn a_text_that_is_not_of_its_type_stays_text() {
    for text in ["", "true", "TRUE", "1"] {
        check_string("boolean", text);
    }
    for text in [
        "", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "0x1", "NaN", "1 ", "ab\"c\\",
    ] {
        check_string("bigint", text);
        check_string("real", text);
    }
    for text in ["", "x00", r"\x0", r"\xzz", r"\000abc", "\\x\"\"", r"\x00é"] {
        check_string("bytea", text);
    }
}

// Arrays.

#[test]
fn arrays_are_arrays() {
    check("integer[]", "{}", "[]");
    check("integer[]", "{1,NULL,-3}", "[1,null,-3]");
    check("integer[]", "{{1,2},{3,4}}", "[[1,2],[3,4]]");
    check(
        "integer[]",
        "{{{1},{2}},{{3},{4}}}",
        "[[[1],[2]],[[3],[4]]]",
    );
    check("boolean[]", "{t,f,NULL}", "[true,false,null]");
    check(
        "double precision[]",
        "{NaN,Infinity,-Infinity,-0,1e+308,0.1}",
        r#"["NaN","Infinity","-Infinity",-0,1e+308,0.1]"#,
    );
    check("numeric[]", "{1.50,NaN}", r#"["1.50","NaN"]"#);
    check(
        "date[]",
        "{infinity,-infinity,2024-02-29}",
        r#"["infinity","-infinity","2024-02-29"]"#,
    );
}

#[test]
fn texts_in_arrays_come_through_whatever_they_hold() {
    check(
        "text[]",
        r#"{a,"b c","",NULL,"NULL","null","\"","\\","\\\\\"x","{","a,b",(1,é,"\\N"}"#,
        r#"["a","b c","",null,"NULL","null","\"","\\","\\\\\"x","{","a,b","(1","é","\\N"]"#,
    );
    check("text[]", "{\"a\nb\",\"c\td\"}", r#"["a\nb","c\td"]"#);
}

#[test]
fn big_integers_in_arrays_are_patched_by_index() {
    check_patched(
        "bigint[]",
        "{1,9007199254740993,NULL,-9223372036854775808}",
        "[1,0,null,0]",
        &[
            r#"1,"n","9007199254740993""#,
            r#"3,"n","-9223372036854775808""#,
        ],
    );
    check_patched(
        "bigint[]",
        "{{1,2},{3,9007199254740993}}",
        "[[1,2],[3,0]]",
        &[r#"1,1,"n","9007199254740993""#],
    );
}

#[test]
fn bytes_in_arrays_are_patched_by_index() {
    check_patched(
        "bytea[]",
        r#"{"\\x00ff","\\x",NULL}"#,
        "[null,null,null]",
        &[r#"0,"b","00ff""#, r#"1,"b","""#],
    );
}

#[test]
fn documents_in_arrays_are_values() {
    check_patched(
        "jsonb[]",
        r#"{"{\"a\": [\"x\\\\y\", 9007199254740993]}",1,"\"s\"",NULL,"null",9007199254740993}"#,
        r#"[{"a": ["x\\y", 0]},1,"s",null,null,0]"#,
        &[
            r#"0,"a",1,"n","9007199254740993""#,
            r#"5,"n","9007199254740993""#,
        ],
    );
}

#[test]
fn an_array_with_bounds_of_its_own_stays_text() {
    check_string("integer[]", "[0:1]={1,2}");
    check_string("integer[]", "[2:2][0:1]={{1,2}}");
}

#[test]
fn an_array_that_semicolons_divide_stays_text() {
    check_string("box[]", "{(2,2),(1,1);(4,4),(3,3)}");
}

#[test]
fn a_text_that_is_no_array_stays_text() {
    for text in [
        "",
        "{",
        "}",
        "1",
        "{1",
        "{1,",
        "{1,}",
        "{,1}",
        "{1}2",
        "{1}}",
        "{{1}",
        "{1,{",
        "{\"a}",
        "{\"a\\",
        "{\"a\"b}",
        "{a\"b\"}",
        "{a{b}",
        "{a\\b}",
        "{9007199254740993,",
        "{1}{2}",
        "{1},{2}",
    ] {
        check_string("bigint[]", text);
        check_string("text[]", text);
    }
}

// Documents.

#[test]
fn documents_are_values() {
    for text in [
        "null",
        "true",
        "false",
        "0",
        "\"\"",
        "[]",
        "{}",
        r#"{"a": [1, 2.50, "x", null]}"#,
        r#""\u0000\ud800\"\\\/\b\f\n\r\t""#,
        "[-0, -0.0, 0.1, 1.0, 1e5, 1E+2]",
        "\"\u{2028}é😀\"",
    ] {
        check("jsonb", text, text);
        check("json", text, text);
    }
}

#[test]
fn documents_keep_their_white_space() {
    let text = " { \"a\" :\n[ 1 ,\r\t2 ] , \"b\":{ } } ";
    check("json", text, text);
}

#[test]
fn big_integers_in_documents_are_patched_by_path() {
    check_patched(
        "jsonb",
        r#"{"a": 9007199254740993, "b": [1, {"c\"\u0041": -9007199254740992}], "d": 9007199254740991}"#,
        r#"{"a": 0, "b": [1, {"c\"\u0041": 0}], "d": 9007199254740991}"#,
        &[
            r#""a","n","9007199254740993""#,
            r#""b",1,"c\"\u0041","n","-9007199254740992""#,
        ],
    );
    check_patched(
        "jsonb",
        "9007199254740993",
        "0",
        &[r#""n","9007199254740993""#],
    );
    let googol = format!("1{}", "0".repeat(400));
    check_patched("jsonb", &googol, "0", &[&format!(r#""n","{googol}""#)]);
}

#[test]
fn numbers_that_survive_stay_numbers() {
    for text in [
        "0.1",
        "0.30000000000000004",
        "1.7976931348623157e308",
        "5e-324",
        "2.2250738585072014e-308",
        "0.100000000000000000000",
        "1e23",
        "0e400",
        "0.0e-400",
        "100000000000000000000.0",
        "123456789012345e10",
        "9007199254740992e0",
    ] {
        check("json", text, text);
    }
}

#[test]
fn numbers_that_would_not_survive_are_their_digits() {
    for text in [
        "1e400",
        "-1e400",
        "1e-400",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "4e-324",
        "0.12345678901234567890",
        "123456789012345678901234567890.5",
        "9007199254740993.0",
        "9007199254740993e0",
        "1.00000000000000001",
        "0.1000000000000000055511151231257827",
    ] {
        check("json", text, &json!(text).to_string());
        check("json", &format!("[{text}]"), &json!([text]).to_string());
    }
}

#[test]
fn a_key_that_comes_twice_means_the_last() {
    let check = |text, expected| assert_eq!(patched("json", text), expected, "{text}");
    check(r#"{"a":9007199254740993,"a":0}"#, json!({"a": 0}));
    check(
        r#"{"a":0,"a":9007199254740993}"#,
        json!({"a": "9007199254740993n"}),
    );
    check(
        r#"{"a":9007199254740993,"a":9007199254740994}"#,
        json!({"a": "9007199254740994n"}),
    );
    check(r#"{"a":{"b":[9007199254740993]},"a":1}"#, json!({"a": 1}));
    check(
        r#"{"a":{"b":[9007199254740993]},"a":{"b":[[]]}}"#,
        json!({"a": {"b": [[]]}}),
    );
    check(
        r#"{"a":{"a":9007199254740993},"b":{"a":9007199254740993,"c":9007199254740995}}"#,
        json!({"a": {"a": "9007199254740993n"}, "b": {"a": "9007199254740993n", "c": "9007199254740995n"}}),
    );
    check(
        r#"[{"a":[{"x":9007199254740993},{"x":9007199254740993}],"a":{},"b":9007199254740993}]"#,
        json!([{"a": {}, "b": "9007199254740993n"}]),
    );
}

#[test]
fn a_key_is_the_same_however_it_is_written() {
    let check = |text, expected| assert_eq!(patched("json", text), expected, "{text}");
    check(r#"{"ab":9007199254740993,"\u0061b":1}"#, json!({"ab": 1}));
    check(
        r#"{"\/\n\"\\":9007199254740993,"/\u000A\u0022\u005c":1}"#,
        json!({"/\n\"\\": 1}),
    );
    check(
        r#"{"😀":9007199254740993,"\ud83d\uDE00":1}"#,
        json!({"😀": 1}),
    );
    check(
        r#"{"b":9007199254740993,"\b":1}"#,
        json!({"b": "9007199254740993n", "\u{8}": 1}),
    );
}

#[test]
fn a_text_that_is_no_document_stays_text() {
    for text in [
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{1:2}",
        "{\"a\" 1}",
        "{\"a\":1]",
        "[1}",
        "[}",
        "{]",
        "1 2",
        "nul",
        "truefalse",
        "01",
        "-",
        "1.",
        "\"",
        "\"a",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "'a'",
        "[9007199254740993",
        "NaN",
        "{\"a\":9007199254740993,}",
        "[1]]",
        ",",
        ":",
        "\"a\":1",
        "\u{feff}1",
    ] {
        check_string("json", text);
    }
}

#[test]
fn nesting_has_no_limit() {
    const DEPTH: usize = 100_000;
    let nested = |open: &str, middle: &str, close: &str| {
        [&open.repeat(DEPTH), middle, &close.repeat(DEPTH)].concat()
    };
    for text in [nested("[", "0.1", "]"), nested("{\"a\":", "[]", "}")] {
        check("json", &text, &text);
    }
    check_string("json", &nested("[", "1", ""));
    check_string("integer[]", &nested("{", "1", "}"));
    check_string("integer[]", &nested("{", "", ""));
}

#[test]
fn deep_numbers_take_no_more_room_than_their_document_justifies() {
    let deep = [
        "[9007199254740993,".repeat(5_000),
        "[]".into(),
        "]".repeat(5_000),
    ]
    .concat();
    let quoted = deep.replace("9007199254740993", "\"9007199254740993\"");
    check("json", &deep, &quoted);

    let wide = [
        "[".repeat(64),
        vec!["9007199254740993"; 1_000].join(","),
        "]".repeat(64),
    ]
    .concat();
    assert!(!encode_value("json", &wide).ends_with(",[]]"));
}

fn encode_value(postgres: &str, text: &str) -> String {
    let relation = &relation(&[("c", postgres)]);
    let row = Row {
        relation,
        record: &record(text),
    };
    encode_changes(relation, &[Change::Insert(row)])
}

// Anything at all.

impl Rng {
    /// A document, and the value that a host is left with.
    fn document(&mut self, depth: usize) -> (String, Value) {
        match self.index(if depth == 0 { 6 } else { 10 }) {
            0 => ("null".into(), Value::Null),
            1 => (" 1 ".into(), json!(1)),
            2 => (r#""\ud83d\ude00""#.into(), json!("😀")),
            3 => ("9007199254740993".into(), json!("9007199254740993n")),
            4 => ("-90071992547409930".into(), json!("-90071992547409930n")),
            5 => ("1e400".into(), json!("1e400")),
            6 | 7 => {
                let (texts, values): (Vec<_>, Vec<_>) =
                    (0..self.index(4)).map(|_| self.document(depth - 1)).unzip();
                (format!("[{}]", texts.join(",")), values.into())
            }
            _ => {
                let members: Vec<_> = (0..self.index(5))
                    .map(|_| {
                        let key = *self.pick(&[
                            (r#""a""#, "a"),
                            (r#""\u0061""#, "a"),
                            (r#""b""#, "b"),
                            ("\"\"", ""),
                        ]);
                        (key, self.document(depth - 1))
                    })
                    .collect();
                let text: Vec<_> = members
                    .iter()
                    .map(|((key, _), (text, _))| format!("{key}:{text}"))
                    .collect();
                let value = members
                    .into_iter()
                    .map(|((_, name), (_, value))| (name.to_owned(), value));
                (
                    format!("{{{}}}", text.join(",")),
                    value.collect::<serde_json::Map<_, _>>().into(),
                )
            }
        }
    }
}

const TYPES: [&str; 12] = [
    "boolean",
    "bytea",
    "real",
    "bigint",
    "jsonb",
    "text",
    "boolean[]",
    "bytea[]",
    "real[]",
    "bigint[]",
    "jsonb[]",
    "text[]",
];

#[test]
fn any_record_gives_valid_json() {
    let pieces = [
        "\"",
        "\"\"",
        "\\",
        "\\\\",
        "(",
        ")",
        ",",
        "{",
        "}",
        "[",
        "]",
        ":",
        "0",
        "1",
        "-",
        "9007199254740993",
        ".",
        "e",
        "+",
        "1e400",
        "t",
        "f",
        "null",
        "NULL",
        "true",
        "\\x",
        "0a",
        "\\u0041",
        " ",
        "\n",
        "\u{1}",
        "é",
        "\u{2028}",
        "😀",
        "\"a\":",
        "\\\\\"\"",
    ];
    let mut random = Rng::new(0x5eed_0003);
    for _ in 0..10_000 {
        let types: Vec<_> = (0..3).map(|_| ("c", *random.pick(&TYPES))).collect();
        let relation = &relation(&types);
        let mut record = random.text(&pieces, 20);
        if random.index(4) > 0 {
            record = format!("({record})");
        }
        let row = Row {
            relation,
            record: &record,
        };
        encode_changes(relation, &[Change::Update(row, row), Change::Delete(row)]);
    }
}

#[test]
fn any_value_gives_valid_json() {
    let pieces = [
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "0",
        "1",
        "-",
        "9007199254740993",
        ".",
        "e",
        "1e400",
        "t",
        "null",
        "NULL",
        "\\x",
        "0a",
        "\\u0041",
        " ",
        "\"a\"",
        "\"a\":1",
        "\"a\":9007199254740993",
    ];
    let mut random = Rng::new(0x5eed_0004);
    for _ in 0..10_000 {
        let (postgres, mut text) = (*random.pick(&TYPES), random.text(&pieces, 12));
        if random.index(2) > 0 {
            text = format!("{{{text}}}");
        }
        encode_value(postgres, &text);
    }
}

#[test]
fn any_document_is_read_back() {
    let mut random = Rng::new(0x5eed_0005);
    for _ in 0..10_000 {
        let (text, value) = random.document(4);
        assert_eq!(patched("json", &text), value, "{text}");
        let array = format!(
            "{{NULL,\"{}\"}}",
            text.replace('\\', r"\\").replace('"', "\\\"")
        );
        assert_eq!(patched("json[]", &array), json!([null, value]), "{array}");
    }
}

#[test]
fn any_texts_in_arrays_are_read_back() {
    let mut random = Rng::new(0x5eed_0006);
    let pieces = [
        "a", "\"", "\\", "{", "}", ",", " ", "\n", "NULL", "é", "'", ";",
    ];
    for _ in 0..10_000 {
        let texts: Vec<_> = iter::repeat_with(|| random.text(&pieces, 5))
            .take(4)
            .collect();
        let quoted = texts
            .iter()
            .map(|text| format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\"")));
        let array = format!("{{{}}}", quoted.collect::<Vec<_>>().join(","));
        assert_eq!(patched("text[]", &array), json!(texts), "{array}");
    }
}
