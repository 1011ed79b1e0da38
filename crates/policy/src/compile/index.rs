// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which rules could match an event at all, found without asking each of them.
//!
//! A rule that looks for `terraform` cannot match a line in which nothing of that name runs. For
//! every rule some such things are found of which at least one must be there ([`needs`]); the rule
//! is kept under each of them and asked only when one turns up. Rules of which nothing can be said
//! are always asked. A rule with alternatives is kept by each of them, and only those that could hold
//! are looked at.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use tenterhook_event::{Event, EventKind, ToolClass};

use super::glob::{From, Hosts, Names, Paths, flat};
use super::matcher::Matcher;
use super::pattern::Pattern;
use super::pressed::bytes::{Cursor, Out};
use crate::facts::{Does, Facts, PathFact};
use crate::judge::commands;
use crate::rule::Rule;

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

/// Rules by what they need. A key begins with a letter that says what it is about.
#[derive(Debug)]
enum Keys {
    Built(BTreeMap<String, Vec<Entry>>),
    /// As they lie in a snapshot: the places of all keys in order, then the keys with their entries.
    Pressed(Arc<Vec<u8>>, std::ops::Range<usize>),
}

/// Something that is in an event or is not.
#[derive(Debug, Clone, Copy)]
enum Word<'a> {
    Program(&'a str),
    Begins(&'a str),
    Tool(&'a str),
    Class(ToolClass),
    Does(Does),
    Server(&'a str),
    Package(&'a str),
    SomeCommand,
    SomeEffect,
    SomeUrl,
    SomeMcp,
    SomePackage,
    SomeSecret,
}

impl Word<'_> {
    fn key(self) -> String {
        let (tag, text): (char, &str) = match self {
            Self::Program(name) => ('p', name),
            Self::Begins(name) => (BEGINS, name),
            Self::Tool(name) => ('t', name),
            Self::Class(class) => ('c', class.name()),
            Self::Does(does) => return format!("d{does:?}"),
            Self::Server(name) => ('s', name),
            Self::Package(name) => ('k', name),
            Self::SomeCommand => ('*', "command"),
            Self::SomeEffect => ('*', "effect"),
            Self::SomeUrl => ('*', "url"),
            Self::SomeMcp => ('*', "mcp"),
            Self::SomePackage => ('*', "package"),
            Self::SomeSecret => ('*', "secret"),
        };
        tagged(tag, text)
    }
}

/// What the keys of starts begin with.
const STARTS: [char; 4] = ['R', 'H', 'P', 'A'];
/// What the keys of beginnings of programs begin with.
const BEGINS: char = 'q';
const NAME: char = 'n';
const HOST: char = 'h';

fn tagged(tag: char, text: &str) -> String {
    let mut key = String::with_capacity(text.len() + 1);
    key.push(tag);
    key.push_str(text);
    key
}

/// Where the globs of a path begin, by their first directories.
fn start_key(from: From, start: &str) -> String {
    let tag = match from {
        From::Root => 'R',
        From::Home => 'H',
        From::Project => 'P',
        From::Anywhere => 'A',
    };
    tagged(tag, start)
}

/// Something of which a rule needs at least one.
#[derive(Debug, Clone)]
struct Need(String);

/// How rare the things are that a rule needs: the rarer, the less often it is asked in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rarity {
    Named,
    Placed,
    Seldom,
    Often,
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
        let mut see = |word: Word<'_>| self.keys.get(&word.key(), found);
        for command in &facts.commands {
            let program = flat(&command.program);
            see(Word::Program(&program));
            let ends = program.char_indices().map(|(at, letter)| at + letter.len_utf8());
            for end in ends.take_while(|end| *end <= self.longest_name) {
                see(Word::Begins(program.get(..end).unwrap_or_default()));
            }
        }
        if let Some(tool) = &event.tool {
            see(Word::Tool(&flat(&tool.name)));
            see(Word::Class(tool.class));
        }
        for effect in &facts.effects {
            see(Word::Does(effect.does));
        }
        if let Some(mcp) = &facts.mcp {
            see(Word::Server(&flat(&mcp.server)));
            see(Word::SomeMcp);
        }
        for package in &facts.packages {
            see(Word::Package(&flat(&package.name)));
        }
        let there = [
            (Word::SomeCommand, facts.commands.is_empty()),
            (Word::SomeEffect, facts.effects.is_empty()),
            (Word::SomeUrl, facts.urls.is_empty()),
            (Word::SomePackage, facts.packages.is_empty()),
            (Word::SomeSecret, facts.secrets.is_empty()),
        ];
        there.into_iter().filter(|(_, absent)| !absent).for_each(|(word, _)| see(word));
    }

    fn look_at_paths(&self, facts: &Facts, found: &mut Vec<Entry>) {
        let of_commands = facts
            .commands
            .iter()
            .flat_map(|command| command.operands.iter().chain(&command.named).chain(&command.inputs));
        let by_name = facts.paths.iter().chain(of_commands).map(|path| (path, false));
        let by_effect = facts.effects.iter().map(|effect| (&effect.path, effect.recursive));
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
                self.keys.get(&start_key(from, start), found);
            }
            if !known.starts_with('/') {
                self.keys.get(&start_key(from, ""), found);
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
            self.keys.get(&tagged(NAME, name), found);
        }
    }

    fn look_at_texts(&self, event: &Event, found: &mut Vec<Entry>) {
        if self.texts.is_empty() {
            return;
        }
        let commands = commands(event);
        let may_match = |letters: &[String]| commands.iter().any(|text| Pattern::may_match(text, letters));
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
                self.keys.get(&tagged(HOST, end), found);
            }
        }
    }
}

// === impl Keys ===

impl Default for Keys {
    fn default() -> Self {
        Self::Built(BTreeMap::new())
    }
}

impl Keys {
    fn keep(&mut self, key: &str, entry: Entry) {
        if let Self::Built(keys) = self {
            keys.entry(key.to_owned()).or_default().push(entry);
        }
    }

    /// The rules under this key.
    fn get(&self, key: &str, found: &mut Vec<Entry>) {
        match self {
            Self::Built(keys) => found.extend(keys.get(key).into_iter().flatten()),
            Self::Pressed(bytes, range) => {
                let table = Table::of(bytes, range);
                if let Some((there, entries)) = table.record(table.first_from(key))
                    && there == key.as_bytes()
                {
                    found.extend(entries);
                }
            }
        }
    }

    /// The rules under all keys that begin so.
    fn all(&self, start: &str, found: &mut Vec<Entry>) {
        match self {
            Self::Built(keys) => {
                let from = keys.range::<str, _>((Bound::Included(start), Bound::Unbounded));
                found.extend(from.take_while(|(key, _)| key.starts_with(start)).flat_map(|(_, rules)| rules));
            }
            Self::Pressed(bytes, range) => {
                let table = Table::of(bytes, range);
                let records = (table.first_from(start)..table.count).map_while(|at| table.record(at));
                let fitting = records.take_while(|(key, _)| key.starts_with(start.as_bytes()));
                found.extend(fitting.flat_map(|(_, entries)| entries));
            }
        }
    }

    fn write(&self, to: &mut Out) {
        let Self::Built(keys) = self else { return };
        let mut records = Out::default();
        to.number(keys.len());
        for (key, entries) in keys {
            to.number(records.len());
            records.text(key);
            write_entries(entries, &mut records);
        }
        to.append(&records);
    }
}

/// Keys as they lie in a snapshot.
struct Table<'a> {
    count: usize,
    places: &'a [u8],
    records: &'a [u8],
}

impl<'a> Table<'a> {
    fn of(bytes: &'a [u8], range: &std::ops::Range<usize>) -> Self {
        let mut cursor = Cursor::new(bytes.get(range.clone()).unwrap_or_default());
        let count = cursor.number().unwrap_or(0);
        let places = cursor.take(count.saturating_mul(4)).unwrap_or_default();
        Self { count, places, records: cursor.rest() }
    }

    fn record(&self, at: usize) -> Option<(&'a [u8], Vec<Entry>)> {
        let (key, mut cursor) = self.key(at)?;
        Some((key, read_entries(&mut cursor)?))
    }

    fn key(&self, at: usize) -> Option<(&'a [u8], Cursor<'a>)> {
        let mut place = Cursor::new(self.places.get(at.checked_mul(4)?..)?);
        let mut cursor = Cursor::new(self.records.get(place.number()?..)?);
        let key = cursor.text()?.as_bytes();
        Some((key, cursor))
    }

    /// The first key that is not less than this one.
    fn first_from(&self, key: &str) -> usize {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            let less = self.key(middle).is_some_and(|(there, _)| there < key.as_bytes());
            if less { low = middle + 1 } else { high = middle }
        }
        low
    }
}

fn write_entries(entries: &[Entry], to: &mut Out) {
    to.number(entries.len());
    for (rule, part) in entries {
        to.number(usize::try_from(*rule).unwrap_or(usize::MAX));
        to.number(usize::from(*part));
    }
}

fn read_text(cursor: &mut Cursor<'_>) -> Option<(Vec<String>, Entry)> {
    let entry = read_entries(cursor)?.pop()?;
    let letters = (0..cursor.number()?).map(|_| cursor.text().map(str::to_owned)).collect::<Option<_>>()?;
    Some((letters, entry))
}

fn read_entries(cursor: &mut Cursor<'_>) -> Option<Vec<Entry>> {
    let count = cursor.number()?;
    let mut entries = Vec::with_capacity(count.min(cursor.rest().len()));
    for _ in 0..count {
        entries.push((u32::try_from(cursor.number()?).ok()?, u16::try_from(cursor.number()?).ok()?));
    }
    Some(entries)
}

type Needs = (Rarity, Vec<Need>);

/// The parts of a rule that can be asked by themselves, and what each needs.
fn parts(matcher: &Matcher) -> Vec<(u16, Option<Vec<Need>>)> {
    let common = common(matcher);
    let alone = matcher.any.is_empty() || matcher.any.len() >= usize::from(WHOLE);
    if alone || common.as_ref().is_some_and(|(rarity, _)| *rarity == Rarity::Named) {
        return vec![(WHOLE, needs(matcher).map(|(_, needs)| needs))];
    }
    let part = |inner: &Matcher| {
        let needs = needs(inner).into_iter().chain(common.clone()).min_by_key(cost);
        needs.map(|(_, needs)| needs)
    };
    (0..).zip(&matcher.any).map(|(number, inner)| (number, part(inner))).collect()
}

/// Things of which at least one must be there for conditions to hold; `None` if that cannot be said.
fn needs(matcher: &Matcher) -> Option<Needs> {
    let any = (!matcher.any.is_empty()).then(|| {
        let any: Option<Vec<_>> = matcher.any.iter().map(needs).collect();
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
    let mut all: Vec<Needs> = Vec::new();
    let words = |rarity, words: &[Word<'_>]| (rarity, words.iter().map(|word| Need(word.key())).collect());
    if let Some(shell) = &matcher.shell {
        all.extend(begun(shell.program.as_ref()));
        for paths in [&shell.operand, &shell.path, &shell.reads, &shell.input].into_iter().flatten() {
            all.extend(placed(paths));
        }
        all.push(words(Rarity::Often, &[Word::SomeCommand]));
    }
    if let Some(effect) = &matcher.effect {
        all.extend(effect.path.as_ref().and_then(placed));
        let does: Vec<_> = effect.does.iter().map(|does| Word::Does(*does)).collect();
        all.push(if does.is_empty() {
            words(Rarity::Often, &[Word::SomeEffect])
        } else {
            words(Rarity::Often, &does)
        });
    }
    all.extend(matcher.paths.as_ref().and_then(placed));
    if let Some(url) = &matcher.url {
        all.extend(url.host.as_ref().and_then(reached));
        all.push(words(Rarity::Seldom, &[Word::SomeUrl]));
    }
    if let Some(mcp) = &matcher.mcp {
        all.extend(plain(mcp.server.as_ref(), |name| Word::Server(name).key()));
        all.push(words(Rarity::Seldom, &[Word::SomeMcp]));
    }
    if let Some(package) = &matcher.package {
        all.extend(plain(package.name.as_ref(), |name| Word::Package(name).key()));
        all.push(words(Rarity::Seldom, &[Word::SomePackage]));
    }
    if matcher.secret.is_some() {
        all.push(words(Rarity::Seldom, &[Word::SomeSecret]));
    }
    if let Some(tools) = &matcher.tools {
        let classes: Vec<_> = tools.classes.iter().map(|class| Word::Class(*class)).collect();
        match (&tools.names, classes.is_empty()) {
            (None, _) => all.push(words(Rarity::Often, &classes)),
            (Some(names), true) => all.extend(plain(Some(names), |name| Word::Tool(name).key())),
            (Some(names), false) => {
                let named = plain(Some(names), |name| Word::Tool(name).key());
                all.extend(named.map(|(_, mut needs)| {
                    needs.extend(classes.iter().map(|class| Need(class.key())));
                    (Rarity::Often, needs)
                }));
            }
        }
    }
    all.into_iter().min_by_key(cost)
}

/// Names that are no patterns.
fn plain(names: Option<&Names>, key: fn(&str) -> String) -> Option<Needs> {
    let names = names?.plain()?.map(|name| Need(key(name)));
    Some((Rarity::Named, names.collect()))
}

/// Programs by their names, or by what those begin with.
fn begun(names: Option<&Names>) -> Option<Needs> {
    let need = |(name, begins)| {
        let word = if begins { Word::Begins(name) } else { Word::Program(name) };
        Need(word.key())
    };
    Some((Rarity::Named, names?.beginnings()?.into_iter().map(need).collect()))
}

/// Letters of which one group must be in a command, if patterns are looked for there.
fn letters(matcher: &Matcher) -> Option<Vec<String>> {
    let patterns = &matcher.regex.as_ref()?.command;
    if patterns.is_empty() {
        return None;
    }
    let all: Option<Vec<_>> = patterns.iter().map(|pattern| pattern.letters()).collect();
    all.map(|all| all.concat())
}

/// The first directories of globs, or their last part if they may start anywhere.
fn placed(paths: &Paths) -> Option<Needs> {
    let mut rarity = Rarity::Placed;
    let needs = paths.globs().map(|glob| {
        if glob.from == From::Anywhere {
            let name = glob.text.rsplit('/').next().filter(|name| !name.contains(['*', '?', '[', '\\']))?;
            return Some(Need(tagged(NAME, name)));
        }
        let start = glob.start();
        let whole = start.len() == glob.text.len();
        let directory =
            if whole { start } else { start.rsplit_once('/').map_or("", |(directory, _)| directory) };
        let directory = directory.trim_end_matches('/');
        if directory.is_empty() {
            rarity = Rarity::Often;
        }
        Some(Need(start_key(glob.from, directory)))
    });
    let needs = needs.collect::<Option<Vec<_>>>()?;
    Some((rarity, needs))
}

/// Hosts, and the ends of hosts.
fn reached(hosts: &Hosts) -> Option<Needs> {
    let needs = hosts.names().globs().map(|glob| {
        let end = glob.strip_prefix("*.").unwrap_or(glob);
        (!end.contains(['*', '?', '[', '\\'])).then(|| Need(tagged(HOST, end)))
    });
    Some((Rarity::Placed, needs.collect::<Option<Vec<_>>>()?))
}
