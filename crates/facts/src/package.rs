// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the packages that a command would install or run.

mod name;

use serde::{Deserialize, Serialize};
use tenterhook_programs::{Language, PackageVerb, ParsedArgs, Program, Programs, Role, SpecStyle, WordSlice};
use tenterhook_shell_facts::{ShellCommand, ShellWord, extract_word, find_description};

use name::parse_package_spec;

/// Maximum number of packages collected from one command.
const MAX_PACKAGES_PER_COMMAND: usize = 512;

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "From"))]
pub enum PackageOrigin {
    /// The default registry of the package manager.
    Registry,
    /// Another registry, named on the command line.
    Index,
    /// A source repository.
    Git,
    /// An archive on the network.
    Url,
    /// A directory or file on this machine.
    Path,
}

/// A package that would be installed or run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackageFact {
    /// The package manager: `npm`, `pip`, `cargo`, …
    pub manager: String,
    /// Package name without version and extras, or the address of a package without a name. Unknown parts are `*`.
    pub name: String,
    /// Where the package comes from.
    pub from: PackageOrigin,
    /// Whether the package is run immediately (`npx`, `uvx`), not only installed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub runs: bool,
    /// Whether the name is known only at run time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dynamic: bool,
}

/// Returns the packages that commands would install or run, without duplicates. A command in a loop, or one that bash
/// and zsh parse differently, occurs twice.
pub(crate) fn packages(commands: &[ShellCommand], programs: &Programs) -> Vec<PackageFact> {
    let mut all = Vec::new();
    let of_command = |command: &ShellCommand| {
        let described = find_description(programs, &command.program, command.description);
        described.map(|program| packages_of_program(&program, &command.words, programs)).unwrap_or_default()
    };
    for package in commands.iter().flat_map(of_command) {
        if !all.contains(&package) {
            all.push(package);
        }
    }
    all
}

fn packages_of_program(
    described: &Program<'_>,
    words: &[ShellWord],
    programs: &Programs,
) -> Vec<PackageFact> {
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
fn add_packages(described: &Program<'_>, words: &[ShellWord], facts: &mut Vec<PackageFact>) {
    let parsed = described.parse(words);
    let Some(verb) = parsed.package_verb else { return };
    let manager = if parsed.manager.is_empty() { described.name() } else { parsed.manager };
    let command = PackageCommand { parsed: &parsed, words, verb, manager };
    for fact in command.packages() {
        if facts.len() < MAX_PACKAGES_PER_COMMAND && !facts.contains(&fact) {
            facts.push(fact);
        }
    }
}

/// A parsed command of a package manager.
struct PackageCommand<'a> {
    parsed: &'a ParsedArgs<'a, 'a>,
    words: &'a [ShellWord],
    verb: PackageVerb,
    manager: &'a str,
}

// === impl PackageCommand ===

impl PackageCommand<'_> {
    fn packages(&self) -> Vec<PackageFact> {
        let mut facts = Vec::new();
        for part in self.parsed.parts_with_role(Role::PackageFile) {
            facts.push(self.located_package(part, PackageOrigin::Path));
        }
        match self.verb {
            PackageVerb::AddIndex => self.add_located(Role::Index, PackageOrigin::Index, &mut facts),
            PackageVerb::AddRepository => self.add_located(Role::Repository, PackageOrigin::Git, &mut facts),
            PackageVerb::Install | PackageVerb::Run | PackageVerb::RunProject | PackageVerb::Create => {
                self.add_named(&mut facts);
            }
        }
        if facts.is_empty() && self.verb != PackageVerb::AddIndex {
            // `cargo install --git …`: the package name is not among the words.
            self.add_located(Role::Repository, PackageOrigin::Git, &mut facts);
            self.add_located(Role::PackageSource, PackageOrigin::Path, &mut facts);
        }
        facts
    }

    fn add_located(&self, role: Role, from: PackageOrigin, facts: &mut Vec<PackageFact>) {
        facts.extend(self.parsed.parts_with_role(role).map(|part| self.located_package(part, from)));
    }

    /// Adds the packages that options and operands name.
    fn add_named(&self, facts: &mut Vec<PackageFact>) {
        let options = self.parsed.options.iter().filter(|option| option.role == Role::Package);
        let specs: Vec<_> = options.filter_map(|option| option.value).collect();
        // `deno run npm:x`, `npx x`: the first operand or the program is the package. In `npx -p x y`, it is not.
        let runs_first = self.verb == PackageVerb::Run && specs.is_empty();
        let is_name = |role: Role| role == Role::Package || runs_first && role == Role::Script;
        let operands = self.parsed.operands.iter().filter(|operand| is_name(operand.role));
        let inner = self.parsed.inner.last().filter(|_| runs_first);
        let program = inner.map(|inner| WordSlice { word: inner.start, offset: 0, text: "" });
        for part in specs {
            let spec = extract_word(self.words, part);
            // `--with a,b` names two packages.
            if self.runs() && !spec.shape.contains("://") {
                for shape in spec.shape.split(',').filter(|shape| !shape.is_empty()) {
                    facts.extend(self.named_package(shape, spec.dynamic));
                }
            } else {
                facts.extend(self.named_package(&spec.shape, spec.dynamic));
            }
        }
        for part in operands.map(|operand| operand.part).chain(program) {
            let word = extract_word(self.words, part);
            facts.extend(self.named_package(&word.shape, word.dynamic));
        }
    }

    fn named_package(&self, shape: &str, dynamic: bool) -> Option<PackageFact> {
        let style = self.parsed.spec_style;
        let (name, from) = match self.verb {
            PackageVerb::Create => name::create_package(shape),
            _ => parse_package_spec(style, shape)?,
        };
        // Running a file of the project is the ordinary use of these programs.
        if self.runs() && matches!(style, SpecStyle::Go | SpecStyle::Deno) && from == PackageOrigin::Path {
            return None;
        }
        let has = |role: Role| self.parsed.has_role(role);
        let from = match from {
            PackageOrigin::Registry if has(Role::Repository) => PackageOrigin::Git,
            PackageOrigin::Registry if has(Role::PackageSource) => PackageOrigin::Path,
            PackageOrigin::Registry if has(Role::Index) => PackageOrigin::Index,
            from => from,
        };
        Some(self.package_fact(name, from, dynamic))
    }

    fn located_package(&self, part: WordSlice<'_>, from: PackageOrigin) -> PackageFact {
        let word = extract_word(self.words, part);
        self.package_fact(word.shape, from, word.dynamic)
    }

    fn package_fact(&self, name: String, from: PackageOrigin, dynamic: bool) -> PackageFact {
        let dynamic = dynamic && name.contains('*');
        PackageFact { manager: self.manager.to_owned(), name, from, runs: self.runs(), dynamic }
    }

    fn runs(&self) -> bool {
        matches!(self.verb, PackageVerb::Run | PackageVerb::RunProject | PackageVerb::Create)
    }
}

#[cfg(test)]
mod tests;
