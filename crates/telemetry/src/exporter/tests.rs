// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};
use tenterhook_event::{Decision, Event, EventId, EventKind, HookCall, Outcome, ToolCall};

use super::*;

/// Starts a collector that responds with `status`. Returns its address and a channel with the requests it received.
fn collector(status: &'static str) -> (String, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = sync_channel(64);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut head) = (String::new(), Vec::new());
            while reader.read_line(&mut line).unwrap() > 2 {
                head.push(std::mem::take(&mut line).to_ascii_lowercase());
            }
            let length = head.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let mut body = vec![0; length.trim().parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            let path = head[0].split(' ').nth(1).unwrap().to_owned();
            assert!(head.iter().any(|line| line.starts_with("x-key: abc")), "{head:?}");
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
            if sender.send((path, serde_json::from_slice(&body).unwrap())).is_err() {
                return;
            }
        }
    });
    (url, received)
}

fn otlp(url: &str) -> OtlpCollector {
    let headers = BTreeMap::from([("x-key".to_owned(), "abc".to_owned())]);
    OtlpCollector { headers, spans_every: Duration::from_millis(20), ..OtlpCollector::new(url) }
}

fn now() -> Timestamp {
    Timestamp::from_unix_ms(1_800_000_000_000)
}

fn call() -> HookCall {
    let mut event = Event::new(
        EventId::from_parts(7, 9),
        Timestamp::from_unix_ms(1000),
        "codex",
        EventKind::PreTool,
        "x",
    );
    event.tool = Some(ToolCall::new("shell", json!({"command": "ls"})));
    HookCall { event, native: None }
}

#[test]
fn a_collector_gets_spans_and_counters() {
    let (url, received) = collector("200 OK");
    let metrics = Arc::new(Metrics::default());
    let exporter = Exporter::start(otlp(&url), Arc::clone(&metrics), now).unwrap();
    let (call, outcome) = (call(), Outcome { decision: Decision::Deny, ..Outcome::default() });
    let decided = DecidedCall {
        call: &call,
        outcome: &outcome,
        generation: "g1",
        took_us: 1500,
        facts: None,
        file_effects: None,
    };
    metrics.count_decision(
        &call.event,
        outcome.decision,
        Duration::from_micros(1500),
        Duration::from_micros(300),
    );
    exporter.export_decision(&decided);
    let (path, body) = received.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(path, "/v1/traces");
    let span = &body["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!(span["name"], "pre-tool shell");
    assert_eq!(
        (&span["startTimeUnixNano"], &span["endTimeUnixNano"]),
        (&json!("1000000000"), &json!("1001500000"))
    );
    assert_eq!(span["traceId"].as_str().unwrap().len(), 32);
    assert_eq!(span["spanId"], "0000000000000009");
    let attribute = |key: &str| {
        let attributes = span["attributes"].as_array().unwrap();
        attributes.iter().find(|one| one["key"] == key).map(|one| one["value"]["stringValue"].clone())
    };
    assert_eq!(attribute("tenterhook.verdict"), Some(json!("deny")));
    assert_eq!(attribute("tenterhook.generation"), Some(json!("g1")));
    assert_eq!(attribute("tenterhook.rule"), None);
    exporter.close();
    let (path, body) = received.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(path, "/v1/metrics");
    let metrics = &body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    assert_eq!(metrics[0]["sum"]["dataPoints"][0]["asInt"], "1");
    let times = &metrics[2]["histogram"]["dataPoints"][0];
    let (counts, bounds) = (&times["bucketCounts"], &times["explicitBounds"]);
    assert_eq!(counts.as_array().unwrap().len(), bounds.as_array().unwrap().len() + 1);
    assert_eq!((&times["count"], &times["sum"]), (&json!("1"), &json!(0.0015)));
}

#[test]
fn without_a_collector_no_call_waits() {
    // The port was just released, so no process listens on it.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let exporter = Exporter::start(otlp(&format!("http://{gone}")), Arc::default(), now).unwrap();
    let (call, outcome) = (call(), Outcome::default());
    let decided = DecidedCall {
        call: &call,
        outcome: &outcome,
        generation: "",
        took_us: 1,
        facts: None,
        file_effects: None,
    };
    for _ in 0..20 * MAX_WAITING_SPANS {
        exporter.export_decision(&decided);
    }
    exporter.close();
}
