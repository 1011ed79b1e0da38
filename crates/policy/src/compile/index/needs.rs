// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Things of which at least one must be there for a rule to match.

use super::WHOLE;
use super::word::{HOST, NAME, Word, start_key, tagged};
use crate::compile::glob::{From, Hosts, Names, Paths};
use crate::compile::matcher::Matcher;

/// Something of which a rule needs at least one.
#[derive(Debug, Clone)]
pub(super) struct Need(pub(super) String);

/// How rare the things are that a rule needs: the rarer, the less often it is asked in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rarity {
    Named,
    Placed,
    Seldom,
    Often,
}

type Needs = (Rarity, Vec<Need>);

/// The parts of a rule that can be asked by themselves, and what each needs.
pub(super) fn parts(matcher: &Matcher) -> Vec<(u16, Option<Vec<Need>>)> {
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
        // All of these have to be there, so each of them is enough to look for.
        for word in &shell.words {
            all.extend(plain(Some(word), |text| Word::Argument(text).key()));
        }
        all.extend(plain(shell.pipes_into.as_ref(), |name| Word::Fed(name).key()));
        all.extend(plain(shell.acts.as_ref(), |name| Word::Act(name).key()));
        if shell.env.is_some() {
            all.push(words(Rarity::Seldom, &[Word::SomeVariable]));
        }
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
        all.extend(plain(mcp.folded_server.as_ref(), |name| Word::Server(name).key()));
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
pub(super) fn letters(matcher: &Matcher) -> Option<Vec<String>> {
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
