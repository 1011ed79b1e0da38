// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Packages a command would install or run.

mod described;
mod managers;
mod name;
mod near;
mod table;

use serde::{Deserialize, Serialize};
use tenterhook_programs::Programs;

use super::description::{Reading, describe_as};
use super::url::arguments::{Arguments, Piece};
use super::{ShellCommand, Word};
use described::described_packages;
use managers::{Kind, Manager, Verb, managers_of};
use name::name_of;
pub(crate) use near::near;

/// More packages than anybody installs by name.
const MOST: usize = 512;

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum From {
    /// The registry the package manager uses by itself.
    Registry,
    /// Another registry, named on the command line.
    Index,
    /// A repository.
    Git,
    /// An archive on the network.
    Url,
    /// A directory or file on this machine.
    Path,
}

/// One package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackageFact {
    /// The package manager: `npm`, `pip`, `cargo`, …
    pub manager: String,
    /// Its name, without version and extras; the address when it has none; `*` for what is not known.
    pub name: String,
    /// Where it comes from.
    pub from: From,
    /// Whether it is run at once (`npx`, `uvx`), not only installed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub runs: bool,
    /// Whether its name is only known when it runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dynamic: bool,
}

/// The packages that commands would install or run, each once. A command in a loop, or one that bash and zsh read
/// differently, is there twice.
pub(crate) fn packages(commands: &[ShellCommand], programs: &Programs) -> Vec<PackageFact> {
    let mut all = Vec::new();
    let of_command = |command: &ShellCommand| match command.reading {
        Reading::Known => read(&command.program, &command.words),
        added @ Reading::Added(_) => describe_as(programs, &command.program, added)
            .map(|program| described_packages(&program, &command.words))
            .unwrap_or_default(),
    };
    for package in commands.iter().flat_map(of_command) {
        if !all.contains(&package) {
            all.push(package);
        }
    }
    all
}

fn read(program: &str, words: &[Word]) -> Vec<PackageFact> {
    if let Some((program, words)) = inner(program, words) {
        return read(program, words);
    }
    let mut facts: Vec<PackageFact> = Vec::new();
    for manager in managers_of(program) {
        for fact in manager.packages(words) {
            if facts.len() < MOST && !facts.contains(&fact) {
                facts.push(fact);
            }
        }
    }
    facts
}

/// The package manager that another program is asked to be.
fn inner<'a>(program: &str, words: &'a [Word]) -> Option<(&'a str, &'a [Word])> {
    let at = |wanted: &str| words.iter().position(|word| word.text == wanted);
    let from = |at: usize| {
        let (first, rest) = words.get(at..)?.split_first()?;
        Some((first.text.as_str(), rest))
    };
    match program {
        "corepack" => from(0),
        // What an agent would start later, as its own server.
        "claude" | "codex" | "gemini" if at("mcp").is_some() => {
            let add = at("add").filter(|add| at("mcp").is_some_and(|mcp| mcp < *add))?;
            let starts = |word: &Word| managers_of(&word.text).next().is_some();
            let start = words.iter().skip(add).position(starts)?;
            from(add + start)
        }
        _ if program.starts_with("python") || program == "py" => {
            let module = words.iter().position(|word| word.text.starts_with("-m"))?;
            let word = words.get(module)?.text.as_str();
            let rest = words.get(module + 1..)?;
            match word.strip_prefix("-m")? {
                "" => from(module + 1),
                name => Some((name, rest)),
            }
        }
        _ => None,
    }
}

// === impl Manager ===

impl Manager {
    fn packages(&self, words: &[Word]) -> Vec<PackageFact> {
        // `cargo +nightly install`
        let skipped = words.iter().take_while(|word| word.text.starts_with('+')).count();
        let words = words.get(skipped..).unwrap_or_default();
        let given = Arguments::read(words, self.letters, self.values);
        let Some(verb) = self.verbs.iter().find(|verb| verb.is_meant(&given)) else { return Vec::new() };
        let runs = matches!(verb.kind, Kind::Runs | Kind::Creates);
        let most = if runs { verb.words.len() + 1 } else { usize::MAX };
        let given = Arguments::read_some(words, self.letters, self.values, most);
        let mut facts = Vec::new();
        for file in given.values(self.files) {
            facts.push(self.fact(file, file.shape.to_owned(), From::Path, runs));
        }
        let specs: Vec<_> = given.values(self.specs).collect();
        let names = given.operands.iter().skip(verb.words.len() + verb.skips).copied();
        // `npx -p package command`: the command is not the package.
        let names: Vec<_> = if runs && !specs.is_empty() { Vec::new() } else { names.collect() };
        for piece in specs.into_iter().flat_map(|piece| split(piece, runs)).chain(names) {
            facts.extend(self.named(piece, verb, &given, runs));
        }
        if facts.is_empty() {
            // `cargo install --git …`: what it is called is not said.
            let places = [(self.gits, From::Git), (self.paths, From::Path)];
            for (options, from) in places {
                facts.extend(
                    given.values(options).map(|piece| self.fact(piece, piece.shape.to_owned(), from, runs)),
                );
            }
        }
        facts
    }

    fn named(&self, piece: Piece<'_>, verb: &Verb, given: &Arguments<'_>, runs: bool) -> Option<PackageFact> {
        let (name, from) = match verb.kind {
            Kind::Adds(from) => (piece.shape.to_owned(), from),
            Kind::Creates => name::created(piece.shape),
            Kind::Installs | Kind::Runs => name_of(self.style, piece.shape)?,
        };
        // A file or address on the line of something that runs files is just what is run.
        if verb.kind == Kind::Runs && self.runs_files && from == From::Path {
            return None;
        }
        let from = match from {
            From::Registry if given.has(self.gits) => From::Git,
            From::Registry if given.has(self.paths) => From::Path,
            From::Registry if given.has(self.indexes) => From::Index,
            from => from,
        };
        Some(self.fact(piece, name, from, runs))
    }

    fn fact(&self, piece: Piece<'_>, name: String, from: From, runs: bool) -> PackageFact {
        let dynamic = piece.dynamic && name.contains('*');
        PackageFact { manager: self.called.to_owned(), name, from, runs, dynamic }
    }
}

/// `--with a,b` is two.
fn split(piece: Piece<'_>, runs: bool) -> Vec<Piece<'_>> {
    let parts = piece.shape.split(',').filter(|part| !part.is_empty());
    if runs && !piece.shape.contains("://") {
        parts.map(|shape| Piece { shape, ..piece }).collect()
    } else {
        vec![piece]
    }
}

// === impl Verb ===

impl Verb {
    fn is_meant(&self, given: &Arguments<'_>) -> bool {
        let words = given.operands.iter().map(|piece| piece.text);
        let starts = words.zip(self.words).filter(|(word, wanted)| wanted.split('|').any(|one| one == *word));
        starts.count() == self.words.len() && (self.needs.is_empty() || given.has(self.needs))
    }
}

#[cfg(test)]
mod tests;
