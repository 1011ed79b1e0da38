// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds files that a call writes, copies or creates and that matter for later calls of the session.
//!
//! - Scripts that the call writes or downloads: a later call may run them.
//! - Copies of sensitive files: `cp .env notes.txt` makes `notes.txt` as sensitive as `.env`.
//! - Files and directories that the call creates outside the project: the session may delete them again.

use tenterhook_facts::{ExecLocation, Facts, FileEffect, FileOp, PathFact, PathLocation, ShellCommand};
use tenterhook_policy::{FileOrigin, SessionState};

use crate::symlinks::SymlinkProbe;

/// Returns the files that a call writes and that may be run later, with their origin.
pub(crate) fn find_written_scripts(facts: &Facts, state: &SessionState) -> Vec<(String, FileOrigin)> {
    let mut files: Vec<(String, FileOrigin)> = Vec::new();
    for effect in facts.effects.iter().filter(|effect| is_write(effect) && effect.on == ExecLocation::Here) {
        let Some(path) = known_path(&effect.path) else { continue };
        let origin = match find_command(facts, effect) {
            Some(command) if is_from_outside(facts, command, state, &files) => FileOrigin::Downloaded,
            _ if may_be_run(path) => FileOrigin::Written,
            _ => continue,
        };
        let is_known = state.files.get(path).is_some_and(|known| *known >= origin);
        if !is_known && !files.iter().any(|(other, _)| other == path) {
            files.push((path.to_owned(), origin));
        }
    }
    files
}

/// Returns the command that causes an effect.
fn find_command<'f>(facts: &'f Facts, effect: &FileEffect) -> Option<&'f ShellCommand> {
    let mut commands = facts.commands.iter();
    commands
        .find(|command| command.span.is_some() && command.span == effect.span && command.program == effect.by)
}

/// Whether the output of a command comes from the network, from a downloaded file, or from decoded data.
fn is_from_outside(
    facts: &Facts,
    command: &ShellCommand,
    state: &SessionState,
    written: &[(String, FileOrigin)],
) -> bool {
    let is_downloaded = |path: &str| {
        let earlier = written.iter().find(|(other, _)| other == path).map(|(_, origin)| origin);
        earlier.or_else(|| state.files.get(path)) == Some(&FileOrigin::Downloaded)
    };
    let has_option =
        |names: &[&str]| command.options.iter().any(|option| names.iter().any(|name| option.is(name)));
    let decodes =
        DECODERS.iter().any(|(program, options)| command.program == *program && has_option(options));
    let mut read =
        effects_of(facts, command).filter(|effect| matches!(effect.does, FileOp::Read | FileOp::Move));
    DOWNLOADERS.contains(&command.program.as_str())
        || decodes
        || read.any(|effect| known_path(&effect.path).is_some_and(is_downloaded))
}

/// Programs whose output files come from the network.
const DOWNLOADERS: &[&str] = &["curl", "wget", "aria2c", "http", "https", "xh", "fetch"];

/// Programs that decode data, with the options that make them decode.
const DECODERS: &[(&str, &[&str])] = &[
    ("base64", &["d", "D", "decode"]),
    ("base32", &["d", "decode"]),
    ("xxd", &["r"]),
    ("openssl", &["d"]),
    ("gpg", &["d", "decrypt"]),
    ("uudecode", &["o"]),
];

/// File name extensions of scripts.
const SCRIPT_EXTENSIONS: &[&str] = &[
    "sh", "bash", "zsh", "ksh", "fish", "py", "pyw", "js", "mjs", "cjs", "ts", "mts", "rb", "pl", "php",
    "lua", "mk", "just", "ipynb", "ps1",
];

/// Whether a file with this name is likely to be run.
fn may_be_run(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => {
            SCRIPT_EXTENSIONS.contains(&extension) || name == "package.json"
        }
        _ => true,
    }
}

/// Programs whose output contains the whole content of the files that they read.
const COPYING_PROGRAMS: &[&str] = &[
    "7z", "age", "base64", "bsdtar", "bzip2", "cp", "dd", "gpg", "gzip", "install", "ln", "mv", "openssl",
    "rsync", "split", "tar", "xxd", "xz", "zip", "zstd",
];

/// Returns the copies that a call makes of sensitive files, each with its original. `is_sensitive` returns whether
/// rules deny reading a file or ask about it. `is_asked` is true if rules ask about this call.
pub(crate) fn find_copies(
    facts: &Facts,
    is_asked: bool,
    is_sensitive: impl Fn(&str) -> bool,
) -> Vec<(String, String)> {
    let mut copies: Vec<(String, String)> = Vec::new();
    for (at, command) in facts.commands.iter().enumerate() {
        let copies_whole_files = COPYING_PROGRAMS.contains(&command.program.as_str());
        // Other programs may write only parts of a file. Those parts are sensitive if rules ask about the call.
        if command.on != ExecLocation::Here || !(copies_whole_files || is_asked) {
            continue;
        }
        let later = facts.commands.get(at + 1..).unwrap_or_default();
        let targets = written_paths(facts, command, later, copies_whole_files);
        if targets.is_empty() {
            continue;
        }
        let read = effects_of(facts, command)
            .filter(|effect| matches!(effect.does, FileOp::Read | FileOp::Move))
            .filter_map(|effect| known_path(&effect.path));
        let find_original = |path: &str| {
            let copied = copies.iter().find(|(copy, _)| copy == path).map(|(_, original)| original.clone());
            copied.or_else(|| is_sensitive(path).then(|| path.to_owned()))
        };
        let Some(original) = read.into_iter().find_map(find_original) else { continue };
        copies.extend(targets.into_iter().filter(|to| *to != original).map(|to| (to, original.clone())));
    }
    copies
}

/// Returns the files that the output of a command is written to, by the command or by a program that it feeds.
fn written_paths(
    facts: &Facts,
    command: &ShellCommand,
    later: &[ShellCommand],
    copies_whole_files: bool,
) -> Vec<String> {
    let written = effects_of(facts, command).filter(|effect| copies_whole_files && is_write(effect));
    let fed = later.iter().filter(|other| command.feeds.contains(&other.program));
    let outputs = command.outputs.iter().chain(fed.flat_map(|other| &other.outputs));
    let paths = written.map(|effect| &effect.path).chain(outputs);
    let mut paths: Vec<String> = paths.filter_map(known_path).map(str::to_owned).collect();
    // The target of a copy may be a directory.
    let name = |effect: &FileEffect| Some(known_path(&effect.path)?.rsplit_once('/')?.1.to_owned());
    let sources = effects_of(facts, command).filter(|effect| copies_whole_files && !is_write(effect));
    let names: Vec<String> = sources.filter_map(name).collect();
    let inside: Vec<_> =
        paths.iter().flat_map(|to| names.iter().map(move |name| format!("{to}/{name}"))).collect();
    paths.extend(inside);
    paths.retain(|path| !path.starts_with("/dev/"));
    paths
}

fn effects_of<'f>(facts: &'f Facts, command: &'f ShellCommand) -> impl Iterator<Item = &'f FileEffect> {
    let same = |effect: &&FileEffect| effect.span.is_some() && effect.span == command.span;
    facts.effects.iter().filter(|effect| effect.on == ExecLocation::Here).filter(same)
}

fn is_write(effect: &FileEffect) -> bool {
    matches!(effect.does, FileOp::Write | FileOp::Append)
}

/// Returns the absolute path, if every character of it is known.
fn known_path(path: &PathFact) -> Option<&str> {
    path.resolved.as_deref().filter(|_| !path.is_open())
}

/// Returns the paths outside the project that a call writes and that do not exist yet.
pub(crate) fn find_created(facts: &Facts, state: &SessionState) -> Vec<String> {
    let (mut created, mut probe) = (Vec::<String>::new(), SymlinkProbe::default());
    for effect in &facts.effects {
        let is_outside = effect.path.places.contains(&PathLocation::OutsideProject);
        if !is_write(effect) || effect.on != ExecLocation::Here || !is_outside {
            continue;
        }
        let Some(path) = known_path(&effect.path) else { continue };
        let is_known = state.created.contains(path) || created.iter().any(|other| other == path);
        if !is_known && probe.is_absent(path) {
            created.push(path.to_owned());
        }
    }
    created
}
