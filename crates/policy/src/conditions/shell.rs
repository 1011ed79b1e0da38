// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on one command of a shell line.

mod check;

use serde::{Deserialize, Serialize};
use tenterhook_facts::{Place, ShellOption, Side, Unread};

use super::glob::{NameGlobs, PathGlobs, WordGlobs};
use super::one_or_more::{OneOrMore, values};
use super::pattern::Pattern;
use crate::index::{NeedList, Rarity, Word};

/// Conditions on one command of a shell line.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions on a command")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Shell"))]
pub(crate) struct ShellCondition {
    /// Globs on the program's name without its directory; `!` takes names away. An empty name stands
    /// for a program that is only known when it runs.
    pub(crate) program: Option<NameGlobs>,
    /// The first word behind the program that is no option: the subcommand of `git`, `docker`, … Globs.
    pub(crate) first: Option<NameGlobs>,
    /// Any of these options is given: letters (also in clusters) or long names (also abbreviated). In
    /// `not`, an option whose value turns it off (`--dry-run=false`) does not count.
    pub(crate) option: Option<OneOrMore<String>>,
    /// These words stand among the command's words, in this order. Globs.
    pub(crate) words: Option<WordGlobs>,
    /// Some operand satisfies all of this.
    pub(crate) operand: Option<OperandCondition>,
    /// Some path the command names matches: an operand, an option's value, `@file`, `key=file` or
    /// an input redirection. Globs as in `path` above.
    pub(crate) path: Option<PathGlobs>,
    /// As `path`, but not what the command only writes to, leaves out, or uses as a key.
    pub(crate) reads: Option<PathGlobs>,
    /// Some file redirected into the command matches. Globs as in `path` above.
    pub(crate) input: Option<PathGlobs>,
    /// Some file the command's output is redirected into matches. Globs as in `path` above.
    pub(crate) output: Option<PathGlobs>,
    /// The command's output reaches one of these programs (name globs) through a pipe, `<(…)` or
    /// `$(…)`; an interpreter counts only when it would run what it gets as a script. An empty name
    /// stands for a program that is only known when it runs. With `!`, it reaches none of these.
    pub(crate) pipes_into: Option<NameGlobs>,
    /// The last program that the command's output reaches is one of these (name globs).
    pub(crate) ends_in: Option<NameGlobs>,
    /// The command is started by one of these programs (name globs): `sudo`, `xargs`, `ssh`, …
    pub(crate) via: Option<NameGlobs>,
    /// What it is known to do beyond what its words say, such as `reverse-shell`. Globs.
    pub(crate) acts: Option<NameGlobs>,
    /// Regular expressions: any of them fits one of its words, or a text that it is known to get on its
    /// standard input (SQL for `psql`, for one). In `not`, they must fit every text that the condition
    /// around it was met by, not just some other word of the command.
    pub(crate) text: Option<OneOrMore<Pattern>>,
    /// Regular expressions: any of them fits one SQL statement in its words or in a text that it is known
    /// to get on its standard input. Comments are left out, and so are statements that a `rollback`
    /// undoes. In `not`, they must fit every statement that the condition around it was met by, and
    /// the contents of quoted texts are left out as well.
    pub(crate) sql: Option<OneOrMore<Pattern>>,
    /// Globs on `NAME=value`: some variable it is started with, in front of it or by `env`; or an address
    /// that was exported before.
    pub(crate) env: Option<NameGlobs>,
    /// Where it runs: any of these. Default: `here`.
    pub(crate) on: Option<OneOrMore<Side>>,
    /// The same command satisfies none of these: `{ option: [n, dry-run] }`.
    pub(crate) not: Option<OneOrMore<ShellCondition>>,
}

/// Conditions on one operand of a command.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map with `place` or `path`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Operand"))]
pub(crate) struct OperandCondition {
    /// Where the operand points: any of these.
    pub(crate) place: Option<OneOrMore<Place>>,
    /// Globs on the operand as a path, as in `path` above.
    pub(crate) path: Option<PathGlobs>,
}

impl OperandCondition {
    fn is_empty(&self) -> bool {
        let Self { place, path } = self;
        place.is_none() && path.is_none()
    }
}

impl ShellCondition {
    /// Fills in where it runs: on this machine, or for an exception where the condition around it does.
    pub(super) fn fill_in_sides(&mut self, sides: &[Side]) {
        let on = self.on.get_or_insert_with(|| OneOrMore(sides.to_vec()));
        for exception in self.not.iter_mut().flat_map(|not| &mut not.0) {
            exception.fill_in_sides(&on.0);
        }
    }

    pub(super) fn add_needs(&self, to: &mut NeedList) {
        let Self {
            program,
            first: _,
            option: _,
            words,
            operand,
            path,
            reads,
            input,
            output: _,
            pipes_into,
            ends_in: _,
            via: _,
            acts,
            text: _,
            sql: _,
            env,
            on: _,
            not: _,
        } = self;
        to.add_programs(program.as_ref());
        // All of these have to be there, so each of them is enough to look for.
        for word in words.iter().flat_map(|words| &words.0) {
            to.add_names(Some(word), |text| Word::Argument(text));
            to.add_programs_with(program.as_ref(), word);
        }
        to.add_names(pipes_into.as_ref(), |name| Word::Fed(name));
        to.add_names(acts.as_ref(), |name| Word::Act(name));
        if env.is_some() {
            to.add_words(Rarity::Seldom, &[Word::SomeVariable]);
        }
        to.add_paths(operand.as_ref().and_then(|operand| operand.path.as_ref()));
        for paths in [path, reads, input] {
            to.add_paths(paths.as_ref());
        }
        to.add_words(Rarity::Often, &[Word::SomeCommand]);
    }

    /// What an unread text mentions of it.
    pub(super) fn match_unparsed(&self, unread: &Unread) -> Option<String> {
        let Self {
            program,
            first,
            option,
            words,
            operand,
            path,
            reads,
            input,
            output,
            pipes_into,
            ends_in,
            via,
            acts,
            text,
            sql,
            env,
            on: _,
            not: _,
        } = self;
        let options = values(option.as_ref());
        if unread.whole {
            return Some("more than can be read".to_owned());
        }
        // A name alone says little in a language where it may be anything.
        if unread.seen && (options.is_empty() || !unread.may_run) {
            return None;
        }
        let mut found = None;
        if let Some(program) = program {
            let is_option = |word: &str| {
                let option = ShellOption::from_word(word);
                option.is_some_and(|option| options.iter().any(|wanted| option.is(wanted)))
            };
            // In code of another language, `rm` may be anything; next to `-r` it is a command.
            let word = if options.is_empty() {
                unread.words().find(|word| program.matches(word))
            } else {
                unread.followed_by(|word| program.matches(word), is_option)
            };
            found = Some(format!("`{}`", word?));
        }
        // What a command does beyond its words is not in the words.
        if acts.is_some() || env.is_some() {
            return None;
        }
        for patterns in [text, sql].into_iter().flatten() {
            if !patterns.0.iter().any(|pattern| pattern.is_match(unread.text())) {
                return None;
            }
        }
        for names in [via, first].into_iter().flatten() {
            unread.words().find(|word| names.matches(word))?;
        }
        for names in [pipes_into, ends_in].into_iter().flatten() {
            let word = unread.words().find(|word| names.matches(word))?;
            found.get_or_insert_with(|| format!("`{word}`"));
        }
        for wanted in words.iter().flat_map(|words| &words.0) {
            unread.words().find(|word| wanted.matches(word))?;
        }
        let operand = operand.as_ref().and_then(|operand| operand.path.as_ref());
        let others = [path, reads, input, output].into_iter().flatten();
        for paths in operand.into_iter().chain(others) {
            let glob = paths.mentioned(|part| unread.contains(part))?;
            found = Some(format!("`{glob}`"));
        }
        found
    }
}
