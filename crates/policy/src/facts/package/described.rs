// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Packages of programs that the policy describes.

use tenterhook_programs::{PackageVerb, Program, Role, SpecStyle};

use super::name::{Style, created, name_of};
use super::{From, MOST, PackageFact};
use crate::facts::Word;
use crate::facts::description::word_of;

/// The packages that a command would install or run, by the description of its program.
pub(super) fn described_packages(program: &Program<'_>, words: &[Word]) -> Vec<PackageFact> {
    let parsed = program.parse(words);
    let Some(verb) = parsed.package_verb else { return Vec::new() };
    let (role, place) = match verb {
        PackageVerb::AddIndex => (Role::Index, Some(From::Index)),
        PackageVerb::AddRepository => (Role::Repository, Some(From::Git)),
        PackageVerb::Install | PackageVerb::Run | PackageVerb::Create => (Role::Package, None),
    };
    let manager = if parsed.manager.is_empty() { program.name() } else { parsed.manager };
    let style = style_of(program.spec_style());
    let has_index = parsed.has_role(Role::Index);
    let parts = parsed.parts_with_role(role).map(|part| word_of(words, part)).take(MOST);
    let facts = parts.filter_map(|word| {
        let (name, from) = match (verb, place) {
            (_, Some(from)) => (word.shape, from),
            (PackageVerb::Create, None) => created(&word.shape),
            (_, None) => name_of(style, &word.shape)?,
        };
        Some(PackageFact {
            manager: manager.to_owned(),
            from: if from == From::Registry && has_index { From::Index } else { from },
            runs: matches!(verb, PackageVerb::Run | PackageVerb::Create),
            dynamic: word.dynamic && name.contains('*'),
            name,
        })
    });
    facts.collect()
}

fn style_of(style: SpecStyle) -> Style {
    match style {
        SpecStyle::Plain => Style::Plain,
        SpecStyle::Npm => Style::Npm,
        SpecStyle::Python => Style::Python,
        SpecStyle::At => Style::At,
        SpecStyle::Colon => Style::Colon,
        SpecStyle::Equals => Style::Equals,
        SpecStyle::Go => Style::Go,
        SpecStyle::Brew => Style::Brew,
        SpecStyle::Nix => Style::Nix,
        SpecStyle::Deno => Style::Deno,
    }
}
