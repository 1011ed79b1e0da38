// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in Claude Code's `settings.json`.
//!
//! Claude Code reads strict JSON, and one wrong entry under `PreToolUse` or `PermissionRequest` makes it drop the
//! whole file without a word, permission rules included. So what is planned is read back and checked, and what is
//! already wrong in the file is said.

use std::path::Path;

use jsonc_parser::{
    ast::{Object, Value},
    common::Ranged,
};

use tenterhook_harness::{Wiring, kebab};

use super::{HARNESS, events, remote_settings};
use crate::{
    Content, InstallError, Installer, MachineScope, Order, Piece, Scope, Transport, Warning,
    hooks::{self, Hooks, StatusLine, look_into, plain_json},
    jsonc::{self, Entry, Flaw, Node, Signature, Source},
};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: HARNESS.id,
    variables: &["CLAUDE_CONFIG_DIR"],
    directory: |ground, scope| match scope {
        Scope::User => ground.variable_or("CLAUDE_CONFIG_DIR", ".claude"),
        Scope::Project(root) => Some(root.join(".claude")),
        Scope::Machine(_) => None,
    },
    machine: MachineScope::Outranks {
        directory: MANAGED,
        bypasses: &[
            "server-managed settings of the organisation that an account is signed in to: while there are any, Claude Code \
             ignores every file of managed settings (`doctor` reports it)",
        ],
    },
    pieces: |order| {
        let name = if order.is_machine() { MANAGED_FILE } else { "settings.json" };
        let path = order.directory.join(name);
        let hooks = Hooks { known: elsewhere(order, &path), ..hooks(order, &wires())? };
        Ok(vec![Piece::new(path, Content::Edited(Box::new(hooks)))])
    },
};

pub(crate) const SIGNATURE: Signature =
    Signature { marker: Some("_tenterhook"), is_our_command, comes_last: false };

/// Events whose invalid entries void the whole file; elsewhere only the entry itself is dropped.
const GUARDED_EVENTS: [&str; 2] = ["PreToolUse", "PermissionRequest"];

const HANDLER_TYPES: [&str; 5] = ["command", "http", "prompt", "agent", "mcp_tool"];

/// One event to be wired to the shim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wire {
    /// Claude Code's name for it, `PreToolUse`.
    pub native: &'static str,
    /// The shim's name for it, `pre-tool-use`.
    pub kebab: String,
    /// Whether its groups take a matcher.
    pub matcher: bool,
    /// How long Claude Code waits, in seconds; its own default when `None`.
    pub timeout_s: Option<u32>,
    /// Whether a shim that fails blocks what was asked.
    pub on_failure_block: bool,
}

/// What belongs in the settings.
pub(crate) fn hooks(order: &Order, wires: &[Wire]) -> Result<Hooks, InstallError> {
    let entries = wires.iter().map(|wire| entry(order, wire)).collect::<Result<_, _>>()?;
    let status = StatusLine { command: order.program("tenterhook-status")?, is_ours: is_our_status };
    Ok(Hooks {
        entries,
        signature: SIGNATURE,
        status: Some(status),
        switches: Vec::new(),
        look: warnings,
        known: Vec::new(),
    })
}

/// Commands we wrote, from whatever home: the marker is lost whenever Claude Code rewrites the file, and a blocking
/// entry that outlives the shim would block every tool.
fn is_our_command(command: &str) -> bool {
    hooks::is_our_command(&HARNESS, command) || is_our_url(command)
}

/// What the client asks by itself.
fn is_our_url(url: &str) -> bool {
    url.starts_with("http://") && url.rsplit_once('/').is_some_and(|(head, _)| head.ends_with(PATH))
}

/// Where the daemon takes Claude Code's hooks.
const PATH: &str = "/v1/hooks/claude-code";

/// The status line we wrote, from whatever home.
fn is_our_status(command: &str) -> bool {
    command.starts_with('\'') && command.ends_with("/bin/tenterhook-status'")
}

/// What `install` writes for each event it wires.
pub(crate) fn wires() -> Vec<Wire> {
    let wired = events::EVENTS.iter().filter(|row| !matches!(row.wiring, Wiring::Left(_)));
    wired
        .map(|row| Wire {
            native: row.native,
            kebab: kebab(row.native),
            matcher: row.matcher,
            // All hooks of `SessionEnd` share the client's own budget of a second and a half.
            timeout_s: (row.native != "SessionEnd").then_some(60),
            on_failure_block: row.wiring == Wiring::Guard,
        })
        .collect()
}

fn entry(order: &Order, wire: &Wire) -> Result<Entry, InstallError> {
    let mut handler = match &order.transport {
        Transport::Http { url, token } if !matches!(wire.native, "SessionStart" | "Setup") => {
            let headers = Node::object([("Authorization", Node::text(format!("Bearer {token}")))]);
            let url = Node::text(format!("{}{PATH}/{}", url.trim_end_matches('/'), wire.kebab));
            vec![("type", Node::text("http")), ("url", url), ("headers", headers)]
        }
        // At the start of a session and at a set-up the client asks nobody over HTTP.
        _ => {
            let command = order.command(HARNESS.id, wire.native)?;
            vec![("type", Node::text("command")), ("command", Node::text(command))]
        }
    };
    handler.extend(wire.timeout_s.map(|seconds| ("timeout", Node::Number(seconds.into()))));
    if wire.on_failure_block {
        handler.push(("onFailure", Node::text("block")));
    }
    let mut group: Vec<_> = SIGNATURE.marker.map(|marker| (marker, Node::Bool(true))).into_iter().collect();
    if wire.matcher {
        group.push(("matcher", Node::text("*")));
    }
    group.push(("hooks", Node::List(vec![Node::object(handler)])));
    Ok(Entry { event: wire.native.to_owned(), group: Node::object(group) })
}

/// Where an organisation keeps settings for everybody on the machine, below the root of its files.
const MANAGED: &str =
    if cfg!(target_os = "macos") { "Library/Application Support/ClaudeCode" } else { "etc/claude-code" };
const MANAGED_FILE: &str = "managed-settings.json";

/// What other settings that the client reads would do to our hooks, and what a transport costs.
fn elsewhere(order: &Order, own: &Path) -> Vec<Warning> {
    let mut files =
        vec![order.user_directory.join("settings.json"), Path::new("/").join(MANAGED).join(MANAGED_FILE)];
    let projects = order.project.iter().map(|root| root.join(".claude"));
    files.extend(
        projects
            .flat_map(|directory| [directory.join("settings.json"), directory.join("settings.local.json")]),
    );
    let mut warnings = Vec::new();
    // Hooks of managed settings run whatever accounts and projects set (measured on 2.1.325).
    if order.is_machine() {
        files.clear();
    }
    for path in files.iter().filter(|path| *path != own) {
        warnings.extend(look_into(path, |text| switched_off(text, path)));
    }
    warnings.extend(remote_settings::warnings(order));
    if matches!(order.transport, Transport::Http { .. }) {
        warnings.push(Warning::note(
            "over HTTP the client asks the daemon by itself, and this is lost: without a daemon nothing is judged, \
             guarded tools are refused (`onFailure`) and everything else goes unrecorded; `SessionStart` is not \
             sent and stays a command; and the settings hold the daemon's token, so keep them to yourself",
        ));
    }
    warnings
}

pub(super) fn switched_off(text: &str, path: &Path) -> Result<Vec<Warning>, Flaw> {
    let source = Source::parse(jsonc::split_mark(text).1)?;
    let Some(root) = source.root()? else { return Ok(Vec::new()) };
    let on = |key: &str| root.get_boolean(key).filter(|switch| switch.value);
    let mut warnings = Vec::new();
    if let Some(switch) = on("disableAllHooks") {
        let line = source.position(switch.range.start).0;
        let says =
            format!("`disableAllHooks` is true in `{}` (line {line}), so no hook will run", path.display());
        warnings.push(Warning::blocks(says));
    }
    // Only an organisation's settings can say so.
    if let Some(switch) = on("allowManagedHooksOnly").filter(|_| is_organisations(path)) {
        let line = source.position(switch.range.start).0;
        let says = format!(
            "`allowManagedHooksOnly` is true in `{}` (line {line}), so only the organisation's hooks run: ours have \
             to be put there",
            path.display()
        );
        warnings.push(Warning::blocks(says));
    }
    Ok(warnings)
}

/// Whether a file holds settings of the organisation.
fn is_organisations(path: &Path) -> bool {
    path.ends_with(MANAGED_FILE) || path.ends_with(remote_settings::FILE)
}

/// What in the user's own settings keeps our hooks from running.
fn warnings(text: &str) -> Result<Vec<Warning>, Flaw> {
    let mut notes = Vec::new();
    let source = Source::parse(jsonc::split_mark(text).1)?;
    let Some(root) = source.root()? else { return Ok(notes) };
    if let Err(error) = plain_json(text) {
        notes.push(Warning::blocks(format!(
            "the settings hold comments or trailing commas (line {}, column {}), and Claude Code then ignores the \
             whole file, our hooks included: make it plain JSON",
            error.line(),
            error.column()
        )));
    }
    if let Some(switch) = root.get_boolean("disableAllHooks").filter(|switch| switch.value) {
        let (line, column) = source.position(switch.range.start);
        notes.push(Warning::blocks(format!(
            "`disableAllHooks` is true (line {line}, column {column}), so no hook will run: set it to false or \
             remove it"
        )));
    }
    for (event, groups) in
        GUARDED_EVENTS.iter().filter_map(|event| Some((event, source.hooks().ok()??.get(event)?)))
    {
        let Value::Array(groups) = &groups.value else { continue };
        for (index, group) in groups.elements.iter().enumerate() {
            let path = format!("hooks.{event}[{index}]");
            notes.extend(faults(&path, group).into_iter().map(|(offset, path, what)| {
                let (line, column) = source.position(offset);
                Warning::blocks(format!(
                    "`{path}` {what} (line {line}, column {column}), and Claude Code then ignores the whole file, \
                     our hooks included: correct or remove that entry"
                ))
            }));
        }
    }
    Ok(notes)
}

type Fault = (usize, String, String);

fn faults(path: &str, group: &Value<'_>) -> Vec<Fault> {
    let Value::Object(group) = group else {
        return vec![(group.range().start, path.into(), format!("is {}, not an object", jsonc::kind(group)))];
    };
    let mut faults = Vec::new();
    if let Some(matcher) = group.get("matcher").map(|property| &property.value)
        && matcher.as_string_lit().is_none()
    {
        let what = format!("is {}, not a string", jsonc::kind(matcher));
        faults.push((matcher.range().start, format!("{path}.matcher"), what));
    }
    let Some(handlers) = group.get_array("hooks") else {
        faults.push((group.range.start, path.into(), "has no array `hooks`".into()));
        return faults;
    };
    for (index, handler) in handlers.elements.iter().enumerate() {
        let path = format!("{path}.hooks[{index}]");
        match handler {
            Value::Object(handler) => faults.extend(handler_faults(&path, handler)),
            other => {
                faults.push((other.range().start, path, format!("is {}, not an object", jsonc::kind(other))));
            }
        }
    }
    faults
}

fn handler_faults(path: &str, handler: &Object<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |offset, what: String| faults.push((offset, path.to_owned(), what));
    match handler.get("type").map(|property| &property.value) {
        Some(Value::StringLit(name)) if HANDLER_TYPES.contains(&&*name.value) => {
            if name.value == "command" && handler.get_string("command").is_none() {
                fault(handler.range.start, "has no string `command`".into());
            }
        }
        Some(Value::StringLit(name)) => {
            fault(name.range.start, format!("has the unknown type `{}`", name.value));
        }
        Some(other) => fault(other.range().start, format!("has {} for a type", jsonc::kind(other))),
        None => fault(handler.range.start, "has no type".into()),
    }
    if let Some(timeout) = handler.get("timeout").map(|property| &property.value)
        && timeout.as_number_lit().is_none()
    {
        fault(timeout.range().start, format!("has {} for a timeout", jsonc::kind(timeout)));
    }
    faults
}
