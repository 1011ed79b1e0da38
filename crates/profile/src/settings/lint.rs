// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Warns about valid settings that are probably mistakes.

use serde_json::Value as Json;
use tenterhook_document::{Node, Problem};
use tenterhook_event::EventKind;

use super::{ConfiguredHook, ProfileSettings, SettingsLayer};
use crate::switches::{HookKind, Profile, ProfileEvent};

/// Longest plausible timeout of a hook: one hour.
const MAX_TIMEOUT_S: f64 = 3600.0;
/// Shortest plausible timeout of a hook: a tenth of a second.
const MIN_TIMEOUT_MS: f64 = 100.0;

/// Checks a matcher group.
pub(super) fn check_group(
    profile: &Profile,
    layer: &SettingsLayer<'_>,
    row: &ProfileEvent,
    node: &Node,
    matcher: Option<&Json>,
    settings: &mut ProfileSettings,
) {
    let narrows = matcher.is_some_and(|matcher| !matches!(matcher.as_str().map(str::trim), Some("" | "*")));
    if narrows && !row.matcher {
        let at = node.get("matcher").map_or(node.spot, |node| node.spot);
        let what = format!("{} ignores matchers at `{}`: these hooks always run", profile.about, row.name);
        settings.warn(
            Problem::new(layer.name, at, what).hint("remove the matcher, or check the input in the hook"),
        );
    }
}

/// Checks one hook.
pub(super) fn check_hook(
    profile: &Profile,
    row: &ProfileEvent,
    node: &Node,
    entry: &ConfiguredHook,
    settings: &mut ProfileSettings,
) {
    let mut warn = |at: Option<&Node>, what: String, hint: &str| {
        let spot = at.map_or(entry.place, |node| node.spot);
        let found = Problem::new(&entry.file, spot, what).about("hook", Some(entry.label())).hint(hint);
        settings.warn(found);
    };
    if let Some(timeout) = entry.timeout {
        let at = node.get("timeout");
        if profile.timeout_unit_ms == 1000 && timeout > MAX_TIMEOUT_S {
            let what = format!("timeout of {timeout} seconds; should it be milliseconds?");
            warn(at, what, "`timeout` is in seconds here");
        } else if profile.timeout_unit_ms == 1 && timeout < MIN_TIMEOUT_MS {
            let what = format!("timeout of {timeout} milliseconds; should it be seconds?");
            warn(at, what, "`timeout` is in milliseconds here");
        }
    }
    if let Some(at) = node.get("matcher") {
        let what = "a `matcher` of a single hook is ignored".to_owned();
        warn(Some(at), what, "move it to the group, next to `hooks`");
    }
    if !row.kinds.contains(&entry.kind) {
        let what = format!("`{}` hooks do not run at `{}`", entry.kind.word(), row.name);
        let can: Vec<&str> = row.kinds.iter().map(|kind| kind.word()).collect();
        warn(node.get("type"), what, &format!("supported: {}", can.join(", ")));
    }
    if entry.condition_if.is_some() && !entry.concerns_tool(profile) {
        let what = format!("hooks with an `if` do not run at `{}`", row.name);
        warn(node.get("if"), what, "`if` is for events about one tool call");
    }
    let everywhere = match &entry.matcher {
        None => true,
        Some(matcher) => matcher.as_str().is_some_and(|matcher| matcher.trim().is_empty()),
    };
    if row.kind == EventKind::PreTool
        && entry.kind == HookKind::Command
        && everywhere
        && entry.condition_if.is_none()
    {
        let what = "without a matcher, the hook runs for every tool call".to_owned();
        warn(None, what, "name the tools in `matcher`, or write `\"*\"` if that is intended");
    }
}
