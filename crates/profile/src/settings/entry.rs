// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses one hook of a matcher group.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;
use tenterhook_document::{Node, Spot, Value};

use super::{ConfiguredHook, SettingsSource, nearest};
use crate::switches::{HookKind, Profile};

/// Reason why a hook was refused.
pub(super) struct RefusedHook {
    /// Position of the problem. By default, the position of the whole hook.
    pub(super) spot: Spot,
    pub(super) message: String,
    pub(super) hint: String,
}

/// The keys of a hook as written in the file. Unknown keys are ignored.
#[derive(Deserialize)]
struct HookFields {
    r#type: Option<String>,
    name: Option<String>,
    command: Option<String>,
    args: Option<Vec<String>>,
    shell: Option<String>,
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    #[serde(rename = "allowedEnvVars")]
    allowed_env: Option<Vec<String>>,
    prompt: Option<String>,
    model: Option<String>,
    server: Option<String>,
    tool: Option<String>,
    input: Option<Json>,
    timeout: Option<f64>,
    env: Option<BTreeMap<String, String>>,
    r#if: Option<String>,
    #[serde(rename = "onFailure")]
    on_failure: Option<OnFailure>,
    r#async: Option<bool>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum OnFailure {
    Continue,
    Block,
}

pub(super) fn read(profile: &Profile, node: &Node) -> Result<ConfiguredHook, RefusedHook> {
    let refused = |message: String, hint: String| RefusedHook { spot: Spot::default(), message, hint };
    if !matches!(node.value, Value::Map(_)) {
        let hint = "write `{\"type\": \"command\", \"command\": …}`".to_owned();
        return Err(refused("a hook must be an object".to_owned(), hint));
    }
    let wire: HookFields = tenterhook_document::read(node).map_err(|misfit| RefusedHook {
        spot: misfit.spot,
        message: misfit.message,
        hint: "this hook does not run until it is fixed".to_owned(),
    })?;
    let kind = parse_kind(profile, node, wire.r#type.as_deref())?;
    let needed: &[(&str, &Option<String>)] = match kind {
        HookKind::Command => &[("command", &wire.command)],
        HookKind::Http => &[("url", &wire.url)],
        HookKind::Prompt | HookKind::Agent => &[("prompt", &wire.prompt)],
        HookKind::McpTool => &[("server", &wire.server), ("tool", &wire.tool)],
        HookKind::Runtime => &[("name", &wire.name)],
        HookKind::Plugin => &[],
    };
    let given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    if let Some((key, _)) = needed.iter().find(|(_, value)| !given(value)) {
        let message = format!("`{}` hook without `{key}`", kind.word());
        return Err(refused(message, format!("add `\"{key}\": …`")));
    }
    Ok(ConfiguredHook {
        event: String::new(),
        group: 0,
        matcher: None,
        sequential: false,
        source: SettingsSource::Project,
        file: String::new(),
        name: wire.name.filter(|name| !name.is_empty()),
        kind,
        command: wire.command,
        args: wire.args,
        shell: wire.shell,
        url: wire.url,
        headers: wire.headers.unwrap_or_default(),
        allowed_env: wire.allowed_env.unwrap_or_default(),
        prompt: wire.prompt,
        model: wire.model,
        server: wire.server,
        tool: wire.tool,
        input: wire.input,
        timeout: wire.timeout,
        env: wire.env.unwrap_or_default(),
        condition_if: wire.r#if,
        fail_closed: wire.on_failure == Some(OnFailure::Block),
        is_async: wire.r#async == Some(true),
        priority: 0,
        enabled: true,
        place: node.spot,
    })
}

fn parse_kind(profile: &Profile, node: &Node, written: Option<&str>) -> Result<HookKind, RefusedHook> {
    let words: Vec<&str> = profile.kinds.iter().map(|kind| kind.word()).collect();
    let spot = node.get("type").map_or(node.spot, |node| node.spot);
    let hint = match written.and_then(|written| nearest::nearest(written, words.iter().copied())) {
        Some(word) => format!("write `\"type\": \"{word}\"`, in lower case"),
        None => format!("types of {}: {}", profile.about, words.join(", ")),
    };
    let Some(written) = written else {
        return Err(RefusedHook { spot, message: "hook without a `type`".to_owned(), hint });
    };
    profile.kinds.iter().copied().find(|kind| kind.word() == written).ok_or_else(|| RefusedHook {
        spot,
        message: format!("unknown hook type `{written}`"),
        hint,
    })
}
