// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses the `hooks` object of the A3S hook design (seed 003 in `docs/seeds.md`). Hooks that an SDK would register
//! are in its list `registered`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use tenterhook_document::{Node, Problem, Value};

use super::{ConfiguredHook, ProfileLimits, ProfileSettings, SettingsLayer, nearest};
use crate::switches::{HookKind, Profile};

const SETTING_KEYS: [&str; 7] = [
    "enabled",
    "maxHooksPerEvent",
    "maxTotalHooks",
    "defaultTimeout",
    "failBehavior",
    "auditLevel",
    "registered",
];

/// A registered hook.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RegisteredHookFields {
    event: String,
    command: String,
    #[serde(alias = "id")]
    name: Option<String>,
    matcher: Option<RegisteredMatcher>,
    config: Option<RegisteredHookConfig>,
}

/// Matcher of a registered hook. Unknown keys are refused, because a misspelt key would make the matcher match more
/// events.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RegisteredMatcher {
    tool: Option<String>,
    #[serde(alias = "pathPattern")]
    path_pattern: Option<String>,
    #[serde(alias = "commandPattern")]
    command_pattern: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RegisteredHookConfig {
    priority: Option<i32>,
    #[serde(alias = "timeout_ms")]
    timeout: Option<f64>,
    r#async: Option<bool>,
    #[serde(rename = "failBehavior", alias = "fail_behavior")]
    fail: Option<RegisteredFailBehavior>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum RegisteredFailBehavior {
    Continue,
    Block,
}

pub(super) fn read(profile: &Profile, trees: &[(SettingsLayer<'_>, Node)], settings: &mut ProfileSettings) {
    settings.limits = ProfileLimits {
        per_event: Some(10),
        total: Some(50),
        default_timeout: Some(5000.0),
        audit_level: Some("info".to_owned()),
    };
    let mut fail = RegisteredFailBehavior::Continue;
    for (layer, tree) in trees {
        let Some(hooks) = tree.get("hooks") else { continue };
        warn_unknown_keys(layer, hooks, settings);
        if let Some(enabled) = read_setting::<bool>(layer, hooks, "enabled", settings) {
            settings.enabled = enabled;
            let why = || format!("hooks are disabled: `hooks.enabled` is false in {}", layer.name);
            settings.why_disabled = (!enabled).then(why);
        }
        settings.limits.per_event =
            read_setting(layer, hooks, "maxHooksPerEvent", settings).or(settings.limits.per_event);
        settings.limits.total =
            read_setting(layer, hooks, "maxTotalHooks", settings).or(settings.limits.total);
        settings.limits.default_timeout =
            read_setting(layer, hooks, "defaultTimeout", settings).or(settings.limits.default_timeout);
        let audit = read_setting(layer, hooks, "auditLevel", settings);
        settings.limits.audit_level = audit.or(settings.limits.audit_level.take());
        fail = read_setting(layer, hooks, "failBehavior", settings).unwrap_or(fail);
    }
    for (layer, tree) in trees {
        let Some(list) =
            tree.get("hooks").and_then(|hooks| hooks.get("registered")).or_else(|| tree.get("registered"))
        else {
            continue;
        };
        let Value::List(list) = &list.value else {
            settings.refuse(Problem::new(layer.name, list.spot, "`registered` must be a list of hooks"));
            continue;
        };
        for node in list {
            if let Err(found) = register(profile, layer, node, fail, settings) {
                settings.refuse(*found);
            }
        }
    }
}

fn register(
    profile: &Profile,
    layer: &SettingsLayer<'_>,
    node: &Node,
    fail: RegisteredFailBehavior,
    settings: &mut ProfileSettings,
) -> Result<(), Box<Problem>> {
    let command = node.get("command").and_then(Node::text);
    let problem = |spot, what: String, hint: String| {
        Box::new(Problem::new(layer.name, spot, what).about("hook", command).hint(hint))
    };
    let fix_hint = || "this hook does not run until it is fixed".to_owned();
    let wire: RegisteredHookFields =
        tenterhook_document::read(node).map_err(|misfit| problem(misfit.spot, misfit.message, fix_hint()))?;
    let at = |key: &str| node.get(key).map_or(node.spot, |node| node.spot);
    let Some(row) = profile.event(&wire.event) else {
        let what = format!("unknown event `{}` of {}", wire.event, profile.about);
        return Err(problem(at("event"), what, nearest::event_hint(profile, &wire.event)));
    };
    if wire.command.is_empty() {
        return Err(problem(at("command"), "empty `command`".to_owned(), fix_hint()));
    }
    let of_event = settings.entries.iter().filter(|entry| entry.event == row.name).count();
    let bounds = [
        ("maxHooksPerEvent", settings.limits.per_event, of_event),
        ("maxTotalHooks", settings.limits.total, settings.entries.len()),
    ];
    for (key, limit, count) in bounds {
        if let Some(limit) = limit.filter(|limit| count >= *limit) {
            let hint = format!("raise `hooks.{key}`, or remove a hook");
            return Err(problem(node.spot, format!("{key} {limit} exceeded"), hint));
        }
    }
    let config = wire.config.unwrap_or_default();
    settings.entries.push(ConfiguredHook {
        event: row.name.to_owned(),
        group: of_event,
        matcher: wire.matcher.map(to_json_matcher),
        sequential: false,
        source: layer.source,
        file: layer.name.to_owned(),
        name: wire.name,
        kind: HookKind::Command,
        command: Some(wire.command),
        args: None,
        shell: None,
        url: None,
        headers: BTreeMap::new(),
        allowed_env: Vec::new(),
        prompt: None,
        model: None,
        server: None,
        tool: None,
        input: None,
        timeout: config.timeout,
        env: BTreeMap::new(),
        condition_if: None,
        fail_closed: config.fail.unwrap_or(fail) == RegisteredFailBehavior::Block,
        is_async: config.r#async == Some(true),
        priority: config.priority.unwrap_or(0),
        enabled: true,
        place: node.spot,
    });
    Ok(())
}

/// Converts a matcher to JSON in which each key has one spelling.
fn to_json_matcher(matcher: RegisteredMatcher) -> Json {
    let parts = [
        ("tool", matcher.tool),
        ("path_pattern", matcher.path_pattern),
        ("command_pattern", matcher.command_pattern),
    ];
    let present = parts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.into())));
    present.collect::<Map<_, _>>().into()
}

/// Reads one setting. An invalid value is reported and treated as absent.
fn read_setting<T: DeserializeOwned>(
    layer: &SettingsLayer<'_>,
    hooks: &Node,
    key: &str,
    settings: &mut ProfileSettings,
) -> Option<T> {
    match tenterhook_document::read(hooks.get(key)?) {
        Ok(value) => Some(value),
        Err(misfit) => {
            let what = format!("`hooks.{key}`: {}", misfit.message);
            settings.refuse(Problem::new(layer.name, misfit.spot, what).hint("the setting is ignored"));
            None
        }
    }
}

fn warn_unknown_keys(layer: &SettingsLayer<'_>, hooks: &Node, settings: &mut ProfileSettings) {
    let Value::Map(keys) = &hooks.value else {
        settings.refuse(Problem::new(layer.name, hooks.spot, "`hooks` must be an object"));
        return;
    };
    for (key, _) in keys {
        let name = key.text().unwrap_or_default();
        if !SETTING_KEYS.contains(&name) {
            let hint = match nearest::nearest(name, SETTING_KEYS.into_iter()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known: {}", SETTING_KEYS.join(", ")),
            };
            settings.warn(
                Problem::new(layer.name, key.spot, format!("unknown setting `hooks.{name}`")).hint(hint),
            );
        }
    }
}
