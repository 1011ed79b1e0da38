// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Packages a command would install or run.

mod name;

use serde::{Deserialize, Serialize};
use tenterhook_programs::{Language, PackageVerb, Parsed, Program, Programs, Role, SpecStyle, WordPart};
use tenterhook_shell_facts::{ShellCommand, Word, describe_as, word_of};

use name::name_of;

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
    let of_command = |command: &ShellCommand| {
        let described = describe_as(programs, &command.program, command.description);
        described.map(|program| read(&program, &command.words, programs)).unwrap_or_default()
    };
    for package in commands.iter().flat_map(of_command) {
        if !all.contains(&package) {
            all.push(package);
        }
    }
    all
}

fn read(described: &Program<'_>, words: &[Word], programs: &Programs) -> Vec<PackageFact> {
    let mut facts = Vec::new();
    if described.installs() {
        add_packages(described, words, &mut facts);
    } else if described.language() == Some(Language::Python) {
        // `python -m pip install x`
        let parsed = described.parse(words);
        let module = parsed.options.iter().find(|option| option.role == Role::Module);
        if let Some(name) = module.and_then(|option| option.value)
            && let Some(described) = programs.find(name.text).filter(Program::installs)
        {
            let words = words.get(name.word + 1..).unwrap_or_default();
            add_packages(&described, words, &mut facts);
        }
    }
    facts
}

/// Adds the packages among the words of a package manager.
fn add_packages(described: &Program<'_>, words: &[Word], facts: &mut Vec<PackageFact>) {
    let parsed = described.parse(words);
    let Some(verb) = parsed.package_verb else { return };
    let manager = if parsed.manager.is_empty() { described.name() } else { parsed.manager };
    let command = PackageCommand { parsed: &parsed, words, verb, manager };
    for fact in command.packages() {
        if facts.len() < MOST && !facts.contains(&fact) {
            facts.push(fact);
        }
    }
}

/// A command of a package manager.
struct PackageCommand<'a> {
    parsed: &'a Parsed<'a, 'a>,
    words: &'a [Word],
    verb: PackageVerb,
    manager: &'a str,
}

// === impl PackageCommand ===

impl PackageCommand<'_> {
    fn packages(&self) -> Vec<PackageFact> {
        let mut facts = Vec::new();
        for part in self.parsed.parts_with_role(Role::PackageFile) {
            facts.push(self.fact_of_place(part, From::Path));
        }
        match self.verb {
            PackageVerb::AddIndex => self.add_places(Role::Index, From::Index, &mut facts),
            PackageVerb::AddRepository => self.add_places(Role::Repository, From::Git, &mut facts),
            PackageVerb::Install | PackageVerb::Run | PackageVerb::RunProject | PackageVerb::Create => {
                self.add_named(&mut facts);
            }
        }
        if facts.is_empty() && self.verb != PackageVerb::AddIndex {
            // `cargo install --git …`: the name of the package is not among the words.
            self.add_places(Role::Repository, From::Git, &mut facts);
            self.add_places(Role::PackageSource, From::Path, &mut facts);
        }
        facts
    }

    fn add_places(&self, role: Role, from: From, facts: &mut Vec<PackageFact>) {
        facts.extend(self.parsed.parts_with_role(role).map(|part| self.fact_of_place(part, from)));
    }

    /// Adds the packages that options and operands name.
    fn add_named(&self, facts: &mut Vec<PackageFact>) {
        let options = self.parsed.options.iter().filter(|option| option.role == Role::Package);
        let specs: Vec<_> = options.filter_map(|option| option.value).collect();
        // `deno run npm:x`, `npx x`: the first operand, or the program, is the package. With
        // `npx -p x y` it is not.
        let runs_first = self.verb == PackageVerb::Run && specs.is_empty();
        let is_name = |role: Role| role == Role::Package || runs_first && role == Role::Script;
        let operands = self.parsed.operands.iter().filter(|operand| is_name(operand.role));
        let inner = self.parsed.inner.last().filter(|_| runs_first);
        let program = inner.map(|inner| WordPart { word: inner.start, offset: 0, text: "" });
        for part in specs {
            let spec = word_of(self.words, part);
            // `--with a,b` names two packages.
            if self.runs() && !spec.shape.contains("://") {
                for shape in spec.shape.split(',').filter(|shape| !shape.is_empty()) {
                    facts.extend(self.named(shape, spec.dynamic));
                }
            } else {
                facts.extend(self.named(&spec.shape, spec.dynamic));
            }
        }
        for part in operands.map(|operand| operand.part).chain(program) {
            let word = word_of(self.words, part);
            facts.extend(self.named(&word.shape, word.dynamic));
        }
    }

    fn named(&self, shape: &str, dynamic: bool) -> Option<PackageFact> {
        let style = self.parsed.spec_style;
        let (name, from) = match self.verb {
            PackageVerb::Create => name::created(shape),
            _ => name_of(style, shape)?,
        };
        // Running a file of the project is what these programs do every day.
        if self.runs() && matches!(style, SpecStyle::Go | SpecStyle::Deno) && from == From::Path {
            return None;
        }
        let has = |role: Role| self.parsed.has_role(role);
        let from = match from {
            From::Registry if has(Role::Repository) => From::Git,
            From::Registry if has(Role::PackageSource) => From::Path,
            From::Registry if has(Role::Index) => From::Index,
            from => from,
        };
        Some(self.fact(name, from, dynamic))
    }

    fn fact_of_place(&self, part: WordPart<'_>, from: From) -> PackageFact {
        let word = word_of(self.words, part);
        self.fact(word.shape, from, word.dynamic)
    }

    fn fact(&self, name: String, from: From, dynamic: bool) -> PackageFact {
        let dynamic = dynamic && name.contains('*');
        PackageFact { manager: self.manager.to_owned(), name, from, runs: self.runs(), dynamic }
    }

    fn runs(&self) -> bool {
        matches!(self.verb, PackageVerb::Run | PackageVerb::RunProject | PackageVerb::Create)
    }
}

#[cfg(test)]
mod tests;
