// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Things of which at least one must be there for a rule to match.

use super::WHOLE_RULE;
use super::word::{HOST_TAG, NAME_TAG, Word, start_key, tagged};
use crate::conditions::Matcher;
use crate::conditions::glob::{GlobBase, HostGlobs, NameGlobs, PathGlobs};

/// How rare the things are that a rule needs: the rarer, the less often it is evaluated in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rarity {
    Paired,
    Named,
    Placed,
    Seldom,
    Often,
}

/// A rule with more pairs of a program and a word is found by the program alone.
const MAX_PAIRS: usize = 64;

/// Keys of which a rule needs at least one, and how rare they are.
type Needs = (Rarity, Vec<String>);

/// What the conditions of a rule need, each by itself. The rarest is indexed.
#[derive(Debug, Default)]
pub(crate) struct NeedList(Vec<Needs>);

/// The parts of a rule that can be evaluated by themselves, and the keys that each needs.
pub(super) fn parts(matcher: &Matcher) -> Vec<(u16, Option<Vec<String>>)> {
    let common = common(matcher);
    let any = matcher.any();
    let alone = any.is_empty() || any.len() >= usize::from(WHOLE_RULE);
    if alone || common.as_ref().is_some_and(|(rarity, _)| *rarity <= Rarity::Named) {
        return vec![(WHOLE_RULE, needs(matcher).map(|(_, needs)| needs))];
    }
    let part = |inner: &Matcher| {
        let needs = needs(inner).into_iter().chain(common.clone()).min_by_key(cost);
        needs.map(|(_, needs)| needs)
    };
    (0..).zip(any).map(|(number, inner)| (number, part(inner))).collect()
}

/// Letters of which one group must be in a command, if patterns are looked for there.
pub(super) fn letters(matcher: &Matcher) -> Option<Vec<String>> {
    matcher.regex.as_ref()?.command_letters()
}

/// Things of which at least one must be there for conditions to hold; `None` if that is not known.
fn needs(matcher: &Matcher) -> Option<Needs> {
    let any = (!matcher.any().is_empty()).then(|| {
        let any: Option<Vec<_>> = matcher.any().iter().map(needs).collect();
        any.map(|any| {
            let rarity = any.iter().map(|(rarity, _)| *rarity).max().unwrap_or(Rarity::Often);
            (rarity, any.into_iter().flat_map(|(_, needs)| needs).collect())
        })
    });
    common(matcher).into_iter().chain(any.flatten()).min_by_key(cost)
}

fn cost((rarity, needs): &Needs) -> (Rarity, usize) {
    (*rarity, needs.len())
}

/// The same, whichever of its alternatives holds.
fn common(matcher: &Matcher) -> Option<Needs> {
    let mut all = NeedList::default();
    matcher.add_needs(&mut all);
    all.0.into_iter().min_by_key(cost)
}

// === impl NeedList ===

impl NeedList {
    /// One of these words.
    pub(crate) fn add_words(&mut self, rarity: Rarity, words: &[Word<'_>]) {
        self.0.push((rarity, words.iter().map(|word| word.key()).collect()));
    }

    /// One of these names, unless some are patterns.
    pub(crate) fn add_names(&mut self, names: Option<&NameGlobs>, word: fn(&str) -> Word<'_>) {
        let plain = names.and_then(NameGlobs::plain);
        self.0.extend(plain.map(|names| (Rarity::Named, names.map(|name| word(name).key()).collect())));
    }

    /// One of these names, unless some are patterns, or one of these words.
    pub(crate) fn add_names_or(&mut self, names: &NameGlobs, word: fn(&str) -> Word<'_>, words: &[Word<'_>]) {
        let rarity = if words.is_empty() { Rarity::Named } else { Rarity::Often };
        self.0.extend(names.plain().map(|names| {
            let names = names.map(|name| word(name).key());
            (rarity, names.chain(words.iter().map(|word| word.key())).collect())
        }));
    }

    /// Programs by their names, or by what those begin with.
    pub(crate) fn add_programs(&mut self, names: Option<&NameGlobs>) {
        let key = |(name, begins)| if begins { Word::Begins(name) } else { Word::Program(name) }.key();
        let names = names.and_then(NameGlobs::beginnings);
        self.0.extend(names.map(|names| (Rarity::Named, names.into_iter().map(key).collect())));
    }

    /// One of these programs with one of these words behind it, unless some are patterns.
    pub(crate) fn add_programs_with(&mut self, programs: Option<&NameGlobs>, words: &NameGlobs) {
        let plain =
            |names: &NameGlobs| names.plain().map(|names| names.map(str::to_owned).collect::<Vec<_>>());
        let Some((programs, words)) = programs.and_then(plain).zip(plain(words)) else { return };
        if programs.len() * words.len() <= MAX_PAIRS {
            let pair = |program| words.iter().map(move |word| Word::ProgramArgument(program, word).key());
            self.0.push((Rarity::Paired, programs.iter().flat_map(|program| pair(program)).collect()));
        }
    }

    /// The first directories of globs, or their last part if they may start anywhere.
    pub(crate) fn add_paths(&mut self, paths: Option<&PathGlobs>) {
        let Some(paths) = paths else { return };
        let mut rarity = Rarity::Placed;
        let needs = paths.globs().map(|glob| {
            if glob.from == GlobBase::Anywhere {
                let is_plain = |name: &&str| !name.contains(['*', '?', '[', '\\']);
                let name = glob.text.rsplit('/').next().filter(is_plain)?;
                return Some(tagged(NAME_TAG, name));
            }
            let start = glob.start();
            let whole = start.len() == glob.text.len();
            let directory =
                if whole { start } else { start.rsplit_once('/').map_or("", |(directory, _)| directory) };
            let directory = directory.trim_end_matches('/');
            if directory.is_empty() {
                rarity = Rarity::Often;
            }
            Some(start_key(glob.from, directory))
        });
        let needs = needs.collect::<Option<Vec<_>>>();
        self.0.extend(needs.map(|needs| (rarity, needs)));
    }

    /// Hosts, and the ends of hosts.
    pub(crate) fn add_hosts(&mut self, hosts: Option<&HostGlobs>) {
        let Some(hosts) = hosts else { return };
        let needs = hosts.names().globs().map(|glob| {
            let end = glob.strip_prefix("*.").unwrap_or(glob);
            (!end.contains(['*', '?', '[', '\\'])).then(|| tagged(HOST_TAG, end))
        });
        let needs = needs.collect::<Option<Vec<_>>>();
        self.0.extend(needs.map(|needs| (Rarity::Placed, needs)));
    }
}
