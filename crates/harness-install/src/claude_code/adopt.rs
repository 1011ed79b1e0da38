// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Adopts the user's own hooks from Claude Code's settings, so that Tenterhook runs them for every harness.

use std::collections::BTreeSet;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use tenterhook_event::{EventKind as Kind, TOOLS, ToolClass};

use super::events::EVENTS;
use super::install::SIGNATURE;
use crate::{
    EditCheckError, InstallWarning, SettingsEditor,
    hooks::plain_json,
    jsonc::{
        self, CreatedContainers, EditedText, HookSettingsEntry, HookSignature, JsonNode, JsoncSource,
        MovedHook, SettingsError,
    },
};

/// A hook of the user that Tenterhook can run for every harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdoptableHook {
    /// Claude Code's name of the event.
    pub event: &'static str,
    /// Matcher for the tools that the hook runs for; `None` for all tools.
    pub matcher: Option<String>,
    /// Settings of the hook in Tenterhook's format.
    pub settings: Vec<(&'static str, serde_json::Value)>,
    /// JSON of the hook's matcher group, with this hook as its only handler. Uninstalling writes it back to the
    /// settings.
    group: String,
    /// Event, index of the group, and index of the handler in that group.
    at: (String, usize, usize),
}

/// The user's hooks in Claude Code's settings, sorted into adoptable hooks and the rest.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HookSurvey {
    /// Hooks that can be adopted.
    pub taken: Vec<AdoptableHook>,
    /// One message for each hook that stays in the settings, with the reason.
    pub left: Vec<String>,
}

/// Reason why a hook of the user stays in Claude Code's settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum NotAdoptable {
    #[error("{0}")]
    Lacks(&'static str),
    #[error("a hook of type `{0}` runs in Claude Code only")]
    UnknownKind(String),
    #[error("`{0}` is supported by Claude Code only")]
    UnknownKey(String),
}

impl From<&'static str> for NotAdoptable {
    fn from(why: &'static str) -> Self {
        Self::Lacks(why)
    }
}

/// Finds all hooks in the settings that Tenterhook did not write.
pub fn survey(text: &str) -> Result<HookSurvey, SettingsError> {
    let source = JsoncSource::parse(jsonc::split_mark(text).1)?;
    let mut survey = HookSurvey::default();
    let Some(hooks) = source.hooks()? else { return Ok(survey) };
    for property in &hooks.properties {
        let (event, Value::Array(groups)) = (property.name.as_str(), &property.value) else { continue };
        for (group_number, group) in groups.elements.iter().enumerate() {
            let Some(group) = group.as_object() else { continue };
            let handlers = group.get_array("hooks");
            for (number, handler) in handlers.iter().flat_map(|list| &list.elements).enumerate() {
                let Some(handler) = handler.as_object() else { continue };
                if jsonc::command(handler).is_some_and(SIGNATURE.is_our_command) {
                    continue;
                }
                match own(&source, event, group, handler) {
                    Ok(own) => {
                        survey
                            .taken
                            .push(AdoptableHook { at: (event.to_owned(), group_number, number), ..own });
                    }
                    Err(why) => survey
                        .left
                        .push(format!("`hooks.{event}[{group_number}].hooks[{number}]` stays: {why}")),
                }
            }
        }
    }
    Ok(survey)
}

fn own(
    source: &JsoncSource<'_>,
    event: &str,
    group: &Object<'_>,
    handler: &Object<'_>,
) -> Result<AdoptableHook, NotAdoptable> {
    let row = EVENTS.iter().find(|row| row.native == event && row.kind != Kind::Other);
    let row = row.ok_or("other harnesses have no such event")?;
    let matcher = group.get_string("matcher").map(|matcher| matcher.value.to_string());
    let matcher = matcher.filter(|matcher| !matches!(matcher.as_str(), "" | "*"));
    let of_tools =
        matches!(row.kind, Kind::PreTool | Kind::PostTool | Kind::ToolError | Kind::PermissionRequest);
    if matcher.is_some() && !of_tools {
        return Err("its matcher refers to something that only Claude Code has".into());
    }
    let text = |key: &str| handler.get_string(key).map(|value| serde_json::Value::from(&*value.value));
    let mut settings = Vec::new();
    match handler.get_string("type").map(|name| name.value.to_string()).as_deref() {
        Some("command") => settings.push(command(handler)?),
        Some("http") => {
            if handler.get("headers").is_some() {
                return Err("its headers are filled in by Claude Code".into());
            }
            settings.push(("url", text("url").ok_or("it has no URL")?));
        }
        other => {
            return Err(NotAdoptable::UnknownKind(other.unwrap_or("?").to_owned()));
        }
    }
    for property in &handler.properties {
        let (key, value) = (property.name.as_str(), &property.value);
        match (key, value) {
            ("type" | "command" | "args" | "url" | "statusMessage", _) => {}
            ("timeout", Value::NumberLit(seconds)) => {
                settings.push(("timeout", format!("{}s", seconds.value).into()));
            }
            ("if", Value::StringLit(rule)) => settings.push(("if", (&*rule.value).into())),
            ("async", Value::BooleanLit(on)) => settings.push(("async", on.value.into())),
            ("onFailure", Value::StringLit(what)) => {
                let fail = if what.value == "block" { "closed" } else { "open" };
                settings.push(("fail", fail.into()));
            }
            ("shell", Value::StringLit(shell)) if shell.value == "bash" => {}
            (key, _) => return Err(NotAdoptable::UnknownKey(key.to_owned())),
        }
    }
    let range = handler.range();
    let raw = source.raw(range.start..range.end);
    let matcher_text = group.get("matcher").map(|property| {
        let range = property.range;
        format!("{}, ", source.raw(range.start..range.end))
    });
    let group = format!("{{{}\"hooks\": [{raw}]}}", matcher_text.unwrap_or_default());
    Ok(AdoptableHook { event: row.native, matcher, settings, group, at: (String::new(), 0, 0) })
}

fn command(handler: &Object<'_>) -> Result<(&'static str, serde_json::Value), NotAdoptable> {
    let program = handler.get_string("command").ok_or("it has no command")?;
    let Some(args) = handler.get("args").map(|property| &property.value) else {
        return Ok(("command", (&*program.value).into()));
    };
    let args = args.as_array().ok_or("its `args` are not a list")?;
    let args = args.elements.iter().map(|arg| arg.as_string_lit().map(|arg| arg.value.to_string()));
    let words: Option<Vec<String>> = std::iter::once(Some(program.value.to_string())).chain(args).collect();
    Ok(("exec", words.ok_or("its `args` are not all strings")?.into()))
}

/// Extends a list of tool names with the names of the same tools in all other harnesses. A matcher that is a regular
/// expression is returned unchanged.
pub fn in_every_harness(matcher: &str) -> String {
    let is_list = matcher.chars().all(|letter| letter.is_ascii_alphanumeric() || "_- ,|".contains(letter));
    if !is_list {
        return matcher.to_owned();
    }
    let own: Vec<_> = matcher.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty()).collect();
    let mut names = own.clone();
    for name in own {
        let classes = TOOLS.iter().filter(|row| row.name == name).map(|row| row.class);
        // A patch tool both writes and edits files, so a matcher for either has to include it.
        let classes: Vec<_> = classes
            .flat_map(|class| match class {
                ToolClass::Write | ToolClass::Edit => vec![class, ToolClass::Patch],
                class => vec![class],
            })
            .filter(|class| *class != ToolClass::Other)
            .collect();
        let same = TOOLS.iter().filter(|row| classes.contains(&row.class)).map(|row| row.name);
        let same = same.filter(|name| {
            name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
        });
        for name in same {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names.join("|")
}

/// Takes adoptable hooks out of the settings on `insert`, and puts them back on `remove`.
#[derive(Debug)]
pub struct AdoptEditor;

/// A signature that matches no entry, so that restoring the user's hooks replaces nothing.
const NOBODY: HookSignature = HookSignature { marker: None, is_our_command: |_| false, comes_last: false };

impl SettingsEditor for AdoptEditor {
    fn insert(&self, text: &str, created: &CreatedContainers) -> Result<EditedText, SettingsError> {
        let taken = survey(text)?.taken;
        let which: BTreeSet<_> = taken.iter().map(|own| own.at.clone()).collect();
        let mut created = created.clone();
        created
            .moved
            .extend(taken.into_iter().map(|own| MovedHook { event: own.event.to_owned(), group: own.group }));
        Ok(EditedText { text: jsonc::take_handlers(text, &which)?, created })
    }

    fn remove(&self, text: &str, created: &CreatedContainers) -> Result<String, SettingsError> {
        let back = |moved: &MovedHook| HookSettingsEntry {
            event: moved.event.clone(),
            group: JsonNode::Raw(moved.group.clone()),
        };
        let entries: Vec<_> = created.moved.iter().map(back).collect();
        Ok(jsonc::insert(text, &entries, &NOBODY, &CreatedContainers::default())?.text)
    }

    fn contains(&self, _text: &str, created: &CreatedContainers) -> Result<bool, SettingsError> {
        Ok(!created.moved.is_empty())
    }

    fn check(&self, before: &str, after: &str) -> Result<(), EditCheckError> {
        let left = survey(after)?;
        if !left.taken.is_empty() {
            return Err(EditCheckError::new(format!("{} hooks are still there", left.taken.len())));
        }
        match (plain_json(before).is_ok(), plain_json(after)) {
            (true, Err(error)) => Err(EditCheckError::new(error.to_string())),
            _ => Ok(()),
        }
    }

    fn is_empty_after_removal(&self, _text: &str) -> bool {
        false
    }

    fn required_texts(&self) -> Vec<String> {
        Vec::new()
    }

    fn warnings(&self, text: &str) -> Result<Vec<InstallWarning>, SettingsError> {
        Ok(survey(text)?.left.into_iter().map(InstallWarning::note).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINE: &str = r#"{
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash|Write", "hooks": [
        {"type": "command", "command": "~/guard.sh", "timeout": 5, "onFailure": "block"},
        {"type": "prompt", "prompt": "is it good?"}
      ]}
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "say", "args": ["done", "it's"]}]}],
    "ConfigChange": [{"hooks": [{"type": "command", "command": "x"}]}],
    "SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "y"}]}]
  }
}
"#;

    #[test]
    fn what_others_can_run_is_taken_and_the_rest_stays_and_says_why() {
        let survey = survey(MINE).unwrap();
        let said: Vec<_> = survey
            .taken
            .iter()
            .map(|own| (own.event, own.matcher.as_deref(), own.settings.clone()))
            .collect();
        assert_eq!(
            said,
            [
                (
                    "PreToolUse",
                    Some("Bash|Write"),
                    vec![
                        ("command", "~/guard.sh".into()),
                        ("timeout", "5s".into()),
                        ("fail", "closed".into())
                    ]
                ),
                ("Stop", None, vec![("exec", serde_json::json!(["say", "done", "it's"]))]),
            ]
        );
        let why: Vec<_> = survey.left.iter().map(|left| left.split_once(": ").unwrap().1).collect();
        assert_eq!(
            why,
            [
                "a hook of type `prompt` runs in Claude Code only",
                "other harnesses have no such event",
                "its matcher refers to something that only Claude Code has",
            ]
        );
    }

    #[test]
    fn a_tool_is_meant_under_all_of_its_names() {
        let names = in_every_harness("Bash");
        assert!(
            names.starts_with("Bash|") && names.split('|').any(|name| name == "run_shell_command"),
            "{names}"
        );
        assert!(!names.split('|').any(|name| name == "Write"), "{names}");
        let names = in_every_harness("Edit, mcp__x__y");
        assert!(names.starts_with("Edit|mcp__x__y|") && names.contains("apply_patch"), "{names}");
        assert_eq!(in_every_harness("mcp__.*"), "mcp__.*");
    }

    #[test]
    fn what_was_taken_can_be_put_back() {
        let edited = AdoptEditor.insert(MINE, &CreatedContainers::default()).unwrap();
        AdoptEditor.check(MINE, &edited.text).unwrap();
        assert!(!edited.text.contains("guard.sh") && edited.text.contains("is it good?"), "{}", edited.text);
        let back = AdoptEditor.remove(&edited.text, &edited.created).unwrap();
        let again = survey(&back).unwrap();
        assert_eq!(again.taken.len(), 2);
        assert_eq!(again.taken[0].matcher.as_deref(), Some("Bash|Write"));
        assert!(plain_json(&back).is_ok(), "{back}");
    }
}
