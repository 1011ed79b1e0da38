// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in Codex's `hooks.json`, and the settings in `config.toml` that they need: hooks are turned
//! on, and Tenterhook's hooks are trusted. Codex Desktop reads the same two files.

use jsonc_parser::ast::Value;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{HARNESS, requirements};
use crate::launch::Replacements;
use crate::{
    FileContent, InstallError, InstallRequest, InstallWarning, Installer, MachineScope, ManagedFile,
    SettingsEditor, SettingsScope, file,
    hooks::{self, HookSettings, entries, plain_json},
    jsonc::{self, CreatedContainers, HookSignature, JsonNode, JsoncSource, SettingsError},
    toml::{self, TomlSetting, TomlSettings},
};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "codex",
    variables: &["CODEX_HOME"],
    directory: |ground, scope| match scope {
        SettingsScope::User => ground.variable_or("CODEX_HOME", ".codex"),
        SettingsScope::Project(root) => Some(root.join(".codex")),
        SettingsScope::Machine(_) => None,
    },
    machine: MachineScope::Outranks { directory: "etc/codex", bypasses: &[] },
    pieces: |order| {
        if order.is_machine() {
            return requirements::pieces(order);
        }
        let path = order.directory.join("hooks.json");
        let hooks = hooks(order)?;
        let config = order.user_directory.join("config.toml");
        let settings = settings(order, &trusts(&path, &hooks)?, &config)?;
        Ok(vec![
            ManagedFile::new(path, FileContent::Edited(Box::new(hooks))),
            ManagedFile::new(config, FileContent::Edited(Box::new(settings))),
        ])
    },
};

const SIGNATURE: HookSignature = HookSignature {
    marker: None,
    is_our_command: |command| hooks::is_our_command(&HARNESS, command),
    comes_last: false,
};

/// Timeout of a hook in seconds, except for `SessionEnd`.
const HOOK_TIMEOUT_SECONDS: u64 = 60;
/// Timeout of a `SessionEnd` hook in seconds, the most that Codex allows.
const SESSION_END_TIMEOUT_SECONDS: u64 = 3;

pub(super) fn timeout_s(event: &str) -> u64 {
    if event == "SessionEnd" { SESSION_END_TIMEOUT_SECONDS } else { HOOK_TIMEOUT_SECONDS }
}

pub(super) fn hooks(order: &InstallRequest) -> Result<HookSettings, InstallError> {
    let entries = entries(&HARNESS, |row| {
        let handler = JsonNode::object([
            ("type", JsonNode::text("command")),
            ("command", JsonNode::text(order.strict_command("codex", row)?)),
            ("timeout", JsonNode::Number(timeout_s(row.native))),
        ]);
        let matcher = row.matcher.then(|| ("matcher", JsonNode::text("*")));
        let handlers = ("hooks", JsonNode::List(vec![handler]));
        Ok(JsonNode::object(matcher.into_iter().chain([handlers])))
    })?;
    let projects = matches!(order.scope, SettingsScope::Project(_)).then(|| {
        InstallWarning::note(
            "Codex runs a project's hooks only where the project is trusted: `trust_level = \"trusted\"` under \
             `[projects.\"…\"]` in config.toml",
        )
    });
    Ok(HookSettings {
        entries,
        signature: SIGNATURE,
        status: None,
        switches: Vec::new(),
        look,
        known: projects.into_iter().collect(),
    })
}

fn look(text: &str) -> Result<Vec<InstallWarning>, SettingsError> {
    let source = JsoncSource::parse(jsonc::split_mark(text).1)?;
    if source.root()?.is_none() || plain_json(text).is_ok() {
        return Ok(Vec::new());
    }
    Ok(vec![InstallWarning::blocks(
        "hooks.json holds comments or trailing commas, which Codex does not read: make it plain JSON",
    )])
}

/// An entry in Codex's list of trusted hooks: the hook's key, and the digest of its trusted definition.
#[derive(Debug)]
pub(super) struct HookTrust {
    pub(super) key: String,
    pub(super) hash: String,
}

/// Keys and digests of Tenterhook's hooks, computed from the settings as they will be written.
pub(super) fn trusts(path: &std::path::Path, hooks: &HookSettings) -> Result<Vec<HookTrust>, InstallError> {
    let before = file::read(path)?.unwrap_or_default();
    let text = file::text(path, &before)?;
    let at = |error: SettingsError| error.at(path);
    let edited = hooks.insert(text, &CreatedContainers::default()).map_err(at)?;
    let source = JsoncSource::parse(jsonc::split_mark(&edited.text).1).map_err(at)?;
    let mut trusts = Vec::new();
    for row in HARNESS.events {
        let groups = source.hooks().map_err(at)?.and_then(|hooks| hooks.get_array(row.native));
        for (group_number, group) in groups.iter().flat_map(|groups| &groups.elements).enumerate() {
            let handlers = group.as_object().and_then(|group| group.get_array("hooks"));
            for (number, handler) in handlers.iter().flat_map(|list| &list.elements).enumerate() {
                let command = Value::as_object(handler).and_then(jsonc::command);
                let Some(command) = command.filter(|command| (SIGNATURE.is_our_command)(command)) else {
                    continue;
                };
                let event = tenterhook_harness::to_kebab_case(row.native).replace('-', "_");
                let key = format!("{}:{event}:{group_number}:{number}", path.display());
                let matcher = row.matcher.then_some("*");
                trusts.push(HookTrust { key, hash: hash(&event, matcher, command, timeout_s(row.native)) });
            }
        }
    }
    Ok(trusts)
}

/// Replacements for the keys and digests of Tenterhook's hooks when the settings are copied, because both depend on
/// file paths. Digests of other hooks are unchanged, so the copy trusts exactly the hooks that the original trusts.
pub(super) fn relocated_trust(
    real: &InstallRequest,
    copy: &InstallRequest,
) -> Result<Replacements, InstallError> {
    let trusts_of = |order: &InstallRequest| trusts(&order.directory.join("hooks.json"), &hooks(order)?);
    let pairs = trusts_of(real)?.into_iter().zip(trusts_of(copy)?);
    Ok(pairs.flat_map(|(real, copy)| [(real.key, copy.key), (real.hash, copy.hash)]).collect())
}

/// Codex's digest of a hook: SHA-256 of the hook's definition as JSON with sorted keys and no white space.
fn hash(event: &str, matcher: Option<&str>, command: &str, timeout: u64) -> String {
    let handler = json!({"async": false, "command": command, "timeout": timeout, "type": "command"});
    let mut identity = json!({"event_name": event, "hooks": [handler]});
    if let (Some(matcher), Some(identity)) = (matcher, identity.as_object_mut()) {
        identity.insert("matcher".to_owned(), matcher.into());
    }
    let digest = Sha256::digest(sorted(&identity).as_bytes());
    let hex: String = digest
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|half| char::from_digit(half.into(), 16))
        .collect();
    format!("sha256:{hex}")
}

/// Compact JSON with sorted keys in every object.
fn sorted(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Object(object) => {
            let mut items: Vec<_> = object.iter().collect();
            items.sort_by_key(|(key, _)| *key);
            let items: Vec<_> =
                items.iter().map(|(key, value)| format!("{}:{}", json!(key), sorted(value))).collect();
            format!("{{{}}}", items.join(","))
        }
        serde_json::Value::Array(items) => {
            format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(","))
        }
        scalar => scalar.to_string(),
    }
}

/// Tenterhook's settings in `config.toml`. A hook is marked as trusted if the user requested trust, or if the file
/// already trusts it.
fn settings(
    order: &InstallRequest,
    trusts: &[HookTrust],
    config: &std::path::Path,
) -> Result<TomlSettings, InstallError> {
    let before = file::read(config)?.unwrap_or_default();
    let text = file::text(config, &before)?;
    let at = |error: SettingsError| error.at(config);
    let mut wanted =
        vec![TomlSetting { table: vec!["features".into()], key: "hooks".into(), value: "true".into() }];
    let (mut untrusted, mut disabled) = (false, false);
    for HookTrust { key, hash } in trusts {
        let table: Vec<String> = ["hooks", "state", key].map(str::to_owned).into();
        let value = toml::quote_string(hash);
        let is_trusted = toml::value_of(text, &table, "trusted_hash")
            .map_err(at)?
            .is_some_and(|now| toml::same_value(now, &value));
        disabled |= toml::value_of(text, &table, "enabled").map_err(at)? == Some("false");
        if order.trust || is_trusted {
            wanted.push(TomlSetting { table, key: "trusted_hash".into(), value });
        } else {
            untrusted = true;
        }
    }
    let mut known = Vec::new();
    if disabled {
        known.push(InstallWarning::blocks(
            "config.toml turns some of our hooks off (`enabled = false` under `[hooks.state]`)",
        ));
    }
    if untrusted {
        known.push(InstallWarning::pending(TRUST));
    }
    let is_off = |key: &str| toml::value_of(text, &["features".into()], key).map(|now| now == Some("false"));
    if is_off("codex_hooks").map_err(at)? {
        known.push(InstallWarning::note(
            "`features.codex_hooks` is false, an older name of the same switch: remove it",
        ));
    }
    Ok(TomlSettings { wanted, is_ours: |_| false, known })
}

const TRUST: &str = "Codex skips untrusted hooks without a message: open Codex CLI, type `/hooks`, select the Tenterhook \
    entries and press `t` (Codex Desktop has no such page and uses what was trusted there), or install again with \
    `--trust`";

#[cfg(test)]
mod tests;
