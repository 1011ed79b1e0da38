// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on one command of a shell line.

mod check;

use serde::{Deserialize, Serialize};
use tenterhook_facts::{ExecLocation, PathLocation, ShellOption, UnreadText};

use super::effect::may_be_command;
use super::glob::{NameGlobs, PathGlobs, WordGlobs};
use super::lazy_regex::LazyRegex;
use super::one_or_more::{OneOrMore, values};
use crate::index::{IndexTerm, NeedList, Rarity};

/// Conditions on one command of a shell line.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions on a command")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Shell"))]
pub(crate) struct ShellCondition {
    /// Globs on the program's name without its directory; `!` excludes names. An empty name matches a program whose
    /// name is known only at run time.
    pub(crate) program: Option<NameGlobs>,
    /// Globs on the first word after the program that is not an option: the subcommand of `git`, `docker`, …
    pub(crate) first: Option<NameGlobs>,
    /// One of these options is given: letters (also combined, as in `-rf`) or long names (also abbreviated). In `not`, an
    /// option whose value turns it off (`--dry-run=false`) does not count.
    pub(crate) option: Option<OneOrMore<String>>,
    /// The command's words include these, in this order. Globs.
    pub(crate) words: Option<WordGlobs>,
    /// One operand satisfies all of these conditions.
    pub(crate) operand: Option<OperandCondition>,
    /// A path that the command names matches: an operand, the value of an option, `@file`, `key=file` or an input
    /// redirection. Globs as in `match.path`.
    pub(crate) path: Option<PathGlobs>,
    /// Like `path`, but without paths that the command only writes to, excludes or uses as a key.
    pub(crate) reads: Option<PathGlobs>,
    /// A file that is redirected into the command matches. Globs as in `match.path`.
    pub(crate) input: Option<PathGlobs>,
    /// A file that the command's output is redirected into matches. Globs as in `match.path`.
    pub(crate) output: Option<PathGlobs>,
    /// The command's output reaches one of these programs (name globs) through a pipe, `<(…)` or `$(…)`; an interpreter
    /// matches only if it would run its input as a script. An empty name matches a program that is known only at run
    /// time. With `!`, the output must not reach these programs.
    pub(crate) pipes_into: Option<NameGlobs>,
    /// Globs on the last program that the command's output reaches.
    pub(crate) ends_in: Option<NameGlobs>,
    /// Globs on the programs that start the command: `sudo`, `xargs`, `ssh`, …
    pub(crate) via: Option<NameGlobs>,
    /// Globs on known behaviour that is not visible in the command's words, such as `reverse-shell`.
    pub(crate) acts: Option<NameGlobs>,
    /// Regular expressions: one of them matches a word of the command, or a text that is known to reach its standard
    /// input (for example, SQL for `psql`). In `not`, the expressions must match every text that satisfies the
    /// enclosing condition, not just another word of the command.
    pub(crate) text: Option<OneOrMore<LazyRegex>>,
    /// Regular expressions: one of them matches an SQL statement in the command's words or in a text that is known to
    /// reach its standard input. Comments are left out, and so are statements that a `rollback` undoes. In `not`, the
    /// expressions must match every statement that satisfies the enclosing condition, and the contents of quoted
    /// strings are left out as well.
    pub(crate) sql: Option<OneOrMore<LazyRegex>>,
    /// Globs on `NAME=value`: an environment variable that is set in front of the command or by `env`, or an exported
    /// variable whose value is an address.
    pub(crate) env: Option<NameGlobs>,
    /// Where the command runs: any of these. Default: `here`.
    pub(crate) on: Option<OneOrMore<ExecLocation>>,
    /// Exceptions: the command must satisfy none of these. Example: `{ option: [n, dry-run] }`.
    pub(crate) not: Option<OneOrMore<ShellCondition>>,
}

/// Conditions on one operand of a command.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map with `place` or `path`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Operand"))]
pub(crate) struct OperandCondition {
    /// Where the operand points: any of these.
    pub(crate) place: Option<OneOrMore<PathLocation>>,
    /// Globs on the operand as a path, as in `match.path`.
    pub(crate) path: Option<PathGlobs>,
}

impl OperandCondition {
    fn is_empty(&self) -> bool {
        let Self { place, path } = self;
        place.is_none() && path.is_none()
    }
}

impl ShellCondition {
    /// Fills in the default of `on`: this machine, or for an exception, the locations of the enclosing condition.
    pub(super) fn fill_in_locations(&mut self, sides: &[ExecLocation]) {
        let on = self.on.get_or_insert_with(|| OneOrMore(sides.to_vec()));
        for exception in self.not.iter_mut().flat_map(|not| &mut not.0) {
            exception.fill_in_locations(&on.0);
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
        // All of these words have to be present, so any one of them can serve as the index key.
        for word in words.iter().flat_map(|words| &words.0) {
            to.add_names(Some(word), |text| IndexTerm::Argument(text));
            to.add_programs_with(program.as_ref(), word);
        }
        to.add_names(pipes_into.as_ref(), |name| IndexTerm::Fed(name));
        to.add_names(acts.as_ref(), |name| IndexTerm::Act(name));
        if env.is_some() {
            to.add_words(Rarity::Seldom, &[IndexTerm::SomeVariable]);
        }
        to.add_paths(operand.as_ref().and_then(|operand| operand.path.as_ref()));
        for paths in [path, reads, input] {
            to.add_paths(paths.as_ref());
        }
        to.add_words(Rarity::Often, &[IndexTerm::SomeCommand]);
    }

    /// Returns the part of an unparsed text that this condition looks for.
    pub(super) fn match_unparsed(&self, unread: &UnreadText) -> Option<String> {
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
        if unread.is_opaque {
            return Some("more than can be analysed".to_owned());
        }
        let mut found = None;
        if let Some(program) = program {
            let is_option = |word: &str| {
                let option = ShellOption::from_word(word);
                option.is_some_and(|option| options.iter().any(|wanted| option.is(wanted)))
            };
            // In code of another language, `rm` alone may be any identifier; `rm` followed by `-r` is a command.
            let names = |word: &str| program.matches(word) && may_be_command(unread, word);
            let word = if options.is_empty() {
                unread.words().find(|word| names(word))
            } else {
                unread.followed_by(names, is_option)
            };
            found = Some(format!("`{}`", word?));
        }
        // These conditions cannot be checked on the words of a text.
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
            let glob = paths.find_mentioned(|part| unread.contains(part))?;
            found = Some(format!("`{glob}`"));
        }
        found
    }
}
