// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hooks in a JSON file of the form `{"hooks": {"<Event>": [...]}}`, the format of nearly every harness.

use jsonc_parser::ast::Object;

use super::{
    EditCheckError, InstallWarning, SettingsEditor, file,
    installer::OR_REFUSE,
    jsonc::{
        self, CreatedContainers, EditedText, HookSettingsEntry, HookSignature, JsonNode, JsoncSource,
        SettingsError, status,
        switch::{self, RequiredSetting},
    },
};

/// Tenterhook's content of one hook settings file.
#[derive(Debug)]
pub struct HookSettings {
    /// Hook entries to write, in order.
    pub entries: Vec<HookSettingsEntry>,
    /// How Tenterhook's entries are recognised.
    pub signature: HookSignature,
    /// The status line, if the harness has one.
    pub status: Option<StatusLine>,
    /// Settings that the hooks need.
    pub switches: Vec<RequiredSetting>,
    /// Checks the text for settings that keep the hooks from running.
    pub look: fn(&str) -> Result<Vec<InstallWarning>, SettingsError>,
    /// Warnings that do not depend on the text.
    pub known: Vec<InstallWarning>,
}

/// Tenterhook's status line.
#[derive(Debug)]
pub struct StatusLine {
    /// Command of the status line.
    pub command: String,
    /// Whether a command was written by any version of Tenterhook.
    pub is_ours: fn(&str) -> bool,
}

impl StatusLine {
    /// A warning about an existing status line that cannot be replaced.
    pub fn warning(&self, text: &str) -> Result<Option<InstallWarning>, SettingsError> {
        let message = "the settings have a status line of an unknown kind, which is left unchanged";
        Ok(status::is_foreign(text, self.is_ours)?.then(|| InstallWarning::note(message)))
    }
}

/// Whether the text is JSON without comments and trailing commas.
pub fn plain_json(text: &str) -> Result<serde::de::IgnoredAny, serde_json::Error> {
    serde_json::from_str(jsonc::split_mark(text).1)
}

/// Checks that a text that was plain JSON before is plain JSON after the edit.
pub(super) fn stays_plain_json(before: &str, after: &str) -> Result<(), EditCheckError> {
    match plain_json(after) {
        Err(error) if before.trim().is_empty() || plain_json(before).is_ok() => {
            Err(EditCheckError::new(error.to_string()))
        }
        _ => Ok(()),
    }
}

/// Whether the command is one that Tenterhook writes for the harness. The command may name any state directory. A
/// longer command that contains such a command belongs to the user.
pub fn is_our_command(harness: &tenterhook_harness::Harness, command: &str) -> bool {
    let command = command.strip_suffix(OR_REFUSE).unwrap_or(command);
    let Some((program, rest)) = command.rsplit_once("/bin/tenterhook-hook' ") else { return false };
    let Some((id, event)) = rest.split_once(' ') else { return false };
    program.starts_with('\'')
        && id == harness.id
        && harness.events.iter().any(|row| tenterhook_harness::to_kebab_case(row.native) == event)
}

impl SettingsEditor for HookSettings {
    fn insert(&self, text: &str, created: &CreatedContainers) -> Result<EditedText, SettingsError> {
        let mut edited = jsonc::insert(text, &self.entries, &self.signature, created)?;
        if let Some(line) = &self.status
            && let Some((text, status)) =
                status::set(&edited.text, &line.command, line.is_ours, &edited.created.status)?
        {
            (edited.text, edited.created.status) = (text, status);
        }
        for wanted in &self.switches {
            let (text, switched) = switch::set(&edited.text, wanted)?;
            edited.text = text;
            if let Some(switched) = switched {
                edited.created.switches.retain(|known| known.path != switched.path);
                edited.created.switches.push(switched);
            }
        }
        Ok(edited)
    }

    fn remove(&self, text: &str, created: &CreatedContainers) -> Result<String, SettingsError> {
        let mut text = text.to_owned();
        for switched in created.switches.iter().rev() {
            let ours = self.switches.iter().find(|switch| switch.path == switched.path);
            if let Some(ours) = ours {
                text = switch::restore(&text, ours, switched)?;
            }
        }
        if let Some(line) = &self.status {
            text = status::restore(&text, line.is_ours, &created.status)?;
        }
        Ok(jsonc::remove(&text, &self.signature, created)?.text)
    }

    fn contains(&self, text: &str, _created: &CreatedContainers) -> Result<bool, SettingsError> {
        Ok(jsonc::count(text, &self.signature)? > 0)
    }

    fn check(&self, before: &str, after: &str) -> Result<(), EditCheckError> {
        jsonc::check(after, &self.entries, &self.signature)?;
        for wanted in &self.switches {
            if !switch::is_set(after, wanted)? {
                return Err(EditCheckError::new(format!("`{}` is not set", wanted.path.join("."))));
            }
        }
        stays_plain_json(before, after)
    }

    fn is_empty_after_removal(&self, text: &str) -> bool {
        let solid: String = jsonc::split_mark(text).1.split_whitespace().collect();
        solid == "{}" || solid == "{\"hooks\":{}}"
    }

    fn required_texts(&self) -> Vec<String> {
        self.entries.iter().filter_map(|entry| command_of(&entry.group)).collect()
    }

    fn warnings(&self, text: &str) -> Result<Vec<InstallWarning>, SettingsError> {
        let mut warnings = (self.look)(text)?;
        if let Some(line) = &self.status {
            warnings.extend(line.warning(text)?);
        }
        warnings.extend(self.known.iter().cloned());
        Ok(warnings)
    }
}

/// The command of an entry in a file.
fn command_of(node: &JsonNode) -> Option<String> {
    match node {
        JsonNode::Object(properties) => properties.iter().find_map(|(name, value)| match value {
            JsonNode::Text(_) if matches!(name.as_str(), "command" | "bash" | "url") => Some(value.scalar()),
            value => command_of(value),
        }),
        JsonNode::List(items) => items.iter().find_map(command_of),
        _ => None,
    }
}

/// Entries for all events that Tenterhook registers, one for each.
pub fn entries(
    harness: &tenterhook_harness::Harness,
    entry: impl Fn(&'static tenterhook_harness::EventRow) -> Result<JsonNode, super::InstallError>,
) -> Result<Vec<HookSettingsEntry>, super::InstallError> {
    let wired =
        harness.events.iter().filter(|row| !matches!(row.wiring, tenterhook_harness::InstallWiring::Skip(_)));
    wired.map(|row| Ok(HookSettingsEntry { event: row.native.to_owned(), group: entry(row)? })).collect()
}

/// Warnings about a settings file that other programs write. A file that cannot be read gets a note, because it may
/// disable hooks.
pub(super) fn look_into(
    path: &std::path::Path,
    look: impl FnOnce(&str) -> Result<Vec<InstallWarning>, SettingsError>,
) -> Vec<InstallWarning> {
    let looked = || {
        let Some(bytes) = file::read(path)? else { return Ok(Vec::new()) };
        let text = file::text(path, &bytes)?;
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        look(text).map_err(|error| error.at(path))
    };
    looked().unwrap_or_else(|error| {
        vec![InstallWarning::note(format!("{error}; it is unknown whether that file disables hooks"))]
    })
}

/// Warnings about other settings files that the harness reads.
pub fn elsewhere(
    files: &[std::path::PathBuf],
    own: &std::path::Path,
    look: impl Fn(&JsoncSource<'_>, &Object<'_>) -> Vec<InstallWarning>,
) -> Vec<InstallWarning> {
    let look_at_file = |path: &std::path::PathBuf| {
        look_into(path, |text| {
            let told = look_at(text, &look)?.into_iter();
            let message = |message| format!("{message} (in `{}`)", path.display());
            Ok(told.map(|warning| InstallWarning { message: message(warning.message), ..warning }).collect())
        })
    };
    files.iter().filter(|path| *path != own).flat_map(look_at_file).collect()
}

/// Warnings about the text of the settings file that is written.
pub fn look_at(
    text: &str,
    look: impl Fn(&JsoncSource<'_>, &Object<'_>) -> Vec<InstallWarning>,
) -> Result<Vec<InstallWarning>, SettingsError> {
    let source = JsoncSource::parse(jsonc::split_mark(text).1)?;
    Ok(source.root()?.map(|root| look(&source, root)).unwrap_or_default())
}

/// A warning if a switch disables hooks.
pub fn off_by(root: &Object<'_>, path: &[&str], off: bool) -> Option<InstallWarning> {
    let (last, outer) = path.split_last()?;
    let object = outer.iter().try_fold(root, |object, key| object.get_object(key))?;
    let switch = object.get_boolean(last).filter(|switch| switch.value == off)?;
    let name = path.join(".");
    Some(InstallWarning::blocks(format!("`{name}` is {}, so no hook will run", switch.value)))
}
