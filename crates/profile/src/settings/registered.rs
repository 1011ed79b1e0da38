// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses seed 003's `hooks` object, with the hooks that an SDK would register in the list `registered`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use tenterhook_document::{Node, Problem, Value};

use super::{Entry, Layer, Limits, Settings, nearest};
use crate::switches::{Kind, Profile};

const KEYS: [&str; 7] = [
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
struct Wire {
    event: String,
    command: String,
    #[serde(alias = "id")]
    name: Option<String>,
    matcher: Option<Matcher>,
    config: Option<Config>,
}

/// A misspelt key would widen the match, so unknown keys are refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Matcher {
    tool: Option<String>,
    #[serde(alias = "pathPattern")]
    path_pattern: Option<String>,
    #[serde(alias = "commandPattern")]
    command_pattern: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Config {
    priority: Option<i32>,
    #[serde(alias = "timeout_ms")]
    timeout: Option<f64>,
    r#async: Option<bool>,
    #[serde(rename = "failBehavior", alias = "fail_behavior")]
    fail: Option<Fail>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Fail {
    Continue,
    Block,
}

pub(super) fn read(profile: &Profile, trees: &[(Layer<'_>, Node)], settings: &mut Settings) {
    settings.limits = Limits {
        per_event: Some(10),
        total: Some(50),
        default_timeout: Some(5000.0),
        audit_level: Some("info".to_owned()),
    };
    let mut fail = Fail::Continue;
    for (layer, tree) in trees {
        let Some(hooks) = tree.get("hooks") else { continue };
        unknown_keys(layer, hooks, settings);
        if let Some(enabled) = setting::<bool>(layer, hooks, "enabled", settings) {
            settings.enabled = enabled;
            let why = || format!("hooks are off: `hooks.enabled` is false in {}", layer.name);
            settings.why_disabled = (!enabled).then(why);
        }
        settings.limits.per_event =
            setting(layer, hooks, "maxHooksPerEvent", settings).or(settings.limits.per_event);
        settings.limits.total = setting(layer, hooks, "maxTotalHooks", settings).or(settings.limits.total);
        settings.limits.default_timeout =
            setting(layer, hooks, "defaultTimeout", settings).or(settings.limits.default_timeout);
        let audit = setting(layer, hooks, "auditLevel", settings);
        settings.limits.audit_level = audit.or(settings.limits.audit_level.take());
        fail = setting(layer, hooks, "failBehavior", settings).unwrap_or(fail);
    }
    for (layer, tree) in trees {
        let Some(list) =
            tree.get("hooks").and_then(|hooks| hooks.get("registered")).or_else(|| tree.get("registered"))
        else {
            continue;
        };
        let Value::List(list) = &list.value else {
            settings.refuse(Problem::new(layer.name, list.spot, "`registered` has to be a list of hooks"));
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
    layer: &Layer<'_>,
    node: &Node,
    fail: Fail,
    settings: &mut Settings,
) -> Result<(), Box<Problem>> {
    let command = node.get("command").and_then(Node::text);
    let problem = |spot, what: String, hint: String| {
        Box::new(Problem::new(layer.name, spot, what).about("hook", command).hint(hint))
    };
    let mend = || "this hook does not run until it is mended".to_owned();
    let wire: Wire =
        tenterhook_document::read(node).map_err(|misfit| problem(misfit.spot, misfit.message, mend()))?;
    let at = |key: &str| node.get(key).map_or(node.spot, |node| node.spot);
    let Some(row) = profile.event(&wire.event) else {
        let what = format!("`{}` is no event of {}", wire.event, profile.about);
        return Err(problem(at("event"), what, nearest::event_hint(profile, &wire.event)));
    };
    if wire.command.is_empty() {
        return Err(problem(at("command"), "an empty `command`".to_owned(), mend()));
    }
    let here = settings.entries.iter().filter(|entry| entry.event == row.name).count();
    let bounds = [
        ("maxHooksPerEvent", settings.limits.per_event, here),
        ("maxTotalHooks", settings.limits.total, settings.entries.len()),
    ];
    for (key, limit, count) in bounds {
        if let Some(limit) = limit.filter(|limit| count >= *limit) {
            let hint = format!("raise `hooks.{key}`, or take a hook out");
            return Err(problem(node.spot, format!("{key} {limit} exceeded"), hint));
        }
    }
    let config = wire.config.unwrap_or_default();
    settings.entries.push(Entry {
        event: row.name.to_owned(),
        group: here,
        matcher: wire.matcher.map(normalised),
        sequential: false,
        source: layer.source,
        file: layer.name.to_owned(),
        name: wire.name,
        kind: Kind::Command,
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
        fail_closed: config.fail.unwrap_or(fail) == Fail::Block,
        is_async: config.r#async == Some(true),
        priority: config.priority.unwrap_or(0),
        enabled: true,
        place: node.spot,
    });
    Ok(())
}

/// Normalizes the spelling of keys.
fn normalised(matcher: Matcher) -> Json {
    let parts = [
        ("tool", matcher.tool),
        ("path_pattern", matcher.path_pattern),
        ("command_pattern", matcher.command_pattern),
    ];
    let there = parts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.into())));
    there.collect::<Map<_, _>>().into()
}

/// Reads one setting; an invalid one is refused and counts as absent.
fn setting<T: DeserializeOwned>(
    layer: &Layer<'_>,
    hooks: &Node,
    key: &str,
    settings: &mut Settings,
) -> Option<T> {
    match tenterhook_document::read(hooks.get(key)?) {
        Ok(value) => Some(value),
        Err(misfit) => {
            let what = format!("`hooks.{key}`: {}", misfit.message);
            settings.refuse(Problem::new(layer.name, misfit.spot, what).hint("it counts as not given"));
            None
        }
    }
}

fn unknown_keys(layer: &Layer<'_>, hooks: &Node, settings: &mut Settings) {
    let Value::Map(keys) = &hooks.value else {
        settings.refuse(Problem::new(layer.name, hooks.spot, "`hooks` has to be an object"));
        return;
    };
    for (key, _) in keys {
        let name = key.text().unwrap_or_default();
        if !KEYS.contains(&name) {
            let hint = match nearest::nearest(name, KEYS.into_iter()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the settings are {}", KEYS.join(", ")),
            };
            settings
                .warn(Problem::new(layer.name, key.spot, format!("no setting `hooks.{name}`")).hint(hint));
        }
    }
}
