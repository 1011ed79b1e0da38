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

use super::events;
use crate::install::{
    Change, InstallError, Installer, Plan, file,
    jsonc::{self, Created, Entry, Flaw, Node, Signature, Source, status},
    plan::Record,
    quote,
    receipt::{Fingerprint, Receipt, Receipts, Stored, VERSION},
};

const HARNESS: &str = "claude-code";

pub(super) const INSTALLER: Installer = Installer {
    directory_variable: "CLAUDE_CONFIG_DIR",
    settings: |directory, home| {
        let directory = directory.map(Path::to_owned).or_else(|| Some(home?.join(".claude")));
        Some(directory?.join("settings.json"))
    },
    plan_install: |settings, home, receipts| plan_install(settings, home, receipts, &events::wires()),
    plan_uninstall,
};

const SIGNATURE: Signature = Signature { marker: "_tenterhook", is_our_command };

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

/// Plans our entries into `settings`. `home` is Tenterhook's, where the shim lies; `receipts` is where the receipt
/// is kept. Writes nothing.
pub fn plan_install(
    settings: &Path,
    home: &Path,
    receipts: &Path,
    events: &[Wire],
) -> Result<Plan, InstallError> {
    require_absolute(settings)?;
    require_absolute(home)?;
    // The receipt names it, in JSON.
    utf8(settings)?;
    let shim = home.join("bin").join("tenterhook-hook");
    let shim = utf8(&shim)?;
    let entries: Vec<Entry> = events.iter().map(|wire| entry(shim, wire)).collect();

    let before = file::read(settings)?;
    let text = file::text(settings, before.as_deref().unwrap_or_default())?;
    let at = |flaw: Flaw| at(settings, flaw);
    let receipts = Receipts::new(receipts, HARNESS);
    let (receipt_path, stored) = receipts.find(settings)?;

    let installed = jsonc::count(text, &SIGNATURE).map_err(at)? > 0;
    let previous = stored.as_ref().and_then(|stored| stored.receipt.as_ref()).filter(|_| installed);
    let created = previous.map(|receipt| receipt.created.clone()).unwrap_or_default();
    let mut edited = jsonc::insert(text, &entries, &SIGNATURE, &created).map_err(at)?;
    let status = home.join("bin").join("tenterhook-status");
    let status = quote(utf8(&status)?);
    let put = status::put(&edited.text, &status, is_our_status, &edited.created.status).map_err(at)?;
    let mut notes = warnings(text).map_err(at)?;
    // Each warning is about something that makes the client pass over our entries.
    let in_force = notes.is_empty();
    match put {
        Some((text, status)) => (edited.text, edited.created.status) = (text, status),
        None => {
            notes.push("the settings have a status line of an unknown kind, which is left as it is".into());
        }
    }
    let chained = edited.created.status.chained_command();
    read_back(settings, text, &edited.text, &entries)?;

    let after = edited.text.into_bytes();
    let original =
        before.as_deref().map(|before| receipts.plan_backup(&receipt_path, settings, before)).transpose()?;
    let written = Fingerprint::of(&after);
    let (harness, settings_path) = (HARNESS.to_owned(), settings.to_owned());
    let receipt = match previous {
        // The first original is the one to go back to, as long as nobody else wrote in between.
        Some(previous) => Receipt {
            version: VERSION,
            harness,
            settings: settings_path,
            original: previous.original.clone(),
            directories: previous.directories.clone(),
            pristine: previous.pristine
                && before.as_deref().is_some_and(|before| previous.written.is_of(before)),
            written,
            created: edited.created,
        },
        None => Receipt {
            version: VERSION,
            harness,
            settings: settings_path,
            original,
            directories: file::missing_directories(settings)?,
            // Entries of ours without a receipt: what was there before them is not known.
            pristine: !installed,
            written,
            created: edited.created,
        },
    };
    let change = Change { path: settings.to_owned(), before, after: Some(after) };
    let directories = receipt.directories.clone();
    let record = if change.is_noop() {
        Record::Keep
    } else {
        Record::Write {
            copy_original: previous.is_none(),
            path: receipt_path,
            receipt: Box::new(receipt),
            previous: stored.map(|stored| stored.bytes),
        }
    };
    Ok(Plan { change, notes, in_force, restores: false, chained, receipts, record, directories })
}

/// Plans our entries out of `settings`: the original back, byte for byte, if nobody else wrote since; otherwise
/// only what is ours is taken out of what is there now. Writes nothing.
pub fn plan_uninstall(settings: &Path, receipts: &Path) -> Result<Plan, InstallError> {
    require_absolute(settings)?;
    let receipts = Receipts::new(receipts, HARNESS);
    let (_, stored) = receipts.find(settings)?;
    let mut notes = Vec::new();
    if let Some(Stored { path, receipt: None, .. }) = &stored {
        notes.push(format!(
            "the receipt `{}` cannot be read, so only marked entries are removed",
            path.display()
        ));
    }
    let receipt = stored.as_ref().and_then(|stored| stored.receipt.clone());
    let before = file::read(settings)?;
    let plan = |after, notes, directories, backup, restores| Plan {
        change: Change { path: settings.to_owned(), before: before.clone(), after },
        notes,
        in_force: true,
        restores,
        chained: None,
        receipts: receipts.clone(),
        record: stored
            .clone()
            .map_or(Record::Keep, |stored| Record::Drop { stored: Box::new(stored), backup }),
        directories,
    };

    let Some(bytes) = &before else {
        notes.push(format!("nothing is installed: there is no `{}`", settings.display()));
        return Ok(plan(None, notes, Vec::new(), None, false));
    };
    let directories = match &receipt {
        Some(receipt) => {
            let target = file::target(settings)?;
            receipt.directories.iter().filter(|directory| target.starts_with(directory)).cloned().collect()
        }
        None => Vec::new(),
    };
    if let Some(receipt) = receipt.as_ref().filter(|receipt| receipt.pristine && receipt.written.is_of(bytes))
    {
        let Some(backup) = &receipt.original else {
            return Ok(plan(None, notes, directories, None, true));
        };
        if let Some(original) = receipts.original(backup)? {
            return Ok(plan(Some(original), notes, Vec::new(), receipts.backup_path(backup), true));
        }
        notes.push(
            "the copy of the original is missing or changed, so our entries are taken out instead".into(),
        );
    }

    let text = file::text(settings, bytes)?;
    let created = receipt.as_ref().map_or_else(Created::default, |receipt| receipt.created.clone());
    let without = status::take(text, is_our_status, &created.status).map_err(|flaw| at(settings, flaw))?;
    let edited = jsonc::remove(&without, &SIGNATURE, &created).map_err(|flaw| at(settings, flaw))?;
    if edited.text == text {
        notes.push(format!("nothing is installed in `{}`", settings.display()));
        return Ok(plan(before.clone(), notes, Vec::new(), None, false));
    }
    let left = jsonc::count(&edited.text, &SIGNATURE).map_err(|flaw| self_check(settings, flaw.what))?;
    if left > 0 {
        return Err(self_check(settings, format!("{left} entries are still there")));
    }
    let file_was_ours = receipt.as_ref().is_some_and(|receipt| receipt.original.is_none());
    if file_was_ours && jsonc::split_mark(&edited.text).1.trim() == "{}" {
        return Ok(plan(None, notes, directories, None, true));
    }
    let backup = receipt.as_ref().and_then(|receipt| receipt.original.as_ref());
    if let Some(backup) = backup.and_then(|backup| receipts.backup_path(backup)) {
        notes.push(format!(
            "the settings were edited since the install, so the edits stay; the original is kept in `{}`",
            backup.display()
        ));
    }
    if stored.is_none() {
        notes.push(
            "this home has no receipt of an install here, so only our entries are taken out; if it was another home's, \
             uninstall with `--home` of that one"
                .into(),
        );
    }
    Ok(plan(Some(edited.text.into_bytes()), notes, Vec::new(), None, false))
}

/// Commands we wrote, from whatever home: the marker is lost whenever Claude Code rewrites the file, and a blocking
/// entry that outlives the shim would block every tool.
fn is_our_command(command: &str) -> bool {
    let Some((program, event)) = command.rsplit_once("/bin/tenterhook-hook' claude-code ") else {
        return false;
    };
    // Somebody may have made a longer command of it; that one is theirs.
    program.starts_with('\'') && events::EVENTS.iter().any(|row| crate::kebab(row.native) == event)
}

/// The status line we wrote, from whatever home.
fn is_our_status(command: &str) -> bool {
    command.starts_with('\'') && command.ends_with("/bin/tenterhook-status'")
}

fn entry(shim: &str, wire: &Wire) -> Entry {
    let command = format!("{} {HARNESS} {}", quote(shim), wire.kebab);
    let mut handler = vec![("type", Node::text("command")), ("command", Node::text(command))];
    handler.extend(wire.timeout_s.map(|seconds| ("timeout", Node::Number(seconds.into()))));
    if wire.on_failure_block {
        handler.push(("onFailure", Node::text("block")));
    }
    let mut group = vec![(SIGNATURE.marker, Node::Bool(true))];
    if wire.matcher {
        group.push(("matcher", Node::text("*")));
    }
    group.push(("hooks", Node::List(vec![Node::object(handler)])));
    Entry { event: wire.native.to_owned(), group: Node::object(group) }
}

fn read_back(settings: &Path, before: &str, after: &str, entries: &[Entry]) -> Result<(), InstallError> {
    jsonc::check(after, entries, &SIGNATURE).map_err(|what| self_check(settings, what))?;
    // What Claude Code could read before, it must be able to read after.
    if (before.trim().is_empty() || plain_json(before).is_ok())
        && let Err(error) = plain_json(after)
    {
        return Err(self_check(settings, error.to_string()));
    }
    Ok(())
}

fn plain_json(text: &str) -> Result<serde::de::IgnoredAny, serde_json::Error> {
    serde_json::from_str(jsonc::split_mark(text).1)
}

/// What in the user's own settings keeps our hooks from running.
fn warnings(text: &str) -> Result<Vec<String>, Flaw> {
    let mut notes = Vec::new();
    let source = Source::parse(jsonc::split_mark(text).1)?;
    let Some(root) = source.root()? else { return Ok(notes) };
    if let Err(error) = plain_json(text) {
        notes.push(format!(
            "the settings hold comments or trailing commas (line {}, column {}), and Claude Code then ignores the \
             whole file, our hooks included: make it plain JSON",
            error.line(),
            error.column()
        ));
    }
    if let Some(switch) = root.get_boolean("disableAllHooks").filter(|switch| switch.value) {
        let (line, column) = source.position(switch.range.start);
        notes.push(format!(
            "`disableAllHooks` is true (line {line}, column {column}), so no hook will run: set it to false or \
             remove it"
        ));
    }
    for (event, groups) in
        GUARDED_EVENTS.iter().filter_map(|event| Some((event, source.hooks().ok()??.get(event)?)))
    {
        let Value::Array(groups) = &groups.value else { continue };
        for (index, group) in groups.elements.iter().enumerate() {
            let path = format!("hooks.{event}[{index}]");
            notes.extend(faults(&path, group).into_iter().map(|(offset, path, what)| {
                let (line, column) = source.position(offset);
                format!(
                    "`{path}` {what} (line {line}, column {column}), and Claude Code then ignores the whole file, \
                     our hooks included: correct or remove that entry"
                )
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

fn require_absolute(path: &Path) -> Result<(), InstallError> {
    if path.is_absolute() {
        return Ok(());
    }
    Err(InstallError::RelativePath { path: path.to_owned() })
}

fn utf8(path: &Path) -> Result<&str, InstallError> {
    path.to_str().ok_or_else(|| InstallError::PathNotUtf8 { path: path.to_owned() })
}

fn at(path: &Path, flaw: Flaw) -> InstallError {
    let Flaw { line, column, what } = flaw;
    InstallError::Settings { path: path.to_owned(), line, column, what }
}

fn self_check(path: &Path, what: String) -> InstallError {
    InstallError::SelfCheck { path: path.to_owned(), what }
}
