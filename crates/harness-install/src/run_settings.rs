// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hooks for one run of a client. Some clients take settings as options or variables, in addition to the user's
//! settings. For such a client, the folder of its harness defines its [`RunSettings`] (for example
//! `claude_code/claude_code_run.rs`): the options and variables to add, and the files that they name. This module reads
//! settings but writes nothing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::env_files::is_on;
use crate::jsonc::CreatedContainers;
use crate::{FileContent, InstallError, InstallRequest, InstallWarning, ManagedFile, SettingsEditor, file};

/// How a client takes Tenterhook's hooks for one run.
#[derive(Debug)]
pub struct RunSettings {
    /// Options and commands with which the client would not run the hooks.
    pub refused_arguments: &'static [RefusedArgument],
    /// Variables with which the client would not run the hooks, if they are set to anything but `0` or `false`.
    pub refused_variables: &'static [&'static str],
    /// Options with which the client may not read the settings that guard it. A run with such an option gets hooks of
    /// its own.
    pub redirecting_options: &'static [&'static str],
    /// How the client's own sandbox is turned off. `None` if it has none, or none that is known.
    pub own_sandbox: Option<OwnSandbox>,
    /// Builds the options, variables and files of a run.
    pub build_additions: fn(&RunRequest<'_>) -> Result<RunAdditions, InstallError>,
}

/// A client's own sandbox. It cannot start inside Tenterhook's sandbox, so it is turned off there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnSandbox {
    /// Arguments that turn it off, to be inserted before the user's own.
    pub off_arguments: &'static [&'static str],
    /// Settings that turn it off, in the settings file of the run. They replace the arguments if there is such a file.
    pub off_settings: Option<&'static str>,
    /// Text in a settings file without which it is off anyway; `None` if it is on by default.
    pub on_marker: Option<&'static str>,
}

/// An argument of a client with which it would not run the hooks of a guarded run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusedArgument {
    /// The option with its dashes, or the command.
    pub name: &'static str,
    /// Which values are refused.
    pub values: RefusedValues,
    /// Whether the argument is accepted if the client's settings contain the hooks.
    pub works_with_settings: bool,
    /// Reason for users.
    pub reason: &'static str,
}

/// Values with which an option is refused.
#[derive(Debug, Clone, Copy)]
pub enum RefusedValues {
    /// The option is refused with any value and without one.
    Any,
    /// The option is refused if this function returns true for its value.
    If(fn(&str) -> bool),
}

impl PartialEq for RefusedValues {
    fn eq(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Any, Self::Any) | (Self::If(_), Self::If(_)))
    }
}

impl Eq for RefusedValues {}

/// Options with which a client without [`RunSettings`] may not read the settings that guard it.
pub const COMMON_REDIRECTING_OPTIONS: &[&str] =
    &["--config", "--config-dir", "--data-dir", "--hooks-dir", "--no-extensions", "-ne", "--profile"];

/// Options with which a client may start in another directory, where it reads the settings of another project.
pub const DIRECTORY_OPTIONS: &[&str] = &["-C", "--cd", "--cwd", "--dir", "-w", "--worktree"];

/// One run of a client.
#[derive(Debug, Clone, Copy)]
pub struct RunRequest<'a> {
    /// Directory of the run's own files.
    pub directory: &'a Path,
    /// Request for the user's settings. It names the hook programs, and the files that the client reads as well.
    pub user: &'a InstallRequest,
    /// Environment of the client.
    pub variables: &'a BTreeMap<String, String>,
    /// Whether the client runs in Tenterhook's sandbox.
    pub is_sandboxed: bool,
}

/// Additions to one run of a client.
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
    /// The first of these arguments with which the client would not run the hooks. `by_settings` is whether the client's
    /// settings contain the hooks. Arguments after `--` are checked too, because `--` may be the value of an option.
    pub fn refused_argument(&self, args: &[OsString], by_settings: bool) -> Option<&'static RefusedArgument> {
        let refused =
            || self.refused_arguments.iter().filter(|known| !(by_settings && known.works_with_settings));
        args.iter().enumerate().find_map(|(at, arg)| {
            let next = args.get(at + 1).and_then(|next| next.to_str()).unwrap_or_default();
            let arg = arg.to_str()?;
            refused().find(|known| known.is_in(arg, next))
        })
    }

    /// The first of these variables with which the client would not run the hooks.
    pub fn refused_variable(&self, variables: &BTreeMap<String, String>) -> Option<&'static str> {
        let is_on = |name: &&str| variables.get(*name).is_some_and(|value| is_on(value));
        self.refused_variables.iter().copied().find(|name| is_on(name))
    }
}

/// The first of these options among the arguments.
pub fn find_option(args: &[OsString], options: &[&'static str]) -> Option<&'static str> {
    let mut args = args.iter().filter_map(|arg| arg.to_str());
    args.find_map(|arg| options.iter().copied().find(|option| option_value(option, arg).is_some()))
}

/// Returns the text after the name of an option; `None` if the argument is not this option. Parsers such as yargs also
/// accept `--safeMode` and `--safe-mode.x` for `--safe-mode`, so long names are compared without case and dashes.
fn option_value<'a>(option: &str, arg: &'a str) -> Option<&'a str> {
    let Some(name) = option.strip_prefix("--") else {
        let rest = arg.strip_prefix(option)?;
        let is_letter = option.starts_with('-') && option.len() == 2;
        return (rest.is_empty() || is_letter).then_some(rest);
    };
    let arg = arg.strip_prefix("--")?;
    let end = arg.find(['=', '.']).unwrap_or(arg.len());
    let (written, rest) = arg.split_at(end);
    let plain = |name: &str| {
        name.chars().filter(|letter| !matches!(letter, '-' | '_')).collect::<String>().to_ascii_lowercase()
    };
    (plain(written) == plain(name)).then_some(rest)
}

impl RefusedArgument {
    /// An option or command that is refused with any value and without one.
    pub(crate) const fn new(name: &'static str, reason: &'static str) -> Self {
        Self { name, values: RefusedValues::Any, works_with_settings: false, reason }
    }

    /// An option or command that is refused unless the settings contain the hooks.
    pub(crate) const fn without_settings(name: &'static str, reason: &'static str) -> Self {
        Self { works_with_settings: true, ..Self::new(name, reason) }
    }

    /// Whether an argument is this one with a refused value. `next` is the argument that follows.
    fn is_in(&self, arg: &str, next: &str) -> bool {
        let Some(rest) = option_value(self.name, arg) else { return false };
        let is_refused = match self.values {
            RefusedValues::Any => return true,
            RefusedValues::If(is_refused) => is_refused,
        };
        if rest.is_empty() { is_refused(next) } else { is_refused(rest.strip_prefix('=').unwrap_or(rest)) }
    }
}

impl RunRequest<'_> {
    /// A request for settings in the run's directory. The client reads the user's settings as well.
    pub(crate) fn own_request(&self) -> InstallRequest {
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
        let text = insert_hooks(&path, before, editor)?;
        self.warnings.extend(editor.warnings(&text).map_err(|error| error.at(&path))?);
        self.files.push((path, text.into_bytes()));
        Ok(())
    }
}

/// Returns a settings text with Tenterhook's hooks. The text must have passed its check.
pub(crate) fn insert_hooks(
    path: &Path,
    before: &str,
    editor: &dyn SettingsEditor,
) -> Result<String, InstallError> {
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
        harness.guarded_run().unwrap().refused_argument(&args, false).map(|option| option.name)
    }

    #[test]
    fn options_that_turn_hooks_off_are_found_in_each_spelling() {
        for (harness, args, name) in [
            ("claude-code", vec!["-p", "x", "--bare"], Some("--bare")),
            ("claude-code", vec!["--settings", "x.json"], Some("--settings")),
            ("claude-code", vec!["--settings={}"], Some("--settings")),
            ("claude-code", vec!["--setting-sources", "user"], None),
            // Commander takes `--` as the value of an option.
            ("claude-code", vec!["--append-system-prompt", "--", "--bare"], Some("--bare")),
            ("claude-code", vec!["--bg", "x"], Some("--bg")),
            ("claude-code", vec!["-p", "fix the bare repository"], None),
            ("codex", vec!["exec", "-c", "features.hooks=false", "x"], Some("-c")),
            ("codex", vec!["exec", "-cfeatures.hooks=false", "x"], Some("-c")),
            ("codex", vec!["exec", "-c=features.hooks=false", "x"], Some("-c")),
            ("codex", vec!["-c", "features = {hooks=false}"], Some("-c")),
            ("codex", vec!["-c", "features\t={hooks=false}"], Some("-c")),
            ("codex", vec!["-c", " features.hooks =false"], Some("-c")),
            ("codex", vec!["-c", "features.codex_hooks=false"], Some("-c")),
            ("codex", vec!["-c", "features.web_search=true"], None),
            ("codex", vec!["--config=hooks={}"], Some("--config")),
            ("codex", vec!["--config", "hooks.PreToolUse=[]"], Some("--config")),
            ("codex", vec!["-c", "model=\"features.hooks\""], None),
            ("codex", vec!["--disable", "hooks"], Some("--disable")),
            ("codex", vec!["--disable=web_search,hooks"], Some("--disable")),
            ("codex", vec!["--disable", "web_search"], None),
            ("codex", vec!["-C", "features"], None),
            ("codex", vec!["--remote", "ws://127.0.0.1:1"], Some("--remote")),
            ("qwen", vec!["--safe-mode"], Some("--safe-mode")),
            ("qwen", vec!["--safeMode"], Some("--safe-mode")),
            ("qwen", vec!["--safeMode=true"], Some("--safe-mode")),
            ("qwen", vec!["--safe-mode.x=1"], Some("--safe-mode")),
            ("opencode", vec!["run", "--pure", "x"], Some("--pure")),
            ("opencode", vec!["run", "--purely", "x"], None),
            ("opencode", vec!["attach", "http://127.0.0.1:1"], Some("attach")),
            ("opencode", vec!["run", "--attach=http://127.0.0.1:1"], Some("--attach")),
        ] {
            assert_eq!(refused(harness, &args), name, "{harness} {args:?}");
        }
    }
}
