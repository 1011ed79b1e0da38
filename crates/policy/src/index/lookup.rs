// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Looks up the rules that could match an event.

use serde::{Deserialize, Serialize};
use tenterhook_event::Event;
use tenterhook_facts::{Facts, ShellCommand};
use tenterhook_shell_facts::LetterPairs;

use super::term::{HOST_TAG, IndexTerm, PROGRAM_ARGUMENT_TAG, PROGRAM_END, PROGRAM_START_TAG, tagged_key};
use super::{DAMAGED_INDEX_ENTRY, IndexEntry, KindForm, WHOLE_RULE};
use crate::compiled::BodyBytes;
use crate::conditions::command_texts;
use crate::conditions::glob::flatten_slashes;
use crate::conditions::lazy_regex::contains_letters;

/// Initial capacity: more entries than an ordinary call finds.
const USUAL_ENTRIES: usize = 256;

/// The rules of one kind of event that are not found by key.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct UnkeyedRules {
    /// Rules that are always evaluated.
    pub(super) always: Vec<IndexEntry>,
    /// Rules that only need a pattern in a command, each with letter groups, one of which must be present.
    pub(super) texts: Vec<(Vec<String>, IndexEntry)>,
}

/// The decoded part of the index of one kind of event.
#[derive(Debug)]
pub(crate) struct KindIndex {
    lists: UnkeyedRules,
}

/// The index of one kind of event, for one lookup.
pub(super) struct IndexLookup<'a> {
    pub(super) form: &'a KindForm,
    pub(super) body: BodyBytes<'a>,
    lists: &'a UnkeyedRules,
}

impl KindIndex {
    /// Decodes the parts that every lookup uses.
    pub(crate) fn read(form: &KindForm, body: BodyBytes<'_>, active: impl Fn(u32) -> bool) -> Self {
        let damaged = || UnkeyedRules { always: vec![DAMAGED_INDEX_ENTRY], texts: Vec::new() };
        let mut lists = body.read(form.lists).unwrap_or_else(damaged);
        lists.always.retain(|(rule, _)| active(*rule));
        lists.texts.retain(|(_, (rule, _))| active(*rule));
        Self { lists }
    }

    /// Visits all active rules that could match, in order: the number of each rule, and which of its alternatives
    /// could match; `None` means all of them.
    pub(crate) fn visit_candidates(
        &self,
        form: &KindForm,
        body: BodyBytes<'_>,
        event: &Event,
        facts: &Facts,
        active: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32, Option<&[u16]>),
    ) {
        let lookup = IndexLookup { form, body, lists: &self.lists };
        let mut found = Vec::with_capacity(USUAL_ENTRIES);
        found.extend_from_slice(&self.lists.always);
        lookup.collect_by_terms(event, facts, &mut found);
        lookup.collect_by_paths(facts, &mut found);
        lookup.collect_by_hosts(facts, &mut found);
        lookup.collect_by_patterns(event, &mut found);
        if !facts.unread.is_empty() {
            found.extend(body.read(form.unread).unwrap_or_else(|| vec![DAMAGED_INDEX_ENTRY]));
        }
        found.retain(|(rule, _)| active(*rule));
        sort_and_dedup(&mut found);
        let mut alternatives = Vec::with_capacity(found.len());
        for entries in found.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((rule, _)) = entries.first() else { continue };
            // The entry for the whole rule is sorted last.
            let whole = entries.last().is_some_and(|(_, part)| *part == WHOLE_RULE);
            alternatives.clear();
            alternatives.extend(entries.iter().map(|(_, part)| *part));
            visit(*rule, (!whole).then_some(alternatives.as_slice()));
        }
    }
}

/// Sorts entries by rule and alternative, and removes duplicates. Comparing one number is faster than comparing pairs.
pub(super) fn sort_and_dedup(found: &mut Vec<IndexEntry>) {
    found.sort_unstable_by_key(|(rule, part)| u64::from(*rule) << u16::BITS | u64::from(*part));
    found.dedup();
}

impl IndexLookup<'_> {
    pub(super) fn get(&self, tag: char, text: &str, found: &mut Vec<IndexEntry>) {
        self.form.keys.get(self.body, tag, text, found);
    }

    pub(super) fn find_by_prefix(&self, start: &str, found: &mut Vec<IndexEntry>) {
        self.form.keys.find_by_prefix(self.body, start, found);
    }

    pub(super) fn collect_term(&self, word: IndexTerm<'_>, found: &mut Vec<IndexEntry>) {
        let (tag, text) = word.tag_and_text();
        self.get(tag, &text, found);
    }

    fn collect_by_command(&self, command: &ShellCommand, found: &mut Vec<IndexEntry>) {
        let program = flatten_slashes(&command.program);
        self.collect_term(IndexTerm::Program(&program), found);
        let ends = program.char_indices().map(|(at, letter)| at + letter.len_utf8());
        let ends = ends.take_while(|end| *end <= self.form.longest_program);
        self.form.keys.get_prefixes(self.body, PROGRAM_START_TAG, &program, ends, found);
        // Words that are known only at run time are skipped, because no rule matches them as words.
        let pairs = self.form.keys.hash_start(PROGRAM_ARGUMENT_TAG, [&program, PROGRAM_END]);
        for word in command.words.iter().filter(|word| !word.dynamic) {
            let word = flatten_slashes(&word.text);
            self.collect_term(IndexTerm::Argument(&word), found);
            if let Some(pairs) = &pairs {
                self.form.keys.get_after(self.body, pairs, &word, found);
            }
        }
        command
            .feeds
            .iter()
            .for_each(|name| self.collect_term(IndexTerm::Fed(&flatten_slashes(name)), found));
        command.acts.iter().for_each(|act| self.collect_term(IndexTerm::Act(&flatten_slashes(act)), found));
    }

    fn collect_by_terms(&self, event: &Event, facts: &Facts, found: &mut Vec<IndexEntry>) {
        for command in &facts.commands {
            self.collect_by_command(command, found);
        }
        if let Some(tool) = &event.tool {
            self.collect_term(IndexTerm::Tool(&flatten_slashes(&tool.name)), found);
            self.collect_term(IndexTerm::Class(tool.class), found);
        }
        // Many effects are of the same few kinds, and each kind is looked up once.
        let mut kinds = Vec::new();
        for effect in &facts.effects {
            if !kinds.contains(&effect.does) {
                kinds.push(effect.does);
                self.collect_term(IndexTerm::Does(effect.does), found);
            }
        }
        if let Some(mcp) = &facts.mcp {
            for reading in &mcp.readings {
                self.collect_term(IndexTerm::Server(&reading.server), found);
            }
            mcp.acts.iter().for_each(|act| self.collect_term(IndexTerm::Act(act), found));
            self.collect_term(IndexTerm::SomeMcp, found);
        }
        for package in &facts.packages {
            self.collect_term(IndexTerm::Package(&flatten_slashes(&package.name)), found);
        }
        let terms = [
            (IndexTerm::SomeCommand, facts.commands.is_empty()),
            (IndexTerm::SomeVariable, facts.commands.iter().all(|command| command.env.is_empty())),
            (IndexTerm::SomeEffect, facts.effects.is_empty()),
            (IndexTerm::SomeUrl, facts.urls.is_empty()),
            (IndexTerm::SomePackage, facts.packages.is_empty()),
            (IndexTerm::SomeSecret, facts.secrets.is_empty()),
        ];
        terms.into_iter().filter(|(_, absent)| !absent).for_each(|(word, _)| self.collect_term(word, found));
        // An unknown server may be any server.
        if facts.mcp.as_ref().is_some_and(|mcp| mcp.server.is_empty()) {
            self.find_by_prefix(&IndexTerm::Server("").key(), found);
        }
    }

    fn collect_by_patterns(&self, event: &Event, found: &mut Vec<IndexEntry>) {
        if self.lists.texts.is_empty() {
            return;
        }
        let commands = command_texts(event);
        let texts: Vec<_> = commands.iter().map(|text| (text, LetterPairs::new([text.as_ref()]))).collect();
        let may_match =
            |letters: &[String]| texts.iter().any(|(text, pairs)| contains_letters(text, pairs, letters));
        let fitting = self.lists.texts.iter().filter(|(letters, _)| may_match(letters));
        found.extend(fitting.map(|(_, entry)| *entry));
    }

    fn collect_by_hosts(&self, facts: &Facts, found: &mut Vec<IndexEntry>) {
        for url in &facts.urls {
            if url.dynamic {
                self.find_by_prefix(&tagged_key(HOST_TAG, ""), found);
                continue;
            }
            let ends = url.host.match_indices('.').map(|(at, _)| at + 1);
            for at in std::iter::once(0).chain(ends) {
                let end = url.host.get(at..).unwrap_or_default();
                self.get(HOST_TAG, end, found);
            }
        }
    }
}
