// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One command that would run.

use std::sync::{Arc, OnceLock};

use serde::Serialize;

use tenterhook_paths::{Certainty, Found, Ground, PathFact, Place, expand_tilde, resolve};
use tenterhook_programs::{Programs, Role};

use super::super::described_command::DescribedCommand;
use super::super::description::DescriptionSource;
use super::super::effect::{Side, programs_like};
use super::super::{LetterPairs, TextSpan};
use super::options::{self, Operand, ShellOption, Value};
use super::place::Directory;
use super::scope::Scope;
use super::word::Word;

/// One command that would run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ShellCommand {
    /// The program's name without its directory; empty when it is only known when it runs.
    pub program: String,
    /// The program as written.
    pub raw: String,
    /// Everything after it.
    pub words: Vec<Word>,
    /// The options among the words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<ShellOption>,
    /// The words that are no options, as paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<PathFact>,
    /// Other paths the command names: values of options, `@file`, `key=file`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<PathFact>,
    /// Files redirected into it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<PathFact>,
    /// Files its output is redirected into.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<PathFact>,
    /// The programs its output reaches. An interpreter that takes it for data is not among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feeds: Vec<String>,
    /// The programs that start it, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// Whether an unknown word may turn out to be an option.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open_options: bool,
    /// Where it runs.
    pub on: Side,
    /// The machine it runs on, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// What it is known to do beyond what its words say: `reverse-shell`, `fork-bomb`, `interactive`,
    /// `runs-fetched`, `shell-runs-fetched`, `typed-program`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<&'static str>,
    /// Variables it is started with, as `NAME=value`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// How sure it is that it runs, with these words.
    #[serde(skip_serializing_if = "Certainty::is_certain")]
    pub certainty: Certainty,
    /// Where it is in the text of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<TextSpan>,
    /// The last program that its output reaches; empty if that prints nothing of it.
    #[serde(skip)]
    pub ends_in: Option<String>,
    /// Texts it is known to print.
    #[serde(skip)]
    pub(super) said: Vec<Arc<str>>,
    /// Texts it is known to get on its standard input.
    #[serde(skip)]
    pub given: Vec<Arc<str>>,
    /// Whether what it prints was typed into a terminal that no hook sees.
    #[serde(skip)]
    pub(super) typed: bool,
    /// Pairs of letters in its words and in what it gets, once a rule looks for texts there.
    #[serde(skip)]
    pub(super) letter_pairs: OnceLock<Box<LetterPairs>>,
    /// The description by which its words were read.
    #[serde(skip)]
    pub description: DescriptionSource,
}

impl ShellCommand {
    /// A command from its words; the first is the program.
    pub(super) fn new(words: &[Word], ground: &Ground, cwd: &Directory, programs: &Programs) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        let program = program_of(first);
        let described = programs.find(program).map(|program| DescribedCommand::new(program, rest));
        Some(Self::described(first, rest, program.to_owned(), described.as_ref(), ground, cwd))
    }

    /// A command whose words are read by this description of its program.
    pub(super) fn described(
        first: &Word,
        rest: &[Word],
        program: String,
        described: Option<&DescribedCommand<'_>>,
        ground: &Ground,
        cwd: &Directory,
    ) -> Self {
        let parsed = options::parse(described, rest);
        let moved = goes_to(&parsed.values).map(|place| {
            let mut cwd = cwd.clone();
            cwd.change((!place.dynamic).then_some(place.text.as_str()), false);
            cwd
        });
        let cwd = moved.as_ref().unwrap_or(cwd);
        let mut operands: Vec<_> =
            parsed.operands.iter().map(|operand| fact(&operand.word, ground, cwd.main())).collect();
        spare_targets(&parsed.operands, &mut operands);
        let elsewhere: Vec<_> = parsed
            .operands
            .iter()
            .zip(&operands)
            .flat_map(|(operand, fact)| elsewhere(&operand.word, fact, ground, cwd))
            .collect();
        operands.extend(elsewhere);
        let value = |value: &Value| PathFact {
            spared: is_spared(value.role),
            ..fact(&value.word, ground, cwd.main())
        };
        let named = parsed
            .values
            .iter()
            .filter(|value| names_path(value))
            .map(value)
            .chain(rest.iter().filter_map(|word| inner_path(word, ground, cwd.main())))
            .collect();
        Self {
            program,
            raw: first.text.clone(),
            words: rest.to_vec(),
            options: parsed.options,
            operands,
            named,
            open_options: parsed.open,
            ..Self::default()
        }
    }

    /// The command where it runs, with what it is given.
    pub(super) fn placed(self, scope: &Scope) -> Self {
        Self {
            via: scope.via.clone(),
            on: scope.place.on,
            host: scope.place.host.clone(),
            given: scope.stdin.texts.clone(),
            env: scope.exported().to_vec(),
            ..self
        }
    }

    /// Its words, and the texts it is known to get on its standard input.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().map(|word| word.text.as_str());
        words.chain(self.given.iter().map(AsRef::as_ref))
    }

    /// Pairs of letters in [`Self::texts`]. To be asked when the command is complete.
    pub fn letter_pairs(&self) -> &LetterPairs {
        self.letter_pairs.get_or_init(|| Box::new(LetterPairs::new(self.texts())))
    }

    /// Whether it writes the file, as far as one can tell.
    pub(super) fn writes(&self, path: &str, cwd: Option<&str>) -> bool {
        let is = |fact: &PathFact| fact.resolved.as_deref() == Some(path);
        let given = self.operands.iter().chain(&self.named).filter(|fact| fact.spared);
        if self.outputs.iter().chain(given).any(is) {
            return true;
        }
        if self.program == "git" && self.words.iter().any(|word| word.is("clone")) {
            return self.clones(path);
        }
        // `wget https://…/i.sh`, `curl -O https://…/i.sh`, `aria2c -d /tmp -o i.sh https://…`
        let given = |name: &str| self.options.iter().any(|option| option.is(name));
        let keeps = match self.program.as_str() {
            "wget" | "aria2c" | "axel" => true,
            "curl" => given("O") || given("remote-name") || given("remote-name-all"),
            _ => false,
        };
        // Another directory may be named by an option; the name is enough.
        let elsewhere =
            given("P") || given("d") || given("dir") || given("output-dir") || given("directory-prefix");
        let last = |word: &Word| {
            let name = word.text.rsplit('/').next()?;
            let same = path.rsplit('/').next() == Some(name) && !name.is_empty();
            Some(same && (elsewhere || resolve(cwd, name).as_deref() == Some(path)))
        };
        let named = |word: &&Word| elsewhere || word.text.contains('/');
        keeps && self.words.iter().filter(named).any(|word| last(word) == Some(true))
    }

    /// The archives it unpacks into a directory that holds the file.
    pub(super) fn unpacks(&self, path: &str) -> impl Iterator<Item = &PathFact> {
        let named = || self.operands.iter().chain(&self.named);
        let into = |fact: &PathFact| {
            let to = fact.resolved.as_deref().and_then(|to| path.strip_prefix(to));
            to.is_some_and(|rest| rest.starts_with('/'))
        };
        let unpacks = matches!(self.program.as_str(), "unzip" | "tar" | "bsdtar" | "7z" | "7za" | "unar");
        named().filter(move |_| unpacks && named().any(into))
    }

    /// Whether the file lies in the directory that `git clone` makes.
    fn clones(&self, path: &str) -> bool {
        let mut given = self.operands.iter().skip_while(|fact| !fact.text.contains([':', '/']));
        let Some(from) = given.next() else { return false };
        if let Some(to) = given.next().and_then(|fact| fact.resolved.as_deref()) {
            return path.strip_prefix(to).is_some_and(|rest| rest.starts_with('/'));
        }
        // Where it was made is not known any more, after a `cd`; its name is.
        let name = from.text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
        let name = name.strip_suffix(".git").unwrap_or(name);
        !name.is_empty() && path.split('/').rev().skip(1).any(|part| part == name)
    }

    /// The paths it reads, as far as one can tell.
    pub fn reads(&self) -> impl Iterator<Item = &PathFact> {
        let given = self.operands.iter().chain(&self.named);
        given.chain(&self.inputs).filter(|path| !path.spared)
    }
}

/// The directory that the operands are relative to, if an option names one.
fn goes_to(values: &[Value]) -> Option<&Word> {
    values.iter().rfind(|value| value.role == Role::Directory).map(|value| &value.word)
}

/// What is written to is not read: the last operand of `cp`, all of `tee`.
fn spare_targets(operands: &[Operand], facts: &mut [PathFact]) {
    for (operand, fact) in operands.iter().zip(facts.iter_mut()) {
        fact.spared = matches!(operand.role, Role::Write | Role::Append | Role::Target);
    }
}

/// Whether the value of an option is only written to, or used as a key.
fn is_spared(role: Role) -> bool {
    matches!(role, Role::Write | Role::Append | Role::Target | Role::Key | Role::Setting)
}

/// Whether the value of an option is a path of this machine.
fn names_path(value: &Value) -> bool {
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

/// The same word where the script may be if a `cd` failed or was skipped. Only what is not the
/// agent's own ground matters; that it lies there is not certain, so its place is unknown.
pub(super) fn elsewhere(word: &Word, main: &PathFact, ground: &Ground, cwd: &Directory) -> Vec<PathFact> {
    if word.shape.starts_with('/') || main.places == [Place::Unknown] {
        return Vec::new();
    }
    let own = |place: &Place| matches!(place, Place::InsideProject | Place::Temp);
    let facts = cwd.others().map(|cwd| fact(word, ground, Some(cwd)));
    let facts = facts.filter(|fact| !fact.places.iter().all(own));
    facts
        .map(|fact| {
            let known = fact.places.iter().all(|place| main.places.contains(place));
            PathFact { places: if known { fact.places.clone() } else { vec![Place::Unknown] }, ..fact }
        })
        .collect()
}

/// The name of the program that a word stands for; empty if it is only known when it runs.
pub(super) fn program_of(word: &Word) -> &str {
    let name = program_name(&word.text);
    match word {
        Word { dynamic: true, .. } => "",
        // `/bin/r?`: the shell takes whatever fits.
        Word { pattern: true, .. } => programs_like(name).unwrap_or_default(),
        _ => name,
    }
}

/// The last part of a program's path; a URL is run as a whole.
pub(super) fn program_name(raw: &str) -> &str {
    if raw.contains("://") {
        return raw;
    }
    raw.rsplit('/').next().unwrap_or(raw)
}

/// A word as a path.
pub(super) fn fact(word: &Word, ground: &Ground, cwd: Option<&str>) -> PathFact {
    // `dist-$VERSION` is something that starts with `dist-`: a variable of no command's making has
    // no slashes in it, as a rule.
    let tail = word.shape.rsplit('/').next().unwrap_or_default();
    let named = word.dynamic
        && word.from.is_empty()
        && word.shape.matches('*').count() == 1
        && tail.starts_with(char::is_alphanumeric)
        && tail.contains('*');
    // So is `out/$NAME` something in `out`.
    let below = word.dynamic
        && word.from.is_empty()
        && tail == "*"
        && word.shape.matches('*').count() == 1
        && !word.shape.starts_with('/')
        && !word.shape.contains("..")
        && word.shape.contains(char::is_alphanumeric);
    let found = Found {
        text: &word.text,
        shape: &word.shape,
        dynamic: word.dynamic && !named && !below,
        pattern: word.pattern || named || below,
    };
    let fact = ground.fact(&found, cwd);
    // Who vouches for it has to know all of it.
    PathFact { dynamic: fact.dynamic || below, ..fact }
}

/// The path in `@file`, `key=file`, `key=@file`, `key=<file`, `--option=file`.
fn inner_path(word: &Word, ground: &Ground, cwd: Option<&str>) -> Option<PathFact> {
    let value = match word.shape.split_once('=') {
        Some((_, value)) => value,
        None => word.shape.strip_prefix('@')?,
    };
    let path = value.trim_start_matches(['@', '<']);
    let whole = expand_tilde(path, &ground.home);
    let shape = whole.as_deref().unwrap_or(path);
    let found = Found { text: &word.text, shape, dynamic: word.dynamic, pattern: word.pattern };
    let spared = word.text.starts_with("of=")
        || word.text.starts_with("--exclude")
        || word.text.starts_with("--output");
    (!path.is_empty()).then(|| PathFact { spared, ..ground.fact(&found, cwd) })
}
