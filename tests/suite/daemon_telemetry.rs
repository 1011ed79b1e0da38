// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An OpenTelemetry collector receives the daemon's decisions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::context::TestContext;
use crate::daemon::{HANG_TIMEOUT, RunningDaemon};

/// Starts a collector. Returns its address and a channel with the path and body of each request.
fn start_collector() -> (String, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, heard) = channel();
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
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}").unwrap();
            let path = head[0].split(' ').nth(1).unwrap().to_owned();
            if sender.send((path, serde_json::from_slice(&body).unwrap())).is_err() {
                return;
            }
        }
    });
    (url, heard)
}

fn next_posted(heard: &Receiver<(String, Value)>, path: &str) -> Value {
    loop {
        let (found, body) = heard.recv_timeout(HANG_TIMEOUT).unwrap();
        if found == path {
            return body;
        }
    }
}

#[test]
fn spans_and_counters_arrive_and_the_last_ones_too() {
    let (url, heard) = start_collector();
    let test = TestContext::new();
    // The variable takes precedence over the settings.
    test.write("home/tenterhook.yaml", "telemetry: {otlp: 'http://127.0.0.1:1'}\nhooks: []\n");
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "50")];
    let mut served = RunningDaemon::in_home(test, &variables);
    served.bash("sudo rm -rf /");
    let spans = next_posted(&heard, "/v1/traces");
    let span = &spans["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    let said = |key: &str| {
        let found = span["attributes"].as_array().unwrap().iter().find(|one| one["key"] == key);
        found.map(|one| one["value"]["stringValue"].as_str().unwrap().to_owned()).unwrap_or_default()
    };
    assert_eq!(span["name"], "pre-tool Bash");
    assert_eq!(
        (said("tenterhook.harness").as_str(), said("tenterhook.verdict").as_str()),
        ("claude-code", "deny")
    );
    assert_eq!(
        said("tenterhook.rule"),
        served.json("/v1/ledger?verdict=deny")["leaves"][0]["leaf"]["policy_rule_id"]
    );
    assert!(!spans.to_string().contains("rm -rf"), "arguments are not exported");
    served.bash("ls");
    served.signal(rustix::process::Signal::TERM);
    assert!(served.wait());
    let mut names = Vec::new();
    let metrics = next_posted(&heard, "/v1/metrics");
    let list = metrics["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    names.extend(list.iter().map(|metric| metric["name"].as_str().unwrap()));
    assert_eq!(
        names,
        [
            "tenterhook.decisions",
            "tenterhook.fallbacks",
            "tenterhook.decision.duration",
            "tenterhook.record.duration"
        ]
    );
    let points = list[0]["sum"]["dataPoints"].as_array().unwrap();
    let all: u64 = points.iter().map(|point| point["asInt"].as_str().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(all, 2);
}

#[test]
fn an_unreachable_collector_delays_no_call() {
    let test = TestContext::new();
    test.write("home/tenterhook.yaml", "telemetry: {otlp: 'http://127.0.0.1:1'}\nhooks: []\n");
    let mut served = RunningDaemon::in_home(test, &[("OTEL_BSP_SCHEDULE_DELAY", "10")]);
    for _ in 0..5 {
        served.bash("ls");
    }
    crate::daemon::until("it is reported", || {
        served.log().contains("cannot send telemetry to the collector").then_some(())
    });
    assert_eq!(
        served.log().matches("cannot send telemetry to the collector").count(),
        1,
        "it is reported once"
    );
    served.signal(rustix::process::Signal::TERM);
    assert!(served.wait());
}
