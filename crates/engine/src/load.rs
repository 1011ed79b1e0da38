// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks from files. An entry that cannot be used is refused alone, with its place; the others
//! stand.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use tenterhook_document::{Misfit, Node, Problem, Value, parse, read};
use tenterhook_event::EventKind;
use tenterhook_harness::{HARNESSES, dialect};

use crate::{Command, CommandLine, Fail, Hook, MAX_HOOKS, MAX_HOOKS_PER_EVENT, Matcher, Runner};

/// The most bytes read from each output of a command hook.
const OUTPUT_LIMIT: usize = 1024 * 1024;
const REFUSED: &str = "this hook is not in force; the others are";

/// What a file gave.
#[derive(Debug)]
pub struct Loaded {
    /// The hooks that can be used.
    pub hooks: Vec<Hook>,
    /// What cannot, and why.
    pub problems: Vec<Problem>,
}

/// A hook as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    on: OneOrMany,
    #[serde(default, rename = "match")]
    matcher: String,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    exec: Option<Vec<String>>,
    #[serde(default)]
    dialect: Option<String>,
    #[serde(default)]
    timeout: Option<String>,
    #[serde(default)]
    priority: i32,
    #[serde(default)]
    fail: Fail,
    #[serde(default)]
    enabled: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// Reads the hooks of a `tenterhook.yaml`. `dir` is where its commands run when the event names no
/// directory that exists.
pub fn settings(name: &str, text: &str, dir: &Path) -> Loaded {
    let mut loaded = Loaded { hooks: Vec::new(), problems: Vec::new() };
    let document = match parse(text) {
        Ok(document) => document,
        Err((spot, message)) => {
            let hint = "no hook of this file is in force until it is valid YAML";
            loaded.problems.push(Problem::new(name, spot, message).hint(hint));
            return loaded;
        }
    };
    let entries: &[(Node, Node)] = match &document.value {
        Value::Map(entries) => entries,
        Value::Null => &[],
        _ => {
            loaded.problems.push(Problem::new(name, document.spot, "expected a map with `hooks`"));
            &[]
        }
    };
    for (key, value) in entries {
        match (key.text(), &value.value) {
            (Some("hooks"), Value::List(items)) => {
                for item in items {
                    add(&mut loaded, name, item, dir);
                }
            }
            (Some("hooks"), Value::Null) => {}
            (Some("hooks"), _) => {
                loaded.problems.push(Problem::new(name, value.spot, "`hooks` must be a list"));
            }
            (key_text, _) => {
                let message = format!("no such key: `{}`", key_text.unwrap_or("?"));
                loaded.problems.push(Problem::new(name, key.spot, message).hint("known: hooks"));
            }
        }
    }
    loaded
}

/// Adds one entry, or says why it cannot be used.
fn add(loaded: &mut Loaded, name: &str, item: &Node, dir: &Path) {
    let id = item.get("id").and_then(Node::text);
    let hook = read::<Entry>(item).and_then(|entry| hook(item, entry, dir));
    match hook.and_then(|hook| hook.map_or(Ok(None), |hook| fits(&loaded.hooks, item, hook).map(Some))) {
        Ok(hook) => loaded.hooks.extend(hook),
        Err(Misfit { spot, message }) => {
            loaded.problems.push(Problem::new(name, spot, message).about("hook", id).hint(REFUSED));
        }
    }
}

/// The hook of an entry; none if the entry is switched off.
fn hook(item: &Node, entry: Entry, dir: &Path) -> Result<Option<Hook>, Misfit> {
    let misfit = |key: &str, message: String| Misfit { spot: item.get(key).unwrap_or(item).spot, message };
    if entry.id.trim().is_empty() {
        return Err(misfit("id", "a hook needs an id".into()));
    }
    let names = match entry.on {
        OneOrMany::One(name) => vec![name],
        OneOrMany::Many(names) => names,
    };
    let mut on = Vec::with_capacity(names.len());
    for name in names {
        let kind =
            kind(&name).ok_or_else(|| misfit("on", format!("`{name}` is no event that is known here")))?;
        if !on.contains(&kind) {
            on.push(kind);
        }
    }
    let line = match (entry.command, entry.exec) {
        (Some(text), None) if !text.trim().is_empty() => CommandLine::Shell(text),
        (None, Some(words)) if words.first().is_some_and(|word| !word.is_empty()) => CommandLine::Exec(words),
        (Some(_), None) => return Err(misfit("command", "`command` is empty".into())),
        (None, Some(_)) => return Err(misfit("exec", "`exec` is empty".into())),
        _ => return Err(misfit("id", "a hook needs either `command` or `exec`".into())),
    };
    let spoken = entry.dialect.as_deref().unwrap_or("native");
    let dialect = dialect::find(spoken).ok_or_else(|| {
        let known: Vec<_> = dialect::DIALECTS.iter().map(|dialect| dialect.name).collect();
        misfit("dialect", format!("`{spoken}` is no dialect; known: {}", known.join(", ")))
    })?;
    let timeout = match &entry.timeout {
        None => dialect.timeout,
        Some(text) => duration(text)
            .ok_or_else(|| misfit("timeout", format!("`{text}` is no duration; write `5s` or `500ms`")))?,
    };
    let command = Command { line, dialect, dir: dir.to_owned(), output_limit: OUTPUT_LIMIT };
    let hook = Hook {
        id: entry.id.into(),
        on,
        matcher: Matcher::parse(&entry.matcher),
        priority: entry.priority,
        timeout,
        fail: entry.fail,
        runner: Runner::Command(command),
    };
    Ok((entry.enabled != Some(false)).then_some(hook))
}

/// Limits and double ids refuse the entry that goes too far, not the file.
fn fits(hooks: &[Hook], item: &Node, hook: Hook) -> Result<Hook, Misfit> {
    let refuse = |message: String| Err(Misfit { spot: item.spot, message });
    if hooks.iter().any(|other| other.id == hook.id) {
        return refuse(format!("there is another hook `{}`", hook.id));
    }
    if hooks.len() >= MAX_HOOKS {
        return refuse(format!("more than {MAX_HOOKS} hooks"));
    }
    for kind in &hook.on {
        if hooks.iter().filter(|other| other.on.contains(kind)).count() >= MAX_HOOKS_PER_EVENT {
            return refuse(format!("more than {MAX_HOOKS_PER_EVENT} hooks on {kind}"));
        }
    }
    Ok(hook)
}

/// A kind by our name for it, or by any harness's.
fn kind(name: &str) -> Option<EventKind> {
    let native = || HARNESSES.iter().find_map(|harness| harness.event(name)).map(|row| row.kind);
    name.parse().ok().or_else(native)
}

/// `5s`, `500ms`, `2m`. A bare number says nothing about its unit and is refused.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(unit)?;
    let number: u64 = number.parse().ok()?;
    let duration = match unit {
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(number.checked_mul(60)?),
        _ => return None,
    };
    (!duration.is_zero()).then_some(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(text: &str) -> (Vec<String>, Vec<String>) {
        let loaded = settings("t.yaml", text, Path::new("/"));
        let ids = loaded.hooks.iter().map(|hook| hook.id.to_string()).collect();
        (ids, loaded.problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_whole_entry_is_read() {
        let text = "hooks:\n  - id: a\n    on: [PreToolUse, post-tool]\n    match: Write|Edit\n    exec: [/bin/x, y]\n    \
                    dialect: claude\n    timeout: 500ms\n    priority: -3\n    fail: closed\n";
        let loaded = settings("t.yaml", text, Path::new("/"));
        assert_eq!(loaded.problems, []);
        let hook = &loaded.hooks[0];
        assert_eq!(hook.on, [EventKind::PreTool, EventKind::PostTool]);
        assert_eq!(hook.matcher, Matcher::Names(vec!["Write".into(), "Edit".into()]));
        assert_eq!((hook.timeout, hook.priority, hook.fail), (Duration::from_millis(500), -3, Fail::Closed));
    }

    #[test]
    fn one_bad_entry_is_refused_alone_and_says_where() {
        let text = "hooks:\n  - id: a\n    on: stop\n    command: x\n  - id: b\n    on: stopp\n    command: x\n  \
                    - id: c\n    on: stop\n    command: x\n    timeout: 5\n  - id: a\n    on: stop\n    command: y\n  \
                    - id: d\n    on: stop\n  - id: e\n    on: stop\n    command: z\n";
        let (ids, problems) = loaded(text);
        assert_eq!(ids, ["a", "e"]);
        assert_eq!(
            problems,
            [
                "t.yaml:6:9: hook `b`: `stopp` is no event that is known here",
                "t.yaml:11:14: hook `c`: `5` is no duration; write `5s` or `500ms`",
                "t.yaml:12:5: hook `a`: there is another hook `a`",
                "t.yaml:15:9: hook `d`: a hook needs either `command` or `exec`",
            ]
        );
    }

    #[test]
    fn a_file_that_is_empty_or_switched_off_gives_no_hooks_and_no_problems() {
        for text in
            ["", "hooks:\n", "hooks: []\n", "hooks:\n  - {id: a, on: stop, command: x, enabled: false}\n"]
        {
            assert_eq!(loaded(text), (vec![], vec![]), "{text}");
        }
    }

    #[test]
    fn the_eleventh_hook_of_a_kind_is_one_too_many() {
        let mut text = "hooks:\n".to_owned();
        for number in 0..11 {
            text += &format!("  - {{id: h{number}, on: stop, command: x}}\n");
        }
        let (ids, problems) = loaded(&text);
        assert_eq!((ids.len(), problems.len()), (10, 1));
        assert!(problems[0].contains("hook `h10`: more than 10 hooks on stop"), "{problems:?}");
    }
}
