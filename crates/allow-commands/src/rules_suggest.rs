// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `rules suggest`: finds calls that users approved again and again, and prints how to stop the questions.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_event::{Decision, EventKind};
use tenterhook_guard::rule_draft::policy_still_stops;
use tenterhook_guard::{LedgerHandle, describe_stopped_call};
use tenterhook_home::regular_file;
use tenterhook_ledger::Filter;
use tenterhook_records::recorded::{JsonField as _, RecordedDecision, envelope};

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, tame};

/// Maximum number of recent records that are searched.
const MAX_SEARCHED_RECORDS: u64 = 20_000;
/// Length of a call in the list, in characters.
const MAX_CALL_CHARS: usize = 100;

const EXAMPLES: &str = "\
Looks for calls that a rule asked about and that you approved: in Tenterhook, or in the harness's own prompt, after \
which the call ran. Prints a command for each, and changes nothing. The command asks for your confirmation.

Examples:
  tenterhook rules suggest
  tenterhook rules suggest --min 5";

/// Suggest exceptions for calls that you approve again and again
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Minimum number of approvals
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    min: usize,
}

/// A call that was asked about, in the same form and directory.
struct RepeatedCall {
    /// The latest decision about it.
    latest: RecordedDecision,
    seq: u64,
    approved: usize,
    /// How often it was asked about.
    asked: usize,
}

/// Runs `rules suggest`.
pub fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let mut found = find_repeated_calls(context)?;
    let home = context.home()?;
    let policy = regular_file(&home.policy())?.unwrap_or_default();
    found.retain(|call| {
        call.approved >= args.min.max(1)
            && policy_still_stops(home, &context.env, &call.latest.event, &policy)
    });
    found.sort_by_key(|call| std::cmp::Reverse((call.approved, call.seq)));
    if context.terminal.json {
        let list: Vec<Value> = found.iter().map(RepeatedCall::to_json).collect();
        context.terminal.print_json(&json!({"suggestions": list}))?;
    } else if found.is_empty() {
        context.terminal.print("no suggestions: no call was approved often enough\n")?;
    } else {
        context.terminal.print(&found.iter().map(RepeatedCall::to_text).collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Collects the calls that rules asked about, from the newest records.
fn find_repeated_calls(context: &Context) -> Result<Vec<RepeatedCall>, CommandError> {
    let ledger = LedgerHandle::of(context.home()?);
    let reader = ledger.reader()?;
    let page = reader
        .query(&Filter::default(), MAX_SEARCHED_RECORDS)
        .map_err(|error| CommandError::internal(error.to_string()))?;
    let (mut approved, mut ran) = (BTreeSet::new(), BTreeSet::new());
    let mut asked = Vec::new();
    for record in &page.records {
        let leaf = envelope(record);
        match (leaf.field("kind").as_str(), leaf.field("what").as_str()) {
            (Some("change"), Some("approve")) => {
                let links = leaf.field("links").as_array().into_iter().flatten();
                approved.extend(links.filter_map(Value::as_str).map(ToOwned::to_owned));
            }
            (Some("change"), Some("allow")) => approved.extend(leaf.field("detail").text("of")),
            (Some("decision"), _) => {
                let is_after = leaf.field("event") == &json!(EventKind::PostTool);
                if is_after && let Some(call) = call_key(&leaf) {
                    ran.insert(call);
                } else if leaf.field("verdict") == "ask" {
                    asked.push((record, leaf));
                }
            }
            _ => {}
        }
    }
    let mut calls: BTreeMap<String, RepeatedCall> = BTreeMap::new();
    for (record, leaf) in asked {
        let is_approved = leaf.text("id").is_some_and(|id| approved.contains(&id))
            || call_key(&leaf).is_some_and(|call| ran.contains(&call));
        // Erased records have no call, and a redacted call cannot be compared.
        let is_whole = leaf.field("payload").field("redacted").as_u64().unwrap_or_default() == 0;
        let Some(latest) = RecordedDecision::from_record(record).ok().filter(|_| is_whole) else { continue };
        let Some(key) = identify_content(&latest) else { continue };
        let call =
            calls.entry(key).or_insert(RepeatedCall { latest, seq: record.seq, approved: 0, asked: 0 });
        call.asked += 1;
        call.approved += usize::from(is_approved);
    }
    // A call that was refused once is not suggested.
    Ok(calls.into_values().filter(|call| call.approved == call.asked).collect())
}

/// Identifies one tool call of one session.
fn call_key(leaf: &Value) -> Option<(String, String, String)> {
    Some((leaf.text("source")?, leaf.text("harness_session_id")?, leaf.text("tool_use_id")?))
}

/// Identifies what a call does and where, as an exception for exactly this call compares it.
fn identify_content(decision: &RecordedDecision) -> Option<String> {
    let event = &decision.event;
    let has_call = event.tool.as_ref().is_some_and(|tool| !tool.args.is_null());
    let is_asked = has_call && decision.outcome.decision == Decision::Ask;
    describe_stopped_call(event, Vec::new()).filter(|_| is_asked).map(|call| call.digest)
}

impl RepeatedCall {
    fn rule(&self) -> String {
        self.latest.leaf.text("policy_rule_id").unwrap_or_default()
    }

    fn call(&self) -> String {
        let text = self.latest.event.tool.as_ref().map(|tool| tool.gist().into_owned()).unwrap_or_default();
        tame(&text)
    }

    fn command(&self) -> String {
        format!("tenterhook allow {} --here", self.latest.event.id.short_name())
    }

    fn to_json(&self) -> Value {
        let (event, command) = (&self.latest.event, self.command());
        json!({
            "approved": self.approved, "rule": self.rule(), "source": event.source, "cwd": event.cwd,
            "call": self.call(), "record": self.seq, "command": command,
        })
    }

    fn to_text(&self) -> String {
        let call: String = self.call().chars().take(MAX_CALL_CHARS).collect();
        let cwd = self.latest.event.cwd.as_deref().unwrap_or_default();
        format!(
            "approved {} times: {BOLD}{call}{BOLD:#}\n  {DIM}rule {} asks, in {}{DIM:#}\n  {}\n",
            self.approved,
            tame(&self.rule()),
            tame(cwd),
            self.command()
        )
    }
}
