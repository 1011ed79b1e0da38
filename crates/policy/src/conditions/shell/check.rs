// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks commands against a shell condition.

use tenterhook_facts::{PathFact, PathLocation, ShellCommand, ShellOption};
use tenterhook_sql::SqlStatement;

use super::{OperandCondition, ShellCondition};
use crate::conditions::glob::NameGlobs;
use crate::conditions::lazy_regex::LazyRegex;
use crate::conditions::match_mode::{
    Check, Explain, MatchFailure, MatchMode, Matched, OPEN_OPTION, OPEN_PATTERN,
};
use crate::conditions::one_or_more::{OneOrMore, values};

/// Commands that only change the directory, print or wait. A rule that allows a line does not have to name them.
const HARMLESS_PROGRAMS: &[&str] = &[
    "cd", "pushd", "popd", "pwd", "true", "false", ":", "exit", "echo", "printf", "test", "[", "[[", "wait",
    "sleep", "time", "timeout", "nice", "nohup", "command", "stdbuf",
];
const DISCARDING_OUTPUTS: &[&str] =
    &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/dev/tty"];

impl ShellCondition {
    /// Checks whether enough commands satisfy this condition. If `writes` is true, another condition of the
    /// rule covers the files that are written.
    pub(in crate::conditions) fn check_all(
        &self,
        commands: &[ShellCommand],
        mode: MatchMode,
        writes: bool,
        explain: Explain,
    ) -> Check {
        match mode {
            MatchMode::Any => self.check_some(commands, explain),
            MatchMode::All => self.check_every(commands, writes, explain),
        }
    }

    fn check_some(&self, commands: &[ShellCommand], explain: Explain) -> Check {
        let mut nearest: Option<(usize, MatchFailure)> = None;
        let mut unsure = None;
        for command in commands {
            match self.check(command, MatchMode::Any, explain, None) {
                Ok(matched) if matched.certain => return Ok(matched),
                Ok(matched) => unsure = Some(matched),
                Err((met, why)) if nearest.as_ref().is_none_or(|(most, _)| met > *most) => {
                    nearest = Some((met, why));
                }
                Err(_) => {}
            }
        }
        if let Some(matched) = unsure {
            return Ok(matched);
        }
        Err(nearest.map_or_else(|| MatchFailure("no command would run".to_owned()), |(_, why)| why))
    }

    fn check_every(&self, commands: &[ShellCommand], writes: bool, explain: Explain) -> Check {
        let mut first = None;
        for command in commands {
            let into = |path: &&PathFact| {
                !DISCARDING_OUTPUTS.contains(&path.resolved.as_deref().unwrap_or_default())
            };
            if !writes && let Some(path) = command.outputs.iter().chain(&command.error_outputs).find(into) {
                return Err(explain.failure(|| format!("it also writes `{}`", path.text)));
            }
            match self.check(command, MatchMode::All, explain, None) {
                Ok(matched) if matched.certain => {
                    first.get_or_insert(matched);
                }
                Ok(matched) => return Err(explain.failure(|| format!("{}, but only possibly", matched.why))),
                Err(_) if self.is_auxiliary(command) => {}
                Err((_, why)) => return Err(why),
            }
        }
        first.ok_or_else(|| explain.failure(|| "no command would run".to_owned()))
    }

    /// Whether the command is harmless or only starts others.
    fn is_auxiliary(&self, command: &ShellCommand) -> bool {
        let starts = self.via.as_ref().is_some_and(|via| via.matches(&command.program));
        starts || command.raw == command.program && HARMLESS_PROGRAMS.contains(&command.program.as_str())
    }

    /// Checks one command. On failure, also returns how many conditions matched before the one that failed, so that the
    /// closest command can be reported. `around` is the enclosing condition, if this one is an exception.
    fn check(
        &self,
        command: &ShellCommand,
        mode: MatchMode,
        explain: Explain,
        around: Option<&Self>,
    ) -> Result<Matched, (usize, MatchFailure)> {
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
            on,
            not,
        } = self;
        let options = values(option.as_ref());
        let name = if command.program.is_empty() { &command.raw } else { &command.program };
        if let Some(program) = program
            && !program.matches(&command.program)
        {
            return Err((0, explain.failure(|| format!("no program is one of {}", program.display_list()))));
        }
        if let Some(via) = via
            && !command.via.iter().any(|program| via.matches(program))
        {
            return Err((
                1,
                explain.failure(|| format!("`{name}` is started by none of {}", via.display_list())),
            ));
        }
        if !values(on.as_ref()).contains(&command.on) {
            return Err((
                1,
                explain.failure(|| format!("`{name}` runs on another machine or in a container")),
            ));
        }
        if let Some(acts) = acts
            && !command.acts.iter().any(|act| acts.matches(act))
        {
            return Err((
                1,
                explain.failure(|| format!("`{name}` has none of the behaviours {}", acts.display_list())),
            ));
        }
        if text.is_some() && !self.fits_texts(command, mode, around) {
            return Err((1, explain.failure(|| format!("no text of `{name}` matches"))));
        }
        if sql.is_some() && !self.fits_statements(command, mode, around) {
            return Err((1, explain.failure(|| format!("no SQL statement of `{name}` matches"))));
        }
        if let Some(env) = env
            && !command.env.iter().any(|pair| env.matches(pair))
        {
            return Err((
                1,
                explain.failure(|| {
                    format!("no environment variable of `{name}` is one of {}", env.display_list())
                }),
            ));
        }
        if let Some(first) = first {
            let word = command.operands.first().filter(|word| !word.dynamic);
            if !word.is_some_and(|word| first.matches(&word.text)) {
                return Err((
                    1,
                    explain.failure(|| {
                        format!("the first word after `{name}` is not one of {}", first.display_list())
                    }),
                ));
            }
        }
        // An option that may be given is enough to deny; to allow, the option has to be in effect.
        let counts = |option: &&ShellOption| mode == MatchMode::Any || !option.off;
        let mut given = command.options.iter().filter(counts);
        let given = given.any(|option| options.iter().any(|wanted| option.is(wanted)));
        let options_open = !options.is_empty() && !given;
        let no_option =
            || (1, explain.failure(|| format!("`{name}` has none of the options {}", options.join(", "))));
        if options_open && !command.open_options {
            return Err(no_option());
        }
        if let Some(wanted) = words {
            let mut words = command.words.iter();
            let mut is_next =
                |wanted: &NameGlobs| words.any(|word| !word.dynamic && wanted.matches(&word.text));
            let all = wanted.0.iter().all(&mut is_next);
            if !all {
                return Err((1, explain.failure(|| format!("the words after `{name}` do not match"))));
            }
        }
        let mut found = String::new();
        let mut is_certain = true;
        if let Some(wanted) = operand.as_ref().filter(|wanted| !wanted.is_empty()) {
            // A word that is known only at run time and may be the option cannot also be the operand.
            let candidates = command
                .operands
                .iter()
                .filter(|path| !(options_open && path.dynamic) && mode.considers(path));
            let Some(operand) = wanted.find(candidates, mode) else {
                return Err((2, explain.failure(|| format!("no operand of `{name}` matches"))));
            };
            is_certain &= operand.certain;
            found = format!("`{name}` on {}", operand.why);
        } else if options_open {
            return Err(no_option());
        }
        if let Some(paths) = path {
            let all = command.operands.iter().chain(&command.named).chain(&command.inputs);
            let path = mode.path(paths, all).ok_or_else(|| {
                (3, explain.failure(|| format!("`{name}` names none of {}", paths.display_list())))
            })?;
            is_certain &= path.certain;
            found = format!("`{name}` with {}", path.why);
        }
        if let Some(paths) = reads {
            let path = mode.path(paths, command.reads()).ok_or_else(|| {
                (3, explain.failure(|| format!("`{name}` reads none of {}", paths.display_list())))
            })?;
            is_certain &= path.certain;
            found = format!("`{name}` with {}", path.why);
        }
        if let Some(paths) = input {
            let path = mode.path(paths, command.inputs.iter()).ok_or_else(|| {
                (
                    3,
                    explain.failure(|| {
                        format!("no input of `{name}` is redirected from {}", paths.display_list())
                    }),
                )
            })?;
            is_certain &= path.certain;
            found = format!("`{name}` with input {}", path.why);
        }
        if let Some(paths) = output {
            let path = mode.path(paths, command.outputs.iter()).ok_or_else(|| {
                (
                    3,
                    explain.failure(|| {
                        format!("no output of `{name}` is redirected into {}", paths.display_list())
                    }),
                )
            })?;
            is_certain &= path.certain;
            found = format!("`{name}` with output {}", path.why);
        }
        if let Some(programs) = pipes_into {
            let is_not_read = command.feeds.iter().any(|program| programs.excludes(program));
            let feeds = command.feeds.iter().filter(|_| !is_not_read);
            let target = mode.pick(feeds, |program| programs.matches(program)).ok_or_else(|| {
                (
                    4,
                    explain.failure(|| {
                        format!("the output of `{name}` reaches none of {}", programs.display_list())
                    }),
                )
            })?;
            let what = if found.is_empty() { format!("`{name}`") } else { found };
            found = format!("{what} into `{target}`");
        }
        if let Some(programs) = ends_in {
            let last = command.ends_in.as_ref().filter(|program| programs.matches(program));
            let last = last.ok_or_else(|| {
                (
                    4,
                    explain.failure(|| {
                        format!("the output of `{name}` does not end in {}", programs.display_list())
                    }),
                )
            })?;
            found = format!("`{name}` into `{last}`");
        }
        for inner in values(not.as_ref()) {
            if inner
                .check(command, mode.inverse(), Explain::Nothing, Some(self))
                .is_ok_and(|matched| matched.certain || mode == MatchMode::All)
            {
                return Err((5, explain.failure(|| format!("an exception holds for `{name}`"))));
            }
        }
        let why = if found.is_empty() { format!("`{name}`") } else { found };
        // Allowing a command allows all of its options. The options of `echo` are harmless.
        let plain = matches!(command.program.as_str(), "echo" | "printf");
        let open = options_open || mode == MatchMode::All && command.open_options && !plain;
        let doubt = if is_certain { OPEN_OPTION } else { OPEN_PATTERN };
        Ok(Matched { why, certain: is_certain && !open, doubt })
    }

    /// Whether a pattern matches one of the texts. An exception must match all texts that satisfy `around`.
    fn fits_texts(&self, command: &ShellCommand, mode: MatchMode, around: Option<&Self>) -> bool {
        let mut patterns = values(self.text.as_ref()).iter();
        if !patterns.any(|pattern| pattern.may_match(command.letter_pairs())) {
            return false;
        }
        let fits = |text: &str| has_match(self.text.as_ref(), text);
        let mut texts = command.texts();
        match around.filter(|around| mode == MatchMode::All && around.text.is_some()) {
            None => texts.any(fits),
            Some(around) => {
                let met = |text: &&str| has_match(around.text.as_ref(), text);
                mode.pick(texts.filter(met), |text| fits(text)).is_some()
            }
        }
    }

    /// Whether a pattern matches one of the SQL statements. An exception must match all statements that satisfy
    /// `around`.
    fn fits_statements(&self, command: &ShellCommand, mode: MatchMode, around: Option<&Self>) -> bool {
        let statements = command.statements();
        let fits = |text: &str| has_match(self.sql.as_ref(), text);
        match around.filter(|around| mode == MatchMode::All && around.sql.is_some()) {
            None => statements.iter().any(|statement| fits(&statement.text)),
            Some(around) => {
                let met = |statement: &&SqlStatement| has_match(around.sql.as_ref(), &statement.text);
                mode.pick(statements.iter().filter(met), |statement| fits(&statement.unquoted)).is_some()
            }
        }
    }
}

impl OperandCondition {
    /// Returns the operand that satisfies the condition; in `All` mode, every operand has to. A certain match takes
    /// precedence over a possible one.
    fn find<'a>(&self, operands: impl Iterator<Item = &'a PathFact>, mode: MatchMode) -> Option<Matched> {
        let Self { place, path } = self;
        let places = values(place.as_ref());
        let listed = |place: &PathLocation| places.contains(place);
        let is_placed = |found: &PathFact| match mode {
            _ if places.is_empty() => true,
            MatchMode::Any => found.places.iter().any(listed),
            MatchMode::All => found.places.iter().all(listed),
        };
        match path {
            Some(globs) if mode == MatchMode::Any => {
                mode.path(globs, operands.filter(|found| is_placed(found)))
            }
            Some(globs) => {
                let mut all_placed = true;
                let found = mode.path(globs, operands.inspect(|found| all_placed &= is_placed(found)));
                found.filter(|_| all_placed)
            }
            None => {
                let found = mode.pick(operands, |found| is_placed(found))?;
                Some(Matched::certain(format!("`{}`", found.text)))
            }
        }
    }
}

fn has_match(patterns: Option<&OneOrMore<LazyRegex>>, text: &str) -> bool {
    values(patterns).iter().any(|pattern| pattern.is_match(text))
}
