// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the directories that a session clones or unpacks, so that code in them counts as downloaded.
//!
//! Building and testing a cloned repository is ordinary work. Its code counts as downloaded only if the call runs with
//! the rights of another user. An archive from a host that is not well known counts in every call.

use std::collections::BTreeMap;
use std::path::Path;

use tenterhook_facts::{ExecLocation, Facts, FileOp, ShellCommand, ShellWord};
use tenterhook_policy::{FileOrigin, SessionState, TreeOrigin};

use crate::known_hosts::{is_known_code_host, remote_host};
use crate::run_files::join_paths as join;
use crate::session_files::DOWNLOADERS;
use crate::shell_definitions::git_words;

/// Programs that run a command with the rights of another user.
const ELEVATING_PROGRAMS: &[&str] = &["sudo", "doas", "pkexec", "run0", "su"];
/// Programs that unpack archives, with the options that name the directory.
const UNPACKERS: &[(&str, &[&str])] = &[
    ("tar", &["-C", "--directory"]),
    ("bsdtar", &["-C", "--directory"]),
    ("gtar", &["-C", "--directory"]),
    ("unzip", &["-d"]),
    ("7z", &["-o"]),
    ("7za", &["-o"]),
];
/// Ends of the names of archives.
const ARCHIVE_ENDS: &[&str] =
    &[".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tgz", ".txz", ".tbz2", ".tar", ".zip", ".7z"];
/// Directories that contain more than one archive.
const SHARED_DIRECTORIES: &[&str] = &["/", "/opt", "/tmp", "/usr", "/usr/local", "/usr/src", "/var/tmp"];

/// Directories whose code a call must not run without a question.
#[derive(Debug, Default)]
pub(crate) struct FetchedTrees {
    trees: BTreeMap<String, TreeOrigin>,
    is_elevated: bool,
}

impl FetchedTrees {
    /// Returns the directories of the session and of this call.
    pub(crate) fn collect(facts: &Facts, state: &SessionState, cwd: Option<&str>) -> Self {
        let is_elevating = |program: &String| ELEVATING_PROGRAMS.contains(&program.as_str());
        let is_elevated = facts.commands.iter().any(|command| command.via.iter().any(is_elevating));
        let mut trees = state.trees.clone();
        trees.extend(find_trees(facts, state, cwd));
        Self { trees, is_elevated }
    }

    /// Whether code at this path counts as downloaded.
    pub(crate) fn contains(&self, path: &str) -> bool {
        if self.trees.is_empty() {
            return false;
        }
        let mut parents = Path::new(path).ancestors().filter_map(Path::to_str);
        parents.any(|parent| match self.trees.get(parent) {
            Some(TreeOrigin::Unpacked) => true,
            Some(TreeOrigin::Cloned) => self.is_elevated,
            None => false,
        })
    }
}

/// Returns the directories that a call clones or unpacks, and the archives that it downloads.
pub(crate) fn find_trees(
    facts: &Facts,
    state: &SessionState,
    cwd: Option<&str>,
) -> Vec<(String, TreeOrigin)> {
    let mut found: Vec<(String, TreeOrigin)> = Vec::new();
    for command in facts.commands.iter().filter(|command| command.on == ExecLocation::Here) {
        let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
        let Some(directory) = command.directory.as_deref().or(cwd) else { continue };
        let program = command.program.as_str();
        let unpacker = UNPACKERS.iter().find(|(name, _)| *name == program);
        if let Some(path) = cloned_directory(command) {
            found.push((join(directory, &path), TreeOrigin::Cloned));
        } else if DOWNLOADERS.contains(&program) {
            let is_known = is_from_known_host(facts, command);
            let archives = written_paths(facts, command).filter(|path| archive_stem(path).is_some());
            found.extend(archives.filter(|_| !is_known).map(|path| (path.to_owned(), TreeOrigin::Unpacked)));
        } else if let Some((_, options)) = unpacker {
            let archives = words.iter().filter_map(|word| Some((*word, archive_stem(word)?)));
            let archives: Vec<_> = archives.map(|(word, stem)| (join(directory, word), stem)).collect();
            for (archive, stem) in archives {
                let known = found.iter().find(|(path, _)| *path == archive).map(|(_, origin)| *origin);
                let downloaded = state.files.get(&archive) == Some(&FileOrigin::Downloaded);
                let origin = known.or_else(|| state.trees.get(&archive).copied());
                let Some(origin) = origin.or(downloaded.then_some(TreeOrigin::Cloned)) else { continue };
                let target = option_value(&words, options);
                let base = target.map_or_else(|| directory.to_owned(), |target| join(directory, target));
                let is_own = target.is_some() && !SHARED_DIRECTORIES.contains(&base.as_str());
                found.push((join(&base, stem), origin));
                found.extend(is_own.then_some((base, origin)));
            }
        }
    }
    found
}

/// Whether a download certainly comes from a well-known host.
fn is_from_known_host(facts: &Facts, command: &ShellCommand) -> bool {
    let reads_list = match command.program.as_str() {
        "wget" | "aria2c" => command.options.iter().any(|option| option.is("i") || option.is("input-file")),
        "curl" => command.options.iter().any(|option| option.is("K") || option.is("config")),
        _ => false,
    };
    let may_be_address = |word: &ShellWord| word.dynamic && remote_host(&word.text).is_none();
    !reads_list
        && !command.words.iter().any(may_be_address)
        && !facts.urls.is_empty()
        && facts.urls.iter().all(|url| is_known_code_host(&url.host))
}

/// Returns the directory that a command clones a repository into.
fn cloned_directory(command: &ShellCommand) -> Option<String> {
    let program = command.program.as_str();
    let words = match program {
        "git" => git_words(command)?,
        _ => command.words.iter().map(|word| word.text.as_str()).collect(),
    };
    let (("git", ["clone", rest @ ..]) | ("gh" | "glab", ["repo", "clone", rest @ ..])) =
        (program, words.as_slice())
    else {
        return None;
    };
    let is_address = |word: &str| remote_host(word).is_some() || program != "git" && word.contains('/');
    let at = rest.iter().position(|word| !word.starts_with('-') && is_address(word))?;
    let own = rest.get(at)?.trim_end_matches('/').rsplit(['/', ':']).next()?;
    let named = rest.get(at + 1).filter(|word| !word.starts_with('-'));
    Some(named.map_or_else(|| own.trim_end_matches(".git").to_owned(), |word| (*word).to_owned()))
}

fn written_paths<'f>(facts: &'f Facts, command: &'f ShellCommand) -> impl Iterator<Item = &'f str> {
    let own =
        facts.effects.iter().filter(|effect| effect.does == FileOp::Write && effect.by == command.program);
    own.filter_map(|effect| effect.path.resolved.as_deref())
}

/// Returns the name of an archive without its ending.
fn archive_stem(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    ARCHIVE_ENDS.iter().find_map(|end| name.strip_suffix(end)).filter(|stem| !stem.is_empty())
}

/// Returns the value of one of these options: `-C dir`, `--directory=dir`, `-odir`.
fn option_value<'w>(words: &[&'w str], options: &[&str]) -> Option<&'w str> {
    words.iter().enumerate().find_map(|(at, word)| {
        let rest = options.iter().find_map(|option| word.strip_prefix(option))?;
        if rest.is_empty() { words.get(at + 1).copied() } else { Some(rest.trim_start_matches('=')) }
    })
}
