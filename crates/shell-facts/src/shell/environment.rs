// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds variables that direct later commands to other files, such as `GIT_DIR` and `CDPATH`.

use tenterhook_programs::VariableUse;

use super::ShellReader;
use super::word::ShellWord;

/// Variables that change which files a later command affects.
const REDIRECTING_VARIABLES: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "CDPATH",
    "ENV",
    "GLOBIGNORE",
    "HOME",
    "IFS",
    "OLDPWD",
    "PWD",
    "SHELLOPTS",
    "TMPDIR",
    "cdpath",
];

/// Beginning of the names of git's variables.
pub(super) const GIT_PREFIX: &str = "GIT_";

/// Beginnings of the names of git's variables that direct git to no other repository.
const HARMLESS_GIT_VARIABLES: &[&str] = &[
    "GIT_ASKPASS",
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_EDITOR",
    "GIT_LFS_",
    "GIT_MERGE_AUTOEDIT",
    "GIT_OPTIONAL_LOCKS",
    "GIT_PAGER",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_TERMINAL_PROMPT",
    "GIT_TRACE",
];

impl ShellReader<'_> {
    /// Notes the assignment of a variable.
    pub(super) fn note_assigned(&mut self, name: &str) {
        self.redirects_later |= is_redirecting_variable(name);
    }

    /// Notes a word of `export` or `declare`. A name that is unknown may be any name.
    pub(super) fn note_declared(&mut self, word: &ShellWord) {
        self.redirects_later |= is_redirecting_word(word);
    }
}

/// Whether a variable changes which files a later command affects.
pub fn is_redirecting_variable(name: &str) -> bool {
    let is_git = name.starts_with(GIT_PREFIX)
        && !HARMLESS_GIT_VARIABLES.iter().any(|harmless| name.starts_with(harmless));
    is_git || REDIRECTING_VARIABLES.contains(&name)
}

/// Beginnings of the names of variables that contain commands: functions for shells that are started later, and the
/// programs of cargo for one platform.
const COMMAND_VARIABLE_PREFIXES: &[&str] = &["BASH_FUNC_", "CARGO_TARGET_"];

/// Whether a variable changes what later commands do although they do not name it: which files they affect, or what they
/// load and run.
pub fn is_ambient_variable(name: &str) -> bool {
    let is_used = match tenterhook_programs::find_variable_use(name) {
        Some((_, VariableUse::Prompt)) | None => false,
        Some(_) => true,
    };
    is_used
        || is_redirecting_variable(name)
        || COMMAND_VARIABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether `NAME`, `NAME=value` or an option of `declare` may set a redirecting variable.
pub fn is_redirecting_word(word: &ShellWord) -> bool {
    let name = word.text.split_once('=').map_or(word.text.as_str(), |(name, _)| name);
    let name = name.trim_end_matches('+');
    let is_option = name.starts_with('-') && name.chars().skip(1).all(|letter| letter.is_ascii_alphabetic());
    let is_name = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let is_known = !word.dynamic || word.text.contains('=');
    match (is_option, is_name && is_known) {
        // A name reference gives another name to a variable.
        (true, _) => name.contains('n'),
        (false, true) => is_redirecting_variable(name),
        (false, false) => true,
    }
}
