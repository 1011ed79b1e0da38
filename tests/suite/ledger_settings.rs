// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Settings of the ledger in `tenterhook.yaml`, and its signing key.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};

/// Runs a hook without a daemon. The hook writes its decision to the spool, and the next reader of the ledger imports
/// it.
fn hook(test: &TestContext, command: &str) -> CommandOutput {
    let ran = test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash(command).as_bytes());
    test.run(&["ledger", "stats"]);
    ran
}

fn write_settings(test: &TestContext, text: &str) {
    test.write("home/tenterhook.yaml", text);
}

fn verify(test: &TestContext) -> Value {
    let ran = test.run(&["ledger", "verify", "--json"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    ran.json()
}

fn changes(test: &TestContext) -> Vec<Value> {
    test.records().into_iter().filter(|leaf| leaf["what"] == "ledger settings").collect()
}

/// A token that the detectors know, assembled here so that secret scanners do not find it in this repository.
fn sample_secret() -> String {
    format!("{}{}", "AKIA", "Q3EGRZ7LWQ2NFKXT")
}

#[test]
fn turning_redaction_off_is_recorded_and_warned_about() {
    let test = TestContext::new();
    let stored = |at: usize| test.decisions()[at]["stored"].to_string();
    hook(&test, &format!("echo {}", sample_secret()));
    write_settings(&test, "ledger:\n  keep_raw: true\n");
    hook(&test, &format!("echo {}", sample_secret()));
    hook(&test, "ls");
    assert!(stored(0).contains("[[redacted:") && stored(1).contains(&sample_secret()));
    let change = &changes(&test)[0];
    assert_eq!(
        change["detail"],
        json!({"durability": "durable", "keep_raw": true, "max_payload": 1_048_576})
    );
    let stats = test.run(&["ledger", "stats"]).stdout;
    let warning = format!("secrets were not redacted from record {} on, until now", change["seq"]);
    assert!(stats.contains(&warning), "{stats}");
    std::fs::remove_file(test.home().join("tenterhook.yaml")).unwrap();
    hook(&test, &format!("echo {}", sample_secret()));
    assert!(stored(3).contains("[[redacted:"));
    let changes = changes(&test);
    assert_eq!((changes.len(), &changes[1]["detail"]["keep_raw"]), (2, &json!(false)));
    let spans = test.run(&["ledger", "stats", "--json"]).json()["keep_raw"].clone();
    assert_eq!(spans, json!([{"from": changes[0]["seq"], "to": changes[1]["seq"]}]));
    verify(&test);
}

#[test]
fn records_of_model_calls_have_text_only_if_configured_and_hooks_see_all_of_it() {
    let test = TestContext::new();
    let hooks =
        "hooks:\n  - id: reads\n    on: [pre-model, post-model]\n    command: 'cat >> seen; echo \"{}\"'\n";
    let request =
        json!({"model": "gemini-test", "messages": [{"role": "user", "content": "words of a prompt"}]});
    let response = json!({"candidates": [{"content": {"parts": ["words of an answer"]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3}});
    let fire = |event: &str| {
        let payload = json!({"session_id": "s", "cwd": test.path("work"), "hook_event_name": event,
            "llm_request": request, "llm_response": response});
        let ran = test.run_with(&["hook", "gemini", event], payload.to_string().as_bytes());
        assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
        let record = test.decisions().pop().unwrap();
        assert_eq!(record["native_event"], event);
        record["stored"]["detail"].clone()
    };
    write_settings(&test, hooks);
    let asked = fire("BeforeModel")["model_request"].take();
    assert_eq!(asked["messages"], 1, "{asked}");
    assert_eq!(
        (&asked["model"], &asked["bytes"]),
        (&json!("gemini-test"), &json!(request.to_string().len()))
    );
    let answered = fire("AfterModel");
    assert!(!answered.to_string().contains("words"), "{answered}");
    let usage =
        json!({"input_tokens": 7, "output_tokens": 3, "cache_read_tokens": 0, "cache_write_tokens": 0});
    assert_eq!(answered["model_response"]["usage"], usage);
    let seen = std::fs::read_to_string(test.path("work/seen")).unwrap();
    assert!(seen.contains("words of a prompt") && seen.contains("words of an answer"), "{seen}");
    write_settings(&test, &format!("{hooks}ledger:\n  keep_model_text: true\n"));
    assert!(fire("BeforeModel").to_string().contains("words of a prompt"));
    assert_eq!(changes(&test)[0]["detail"]["keep_model_text"], true);
    verify(&test);
}

#[test]
fn payload_limits_follow_the_settings_also_in_a_relaxed_ledger() {
    let test = TestContext::new();
    write_settings(&test, "ledger: {max_payload: 20, durability: relaxed}\n");
    hook(&test, "echo this is longer than twenty bytes");
    let leaf = test.decisions().pop().unwrap();
    assert_eq!((&leaf["payload"]["stored"], &leaf["stored"]), (&json!("hash"), &Value::Null));
    assert_eq!(changes(&test)[0]["detail"]["durability"], "relaxed");
    assert_eq!(verify(&test)["unpublished"], 0);
}

#[test]
fn an_invalid_setting_is_reported_and_stops_nothing() {
    let test = TestContext::new();
    write_settings(&test, "ledger:\n  keep_row: true\n  durability: relaxed\n");
    let ran = test.run(&["check"]);
    assert_eq!(ran.exit, 1);
    for part in ["2:3: ledger setting `keep_row`: unknown key", "did you mean `keep_raw`?"] {
        assert!(ran.stdout.contains(part) || ran.stderr.contains(part), "{}{}", ran.stdout, ran.stderr);
    }
    assert_eq!(hook(&test, "rm -rf /").json()["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(changes(&test)[0]["detail"]["durability"], "relaxed", "the other key counts");
}

/// Starts a server that answers every request with `200`. Returns its address and a channel with the request bodies.
fn start_server() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/told?token=x", listener.local_addr().unwrap());
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut request, mut some) = (stream.unwrap(), Vec::new(), [0; 4096]);
            let body = loop {
                let read = stream.read(&mut some).unwrap();
                request.extend_from_slice(&some[..read]);
                let text = String::from_utf8_lossy(&request).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head
                    .lines()
                    .find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
                if body.len() >= length.unwrap().parse().unwrap() {
                    break body.to_owned();
                }
            };
            // The body is forwarded before the reply is sent, so that it is available as soon as the client has its
            // reply.
            drop(tell.send(body));
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        }
    });
    (url, told)
}

#[test]
fn checkpoints_go_where_the_settings_say() {
    let test = TestContext::new();
    let (url, told) = start_server();
    let file = test.path("elsewhere");
    write_settings(
        &test,
        &format!("ledger:\n  sinks:\n    - file: {}\n    - webhook: {url}\n", file.display()),
    );
    let ran = hook(&test, "ls");
    assert_eq!(ran.stderr, "");
    let held = || std::fs::read_to_string(&file).unwrap();
    // The first record of a ledger gets its own checkpoint.
    let latest = || std::iter::from_fn(|| told.try_recv().ok()).last();
    let note = latest().unwrap();
    assert_eq!(held(), note);
    let sinks = changes(&test)[0]["detail"]["sinks"].clone();
    assert_eq!(sinks[0], format!("file {}", file.display()));
    assert!(sinks[1].as_str().unwrap().starts_with("webhook 127.0.0.1:"), "{sinks}");
    assert!(!sinks.to_string().contains("token"), "a URL may contain a secret");

    hook(&test, "ls");
    assert!(told.try_recv().is_err(), "a call does not wait for another try of the server");
    assert_ne!(held(), note, "the file is written at once");
    test.run(&["ledger", "checkpoint"]);
    assert_eq!(latest().unwrap(), held(), "a requested checkpoint is sent");
    let ran = test.run(&["ledger", "verify", "--since", file.to_str().unwrap()]);
    assert_eq!(ran.exit, 0, "{}", ran.stdout);
}

#[test]
fn a_sink_with_a_later_checkpoint_reveals_a_rollback() {
    let test = TestContext::new();
    let file = test.path("elsewhere");
    write_settings(&test, &format!("ledger: {{sinks: [{{file: {}}}]}}\n", file.display()));
    hook(&test, "ls");
    let old = std::fs::read(test.home().join("ledger/ledger.db")).unwrap();
    hook(&test, "rm -rf /");
    hook(&test, "ls");
    std::fs::write(test.home().join("ledger/ledger.db"), old).unwrap();
    std::fs::remove_file(test.home().join("ledger/checkpoint")).unwrap();
    hook(&test, "ls");
    let ran = test.run(&["ledger", "checkpoint"]);
    assert!(
        ran.stderr.contains("did not reach the file") && ran.stderr.contains("the log was rolled back"),
        "{}",
        ran.stderr
    );
}

fn passphrase(test: &TestContext, name: &str, text: &str) -> String {
    let path = test.write(name, text);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_sealed_key_signs_with_the_passphrase_and_others_spool() {
    let test = TestContext::new();
    hook(&test, "ls");
    let (right, wrong) = (passphrase(&test, "right", "correct horse\n"), passphrase(&test, "wrong", "x\n"));
    let sealed = || test.run(&["ledger", "key", "show", "--json"]).json()["sealed"].clone();
    assert_eq!(sealed(), false);
    let ran = test.run(&["ledger", "key", "seal"]);
    assert_eq!(ran.exit, 2);
    assert!(
        ran.stderr.contains("standard input is not a terminal") && ran.stderr.contains("--passphrase-file"),
        "{}",
        ran.stderr
    );
    let ran = test.run_on_terminal(&["ledger", "key", "seal", "--passphrase-file", &right]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("the key is sealed") && ran.stdout.contains("key rotate"), "{}", ran.stdout);
    assert_eq!(sealed(), true);

    let before = test.records().len();
    let ran = hook(&test, "rm -rf /");
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!((ran.stderr.as_str(), test.records().len()), ("", before), "it waits in the spool");
    for args in [vec!["ledger", "checkpoint"], vec!["ledger", "checkpoint", "--passphrase-file", &wrong]] {
        assert_ne!(test.run(&args).exit, 0);
    }
    let ran = test.run_on_terminal(&["ledger", "key", "rotate", "--passphrase-file", &right]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(sealed(), true, "the new key is sealed too");
    let leaves = test.records();
    assert!(leaves.iter().any(|leaf| leaf["verdict"] == "deny" && leaf["origin"] == "spool"));
    assert!(leaves.iter().any(|leaf| leaf["what"] == "ledger key seal" && leaf["origin"] == "cli"));

    write_settings(&test, &format!("ledger: {{key: {{sealed: true, passphrase_file: {right}}}}}\n"));
    let before = test.records().len();
    hook(&test, "ls");
    assert!(test.records().len() > before, "readers use the configured passphrase");
    std::fs::set_permissions(&right, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = test.run(&["ledger", "checkpoint"]);
    assert!(ran.stderr.contains("other accounts can read it (mode 644)"), "{}", ran.stderr);
    std::fs::set_permissions(&right, std::fs::Permissions::from_mode(0o600)).unwrap();

    let ran = test.run_on_terminal(&["ledger", "key", "unseal"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(sealed(), false);
    assert!(
        test.run(&["ledger", "stats"])
            .stdout
            .contains("your settings require a sealed key, but it is not sealed")
    );
    assert_eq!(verify(&test)["keys"].as_array().unwrap().len(), 2);
}

#[test]
fn a_passphrase_is_prompted_for_and_not_echoed() {
    let test = TestContext::new();
    hook(&test, "ls");
    // Without its mark, the test process is treated as the user, not as the agent that called a hook.
    test.records();
    std::fs::remove_dir_all(test.home().join("run/agents")).unwrap();
    // `script` provides a terminal. Each line is typed only after its prompt appears.
    let typed = |args: &str, lines: &[&str]| -> (i32, String) {
        let line = format!("{} {args}", env!("CARGO_BIN_EXE_tenterhook"));
        let mut command = test.command("/usr/bin/script".as_ref(), &["-qec", &line, "/dev/null"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (mut seen, mut some, mut left) = (String::new(), [0; 512], lines.iter());
        loop {
            let read = screen.read(&mut some).unwrap();
            if read == 0 {
                break;
            }
            seen.push_str(&String::from_utf8_lossy(&some[..read]));
            if seen.ends_with(": ")
                && let Some(line) = left.next()
            {
                // The prompt appears shortly before the terminal stops echoing.
                std::thread::sleep(std::time::Duration::from_millis(300));
                keys.write_all(format!("{line}\n").as_bytes()).unwrap();
            }
        }
        (child.wait().unwrap().code().unwrap(), seen)
    };
    if !Command::new("script").arg("--version").output().is_ok_and(|ran| ran.status.success()) {
        tenterhook_test_support::skip_test("needs the program `script`");
        return;
    }
    let (exit, screen) = typed("ledger key seal", &["hunter2 horse", "hunter3 horse"]);
    assert!(exit == 2 && screen.contains("the passphrases differ"), "{screen}");
    let (exit, screen) = typed("ledger key seal", &["hunter2 horse", "hunter2 horse"]);
    assert_eq!(exit, 0, "{screen}");
    assert!(screen.contains("New passphrase:") && screen.contains("Repeat the passphrase:"), "{screen}");
    assert!(!screen.contains("horse"), "{screen}");
    let (exit, screen) = typed("ledger checkpoint", &["hunter2 horse"]);
    assert!(exit == 0 && screen.contains("Passphrase of the ledger's key:"), "{screen}");
    let (exit, screen) = typed("ledger checkpoint", &["wrong horse"]);
    assert!(exit == 1 && screen.contains("wrong passphrase"), "{screen}");
}
