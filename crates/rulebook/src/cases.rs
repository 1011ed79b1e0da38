// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs test cases for rules. A case is written in YAML: an event and its expected verdict.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value;
use tenterhook_document::{Node, Value as Tree, parse, read};
use tenterhook_error::Failure;
use tenterhook_event::{Decision, Event, Timestamp, ToolCall};
use tenterhook_policy::SessionState;

use crate::{Rulebook, Ruling, command_event, tool_call_event};

/// Home directory of the user in every case. It is the same on every machine, and the same as in the examples of rules.
pub const CASE_HOME: &str = "/home/user";
/// Default working directory of a case.
const CASE_PROJECT: &str = "/home/user/project";

/// One test case in a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleCase {
    name: Option<String>,
    command: Option<String>,
    tool: Option<String>,
    #[serde(default)]
    args: Value,
    /// A whole event, or the kind of event for `tool`.
    event: Option<Value>,
    cwd: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
    expect: ExpectedVerdict,
    rule: Option<String>,
    reason: Option<String>,
    nudge: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ExpectedVerdict {
    None,
    Allow,
    Ask,
    Deny,
}

/// Result of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseResult {
    /// Name of the file of cases.
    pub file: String,
    /// Line of the case in the file, counted from one.
    pub line: usize,
    /// Name of the case: its `name`, or its command or tool.
    pub name: String,
    /// Everything that differs from the expectation; empty if the case passed.
    pub failures: Vec<String>,
}

/// Runs every case of a file. The rulebook should use [`CASE_HOME`] as [home directory](Rulebook::with_home).
pub fn run_file(book: &Rulebook, name: &str, text: &str, now: Timestamp) -> Result<Vec<CaseResult>, Failure> {
    let tree = parse(text).map_err(|(spot, message)| {
        Failure::user(format!("{name}:{}:{}: {message}", spot.line, spot.column))
    })?;
    let Some(Tree::List(cases)) = tree.get("cases").map(|node| &node.value) else {
        return Err(Failure::user(format!("{name}: `cases` is missing or not a list"))
            .hint("see `tenterhook policy test --help` for the format"));
    };
    Ok(cases.iter().map(|node| run_case(book, name, node, now)).collect())
}

fn run_case(book: &Rulebook, file: &str, node: &Node, now: Timestamp) -> CaseResult {
    let (line, file) = (node.spot.line, file.to_owned());
    let case = match read::<RuleCase>(node) {
        Ok(case) => case,
        Err(misfit) => {
            let name = node.get("name").and_then(Node::text).unwrap_or("case").to_owned();
            return CaseResult { file, line: misfit.spot.line, name, failures: vec![misfit.message] };
        }
    };
    let name = case.name.clone().or(case.command.clone()).or(case.tool.clone()).unwrap_or("case".to_owned());
    let failures = match case.build_event(now) {
        Ok(event) => case.find_failures(book, &event),
        Err(failure) => vec![failure.message],
    };
    CaseResult { file, line, name, failures }
}

// === impl RuleCase ===

impl RuleCase {
    fn build_event(&self, now: Timestamp) -> Result<Event, Failure> {
        let cwd = self.cwd.as_deref().or(Some(CASE_PROJECT));
        match (&self.command, &self.tool, &self.event) {
            (Some(command), None, None) => Ok(command_event(command, cwd, now)),
            (None, Some(tool), kind) => {
                let mut event = tool_call_event(ToolCall::new(tool, self.args.clone()), cwd, now);
                if let Some(kind) = kind {
                    event.event = serde_json::from_value(kind.clone())
                        .map_err(|error| Failure::user(error.to_string()))?;
                }
                Ok(event)
            }
            (None, None, Some(event)) => serde_json::from_value(event.clone())
                .map_err(|error| Failure::user(format!("invalid `event`: {error}"))),
            _ => Err(Failure::user("use exactly one of `command`, `tool` (with `args`) and `event`")),
        }
    }

    fn find_failures(&self, book: &Rulebook, event: &Event) -> Vec<String> {
        let state = SessionState { labels: self.labels.iter().cloned().collect(), ..SessionState::default() };
        let ruling = book.strictest(event, &state);
        let expected = match self.expect {
            ExpectedVerdict::None => Decision::None,
            ExpectedVerdict::Allow => Decision::Allow,
            ExpectedVerdict::Ask => Decision::Ask,
            ExpectedVerdict::Deny => Decision::Deny,
        };
        let by = ruling.rule.as_deref().map_or_else(String::new, |rule| format!(" by `{rule}`"));
        let mut failures = Vec::new();
        if ruling.verdict != expected {
            failures.push(format!("expected {expected}, but got {}{by}", ruling.verdict));
        }
        if let Some(rule) = &self.rule {
            // Several rules may have the same verdict; any of them is accepted.
            let says = |other: &Ruling| other.rule.as_ref() == Some(rule) && other.verdict == ruling.verdict;
            if !book.rulings(event, &state).iter().any(says) {
                failures.push(format!("expected the rule `{rule}`, but got {}{by}", ruling.verdict));
            }
        }
        let parts = [("reason", &self.reason, &ruling.reason), ("nudge", &self.nudge, &ruling.nudge)];
        for (what, expected_text, actual_text) in parts {
            let Some(expected_text) = expected_text else { continue };
            let actual_text = actual_text.as_deref().unwrap_or_default();
            if !actual_text.contains(expected_text.as_str()) {
                failures.push(format!("expected `{expected_text}` in the {what}, but it is `{actual_text}`"));
            }
        }
        failures
    }
}

/// Formats the results as JUnit XML, for CI services.
pub fn to_junit(results: &[CaseResult]) -> String {
    let escape = |text: &str| {
        let plain: String = text.chars().filter(|c| !c.is_control()).collect();
        plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    };
    let failed = results.iter().filter(|case| !case.failures.is_empty()).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tenterhook policy test\" tests=\"{}\" failures=\"{failed}\">\n",
        results.len()
    );
    for case in results {
        let head = format!(
            "classname=\"{}\" name=\"{}\" line=\"{}\"",
            escape(&case.file),
            escape(&case.name),
            case.line
        );
        let _ = if case.failures.is_empty() {
            writeln!(text, "  <testcase {head}/>")
        } else {
            let message = escape(&case.failures.join("; "));
            writeln!(text, "  <testcase {head}><failure message=\"{message}\"/></testcase>")
        };
    }
    text + "</testsuite>\n"
}
