// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Looks up the rules that could match an event.

use serde::{Deserialize, Serialize};
use tenterhook_event::Event;
use tenterhook_facts::{Facts, PathFact, ShellCommand};
use tenterhook_shell_facts::LetterPairs;

use super::word::{
    HOST_TAG, NAME_TAG, PROGRAM_ARGUMENT_TAG, PROGRAM_END, PROGRAM_START_TAG, Word, start_key, start_tag,
    tagged,
};
use super::{DAMAGED, Entry, KindForm, WHOLE_RULE};
use crate::compiled::Body;
use crate::conditions::commands;
use crate::conditions::glob::{GlobBase, flat};
use crate::conditions::pattern::has_letters;

/// When more entries are found, those found twice are taken out.
const DEDUP_ABOVE: usize = 1 << 16;

/// Entries that an ordinary call finds, with some to spare.
const USUAL_ENTRIES: usize = 256;

/// The rules of one kind of event that are not found by keys.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Lists {
    /// Rules that are always evaluated.
    pub(super) always: Vec<Entry>,
    /// Rules that look for patterns in commands and need nothing else: of these letters one group must be there.
    pub(super) texts: Vec<(Vec<String>, Entry)>,
}

/// The index of one kind of event in use.
#[derive(Debug)]
pub(crate) struct KindIndex {
    lists: Lists,
}

/// The index of one kind of event, for one lookup.
struct Lookup<'a> {
    form: &'a KindForm,
    body: Body<'a>,
    lists: &'a Lists,
}

impl KindIndex {
    /// Reads what is looked at with every event.
    pub(crate) fn read(form: &KindForm, body: Body<'_>, in_force: impl Fn(u32) -> bool) -> Self {
        let damaged = || Lists { always: vec![DAMAGED], texts: Vec::new() };
        let mut lists = body.read(form.lists).unwrap_or_else(damaged);
        lists.always.retain(|(rule, _)| in_force(*rule));
        lists.texts.retain(|(_, (rule, _))| in_force(*rule));
        Self { lists }
    }

    /// Visits all rules in force that could match, in order: the number of the rule, and which of its alternatives
    /// could hold; `None` for all.
    pub(crate) fn visit_candidates(
        &self,
        form: &KindForm,
        body: Body<'_>,
        event: &Event,
        facts: &Facts,
        in_force: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32, Option<&[u16]>),
    ) {
        let lookup = Lookup { form, body, lists: &self.lists };
        let mut found = Vec::with_capacity(USUAL_ENTRIES);
        found.extend_from_slice(&self.lists.always);
        lookup.look_at_words(event, facts, &mut found);
        lookup.look_at_paths(facts, &mut found);
        lookup.look_at_hosts(facts, &mut found);
        lookup.look_at_texts(event, &mut found);
        if !facts.unread.is_empty() {
            found.extend(body.read(form.unread).unwrap_or_else(|| vec![DAMAGED]));
        }
        found.retain(|(rule, _)| in_force(*rule));
        found.sort_unstable();
        found.dedup();
        let mut parts = Vec::with_capacity(found.len());
        for entries in found.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((rule, _)) = entries.first() else { continue };
            // The whole rule comes last.
            let whole = entries.last().is_some_and(|(_, part)| *part == WHOLE_RULE);
            parts.clear();
            parts.extend(entries.iter().map(|(_, part)| *part));
            visit(*rule, (!whole).then_some(parts.as_slice()));
        }
    }
}

impl Lookup<'_> {
    fn get(&self, tag: char, text: &str, found: &mut Vec<Entry>) {
        self.form.keys.get(self.body, tag, text, found);
    }

    fn find_all(&self, start: &str, found: &mut Vec<Entry>) {
        self.form.keys.find_all(self.body, start, found);
    }

    fn see(&self, word: Word<'_>, found: &mut Vec<Entry>) {
        let (tag, text) = word.parts();
        self.get(tag, &text, found);
    }

    fn look_at_command(&self, command: &ShellCommand, found: &mut Vec<Entry>) {
        let program = flat(&command.program);
        self.see(Word::Program(&program), found);
        let ends = program.char_indices().map(|(at, letter)| at + letter.len_utf8());
        let ends = ends.take_while(|end| *end <= self.form.longest_program);
        self.form.keys.get_beginnings(self.body, PROGRAM_START_TAG, &program, ends, found);
        // The others are not known, and no rule takes them for the words it looks for.
        let pairs = self.form.keys.start(PROGRAM_ARGUMENT_TAG, [&program, PROGRAM_END]);
        for word in command.words.iter().filter(|word| !word.dynamic) {
            let word = flat(&word.text);
            self.see(Word::Argument(&word), found);
            if let Some(pairs) = &pairs {
                self.form.keys.get_after(self.body, pairs, &word, found);
            }
        }
        command.feeds.iter().for_each(|name| self.see(Word::Fed(&flat(name)), found));
        command.acts.iter().for_each(|act| self.see(Word::Act(&flat(act)), found));
    }

    fn look_at_words(&self, event: &Event, facts: &Facts, found: &mut Vec<Entry>) {
        for command in &facts.commands {
            self.look_at_command(command, found);
        }
        if let Some(tool) = &event.tool {
            self.see(Word::Tool(&flat(&tool.name)), found);
            self.see(Word::Class(tool.class), found);
        }
        for effect in &facts.effects {
            self.see(Word::Does(effect.does), found);
        }
        if let Some(mcp) = &facts.mcp {
            for reading in &mcp.readings {
                self.see(Word::Server(&reading.server), found);
            }
            self.see(Word::SomeMcp, found);
        }
        for package in &facts.packages {
            self.see(Word::Package(&flat(&package.name)), found);
        }
        let there = [
            (Word::SomeCommand, facts.commands.is_empty()),
            (Word::SomeVariable, facts.commands.iter().all(|command| command.env.is_empty())),
            (Word::SomeEffect, facts.effects.is_empty()),
            (Word::SomeUrl, facts.urls.is_empty()),
            (Word::SomePackage, facts.packages.is_empty()),
            (Word::SomeSecret, facts.secrets.is_empty()),
        ];
        there.into_iter().filter(|(_, absent)| !absent).for_each(|(word, _)| self.see(word, found));
        // A server that is not known may be any.
        if facts.mcp.as_ref().is_some_and(|mcp| mcp.server.is_empty()) {
            self.find_all(&Word::Server("").key(), found);
        }
    }

    fn look_at_paths(&self, facts: &Facts, found: &mut Vec<Entry>) {
        let of_commands = facts
            .commands
            .iter()
            .flat_map(|command| command.operands.iter().chain(&command.named).chain(&command.inputs));
        let by_name = facts.paths.iter().chain(of_commands).map(|path| (path, false));
        let by_effect = facts.effects.iter().map(|effect| (&effect.path, effect.reaches_below()));
        let mut most = DEDUP_ABOVE;
        for (path, recursive) in by_name.chain(by_effect) {
            self.look_at_path(path, recursive, found);
            // Many paths find the same rules over and over.
            if found.len() > most {
                found.sort_unstable();
                found.dedup();
                most = DEDUP_ABOVE.max(2 * found.len());
            }
        }
    }

    fn look_at_path(&self, path: &PathFact, recursive: bool, found: &mut Vec<Entry>) {
        let forms = [
            (GlobBase::Root, path.resolved.as_deref()),
            (GlobBase::Home, path.in_home.as_deref()),
            (GlobBase::Project, path.in_project.as_deref()),
        ];
        let open = path.pattern || path.dynamic;
        for (from, form) in forms {
            let Some(form) = form else { continue };
            // Of a pattern only the letters before it are certain.
            let known = match form.find(['*', '?', '[']).filter(|_| open) {
                Some(end) => form.get(..end).unwrap_or_default(),
                None => form,
            };
            let ends = known.match_indices('/').map(|(end, _)| end).chain([known.len()]);
            let ends = ends.take_while(|end| *end <= self.form.longest_path);
            self.form.keys.get_beginnings(self.body, start_tag(from), known, ends, found);
            if !known.starts_with('/') {
                self.get(start_tag(from), "", found);
            }
            if open || recursive {
                let known = known.trim_end_matches('/');
                self.find_all(&start_key(from, known), found);
            }
        }
        if open {
            self.find_all(&tagged(NAME_TAG, ""), found);
        } else {
            let form = path.resolved.as_deref().unwrap_or(&path.text);
            let name = form.rsplit('/').next().unwrap_or(form);
            self.get(NAME_TAG, name, found);
        }
    }

    fn look_at_texts(&self, event: &Event, found: &mut Vec<Entry>) {
        if self.lists.texts.is_empty() {
            return;
        }
        let commands = commands(event);
        let texts: Vec<_> = commands.iter().map(|text| (text, LetterPairs::new([text.as_ref()]))).collect();
        let may_match =
            |letters: &[String]| texts.iter().any(|(text, pairs)| has_letters(text, pairs, letters));
        let fitting = self.lists.texts.iter().filter(|(letters, _)| may_match(letters));
        found.extend(fitting.map(|(_, entry)| *entry));
    }

    fn look_at_hosts(&self, facts: &Facts, found: &mut Vec<Entry>) {
        for url in &facts.urls {
            if url.dynamic {
                self.find_all(&tagged(HOST_TAG, ""), found);
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
