// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which rules could match an event at all, found without asking each of them.
//!
//! A rule that looks for `terraform` cannot match a line in which nothing of that name runs. For
//! every rule some such things are found of which at least one must be there ([`needs`]); the rule
//! is kept under each of them and asked only when one turns up. Rules of which nothing can be said
//! are always asked. A rule with alternatives is kept by each of them, and only those that could hold
//! are looked at.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use tenterhook_event::{Event, EventKind, ToolClass};

use super::glob::{From, Hosts, Names, Paths, flat};
use super::matcher::Matcher;
use crate::facts::{Does, Facts, PathFact};
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
    words: HashMap<Word, Vec<Entry>>,
    /// By the first directories of a glob.
    starts: BTreeMap<From, Starts>,
    hosts: HashMap<String, Vec<Entry>>,
    /// By the last part of a path, wherever it lies.
    names: HashMap<String, Vec<Entry>>,
}

#[derive(Debug, Default)]
struct Starts {
    lists: BTreeMap<String, Vec<Entry>>,
    /// The length of the longest: further down a path there is nothing to look for.
    longest: usize,
}

/// Something that is in an event or is not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Word {
    Program(String),
    Tool(String),
    Class(ToolClass),
    Does(Does),
    Server(String),
    Package(String),
    SomeCommand,
    SomeEffect,
    SomeUrl,
    SomeMcp,
    SomePackage,
    SomeSecret,
}

/// Something of which a rule needs at least one.
#[derive(Debug, Clone)]
enum Need {
    Word(Word),
    Start(From, String),
    Name(String),
    Host(String),
}

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
                    match needs {
                        None => kind.always.push((number, *part)),
                        Some(needs) => needs.iter().for_each(|need| kind.keep(need, (number, *part))),
                    }
                }
            }
        }
        index
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
    fn keep(&mut self, need: &Need, entry: Entry) {
        let list = match need {
            Need::Word(word) => self.words.entry(word.clone()).or_default(),
            Need::Start(from, start) => {
                let starts = self.starts.entry(*from).or_default();
                starts.longest = starts.longest.max(start.len());
                starts.lists.entry(start.clone()).or_default()
            }
            Need::Name(name) => self.names.entry(name.clone()).or_default(),
            Need::Host(host) => self.hosts.entry(host.clone()).or_default(),
        };
        list.push(entry);
    }

    fn look_at_words(&self, event: &Event, facts: &Facts, found: &mut Vec<Entry>) {
        if self.words.is_empty() {
            return;
        }
        let mut see = |word: Word| found.extend(self.words.get(&word).into_iter().flatten());
        for command in &facts.commands {
            see(Word::Program(flat(&command.program).into_owned()));
        }
        if let Some(tool) = &event.tool {
            see(Word::Tool(flat(&tool.name).into_owned()));
            see(Word::Class(tool.class));
        }
        for effect in &facts.effects {
            see(Word::Does(effect.does));
        }
        if let Some(mcp) = &facts.mcp {
            see(Word::Server(flat(&mcp.server).into_owned()));
            see(Word::SomeMcp);
        }
        for package in &facts.packages {
            see(Word::Package(flat(&package.name).into_owned()));
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
        if self.starts.is_empty() && self.names.is_empty() {
            return;
        }
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
            let (Some(starts), Some(form)) = (self.starts.get(&from), form) else { continue };
            // Of a pattern only the letters before it are certain.
            let known = match form.find(['*', '?', '[']).filter(|_| open) {
                Some(end) => form.get(..end).unwrap_or_default(),
                None => form,
            };
            let ends = known.match_indices('/').map(|(end, _)| end).chain([known.len()]);
            for end in ends.take_while(|end| *end <= starts.longest) {
                let start = known.get(..end).unwrap_or_default();
                found.extend(starts.lists.get(start).into_iter().flatten());
            }
            if !known.starts_with('/') {
                found.extend(starts.lists.get("").into_iter().flatten());
            }
            if open || recursive {
                let known = known.trim_end_matches('/');
                let below = starts.lists.range::<str, _>((Bound::Included(known), Bound::Unbounded));
                let below = below.take_while(|(start, _)| start.starts_with(known));
                found.extend(below.flat_map(|(_, rules)| rules));
            }
        }
        if self.names.is_empty() {
            return;
        }
        if open {
            found.extend(self.names.values().flatten());
        } else {
            let form = path.resolved.as_deref().unwrap_or(&path.text);
            let name = form.rsplit('/').next().unwrap_or(form);
            found.extend(self.names.get(name).into_iter().flatten());
        }
    }

    fn look_at_hosts(&self, facts: &Facts, found: &mut Vec<Entry>) {
        if self.hosts.is_empty() {
            return;
        }
        for url in &facts.urls {
            if url.dynamic {
                found.extend(self.hosts.values().flatten());
                continue;
            }
            let ends = url.host.match_indices('.').map(|(at, _)| at + 1);
            for at in std::iter::once(0).chain(ends) {
                let end = url.host.get(at..).unwrap_or_default();
                found.extend(self.hosts.get(end).into_iter().flatten());
            }
        }
    }
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
    let words = |rarity, words: &[Word]| (rarity, words.iter().cloned().map(Need::Word).collect());
    if let Some(shell) = &matcher.shell {
        all.extend(plain(shell.program.as_ref(), Word::Program));
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
        all.extend(plain(mcp.server.as_ref(), Word::Server));
        all.push(words(Rarity::Seldom, &[Word::SomeMcp]));
    }
    if let Some(package) = &matcher.package {
        all.extend(plain(package.name.as_ref(), Word::Package));
        all.push(words(Rarity::Seldom, &[Word::SomePackage]));
    }
    if matcher.secret.is_some() {
        all.push(words(Rarity::Seldom, &[Word::SomeSecret]));
    }
    if let Some(tools) = &matcher.tools {
        let classes: Vec<_> = tools.classes.iter().map(|class| Word::Class(*class)).collect();
        match (&tools.names, classes.is_empty()) {
            (None, _) => all.push(words(Rarity::Often, &classes)),
            (Some(names), true) => all.extend(plain(Some(names), Word::Tool)),
            (Some(names), false) => {
                let named = plain(Some(names), Word::Tool);
                all.extend(named.map(|(_, mut needs)| {
                    needs.extend(classes.into_iter().map(Need::Word));
                    (Rarity::Often, needs)
                }));
            }
        }
    }
    all.into_iter().min_by_key(cost)
}

/// Names that are no patterns.
fn plain(names: Option<&Names>, word: fn(String) -> Word) -> Option<Needs> {
    let names = names?.plain()?.map(|name| Need::Word(word(name.to_owned())));
    Some((Rarity::Named, names.collect()))
}

/// The first directories of globs, or their last part if they may start anywhere.
fn placed(paths: &Paths) -> Option<Needs> {
    let mut rarity = Rarity::Placed;
    let needs = paths.globs().map(|glob| {
        if glob.from == From::Anywhere {
            let name = glob.text.rsplit('/').next().filter(|name| !name.contains(['*', '?', '[', '\\']))?;
            return Some(Need::Name(name.to_owned()));
        }
        let start = glob.start();
        let whole = start.len() == glob.text.len();
        let directory =
            if whole { start } else { start.rsplit_once('/').map_or("", |(directory, _)| directory) };
        let directory = directory.trim_end_matches('/');
        if directory.is_empty() {
            rarity = Rarity::Often;
        }
        Some(Need::Start(glob.from, directory.to_owned()))
    });
    let needs = needs.collect::<Option<Vec<_>>>()?;
    Some((rarity, needs))
}

/// Hosts, and the ends of hosts.
fn reached(hosts: &Hosts) -> Option<Needs> {
    let needs = hosts.names().globs().map(|glob| {
        let end = glob.strip_prefix("*.").unwrap_or(glob);
        (!end.contains(['*', '?', '[', '\\'])).then(|| Need::Host(end.to_owned()))
    });
    Some((Rarity::Placed, needs.collect::<Option<Vec<_>>>()?))
}
