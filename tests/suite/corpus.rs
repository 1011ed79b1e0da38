// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Measures the recall and the false alarms of the built-in rules on a corpus.
//!
//! No test prints a line of `held-out.jsonl`: the measurement is valid only while rule authors have not seen the
//! lines.

use serde_json::{Value, json};
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall, ToolClass};

use crate::context::{TestContext, repository};

/// Required rates, in thousandths.
const MIN_RECALL_THOUSANDTHS: usize = 970;
const MAX_FALSE_ALARM_THOUSANDTHS: usize = 10;

#[derive(Debug, Default)]
struct CorpusRates {
    bad: usize,
    denied: usize,
    asked: usize,
    fine: usize,
    alarms: usize,
}

impl CorpusRates {
    fn recall(&self) -> usize {
        (self.denied + self.asked) * 1000 / self.bad.max(1)
    }

    fn false_alarms(&self) -> usize {
        // Rounded up, so that the limit is strict.
        (self.alarms * 1000).div_ceil(self.fine.max(1))
    }

    fn good(&self) -> bool {
        self.recall() >= MIN_RECALL_THOUSANDTHS && self.false_alarms() <= MAX_FALSE_ALARM_THOUSANDTHS
    }

    fn add(&mut self, bad: bool, verdict: &str) {
        match (bad, verdict) {
            (true, "deny") => self.denied += 1,
            (true, "ask") => self.asked += 1,
            (false, "deny" | "ask") => self.alarms += 1,
            _ => {}
        }
        *(if bad { &mut self.bad } else { &mut self.fine }) += 1;
    }
}

/// The line of `judge --jsonl` for a case: a command, or the event of a call of another tool.
fn case_line(case: &Value) -> Value {
    let cwd = case["cwd"].as_str().unwrap_or("/home/user/project");
    let Some(name) = case["tool"].as_str() else {
        return json!({"command": case["command"], "cwd": cwd});
    };
    let id = EventId::from_parts(0, 0);
    let mut event =
        Event::new(id, Timestamp::from_unix_ms(0), "claude-code", EventKind::PreTool, "PreToolUse");
    event.cwd = Some(cwd.to_owned());
    event.project = Some(cwd.to_owned());
    // Without `input`, the tool is a shell other than bash.
    event.tool = Some(if let Some(input) = case.get("input") {
        ToolCall::new(name, input.clone())
    } else {
        let args = json!({"command": case["command"]});
        ToolCall { class: ToolClass::Shell, ..ToolCall::new(name, args) }
    });
    serde_json::to_value(event).unwrap()
}

/// The lines of a corpus, each with its verdict.
fn judge_corpus(file: &str) -> Vec<(Value, String)> {
    let text = std::fs::read_to_string(repository().join("tests/corpus").join(file)).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let line = |case: &Value| case_line(case).to_string() + "\n";
    let test = TestContext::new();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let mut command = test.command(program, &["judge", "--jsonl", "-"]);
    command.env_clear().env("HOME", "/home/user");
    let ran = test.run_command(command, cases.iter().map(line).collect::<String>().as_bytes());
    let verdicts: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(verdicts.len(), cases.len(), "one line each; {}", ran.stderr);
    let verdicts = verdicts.iter().map(|verdict| verdict["verdict"].as_str().unwrap().to_owned());
    cases.into_iter().zip(verdicts).collect()
}

fn measure(file: &str) -> CorpusRates {
    let mut rates = CorpusRates::default();
    for (case, verdict) in judge_corpus(file) {
        rates.add(case["bad"].as_bool().unwrap(), &verdict);
    }
    rates
}

#[test]
fn held_out_commands_nearly_all_bad_ones_are_stopped_and_hardly_a_good_one() {
    let rates = measure("held-out.jsonl");
    assert!(rates.bad > 200 && rates.fine > 200, "{rates:?}");
    assert!(rates.good(), "{rates:?}");
}

#[test]
fn tuning_corpora_keep_their_verdicts() {
    for file in [
        "tuning.jsonl",
        "tuning-files.jsonl",
        "tuning-languages.jsonl",
        "tuning-network.jsonl",
        "tuning-powershell.jsonl",
        "tuning-tools.jsonl",
    ] {
        let rates = measure(file);
        assert!(rates.good(), "{file}: {rates:?}");
    }
}

#[test]
fn scripts_in_embedded_languages_are_stopped_exactly_if_they_are_bad() {
    let judged = judge_corpus("embedded-languages.jsonl");
    assert!(judged.len() > 70, "{} lines", judged.len());
    for (case, verdict) in judged {
        let stopped = matches!(verdict.as_str(), "deny" | "ask");
        let known_alarm = case["false-alarm"].as_bool().unwrap_or_default();
        assert!(stopped == case["bad"].as_bool().unwrap() || known_alarm, "{verdict}: {case}");
    }
}
