// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads whether hooks run at all, and which are disabled.

use tenterhook_document::{Node, Problem, Value};

use super::{Layer, Settings, Source};
use crate::switches::{Legacy, Profile};

/// Keys under `hooks` that are not events, from before `hooksConfig`.
pub(super) const LEGACY: [&str; 3] = ["enabled", "disabled", "notifications"];

/// Reads the switches of all files, later ones taking precedence, and returns the names of disabled hooks.
pub(super) fn read(profile: &Profile, trees: &[(Layer<'_>, Node)], settings: &mut Settings) -> Vec<String> {
    let mut disabled: Vec<String> = Vec::new();
    let mut turned: Option<(bool, &str)> = None;
    let mut tools: Option<(bool, &str)> = None;
    let mut all: Option<(bool, &str)> = None;
    // An extension's switches do not apply to hooks of others.
    for (layer, tree) in trees.iter().filter(|(layer, _)| layer.source != Source::Extensions) {
        if let Some(hooks) = tree.get("hooks").filter(|_| profile.legacy == Legacy::Ignored) {
            passed_over(layer, hooks, settings);
        }
        if profile.gate.enable_hooks {
            let switch = tree.get("tools").and_then(|node| node.get("enableHooks"));
            tools = switch.and_then(boolean).map(|on| (on, layer.name)).or(tools);
        }
        if profile.gate.hooks_config {
            let legacy = profile.legacy == Legacy::Migrated;
            let old = |key| tree.get("hooks").filter(|_| legacy).and_then(|hooks| hooks.get(key));
            let of = |key| tree.get("hooksConfig").and_then(|config| config.get(key)).or_else(|| old(key));
            turned = of("enabled").and_then(boolean).map(|on| (on, layer.name)).or(turned);
            settings.notifications = of("notifications").and_then(boolean).unwrap_or(settings.notifications);
            if let Some(Value::List(names)) = of("disabled").map(|node| &node.value) {
                let names = names.iter().filter_map(Node::text).map(str::to_owned);
                if !profile.disabled_add_up {
                    disabled.clear();
                }
                disabled.extend(names);
            }
        }
        all = tree.get("disableAllHooks").and_then(boolean).map(|on| (on, layer.name)).or(all);
    }
    settings.why_disabled = match (all.filter(|_| profile.gate.disable_all), tools, turned) {
        (Some((true, file)), ..) => Some(format!("hooks are off: `disableAllHooks` is true in {file}")),
        (_, Some((false, file)), _) => Some(format!("hooks are off: `tools.enableHooks` is false in {file}")),
        (.., Some((false, file))) => Some(format!("hooks are off: `hooksConfig.enabled` is false in {file}")),
        (.., None) if !profile.gate.default => {
            Some("hooks are off: they only run with `hooksConfig.enabled: true`".to_owned())
        }
        _ => None,
    };
    settings.enabled = settings.why_disabled.is_none();
    disabled
}

/// A setting that no longer has an effect.
fn passed_over(layer: &Layer<'_>, hooks: &Node, settings: &mut Settings) {
    let off = hooks.get("enabled").filter(|node| boolean(node) == Some(false));
    let some = |node: &&Node| matches!(&node.value, Value::List(names) if !names.is_empty());
    for (key, node) in [("enabled", off), ("disabled", hooks.get("disabled").filter(some))] {
        if let Some(node) = node {
            let what = format!("`hooks.{key}` has no effect any more");
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
