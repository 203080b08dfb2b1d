//! Entity streams, as their clients see them.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at once"
)]

use std::fmt::Write;

use millstream::cursor::{Cursor, EventId};
use millstream::engine::Options;
use millstream::record::Input;
use millstream::stream::{PATIENCE_MS, START_MS};
use serde_json::{Value, json};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::client::{Event, read};
use crate::host::{Host, Logged, kind};

fn schema() -> Value {
    json!({ "entities": [
        {
            "name": "user", "relation": "users", "access": { "anonymous": true },
            "events": [{ "name": "changed" }],
            "subscriptions": [{ "name": "all" }],
        },
        {
            "name": "post", "relation": "public.posts",
            "events": [{ "name": "changed", "operations": ["create", "delete"], "topic": "posts" }],
            "subscriptions": [
                { "name": "made", "source": "posts", "eventtypes": ["create"] },
                { "name": "any", "source": "posts", "rls": false, "transports": ["sse"], "scope": "tenant" },
                { "name": "users", "source": "entity.user" },
            ],
        },
        { "name": "silent", "relation": "posts", "access": { "anonymous": true } },
    ] })
}

/// A host with users and posts, whose door is open; the log holds two entries.
fn host() -> Host {
    let mut host = Host::with_tables();
    host.store.time_ms = 1_789_611_912_345;
    assert_eq!(host.open(&schema()), json!([]));
    host
}

fn known(path: &str, query: &Value) -> Value {
    json!({ "method": "GET", "path": path, "query": query, "claims": {} })
}

fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

fn subjects(events: &[Event]) -> Vec<&str> {
    let subject = |event: &'_ Event| event.data["subject"].as_str().is_some();
    let events = events.iter().filter(|event| subject(event));
    events
        .map(|event| event.data["subject"].as_str().unwrap())
        .collect()
}

#[test]
fn frames_are_the_documented_bytes() {
    let mut host = host();
    host.get(1, "/subscribe/user", &json!([["lifetime", "90s"]]));
    host.write(&[1]);
    let tag = EventId::tag("e1");
    let id = |seq| {
        let mut id = Vec::new();
        let (time_ms, cursor) = (1_789_611_912_345, Cursor::after(seq));
        EventId {
            time_ms,
            tag,
            cursor,
        }
        .write(&mut id);
        String::from_utf8(id).unwrap()
    };
    let (start, event) = (id(2), id(3));
    assert_eq!(
        host.connection(1).text(),
        format!(
            "retry: 2000\n\
             : subscribed entity=user subscription=all closing-in=1m30s\n\
             \n\
             id: {start}\n\
             \n\
             id: {event}\n\
             event: entity.create\n\
             data: {{\"id\":\"{event}\",\"type\":\"entity.create\",\"entity\":\"user\",\
             \"operation\":\"create\",\"subject\":\"3\",\"time\":\"2026-09-17T02:25:12Z\",\
             \"tenant\":\"acme\"}}\n\
             \n"
        )
    );
    assert_eq!(
        host.connection(1).response,
        json!({ "status": 200, "body": null, "headers": [
            ["Content-Type", "text/event-stream"],
            ["Cache-Control", "no-cache, no-transform"],
            ["X-Accel-Buffering", "no"],
        ] })
    );
}

#[test]
fn the_connection_header_is_for_connections_of_http_1_alone() {
    let mut host = host();
    for (id, version, is_there) in [(1, "1.1", true), (2, "2.0", false)] {
        let request = json!({ "method": "GET", "path": "/subscribe/user", "httpVersion": version });
        let headers = host.request(id, &request).response["headers"].to_string();
        assert_eq!(headers.contains("keep-alive"), is_there, "{version}");
    }
}

#[test]
fn a_head_request_gets_the_headers_and_no_stream() {
    let mut host = host();
    let request = json!({ "method": "HEAD", "path": "/subscribe/user" });
    let connection = host.request(1, &request);
    assert_eq!((connection.status(), connection.is_closed), (200, true));
    assert_eq!(host.statistics()["activeSubscriptions"], 0);
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn every_refusal_has_its_status_its_code_and_what_would_be_accepted() {
    let mut host = host();
    let all = json!(["made", "any", "users"]);
    for (path, query, status, code, accepted) in [
        ("/nowhere", json!([]), 404, "not_found", json!(null)),
        (
            "/subscribe/user/x",
            json!([]),
            404,
            "not_found",
            json!(null),
        ),
        (
            "/subscribe/order",
            json!([]),
            404,
            "entity_not_found",
            json!(null),
        ),
        (
            "/subscribe/%75ser%00",
            json!([]),
            404,
            "entity_not_found",
            json!(null),
        ),
        (
            "/subscribe/silent",
            json!([]),
            404,
            "no_subscription_declared",
            json!(null),
        ),
        (
            "/subscribe/post",
            json!([["name", "mine"]]),
            404,
            "subscription_not_found",
            json!({ "subscriptions": all }),
        ),
        (
            "/subscribe/post",
            json!([]),
            400,
            "subscription_ambiguous",
            json!({ "subscriptions": all }),
        ),
        (
            "/subscribe/post",
            json!([["name", "any"], ["name", "made"]]),
            400,
            "subscription_ambiguous",
            json!({ "subscriptions": all }),
        ),
        (
            "/subscribe/post",
            json!([["name", "made"], ["ops", "delete"]]),
            400,
            "bad_ops",
            json!({ "ops": ["create"] }),
        ),
        (
            "/subscribe/user",
            json!([["ops", "insert"]]),
            400,
            "bad_ops",
            json!({ "ops": ["create", "update", "delete"] }),
        ),
        (
            "/subscribe/user",
            json!([["ops", ""]]),
            400,
            "bad_ops",
            json!({ "ops": ["create", "update", "delete"] }),
        ),
        (
            "/subscribe/user",
            json!([["since", "-1"]]),
            400,
            "bad_since",
            json!(null),
        ),
        (
            "/subscribe/user",
            json!([["since", "007"]]),
            400,
            "bad_since",
            json!(null),
        ),
        (
            "/subscribe/user",
            json!([["since", "1e3"]]),
            400,
            "bad_since",
            json!(null),
        ),
        (
            "/subscribe/user",
            json!([["since", "99999999999999999999"]]),
            400,
            "bad_since",
            json!(null),
        ),
        (
            "/subscribe/user",
            json!([["since", "3"]]),
            400,
            "bad_since",
            json!(null),
        ),
        (
            "/subscribe/user",
            json!([["since", "1"], ["since", "2"]]),
            400,
            "bad_since",
            json!(null),
        ),
    ] {
        let connection = host.request(1, &known(path, &query));
        assert_eq!(
            (connection.status(), &connection.error()["code"]),
            (status, &json!(code)),
            "{path} {query}"
        );
        let mut error = connection.error();
        let error = error.as_object_mut().unwrap();
        assert!(error.remove("code").is_some() && error.remove("message").is_some());
        let shown = if error.is_empty() {
            Value::Null
        } else {
            json!(error)
        };
        assert_eq!(shown, accepted, "{path} {query}");
    }
}

#[test]
fn durations_out_of_range_are_refused_and_never_clamped() {
    let mut host = host();
    for (key, code, bad) in [
        (
            "heartbeat",
            "bad_heartbeat",
            [
                "999ms", "5m1ms", "600h", "0s", "5", "5x", "-5s", "Infinity", "1e3s", "",
            ],
        ),
        (
            "lifetime",
            "bad_lifetime",
            [
                "999ms",
                "4h0m1s",
                "9999h",
                "0",
                "1",
                "1 s",
                "s",
                "1h30",
                "30m 0s",
                "99999999999999999999h",
            ],
        ),
    ] {
        for text in bad {
            let connection = host.get(1, "/subscribe/user", &json!([[key, text]]));
            assert_eq!(
                (connection.status(), &connection.error()["code"]),
                (400, &json!(code)),
                "{key}={text}"
            );
            let message = connection.error()["message"].to_string();
            assert!(
                message.contains("1s")
                    && message.contains(if key == "lifetime" { "4h0m0s" } else { "5m0s" })
            );
        }
    }
}

#[test]
fn other_methods_are_refused_with_those_that_are_taken() {
    let mut host = host();
    let post = json!({ "method": "POST", "path": "/subscribe/user" });
    let connection = host.request(1, &post);
    assert_eq!(
        (connection.status(), &connection.error()["code"]),
        (405, &json!("method_not_allowed"))
    );
    assert!(
        connection.response["headers"]
            .to_string()
            .contains(r#"["Allow","GET, HEAD, OPTIONS"]"#)
    );
    let options = host.request(
        1,
        &json!({ "method": "OPTIONS", "path": "/subscribe/user" }),
    );
    assert_eq!(options.status(), 204);
}

#[test]
fn callers_that_nobody_knows_are_told_nothing_but_that() {
    let mut host = host();
    for query in [json!([]), json!([["name", "none"]]), json!([["ops", "x"]])] {
        let connection = host.get(1, "/subscribe/post", &query);
        assert_eq!(
            (connection.status(), &connection.error()["code"]),
            (401, &json!("unauthenticated"))
        );
        assert!(
            !connection.response.to_string().contains("made"),
            "{}",
            connection.response
        );
    }
    let of_another_tenant =
        json!({ "method": "GET", "path": "/subscribe/user", "claims": { "tenant": "other" } });
    assert_eq!(
        host.request(1, &of_another_tenant).error()["code"],
        "entity_not_found"
    );
    let of_this_tenant =
        json!({ "method": "GET", "path": "/subscribe/user", "claims": { "tenant": "acme" } });
    assert_eq!(host.request(1, &of_this_tenant).status(), 200);
}

#[test]
fn whoever_the_database_refuses_gets_no_stream() {
    let mut host = host();
    for (outcome, status, code) in [
        (json!({ "denied": "permission denied" }), 403, "forbidden"),
        (json!({ "guarded": true }), 403, "forbidden"),
        (json!({ "failed": "busy" }), 503, "log_unreadable"),
        (json!({}), 403, "forbidden"),
    ] {
        host.streams.outcome = outcome;
        let connection = host.get(1, "/subscribe/user", &json!([]));
        assert_eq!(
            (connection.status(), &connection.error()["code"]),
            (status, &json!(code))
        );
    }
    assert_eq!(host.statistics()["activeSubscriptions"], 0);
}

#[test]
fn expired_credentials_are_refused_and_end_a_stream_when_they_expire() {
    let mut host = host();
    let with = |exp: Value| json!({ "method": "GET", "path": "/subscribe/user", "claims": { "exp": exp } });
    assert_eq!(host.request(1, &with(json!(1_000))).status(), 401);
    assert_eq!(host.request(2, &with(json!("soon"))).status(), 401);
    assert_eq!(host.request(3, &with(json!(1_010))).status(), 200);
    host.advance(9_999);
    assert!(!host.connection(3).is_closed);
    host.advance(1);
    assert!(host.connection(3).is_closed);
}

#[test]
fn operations_narrow_what_is_declared_and_what_is_published() {
    let mut host = host();
    host.request(1, &known("/subscribe/post", &json!([["name", "made"]])));
    host.request(
        2,
        &known(
            "/subscribe/post",
            &json!([["name", "any"], ["ops", "delete"]]),
        ),
    );
    host.request(
        3,
        &known(
            "/subscribe/post",
            &json!([["name", "users"], ["ops", "update,delete"]]),
        ),
    );
    host.request(
        4,
        &known(
            "/subscribe/post",
            &json!([["name", "any"], ["ops", "create"], ["ops", "delete"]]),
        ),
    );
    for op in ['i', 'u', 'd'] {
        host.store.begin();
        host.store.write(2, op, "x");
        host.store.write(1, op, "x");
        host.store.end(true);
    }
    host.wake();
    host.settle();
    let of = |id| host.connection(id).events();
    assert_eq!(kinds(&of(1)), ["entity.create"]);
    assert_eq!(kinds(&of(2)), ["entity.delete"]);
    assert_eq!(kinds(&of(3)), ["entity.update", "entity.delete"]);
    assert_eq!(of(3)[0].data["entity"], "user");
    assert_eq!(kinds(&of(4)), ["entity.create", "entity.delete"]);
}

#[test]
fn everybody_gets_the_same_ids_and_they_grow() {
    let mut host = host();
    host.get(1, "/subscribe/user", &json!([]));
    host.get(2, "/subscribe/user", &json!([["ops", "create,update"]]));
    for _ in 0..5 {
        host.write(&[1, 1, 2]);
    }
    let [one, two] = [1, 2].map(|id| host.connection(id).events());
    assert_eq!(one, two);
    assert!(one.is_sorted_by(|a, b| a.id < b.id), "as text");
    assert!(one.iter().all(|event| event.data["id"] == event.id));
}

#[test]
fn a_changed_key_is_a_delete_and_a_create_between_which_a_client_may_resume() {
    let mut host = host();
    host.get(1, "/subscribe/user", &json!([]));
    host.store.begin();
    host.store.write(1, 'u', "x");
    let changed: &mut Logged = host.store.open.as_mut().unwrap().last_mut().unwrap();
    changed.new = Some("(77,x)".into());
    host.store.end(true);
    host.wake();
    host.settle();
    let events = host.connection(1).events();
    assert_eq!(kinds(&events), ["entity.delete", "entity.create"]);
    assert_eq!(subjects(&events), ["3", "77"]);
    assert!(events[0].id < events[1].id);

    assert_eq!(host.resume(2, &events[0].id).events(), events[1..]);
    assert_eq!(host.resume(3, &events[1].id).events(), []);
    // A stream that was given the first alone goes on with the second, under another engine too.
    host.crash();
    host.settle();
    assert_eq!(host.connection(1).events(), events);
}

#[test]
fn a_stream_resumes_with_nothing_missed_or_doubled() {
    let mut host = host();
    host.get(1, "/subscribe/user", &json!([]));
    for _ in 0..4 {
        host.write(&[1, 2, 1]);
    }
    let all = host.connection(1).events();
    assert_eq!(all.len(), 8);
    for (index, event) in all.iter().enumerate() {
        let id = 10 + u32::try_from(index).unwrap();
        assert_eq!(
            host.resume(id, &event.id).events(),
            all[index + 1..],
            "after {index}"
        );
    }
    let from_seq = host.get(30, "/subscribe/user", &json!([["since", "2"]]));
    assert_eq!(from_seq.events(), all);
    let from_event = host.get(31, "/subscribe/user", &json!([["since", all[6].id]]));
    assert_eq!(from_event.events(), all[7..]);
    let both = json!({
        "method": "GET", "path": "/subscribe/user",
        "query": [["since", "2"]], "lastEventId": all[6].id,
    });
    assert_eq!(
        host.request(32, &both).events(),
        all[7..],
        "the header beats the parameter"
    );
    // What follows reaches all of them.
    host.write(&[1]);
    let next = host.connection(1).events().pop().unwrap();
    for id in (10..18).chain([30, 31, 32]) {
        assert_eq!(
            host.connection(id).events().pop().as_ref(),
            Some(&next),
            "{id}"
        );
    }
}

#[test]
fn the_cursor_at_the_start_lets_a_client_resume_that_saw_no_event() {
    let mut host = host();
    let cursor = host.get(1, "/subscribe/user", &json!([])).last_id();
    host.leave(1);
    host.write(&[1]);
    assert_eq!(subjects(&host.resume(2, &cursor).events()), ["3"]);
}

#[test]
fn a_log_that_no_longer_reaches_back_is_one_gap_and_then_what_is_left() {
    let mut host = host();
    let first = host.get(1, "/subscribe/user", &json!([])).last_id();
    host.write(&[1, 1, 1, 1]);
    host.store.oldest = 5;
    for (id, connection) in [
        (
            2,
            json!({ "method": "GET", "path": "/subscribe/user", "lastEventId": first }),
        ),
        (
            3,
            json!({ "method": "GET", "path": "/subscribe/user", "query": [["since", "1"]] }),
        ),
    ] {
        let events = host.request(id, &connection).events();
        assert_eq!(kinds(&events), ["gap", "entity.create", "entity.create"]);
        assert_eq!(events[0].data["reason"], "trimmed");
        assert_eq!(subjects(&events), ["5", "6"]);
        assert!(events[0].id < events[1].id);
        // Whoever saw the gap does not see it again.
        assert_eq!(
            kinds(&host.resume(9, &events[0].id).events()),
            ["entity.create", "entity.create"]
        );
        host.leave(9);
    }
}

#[test]
fn an_id_of_another_log_or_from_ahead_is_a_gap() {
    let mut host = host();
    host.get(1, "/subscribe/user", &json!([]));
    host.write(&[1, 1]);
    let events = host.connection(1).events();
    let mut ahead = Vec::new();
    EventId {
        cursor: Cursor::after(500),
        ..events[1].id()
    }
    .write(&mut ahead);
    let ahead = String::from_utf8(ahead).unwrap();
    let told = host.resume(2, &ahead).events();
    assert_eq!(
        (kinds(&told), &told[0].data["reason"]),
        (vec!["gap"], &json!("other_log"))
    );

    host.store.epoch = "e2".into();
    host.wake();
    host.settle();
    let told = host.connection(1).events();
    assert_eq!(
        (kinds(&told[2..]), &told[2].data["reason"]),
        (vec!["gap"], &json!("other_log"))
    );
    let told = host.resume(3, &events[1].id).events();
    assert_eq!(
        (kinds(&told), &told[0].data["reason"]),
        (vec!["gap"], &json!("other_log"))
    );
    host.write(&[1]);
    for id in 1..=3 {
        assert_eq!(
            host.connection(id).events().pop().unwrap().kind,
            "entity.create"
        );
    }
}

#[test]
fn last_event_ids_that_are_none_are_refused_and_an_empty_one_is_not_there() {
    let mut host = host();
    for id in [
        "abc",
        "-1",
        "1e3",
        "007",
        "99999999999999999999",
        "81M2P1R18V26CMVBZ1DC0AS1Z1",
        "01M2P1R18V26CMVBZ1DC0AS1ZU",
        "ab\0cd",
    ] {
        let connection = host.resume(1, id);
        assert_eq!(
            (connection.status(), &connection.error()["code"]),
            (400, &json!("bad_since")),
            "{id}"
        );
    }
    assert_eq!(host.resume(1, "").status(), 200);
}

#[test]
fn truncating_an_entity_is_told_as_a_gap() {
    let mut host = host();
    host.get(1, "/subscribe/user", &json!([["ops", "create"]]));
    host.store.begin();
    host.store.write(1, 't', "");
    host.store.end(true);
    host.write(&[1]);
    let events = host.connection(1).events();
    assert_eq!(kinds(&events), ["gap", "entity.create"]);
    assert_eq!(events[0].data["reason"], "truncated");
}

#[test]
fn a_stalled_reader_loses_what_is_beyond_64_for_itself_alone_and_is_told() {
    let mut host = host();
    for id in [1, 2] {
        host.get(id, "/subscribe/user", &json!([]));
    }
    host.set_full(1, true);
    for _ in 0..74 {
        host.write(&[1]);
    }
    host.advance(PATIENCE_MS);
    let told = host.statistics();
    assert_eq!(
        (&told["dropped"], &told["pending"], &told["delivered"]),
        (&json!(10), &json!(64), &json!(74))
    );
    host.write(&[1]);
    assert_eq!(host.statistics()["dropped"], 11);

    host.set_full(1, false);
    let events = host.connection(1).events();
    assert_eq!(events.len(), 65);
    assert_eq!(
        (events[0].kind.as_str(), &events[0].data["dropped"]),
        ("gap", &json!(11))
    );
    assert_eq!(events[1..], host.connection(2).events()[11..]);
    assert_eq!(host.connection(2).events().len(), 75);
    assert!(events.is_sorted_by(|a, b| a.id < b.id));
    let told = host.statistics();
    assert_eq!(
        (&told["dropped"], &told["pending"], &told["delivered"]),
        (&json!(11), &json!(0), &json!(75 + 64))
    );
    // Whoever was cut before the gap arrived goes on before it, and misses nothing.
    host.write(&[1]);
    assert_eq!(
        host.connection(1).events().pop(),
        host.connection(2).events().pop()
    );
}

#[test]
fn a_reader_whose_sink_was_full_for_a_moment_loses_nothing() {
    let mut host = host();
    for id in [1, 2] {
        host.get(id, "/subscribe/user", &json!([]));
    }
    host.set_full(1, true);
    for _ in 0..300 {
        host.write(&[1]);
    }
    host.advance(PATIENCE_MS - 1);
    host.set_full(1, false);
    assert_eq!(host.connection(1).events(), host.connection(2).events());
    assert_eq!(host.connection(1).events().len(), 300);
    assert_eq!(host.statistics()["dropped"], 0);
}

#[test]
fn a_burst_reaches_every_reader_that_keeps_up_whole_and_in_few_writes() {
    let mut host = host();
    for id in 1..=3 {
        host.get(id, "/subscribe/user", &json!([]));
    }
    host.write(&vec![1; 10_000]);
    for id in 1..=3 {
        let connection = host.connection(id);
        assert_eq!(connection.events().len(), 10_000);
        assert!(connection.n_writes < 60, "{} writes", connection.n_writes);
    }
    assert_eq!(host.statistics()["delivered"], 30_000);
}

#[test]
fn events_of_one_reading_are_one_write() {
    let mut host = host();
    host.get(1, "/subscribe/user", &json!([]));
    let before = host.connection(1).n_writes;
    host.store.commit_each(&[1, 1, 2, 1]);
    host.wake();
    host.settle();
    assert_eq!(host.connection(1).n_writes, before + 1);
    assert_eq!(host.connection(1).events().len(), 3);
}

#[test]
fn subscribers_of_the_same_are_given_one_encoding() {
    let mut host = host();
    for id in 1..=50 {
        host.get(id, "/subscribe/user", &json!([]));
    }
    host.store.commit(&[1]);
    host.wake();
    host.answer();
    assert_eq!(host.count(kind::FRAMES), 1);
    host.settle();
}

#[test]
fn a_quiet_stream_is_pinged_and_ends_with_its_lifetime() {
    let mut host = host();
    host.get(
        1,
        "/subscribe/user",
        &json!([["heartbeat", "1s"], ["lifetime", "3500ms"]]),
    );
    let head = host.connection(1).bytes.len();
    host.advance(3_499);
    assert_eq!(
        &host.connection(1).text()[head..],
        ": ping\n\n: ping\n\n: ping\n\n"
    );
    assert!(!host.connection(1).is_closed);
    host.advance(1);
    assert!(
        host.connection(1)
            .text()
            .ends_with(": closing, reconnect\n\n")
    );
    assert!(host.connection(1).is_closed);
    assert_eq!(host.statistics()["activeSubscriptions"], 0);
    assert_eq!(host.wait, u64::MAX, "no timer is left");
}

#[test]
fn a_stream_with_no_room_is_not_pinged_and_ends_all_the_same() {
    let mut host = host();
    host.get(
        1,
        "/subscribe/user",
        &json!([["heartbeat", "1s"], ["lifetime", "3s"]]),
    );
    host.set_full(1, true);
    host.write(&[1]);
    host.advance(3_000);
    assert!(!host.connection(1).text().contains("ping"));
    assert!(host.connection(1).is_closed);
    let told = host.statistics();
    assert_eq!(
        (&told["dropped"], &told["activeSubscriptions"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn whoever_leaves_at_any_moment_leaves_nothing_behind() {
    let mut host = host();
    let request = json!({ "method": "GET", "path": "/subscribe/user" });
    // Before its read, before its first reading, live, full, and behind.
    host.send(1, &request);
    host.leave(1);
    host.settle();
    host.send(2, &request);
    let (input, id, payload) = host.streams.answers.pop_front().unwrap();
    host.input(input, id, payload.as_bytes());
    host.leave(2);
    host.settle();
    host.get(3, "/subscribe/user", &json!([]));
    host.leave(3);
    host.get(4, "/subscribe/user", &json!([]));
    host.set_full(4, true);
    host.write(&[1]);
    host.leave(4);
    host.send(
        5,
        &json!({ "method": "GET", "path": "/subscribe/user", "query": [["since", "0"]] }),
    );
    host.leave(5);
    host.settle();
    let told = host.statistics();
    assert_eq!(
        (
            &told["activeSubscriptions"],
            &told["activeTopics"],
            &told["pending"]
        ),
        (&json!(0), &json!(0), &json!(0))
    );
    let readings = host.n_readings;
    host.write(&[1]);
    host.advance(1_000_000);
    assert!(
        host.n_readings <= readings + 1,
        "nobody listens, so nothing is read but for trimming"
    );
}

#[test]
fn closing_ends_every_stream_and_refuses_those_to_come() {
    let mut host = host();
    host.get(1, "/subscribe/user", &json!([]));
    host.send(2, &json!({ "method": "GET", "path": "/subscribe/user" }));
    host.input(Input::Close, 0, &[]);
    assert!(
        host.connection(1)
            .text()
            .ends_with(": closing, reconnect\n\n")
    );
    assert!(host.connection(1).is_closed && host.connection(2).is_closed);
    assert_eq!(host.connection(2).status(), 503);
    let late = host.get(3, "/subscribe/user", &json!([]));
    assert_eq!(
        (late.status(), &late.error()["code"]),
        (503, &json!("closed"))
    );
}

#[test]
fn a_log_that_cannot_be_read_keeps_nobody_waiting_for_ever() {
    let mut host = host();
    host.send(1, &json!({ "method": "GET", "path": "/subscribe/user" }));
    let (input, id, payload) = host.streams.answers.pop_front().unwrap();
    host.input(input, id, payload.as_bytes());
    host.fail_reading();
    host.store.begin();
    host.advance(START_MS);
    let connection = host.connection(1);
    assert_eq!(
        (connection.status(), &connection.error()["code"]),
        (503, &json!("log_unreadable"))
    );
    host.store.end(false);
}

#[test]
fn entries_that_cannot_be_had_are_told_as_a_gap_to_those_whom_they_concern() {
    let mut host = Host::with_tables_and(Options {
        quarantine: vec![3],
        ..Options::default()
    });
    assert_eq!(host.open(&schema()), json!([]));
    host.get(1, "/subscribe/user", &json!([]));
    host.request(2, &known("/subscribe/post", &json!([["name", "any"]])));
    host.write(&[1]);
    host.write(&[1, 2]);
    let events = host.connection(1).events();
    assert_eq!(kinds(&events), ["gap", "entity.create"]);
    assert_eq!(events[0].data["reason"], "poison");
    assert_eq!(kinds(&host.connection(2).events()), ["entity.create"]);
}

#[test]
fn streams_go_on_without_a_seam_under_another_engine() {
    let mut host = host();
    host.get(
        1,
        "/subscribe/user",
        &json!([["heartbeat", "1s"], ["lifetime", "10s"]]),
    );
    host.get(2, "/subscribe/user", &json!([]));
    host.set_full(2, true);
    host.write(&[1, 1]);
    host.store.commit(&[1]);
    host.advance(4_000);
    host.crash();
    host.settle();
    host.write(&[1]);
    host.set_full(2, false);
    let events = host.connection(1).events();
    assert_eq!(subjects(&events), ["3", "4", "5", "6"]);
    assert_eq!(subjects(&host.connection(2).events()), ["3", "4", "5", "6"]);
    assert_eq!(host.connection(1).text().matches("retry").count(), 1);
    host.advance(5_999);
    assert!(!host.connection(1).is_closed);
    host.advance(1);
    assert!(
        host.connection(1).is_closed,
        "its life is counted from its own beginning"
    );
}

#[test]
fn a_schema_is_refused_whole_with_the_path_of_each_mistake() {
    let mut host = Host::with_tables();
    let document = json!({
        "entites": [], "subscriptions": [],
        "entities": [
            {
                "name": "user", "relation": "usres", "evnts": [], "rows": "x",
                "access": { "anonymus": true, "read": "true" },
                "events": [
                    { "name": "a", "operations": ["create", "insert", "create"], "format": "xml" },
                    { "name": "a", "topic": "entity.user", "condition": "x" },
                    "b",
                ],
                "subscriptions": [
                    { "name": "x", "source": "entity.usr", "transports": ["ws"], "fieldgroup": "f" },
                    { "name": "x", "rls": true, "scope": "user", "filter": "f", "eventtypes": [] },
                    { "rls": "yes" },
                ],
            },
            { "name": "user" },
            { "name": "line\nbreak" },
            { "relation": 5 },
        ],
    });
    let refusals = host.open(&document);
    let told: Vec<(&str, &str)> = refusals
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["path"].as_str().unwrap(), it["code"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("entites", "unknown_key"),
            ("subscriptions", "unsupported_key"),
            ("entities[0].evnts", "unknown_key"),
            ("entities[0].rows", "unsupported_key"),
            ("entities[0].access.anonymus", "unknown_key"),
            ("entities[0].access.read", "unsupported_key"),
            ("entities[0].events[2]", "bad_value"),
            ("entities[0].events[0].format", "bad_value"),
            ("entities[0].events[0].operations[1]", "bad_value"),
            ("entities[0].events[0].operations[2]", "bad_value"),
            ("entities[0].events[1].condition", "unsupported_key"),
            ("entities[0].events[1].topic", "duplicate_name"),
            ("entities[0].events[1].name", "duplicate_name"),
            ("entities[1].name", "duplicate_name"),
            ("entities[2].name", "bad_value"),
            ("entities[3].name", "missing_key"),
            ("entities[3].relation", "bad_value"),
            ("entities[0].subscriptions[0].fieldgroup", "unsupported_key"),
            ("entities[0].subscriptions[0].transports[0]", "bad_value"),
            ("entities[0].subscriptions[0].source", "topic_not_published"),
            ("entities[0].subscriptions[1].filter", "unsupported_key"),
            ("entities[0].subscriptions[1].scope", "unsupported_key"),
            ("entities[0].subscriptions[1].rls", "unsupported_key"),
            ("entities[0].subscriptions[1].eventtypes", "bad_value"),
            (
                "entities[0].subscriptions[1].eventtypes",
                "topic_not_published"
            ),
            ("entities[0].subscriptions[2].name", "missing_key"),
            ("entities[0].subscriptions[2].rls", "bad_value"),
        ]
    );
    let message = refusals[0]["message"].as_str().unwrap();
    assert!(message.contains("did you mean 'entities'?"), "{message}");
    assert_eq!(
        host.get(1, "/subscribe/user", &json!([])).status(),
        503,
        "nothing is half open"
    );
}

#[test]
fn relations_that_cannot_be_streamed_are_refused_at_boot() {
    let mut host = Host::with_tables();
    let entity = |name: &str, relation: &str| json!({ "name": name, "relation": relation, "events": [{ "name": "e" }], "subscriptions": [{ "name": "s" }] });
    let document = json!({ "entities": [entity("a", "usres"), entity("b", "posts"), entity("c", "other.users")] });
    let refusals = host.open_guarded(&document, &json!([["public", "posts"]]));
    let told: Vec<_> = refusals
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["path"], &it["code"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!("entities[0].relation"), &json!("relation_not_found")),
            (&json!("entities[1].subscriptions"), &json!("row_rules")),
            (&json!("entities[2].relation"), &json!("relation_not_found")),
        ]
    );
    assert!(
        refusals[0]["message"]
            .as_str()
            .unwrap()
            .contains("did you mean 'users'?")
    );
}

#[test]
fn names_and_keys_cannot_break_or_forge_a_frame() {
    let evil = "x\u{2028}\u{2029}\u{feff}\"\\data: {}";
    let mut host = Host::with_tables();
    let document = json!({ "entities": [{
        "name": evil, "relation": "users", "access": { "anonymous": true },
        "events": [{ "name": "e" }], "subscriptions": [{ "name": evil }],
    }] });
    assert_eq!(host.open(&document), json!([]));
    let mut path = "/subscribe/".to_owned();
    for byte in evil.bytes() {
        write!(path, "%{byte:02X}").unwrap();
    }
    host.get(1, &path, &json!([]));
    let head = host.connection(1).bytes.len();
    for key in [
        "\n\r\r\ndata: forged\n\n",
        "a\u{2028}b\u{2029}c\u{85}d\u{feff}e",
        "\u{0}\u{1b}",
        "id: 1",
    ] {
        host.store.begin();
        host.store.write(1, 'i', "");
        // The key's column says that it is a number; a text that is none is a string.
        host.store.open.as_mut().unwrap().last_mut().unwrap().new = Some(format!("(\"{key}\",)"));
        host.store.end(true);
    }
    host.wake();
    host.settle();
    let connection = host.connection(1);
    let events = connection.events();
    assert_eq!(
        subjects(&events),
        [
            "\n\r\r\ndata: forged\n\n",
            "a\u{2028}b\u{2029}c\u{85}d\u{feff}e",
            "\u{0}\u{1b}",
            "id: 1"
        ]
    );
    assert!(events.iter().all(|event| event.data["entity"] == evil));
    let frames = &connection.text()[head..];
    assert!(!frames.contains(['\u{2028}', '\u{2029}', '\u{85}', '\u{feff}', '\r', '\0']));
    // Split at any byte, the same is read.
    for cut in 0..=connection.bytes.len() {
        if let Ok(text) = std::str::from_utf8(&connection.bytes[..cut]) {
            let (seen, _) = read(text.as_bytes());
            assert_eq!(seen[..], events[..seen.len()]);
        }
    }
}

#[test]
fn an_id_is_read_as_it_was_written() {
    for (time_ms, tag, cursor) in [
        (0, 0, Cursor::default()),
        (1, 1, Cursor::within(1)),
        ((1 << 48) - 1, (1 << 26) - 1, Cursor::after((1 << 53) - 1)),
        (
            1_789_611_912_345,
            EventId::tag("epoch"),
            Cursor::after(12_345),
        ),
    ] {
        let id = EventId {
            time_ms,
            tag,
            cursor,
        };
        let mut text = Vec::new();
        id.write(&mut text);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.len(), 26);
        assert_eq!(EventId::parse(&text), Some(id));
        assert_eq!(EventId::parse(&text.to_lowercase()), Some(id));
    }
    assert_eq!(Cursor::after(7).seq(), 7);
    assert_eq!(
        (Cursor::within(7).seq(), Cursor::within(7).is_within()),
        (6, true)
    );
    assert!(Cursor::after(6) < Cursor::within(7) && Cursor::within(7) < Cursor::after(7));
}
