// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whether commands satisfy a condition.

use tenterhook_facts::{PathFact, ShellCommand, ShellOption};
use tenterhook_shell_facts::SqlStatement;

use super::{OperandCondition, ShellCondition};
use crate::conditions::glob::NameGlobs;
use crate::conditions::match_mode::{Check, Explain, MatchMode, Matched, OPEN_OPTION};
use crate::conditions::one_or_more::{OneOrMore, values};
use crate::conditions::pattern::Pattern;

/// Commands that only change the directory, print something or wait. A rule that allows a line does not have
/// to name them.
const HARMLESS: &[&str] = &[
    "cd", "pushd", "popd", "pwd", "true", "false", ":", "exit", "echo", "printf", "test", "[", "[[", "wait",
    "sleep", "time", "timeout", "nice", "nohup", "command", "stdbuf",
];
const NOWHERE: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/dev/tty"];

impl ShellCondition {
    /// Whether enough of the commands satisfy all of this. `writes` says that another condition looks at
    /// what is written.
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
        let mut nearest: Option<(usize, String)> = None;
        let mut unsure = None;
        for command in commands {
            match self.check(command, MatchMode::Any, explain, None) {
                Ok(held) if held.certain => return Ok(held),
                Ok(held) => unsure = Some(held),
                Err((met, why)) if nearest.as_ref().is_none_or(|(most, _)| met > *most) => {
                    nearest = Some((met, why));
                }
                Err(_) => {}
            }
        }
        if let Some(held) = unsure {
            return Ok(held);
        }
        Err(nearest.map_or_else(|| "no command would run".to_owned(), |(_, why)| why))
    }

    fn check_every(&self, commands: &[ShellCommand], writes: bool, explain: Explain) -> Check {
        let mut first = None;
        for command in commands {
            let into = |path: &&PathFact| !NOWHERE.contains(&path.resolved.as_deref().unwrap_or_default());
            if !writes && let Some(path) = command.outputs.iter().find(into) {
                return Err(explain.with(|| format!("it also writes `{}`", path.text)));
            }
            match self.check(command, MatchMode::All, explain, None) {
                Ok(held) if held.certain => {
                    first.get_or_insert(held);
                }
                Ok(held) => return Err(explain.with(|| format!("{}, but only perhaps", held.why))),
                Err(_) if self.is_aside(command) => {}
                Err((_, why)) => return Err(why),
            }
        }
        first.ok_or_else(|| explain.with(|| "no command would run".to_owned()))
    }

    /// Whether it is only in the line for the sake of others.
    fn is_aside(&self, command: &ShellCommand) -> bool {
        let starts = self.via.as_ref().is_some_and(|via| via.matches(&command.program));
        starts || command.raw == command.program && HARMLESS.contains(&command.program.as_str())
    }

    /// On failure also how many conditions held before: the command that came nearest is reported.
    /// `around` is what this is an exception to.
    fn check(
        &self,
        command: &ShellCommand,
        mode: MatchMode,
        explain: Explain,
        around: Option<&Self>,
    ) -> Result<Matched, (usize, String)> {
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
            return Err((0, explain.with(|| format!("no program is one of {}", program.list()))));
        }
        if let Some(via) = via
            && !command.via.iter().any(|program| via.matches(program))
        {
            return Err((1, explain.with(|| format!("`{name}` is started by none of {}", via.list()))));
        }
        if !values(on.as_ref()).contains(&command.on) {
            return Err((1, explain.with(|| format!("`{name}` runs elsewhere"))));
        }
        if let Some(acts) = acts
            && !command.acts.iter().any(|act| acts.matches(act))
        {
            return Err((1, explain.with(|| format!("`{name}` does nothing of {}", acts.list()))));
        }
        if text.is_some() && !self.fits_texts(command, mode, around) {
            return Err((1, explain.with(|| format!("`{name}` is given no such text"))));
        }
        if sql.is_some() && !self.fits_statements(command, mode, around) {
            return Err((1, explain.with(|| format!("`{name}` is given no such statement"))));
        }
        if let Some(env) = env
            && !command.env.iter().any(|pair| env.matches(pair))
        {
            return Err((1, explain.with(|| format!("`{name}` is started with none of {}", env.list()))));
        }
        if let Some(first) = first {
            let word = command.operands.first().filter(|word| !word.dynamic);
            if !word.is_some_and(|word| first.matches(&word.text)) {
                return Err((
                    1,
                    explain.with(|| format!("the first word behind `{name}` is none of {}", first.list())),
                ));
            }
        }
        // To deny, an option that may be given is enough; to allow, it has to be in effect.
        let counts = |option: &&ShellOption| mode == MatchMode::Any || !option.off;
        let mut given = command.options.iter().filter(counts);
        let given = given.any(|option| options.iter().any(|wanted| option.is(wanted)));
        let options_open = !options.is_empty() && !given;
        let no_option =
            || (1, explain.with(|| format!("`{name}` has none of the options {}", options.join(", "))));
        if options_open && !command.open_options {
            return Err(no_option());
        }
        if let Some(wanted) = words {
            let mut words = command.words.iter();
            let mut is_next =
                |wanted: &NameGlobs| words.any(|word| !word.dynamic && wanted.matches(&word.text));
            let all = wanted.0.iter().all(&mut is_next);
            if !all {
                return Err((1, explain.with(|| format!("the words behind `{name}` are others"))));
            }
        }
        let mut found = String::new();
        if let Some(wanted) = operand.as_ref().filter(|wanted| !wanted.is_empty()) {
            // A word that has to be the option cannot be the operand as well.
            let candidates =
                command.operands.iter().filter(|path| !(options_open && path.dynamic) && mode.looks_at(path));
            let operand = mode.pick(candidates, |path| wanted.fits(path, mode));
            let Some(operand) = operand else {
                return Err((
                    2,
                    explain.with(|| format!("no operand of `{name}` points where the rule looks")),
                ));
            };
            found = format!("`{name}` on `{}`", operand.text);
        } else if options_open {
            return Err(no_option());
        }
        if let Some(paths) = path {
            let all = command.operands.iter().chain(&command.named).chain(&command.inputs);
            let path = mode
                .path(paths, all)
                .ok_or_else(|| (3, explain.with(|| format!("`{name}` names none of {}", paths.list()))))?;
            found = format!("`{name}` with {path}");
        }
        if let Some(paths) = reads {
            let path = mode
                .path(paths, command.reads())
                .ok_or_else(|| (3, explain.with(|| format!("`{name}` reads none of {}", paths.list()))))?;
            found = format!("`{name}` with {path}");
        }
        if let Some(paths) = input {
            let path = mode.path(paths, command.inputs.iter()).ok_or_else(|| {
                (3, explain.with(|| format!("nothing is redirected into `{name}` from {}", paths.list())))
            })?;
            found = format!("`{name}` with input {path}");
        }
        if let Some(paths) = output {
            let path = mode.path(paths, command.outputs.iter()).ok_or_else(|| {
                (3, explain.with(|| format!("the output of `{name}` goes into none of {}", paths.list())))
            })?;
            found = format!("`{name}` with output {path}");
        }
        if let Some(programs) = pipes_into {
            let spared = command.feeds.iter().any(|program| programs.excludes(program));
            let feeds = command.feeds.iter().filter(|_| !spared);
            let target = mode.pick(feeds, |program| programs.matches(program)).ok_or_else(|| {
                (4, explain.with(|| format!("what `{name}` prints is run by none of {}", programs.list())))
            })?;
            let what = if found.is_empty() { format!("`{name}`") } else { found };
            found = format!("{what} into `{target}`");
        }
        if let Some(programs) = ends_in {
            let last = command.ends_in.as_ref().filter(|program| programs.matches(program));
            let last = last.ok_or_else(|| {
                (4, explain.with(|| format!("what `{name}` prints does not end in {}", programs.list())))
            })?;
            found = format!("`{name}` into `{last}`");
        }
        for inner in values(not.as_ref()) {
            if inner
                .check(command, mode.other(), Explain::Nothing, Some(self))
                .is_ok_and(|held| held.certain || mode == MatchMode::All)
            {
                return Err((5, explain.with(|| format!("an exception holds for `{name}`"))));
            }
        }
        let why = if found.is_empty() { format!("`{name}`") } else { found };
        // To allow a command is to allow all of its options; those of `echo` change nothing.
        let plain = matches!(command.program.as_str(), "echo" | "printf");
        let open = options_open || mode == MatchMode::All && command.open_options && !plain;
        Ok(Matched { why, certain: !open, doubt: OPEN_OPTION })
    }

    /// Whether a pattern fits one of the texts; as an exception, all texts that `around` was met by.
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

    /// The same for SQL statements.
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
    fn fits(&self, found: &PathFact, mode: MatchMode) -> bool {
        let Self { place, path } = self;
        let places = values(place.as_ref());
        let listed = |place| places.contains(place);
        let placed = match mode {
            _ if places.is_empty() => true,
            MatchMode::Any => found.places.iter().any(listed),
            MatchMode::All => found.places.iter().all(listed),
        };
        placed && path.as_ref().is_none_or(|globs| mode.glob(globs, found).is_some())
    }
}

fn has_match(patterns: Option<&OneOrMore<Pattern>>, text: &str) -> bool {
    values(patterns).iter().any(|pattern| pattern.is_match(text))
}
