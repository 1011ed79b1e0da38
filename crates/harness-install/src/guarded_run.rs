// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hooks for one run of a client. Some clients take settings as options or variables, in addition to the user's
//! settings. For such a client, the folder of its harness defines its [`RunSettings`] (for example
//! `claude_code/guarded_run.rs`): the options and variables to add, and the files that they name. This module reads
//! settings but writes nothing.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::jsonc::CreatedContainers;
use crate::{FileContent, InstallError, InstallRequest, InstallWarning, ManagedFile, SettingsEditor, file};

/// How a client takes Tenterhook's hooks for one run.
#[derive(Debug)]
pub struct RunSettings {
    /// Options with which the client would not run the hooks.
    pub refused_options: &'static [RefusedOption],
    /// Variables with which the client would not run the hooks, if they are set to anything but `0` or `false`.
    pub refused_variables: &'static [&'static str],
    /// Builds the options, variables and files of a run.
    pub additions: fn(&RunRequest<'_>) -> Result<RunAdditions, InstallError>,
}

/// An option of a client with which it would not run the hooks of a guarded run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusedOption {
    /// The option, with its dashes.
    pub name: &'static str,
    /// Beginnings of refused values. If empty, the option is refused with any value and without one.
    pub values: &'static [&'static str],
    /// Reason for users.
    pub reason: &'static str,
}

/// One run of a client.
#[derive(Debug, Clone, Copy)]
pub struct RunRequest<'a> {
    /// Directory of the run's own files.
    pub directory: &'a Path,
    /// Request for the user's settings. It names the hook programs, and the files that the client reads as well.
    pub user: &'a InstallRequest,
    /// Environment of the client.
    pub variables: &'a BTreeMap<String, String>,
}

/// What is added to one run of a client.
#[derive(Debug, Default)]
pub struct RunAdditions {
    /// Arguments, to be inserted before the user's own.
    pub args: Vec<OsString>,
    /// Variables to set.
    pub variables: Vec<(&'static str, OsString)>,
    /// Files to write, all of them in the run's directory.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Warnings about settings that keep the hooks from running.
    pub warnings: Vec<InstallWarning>,
}

impl RunSettings {
    /// The first of these arguments with which the client would not run the hooks.
    pub fn refused_argument(&self, args: &[OsString]) -> Option<&'static RefusedOption> {
        let options = args.iter().take_while(|arg| *arg != "--");
        options.enumerate().find_map(|(at, arg)| {
            let next = args.get(at + 1).and_then(|next| next.to_str());
            self.refused_options.iter().find(|option| option.is_in(arg, next))
        })
    }

    /// The first of these variables with which the client would not run the hooks.
    pub fn refused_variable(&self, variables: &BTreeMap<String, String>) -> Option<&'static str> {
        let is_on = |name: &&str| {
            variables.get(*name).is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
        };
        self.refused_variables.iter().copied().find(|name| is_on(name))
    }
}

impl RefusedOption {
    /// An option that is refused with any value and without one.
    pub(crate) const fn new(name: &'static str, reason: &'static str) -> Self {
        Self { name, values: &[], reason }
    }

    /// Whether an argument is this option with a refused value. `next` is the argument that follows.
    fn is_in(&self, arg: &OsStr, next: Option<&str>) -> bool {
        let Some(rest) = arg.to_str().and_then(|arg| arg.strip_prefix(self.name)) else { return false };
        let is_short = !self.name.starts_with("--") && self.name.len() == 2;
        let attached = match rest.strip_prefix('=') {
            Some(value) => Some(value),
            None if rest.is_empty() => None,
            None if is_short && !self.values.is_empty() => Some(rest),
            None => return false,
        };
        let value = attached.or(next).unwrap_or_default().trim_start();
        self.values.is_empty() || self.values.iter().any(|refused| value.starts_with(refused))
    }
}

impl RunRequest<'_> {
    /// A request for settings in the run's directory. The client reads the user's settings as well.
    pub(crate) fn order(&self) -> InstallRequest {
        InstallRequest { directory: self.directory.to_owned(), ..self.user.clone() }
    }
}

impl RunAdditions {
    /// Adds a settings file. `before` is its content without Tenterhook's hooks.
    pub(crate) fn add_settings(
        &mut self,
        path: PathBuf,
        before: &str,
        editor: &dyn SettingsEditor,
    ) -> Result<(), InstallError> {
        let text = insert(&path, before, editor)?;
        self.warnings.extend(editor.warnings(&text).map_err(|error| error.at(&path))?);
        self.files.push((path, text.into_bytes()));
        Ok(())
    }
}

/// A settings text with Tenterhook's hooks. The text must have passed its check.
pub(crate) fn insert(path: &Path, before: &str, editor: &dyn SettingsEditor) -> Result<String, InstallError> {
    let edited = editor.insert(before, &CreatedContainers::default()).map_err(|error| error.at(path))?;
    let failed = |what| InstallError::SelfCheck { path: path.to_owned(), what };
    editor.check(before, &edited.text).map_err(|error| failed(error.what))?;
    Ok(edited.text)
}

/// The editor of the first of these files, with the file's path.
pub(crate) fn first_editor(pieces: Vec<ManagedFile>) -> Option<(PathBuf, Box<dyn SettingsEditor>)> {
    match pieces.into_iter().next()? {
        ManagedFile { path, content: FileContent::Edited(editor), .. } => Some((path, editor)),
        ManagedFile { content: FileContent::Owned(_), .. } => None,
    }
}

/// The text of a file, or an empty text if it does not exist.
pub(crate) fn read_text(path: &Path) -> Result<String, InstallError> {
    let bytes = file::read(path)?.unwrap_or_default();
    Ok(file::text(path, &bytes)?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HarnessClient as _;

    fn refused(harness: &str, args: &[&str]) -> Option<&'static str> {
        let harness = tenterhook_harness::find_harness(harness).unwrap();
        let args: Vec<OsString> = args.iter().map(Into::into).collect();
        harness.guarded_run().unwrap().refused_argument(&args).map(|option| option.name)
    }

    #[test]
    fn options_that_turn_hooks_off_are_found_in_each_spelling() {
        for (harness, args, name) in [
            ("claude-code", vec!["-p", "x", "--bare"], Some("--bare")),
            ("claude-code", vec!["--settings", "x.json"], Some("--settings")),
            ("claude-code", vec!["--settings={}"], Some("--settings")),
            ("claude-code", vec!["--setting-sources", "user"], None),
            ("claude-code", vec!["-p", "--", "--bare"], None),
            ("codex", vec!["exec", "-c", "features.hooks=false", "x"], Some("-c")),
            ("codex", vec!["exec", "-cfeatures.hooks=false", "x"], Some("-c")),
            ("codex", vec!["--config=hooks={}"], Some("--config")),
            ("codex", vec!["-c", "model=\"features.hooks\""], None),
            ("codex", vec!["--disable", "hooks"], Some("--disable")),
            ("codex", vec!["--disable", "web_search"], None),
            ("codex", vec!["-C", "features"], None),
            ("qwen", vec!["--safe-mode"], Some("--safe-mode")),
            ("opencode", vec!["run", "--pure", "x"], Some("--pure")),
            ("opencode", vec!["run", "--purely", "x"], None),
        ] {
            assert_eq!(refused(harness, &args), name, "{harness} {args:?}");
        }
    }
}
