// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks that are checked into a repository or shipped as a plugin. They cannot name the state directory of one
//! account, so they call a script that finds the program.

use serde_json::{Map, Value};

use super::install::{EventRegistration, SIGNATURE, event_group, settings_entry, wires};
use crate::{
    EditCheckError,
    hooks::stays_plain_json,
    jsonc::{self, CreatedContainers, HookSettingsEntry, HookSignature, JsonNode, SettingsError},
};

/// Script that finds the program and passes the call on. Its first argument says whether a missing program refuses the
/// call.
pub const HOOK_SCRIPT: &str = include_str!("hook.sh");
/// Path of the script in a repository.
pub const REPOSITORY_SCRIPT: &str = ".tenterhook/hook.sh";
/// Path of the settings in a repository.
pub const REPOSITORY_SETTINGS: &str = ".claude/settings.json";

/// Start of the commands that a repository's settings contain.
const REPOSITORY_COMMAND: &str = "sh \"$CLAUDE_PROJECT_DIR\"/.tenterhook/hook.sh ";
/// Start of the commands that the plugin contains.
const PLUGIN_COMMAND: &str = "sh \"${CLAUDE_PLUGIN_ROOT}\"/hooks/hook.sh ";

/// Entries of `install` in the same file are replaced: the marker is the same.
const REPOSITORY_SIGNATURE: HookSignature = HookSignature {
    is_our_command: |command| command.starts_with(REPOSITORY_COMMAND) || (SIGNATURE.is_our_command)(command),
    ..SIGNATURE
};

/// Adds the hooks to the text of a repository's settings, which may be empty.
pub fn insert_hooks(text: &str) -> Result<String, RepositoryEditError> {
    let entries: Vec<HookSettingsEntry> =
        wires().iter().map(|wire| settings_entry(wire, handler(REPOSITORY_COMMAND, wire))).collect();
    let before = if text.trim().is_empty() { "{}\n" } else { text };
    let after = jsonc::insert(before, &entries, &REPOSITORY_SIGNATURE, &CreatedContainers::default())?.text;
    jsonc::check(&after, &entries, &REPOSITORY_SIGNATURE)?;
    stays_plain_json(before, &after)?;
    Ok(after)
}

/// Why hooks cannot be added to a repository's settings.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryEditError {
    /// The settings cannot be parsed.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The edited settings are not as intended.
    #[error(transparent)]
    Check(#[from] EditCheckError),
}

/// The content of the plugin's `hooks/hooks.json`, with the same events and options as the settings of `install`.
pub fn plugin_hooks() -> Value {
    let events = wires().into_iter().map(|wire| {
        let group = JsonNode::object(event_group(&wire, handler(PLUGIN_COMMAND, &wire)));
        (wire.native.to_owned(), Value::Array(vec![to_value(&group)]))
    });
    let description = "Tenterhook evaluates every tool call with its rules and records it.";
    serde_json::json!({"description": description, "hooks": events.collect::<Map<_, _>>()})
}

/// The handler of an event: a command that refuses guarded calls if the program is missing.
fn handler(command: &str, wire: &EventRegistration) -> Vec<(&'static str, JsonNode)> {
    let missing = if wire.on_failure_block { "guard" } else { "watch" };
    let command = format!("{command}{missing} {}", wire.kebab);
    vec![("type", JsonNode::text("command")), ("command", JsonNode::text(command))]
}

fn to_value(node: &JsonNode) -> Value {
    match node {
        JsonNode::Object(properties) => properties
            .iter()
            .map(|(name, value)| (name.clone(), to_value(value)))
            .collect::<Map<_, _>>()
            .into(),
        JsonNode::List(items) => items.iter().map(to_value).collect(),
        // A scalar is written as JSON.
        scalar => serde_json::from_str(&scalar.scalar()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_added_to_existing_settings_and_replaced_the_second_time() {
        let text = "{\n  \"permissions\": {\"allow\": [\"Bash(ls)\"]},\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]}\n}\n";
        let once = insert_hooks(text).unwrap();
        assert_eq!(insert_hooks(&once).unwrap(), once);
        let settings: Value = serde_json::from_str(&once).unwrap();
        assert_eq!(settings["permissions"]["allow"][0], "Bash(ls)");
        assert_eq!(settings["hooks"]["Stop"].as_array().unwrap().len(), 2);
        let guard = &settings["hooks"]["PreToolUse"][0];
        assert_eq!(
            guard["hooks"][0]["command"],
            "sh \"$CLAUDE_PROJECT_DIR\"/.tenterhook/hook.sh guard pre-tool-use"
        );
        assert_eq!((&guard["matcher"], &guard["hooks"][0]["onFailure"]), (&"*".into(), &"block".into()));
        assert!(insert_hooks("").unwrap().starts_with("{\n"));
        assert!(insert_hooks("[]").is_err());
    }

    #[test]
    fn the_plugin_has_the_hooks_that_install_writes_with_another_command() {
        let settings: Value = serde_json::from_str(&insert_hooks("").unwrap()).unwrap();
        let plugin = plugin_hooks();
        let of_settings = settings["hooks"].as_object().unwrap();
        assert_eq!(plugin["hooks"].as_object().unwrap().len(), of_settings.len());
        for (event, groups) in of_settings {
            let mut group = groups[0].clone();
            group.as_object_mut().unwrap().remove("_tenterhook");
            let command = group["hooks"][0]["command"].as_str().unwrap();
            let command = command.replace(REPOSITORY_COMMAND, PLUGIN_COMMAND);
            group["hooks"][0]["command"] = command.into();
            assert_eq!(plugin["hooks"][event], serde_json::json!([group]), "{event}");
        }
    }
}
