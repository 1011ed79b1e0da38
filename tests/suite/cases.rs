// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs the lines of `tests/cases/` that need a running program, and lists the lines that no test runs.
//!
//! `crates/harness` runs the lines about one hook, and `crates/profile` those about several hooks. Each crate lists the
//! lines that it does not run. Lines that neither crate runs are run in this module, or are listed with the reason in
//! this module and in `docs/compatibility.md`.

mod intended_differences;
mod programs;
mod replay;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext, repository};

const RUN_HERE: &[&str] = &[
    "g-runner-037",
    "g-runner-047",
    "g-runner-053",
    "g-runner-061",
    "g-runner-063",
    "g-runner-067",
    "cc-019-timeout-sdk-callback-pretool-blocks",
    "cc-079-http-2xx-empty",
    "cc-081-http-200-json-deny",
    "cc-083-http-env-unlisted-empty",
];

/// Lines that this module or `crates/harness` runs and whose result differs on purpose from the original program's.
const DIFFERENT_ON_PURPOSE: &[(&str, &str)] = &[
    ("g-runner-295", WAITS),
    ("l-runner-297", WAITS),
    (
        "cc-059-permreq-exit2-not-honored",
        "a hook's exit 2 also denies a `PermissionRequest`; the original ignores it and shows its prompt",
    ),
    ("a3s-102-async-ignored-on-gate", "an asynchronous hook decides nothing, as in seed 003"),
    ("a3s-106-skip-drops-modification", "changes made before a skip are kept"),
    ("a3s-110-pretool-modified-not-applied", "changed arguments are used, as in seed 003"),
    ("a3s-112-bad-regex-falls-back-to-contains", "an invalid pattern is refused, not searched as plain text"),
    (
        "a3s-205-input-over-1MiB-truncated",
        "a hook receives the whole event (up to 32 MiB), never a part of it",
    ),
];
const WAITS: &str = "the call ends with its hook; a background child of the hook is killed, not waited for";

const NOT_RUN_ANYWHERE: &[(&str, &str)] = &[
    ("g-runner-049", TRUST),
    ("l-runner-051", TRUST),
    ("l-registry-229", TRUST),
    ("g-registry-233", TRUST),
    ("l-registry-235", TRUST),
    ("a3s-201-untrusted-definition-inert", TRUST),
    ("g-runner-069", "hooks that are JavaScript functions inside the client"),
    ("g-config-243", MIGRATE),
    ("g-config-245", MIGRATE),
    ("sdk-001-initialize-registration", SDK),
    ("sdk-003-hook_callback-roundtrip", SDK),
    ("sdk-005-python-key-rename", SDK),
    ("sdk-007-cancel", SDK),
    ("cc-025-allow-cannot-beat-deny-rule", CLIENT),
    ("cc-029-defer-interactive-ignored", CLIENT),
    ("cc-063-stop-cap-8", CLIENT),
    ("cc-065-stop-prompt-hook-impossible", PROMPT),
    ("cc-087-prompt-hook-pretool-ends-turn", PROMPT),
    ("cc-073-worktreecreate-path", "no hook is installed for `WorktreeCreate`"),
    ("cc-085-asyncRewake-exit2-wakes", "only the client can wake its model"),
    ("ch-001-file-changed-edit", CHORUS),
    ("ch-003-todowrite-full-replace", CHORUS),
    ("ahp-002-id-mismatch-is-failure", "another protocol (Agent Hooks Protocol), not supported yet"),
];
const TRUST: &str =
    "folder trust and hook fingerprints do not exist yet; a project's files are read only when named";
const MIGRATE: &str = "Gemini CLI's own `hooks migrate`";
const SDK: &str =
    "the control protocol between the Agent SDK and its client; `make e2e` runs our callbacks over it";
const CLIENT: &str = "the client's own permission rules, modes and counters";
const PROMPT: &str = "prompt hooks need a model";
const CHORUS: &str = "the window of another program; its hooks are tested in `tests/suite/seeds/chorus.rs`";

fn cases() -> Vec<Value> {
    let dir = repository().join("tests/cases");
    let read = |file: &str| std::fs::read_to_string(dir.join(file)).unwrap();
    let text = read("llxprt_gemini.jsonl") + &read("claude_a3s.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn case(id: &str) -> Value {
    cases().into_iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case `{id}`"))
}

/// The ids in the constant `list` in a source file of one of the two crates.
fn ids_in_list(file: &str, list: &str, ids: &BTreeSet<String>) -> BTreeSet<String> {
    let text = std::fs::read_to_string(repository().join("crates").join(file)).unwrap();
    let (_, list) =
        text.split_once(&format!("const {list}:")).unwrap_or_else(|| panic!("no `{list}` in {file}"));
    let list = list.split("\n];").next().unwrap();
    list.split('"').filter(|word| ids.contains(*word)).map(ToOwned::to_owned).collect()
}

/// Ids of lines that neither crate runs.
fn unrun_ids() -> BTreeSet<String> {
    let cases = cases();
    let id = |case: &Value| case["id"].as_str().unwrap().to_owned();
    let ids: BTreeSet<String> = cases.iter().map(id).collect();
    assert_eq!(ids.len(), cases.len(), "ids are unique");
    // Lines in areas that the tests in `crates/harness` do not cover.
    let several =
        |case: &&Value| case["area"].as_str().is_some_and(|area| !["runner", "planner"].contains(&area));
    let mut harness: BTreeSet<String> = cases.iter().filter(several).map(id).collect();
    let dialects = "harness/src/dialect/cases";
    harness.extend(ids_in_list(&format!("{dialects}/llxprt_gemini.rs"), "RUNNING", &ids));
    harness.extend(ids_in_list(&format!("{dialects}/llxprt_gemini.rs"), "PLANNING", &ids));
    harness.extend(ids_in_list(&format!("{dialects}/claude_a3s.rs"), "ELSEWHERE", &ids));
    let conformance = "profile/src/conformance";
    let mut profile = ids_in_list(&format!("{conformance}/llxprt_gemini/not_run.rs"), "NOT_RUN", &ids);
    profile.extend(ids_in_list(&format!("{conformance}/claude_a3s.rs"), "NOT_RUN", &ids));
    harness.intersection(&profile).cloned().collect()
}

#[test]
fn every_case_is_run_somewhere_or_has_a_reason() {
    let reasons = DIFFERENT_ON_PURPOSE.iter().chain(NOT_RUN_ANYWHERE).map(|(id, _)| *id);
    let mut accounted: Vec<&str> = RUN_HERE.iter().copied().chain(reasons).collect();
    accounted.sort_unstable();
    let left = unrun_ids();
    assert_eq!(accounted, left.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Shortens `cc-019-timeout-sdk-…` to `cc-019`; `g-runner-049` stays unchanged.
fn short_id(id: &str) -> String {
    let words: Vec<&str> = id.split('-').collect();
    let is_number = |word: &&str| word.chars().all(|letter| letter.is_ascii_digit());
    let number = words.iter().position(is_number).unwrap();
    words[..=number].join("-")
}

/// One table row for each reason, in the order of the list.
fn reason_rows(list: &[(&str, &str)]) -> Vec<String> {
    let mut reasons: Vec<&str> = Vec::new();
    for (_, reason) in list {
        if !reasons.contains(reason) {
            reasons.push(reason);
        }
    }
    let row = |reason: &&str| {
        let ids = list.iter().filter(|(_, other)| other == reason);
        let ids: Vec<_> = ids.map(|(id, _)| format!("`{}`", short_id(id))).collect();
        format!("| {} | {reason} |", ids.join(", "))
    };
    reasons.iter().map(row).collect()
}

#[test]
fn cases_not_run_or_different_are_documented_with_the_reason() {
    let page = std::fs::read_to_string(repository().join("docs/compatibility.md")).unwrap();
    let section = page.split("\n## Conformance cases\n").nth(1).expect("the section exists");
    let section = section.split("\n## ").next().unwrap();
    let written: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    let mut expected = reason_rows(DIFFERENT_ON_PURPOSE);
    expected.extend(reason_rows(NOT_RUN_ANYWHERE));
    assert_eq!(written, expected, "the rows should be:\n{}\n", expected.join("\n"));
}

/// Fires an event under a profile with these groups of hooks.
fn fire(test: &TestContext, profile: &str, event: &str, groups: &Value) -> CommandOutput {
    let settings = json!({"hooksConfig": {"enabled": true}, "hooks": {event: groups}});
    fire_file(test, profile, event, &settings, &input(test))
}

fn fire_file(
    test: &TestContext,
    profile: &str,
    event: &str,
    settings: &Value,
    input: &Value,
) -> CommandOutput {
    let path = test.write("settings.json", &settings.to_string());
    let args =
        ["fire", "--profile", profile, "--event", event, "--settings", path.to_str().unwrap(), "--json"];
    let ran = test.run_with(&args, input.to_string().as_bytes());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    ran
}

fn input(test: &TestContext) -> Value {
    json!({"cwd": test.path("work"), "tool_name": "write_file", "tool_input": {"path": "a", "content": "b"}})
}

fn command(line: &str) -> Value {
    json!({"type": "command", "command": line})
}

fn lines_of_file(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(ToOwned::to_owned).collect()
}
