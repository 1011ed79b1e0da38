// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds keys, at least one of which must be present for a rule to match.

use super::WHOLE_RULE;
use super::rarity::Rarity;
use super::term::{
    COMPONENT_TAG, HOST_TAG, IndexTerm, NAME_END_TAG, NAME_START_TAG, NAME_TAG, path_start_key, tagged_key,
};
use crate::conditions::RuleMatcher;
use crate::conditions::glob::{GlobBase, HostGlobs, NameGlobs, PathGlobs};

/// Maximum number of program-word pairs. A rule with more pairs is indexed by program alone.
const MAX_PAIRS: usize = 64;

/// Keys, at least one of which a rule needs, and how rare they are.
type Needs = (Rarity, Vec<String>);

/// Keys that the conditions of a rule need, one set per condition. The rarest set is indexed.
#[derive(Debug, Default)]
pub(crate) struct NeedList(Vec<Needs>);

/// Returns the alternatives of a rule that can be checked separately, each with the keys it needs.
pub(super) fn needs_by_alternative(matcher: &RuleMatcher) -> Vec<(u16, Option<Vec<String>>)> {
    let common = common_needs(matcher);
    let any = matcher.any();
    let alone = any.is_empty() || any.len() >= usize::from(WHOLE_RULE);
    if alone || common.as_ref().is_some_and(|(rarity, _)| *rarity <= Rarity::Named) {
        return vec![(WHOLE_RULE, rarest_needs(matcher).map(|(_, needs)| needs))];
    }
    let part = |inner: &RuleMatcher| {
        let needs = rarest_needs(inner).into_iter().chain(common.clone()).min_by_key(selectivity);
        needs.map(|(_, needs)| needs)
    };
    (0..).zip(any).map(|(number, inner)| (number, part(inner))).collect()
}

/// Returns letter groups, one of which must be in a command, if the rule has patterns on commands.
pub(super) fn command_letters(matcher: &RuleMatcher) -> Option<Vec<String>> {
    matcher.regex.as_ref()?.command_letters()
}

/// Returns keys, at least one of which must be present for the conditions to match; `None` if unknown.
fn rarest_needs(matcher: &RuleMatcher) -> Option<Needs> {
    let any = (!matcher.any().is_empty()).then(|| {
        let any: Option<Vec<_>> = matcher.any().iter().map(rarest_needs).collect();
        any.map(|any| {
            let rarity = any.iter().map(|(rarity, _)| *rarity).max().unwrap_or(Rarity::Often);
            (rarity, any.into_iter().flat_map(|(_, needs)| needs).collect())
        })
    });
    common_needs(matcher).into_iter().chain(any.flatten()).min_by_key(selectivity)
}

fn selectivity((rarity, needs): &Needs) -> (Rarity, usize) {
    (*rarity, needs.len())
}

/// Returns the keys that every alternative needs.
fn common_needs(matcher: &RuleMatcher) -> Option<Needs> {
    let mut all = NeedList::default();
    matcher.add_needs(&mut all);
    all.0.into_iter().min_by_key(selectivity)
}

// === impl NeedList ===

impl NeedList {
    /// Requires one of these terms.
    pub(crate) fn add_words(&mut self, rarity: Rarity, words: &[IndexTerm<'_>]) {
        self.0.push((rarity, words.iter().map(|word| word.key()).collect()));
    }

    /// Requires one of these names, unless some of them are patterns.
    pub(crate) fn add_names(&mut self, names: Option<&NameGlobs>, word: fn(&str) -> IndexTerm<'_>) {
        let plain = names.and_then(NameGlobs::all_literal);
        self.0.extend(plain.map(|names| (Rarity::Named, names.map(|name| word(name).key()).collect())));
    }

    /// Requires one of these names or one of these terms, unless some names are patterns.
    pub(crate) fn add_names_or(
        &mut self,
        names: &NameGlobs,
        word: fn(&str) -> IndexTerm<'_>,
        words: &[IndexTerm<'_>],
    ) {
        let rarity = if words.is_empty() { Rarity::Named } else { Rarity::Often };
        self.0.extend(names.all_literal().map(|names| {
            let names = names.map(|name| word(name).key());
            (rarity, names.chain(words.iter().map(|word| word.key())).collect())
        }));
    }

    /// Requires one of these programs, by name or by a prefix of the name.
    pub(crate) fn add_programs(&mut self, names: Option<&NameGlobs>) {
        let key =
            |(name, begins)| if begins { IndexTerm::Begins(name) } else { IndexTerm::Program(name) }.key();
        let names = names.and_then(NameGlobs::literal_prefixes);
        self.0.extend(names.map(|names| {
            let rarity = Rarity::of_programs(names.iter().map(|(name, _)| *name));
            (rarity, names.into_iter().map(key).collect())
        }));
    }

    /// Requires one of these programs followed by one of these words, unless some of them are patterns.
    pub(crate) fn add_programs_with(&mut self, programs: Option<&NameGlobs>, words: &NameGlobs) {
        let plain =
            |names: &NameGlobs| names.all_literal().map(|names| names.map(str::to_owned).collect::<Vec<_>>());
        let Some((programs, words)) = programs.and_then(plain).zip(plain(words)) else { return };
        if programs.len() * words.len() <= MAX_PAIRS {
            let pair =
                |program| words.iter().map(move |word| IndexTerm::ProgramArgument(program, word).key());
            self.0.push((Rarity::Paired, programs.iter().flat_map(|program| pair(program)).collect()));
        }
    }

    /// Requires the first directories of one of these globs, or a component of a glob that may start anywhere.
    pub(crate) fn add_paths(&mut self, paths: Option<&PathGlobs>) {
        let Some(paths) = paths else { return };
        let mut rarity = Rarity::Placed;
        let needs = paths.globs().map(|glob| {
            if glob.from == GlobBase::Anywhere {
                return component_key(&glob.text);
            }
            let start = glob.start();
            let whole = start.len() == glob.text.len();
            let directory =
                if whole { start } else { start.rsplit_once('/').map_or("", |(directory, _)| directory) };
            let directory = directory.trim_end_matches('/');
            // The home directory contains most projects.
            if directory.is_empty() || directory == "~" {
                rarity = Rarity::Often;
            }
            Some(path_start_key(glob.from, directory))
        });
        let needs = needs.collect::<Option<Vec<_>>>();
        self.0.extend(needs.map(|needs| (rarity, needs)));
    }

    /// Requires one of these hosts or domain suffixes.
    pub(crate) fn add_hosts(&mut self, hosts: Option<&HostGlobs>) {
        let Some(hosts) = hosts else { return };
        let needs = hosts.names().globs().map(|glob| {
            let end = glob.strip_prefix("*.").unwrap_or(glob);
            (!end.contains(['*', '?', '[', '\\'])).then(|| tagged_key(HOST_TAG, end))
        });
        let needs = needs.collect::<Option<Vec<_>>>();
        self.0.extend(needs.map(|needs| (Rarity::Placed, needs)));
    }
}

/// Returns the key for a glob that may start anywhere: its last component, or the longer literal end of that, or any
/// other component; `None` if all are patterns.
fn component_key(glob: &str) -> Option<String> {
    const WILDCARDS: [char; 5] = ['*', '?', '[', ']', '\\'];
    let name = glob.rsplit('/').next().unwrap_or(glob);
    // A set of letters may contain a slash, and `**` in a name may match one.
    if name.contains(['[', ']', '\\']) || name.contains("**") && name != "**" {
        return None;
    }
    if !name.contains(WILDCARDS) {
        return Some(tagged_key(NAME_TAG, name));
    }
    let start = name.split(WILDCARDS).next().unwrap_or_default();
    let end = name.rsplit(WILDCARDS).next().unwrap_or_default();
    if start.is_empty() && end.is_empty() {
        let is_plain = |part: &&str| !part.is_empty() && !part.contains(WILDCARDS);
        let is_simple = !glob.contains(['[', ']', '\\']);
        let part = glob.split('/').rfind(is_plain).filter(|_| is_simple)?;
        return Some(tagged_key(COMPONENT_TAG, part));
    }
    if start.len() > end.len() {
        Some(tagged_key(NAME_START_TAG, start))
    } else {
        Some(tagged_key(NAME_END_TAG, &end.chars().rev().collect::<String>()))
    }
}
