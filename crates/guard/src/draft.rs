// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A rule from something that happened: the same thing stopped next time, or let pass.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tenterhook_event::{Decision, Event, EventKind, Origin, ToolClass, ToolCommand, TraceStatus};
use tenterhook_facts::{EvalEnvironment, ExecLocation, Facts};

use tenterhook_error::Failure;
use tenterhook_records::recorded::RecordedDecision;

/// What an expression would obey.
const META: &[char] =
    &['\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$', '#', '&', '-', '~'];
/// Most words of a command that a rule looks for.
const MOST_WORDS: usize = 3;

/// What exactly a call is, in the words of a rule.
pub fn exactly(event: &Event) -> Option<Value> {
    let exactly = |text: &str| format!("\\A{}\\z", escaped(text));
    if let (EventKind::Prompt, Some(prompt)) = (event.event, &event.detail.prompt) {
        return Some(json!({"event": "prompt", "regex": {"prompt": exactly(prompt)}}));
    }
    let tool = event.tool.as_ref()?;
    if tool.class == ToolClass::Shell {
        let commands: Vec<String> = texts(event).iter().map(|text| exactly(text)).collect();
        return (!commands.is_empty()).then(|| json!({"tool": "shell", "regex": {"command": commands}}));
    }
    let plain = tool.name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter));
    plain.then(|| json!({"tool": tool.name, "regex": {"args": exactly(&tool.args.to_string())}}))
}

/// A rule that stops what happened: the program and its first words, the file, the host; else this very call.
pub fn block(leaf: &RecordedDecision, seq: u64, person: Option<&str>) -> Result<Value, Failure> {
    let event = &leaf.event;
    let around = EvalEnvironment { home: person, seen: Some(&leaf.seen), ..EvalEnvironment::default() };
    let facts = tenterhook_policy::facts(event, &around);
    let (matches, name) = broadly(event, &facts)
        .or_else(|| Some((exactly(event)?, "this".to_owned())))
        .ok_or_else(|| unsayable(seq))?;
    let example = example(event);
    Ok(json!({
        "id": id(&format!("no-{name}"), seq),
        "description": format!("Made from decision {seq} of {}", event.source),
        "severity": "medium",
        "match": matches,
        "verdict": "deny",
        "reason": "A person said no to this before.",
        "examples": {"deny": example.into_iter().collect::<Vec<_>>()},
    }))
}

/// An exception for exactly what happened, in the same directory, from the rules that were in its way.
pub fn allow(leaf: &RecordedDecision, seq: u64) -> Result<Value, Failure> {
    let said = |status: TraceStatus| matches!(status, TraceStatus::Matched | TraceStatus::Monitored);
    let mut rules: Vec<&str> = Vec::new();
    for step in leaf.outcome.trace.iter().filter(|step| said(step.status) && step.decision >= Decision::Ask) {
        if let Origin::Rule(id) = &step.by
            && !rules.contains(&id.as_ref())
        {
            rules.push(id);
        }
    }
    if rules.is_empty() {
        let by_hook = leaf.outcome.decision >= Decision::Ask;
        let why = if by_hook {
            "a hook objected, and only rules have exceptions"
        } else {
            "no rule objected to it"
        };
        return Err(Failure::user(format!("decision {seq} needs no exception: {why}")));
    }
    let matches = exactly(&leaf.event).ok_or_else(|| unsayable(seq))?;
    let name = leaf.event.tool.as_ref().map_or("prompt", |tool| tool.class.name());
    let place = leaf.event.cwd.as_ref().map(|cwd| format!("event.cwd == {}", json!(cwd)));
    Ok(json!({
        "id": id(&format!("allow-{name}"), seq),
        "description": format!("An exception made from decision {seq} of {}", leaf.event.source),
        "match": matches,
        "when": place,
        "verdict": "allow",
        "overrides": rules,
    }))
}

fn unsayable(seq: u64) -> Failure {
    Failure::user(format!("a rule cannot say what decision {seq} is about"))
        .hint("its payload may be erased, or it has none")
}

/// What is to be stopped, as narrow as people would say it, and a name for it.
fn broadly(event: &Event, facts: &Facts) -> Option<(Value, String)> {
    let tool = event.tool.as_ref()?;
    if tool.class == ToolClass::Shell {
        // What somebody else starts is meant, not who starts it; and what runs on this machine.
        let here: Vec<_> = facts.commands.iter().filter(|command| command.on == ExecLocation::Here).collect();
        let starts = |program: &str| here.iter().any(|other| other.via.iter().any(|via| via == program));
        let mut named = here.iter().filter(|command| !command.program.is_empty());
        let command = named.find(|command| !starts(&command.program))?;
        let plain = |text: &str| {
            !text.is_empty()
                && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.:/@=".contains(letter))
        };
        let words: Vec<&str> = command
            .words
            .iter()
            .map(|word| word.text.as_str())
            .filter(|text| plain(text) && !text.starts_with('-'))
            .take(MOST_WORDS)
            .collect();
        let shell = if words.is_empty() {
            json!({"program": [command.program]})
        } else {
            json!({"program": [command.program], "words": words})
        };
        return Some((json!({"shell": shell}), command.program.clone()));
    }
    if let Some(url) = facts.urls.first().filter(|url| !url.host.is_empty() && !url.host.contains('*')) {
        return Some((json!({"tool": tool.name, "host": [url.host]}), url.host.clone()));
    }
    let path = facts.paths.first()?;
    let text = path.resolved.as_deref().unwrap_or(&path.text);
    let plain = !text.contains(['*', '?', '[', ']', '{', '}', '!']);
    let name = text.rsplit('/').next().unwrap_or_default().to_owned();
    plain.then(|| (json!({"tool": tool.name, "path": [text]}), name))
}

/// The call as an example of a rule.
fn example(event: &Event) -> Option<Value> {
    let tool = event.tool.as_ref()?;
    if tool.class == ToolClass::Shell {
        return texts(event).into_iter().next().map(Value::from);
    }
    Some(json!({"tool": tool.name, "args": tool.args}))
}

fn texts(event: &Event) -> Vec<String> {
    let text = |command: ToolCommand<'_>| match command {
        ToolCommand::Text(text) => text.to_owned(),
        ToolCommand::Argv(words) => words.join(" "),
    };
    event.tool.iter().flat_map(|tool| tool.commands().into_iter().map(text).collect::<Vec<_>>()).collect()
}

fn escaped(text: &str) -> String {
    text.chars()
        .flat_map(|letter| META.contains(&letter).then_some('\\').into_iter().chain([letter]))
        .collect()
}

/// A name that no other draft has.
fn id(name: &str, seq: u64) -> String {
    let fits = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let mut id: String = name.chars().map(fits).take(40).collect();
    let _ = write!(id, "-{seq}");
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_matches_the_text_and_nothing_else() {
        assert_eq!(escaped("rm -rf a.b (x) #1"), "rm \\-rf a\\.b \\(x\\) \\#1");
        assert_eq!(escaped("<été>\n"), "<été>\n");
    }

    #[test]
    fn a_name_is_one_of_a_rule() {
        assert_eq!(id("no-Évil/x.sh", 7), "no--vil-x-sh-7");
    }
}
