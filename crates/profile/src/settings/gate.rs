// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads whether hooks run at all, and which hooks are disabled.

use tenterhook_document::{Node, Problem, Value};

use super::{ProfileSettings, SettingsLayer, SettingsSource};
use crate::switches::{LegacyKeys, Profile};

/// Keys under `hooks` that are not events. Settings had them here before `hooksConfig` existed.
pub(super) const LEGACY_KEYS: [&str; 3] = ["enabled", "disabled", "notifications"];

/// Reads the switches of all files and returns the names of disabled hooks. Later files take precedence.
pub(super) fn read(
    profile: &Profile,
    trees: &[(SettingsLayer<'_>, Node)],
    settings: &mut ProfileSettings,
) -> Vec<String> {
    let mut disabled: Vec<String> = Vec::new();
    let mut hooks_enabled: Option<(bool, &str)> = None;
    let mut tools: Option<(bool, &str)> = None;
    let mut disable_all: Option<(bool, &str)> = None;
    // An extension's switches do not apply to other hooks.
    for (layer, tree) in trees.iter().filter(|(layer, _)| layer.source != SettingsSource::Extensions) {
        if let Some(hooks) = tree.get("hooks").filter(|_| profile.legacy == LegacyKeys::Ignored) {
            warn_ignored_keys(layer, hooks, settings);
        }
        if profile.gate.enable_hooks {
            let switch = tree.get("tools").and_then(|node| node.get("enableHooks"));
            tools = switch.and_then(boolean).map(|on| (on, layer.name)).or(tools);
        }
        if profile.gate.hooks_config {
            let legacy = profile.legacy == LegacyKeys::Migrated;
            let old = |key| tree.get("hooks").filter(|_| legacy).and_then(|hooks| hooks.get(key));
            let of = |key| tree.get("hooksConfig").and_then(|config| config.get(key)).or_else(|| old(key));
            hooks_enabled = of("enabled").and_then(boolean).map(|on| (on, layer.name)).or(hooks_enabled);
            settings.notifications = of("notifications").and_then(boolean).unwrap_or(settings.notifications);
            if let Some(Value::List(names)) = of("disabled").map(|node| &node.value) {
                let names = names.iter().filter_map(Node::text).map(str::to_owned);
                if !profile.disabled_add_up {
                    disabled.clear();
                }
                disabled.extend(names);
            }
        }
        disable_all =
            tree.get("disableAllHooks").and_then(boolean).map(|on| (on, layer.name)).or(disable_all);
    }
    settings.why_disabled = match (disable_all.filter(|_| profile.gate.disable_all), tools, hooks_enabled) {
        (Some((true, file)), ..) => Some(format!("hooks are disabled: `disableAllHooks` is true in {file}")),
        (_, Some((false, file)), _) => {
            Some(format!("hooks are disabled: `tools.enableHooks` is false in {file}"))
        }
        (.., Some((false, file))) => {
            Some(format!("hooks are disabled: `hooksConfig.enabled` is false in {file}"))
        }
        (.., None) if !profile.gate.default => {
            Some("hooks are disabled: they only run with `hooksConfig.enabled: true`".to_owned())
        }
        _ => None,
    };
    settings.enabled = settings.why_disabled.is_none();
    disabled
}

/// Warns about settings that no longer have an effect.
fn warn_ignored_keys(layer: &SettingsLayer<'_>, hooks: &Node, settings: &mut ProfileSettings) {
    let off = hooks.get("enabled").filter(|node| boolean(node) == Some(false));
    let some = |node: &&Node| matches!(&node.value, Value::List(names) if !names.is_empty());
    for (key, node) in [("enabled", off), ("disabled", hooks.get("disabled").filter(some))] {
        if let Some(node) = node {
            let what = format!("`hooks.{key}` no longer has an effect");
            settings.warn(
                Problem::new(layer.name, node.spot, what).hint(format!("move it to `hooksConfig.{key}`")),
            );
        }
    }
}

fn boolean(node: &Node) -> Option<bool> {
    match node.value {
        Value::Bool(on) => Some(on),
        _ => None,
    }
}
