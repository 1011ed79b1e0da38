// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Drafts a rule from a recorded call, to deny or to allow the call next time.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use tenterhook_event::{Decision, Event, EventKind, Origin, ToolClass, ToolCommand, TraceStatus};
use tenterhook_facts::{EvalEnvironment, ExecLocation, Facts};

use tenterhook_error::Failure;
use tenterhook_home::env::Env;
use tenterhook_home::{Home, Sources, WorkDirs};
use tenterhook_policy::SessionState;
use tenterhook_records::recorded::RecordedDecision;

/// Characters with a meaning in regular expressions.
const REGEX_META_CHARS: &[char] =
    &['\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$', '#', '&', '-', '~'];
/// Maximum number of letters after one dash that are read as options.
const MAX_SHORT_OPTIONS: usize = 3;
/// Maximum number of options that a drafted rule lists.
const MAX_DRAFT_OPTIONS: usize = 4;
/// Maximum length of a call in a rule's description.
const MAX_DESCRIPTION_CHARS: usize = 80;
/// Maximum number of words of a command that a drafted rule matches.
const MAX_COMMAND_WORDS: usize = 3;

/// Returns conditions that match exactly this call.
pub fn match_exact_call(event: &Event) -> Option<Value> {
    let exactly = |text: &str| format!("\\A{}\\z", escape_regex(text));
    if let (EventKind::Prompt, Some(prompt)) = (event.event, &event.detail.prompt) {
        return Some(json!({"event": "prompt", "regex": {"prompt": exactly(prompt)}}));
    }
    let tool = event.tool.as_ref()?;
    if tool.class == ToolClass::Shell {
        let commands: Vec<String> = command_texts(event).iter().map(|text| exactly(text)).collect();
        return (!commands.is_empty()).then(|| json!({"tool": "shell", "regex": {"command": commands}}));
    }
    let is_plain = tool.name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter));
    is_plain.then(|| json!({"tool": tool.name, "regex": {"args": exactly(&tool.args.to_string())}}))
}

/// Returns a rule that denies similar calls. It matches the program and its first words, the file, or the host; if
/// there is none, it matches exactly this call.
pub fn deny_rule(recorded: &RecordedDecision, seq: u64, user_home: Option<&str>) -> Result<Value, Failure> {
    let event = &recorded.event;
    let environment =
        EvalEnvironment { home: user_home, seen: Some(&recorded.seen), ..EvalEnvironment::default() };
    let facts = tenterhook_policy::facts(event, &environment);
    let (conditions, name) = match_similar_calls(event, &facts)
        .or_else(|| Some((match_exact_call(event)?, "this".to_owned())))
        .ok_or_else(|| not_expressible(seq))?;
    let example = rule_example(event);
    Ok(json!({
        "id": rule_id(&format!("no-{name}"), seq),
        "description": format!("Made from decision {seq} of {}", event.source),
        "severity": "medium",
        "match": conditions,
        "verdict": "deny",
        "reason": "The user denied a call like this before.",
        "examples": {"deny": example.into_iter().collect::<Vec<_>>()},
    }))
}

/// Returns a rule for calls like this one: like [`deny_rule`], with the verdict `verdict`, with the options of the command,
/// and with examples. The rule's id contains `suffix`.
pub fn similar_calls_rule(
    event: &Event,
    environment: &EvalEnvironment<'_>,
    verdict: Decision,
    suffix: &str,
) -> Result<Value, Failure> {
    let unusable =
        || Failure::user("no rule can match this call").hint("write one: `tenterhook rules new ID`");
    let facts = tenterhook_policy::facts(event, environment);
    let similar = match_similar_calls(event, &facts).map(|(mut conditions, program)| {
        let options = find_options(&facts, &program);
        let name = match conditions.get_mut("shell").and_then(Value::as_object_mut) {
            Some(shell) => {
                let words = shell.get("words").and_then(Value::as_array).cloned().unwrap_or_default();
                if !options.is_empty() {
                    shell.insert("option".to_owned(), json!(options));
                }
                let first = words.first().and_then(Value::as_str).unwrap_or_default();
                format!("{program}-{first}")
            }
            None => program,
        };
        (conditions, name)
    });
    let (conditions, name) =
        similar.or_else(|| Some((match_exact_call(event)?, "this".to_owned()))).ok_or_else(unusable)?;
    let word = verdict.as_str();
    // The program alone is an example of a call that the rule does not match.
    let shell = conditions.get("shell");
    let program = shell.and_then(|shell| shell.get("program")?.get(0)?.as_str());
    let is_narrow = shell.is_some_and(|shell| shell.get("words").is_some() || shell.get("option").is_some());
    let other = program.filter(|_| is_narrow).map(|program| format!("{program} --version"));
    Ok(json!({
        "id": draft_id(word, &name, suffix),
        "description": format!("Made from a call: {}", describe_call(event)),
        "severity": "medium",
        "match": conditions,
        "verdict": word,
        "reason": "The user does not want calls like this one to run without an answer.",
        "examples": {
            word: rule_example(event).into_iter().collect::<Vec<_>>(),
            "allow": other.into_iter().collect::<Vec<_>>(),
        },
    }))
}

/// Returns the rules that matched a call and deny it or ask about it, also those that are only monitored.
pub fn objecting_rules(recorded: &RecordedDecision, seq: u64) -> Result<Vec<&str>, Failure> {
    let has_matched = |status: TraceStatus| matches!(status, TraceStatus::Matched | TraceStatus::Monitored);
    let mut rules: Vec<&str> = Vec::new();
    for step in recorded
        .outcome
        .trace
        .iter()
        .filter(|step| has_matched(step.status) && step.decision >= Decision::Ask)
    {
        if let Origin::Rule(id) = &step.by
            && !rules.contains(&id.as_ref())
        {
            rules.push(id);
        }
    }
    if rules.is_empty() {
        let by_hook = recorded.outcome.decision >= Decision::Ask;
        let why = if by_hook {
            "a hook denied or asked, and only rules have exceptions"
        } else {
            "no rule denied it or asked"
        };
        return Err(Failure::user(format!("decision {seq} needs no exception: {why}")));
    }
    Ok(rules)
}

/// Returns an exception from these rules. It applies to exactly this recorded call in the same directory.
pub fn exception_rule(recorded: &RecordedDecision, seq: u64, rules: &[&str]) -> Result<Value, Failure> {
    let name = recorded.event.tool.as_ref().map_or("prompt", |tool| tool.class.name());
    let id = rule_id(&format!("allow-{name}"), seq);
    let description = format!("Exception made from decision {seq} of {}", recorded.event.source);
    match_exact_call(&recorded.event).ok_or_else(|| not_expressible(seq))?;
    exact_exception(&recorded.event, rules, &id, &description)
}

/// Returns an exception from these rules for exactly this call in the same directory. Fails if the exception would
/// contain a secret.
pub fn exact_exception(event: &Event, rules: &[&str], id: &str, description: &str) -> Result<Value, Failure> {
    let conditions =
        match_exact_call(event).ok_or_else(|| Failure::user("no rule can describe exactly this call"))?;
    let directory = event.cwd.as_ref().map(|cwd| format!("event.cwd == {}", json!(cwd)));
    let texts = [&conditions.to_string(), directory.as_deref().unwrap_or_default()].join("\n");
    if !tenterhook_records::secrets(&texts).is_empty() {
        let message = "the call contains a secret, which the exception would write into the policy";
        return Err(Failure::user(message));
    }
    Ok(json!({
        "id": id,
        "description": description,
        "match": conditions,
        "when": directory,
        "verdict": "allow",
        "overrides": rules,
    }))
}

/// Whether the rules would still deny an event or ask about it if this text replaced the user's policy.
pub fn policy_still_stops(home: &Home, env: &Env, event: &Event, policy: &str) -> bool {
    let mut sources = Sources::collect(home, env, &WorkDirs::of(event));
    sources.replace_policy(&home.policy(), policy);
    let loaded = sources.load();
    let user_home = env.home.as_deref().and_then(Path::to_str);
    let environment =
        EvalEnvironment { home: user_home, programs: loaded.rules.programs(), ..EvalEnvironment::default() };
    let facts = tenterhook_policy::facts(event, &environment);
    let judged = tenterhook_policy::judge(event, &facts, &SessionState::default(), &loaded.rules);
    judged.findings.iter().any(|finding| finding.decision >= Decision::Ask)
}

fn not_expressible(seq: u64) -> Failure {
    Failure::user(format!("no rule can match decision {seq}")).hint("its payload was erased, or it has none")
}

/// Returns conditions that match similar calls, and a name for the rule.
fn match_similar_calls(event: &Event, facts: &Facts) -> Option<(Value, String)> {
    let tool = event.tool.as_ref()?;
    if tool.class == ToolClass::Shell {
        // The rule is about the program that is started, not about its launcher (such as `sudo`), and only
        // about programs that run on this machine.
        let here: Vec<_> = facts.commands.iter().filter(|command| command.on == ExecLocation::Here).collect();
        let starts = |program: &str| here.iter().any(|other| other.via.iter().any(|via| via == program));
        let mut named = here.iter().filter(|command| !command.program.is_empty());
        let command = named.find(|command| !starts(&command.program))?;
        let is_plain = |text: &str| {
            !text.is_empty()
                && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.:/@=".contains(letter))
        };
        let words: Vec<&str> = command
            .words
            .iter()
            .map(|word| word.text.as_str())
            .filter(|text| is_plain(text) && !text.starts_with('-'))
            .take(MAX_COMMAND_WORDS)
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
    let is_plain = !text.contains(['*', '?', '[', ']', '{', '}', '!']);
    let name = text.rsplit('/').next().unwrap_or_default().to_owned();
    is_plain.then(|| (json!({"tool": tool.name, "path": [text]}), name))
}

/// Returns the options of a program, without dashes and values.
fn find_options(facts: &Facts, program: &str) -> Vec<String> {
    let mut options: Vec<String> = Vec::new();
    let command = facts.commands.iter().find(|command| command.program == program);
    for word in command.iter().flat_map(|command| &command.words) {
        let text = word.text.as_str();
        let names: Vec<String> = match (text.strip_prefix("--"), text.strip_prefix('-')) {
            (Some(long), _) => vec![long.split('=').next().unwrap_or_default().to_owned()],
            // Longer words after one dash are usually one option, which only some programs have.
            (None, Some(short)) if short.len() <= MAX_SHORT_OPTIONS => {
                short.chars().map(String::from).collect()
            }
            _ => continue,
        };
        let is_plain = |name: &String| {
            name.starts_with(|letter: char| letter.is_ascii_alphabetic())
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
        };
        options.extend(names.into_iter().filter(is_plain));
    }
    options.dedup();
    options.truncate(MAX_DRAFT_OPTIONS);
    options
}

/// Describes a call in one line, without secrets.
fn describe_call(event: &Event) -> String {
    let text = event.tool.as_ref().map(|tool| tool.gist().into_owned()).unwrap_or_default();
    tenterhook_records::sanitize(&text, MAX_DESCRIPTION_CHARS)
}

/// Returns the call as an example for the rule.
fn rule_example(event: &Event) -> Option<Value> {
    let tool = event.tool.as_ref()?;
    if tool.class == ToolClass::Shell {
        return command_texts(event).into_iter().next().map(Value::from);
    }
    Some(json!({"tool": tool.name, "args": tool.args}))
}

fn command_texts(event: &Event) -> Vec<String> {
    let text = |command: ToolCommand<'_>| match command {
        ToolCommand::Text(text) => text.to_owned(),
        ToolCommand::Argv(words) => words.join(" "),
    };
    event.tool.iter().flat_map(|tool| tool.commands().into_iter().map(text).collect::<Vec<_>>()).collect()
}

fn escape_regex(text: &str) -> String {
    text.chars()
        .flat_map(|letter| REGEX_META_CHARS.contains(&letter).then_some('\\').into_iter().chain([letter]))
        .collect()
}

/// Maximum length of an id before its number.
const MAX_ID_LETTERS: usize = 40;

/// Returns a rule id that no other draft has.
fn rule_id(name: &str, seq: u64) -> String {
    let mut id = plain_id(name);
    let _ = write!(id, "-{seq}");
    id
}

/// Returns the id of a rule that is drafted from a call.
fn draft_id(verdict: &str, name: &str, suffix: &str) -> String {
    let id = plain_id(&format!("{verdict}-{name}"));
    let id = id.trim_end_matches('-');
    if suffix.is_empty() { id.to_owned() } else { format!("{id}-{suffix}") }
}

fn plain_id(name: &str) -> String {
    let mut id = String::new();
    for letter in name.chars() {
        match letter {
            letter if letter.is_ascii_alphanumeric() => id.push(letter.to_ascii_lowercase()),
            _ if id.ends_with('-') => {}
            _ => id.push('-'),
        }
    }
    id.truncate(MAX_ID_LETTERS);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_matches_the_text_and_nothing_else() {
        assert_eq!(escape_regex("rm -rf a.b (x) #1"), "rm \\-rf a\\.b \\(x\\) \\#1");
        assert_eq!(escape_regex("<été>\n"), "<été>\n");
    }

    #[test]
    fn an_exception_contains_no_secret_and_overrides_only_the_given_rules() {
        let (id, at) =
            (tenterhook_event::EventId::from_parts(1, 1), tenterhook_event::Timestamp::from_unix_ms(1));
        let mut event = Event::new(id, at, "claude-code", EventKind::PreTool, "PreToolUse");
        let mut exception = |command: &str| {
            event.tool = Some(tenterhook_event::ToolCall::new("Bash", json!({ "command": command })));
            exact_exception(&event, &["a"], "x", "y")
        };
        assert_eq!(exception("make all").unwrap()["overrides"], json!(["a"]));
        // Contains a valid checksum.
        let token = format!("ghp_{}", "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17");
        let refused = exception(&format!("curl -H 'Authorization: {token}' https://x.io")).unwrap_err();
        assert!(refused.message.contains("contains a secret"), "{}", refused.message);
    }

    #[test]
    fn an_id_has_no_repeated_hyphens() {
        assert_eq!(draft_id("deny", "curl http://x.example/a.sh", "11"), "deny-curl-http-x-example-a-sh-11");
    }

    #[test]
    fn a_name_is_one_of_a_rule() {
        assert_eq!(rule_id("no-Évil/x.sh", 7), "no-vil-x-sh-7");
    }
}
