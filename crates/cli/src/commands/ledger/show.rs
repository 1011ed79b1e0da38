// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::Value;
use tenterhook_event::{Decision, EventId};
use tenterhook_guard::Book;
use tenterhook_ledger::{Reader, Record};
use tenterhook_records::recorded::{Field as _, payload};
use tenterhook_records::recorded::{leaf, ledger_record};

use super::unread;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, WARN, style_of, tame, verdict_in_words};

const EXAMPLES: &str = "\
Examples:
  tenterhook ledger show 17
  tenterhook ledger show 01M7F3GRZQ0000000000000001
  tenterhook ledger show 17 --json | jq .leaf.trace";

/// Show one leaf: its envelope, payload, trace and hash
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The leaf, by its number or the id of its event
    #[arg(value_name = "SEQ|ID")]
    leaf: String,
}

/// The fields of an envelope in the order they are written; the rest has a place of its own below.
const FIELDS: &[&str] = &[
    "id",
    "ts",
    "recorded",
    "origin",
    "source",
    "event",
    "native_event",
    "harness_session_id",
    "session_check",
    "sender_ts",
    "tool_use_id",
    "tool",
    "agent",
    "cwd",
    "project",
    "turn_id",
    "verdict",
    "reason",
    "policy_rule_id",
    "nudge",
    "flow",
    "generation",
    "took_us",
    "what",
    "who",
    "detail",
    "log",
    "key",
    "new_key",
    "old_signature",
    "new_signature",
    "from",
    "to",
    "links",
    "signer",
];

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let reader = Book::of(context.home()?).read()?;
    let record = find(&reader, &args.leaf)?;
    if context.terminal.json {
        context.terminal.print_json(&ledger_record(&record))?;
    } else {
        let published = reader.checkpoint().map_err(unread)?.is_some_and(|(size, _)| size > record.seq);
        context.terminal.say(&page(&record, published))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The leaf that is meant.
pub(super) fn find(reader: &Reader, said: &str) -> Result<Record, CommandError> {
    let unknown = || {
        CommandError::user(format!("there is no leaf `{said}`"))
            .hint("`tenterhook ledger query` lists them; the first column is the number")
    };
    let seq = match (said.parse::<u64>(), said.parse::<EventId>()) {
        (Ok(seq), _) => seq,
        (_, Ok(id)) => reader.find(&id.to_string()).map_err(unread)?.ok_or_else(unknown)?,
        _ => return Err(unknown()),
    };
    reader.get(seq).map_err(unread)?.ok_or_else(unknown)
}

fn page(record: &Record, published: bool) -> String {
    let leaf = leaf(record);
    let mut text = format!("{BOLD}leaf {}{BOLD:#}", record.seq);
    let _ = match leaf.field("kind").as_str() {
        Some(kind) => writeln!(text, " {DIM}{}{DIM:#}", tame(kind)),
        None => writeln!(text, " {WARN}pruned: only its hash is kept{WARN:#}"),
    };
    if let Ok(decision) = serde_json::from_value::<Decision>(leaf.field("verdict").clone()) {
        let style = style_of(decision);
        let _ = writeln!(text, "  {style}{}{style:#}", verdict_in_words(decision));
    }
    text.push('\n');
    for name in FIELDS {
        if let Some(value) = leaf.get(name) {
            let _ = writeln!(text, "  {DIM}{name:<20}{DIM:#} {}", word(value));
        }
    }
    let _ = writeln!(text, "  {DIM}{:<20}{DIM:#} {}", "hash", record.hash);
    let _ = writeln!(
        text,
        "  {DIM}{:<20}{DIM:#} {}",
        "signed",
        if published {
            "a checkpoint covers it"
        } else {
            "with its commit; no checkpoint with it went out yet"
        }
    );
    let steps = leaf.field("trace").as_array().map(Vec::as_slice).unwrap_or_default();
    if !steps.is_empty() {
        let _ = writeln!(text, "\n{BOLD}Trace{BOLD:#}");
    }
    for step in steps {
        let part = |key: &str| tame(step.field(key).as_str().unwrap_or_default());
        let _ = match step.field("cut").as_u64() {
            Some(cut) => writeln!(text, "  {WARN}{cut} more were cut{WARN:#}"),
            None => writeln!(
                text,
                "  {:<30} {} {} {DIM}{}{DIM:#}",
                part("by"),
                part("status"),
                part("decision"),
                part("note")
            ),
        };
    }
    if !leaf.field("facts").is_null() {
        let _ = writeln!(text, "\n{BOLD}Facts{BOLD:#}\n{}", indented(leaf.field("facts")));
    }
    if let Some(stored) = &record.payload {
        let redacted = leaf.field("payload").field("redacted").as_u64().unwrap_or_default();
        let secrets = if redacted > 0 { format!(", {redacted} secrets taken out") } else { String::new() };
        let _ = writeln!(
            text,
            "\n{BOLD}Payload{BOLD:#} {DIM}{} bytes{secrets}{DIM:#}",
            leaf.field("payload").field("bytes")
        );
        let _ = match (&stored.salt, &stored.bytes) {
            (None, _) => writeln!(text, "  {WARN}erased{WARN:#}"),
            (_, None) => {
                writeln!(text, "  {WARN}too large to be stored: only its commitment is here{WARN:#}")
            }
            _ => writeln!(text, "{}", indented(&payload(record))),
        };
    }
    text
}

fn word(value: &Value) -> String {
    tame(&value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned))
}

fn indented(value: &Value) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    pretty.lines().map(|line| format!("  {}", tame(line))).collect::<Vec<_>>().join("\n")
}
