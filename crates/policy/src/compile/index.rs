// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which rules could match an event at all, found without asking each of them.
//!
//! A rule that looks for `terraform` cannot match a line in which nothing of that name runs. For
//! every rule some such things are found of which at least one must be there (`needs`); the rule
//! is kept under each of them and asked only when one turns up. Rules of which nothing can be said
//! are always asked. A rule with alternatives is kept by each of them, and only those that could hold
//! are looked at.

mod keys;
mod needs;
mod word;

use std::collections::BTreeMap;
use std::sync::Arc;

use tenterhook_event::{Event, EventKind};

use super::glob::{From, flat};
use super::pattern::Asked;
use super::pressed::bytes::{Cursor, Out};
use crate::facts::{Facts, PathFact};
use crate::judge::commands;
use crate::rule::Rule;
use keys::{Keys, read_entries, read_text, write_entries};
use needs::{Need, letters, parts};
use word::{BEGINS, HOST, NAME, STARTS, Word, start_key, start_tag, tagged};

/// The rules by what they need, for each kind of event.
#[derive(Debug, Default)]
pub(super) struct Index(BTreeMap<EventKind, Kind>);

/// A rule, by its number, and one of its alternatives; [`WHOLE`] is all of it.
type Entry = (u32, u16);

const WHOLE: u16 = u16::MAX;

/// When more are found, those found twice are taken out.
const MOST_FOUND: usize = 1 << 16;

/// A rule that could match: its number, and which of its alternatives could hold; `None` for all.
pub(super) type Candidate = (u32, Option<Vec<u16>>);

#[derive(Debug, Default)]
struct Kind {
    always: Vec<Entry>,
    /// Rules that have something to say about texts nobody could read.
    unread: Vec<Entry>,
    keys: Keys,
    /// The length of the longest start of a path: further down there is nothing to look for.
    longest: usize,
    /// The same for what programs begin with.
    longest_name: usize,
    /// Rules that look for patterns in commands and need nothing else: of these letters one group must be
    /// there.
    texts: Vec<(Vec<String>, Entry)>,
}

impl Index {
    pub(super) fn new(rules: &[Rule]) -> Self {
        let mut index = Self::default();
        for (number, rule) in (0_u32..).zip(rules) {
            let parts = parts(&rule.matcher);
            for kind in rule.matcher.events.iter().flatten() {
                let kind = index.0.entry(*kind).or_default();
                if rule.unread.is_some() {
                    kind.unread.push((number, WHOLE));
                }
                for (part, needs) in &parts {
                    let inner = rule.matcher.any.get(usize::from(*part)).unwrap_or(&rule.matcher);
                    match needs {
                        None => match letters(inner).or_else(|| letters(&rule.matcher)) {
                            Some(letters) => kind.texts.push((letters, (number, *part))),
                            None => kind.always.push((number, *part)),
                        },
                        Some(needs) => needs.iter().for_each(|need| kind.keep(need, (number, *part))),
                    }
                }
            }
        }
        index.0.values_mut().for_each(|kind| kind.keys.finish());
        index
    }

    /// Writes it for a snapshot.
    pub(super) fn write(&self, to: &mut Out) {
        to.number(self.0.len());
        for (kind, rules) in &self.0 {
            to.text(kind.name());
            write_entries(&rules.always, to);
            write_entries(&rules.unread, to);
            to.number(rules.longest);
            to.number(rules.longest_name);
            to.number(rules.texts.len());
            for (letters, entry) in &rules.texts {
                write_entries(&[*entry], to);
                to.number(letters.len());
                for letters in letters {
                    to.text(letters);
                }
            }
            let mut keys = Out::default();
            rules.keys.write(&mut keys);
            to.number(keys.len());
            to.append(&keys);
        }
    }

    /// Reads what a snapshot has of it; the keys stay where they are.
    pub(super) fn read(bytes: &Arc<Vec<u8>>, cursor: &mut Cursor<'_>) -> Option<Self> {
        let mut index = Self::default();
        for _ in 0..cursor.number()? {
            let kind: EventKind = cursor.text()?.parse().ok()?;
            let (always, unread) = (read_entries(cursor)?, read_entries(cursor)?);
            let (longest, longest_name) = (cursor.number()?, cursor.number()?);
            let texts = (0..cursor.number()?).map(|_| read_text(cursor)).collect::<Option<_>>()?;
            let length = cursor.number()?;
            let start = bytes.len().checked_sub(cursor.rest().len())?;
            cursor.take(length)?;
            let keys = Keys::Pressed(Arc::clone(bytes), start..start + length);
            index.0.insert(kind, Kind { always, unread, keys, longest, longest_name, texts });
        }
        Some(index)
    }

    /// Whether any rule is about events of this kind.
    pub(super) fn concerns(&self, kind: EventKind) -> bool {
        self.0.contains_key(&kind)
    }

    /// All rules that could match, in order.
    pub(super) fn candidates(&self, event: &Event, facts: &Facts) -> Vec<Candidate> {
        let Some(kind) = self.0.get(&event.event) else { return Vec::new() };
        let mut found = kind.always.clone();
        kind.look_at_words(event, facts, &mut found);
        kind.look_at_paths(facts, &mut found);
        kind.look_at_hosts(facts, &mut found);
        kind.look_at_texts(event, &mut found);
        if !facts.unread.is_empty() {
            found.extend(&kind.unread);
        }
        found.sort_unstable();
        found.dedup();
        let candidate = |entries: &[Entry]| {
            let (rule, _) = entries.first()?;
            // The whole comes last.
            let whole = entries.last().is_some_and(|(_, part)| *part == WHOLE);
            let parts = || entries.iter().map(|(_, part)| *part).collect();
            Some((*rule, (!whole).then(parts)))
        };
        found.chunk_by(|(one, _), (other, _)| one == other).filter_map(candidate).collect()
    }
}

impl Kind {
    fn keep(&mut self, Need(key): &Need, entry: Entry) {
        if key.starts_with(STARTS) {
            self.longest = self.longest.max(key.len() - 1);
        }
        if key.starts_with(BEGINS) {
            self.longest_name = self.longest_name.max(key.len() - 1);
        }
        self.keys.keep(key, entry);
    }

    fn look_at_words(&self, event: &Event, facts: &Facts, found: &mut Vec<Entry>) {
        let mut see = |word: Word<'_>| {
            let (tag, text) = word.parts();
            self.keys.get(tag, &text, found);
        };
        for command in &facts.commands {
            let program = flat(&command.program);
            see(Word::Program(&program));
            let ends = program.char_indices().map(|(at, letter)| at + letter.len_utf8());
            for end in ends.take_while(|end| *end <= self.longest_name) {
                see(Word::Begins(program.get(..end).unwrap_or_default()));
            }
            // Nobody knows the others, and no rule takes them for the words it looks for.
            for word in command.words.iter().filter(|word| !word.dynamic) {
                see(Word::Argument(&flat(&word.text)));
            }
            command.feeds.iter().for_each(|name| see(Word::Fed(&flat(name))));
            command.acts.iter().for_each(|act| see(Word::Act(&flat(act))));
        }
        if let Some(tool) = &event.tool {
            see(Word::Tool(&flat(&tool.name)));
            see(Word::Class(tool.class));
        }
        for effect in &facts.effects {
            see(Word::Does(effect.does));
        }
        if let Some(mcp) = &facts.mcp {
            for reading in &mcp.readings {
                see(Word::Server(&reading.server));
            }
            see(Word::SomeMcp);
        }
        for package in &facts.packages {
            see(Word::Package(&flat(&package.name)));
        }
        let there = [
            (Word::SomeCommand, facts.commands.is_empty()),
            (Word::SomeVariable, facts.commands.iter().all(|command| command.env.is_empty())),
            (Word::SomeEffect, facts.effects.is_empty()),
            (Word::SomeUrl, facts.urls.is_empty()),
            (Word::SomePackage, facts.packages.is_empty()),
            (Word::SomeSecret, facts.secrets.is_empty()),
        ];
        there.into_iter().filter(|(_, absent)| !absent).for_each(|(word, _)| see(word));
        // A server that is not known may be any.
        if facts.mcp.as_ref().is_some_and(|mcp| mcp.server.is_empty()) {
            self.keys.all(&Word::Server("").key(), found);
        }
    }

    fn look_at_paths(&self, facts: &Facts, found: &mut Vec<Entry>) {
        let of_commands = facts
            .commands
            .iter()
            .flat_map(|command| command.operands.iter().chain(&command.named).chain(&command.inputs));
        let by_name = facts.paths.iter().chain(of_commands).map(|path| (path, false));
        let by_effect = facts.effects.iter().map(|effect| (&effect.path, effect.reaches_below()));
        let mut most = MOST_FOUND;
        for (path, recursive) in by_name.chain(by_effect) {
            self.look_at_path(path, recursive, found);
            // Many paths find the same rules over and over.
            if found.len() > most {
                found.sort_unstable();
                found.dedup();
                most = MOST_FOUND.max(2 * found.len());
            }
        }
    }

    fn look_at_path(&self, path: &PathFact, recursive: bool, found: &mut Vec<Entry>) {
        let forms = [
            (From::Root, path.resolved.as_deref()),
            (From::Home, path.in_home.as_deref()),
            (From::Project, path.in_project.as_deref()),
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
            for end in ends.take_while(|end| *end <= self.longest) {
                let start = known.get(..end).unwrap_or_default();
                self.keys.get(start_tag(from), start, found);
            }
            if !known.starts_with('/') {
                self.keys.get(start_tag(from), "", found);
            }
            if open || recursive {
                let known = known.trim_end_matches('/');
                self.keys.all(&start_key(from, known), found);
            }
        }
        if open {
            self.keys.all(&tagged(NAME, ""), found);
        } else {
            let form = path.resolved.as_deref().unwrap_or(&path.text);
            let name = form.rsplit('/').next().unwrap_or(form);
            self.keys.get(NAME, name, found);
        }
    }

    fn look_at_texts(&self, event: &Event, found: &mut Vec<Entry>) {
        if self.texts.is_empty() {
            return;
        }
        let commands = commands(event);
        let asked: Vec<_> = commands.iter().map(|text| Asked::new(text)).collect();
        let may_match = |letters: &[String]| asked.iter().any(|text| text.may_match(letters));
        let fitting = self.texts.iter().filter(|(letters, _)| may_match(letters));
        found.extend(fitting.map(|(_, entry)| *entry));
    }

    fn look_at_hosts(&self, facts: &Facts, found: &mut Vec<Entry>) {
        for url in &facts.urls {
            if url.dynamic {
                self.keys.all(&tagged(HOST, ""), found);
                continue;
            }
            let ends = url.host.match_indices('.').map(|(at, _)| at + 1);
            for at in std::iter::once(0).chain(ends) {
                let end = url.host.get(at..).unwrap_or_default();
                self.keys.get(HOST, end, found);
            }
        }
    }
}
