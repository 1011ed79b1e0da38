// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the server sends out: alerts, waiting approvals, and decisions for a collector.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_fleet_protocol::{ApprovalRequest, FleetMessage as _, InstanceId, Subject};
use tenterhook_test_support::wait_until;

use crate::http_collector::HttpCollector;
use crate::machine::{Machine, block_on, now};
use crate::trial::Trial;

/// Writes the URL of a webhook to a file, as the server reads it.
fn url_file(collector: &HttpCollector) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &collector.url).unwrap();
    std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o600)).unwrap();
    file
}

fn wait<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    wait_until(what, || {
        std::thread::sleep(Duration::from_millis(100));
        found()
    })
}

#[test]
fn an_alert_that_a_webhook_refuses_does_not_hold_up_the_next_one() {
    let collector = HttpCollector::start(|body| body["alert"]["host"] != "host-1");
    let file = url_file(&collector);
    let path = file.path().display().to_string();
    let Some(trial) = Trial::start(&["default"], &["--alert-webhook-file", &path]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 2));
    let cloned = |seed: u8| {
        let machine = block_on(Machine::join(&url, &token, seed));
        assert_eq!(machine.renew(&url, InstanceId([99; 16])).0, 403);
    };
    cloned(1);
    wait("a refused delivery", || (collector.refused() > 0).then_some(()));
    cloned(2);
    let (_, body) = wait("the delivery of the second alert", || collector.accepted().into_iter().next());
    assert_eq!(
        (&body["alert"]["host"], &body["alert"]["kind"]),
        (&json!("host-2"), &json!("machine-key-cloned"))
    );
    // The first one is tried again, at longer and longer intervals.
    wait("another attempt", || (collector.refused() > 1).then_some(()));
    let delivered = trial.query("select count(*) from alert_deliveries where delivered is not null");
    assert_eq!(delivered[0][0].as_deref(), Some("1"));
}

#[test]
fn a_waiting_approval_is_announced_as_a_link_without_its_arguments() {
    let (webhook, slack) = (HttpCollector::start(|_| true), HttpCollector::start(|_| true));
    let files = [url_file(&webhook), url_file(&slack)];
    let [json_file, slack_file] = files.each_ref().map(|file| file.path().display().to_string());
    let options = ["--approval-webhook-file", &json_file, "--approval-slack-file", &slack_file];
    let Some(trial) = Trial::start(&["default"], &options) else { return };
    let (url, token) = (trial.url(), trial.token("default", 1));
    block_on(async {
        let machine = Machine::join(&url, &token, 1).await;
        let call = json!({
            "id": "01M7F3GRZQ0000000000000001", "source": "claude-code", "tool": "Bash", "user": "dev",
            "wants": "rm -rf /srv/payroll", "args": { "command": "rm -rf /srv/payroll" },
        });
        let request = ApprovalRequest {
            machine: machine.id.clone(),
            approval: "01M7F3GRZQ0000000000000001".to_owned(),
            call: call.to_string(),
            expires: now() + 600,
            closed: false,
        };
        let subject = Subject::Ask(&machine.id).to_string();
        machine.nats.publish(subject, request.encode().unwrap().into()).await.unwrap();
        machine.nats.flush().await.unwrap();
        for (target, collector) in [("webhook", &webhook), ("slack", &slack)] {
            let (_, body) = wait(target, || collector.accepted().into_iter().next());
            let text = body.to_string();
            assert!(text.contains(&format!("{url}/#/approvals")), "{text}");
            assert!(text.contains("01M7F3GRZQ0000000000000001") && text.contains("host-1"), "{text}");
            assert!(!text.contains("payroll") && !text.contains("rm -rf"), "{text}");
        }
    });
    // Once for each target.
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!((webhook.accepted().len(), slack.accepted().len()), (1, 1));
}

/// Returns the attributes of a log record or of a resource as an object.
fn attributes(of: &Value) -> Value {
    let pairs = of["attributes"].as_array().unwrap().iter();
    pairs
        .map(|pair| (pair["key"].as_str().unwrap().to_owned(), pair["value"]["stringValue"].clone()))
        .collect()
}

#[test]
fn decisions_are_exported_as_json_lines_and_sent_to_a_collector_once() {
    // The collector is away at first.
    let away = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let is_away = away.clone();
    let collector = HttpCollector::start(move |_| !is_away.load(std::sync::atomic::Ordering::Relaxed));
    let Some(trial) = Trial::start(&["default"], &["--otlp-endpoint", &collector.url]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 1));
    let id = block_on(async {
        let mut machine = Machine::join(&url, &token, 1).await;
        // Every tenth record is denied: more rows than fit into one page of the export.
        machine.records.add(12_000, "a\n\"b\"");
        let rewritten = json!({
            "v": 1, "seq": 12_000, "kind": "decision", "id": format!("{:026}", 12_000), "ts": "2026-11-15T08:00:00.000Z",
            "recorded": "2026-11-15T08:00:00.000Z", "origin": "daemon", "source": "codex", "event": "pre-tool",
            "tool": {"name": "shell", "class": "shell"}, "verdict": "allow", "rewritten": true, "signer": "00000000",
        });
        machine.records.0.push(rewritten.to_string().into_bytes());
        for first in (0..12_000).step_by(2000) {
            machine.upload(first, 2000).await;
        }
        machine.upload(12_000, 1).await;
        machine.id.to_string()
    });
    trial.wait_for_records("default", &id, 12_001);
    let output = trial.run_as("default", &["export", "--since", "2026-11-01"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<u64> = lines.iter().map(|line| line["record"].as_u64().unwrap()).collect();
    let expected: Vec<u64> = (0..12_000).filter(|seq| seq % 10 == 9).chain([12_000]).collect();
    assert_eq!(numbers, expected, "oldest first, each once");
    assert_eq!((&lines[0]["reason"], &lines[0]["rule"]), (&json!("a\n\"b\""), &json!("remote-code")));
    let none = trial.run_as("default", &["export", "--since", "2026-11-16"]);
    assert!(none.status.success() && none.stdout.is_empty());
    let wrong = trial.run_as("default", &["export", "--since", "yesterday-ish"]);
    assert_eq!(wrong.status.code(), Some(2));
    let rewritten = trial.json(&["decisions", "--verdict", "rewritten"]);
    let rewritten = rewritten["decisions"].as_array().unwrap();
    assert_eq!((rewritten.len(), &rewritten[0]["tool"]), (1, &json!("shell")));

    wait("a request that the collector refuses", || (collector.refused() > 0).then_some(()));
    assert_eq!(trial.query("select count(*) from export_queue")[0][0].as_deref(), Some("1201"));
    away.store(false, std::sync::atomic::Ordering::Relaxed);
    wait("an empty queue", || {
        (trial.query("select count(*) from export_queue")[0][0].as_deref() == Some("0")).then_some(())
    });
    let mut sent = Vec::new();
    for (path, body) in collector.accepted() {
        assert_eq!(path, "/v1/logs");
        for resource in body["resourceLogs"].as_array().unwrap() {
            let of = attributes(&resource["resource"]);
            assert_eq!((&of["tenterhook.machine"], &of["host.name"]), (&json!(id), &json!("host-1")));
            for record in resource["scopeLogs"][0]["logRecords"].as_array().unwrap() {
                let of = attributes(record);
                assert!(
                    record["timeUnixNano"].as_str().unwrap().parse::<u64>().unwrap()
                        > 1_700_000_000_000_000_000
                );
                let severity = if of["tenterhook.verdict"] == "deny" { 17 } else { 9 };
                assert_eq!(record["severityNumber"], severity, "{record}");
                sent.push(of["tenterhook.record"].as_str().unwrap().parse::<u64>().unwrap());
            }
        }
    }
    sent.sort_unstable();
    assert_eq!(sent, expected, "each decision was sent once");
}
