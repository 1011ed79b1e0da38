// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The fuzz targets. Each returns a short summary of the text that it parsed. Similar texts have equal
//! summaries, so a text with a new summary is worth keeping.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Value, json};
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_facts::parse_url;
use tenterhook_fleet_protocol::{
    BatchError, BatchRecord, CosignMessage, EnrolRequest, FleetMessage as _, InstanceId, MachineCommand,
    MachineId, MachineStatus, MessageId, NkeyKind, NkeyPair, SignedAnswer, UploadBatch,
};
use tenterhook_ledger::Hash;
use tenterhook_policy::{
    EvalEnvironment, Facts, RuleSet, RuleSource, SessionState, SourceLayer, facts, judge,
};
use tenterhook_when::When;

use crate::seeds;

/// Checks a property of a text; the error describes the violation.
pub type PropertyCheck = fn(&str) -> Result<(), String>;

/// One parser under test.
#[derive(Debug, Clone, Copy)]
pub struct FuzzTarget {
    /// Name of the target, and of the directory of its regressions.
    pub name: &'static str,
    /// Seed texts.
    pub seeds: fn() -> Vec<String>,
    /// Approximate number of times that one run parses the text.
    pub parse_count: u32,
    /// Parses a text and returns a summary.
    pub read: fn(&str) -> String,
    /// A property to check; its time is not measured.
    pub holds: Option<PropertyCheck>,
}

/// All fuzz targets.
pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget {
        name: "shell",
        seeds: shell_seeds,
        parse_count: 1,
        read: run_shell,
        holds: Some(keeps_commands_in_blocks),
    },
    FuzzTarget { name: "argv", seeds: argv_seeds, parse_count: 1, read: run_argv, holds: None },
    FuzzTarget {
        name: "batch",
        seeds: batch_seeds,
        parse_count: 1,
        read: run_batch,
        holds: Some(batch_is_read_back),
    },
    FuzzTarget { name: "args", seeds: seeds::calls, parse_count: 60, read: run_args, holds: None },
    FuzzTarget { name: "code", seeds: code_seeds, parse_count: 9, read: run_code, holds: None },
    FuzzTarget { name: "rules", seeds: || seeds::examples().1, parse_count: 2, read: run_rules, holds: None },
    FuzzTarget {
        name: "secret",
        seeds: seeds::secrets,
        parse_count: 1,
        read: run_secrets,
        holds: Some(secrets_do_not_overlap),
    },
    FuzzTarget {
        name: "url",
        seeds: || to_strings(seeds::ADDRESSES),
        parse_count: 1,
        read: run_address,
        holds: Some(host_is_normalized),
    },
    FuzzTarget {
        name: "when",
        seeds: || to_strings(seeds::CONDITIONS),
        parse_count: 1,
        read: run_when,
        holds: None,
    },
];

static BASELINE: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::baseline().rules);

/// A program name that occurs nowhere else.
const CANARY_PROGRAM: &str = "canary7f";

// === Evaluation ===

/// The event of a tool call.
pub fn event(tool: ToolCall) -> Event {
    let (id, now) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, now, "claude-code", EventKind::PreTool, "PreToolUse");
    event.cwd = Some("/home/user/project".into());
    event.tool = Some(tool);
    event
}

/// The facts of an event.
pub fn facts_of(event: &Event) -> Facts {
    facts(event, &EvalEnvironment { home: Some("/home/user"), ..EvalEnvironment::default() })
}

/// The facts of a shell command.
pub fn shell_facts(text: &str) -> Facts {
    facts_of(&event(bash(text)))
}

/// Facts and findings of one call with the built-in rules.
pub fn evaluate(tool: ToolCall) -> (Facts, String) {
    let event = event(tool);
    let facts = facts_of(&event);
    let judgement = judge(&event, &facts, &SessionState::default(), &BASELINE);
    let findings: Vec<_> =
        judgement.findings.iter().map(|found| format!("{} {}", found.by, found.decision)).collect();
    (facts, findings.join(","))
}

fn bash(text: &str) -> ToolCall {
    ToolCall::new("Bash", json!({ "command": text }))
}

/// A summary of facts: the approximate number of each kind, and the findings.
fn summarize(facts: &Facts, findings: &str) -> String {
    let programs: BTreeSet<_> =
        facts.commands.iter().map(|command| command.program.get(..4).unwrap_or("")).take(6).collect();
    let why: BTreeSet<_> = facts.unread.iter().map(|unread| unread.why).collect();
    let size = |count: usize| count.checked_ilog2().map_or(0, |log| log + 1);
    format!(
        "{findings} {why:?} {programs:?} {} {} {} {} {}",
        size(facts.commands.len()),
        size(facts.effects.len()),
        size(facts.urls.len()),
        size(facts.commands.iter().map(|command| command.words.len()).sum()),
        size(
            facts
                .commands
                .iter()
                .map(|command| command.inputs.len() + command.outputs.len() + command.feeds.len())
                .sum()
        ),
    )
}

fn programs(facts: &Facts) -> BTreeSet<&str> {
    facts.commands.iter().map(|command| command.program.as_str()).collect()
}

// === Messages of a fleet ===

/// Returns the bytes of a message as text: one character for each byte.
fn bytes_to_text(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// Returns the bytes of a text. Characters beyond the first 256 lose their upper bits.
fn text_to_bytes(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c) & 0xff).unwrap_or_default()).collect()
}

fn batch_seeds() -> Vec<String> {
    let machine = MachineId::of_key(&NkeyPair::from_seed(NkeyKind::User, &[1; 32]).public());
    let batch = |records: Vec<BatchRecord>, proof: usize| UploadBatch {
        machine: machine.clone(),
        instance: InstanceId([2; 16]),
        origin: "host/ledger".to_owned(),
        first: 7,
        records,
        checkpoint: "host/ledger\n9\nAAAA\n\n— host/ledger AAAA\n".to_owned(),
        proof: vec![Hash([3; 32]); proof],
    };
    let envelope = |number: u64| BatchRecord::Envelope(format!(r#"{{"v":1,"seq":{number}}}"#).into_bytes());
    let batches = [
        batch(vec![envelope(7)], 0),
        batch(vec![envelope(7), BatchRecord::Pruned(Hash([4; 32])), envelope(9)], 3),
        batch((0..200).map(envelope).collect(), 20),
    ];
    let mut seeds: Vec<String> =
        batches.iter().filter_map(|batch| batch.encode().ok()).map(|bytes| bytes_to_text(&bytes)).collect();
    seeds.push(r#"{"command":"resend","from":7}"#.to_owned());
    seeds.extend(batches.first().map(|batch| batch.message_id().to_string()));
    seeds
}

/// Decodes a text as each message that comes from another machine.
fn run_batch(text: &str) -> String {
    let bytes = text_to_bytes(text);
    let batch = match UploadBatch::decode(&bytes) {
        Ok(batch) => format!("{} records, {} hashes", batch.records.len().min(9), batch.proof.len().min(9)),
        Err(error) => error.to_string().chars().take(60).collect(),
    };
    let messages = [
        MachineCommand::decode(&bytes).is_ok(),
        MachineStatus::decode(&bytes).is_ok(),
        CosignMessage::decode(&bytes).is_ok(),
        EnrolRequest::decode(&bytes).is_ok(),
        SignedAnswer::decode(&bytes).is_ok(),
        text.parse::<MessageId>().is_ok(),
    ];
    format!("{batch} {messages:?}")
}

/// Checks that a batch that is read is written and read again as the same.
fn batch_is_read_back(text: &str) -> Result<(), String> {
    let Ok(batch) = UploadBatch::decode(&text_to_bytes(text)) else { return Ok(()) };
    match batch.encode().and_then(|bytes| UploadBatch::decode(&bytes)) {
        // The sender may have compressed better.
        Err(BatchError::TooLarge(_)) => Ok(()),
        again if again.as_ref() == Ok(&batch) => Ok(()),
        again => Err(format!("another batch: {:?}", again.err())),
    }
}

// === Parsers ===

fn run_shell(text: &str) -> String {
    let (facts, findings) = evaluate(bash(text));
    summarize(&facts, &findings)
}

/// Checks that the commands of a complete script are also found if the script is inside a block, and that a
/// command after the script is found.
fn keeps_commands_in_blocks(text: &str) -> Result<(), String> {
    // These texts change the meaning of what follows or precedes them: an unfinished here-document swallows
    // the following text, a backslash at the end joins it to the last word, and a byte order mark is ignored
    // only at the start.
    let alone = !text.contains("<<") && !text.ends_with('\\') && !text.starts_with('\u{feff}');
    if text.len() > 1024 || !alone || rable::parse(text, false).is_err() {
        return Ok(());
    }
    let facts = shell_facts(text);
    if facts.unparsed {
        return Ok(());
    }
    let after = shell_facts(&format!("{text}\n{CANARY_PROGRAM} x"));
    if !after.unparsed && !programs(&after).contains(CANARY_PROGRAM) {
        return Err("a command after the script is not seen".to_owned());
    }
    for (open, close) in
        [("if :; then\n", "\nfi"), ("(\n", "\n)"), ("while :; do\n", "\ndone"), (":; {\n", "\n}")]
    {
        let within = shell_facts(&format!("{open}{text}\n{close}"));
        let (alone, inside) = (programs(&facts), programs(&within));
        if let Some(lost) = alone.difference(&inside).find(|_| !within.unparsed) {
            return Err(format!("`{lost}` is not seen within `{}`", open.trim()));
        }
    }
    Ok(())
}

fn run_argv(text: &str) -> String {
    let words: Vec<_> = text.split('\n').collect();
    let (facts, findings) = evaluate(ToolCall::new("shell", json!({ "command": words })));
    summarize(&facts, &findings)
}

/// The first line is the name of a tool; the rest are its arguments. If the rest is not JSON, it is used as
/// the value of every common argument.
fn run_args(text: &str) -> String {
    let (name, rest) = text.split_once('\n').unwrap_or(("", text));
    let any = || {
        json!({
            "command": rest, "file_path": rest, "path": [rest, rest], "content": rest, "new_string": rest, "url": rest,
            "code": rest, "patch": rest, "input": { "command": rest }, "arguments": { "cmd": rest, "args": [rest] },
            "edits": [{ "new_string": rest }], "commands": [rest, [rest], { "command": rest }], "query": rest,
        })
    };
    let value: Value = serde_json::from_str(rest).unwrap_or_else(|_| any());
    let mut shapes = String::new();
    for name in [name, "Write", "apply_patch", "mcp__a__b", "WebFetch"] {
        let (facts, findings) = evaluate(ToolCall::new(name, value.clone()));
        shapes.push_str(&summarize(&facts, &findings));
    }
    shapes
}

fn run_code(text: &str) -> String {
    let mut shapes = String::new();
    for (program, option) in [
        ("python3", "-c"),
        ("node", "-e"),
        ("perl", "-e"),
        ("ruby", "-e"),
        ("php", "-r"),
        ("lua", "-e"),
        ("awk", "--"),
    ] {
        let (facts, findings) =
            evaluate(ToolCall::new("shell", json!({ "command": [program, option, text] })));
        shapes.push_str(&summarize(&facts, &findings));
    }
    let quoted = text.replace('\'', r"'\''");
    for text in [format!("python3 -c '{quoted}'"), format!("python3 - <<'EOF'\n{text}\nEOF\n")] {
        let (facts, findings) = evaluate(bash(&text));
        shapes.push_str(&summarize(&facts, &findings));
    }
    shapes
}

fn run_rules(text: &str) -> String {
    let mut shapes = String::new();
    for layer in [SourceLayer::User, SourceLayer::Project] {
        let loaded = RuleSet::load(&[RuleSource {
            name: "rules.yaml",
            text,
            layer,
            trusted: layer == SourceLayer::User,
        }]);
        let events = [
            event(bash("cd /; sudo rm -rf x > y")),
            event(ToolCall::new("Write", json!({ "file_path": "/etc/x", "content": "x" }))),
        ];
        for event in events {
            let found = judge(&event, &facts_of(&event), &SessionState::default(), &loaded.rules).findings;
            shapes.push_str(&format!("{} ", found.len()));
        }
        let messages: BTreeSet<_> = loaded
            .problems
            .iter()
            .map(|problem| problem.to_string().split(' ').take(5).collect::<String>())
            .collect();
        shapes.push_str(&format!("{messages:?}"));
    }
    shapes
}

fn run_secrets(text: &str) -> String {
    let found = tenterhook_secrets::find_secrets(text);
    found.iter().map(|secret| secret.kind).take(4).collect::<Vec<_>>().join(" ")
}

/// Checks that secrets are parts of the text, in order, without overlap.
fn secrets_do_not_overlap(text: &str) -> Result<(), String> {
    let mut end = 0;
    for secret in tenterhook_secrets::find_secrets(text) {
        let span = secret.span.clone();
        if span.start < end || span.is_empty() || text.get(span.clone()).is_none() {
            return Err(format!("{} at {span:?} overlaps another or is outside the text", secret.kind));
        }
        end = span.end;
    }
    Ok(())
}

fn run_address(text: &str) -> String {
    let Some(found) = parse_url(text) else { return String::new() };
    let (port, user) = (found.port.is_some(), found.user.is_some());
    let length = found.host.len().min(8);
    format!("{} {port} {user} {} {} {length}", found.scheme, found.numeric, found.loopback)
}

/// Checks that hosts are normalized: lower case, no user, no trailing dot.
fn host_is_normalized(text: &str) -> Result<(), String> {
    let Some(found) = parse_url(text) else { return Ok(()) };
    let other = |c: char| c.is_ascii_uppercase() || c == '@';
    if found.host.contains(other) || found.host.ends_with('.') {
        return Err(format!("`{}` is not a normalized host", found.host));
    }
    Ok(())
}

fn run_when(text: &str) -> String {
    let messages = match When::compile(text) {
        Err(error) => error.to_string(),
        Ok(when) => match when.holds(&event(bash("ls"))) {
            Ok(holds) => holds.to_string(),
            Err(error) => error.to_string(),
        },
    };
    messages.split(' ').take(4).collect()
}

// === Seeds ===

fn shell_seeds() -> Vec<String> {
    let mut texts = seeds::commands();
    texts.extend(seeds::examples().0);
    texts
}

fn argv_seeds() -> Vec<String> {
    shell_seeds().iter().map(|text| text.replace(' ', "\n")).collect()
}

/// Code on its own, and the commands of the corpus that contain code.
fn code_seeds() -> Vec<String> {
    let mut texts = to_strings(seeds::CODE);
    let quoted = seeds::commands()
        .into_iter()
        .filter(|text| text.contains(" -c ") || text.contains(" -e ") || text.contains("<<"));
    texts.extend(quoted);
    texts
}

fn to_strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
