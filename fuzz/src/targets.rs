// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is given the texts. Each target says what was made of a text, in a few words that are the
//! same for texts that are the same kind of thing: new words mean that the text is worth keeping.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Value, json};
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_facts::url;
use tenterhook_policy::{Facts, Layer, RuleSet, SessionState, Source, Surroundings, facts, judge};
use tenterhook_when::When;

use crate::seeds;

/// Something that must hold of a text, or else what is wrong.
pub type Property = fn(&str) -> Result<(), String>;

/// One reader of texts.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, and the directory of its regressions.
    pub name: &'static str,
    /// What it starts from.
    pub seeds: fn() -> Vec<String>,
    /// How often a text is read, about.
    pub times: u32,
    /// Reads a text.
    pub read: fn(&str) -> String,
    /// What must hold of it; not measured.
    pub holds: Option<Property>,
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "shell", seeds: shells, times: 1, read: shell, holds: Some(unbroken) },
    Target { name: "argv", seeds: argvs, times: 1, read: argv, holds: None },
    Target { name: "args", seeds: seeds::calls, times: 60, read: args, holds: None },
    Target { name: "code", seeds: codes, times: 9, read: code, holds: None },
    Target { name: "rules", seeds: || seeds::examples().1, times: 2, read: rules, holds: None },
    Target { name: "secret", seeds: seeds::secrets, times: 1, read: secrets, holds: Some(apart) },
    Target { name: "url", seeds: || owned(seeds::ADDRESSES), times: 1, read: address, holds: Some(one_form) },
    Target { name: "when", seeds: || owned(seeds::CONDITIONS), times: 1, read: when, holds: None },
];

static BASELINE: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::baseline().rules);

/// A program that nothing else here is called.
const CANARY: &str = "canary7f";

// === What is judged ===

/// A call of a tool, as an event.
pub fn event(tool: ToolCall) -> Event {
    let (id, now) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, now, "claude-code", EventKind::PreTool, "PreToolUse");
    event.cwd = Some("/home/user/project".into());
    event.tool = Some(tool);
    event
}

/// What a call would do.
pub fn facts_of(event: &Event) -> Facts {
    facts(event, &Surroundings { home: Some("/home/user"), ..Surroundings::default() })
}

/// What a shell text would do.
pub fn shell_facts(text: &str) -> Facts {
    facts_of(&event(bash(text)))
}

/// Facts and judgement of one call, by the rules compiled in.
pub fn judged(tool: ToolCall) -> (Facts, String) {
    let event = event(tool);
    let facts = facts_of(&event);
    let judgement = judge(&event, &facts, &SessionState::default(), &BASELINE);
    let said: Vec<_> =
        judgement.findings.iter().map(|found| format!("{} {}", found.by, found.decision)).collect();
    (facts, said.join(","))
}

fn bash(text: &str) -> ToolCall {
    ToolCall::new("Bash", json!({ "command": text }))
}

/// What kind of text it was: how many of each thing, roughly, and what the rules said.
fn shape(facts: &Facts, said: &str) -> String {
    let programs: BTreeSet<_> =
        facts.commands.iter().map(|command| command.program.get(..4).unwrap_or("")).take(6).collect();
    let why: BTreeSet<_> = facts.unread.iter().map(|unread| unread.why).collect();
    let size = |count: usize| count.checked_ilog2().map_or(0, |log| log + 1);
    format!(
        "{said} {why:?} {programs:?} {} {} {} {} {}",
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

// === The readers ===

fn shell(text: &str) -> String {
    let (facts, said) = judged(bash(text));
    shape(&facts, &said)
}

/// What is seen in a whole script is seen wherever the script stands, and so is what follows it.
fn unbroken(text: &str) -> Result<(), String> {
    // A document without an end swallows what follows, a backslash at the end joins it to the last
    // word, and the grammar takes a byte order mark at the very start for nothing.
    let alone = !text.contains("<<") && !text.ends_with('\\') && !text.starts_with('\u{feff}');
    if text.len() > 1024 || !alone || rable::parse(text, false).is_err() {
        return Ok(());
    }
    let facts = shell_facts(text);
    if facts.unparsed {
        return Ok(());
    }
    let after = shell_facts(&format!("{text}\n{CANARY} x"));
    if !after.unparsed && !programs(&after).contains(CANARY) {
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

fn argv(text: &str) -> String {
    let words: Vec<_> = text.split('\n').collect();
    let (facts, said) = judged(ToolCall::new("shell", json!({ "command": words })));
    shape(&facts, &said)
}

/// The first line names a tool, the rest is its arguments; what is no JSON goes into every role.
fn args(text: &str) -> String {
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
        let (facts, said) = judged(ToolCall::new(name, value.clone()));
        shapes.push_str(&shape(&facts, &said));
    }
    shapes
}

fn code(text: &str) -> String {
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
        let (facts, said) = judged(ToolCall::new("shell", json!({ "command": [program, option, text] })));
        shapes.push_str(&shape(&facts, &said));
    }
    let quoted = text.replace('\'', r"'\''");
    for text in [format!("python3 -c '{quoted}'"), format!("python3 - <<'EOF'\n{text}\nEOF\n")] {
        let (facts, said) = judged(bash(&text));
        shapes.push_str(&shape(&facts, &said));
    }
    shapes
}

fn rules(text: &str) -> String {
    let mut shapes = String::new();
    for layer in [Layer::User, Layer::Project] {
        let loaded =
            RuleSet::load(&[Source { name: "rules.yaml", text, layer, trusted: layer == Layer::User }]);
        let events = [
            event(bash("cd /; sudo rm -rf x > y")),
            event(ToolCall::new("Write", json!({ "file_path": "/etc/x", "content": "x" }))),
        ];
        for event in events {
            let found = judge(&event, &facts_of(&event), &SessionState::default(), &loaded.rules).findings;
            shapes.push_str(&format!("{} ", found.len()));
        }
        let told: BTreeSet<_> = loaded
            .problems
            .iter()
            .map(|problem| problem.to_string().split(' ').take(5).collect::<String>())
            .collect();
        shapes.push_str(&format!("{told:?}"));
    }
    shapes
}

fn secrets(text: &str) -> String {
    let found = tenterhook_secrets::secrets(text);
    found.iter().map(|secret| secret.kind).take(4).collect::<Vec<_>>().join(" ")
}

/// Secrets are parts of the text, in order, and do not overlap.
fn apart(text: &str) -> Result<(), String> {
    let mut end = 0;
    for secret in tenterhook_secrets::secrets(text) {
        let span = secret.span.clone();
        if span.start < end || span.is_empty() || text.get(span.clone()).is_none() {
            return Err(format!("{} at {span:?} overlaps or is no part of the text", secret.kind));
        }
        end = span.end;
    }
    Ok(())
}

fn address(text: &str) -> String {
    let Some(found) = url(text) else { return String::new() };
    let (port, user) = (found.port.is_some(), found.user.is_some());
    let length = found.host.len().min(8);
    format!("{} {port} {user} {} {} {length}", found.scheme, found.numeric, found.loopback)
}

/// A host has one form: small letters, no user, no dot at its end.
fn one_form(text: &str) -> Result<(), String> {
    let Some(found) = url(text) else { return Ok(()) };
    let other = |c: char| c.is_ascii_uppercase() || c == '@';
    if found.host.contains(other) || found.host.ends_with('.') {
        return Err(format!("`{}` is no host", found.host));
    }
    Ok(())
}

fn when(text: &str) -> String {
    let told = match When::compile(text) {
        Err(error) => error.to_string(),
        Ok(when) => match when.holds(&event(bash("ls"))) {
            Ok(holds) => holds.to_string(),
            Err(error) => error.to_string(),
        },
    };
    told.split(' ').take(4).collect()
}

// === Seeds ===

fn shells() -> Vec<String> {
    let mut texts = seeds::commands();
    texts.extend(seeds::examples().0);
    texts
}

fn argvs() -> Vec<String> {
    shells().iter().map(|text| text.replace(' ', "\n")).collect()
}

/// Code, alone and as the corpus has it: whatever stands in quotes.
fn codes() -> Vec<String> {
    let mut texts = owned(seeds::CODE);
    let quoted = seeds::commands()
        .into_iter()
        .filter(|text| text.contains(" -c ") || text.contains(" -e ") || text.contains("<<"));
    texts.extend(quoted);
    texts
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
