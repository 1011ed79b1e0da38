// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A command that would run.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use tenterhook_paths::{Certainty, PathFact, PathLocation, PathRoots, WrittenPath, expand_tilde, resolve};
use tenterhook_programs::{Programs, Role};
use tenterhook_sql::{SqlDialect, SqlStatement, committed_statements};

use super::super::described_command::DescribedCommand;
use super::super::description::DescriptionSource;
use super::super::effect::{ExecLocation, most_harmful_match};
use super::super::{LetterPairs, TextSpan};
use super::cwd::WorkingDirectory;
use super::options::{self, OptionValue, ShellOperand, ShellOption};
use super::scope::ShellScope;
use super::word::ShellWord;

/// A command that would run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ShellCommand {
    /// Name of the program without its directory; empty if it is only known at run time.
    pub program: String,
    /// The program as written.
    pub raw: String,
    /// The words after the program.
    pub words: Vec<ShellWord>,
    /// Options among the words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<ShellOption>,
    /// Operands, as paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<PathFact>,
    /// Other paths among the words: option values, `@file`, `key=file`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<PathFact>,
    /// Files redirected to standard input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<PathFact>,
    /// Files that output is redirected to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<PathFact>,
    /// Files that only other descriptors are redirected to, such as `2> errors.log`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub error_outputs: Vec<PathFact>,
    /// Programs that receive the output. An interpreter that reads it as data is not listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feeds: Vec<String>,
    /// Programs through which the command is started, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// Whether an unknown word may be an option.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open_options: bool,
    /// Where the command runs.
    pub on: ExecLocation,
    /// Name of the other machine on which the command runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Known behaviour that is not visible in the words: `reverse-shell`, `fork-bomb`, `interactive`, `runs-fetched`,
    /// `shell-runs-fetched`, `runs-downloaded`, `typed-program`, `scratch`, `keeps-runnable`, `literal-dollars`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<&'static str>,
    /// Environment variables set for the command, as `NAME=value`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Whether it is certain that the command runs with these words.
    #[serde(skip_serializing_if = "Certainty::is_certain")]
    pub certainty: Certainty,
    /// Position of the command in the text of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<TextSpan>,
    /// Directory in which the command runs, if only one is possible.
    #[serde(skip)]
    pub directory: Option<String>,
    /// The last program that receives the output; empty if that program does not print any of it.
    #[serde(skip)]
    pub ends_in: Option<String>,
    /// Texts that the command is known to print.
    #[serde(skip)]
    pub(super) printed: Vec<Arc<str>>,
    /// Texts that are known to be on standard input.
    #[serde(skip)]
    pub stdin_texts: Vec<Arc<str>>,
    /// Code of the files that the command interprets. Rules do not search it: see
    /// [`ShellCommand::include_code_texts`].
    #[serde(skip)]
    pub(super) code_texts: Vec<Arc<str>>,
    /// Whether the output was typed into a terminal that is not visible to hooks.
    #[serde(skip)]
    pub(super) from_terminal: bool,
    /// Letter pairs in the words and the input, computed when a rule first searches them.
    #[serde(skip)]
    pub(super) letter_pairs: OnceLock<Box<LetterPairs>>,
    /// The description that was used to parse the words.
    #[serde(skip)]
    pub description: DescriptionSource,
}

impl ShellCommand {
    /// Returns the texts that the command is known to print.
    pub fn printed_texts(&self) -> impl Iterator<Item = &str> {
        self.printed.iter().map(AsRef::as_ref)
    }

    /// Creates a command from its words; the first one is the program.
    pub(super) fn new(
        words: &[ShellWord],
        roots: &PathRoots,
        cwd: &WorkingDirectory,
        programs: &Programs,
    ) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        let program = program_of(first);
        let from_description = programs.find(program).map(|program| DescribedCommand::new(program, rest));
        Some(Self::from_description(first, rest, program.to_owned(), from_description.as_ref(), roots, cwd))
    }

    /// Creates a command whose words were parsed with this description.
    pub(super) fn from_description(
        first: &ShellWord,
        rest: &[ShellWord],
        program: String,
        from_description: Option<&DescribedCommand<'_>>,
        roots: &PathRoots,
        cwd: &WorkingDirectory,
    ) -> Self {
        let parsed = options::parse(from_description, rest);
        let mut moved = Cow::Borrowed(cwd);
        for place in directory_options(&parsed.values) {
            moved.to_mut().change((!place.dynamic).then_some(place.text.as_str()), false);
        }
        let cwd = &*moved;
        let mut operands: Vec<_> =
            parsed.operands.iter().map(|operand| path_fact(&operand.word, roots, cwd.expected())).collect();
        mark_unread_targets(&parsed.operands, &mut operands);
        let elsewhere: Vec<_> = parsed
            .operands
            .iter()
            .zip(&operands)
            .flat_map(|(operand, fact)| alternative_paths(&operand.word, fact, roots, cwd))
            .collect();
        operands.extend(elsewhere);
        // `env SSH_AUTH_SOCK=~/.ssh/agent ssh-add -l` reads no file of that name.
        let set_variables: BTreeSet<&str> = parsed
            .operands
            .iter()
            .filter(|operand| operand.role == Role::Assignment)
            .map(|operand| operand.word.text.as_str())
            .collect();
        let value = |value: &OptionValue| PathFact {
            is_not_read: is_unread_role(value.role),
            ..path_fact(&value.word, roots, cwd.expected())
        };
        let named = parsed
            .values
            .iter()
            .filter(|value| names_path(value))
            .map(value)
            .chain(rest.iter().filter_map(|word| {
                let is_set = set_variables.contains(word.text.as_str());
                let fact = path_in_word(word, roots, cwd.expected())?;
                Some(PathFact { is_not_read: fact.is_not_read || is_set, ..fact })
            }))
            .collect();
        Self {
            program,
            raw: first.text.clone(),
            words: rest.to_vec(),
            options: parsed.options,
            operands,
            named,
            open_options: parsed.open,
            directory: cwd.certain().map(ToOwned::to_owned),
            ..Self::default()
        }
    }

    /// Adds location, standard input and environment from the scope.
    pub(super) fn at_scope(self, scope: &ShellScope) -> Self {
        Self {
            via: scope.via.clone(),
            on: scope.site.on,
            host: scope.site.host.clone(),
            stdin_texts: scope.stdin.texts.clone(),
            env: scope.exported_addresses().to_vec(),
            ..self
        }
    }

    /// Returns the words, and the known texts on standard input.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().map(|word| word.text.as_str());
        words.chain(self.stdin_texts.iter().map(AsRef::as_ref))
    }

    /// Whether every `$` that the command prints is text, as in `echo 'use $TOKEN'`.
    pub(super) fn prints_literal_dollars(&self) -> bool {
        matches!(self.program.as_str(), "echo" | "printf" | "print")
            && self.words.iter().any(|word| word.text.contains('$'))
            && self.words.iter().all(|word| !word.dynamic)
    }

    /// Adds the code of the files that the command interprets to the texts that rules search, one text for each paragraph:
    /// a pattern must not match words of unrelated functions. Returns whether there is such code.
    pub fn include_code_texts(&mut self) -> bool {
        let code = std::mem::take(&mut self.code_texts);
        self.stdin_texts.extend(code.iter().flat_map(|text| text.split("\n\n")).map(Arc::from));
        self.letter_pairs = OnceLock::new();
        !code.is_empty()
    }

    /// Returns the known SQL statements that the command receives.
    pub fn statements(&self) -> Vec<SqlStatement> {
        let dialect = SqlDialect::of(&self.program);
        self.texts().flat_map(|text| committed_statements(text, dialect)).collect()
    }

    /// Returns the letter pairs in [`Self::texts`]. They are computed once, so the command must be complete.
    pub fn letter_pairs(&self) -> &LetterPairs {
        self.letter_pairs.get_or_init(|| Box::new(LetterPairs::new(self.texts())))
    }

    /// Whether the command is known to write a file.
    pub(super) fn writes(&self, path: &str, cwd: Option<&str>) -> bool {
        let is = |fact: &PathFact| fact.resolved.as_deref() == Some(path);
        let given = self.operands.iter().chain(&self.named).filter(|fact| fact.is_not_read);
        if self.outputs.iter().chain(&self.error_outputs).chain(given).any(is) {
            return true;
        }
        if self.program == "git" && self.words.iter().any(|word| word.is("clone")) {
            return self.is_in_clone(path);
        }
        // `wget https://…/i.sh`, `curl -O https://…/i.sh`, `aria2c -d /tmp -o i.sh https://…`
        let given = |name: &str| self.options.iter().any(|option| option.is(name));
        let keeps = match self.program.as_str() {
            "wget" | "aria2c" | "axel" => true,
            "curl" => given("O") || given("remote-name") || given("remote-name-all"),
            _ => false,
        };
        // If an option names another directory, comparing the file names is enough.
        let elsewhere =
            given("P") || given("d") || given("dir") || given("output-dir") || given("directory-prefix");
        let last = |word: &ShellWord| {
            let name = word.text.rsplit('/').next()?;
            let same = path.rsplit('/').next() == Some(name) && !name.is_empty();
            Some(same && (elsewhere || resolve(cwd, name).as_deref() == Some(path)))
        };
        let named = |word: &&ShellWord| elsewhere || word.text.contains('/');
        keeps && self.words.iter().filter(named).any(|word| last(word) == Some(true))
    }

    /// Returns the archives that the command unpacks into a directory above the file.
    pub(super) fn unpacks(&self, path: &str) -> impl Iterator<Item = &PathFact> {
        let named = || self.operands.iter().chain(&self.named);
        let into = |fact: &PathFact| {
            let to = fact.resolved.as_deref().and_then(|to| path.strip_prefix(to));
            to.is_some_and(|rest| rest.starts_with('/'))
        };
        let unpacks = matches!(self.program.as_str(), "unzip" | "tar" | "bsdtar" | "7z" | "7za" | "unar");
        named().filter(move |_| unpacks && named().any(into))
    }

    /// Whether a file is in the directory that `git clone` creates.
    fn is_in_clone(&self, path: &str) -> bool {
        let mut given = self.operands.iter().skip_while(|fact| !fact.text.contains([':', '/']));
        let Some(from) = given.next() else { return false };
        if let Some(to) = given.next().and_then(|fact| fact.resolved.as_deref()) {
            return path.strip_prefix(to).is_some_and(|rest| rest.starts_with('/'));
        }
        // After a `cd`, only the name of the clone is known, not its directory.
        let name = from.text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
        let name = name.strip_suffix(".git").unwrap_or(name);
        !name.is_empty() && path.split('/').rev().skip(1).any(|part| part == name)
    }

    /// Returns the paths that the command may read.
    pub fn reads(&self) -> impl Iterator<Item = &PathFact> {
        let given = self.operands.iter().chain(&self.named);
        given.chain(&self.inputs).filter(|path| !path.is_not_read)
    }
}

/// Returns the directories to which options change, in order. Each one is relative to the one before it, and an empty one
/// changes nothing.
fn directory_options(values: &[OptionValue]) -> impl Iterator<Item = &ShellWord> {
    let directories = values.iter().filter(|value| value.role == Role::Directory).map(|value| &value.word);
    directories.filter(|word| word.dynamic || !word.text.is_empty())
}

/// Marks operands that are written, not read: the last one of `cp`, all of `tee`.
fn mark_unread_targets(operands: &[ShellOperand], facts: &mut [PathFact]) {
    for (operand, fact) in operands.iter().zip(facts.iter_mut()) {
        fact.is_not_read = matches!(operand.role, Role::Write | Role::Append | Role::Target);
    }
}

/// Whether the value of an option is written, or used as a key or setting, and not read as data.
fn is_unread_role(role: Role) -> bool {
    matches!(role, Role::Write | Role::Append | Role::Target | Role::Key | Role::Setting)
}

/// Whether the value of an option is a local path.
fn names_path(value: &OptionValue) -> bool {
    match value.role {
        Role::Read
        | Role::Write
        | Role::Target
        | Role::Append
        | Role::Delete
        | Role::Move
        | Role::Edit
        | Role::Permit
        | Role::List
        | Role::Directory
        | Role::Root
        | Role::Mount
        | Role::Place
        | Role::PackageFile
        | Role::PackageSource
        | Role::Script
        | Role::Setting
        | Role::Key => true,
        Role::Program | Role::Module => value.word.text.contains('/'),
        Role::Text
        | Role::Pattern
        | Role::RemotePath
        | Role::Host
        | Role::Port
        | Role::Url
        | Role::Download
        | Role::Proxy
        | Role::Route
        | Role::Socket
        | Role::Method
        | Role::Number
        | Role::Lookup
        | Role::Image
        | Role::Repository
        | Role::Package
        | Role::Task
        | Role::Index
        | Role::Code(_)
        | Role::Shell
        | Role::Command
        | Role::Assignment
        | Role::DryRun
        | Role::Recursive
        | Role::Force
        | Role::InPlace
        | Role::Unpack
        | Role::Prune
        | Role::Store
        | Role::Contents
        | Role::Onto
        | Role::Search
        | Role::NamedFile
        | Role::Form
        | Role::ToStdout
        | Role::Info
        | Role::Batch
        | Role::Interactive
        | Role::Listen => false,
    }
}

/// Returns the paths that a word names if an earlier `cd` failed or was skipped. Only paths outside the project and
/// temporary directories are listed. Whether they are used is not certain, so their location is unknown.
pub(super) fn alternative_paths(
    word: &ShellWord,
    main: &PathFact,
    roots: &PathRoots,
    cwd: &WorkingDirectory,
) -> Vec<PathFact> {
    if word.shape.starts_with('/') || main.places == [PathLocation::Unknown] {
        return Vec::new();
    }
    let own = |place: &PathLocation| matches!(place, PathLocation::InsideProject | PathLocation::Temp);
    let facts = cwd.alternatives().map(|cwd| path_fact(word, roots, Some(cwd)));
    let facts = facts.filter(|fact| !fact.places.iter().all(own));
    facts
        .map(|fact| {
            let known = fact.places.iter().all(|place| main.places.contains(place));
            PathFact { places: if known { fact.places.clone() } else { vec![PathLocation::Unknown] }, ..fact }
        })
        .collect()
}

/// Returns the name of the program that a word runs; empty if it is only known at run time.
pub(super) fn program_of(word: &ShellWord) -> &str {
    let name = program_name(&word.text);
    match word {
        ShellWord { dynamic: true, .. } => "",
        // `/bin/r?`: the shell runs any program that matches.
        ShellWord { pattern: true, .. } => most_harmful_match(name).unwrap_or_default(),
        _ => usual_name(name),
    }
}

/// Programs that are also found under names in capitals, on file systems that ignore case.
const FOLDED_PROGRAMS: &[&str] = &[
    "bash", "cat", "chmod", "chown", "cp", "curl", "dd", "git", "mv", "rm", "rmdir", "sh", "shred", "sudo",
    "wget", "zsh",
];

/// Returns the name of a program in its usual spelling. Where case matters, other spellings name no program.
fn usual_name(name: &str) -> &str {
    let folded = FOLDED_PROGRAMS.iter().find(|usual| usual.eq_ignore_ascii_case(name));
    folded.copied().unwrap_or(name)
}

/// Returns the last component of a program's path; a URL is kept whole.
pub(super) fn program_name(raw: &str) -> &str {
    if raw.contains("://") {
        return raw;
    }
    let name = raw.rsplit('/').next().unwrap_or(raw);
    name.strip_suffix(".exe").filter(|stem| !stem.is_empty()).unwrap_or(name)
}

/// Classifies a word as a path.
pub(super) fn path_fact(word: &ShellWord, roots: &PathRoots, cwd: Option<&str>) -> PathFact {
    // `dist-$VERSION` is treated as a name that starts with `dist-`: a variable rarely contains a slash unless its
    // value is command output.
    let tail = word.shape.rsplit('/').next().unwrap_or_default();
    let named = word.dynamic
        && word.from.is_empty()
        && word.shape.matches('*').count() == 1
        && tail.starts_with(char::is_alphanumeric)
        && tail.contains('*');
    // For the same reason, `out/$NAME` is a path in `out`.
    let below = word.dynamic
        && word.from.is_empty()
        && tail == "*"
        && word.shape.matches('*').count() == 1
        && !word.shape.starts_with('/')
        && !word.shape.contains("..")
        && word.shape.contains(char::is_alphanumeric);
    let found = WrittenPath {
        text: &word.text,
        shape: &word.shape,
        dynamic: word.dynamic && !named && !below,
        pattern: word.pattern || named || below,
    };
    let fact = roots.classify(&found, cwd);
    // A rule that allows a path has to know all of it.
    PathFact { dynamic: fact.dynamic || below, ..fact }
}

/// Returns the path in `@file`, `key=file`, `key=@file`, `key=<file` or `--option=file`.
fn path_in_word(word: &ShellWord, roots: &PathRoots, cwd: Option<&str>) -> Option<PathFact> {
    let value = match word.shape.split_once('=') {
        Some((_, value)) => value,
        None => word.shape.strip_prefix('@')?,
    };
    let path = value.trim_start_matches(['@', '<']);
    let whole = expand_tilde(path, &roots.home);
    let shape = whole.as_deref().unwrap_or(path);
    let found = WrittenPath { text: &word.text, shape, dynamic: word.dynamic, pattern: word.pattern };
    let is_not_read = word.text.starts_with("of=")
        || word.text.starts_with("--exclude")
        || word.text.starts_with("--output");
    (!path.is_empty()).then(|| PathFact { is_not_read, ..roots.classify(&found, cwd) })
}
