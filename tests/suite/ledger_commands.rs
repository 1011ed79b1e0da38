// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The commands of `ledger`, as users and scripts run them.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::context::TestContext;

fn home_with_records() -> TestContext {
    let test = TestContext::new();
    for command in ["ls", "rm -rf /", "git status"] {
        test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash(command).as_bytes());
    }
    let stop = json!({"hook_event_name": "Stop", "session_id": "s-2"}).to_string();
    test.run_with(&["hook", "claude-code", "stop"], stop.as_bytes());
    // Reading the records also imports the spool.
    assert_eq!(test.records().len(), 6);
    test
}

fn query_numbers(test: &TestContext, args: &[&str]) -> Vec<u64> {
    let ran = test.run(&[&["ledger", "query", "--json"], args].concat());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    ran.json()["leaves"].as_array().unwrap().iter().map(|leaf| leaf["seq"].as_u64().unwrap()).collect()
}

#[test]
fn query_finds_by_every_indexed_field() {
    let test = home_with_records();
    assert_eq!(query_numbers(&test, &[]), [5, 4, 3, 2, 1, 0], "newest first");
    assert_eq!(query_numbers(&test, &["--limit", "2"]), [5, 4]);
    assert_eq!(query_numbers(&test, &["--limit", "2", "--before", "4"]), [3, 2]);
    assert_eq!(query_numbers(&test, &["--verdict", "deny"]), [3]);
    assert_eq!(query_numbers(&test, &["--rule", "recursive-delete"]), [3]);
    assert_eq!(query_numbers(&test, &["--session", "s-2"]), [5]);
    assert_eq!(query_numbers(&test, &["--tool", "Bash"]), [4, 3, 2]);
    assert_eq!(query_numbers(&test, &["--harness", "codex"]), [0; 0]);
    assert_eq!(query_numbers(&test, &["--kind", "change"]), [1]);
    assert_eq!(query_numbers(&test, &["--text", "git status"]), [4], "in the payload too");
    assert_eq!(query_numbers(&test, &["--since", "1h", "--kind", "decision"]), [5, 4, 3, 2]);
    assert_eq!(query_numbers(&test, &["--until", "1h"]), [0; 0]);
    assert_eq!(query_numbers(&test, &["--since", "2999-01-01"]), [0; 0]);

    // `command_output.rs` has the table without colours.
    assert!(test.run(&["ledger", "query", "--color", "always"]).stdout.contains('\u{1b}'));

    let ran = test.run(&["ledger", "query", "--since", "yesterday"]);
    assert_eq!(ran.exit, 2);
    assert!(ran.stderr.contains("use 15m, 24h, 7d"), "{}", ran.stderr);
}

#[test]
fn without_a_ledger_no_command_creates_one() {
    let test = TestContext::new();
    assert_eq!(test.run(&["ledger", "checkpoint"]).exit, 1);
    assert_eq!(test.run(&["ledger", "verify"]).exit, 2);
    assert!(std::fs::read_dir(test.home()).unwrap().next().is_none(), "reading creates no file");
}

#[test]
fn show_prints_the_whole_record_by_number_or_id() {
    let test = home_with_records();
    let by_number = test.run(&["ledger", "show", "3", "--json"]).json();
    let id = by_number["leaf"]["id"].as_str().unwrap();
    assert_eq!(test.run(&["ledger", "show", id, "--json"]).json(), by_number);
    for wrong in ["99", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "nonsense"] {
        assert_eq!(test.run(&["ledger", "show", wrong]).exit, 2, "{wrong}");
    }
}

/// A hook call of a tool that ran.
fn end_call(test: &TestContext, id: &str, command: &str, failed: bool) {
    let (event, route) = if failed {
        ("PostToolUseFailure", "post-tool-use-failure")
    } else {
        ("PostToolUse", "post-tool-use")
    };
    let payload = json!({
        "session_id": "s-2", "cwd": test.path("work"), "hook_event_name": event, "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": id, "tool_response": {"stdout": ""}, "error": "exit 2",
        "duration_ms": 1250,
    });
    test.run_with(&["hook", "claude-code", route], payload.to_string().as_bytes());
}

fn begin_call(test: &TestContext, id: &str, command: &str) {
    let payload = json!({
        "session_id": "s-2", "cwd": test.path("work"), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": id,
    });
    test.run_with(&["hook", "claude-code", "pre-tool-use"], payload.to_string().as_bytes());
}

#[test]
fn tail_shows_notable_calls_as_one_row_with_their_result() {
    let test = home_with_records();
    begin_call(&test, "t-1", "make ok");
    end_call(&test, "t-1", "make ok", false);
    begin_call(&test, "t-2", "make broken");
    end_call(&test, "t-2", "make broken", true);
    let rows = |args: &[&str]| -> Vec<String> {
        let ran = test.run(&[&["ledger", "tail"], args].concat());
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        ran.stdout.lines().skip(1).map(ToOwned::to_owned).collect()
    };
    let notable = rows(&[]);
    assert!(notable[0].contains("rm -rf /") && notable[0].contains("denied"), "{notable:?}");
    assert!(notable[1].contains("make broken") && notable[1].contains("failed 1.2 s"), "{notable:?}");
    assert_eq!(notable.len(), 2);
    let all = rows(&["--all", "-n", "50"]);
    let of = |text: &str| all.iter().filter(|row| row.contains(text)).collect::<Vec<_>>();
    assert!(of("make ok").len() == 1 && of("make ok")[0].contains("ok 1.2 s"), "{all:?}");
    assert!(of("git status").len() == 1 && of("stop").len() == 1, "{all:?}");
    let records = rows(&["--records", "-n", "50"]);
    assert_eq!(records.iter().filter(|row| row.contains("make ok")).count(), 2, "{records:?}");
    assert_eq!(rows(&["--kind", "start"]).len(), 1);
    assert_eq!(
        test.run(&["ledger", "tail", "--tool", "Read"]).stdout,
        "no notable calls; `--all` lists all calls\n"
    );
}

#[test]
fn tail_follows_calls_and_prints_each_with_its_result_once() {
    let test = home_with_records();
    let program = Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let mut command = test.command(program, &["ledger", "tail", "-n", "0", "-f", "--all"]);
    let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("RESULT"));
    begin_call(&test, "t-1", "make ok");
    begin_call(&test, "t-2", "rm -rf /");
    begin_call(&test, "t-3", "make broken");
    let denied = lines.next().unwrap().unwrap();
    assert!(denied.contains("denied") && denied.contains("rm -rf /"), "{denied}");
    end_call(&test, "t-3", "make broken", true);
    let failed = lines.next().unwrap().unwrap();
    assert!(failed.contains("make broken") && failed.contains("failed 1.2 s"), "{failed}");
    end_call(&test, "t-1", "make ok", false);
    let ok = lines.next().unwrap().unwrap();
    assert!(ok.contains("make ok") && ok.contains("ok 1.2 s"), "{ok}");
    begin_call(&test, "t-4", "rm -rf /usr");
    let next = lines.next().unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(next.contains("rm -rf /usr"), "each call is printed once: {next}");
}

#[test]
fn tail_shows_the_latest_and_goes_on() {
    let test = home_with_records();
    let seqs = |text: &str| -> Vec<u64> {
        text.lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(seqs(&test.run(&["ledger", "tail", "-n", "2", "--json"]).stdout), [4, 5], "oldest first");

    let program = Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let mut command = test.command(program, &["ledger", "tail", "-n", "0", "-f", "--tool", "Bash", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    std::thread::sleep(std::time::Duration::from_millis(800));
    let stop = json!({"hook_event_name": "Stop", "session_id": "s-2"}).to_string();
    test.run_with(&["hook", "claude-code", "stop"], stop.as_bytes());
    test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("date").as_bytes());
    let line = lines.next().unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(seqs(&line), [7], "the other record does not match");
}

#[test]
fn tail_follows_a_process_that_keeps_the_ledger_open() {
    let test = home_with_records();
    let program = Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let mut command = test.command(program, &["ledger", "tail", "-n", "1", "-f", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["seq"], 5, "existing records");
    // This process holds the ledger open all the time, as a daemon does.
    let options = tenterhook_ledger::LedgerOptions::new(tenterhook_home::call_meta::now_ms);
    let ledger = tenterhook_ledger::Ledger::open(&test.home().join("ledger"), options).unwrap().ledger;
    for number in 0..30_u64 {
        let door = tenterhook_home::call_meta::mint().unwrap();
        let detail = json!({"number": number});
        let entry =
            tenterhook_ledger::LedgerEntry::change(door.id, door.ts, "test", "dev", detail, &|_| Vec::new());
        ledger.append(entry).unwrap();
        if number % 10 == 9 {
            // Every record appears in order while the ledger stays open.
            for expected in number - 9..=number {
                let leaf = next();
                assert_eq!(
                    (&leaf["seq"], &leaf["leaf"]["detail"]["number"]),
                    (&json!(6 + expected), &json!(expected))
                );
            }
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    ledger.close().unwrap();
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
}

#[test]
fn query_filters_narrow_together_and_by_the_millisecond() {
    let test = home_with_records();
    let leaf = test.run(&["ledger", "show", "3", "--json"]).json()["leaf"].clone();
    let at = leaf["ts"].as_str().unwrap();
    let stop = json!({"hook_event_name": "Stop", "session_id": "s-2"}).to_string();
    test.run_with(&["hook", "claude-code", "stop"], stop.as_bytes());
    assert_eq!(query_numbers(&test, &["--since", at, "--until", at]), [0; 0], "until is not included");
    assert_eq!(query_numbers(&test, &["--since", at, "--kind", "decision"]).last(), Some(&3), "since is");
    assert!(!query_numbers(&test, &["--until", at]).contains(&3));
    assert_eq!(query_numbers(&test, &["--harness", "claude-code", "--session", "s-2"]), [6, 5]);
    assert_eq!(
        query_numbers(&test, &["--harness", "claude-code", "--verdict", "none", "--tool", "Bash"]),
        [4, 2]
    );
    assert_eq!(query_numbers(&test, &["--verdict", "deny", "--session", "s-2"]), [0; 0]);
    assert_eq!(query_numbers(&test, &["--kind", "start"]), [0]);
    assert_eq!(
        query_numbers(&test, &["--kind", "decision", "--rule", "recursive-delete", "--text", "RM -RF"]),
        [3],
        "in any case"
    );
    assert_eq!(query_numbers(&test, &["--text", "100%_nothing"]), [0; 0], "SQL wildcards are literal");
    assert_eq!(query_numbers(&test, &["--text", "_"]).first(), Some(&6), "an underscore is literal");
    for verdict in ["allow", "defer", "ask"] {
        assert_eq!(query_numbers(&test, &["--verdict", verdict]), [0; 0], "{verdict}");
    }
    for kind in ["erase", "rotate", "prune"] {
        assert_eq!(query_numbers(&test, &["--kind", kind]), [0; 0], "{kind}");
    }
}

#[test]
fn stats_count_and_name_the_record_of_an_earlier_version() {
    let test = home_with_records();
    let stats = test.run(&["ledger", "stats", "--json"]).json();
    assert_eq!((&stats["size"], &stats["published"], &stats["sessions"]), (&json!(6), &json!(6), &json!(2)));
    assert_eq!(stats["verdicts"], json!({"deny": 1, "none": 3}));
    assert_eq!(stats["first_ledger"], Value::Null);
    let old = test.write("home/ledger.jsonl", "{}\n");
    assert!(test.run(&["ledger", "stats"]).stdout.contains("[DIR]/home/ledger.jsonl"));
    assert_eq!(std::fs::read_to_string(old).unwrap(), "{}\n", "it is not changed");
    let stats = test.run(&["ledger", "stats", "--verdict", "deny", "--json"]).json();
    assert_eq!(stats["leaves"], 1);
}

#[test]
fn a_proof_needs_nothing_but_the_key() {
    let test = home_with_records();
    let (proof, key) = (test.path("leaf.proof"), test.home().join("ledger/key.pub"));
    let (proof, key) = (proof.to_str().unwrap(), key.to_str().unwrap());
    assert_eq!(test.run(&["ledger", "proof", "3", "--output", proof]).exit, 0);
    let check =
        |key: &str| test.run(&["--home", "/nonexistent", "ledger", "verify-proof", proof, "--key", key]);
    let ran = check(key);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("record 3 of 6") && ran.stdout.contains("deny recursive-delete"),
        "{}",
        ran.stdout
    );
    assert_eq!(check("nonsense").exit, 2);
    let other = home_with_records().home().join("ledger/key.pub");
    assert_ne!(check(other.to_str().unwrap()).exit, 0);

    let text = std::fs::read_to_string(proof).unwrap();
    let mut lines: Vec<_> = text.lines().map(ToOwned::to_owned).collect();
    lines.swap(3, 4);
    std::fs::write(proof, lines.join("\n") + "\n").unwrap();
    let ran = check(key);
    assert_eq!(ran.exit, 1);
    assert!(ran.stdout.contains("✗ record 3: record 3 is not in the tree of 6 records"), "{}", ran.stdout);
    std::fs::write(proof, "no proof").unwrap();
    assert_eq!(check(key).exit, 2);
}

#[test]
fn erasing_and_pruning_are_recorded_and_the_rest_verifies() {
    let test = home_with_records();
    let ran = test.run(&["ledger", "erase", "3", "--reason", "somebody asked", "--yes"]);
    assert_eq!(ran.exit, 1, "an agent may not confirm");
    let ran = test.run_on_terminal(&["ledger", "erase", "3..4", "--reason", "somebody asked", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let shown = test.run(&["ledger", "show", "3", "--json"]).json();
    assert_eq!((&shown["erased"], &shown["payload"]), (&json!(true), &Value::Null));
    assert_eq!(shown["leaf"]["verdict"], "deny", "the record stays");
    let said = test.run(&["ledger", "show", "8", "--json"]).json()["leaf"].clone();
    assert_eq!((&said["kind"], &said["from"], &said["to"]), (&json!("erase"), &json!(3), &json!(4)));
    assert_eq!(said["reason"], "somebody asked");
    assert_eq!(test.run(&["ledger", "verify", "--json"]).json()["erased"], 2);
    assert_eq!(test.run(&["ledger", "erase", "99", "--reason", "x", "--yes"]).exit, 2);

    let nothing = test.run(&["ledger", "prune", "--keep-days", "30", "--reason", "x", "--yes"]);
    assert!(nothing.stdout.contains("nothing was pruned"), "{}", nothing.stdout);
    let ran = test.run_on_terminal(&[
        "ledger",
        "prune",
        "--before",
        "2999-01-01",
        "--reason",
        "retention",
        "--yes",
    ]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let ran = test.run(&["ledger", "verify", "--json"]);
    assert_eq!((ran.exit, ran.json()["pruned"].as_u64()), (0, Some(7)), "{}", ran.stdout);
    test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("ls").as_bytes());
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
    assert!(test.run(&["ledger", "query"]).stdout.contains("pruned; its hash is kept"));
}

#[test]
fn another_key_takes_over_and_old_checkpoints_still_count() {
    let test = home_with_records();
    let key = std::fs::read_to_string(test.home().join("ledger/key.pub")).unwrap();
    let held = test.path("held");
    test.run(&["ledger", "checkpoint", "--output", held.to_str().unwrap()]);
    let ran = test.run_on_terminal(&["ledger", "key", "rotate", "--json"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_ne!(ran.json()["key"], key.trim());
    test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("ls").as_bytes());
    let since = held.to_str().unwrap();
    let ran = test.run(&["ledger", "verify", "--since", since, "--key", key.trim(), "--json"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.json()["keys"].as_array().unwrap().len(), 2);
}

#[test]
fn exports_are_private_and_never_overwrite() {
    use std::os::unix::fs::PermissionsExt;
    let test = home_with_records();
    let path = test.path("out.csv");
    let args = ["ledger", "export", "--format", "csv", "--output", path.to_str().unwrap()];
    assert_eq!(test.run(&args).exit, 0);
    let text = std::fs::read_to_string(&path).unwrap();
    let rows = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count();
    assert!(text.starts_with("seq,id,ts,") && rows == 6, "{text}");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(test.run(&args).exit, 2);
    assert_eq!(test.run(&[&args[..], &["--force"]].concat()).exit, 0);
    let tiles = test.path("tiles");
    assert_eq!(
        test.run(&["ledger", "export", "--format", "tiles", "--output", tiles.to_str().unwrap()]).exit,
        0
    );
    assert!(tiles.join("checkpoint").is_file());
    let check =
        || test.run(&["--home", "/nonexistent", "ledger", "verify", "--file", tiles.to_str().unwrap()]);
    let ran = check();
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("6 records match") && ran.stdout.contains("tiles have no payloads"),
        "{}",
        ran.stdout
    );
    let bundle = tiles.join("tile/entries/000.p/6");
    let text = String::from_utf8_lossy(&std::fs::read(&bundle).unwrap()).replace("\"deny\"", "\"none\"");
    std::fs::write(&bundle, text).unwrap();
    let ran = check();
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    std::fs::remove_file(tiles.join("checkpoint")).unwrap();
    assert_eq!(check().exit, 2, "there is nothing that could be verified");
    let lines = test.run(&["ledger", "export", "--output", "-"]).stdout;
    assert!(lines.starts_with("{\"ledger\":1,") && lines.lines().last().unwrap().contains("checkpoint"));
}

#[test]
fn a_report_is_one_file_with_its_proofs_and_loads_nothing() {
    let test = home_with_records();
    test.run_with(
        &["hook", "claude-code", "pre-tool-use"],
        test.bash("rm -rf / # <script>alert(1)</script>").as_bytes(),
    );
    let path = test.path("report.html");
    let ran = test.run(&["ledger", "report", "--session", "s-1", "--output", path.to_str().unwrap()]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let page = std::fs::read_to_string(&path).unwrap();
    for part in [
        "<!doctype html>",
        "prefers-color-scheme: dark",
        "@media print",
        "default-src 'none'",
        "<ul class=\"legend\">",
        "<svg",
        "recursive-delete",
        "session s-1",
    ] {
        assert!(page.contains(part), "`{part}` is not there");
    }
    for part in ["<script", "http://", "https://", "src=", "url(", "@import"] {
        assert!(!page.contains(part), "`{part}` is there");
    }
    assert_eq!(page.matches("c2sp.org/tlog-proof@v1").count(), 2);
    let check = || test.run(&["ledger", "verify-proof", path.to_str().unwrap(), "--json"]);
    let ran = check();
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.json()["proofs"][0]["leaf"]["seq"], 6);
    let mut bytes = page.into_bytes();
    let at = bytes.windows(7).position(|part| part == b"\nextra ").unwrap() + 40;
    bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(check().exit, 1, "one letter of a record was changed");
}
