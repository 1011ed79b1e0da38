// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in Codex's `hooks.json`, and what `config.toml` has to say for them to run: that hooks
//! are on, and that a person trusts these. Codex Desktop reads the same two files.

use jsonc_parser::ast::Value;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{HARNESS, requirements};
use crate::launch::Replacements;
use crate::{
    Content, Editor, InstallError, Installer, MachineScope, Order, Piece, Scope, Warning, file,
    hooks::{self, Hooks, entries, plain_json},
    jsonc::{self, Created, Flaw, Node, Signature, Source},
    toml::{self, Setting, Settings},
};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "codex",
    variables: &["CODEX_HOME"],
    directory: |ground, scope| match scope {
        Scope::User => ground.variable_or("CODEX_HOME", ".codex"),
        Scope::Project(root) => Some(root.join(".codex")),
        Scope::Machine(_) => None,
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
            Piece::new(path, Content::Edited(Box::new(hooks))),
            Piece::new(config, Content::Edited(Box::new(settings))),
        ])
    },
};

const SIGNATURE: Signature = Signature {
    marker: None,
    is_our_command: |command| hooks::is_our_command(&HARNESS, command),
    comes_last: false,
};

/// How long Codex waits, in seconds; at the end of a session it allows no more than three.
const PATIENCE: u64 = 60;
const LAST_PATIENCE: u64 = 3;

pub(super) fn timeout_s(event: &str) -> u64 {
    if event == "SessionEnd" { LAST_PATIENCE } else { PATIENCE }
}

fn hooks(order: &Order) -> Result<Hooks, InstallError> {
    let entries = entries(&HARNESS, |row| {
        let handler = Node::object([
            ("type", Node::text("command")),
            ("command", Node::text(order.strict_command("codex", row)?)),
            ("timeout", Node::Number(timeout_s(row.native))),
        ]);
        let matcher = row.matcher.then(|| ("matcher", Node::text("*")));
        let handlers = ("hooks", Node::List(vec![handler]));
        Ok(Node::object(matcher.into_iter().chain([handlers])))
    })?;
    let projects = matches!(order.scope, Scope::Project(_)).then(|| {
        Warning::note(
            "Codex runs a project's hooks only where the project is trusted: `trust_level = \"trusted\"` under \
             `[projects.\"…\"]` in config.toml",
        )
    });
    Ok(Hooks {
        entries,
        signature: SIGNATURE,
        status: None,
        switches: Vec::new(),
        look,
        known: projects.into_iter().collect(),
    })
}

fn look(text: &str) -> Result<Vec<Warning>, Flaw> {
    let source = Source::parse(jsonc::split_mark(text).1)?;
    if source.root()?.is_none() || plain_json(text).is_ok() {
        return Ok(Vec::new());
    }
    Ok(vec![Warning::blocks(
        "hooks.json holds comments or trailing commas, which Codex does not read: make it plain JSON",
    )])
}

/// What Codex calls one of our hooks, and by what it knows that it is still the one that was trusted.
#[derive(Debug)]
struct Trust {
    key: String,
    hash: String,
}

/// Every hook of ours, as it will stand in the file.
fn trusts(path: &std::path::Path, hooks: &Hooks) -> Result<Vec<Trust>, InstallError> {
    let before = file::read(path)?.unwrap_or_default();
    let text = file::text(path, &before)?;
    let at =
        |Flaw { line, column, what }| InstallError::Settings { path: path.to_owned(), line, column, what };
    let edited = hooks.put(text, &Created::default()).map_err(at)?;
    let source = Source::parse(jsonc::split_mark(&edited.text).1).map_err(at)?;
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
                let event = tenterhook_harness::kebab(row.native).replace('-', "_");
                let key = format!("{}:{event}:{group_number}:{number}", path.display());
                let matcher = row.matcher.then_some("*");
                trusts.push(Trust { key, hash: hash(&event, matcher, command, timeout_s(row.native)) });
            }
        }
    }
    Ok(trusts)
}

/// Digests of our hooks, and the keys that they are stored under, in settings that were copied elsewhere: both depend on
/// where the files are. A digest of another hook stays, so that the copy is trusted as far as the original is.
pub(super) fn relocated_trust(real: &Order, copy: &Order) -> Result<Replacements, InstallError> {
    let trusts_of = |order: &Order| trusts(&order.directory.join("hooks.json"), &hooks(order)?);
    let pairs = trusts_of(real)?.into_iter().zip(trusts_of(copy)?);
    Ok(pairs.flat_map(|(real, copy)| [(real.key, copy.key), (real.hash, copy.hash)]).collect())
}

/// By what Codex knows a hook again: the digest of its definition, with keys in order and no white space.
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

/// Compact JSON with the keys of every object in order, whatever the map keeps.
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

/// What has to be in `config.toml`.
fn settings(order: &Order, trusts: &[Trust], config: &std::path::Path) -> Result<Settings, InstallError> {
    let before = file::read(config)?.unwrap_or_default();
    let text = file::text(config, &before)?;
    let at =
        |Flaw { line, column, what }| InstallError::Settings { path: config.to_owned(), line, column, what };
    let mut wanted =
        vec![Setting { table: vec!["features".into()], key: "hooks".into(), value: "true".into() }];
    let (mut untrusted, mut disabled) = (false, false);
    for Trust { key, hash } in trusts {
        let table: Vec<String> = ["hooks", "state", key].map(str::to_owned).into();
        let value = toml::quoted(hash);
        let is_trusted = toml::value_of(text, &table, "trusted_hash")
            .map_err(at)?
            .is_some_and(|now| toml::same(now, &value));
        disabled |= toml::value_of(text, &table, "enabled").map_err(at)? == Some("false");
        if order.trust || is_trusted {
            wanted.push(Setting { table, key: "trusted_hash".into(), value });
        } else {
            untrusted = true;
        }
    }
    let mut known = Vec::new();
    if disabled {
        known.push(Warning::blocks(
            "config.toml turns some of our hooks off (`enabled = false` under `[hooks.state]`)",
        ));
    }
    if untrusted {
        known.push(Warning::pending(TRUST));
    }
    let is_off = |key: &str| toml::value_of(text, &["features".into()], key).map(|now| now == Some("false"));
    if is_off("codex_hooks").map_err(at)? {
        known.push(Warning::note(
            "`features.codex_hooks` is false, an older name of the same switch: remove it",
        ));
    }
    Ok(Settings { wanted, is_ours: |_| false, known })
}

const TRUST: &str = "Codex skips hooks that nobody trusts, without a word: open Codex CLI, type `/hooks`, select the \
    Tenterhook entries and press `t` (Codex Desktop has no such page and heeds what was trusted there), or install \
    again with `--trust`";

#[cfg(test)]
mod tests;
