// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds files that a call writes, copies or creates and that matter for later calls of the session.
//!
//! - Scripts that the call writes or downloads: a later call may run them.
//! - Copies of sensitive files: `cp .env notes.txt` makes `notes.txt` as sensitive as `.env`.
//! - Files and directories that the call creates outside the project: the session may delete them again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use tenterhook_facts::{
    ExecLocation, Facts, FileEffect, FileOp, PathFact, PathLocation, ShellCommand, TextSpan,
    interpreter_of_file,
};
use tenterhook_policy::{FileOrigin, SessionFileChange, SessionState};

use crate::session_worktrees;
use crate::symlinks::{SymlinkProbe, may_see};

/// Maximum number of files of one kind that one call adds to the state of its session.
const MAX_CALL_FILES: usize = 64;
/// Maximum number of files that a command reads for which it is checked whether they are sensitive.
const MAX_CHECKED_SOURCES: usize = 16;

/// A command of a call, with its effects on files.
struct CommandEffects<'f> {
    command: &'f ShellCommand,
    effects: Vec<&'f FileEffect>,
}

/// Returns the commands of a call that run on this machine, each with its effects.
fn commands_with_effects(facts: &Facts) -> Vec<CommandEffects<'_>> {
    let mut by_span: HashMap<TextSpan, Vec<&FileEffect>> = HashMap::new();
    for effect in facts.effects.iter().filter(|effect| effect.on == ExecLocation::Here) {
        if let Some(span) = effect.span {
            by_span.entry(span).or_default().push(effect);
        }
    }
    let here = facts.commands.iter().filter(|command| command.on == ExecLocation::Here);
    let effects_of = |command: &ShellCommand| {
        let effects = command.span.and_then(|span| by_span.get(&span)).into_iter().flatten();
        effects.filter(|effect| effect.by == command.program).copied().collect()
    };
    here.map(|command| CommandEffects { command, effects: effects_of(command) }).collect()
}

/// Returns the files that a call writes and that may be run later, with their origin.
pub(crate) fn find_written_scripts(facts: &Facts, state: &SessionState) -> Vec<(String, FileOrigin)> {
    let mut files: BTreeMap<&str, FileOrigin> = BTreeMap::new();
    for CommandEffects { command, effects } in &commands_with_effects(facts) {
        let is_outside = is_from_outside(command, effects, state, &files);
        for path in written_by(effects) {
            if is_outside {
                files.insert(path, FileOrigin::Downloaded);
            }
        }
    }
    let here = facts.effects.iter().filter(|effect| effect.on == ExecLocation::Here && is_write(effect));
    for path in here.filter_map(|effect| known_path(&effect.path)).filter(|path| may_be_run(path)) {
        files.entry(path).or_insert(FileOrigin::Written);
    }
    let is_new =
        |(path, origin): &(&str, FileOrigin)| state.files.get(*path).is_none_or(|known| known < origin);
    let new = files.into_iter().filter(is_new);
    new.take(MAX_CALL_FILES).map(|(path, origin)| (path.to_owned(), origin)).collect()
}

fn written_by<'f>(effects: &[&'f FileEffect]) -> impl Iterator<Item = &'f str> {
    let written = effects.iter().copied().filter(|effect| is_write(effect));
    written.filter_map(|effect| known_path(&effect.path))
}

fn read_by<'f>(effects: &[&'f FileEffect]) -> impl Iterator<Item = &'f str> {
    let read = effects.iter().copied().filter(|effect| matches!(effect.does, FileOp::Read | FileOp::Move));
    read.filter_map(|effect| known_path(&effect.path))
}

/// Whether the output of a command comes from the network, from a downloaded file, or from decoded data.
fn is_from_outside(
    command: &ShellCommand,
    effects: &[&FileEffect],
    state: &SessionState,
    written: &BTreeMap<&str, FileOrigin>,
) -> bool {
    let is_downloaded = |path: &str| {
        let earlier = written.get(path).or_else(|| state.files.get(path));
        earlier == Some(&FileOrigin::Downloaded)
    };
    let has_option =
        |names: &[&str]| command.options.iter().any(|option| names.iter().any(|name| option.is(name)));
    let decodes =
        DECODERS.iter().any(|(program, options)| command.program == *program && has_option(options));
    DOWNLOADERS.contains(&command.program.as_str())
        || decodes
        || is_interpreter(&command.program) && code_of(command).any(code_decodes)
        || read_by(effects).any(is_downloaded)
}

/// Names of interpreters, without a version.
const INTERPRETERS: &[&str] =
    &["bun", "deno", "lua", "node", "nodejs", "perl", "php", "pypy", "python", "ruby"];

fn is_interpreter(program: &str) -> bool {
    INTERPRETERS.contains(&program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.'))
}

/// Returns the code that the words and the input of an interpreter contain.
fn code_of(command: &ShellCommand) -> impl Iterator<Item = &str> {
    let words = command.words.iter().map(|word| word.text.as_str());
    words.chain(command.stdin_texts.iter().map(AsRef::as_ref))
}

/// Calls in code that decode or download what they return.
const DECODING_CALLS: &[&str] = &[
    "b64decode",
    "b32decode",
    "a85decode",
    "b85decode",
    "fromhex",
    "unhexlify",
    "decompress(",
    "codecs.decode",
    "'base64')",
    "\"base64\")",
    "'hex')",
    "\"hex\")",
    "atob(",
    "decode_base64",
    "Base64.decode",
    "decode64",
    "base64_decode",
    "hex2bin",
    "gzinflate",
    "gunzipSync",
    "inflateSync",
    "unpack(",
    "Fernet(",
    "urlopen(",
    "urlretrieve(",
    "requests.get",
    "httpx.get",
    "file_get_contents('http",
    "file_get_contents(\"http",
    "Net::HTTP",
    "URI.open",
    "LWP::Simple",
    "fetch(",
];

fn code_decodes(code: &str) -> bool {
    DECODING_CALLS.iter().any(|call| code.contains(call))
}

/// Programs whose output files come from the network.
pub(crate) const DOWNLOADERS: &[&str] = &["curl", "wget", "aria2c", "http", "https", "xh", "fetch"];

/// Programs that decode data, with the options that make them decode.
const DECODERS: &[(&str, &[&str])] = &[
    ("base64", &["d", "D", "decode"]),
    ("base32", &["d", "decode"]),
    ("xxd", &["r"]),
    ("openssl", &["d"]),
    ("gpg", &["d", "decrypt"]),
    ("uudecode", &["o"]),
];

/// File name extensions of files that programs other than the interpreters of scripts run.
const TASK_EXTENSIONS: &[&str] = &["fish", "mk", "just", "ipynb"];

/// Whether a file with this name is likely to be run.
fn may_be_run(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => {
            let is_task = TASK_EXTENSIONS.contains(&extension) || name == "package.json";
            is_task || interpreter_of_file(name).is_some()
        }
        _ => true,
    }
}

/// Programs whose output contains the whole content of the files that they read.
const COPYING_PROGRAMS: &[&str] = &[
    "7z", "age", "base64", "bsdtar", "bzip2", "cp", "dd", "gpg", "gzip", "install", "ln", "mv", "openssl",
    "rsync", "split", "tar", "xxd", "xz", "zip", "zstd",
];

/// Returns the copies that a call makes of sensitive files, each with its original. `is_sensitive` says whether rules
/// ask about reading a file or deny it; `is_asked` says whether they ask about this call.
pub(crate) fn find_copies(
    facts: &Facts,
    is_asked: bool,
    is_sensitive: impl Fn(&str) -> bool,
) -> Vec<(String, String)> {
    let mut copies: Vec<(String, String)> = Vec::new();
    let commands = commands_with_effects(facts);
    for (at, CommandEffects { command, effects }) in commands.iter().enumerate() {
        let copies_whole_files =
            COPYING_PROGRAMS.contains(&command.program.as_str()) || is_interpreter(&command.program);
        // Other programs print parts of a file. Rules ask if these parts are sensitive.
        if !(copies_whole_files || is_asked) || copies.len() >= MAX_CALL_FILES {
            continue;
        }
        let find_original = |path: &str| {
            let copied = copies.iter().find(|(copy, _)| copy == path).map(|(_, original)| original.clone());
            let original = copied.or_else(|| is_sensitive(path).then(|| path.to_owned()))?;
            Some((path.rsplit('/').next().unwrap_or_default().to_owned(), original))
        };
        let Some((name, original)) = read_by(effects).take(MAX_CHECKED_SOURCES).find_map(find_original)
        else {
            continue;
        };
        let written = written_by(effects).filter(|_| copies_whole_files).map(str::to_owned);
        let outputs = outputs_of(&commands, at);
        let targets: BTreeSet<String> =
            written.chain(outputs.filter_map(known_path).map(str::to_owned)).take(MAX_CALL_FILES).collect();
        // The target of a copy may be a directory.
        let paths = targets.iter().flat_map(|to| [to.clone(), format!("{to}/{name}")]);
        let paths = paths.filter(|to| *to != original && !to.starts_with("/dev/"));
        copies.extend(paths.map(|to| (to, original.clone())).collect::<Vec<_>>());
    }
    copies
}

/// Returns the files that a command's output is redirected to, directly or by the programs that receive it.
fn outputs_of<'f>(commands: &[CommandEffects<'f>], at: usize) -> impl Iterator<Item = &'f PathFact> {
    let command = commands.get(at).map(|command| command.command);
    let later: Vec<_> =
        commands.get(at + 1..).unwrap_or_default().iter().map(|later| later.command).collect();
    let is_fed = move |other: &&ShellCommand| command.is_some_and(|own| own.feeds.contains(&other.program));
    let fed = later.into_iter().filter(is_fed).flat_map(|other| &other.outputs);
    command.into_iter().flat_map(|command| &command.outputs).chain(fed)
}

/// File that contains the variables of the environment, like the output of `env`.
const ENVIRONMENT_FILE: &str = "/proc/self/environ";

/// Programs that send files to other machines.
const SENDING_PROGRAMS: &[&str] = &[
    "aws", "az", "curl", "ftp", "gcloud", "gh", "glab", "gsutil", "http", "https", "lftp", "mail", "mailx",
    "mutt", "nc", "ncat", "netcat", "rclone", "rsync", "s3cmd", "scp", "sendmail", "sftp", "socat", "ssh",
    "swaks", "wget", "xh",
];

/// Whether a command prints all variables of the environment.
fn prints_environment(command: &ShellCommand) -> bool {
    let mut words = command.words.iter().map(|word| word.text.as_str());
    match command.program.as_str() {
        "env" | "printenv" => words.all(|word| word.starts_with('-') && word != "-i"),
        "set" => command.words.is_empty(),
        "export" | "declare" | "typeset" => words.all(|word| matches!(word, "-p" | "-x" | "-px" | "-xp")),
        _ => false,
    }
}

/// Returns the files into which a call writes the variables of the environment, as copies of [`ENVIRONMENT_FILE`].
pub(crate) fn find_environment_copies(facts: &Facts) -> Vec<(String, String)> {
    if !facts.commands.iter().any(prints_environment) {
        return Vec::new();
    }
    let commands = commands_with_effects(facts);
    let dumps = commands.iter().enumerate().filter(|(_, command)| prints_environment(command.command));
    let paths = dumps.flat_map(|(at, _)| outputs_of(&commands, at)).filter_map(known_path);
    let paths = paths.filter(|path| !path.starts_with("/dev/")).take(MAX_CALL_FILES);
    paths.map(|path| (path.to_owned(), ENVIRONMENT_FILE.to_owned())).collect()
}

/// Returns the copies that matter for a call. Copies of the environment matter only if the call sends something: other
/// programs may read them.
pub(crate) fn relevant_copies(
    facts: &Facts,
    copies: &BTreeMap<String, String>,
    own: Vec<(String, String)>,
) -> BTreeMap<String, String> {
    let sends = || {
        let is_sender = |command: &ShellCommand| {
            SENDING_PROGRAMS.contains(&command.program.as_str()) || is_interpreter(&command.program)
        };
        facts.commands.iter().any(is_sender)
    };
    let mut relevant: BTreeMap<String, String> = copies.clone();
    relevant.extend(own);
    if relevant.values().any(|original| original == ENVIRONMENT_FILE) && !sends() {
        relevant.retain(|_, original| original != ENVIRONMENT_FILE);
    }
    relevant
}

/// Returns the copies that a call deletes or replaces, so that they are not tracked any longer.
pub(crate) fn find_replaced_copies(
    facts: &Facts,
    state: &SessionState,
    new: &[(String, String)],
) -> Vec<String> {
    let replaces = |effect: &&FileEffect| matches!(effect.does, FileOp::Delete | FileOp::Write);
    let here = facts.effects.iter().filter(|effect| effect.on == ExecLocation::Here).filter(replaces);
    let paths = here.filter_map(|effect| known_path(&effect.path));
    let is_replaced =
        |path: &&str| state.copies.contains_key(*path) && !new.iter().any(|(copy, _)| copy == path);
    paths.filter(is_replaced).take(MAX_CALL_FILES).map(str::to_owned).collect()
}

fn is_write(effect: &FileEffect) -> bool {
    matches!(effect.does, FileOp::Write | FileOp::Append)
}

/// Returns the absolute path, if every character of it is known.
fn known_path(path: &PathFact) -> Option<&str> {
    path.resolved.as_deref().filter(|_| !path.is_open())
}

/// Programs that make files of another place visible in a directory.
const MOUNTING_PROGRAMS: &[&str] = &[
    "bindfs",
    "curlftpfs",
    "encfs",
    "fusermount",
    "fusermount3",
    "gocryptfs",
    "hdiutil",
    "mount",
    "rclone",
    "sshfs",
    "unionfs",
    "unshare",
];

/// Returns the paths outside the project that a call creates: paths that it writes and that do not exist yet. If
/// directories on the way are missing as well, the topmost one is returned. A call that moves files from elsewhere
/// creates nothing: it may bring data of the user. `account` is the account that makes the call, if it is another one:
/// it does not learn whether a path exists that it cannot see.
pub(crate) fn find_created(
    facts: &Facts,
    state: &SessionState,
    home: Option<&str>,
    account: Option<u32>,
) -> Vec<String> {
    let (mut created, mut probe) = (BTreeSet::<String>::new(), SymlinkProbe::default());
    if facts.effects.iter().any(|effect| effect.does == FileOp::Move) {
        return Vec::new();
    }
    for effect in &facts.effects {
        let is_outside = effect.path.places.contains(&PathLocation::OutsideProject);
        if !is_write(effect) || effect.on != ExecLocation::Here || !is_outside {
            continue;
        }
        let Some(path) = known_path(&effect.path) else { continue };
        // Programs other than the session's keep their data in hidden directories.
        let in_home = home.and_then(|home| path.strip_prefix(home)?.strip_prefix('/'));
        let is_hidden = in_home.is_some_and(|rest| rest.starts_with('.'));
        if is_hidden || created.len() >= MAX_CALL_FILES || state.not_created.contains(path) {
            continue;
        }
        if account.is_none_or(|account| may_see(path, account)) {
            created.extend(probe.find_first_absent(path).map(str::to_owned));
        }
    }
    created.retain(|path| !state.created.contains(path) && !state.not_created.contains(path));
    created.into_iter().collect()
}

/// Returns the paths that the session created and that may contain other data after this call: files are moved there,
/// another directory is mounted there, or a link is created there.
pub(crate) fn find_filled(facts: &Facts, state: &SessionState) -> Vec<String> {
    if state.created.is_empty() && state.creating.is_empty() {
        return Vec::new();
    }
    let mut filled: Vec<&str> = facts.created_links.iter().map(|(link, _)| link.as_str()).collect();
    if facts.effects.iter().any(|effect| effect.does == FileOp::Move) {
        let here = facts.effects.iter().filter(|effect| effect.on == ExecLocation::Here && is_write(effect));
        filled.extend(here.filter_map(|effect| effect.path.resolved.as_deref()));
    }
    let is_mount = |command: &&ShellCommand| MOUNTING_PROGRAMS.contains(&command.program.as_str());
    for command in facts.commands.iter().filter(is_mount) {
        filled.extend(command.operands.iter().filter_map(|path| path.resolved.as_deref()));
    }
    let touches = |created: &&String| {
        let is_below = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        filled.iter().any(|path| is_below(path, created) || is_below(created, path))
    };
    state.created.iter().chain(state.creating.keys()).filter(touches).cloned().collect()
}

/// Paths that a session may delete again, because its calls created them.
#[derive(Debug, Default)]
pub(crate) struct OwnPaths {
    pub(crate) paths: BTreeSet<String>,
}

impl OwnPaths {
    /// Finds the paths of the session that a call could name. A path that no call has certainly created counts only
    /// while it does not exist. A path behind a link does not count.
    pub(crate) fn collect(facts: &Facts, state: &SessionState) -> Self {
        // A part that was lost could say that a path is not the session's own any more.
        if state.created.is_empty() && state.creating.is_empty() || state.is_incomplete {
            return Self::default();
        }
        let effects = facts.effects.iter().map(|effect| &effect.path);
        let operands =
            facts.commands.iter().flat_map(|command| command.operands.iter().chain(&command.named));
        let named = effects.chain(operands).chain(&facts.paths).filter_map(|path| path.resolved.as_deref());
        let named: Vec<&str> = named.collect();
        // The directories of worktrees are not operands.
        let names_worktrees = session_worktrees::uses_worktrees(facts);
        let is_named = |path: &&String| {
            let is_here = |named: &&str| {
                named.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            names_worktrees || named.iter().any(is_here)
        };
        let mut probe = SymlinkProbe::default();
        let created: Vec<_> = state.created.iter().filter(is_named).collect();
        let mut paths: BTreeSet<String> =
            created.into_iter().filter(|path| !probe.has_link(path)).cloned().collect();
        let planned: Vec<_> = state.creating.keys().filter(is_named).collect();
        paths.extend(planned.into_iter().filter(|path| probe.is_absent(path)).cloned());
        Self { paths }
    }

    pub(crate) fn contains(&self, path: &str) -> bool {
        self.paths.contains(path)
    }
}

fn planned_by<'s>(state: &'s SessionState, call: &str) -> impl Iterator<Item = &'s String> {
    state.creating.iter().filter(move |(_, key)| *key == call).map(|(path, _)| path)
}

/// Returns what a call that has ended did with the paths that did not exist before it: they exist, or the call has not
/// created them.
pub(crate) fn find_completed(state: &SessionState, call: &str, succeeded: bool) -> Vec<SessionFileChange> {
    let mut probe = SymlinkProbe::default();
    let complete = |path: &String| {
        let exists = !probe.has_link(path) && Path::new(path).symlink_metadata().is_ok();
        if succeeded && exists {
            SessionFileChange::Created(path.clone())
        } else {
            SessionFileChange::NotCreated(path.clone())
        }
    };
    planned_by(state, call).map(complete).collect()
}

/// Returns the paths that an earlier call with this key would have created and that exist by now. Because the end of that
/// call was not reported, it may not have created them.
pub(crate) fn find_unconfirmed(state: &SessionState, call: &str) -> Vec<SessionFileChange> {
    let mut probe = SymlinkProbe::default();
    let existing = planned_by(state, call).filter(|path| !probe.is_absent(path));
    existing.cloned().map(SessionFileChange::NotCreated).collect()
}
