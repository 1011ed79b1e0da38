// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in Claude Code's `settings.json`.
//!
//! Claude Code reads strict JSON. One invalid entry under `PreToolUse` or `PermissionRequest` makes it silently drop
//! the whole file, including permission rules. So the edited text is parsed and checked before it is written, and
//! errors that the file already has are reported.

use std::path::{Path, PathBuf};

use jsonc_parser::{
    ast::{Object, Value},
    common::Ranged,
};

use tenterhook_harness::{InstallWiring, to_kebab_case};

use super::{HARNESS, events, remote_settings};
use crate::{
    FileContent, HookTransport, InstallError, InstallRequest, InstallWarning, Installer, MachineScope,
    ManagedFile, SettingsScope,
    env_files::is_on,
    hooks::{self, HookSettings, StatusLine, look_into, plain_json},
    jsonc::{self, HookSettingsEntry, HookSignature, JsonNode, JsoncSource, SettingsError},
};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: HARNESS.id,
    variables: &["CLAUDE_CONFIG_DIR"],
    directory: |ground, scope| match scope {
        SettingsScope::User => ground.variable_or("CLAUDE_CONFIG_DIR", ".claude"),
        SettingsScope::Project(root) => Some(root.join(".claude")),
        SettingsScope::Machine(_) => None,
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
        let hooks = HookSettings { known: collect_warnings(order, &path), ..hooks(order, &wires())? };
        Ok(vec![ManagedFile::new(path, FileContent::Edited(Box::new(hooks)))])
    },
};

pub(crate) const SIGNATURE: HookSignature =
    HookSignature { marker: Some("_tenterhook"), is_our_command, comes_last: false };

/// Events for which one invalid entry makes Claude Code drop the whole file. For other events it drops only that entry.
const GUARDED_EVENTS: [&str; 2] = ["PreToolUse", "PermissionRequest"];

const HANDLER_TYPES: [&str; 5] = ["command", "http", "prompt", "agent", "mcp_tool"];

/// One hook event to register in Claude Code's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRegistration {
    /// Claude Code's name of the event, `PreToolUse`.
    pub native: &'static str,
    /// The hook program's name of the event, `pre-tool-use`.
    pub kebab: String,
    /// Whether Claude Code supports a matcher for the event.
    pub matcher: bool,
    /// Timeout in seconds; the client's default if `None`.
    pub timeout_s: Option<u32>,
    /// Whether a failing hook blocks the action.
    pub on_failure_block: bool,
}

/// Tenterhook's hooks and status line for the settings.
pub(crate) fn hooks(
    order: &InstallRequest,
    wires: &[EventRegistration],
) -> Result<HookSettings, InstallError> {
    let entries = wires.iter().map(|wire| entry(order, wire)).collect::<Result<_, _>>()?;
    let status = StatusLine { command: order.program("tenterhook-status")?, is_ours: is_our_status };
    Ok(HookSettings {
        entries,
        signature: SIGNATURE,
        status: Some(status),
        switches: Vec::new(),
        look: warnings,
        known: Vec::new(),
    })
}

/// Whether Tenterhook wrote the command. The command may name any state directory. The marker alone is not enough,
/// because Claude Code drops it whenever it rewrites the file. If an uninstall missed a blocking entry, that entry
/// would block every tool once the hook program is gone.
fn is_our_command(command: &str) -> bool {
    hooks::is_our_command(&HARNESS, command) || is_our_url(command)
}

/// Whether the URL is one that Tenterhook writes for HTTP hooks.
fn is_our_url(url: &str) -> bool {
    url.starts_with("http://") && url.rsplit_once('/').is_some_and(|(head, _)| head.ends_with(PATH))
}

/// The daemon's path for hooks of Claude Code.
const PATH: &str = "/v1/hooks/claude-code";

/// Whether Tenterhook wrote the status line command. The command may name any state directory.
fn is_our_status(command: &str) -> bool {
    command.starts_with('\'') && command.ends_with("/bin/tenterhook-status'")
}

/// The events that `install` registers.
pub(crate) fn wires() -> Vec<EventRegistration> {
    let wired = events::EVENTS.iter().filter(|row| !matches!(row.wiring, InstallWiring::Skip(_)));
    wired
        .map(|row| EventRegistration {
            native: row.native,
            kebab: to_kebab_case(row.native),
            matcher: row.matcher,
            // All `SessionEnd` hooks together share Claude Code's own limit of 1.5 seconds.
            timeout_s: (row.native != "SessionEnd").then_some(60),
            on_failure_block: row.wiring == InstallWiring::Guard,
        })
        .collect()
}

fn entry(order: &InstallRequest, wire: &EventRegistration) -> Result<HookSettingsEntry, InstallError> {
    let handler = match &order.transport {
        HookTransport::Http { url, token } if !matches!(wire.native, "SessionStart" | "Setup") => {
            let headers = JsonNode::object([("Authorization", JsonNode::text(format!("Bearer {token}")))]);
            let url = JsonNode::text(format!("{}{PATH}/{}", url.trim_end_matches('/'), wire.kebab));
            vec![("type", JsonNode::text("http")), ("url", url), ("headers", headers)]
        }
        // Claude Code does not call HTTP hooks for `SessionStart` and `Setup`.
        _ => {
            let command = order.command(HARNESS.id, wire.native)?;
            vec![("type", JsonNode::text("command")), ("command", JsonNode::text(command))]
        }
    };
    Ok(settings_entry(wire, handler))
}

/// The entry of an event, with the marker by which Tenterhook recognises it.
pub(super) fn settings_entry(
    wire: &EventRegistration,
    handler: Vec<(&'static str, JsonNode)>,
) -> HookSettingsEntry {
    let marker = SIGNATURE.marker.map(|marker| (marker, JsonNode::Bool(true)));
    let group = marker.into_iter().chain(event_group(wire, handler));
    HookSettingsEntry { event: wire.native.to_owned(), group: JsonNode::object(group) }
}

/// The matcher and the handler of an event, with the handler's time limit and the behaviour if it fails.
pub(super) fn event_group(
    wire: &EventRegistration,
    mut handler: Vec<(&'static str, JsonNode)>,
) -> Vec<(&'static str, JsonNode)> {
    handler.extend(wire.timeout_s.map(|seconds| ("timeout", JsonNode::Number(seconds.into()))));
    if wire.on_failure_block {
        handler.push(("onFailure", JsonNode::text("block")));
    }
    let matcher = wire.matcher.then(|| ("matcher", JsonNode::text("*")));
    let handlers = ("hooks", JsonNode::List(vec![JsonNode::object(handler)]));
    matcher.into_iter().chain([handlers]).collect()
}

/// Directory of the managed settings, which an organisation controls. Relative to the root of the file system.
const MANAGED: &str =
    if cfg!(target_os = "macos") { "Library/Application Support/ClaudeCode" } else { "etc/claude-code" };
const MANAGED_FILE: &str = "managed-settings.json";

/// File with Claude Code's own state, in the home directory or in the directory that `CLAUDE_CONFIG_DIR` names.
const STATE_FILE: &str = ".claude.json";

/// Variables with which Claude Code runs no hooks.
pub(super) const HOOKLESS_VARIABLES: &[&str] = &["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"];

/// Warnings about settings in Claude Code's other files that disable hooks, and about the HTTP transport.
pub(super) fn collect_warnings(order: &InstallRequest, own: &Path) -> Vec<InstallWarning> {
    let mut files =
        vec![order.user_directory.join("settings.json"), Path::new("/").join(MANAGED).join(MANAGED_FILE)];
    let projects = order.project.iter().map(|root| root.join(".claude"));
    files.extend(
        projects
            .flat_map(|directory| [directory.join("settings.json"), directory.join("settings.local.json")]),
    );
    let mut warnings = Vec::new();
    // Hooks in managed settings run regardless of the settings of accounts and projects (measured on 2.1.325).
    if order.is_machine() {
        files.clear();
    }
    for path in files.iter().filter(|path| *path != own) {
        warnings.extend(look_into(path, |text| switched_off(text, path)));
    }
    for path in files_with_variables(order) {
        warnings.extend(look_into(&path, |text| hookless_variables(text, &path)));
    }
    warnings.extend(remote_settings::warnings(order));
    if matches!(order.transport, HookTransport::Http { .. }) {
        warnings.push(InstallWarning::note(
            "over HTTP the client asks the daemon by itself, and this is lost: without a daemon nothing is judged, \
             guarded tools are refused (`onFailure`) and everything else goes unrecorded; `SessionStart` is not \
             sent and stays a command; and the settings hold the daemon's token, so keep them to yourself",
        ));
    }
    warnings
}

pub(super) fn switched_off(text: &str, path: &Path) -> Result<Vec<InstallWarning>, SettingsError> {
    let source = JsoncSource::parse(jsonc::split_mark(text).1)?;
    let Some(root) = source.root()? else { return Ok(Vec::new()) };
    let on = |key: &str| root.get_boolean(key).filter(|switch| switch.value);
    let mut warnings = Vec::new();
    if let Some(switch) = on("disableAllHooks") {
        let line = source.position(switch.range.start).0;
        let message =
            format!("`disableAllHooks` is true in `{}` (line {line}), so no hook will run", path.display());
        warnings.push(InstallWarning::blocks(message));
    }
    // Claude Code reads this key only in an organisation's settings.
    if let Some(switch) = on("allowManagedHooksOnly").filter(|_| is_organisations(path)) {
        let line = source.position(switch.range.start).0;
        let message = format!(
            "`allowManagedHooksOnly` is true in `{}` (line {line}), so only the organisation's hooks run: ours have \
             to be put there",
            path.display()
        );
        warnings.push(InstallWarning::blocks(message));
    }
    Ok(warnings)
}

/// Files whose `env` Claude Code applies before it loads hooks (measured on 2.1.325). For these variables, it ignores `env`
/// in a project's files.
fn files_with_variables(order: &InstallRequest) -> Vec<PathBuf> {
    if order.is_machine() {
        return Vec::new();
    }
    let own_state = order.user_directory.join(STATE_FILE);
    let mut files = vec![
        order.user_directory.join("settings.json"),
        Path::new("/").join(MANAGED).join(MANAGED_FILE),
        own_state.clone(),
    ];
    let in_home = order.user_home.iter().map(|home| home.join(STATE_FILE));
    files.extend(in_home.filter(|path| *path != own_state));
    files
}

/// Warnings about variables in `env` of a settings file with which Claude Code runs no hooks.
fn hookless_variables(text: &str, path: &Path) -> Result<Vec<InstallWarning>, SettingsError> {
    let source = JsoncSource::parse(jsonc::split_mark(text).1)?;
    let Some(env) = source.root()?.and_then(|root| root.get_object("env")) else { return Ok(Vec::new()) };
    let warn = |name: &&str| {
        let value = env.get(name)?;
        let is_on = match &value.value {
            Value::StringLit(text) => is_on(&text.value),
            Value::BooleanLit(switch) => switch.value,
            Value::NumberLit(number) => number.value != "0",
            _ => true,
        };
        let line = source.position(value.range.start).0;
        let message = format!(
            "`env.{name}` is set in `{}` (line {line}), and Claude Code then runs no hooks: remove it",
            path.display()
        );
        is_on.then(|| InstallWarning::blocks(message))
    };
    Ok(HOOKLESS_VARIABLES.iter().filter_map(warn).collect())
}

/// Whether the file is one of an organisation's settings files.
fn is_organisations(path: &Path) -> bool {
    path.ends_with(MANAGED_FILE) || path.ends_with(remote_settings::FILE)
}

/// Warnings about the user's settings that keep the hooks from running.
fn warnings(text: &str) -> Result<Vec<InstallWarning>, SettingsError> {
    let mut notes = Vec::new();
    let source = JsoncSource::parse(jsonc::split_mark(text).1)?;
    let Some(root) = source.root()? else { return Ok(notes) };
    if let Err(error) = plain_json(text) {
        notes.push(InstallWarning::blocks(format!(
            "the settings hold comments or trailing commas (line {}, column {}), and Claude Code then ignores the \
             whole file, including Tenterhook's hooks: make it plain JSON",
            error.line(),
            error.column()
        )));
    }
    if let Some(switch) = root.get_boolean("disableAllHooks").filter(|switch| switch.value) {
        let (line, column) = source.position(switch.range.start);
        notes.push(InstallWarning::blocks(format!(
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
                InstallWarning::blocks(format!(
                    "`{path}` {what} (line {line}, column {column}), and Claude Code then ignores the whole file, \
                     including Tenterhook's hooks: correct or remove that entry"
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
