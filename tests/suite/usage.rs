// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Budgets for Claude Code and Codex: hook calls through a real daemon, with a transcript that grows.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::daemon::{HttpReply, RunningDaemon, until};

const POLICY: &str = "version: 1
rules:
  - id: session-budget
    match: {}
    verdict: deny
    limit: {tokens: 1000, warn: 800}
";

/// A session of a client: its transcript, and hook calls that name it.
struct ClientSession {
    served: RunningDaemon,
    harness: &'static str,
    transcript: PathBuf,
}

impl ClientSession {
    fn of(harness: &'static str, below: &str, policy: &str) -> Self {
        let test = TestContext::new();
        test.write("home/policy.yaml", policy);
        let transcript = test.path("person").join(below);
        std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
        Self { served: RunningDaemon::in_home(test, &[]), harness, transcript }
    }

    fn claude() -> Self {
        Self::of("claude-code", ".claude/projects/-work/s.jsonl", POLICY)
    }

    fn codex() -> Self {
        Self::of("codex", ".codex/sessions/2026/11/16/rollout-2026-11-16-s.jsonl", POLICY)
    }

    fn append(&self, line: &str) {
        let mut file = std::fs::File::options().create(true).append(true).open(&self.transcript).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }

    /// An answer of Claude in the client's transcript format.
    fn answer(&self, id: &str, tokens: u64) {
        let usage = json!({"input_tokens": tokens - 1, "output_tokens": 1});
        let now = tenterhook_home::call_meta::now();
        let line = json!({"message": {"id": id, "model": "claude-opus-5-5", "usage": usage}, "requestId": id,
            "type": "assistant", "timestamp": now, "sessionId": "s"});
        self.append(&format!("{line}\n"));
    }

    fn request(&self, event: &str, more: &Value) -> HttpReply {
        let mut payload = json!({"session_id": "s", "hook_event_name": event, "cwd": self.served.test.path("work"),
            "transcript_path": self.transcript});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.served.post(&format!("/v1/hooks/{}/{event}", self.harness), &payload);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer
    }

    /// Makes a tool call. Returns whether it was denied, and the whole reply.
    fn bash(&self) -> (bool, String) {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"});
        let body = self.request("PreToolUse", &call).body;
        (body.contains("\"deny\"") || body.contains("\"continue\":false"), body)
    }

    fn usage(&self) -> Value {
        self.served.json(&format!("/v1/sessions/{}:s", self.harness))["usage"].clone()
    }
}

#[test]
fn claude_code_is_warned_and_stopped_by_its_transcript() {
    let session = ClientSession::claude();
    session.request("SessionStart", &json!({"source": "startup"}));
    session.request("UserPromptSubmit", &json!({"prompt": "go"}));
    assert!(!session.bash().0, "the client writes the first answer a moment later");
    session.answer("a", 500);
    session.answer("a", 500);
    let done = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": ""}});
    session.request("PostToolUse", &done);
    assert_eq!(session.usage()["input_tokens"], 499, "{}", session.usage());
    let (denied, said) = session.bash();
    assert!(!denied && !said.contains("budget"), "{said}");
    session.answer("b", 350);
    let (denied, said) = session.bash();
    assert!(!denied && said.contains("this session has used 850 of a budget of 1000 tokens"), "{said}");
    session.answer("c", 150);
    let (denied, said) = session.bash();
    assert!(denied && said.contains("this session has used 1000 of a budget of 1000 tokens"), "{said}");
    let said = session.request("UserPromptSubmit", &json!({"prompt": "more"})).body;
    assert!(said.contains("of a budget of 1000 tokens"), "{said}");

    // The session's page, the list and the ledger show the same numbers, even after a restart of the daemon.
    let expected = json!({"input_tokens": 997, "output_tokens": 3, "answers": 3, "context_tokens": 149,
        "cost_usd": 0.004_048});
    assert_eq!(session.usage(), expected);
    let ClientSession { served, harness, transcript } = session;
    let session = ClientSession { served: served.restart(), harness, transcript };
    let usage = until("the sessions are loaded", || Some(session.usage()).filter(|usage| !usage.is_null()));
    assert_eq!(usage, expected);
    assert!(session.bash().0);
    session.answer("d", 10);
    session.bash();
    assert_eq!(session.usage()["answers"], 4, "nothing is counted twice after a restart");
    let shown = session.served.test.run(&["sessions", "show", "s"]);
    assert!(shown.stdout.contains("1006 tokens in, 4 out"), "{}", shown.stdout);
}

#[test]
fn codex_is_stopped_by_the_totals_of_its_rollout() {
    let session = ClientSession::codex();
    let total = |tokens: u64| {
        let usage = json!({"input_tokens": tokens - 10, "cached_input_tokens": 100, "output_tokens": 10});
        let line = json!({"timestamp": tenterhook_home::call_meta::now(), "type": "event_msg",
            "payload": {"type": "token_count", "info": {"total_token_usage": usage}}});
        session.append(&format!("{line}\n"));
    };
    session.append("{\"type\":\"turn_context\",\"payload\":{\"model\":\"gpt-5.5\"}}\n");
    assert!(!session.bash().0);
    total(700);
    assert!(!session.bash().0);
    total(900);
    assert!(session.bash().1.contains("this session has used 900 of a budget of 1000 tokens"));
    total(1100);
    let (denied, said) = session.bash();
    assert!(denied && said.contains("this session has used 1100 of a budget of 1000 tokens"), "{said}");
    // The cost is 990 × 5, 100 × 0.50 and 10 × 30 millionths of a dollar.
    let usage = session.usage();
    assert_eq!((&usage["answers"], &usage["cost_usd"]), (&json!(3), &json!(0.0053)), "{usage}");
}

#[test]
fn editing_the_transcript_does_not_reduce_spend() {
    let session = ClientSession::claude();
    session.answer("a", 900);
    session.bash();
    std::fs::write(&session.transcript, "").unwrap();
    session.answer("b", 50);
    assert!(!session.bash().0);
    let other = session.transcript.with_extension("tmp");
    std::fs::rename(&session.transcript, &other).unwrap();
    session.answer("c", 50);
    let (denied, said) = session.bash();
    assert!(denied && said.contains("used 1000 of"), "{said}");
}

#[test]
fn other_fields_of_a_transcript_line_do_not_hide_its_usage() {
    let session = ClientSession::claude();
    session.bash();
    for garbage in ["{", "{}", "{\"x\":"] {
        session.append(garbage);
        session.answer(garbage, 400);
    }
    let (denied, said) = session.bash();
    assert!(denied && said.contains("used 1200 of"), "{said}");
}

#[test]
fn an_unreadable_transcript_is_not_empty() {
    for (name, why) in [
        ("symlink", "is a symbolic link"),
        ("fifo", "is not a regular file"),
        ("huge", "a line that is too long"),
        ("broken", "unreadable token counts"),
        ("removed", "was removed"),
        ("none", "the client does not name a transcript"),
        ("outside", "is outside the client's directory"),
    ] {
        let mut session = ClientSession::claude();
        session.answer("a", 10);
        assert!(!session.bash().0, "{name}");
        let path = session.transcript.clone();
        match name {
            "huge" => session.append(&"x".repeat(17 << 20)),
            "broken" => {
                session.append("{\"type\":\"assistant\",\"message\":{\"usage\":{\"output_tokens\":1e99}}}\n");
            }
            "none" => session.transcript = PathBuf::new(),
            "outside" => session.transcript = session.served.test.write("work/s.jsonl", ""),
            _ => std::fs::remove_file(&path).unwrap(),
        }
        match name {
            "symlink" => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
            "fifo" => {
                let (kind, mode) =
                    (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
                rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
            }
            _ => {}
        }
        let (denied, said) = session.bash();
        assert!(denied && said.contains("further usage is unknown"), "{name}: {said}");
        assert!(said.contains(why), "{name}: {said}");
    }
}

#[test]
fn a_rule_can_ask_for_a_warning_instead() {
    let policy = POLICY.replace("warn: 800", "warn: 800, unknown: warn");
    let mut session = ClientSession::of("claude-code", ".claude/projects/-work/s.jsonl", &policy);
    session.transcript = PathBuf::new();
    let (denied, said) = session.bash();
    assert!(!denied && said.contains("the client does not name a transcript"), "{said}");
    assert!(!session.bash().1.contains("transcript"), "once");
}

#[test]
fn without_a_daemon_the_hook_reads_the_transcript_itself() {
    let test = TestContext::new();
    test.write("home/policy.yaml", POLICY);
    let transcript = test.path("person/.claude/projects/-work/s.jsonl");
    let call = || {
        let payload = json!({"session_id": "s", "hook_event_name": "PreToolUse", "cwd": test.path("work"),
            "transcript_path": transcript, "tool_name": "Bash", "tool_input": {"command": "ls"}});
        let args = ["hook", "--fallback", "no daemon", "claude-code", "PreToolUse"];
        test.run_with(&args, payload.to_string().as_bytes()).stdout
    };
    let answer = |id: &str, tokens: u64| {
        let line = json!({"message": {"id": id, "model": "m", "usage": {"input_tokens": tokens}}, "type": "assistant",
            "timestamp": tenterhook_home::call_meta::now()});
        let before = std::fs::read_to_string(&transcript).unwrap_or_default();
        test.write("person/.claude/projects/-work/s.jsonl", &format!("{before}{line}\n"));
    };
    assert!(!call().contains("deny"));
    answer("a", 600);
    assert!(!call().contains("deny"));
    answer("b", 600);
    let said = call();
    assert!(said.contains("deny") && said.contains("this session has used 1200 of a budget"), "{said}");
}
