// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Our hooks in a JSON file of the shape `{"hooks": {"<Event>": [...]}}`, which nearly every harness has.

use jsonc_parser::ast::Object;

use super::{
    EditCheckError, Editor, Warning, file,
    installer::OR_REFUSE,
    jsonc::{
        self, Created, Edited, Entry, Flaw, Node, Signature, Source, status,
        switch::{self, Switch},
    },
};

/// What of ours belongs in one such file.
#[derive(Debug)]
pub struct Hooks {
    /// Our entries.
    pub entries: Vec<Entry>,
    /// How ours are told from everybody else's.
    pub signature: Signature,
    /// Our status line, where the harness has one.
    pub status: Option<StatusLine>,
    /// Single settings our hooks need.
    pub switches: Vec<Switch>,
    /// What in the text keeps our hooks from working.
    pub look: fn(&str) -> Result<Vec<Warning>, Flaw>,
    /// What is known without looking at the text.
    pub known: Vec<Warning>,
}

/// Our status line.
#[derive(Debug)]
pub struct StatusLine {
    /// The command.
    pub command: String,
    /// Whether a command is one we wrote, in whatever version.
    pub is_ours: fn(&str) -> bool,
}

impl StatusLine {
    /// What there is to say about the one that is there.
    pub fn warning(&self, text: &str) -> Result<Option<Warning>, Flaw> {
        let says = "the settings have a status line of an unknown kind, which is left as it is";
        Ok(status::is_foreign(text, self.is_ours)?.then(|| Warning::note(says)))
    }
}

/// Whether the text is JSON without comments and trailing commas.
pub fn plain_json(text: &str) -> Result<serde::de::IgnoredAny, serde_json::Error> {
    serde_json::from_str(jsonc::split_mark(text).1)
}

/// Whether a program that reads plain JSON only, and could read the text before, can read it after.
pub(super) fn stays_plain_json(before: &str, after: &str) -> Result<(), EditCheckError> {
    match plain_json(after) {
        Err(error) if before.trim().is_empty() || plain_json(before).is_ok() => {
            Err(EditCheckError::new(error.to_string()))
        }
        _ => Ok(()),
    }
}

/// Whether a command is one we wrote for a harness, from whatever home. Somebody may have made a longer command
/// of it; that one is theirs.
pub fn is_our_command(harness: &tenterhook_harness::Harness, command: &str) -> bool {
    let command = command.strip_suffix(OR_REFUSE).unwrap_or(command);
    let Some((program, rest)) = command.rsplit_once("/bin/tenterhook-hook' ") else { return false };
    let Some((id, event)) = rest.split_once(' ') else { return false };
    program.starts_with('\'')
        && id == harness.id
        && harness.events.iter().any(|row| tenterhook_harness::kebab(row.native) == event)
}

impl Editor for Hooks {
    fn put(&self, text: &str, created: &Created) -> Result<Edited, Flaw> {
        let mut edited = jsonc::insert(text, &self.entries, &self.signature, created)?;
        if let Some(line) = &self.status
            && let Some((text, status)) =
                status::put(&edited.text, &line.command, line.is_ours, &edited.created.status)?
        {
            (edited.text, edited.created.status) = (text, status);
        }
        for wanted in &self.switches {
            let (text, switched) = switch::put(&edited.text, wanted)?;
            edited.text = text;
            if let Some(switched) = switched {
                edited.created.switches.retain(|known| known.path != switched.path);
                edited.created.switches.push(switched);
            }
        }
        Ok(edited)
    }

    fn take(&self, text: &str, created: &Created) -> Result<String, Flaw> {
        let mut text = text.to_owned();
        for switched in created.switches.iter().rev() {
            let ours = self.switches.iter().find(|switch| switch.path == switched.path);
            if let Some(ours) = ours {
                text = switch::take(&text, ours, switched)?;
            }
        }
        if let Some(line) = &self.status {
            text = status::take(&text, line.is_ours, &created.status)?;
        }
        Ok(jsonc::remove(&text, &self.signature, created)?.text)
    }

    fn holds(&self, text: &str, _created: &Created) -> Result<bool, Flaw> {
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

    fn is_hollow(&self, text: &str) -> bool {
        let solid: String = jsonc::split_mark(text).1.split_whitespace().collect();
        solid == "{}" || solid == "{\"hooks\":{}}"
    }

    fn marks(&self) -> Vec<String> {
        self.entries.iter().filter_map(|entry| command_of(&entry.group)).collect()
    }

    fn warnings(&self, text: &str) -> Result<Vec<Warning>, Flaw> {
        let mut warnings = (self.look)(text)?;
        if let Some(line) = &self.status {
            warnings.extend(line.warning(text)?);
        }
        warnings.extend(self.known.iter().cloned());
        Ok(warnings)
    }
}

/// The command of an entry as it stands in a file.
fn command_of(node: &Node) -> Option<String> {
    match node {
        Node::Object(properties) => properties.iter().find_map(|(name, value)| match value {
            Node::Text(_) if matches!(name.as_str(), "command" | "bash" | "url") => Some(value.scalar()),
            value => command_of(value),
        }),
        Node::List(items) => items.iter().find_map(command_of),
        _ => None,
    }
}

/// One entry for each event of a harness that is wired.
pub fn entries(
    harness: &tenterhook_harness::Harness,
    entry: impl Fn(&'static tenterhook_harness::EventRow) -> Result<Node, super::InstallError>,
) -> Result<Vec<Entry>, super::InstallError> {
    let wired =
        harness.events.iter().filter(|row| !matches!(row.wiring, tenterhook_harness::Wiring::Left(_)));
    wired.map(|row| Ok(Entry { event: row.native.to_owned(), group: entry(row)? })).collect()
}

/// Warnings about a settings file that other programs write. A file that cannot be read may turn hooks off, so it gets a
/// note.
pub(super) fn look_into(
    path: &std::path::Path,
    look: impl FnOnce(&str) -> Result<Vec<Warning>, Flaw>,
) -> Vec<Warning> {
    let looked = || {
        let Some(bytes) = file::read(path)? else { return Ok(Vec::new()) };
        let text = file::text(path, &bytes)?;
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        look(text).map_err(|Flaw { line, column, what }| super::InstallError::Settings {
            path: path.to_owned(),
            line,
            column,
            what,
        })
    };
    looked().unwrap_or_else(|error| {
        vec![Warning::note(format!("{error}; so it is not known whether that file turns hooks off"))]
    })
}

/// What other settings that the harness reads say.
pub fn elsewhere(
    files: &[std::path::PathBuf],
    own: &std::path::Path,
    look: impl Fn(&Source<'_>, &Object<'_>) -> Vec<Warning>,
) -> Vec<Warning> {
    let look_at_file = |path: &std::path::PathBuf| {
        look_into(path, |text| {
            let told = look_at(text, &look)?.into_iter();
            let says = |says| format!("{says} (in `{}`)", path.display());
            Ok(told.map(|warning| Warning { says: says(warning.says), ..warning }).collect())
        })
    };
    files.iter().filter(|path| *path != own).flat_map(look_at_file).collect()
}

/// What is wrong in the text of the settings themselves.
pub fn look_at(
    text: &str,
    look: impl Fn(&Source<'_>, &Object<'_>) -> Vec<Warning>,
) -> Result<Vec<Warning>, Flaw> {
    let source = Source::parse(jsonc::split_mark(text).1)?;
    Ok(source.root()?.map(|root| look(&source, root)).unwrap_or_default())
}

/// A warning if a switch that turns hooks off is set so.
pub fn off_by(root: &Object<'_>, path: &[&str], off: bool) -> Option<Warning> {
    let (last, outer) = path.split_last()?;
    let object = outer.iter().try_fold(root, |object, key| object.get_object(key))?;
    let switch = object.get_boolean(last).filter(|switch| switch.value == off)?;
    let name = path.join(".");
    Some(Warning::blocks(format!("`{name}` is {}, so no hook will run", switch.value)))
}
