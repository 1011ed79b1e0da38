// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on one command that would run.

use super::{Check, Held, OPEN_OPTION, Sense, Tell};
use crate::compile::Shell;
use crate::facts::{PathFact, ShellCommand, ShellOption, Statement};

/// Commands that do nothing but move about, say something or wait. Whoever vouches for a line does
/// not have to name them.
const HARMLESS: &[&str] = &[
    "cd", "pushd", "popd", "pwd", "true", "false", ":", "exit", "echo", "printf", "test", "[", "[[", "wait",
    "sleep", "time", "timeout", "nice", "nohup", "command", "stdbuf",
];
const NOWHERE: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/dev/tty"];

impl Shell {
    /// Whether enough of the commands satisfy all of this. `writes` says that somebody else looks at
    /// what is written.
    pub(super) fn check_all(
        &self,
        commands: &[ShellCommand],
        sense: Sense,
        writes: bool,
        tell: Tell,
    ) -> Check {
        match sense {
            Sense::Guards => self.check_some(commands, tell),
            Sense::Vouches => self.check_every(commands, writes, tell),
        }
    }

    fn check_some(&self, commands: &[ShellCommand], tell: Tell) -> Check {
        let mut nearest: Option<(usize, String)> = None;
        let mut unsure = None;
        for command in commands {
            match self.check(command, Sense::Guards, tell, None) {
                Ok(held) if held.sure => return Ok(held),
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

    fn check_every(&self, commands: &[ShellCommand], writes: bool, tell: Tell) -> Check {
        let mut first = None;
        for command in commands {
            let into = |path: &&PathFact| !NOWHERE.contains(&path.resolved.as_deref().unwrap_or_default());
            if !writes && let Some(path) = command.outputs.iter().find(into) {
                return Err(tell.say(|| format!("it also writes `{}`", path.text)));
            }
            match self.check(command, Sense::Vouches, tell, None) {
                Ok(held) if held.sure => {
                    first.get_or_insert(held);
                }
                Ok(held) => return Err(tell.say(|| format!("{}, but only perhaps", held.why))),
                Err(_) if self.is_aside(command) => {}
                Err((_, why)) => return Err(why),
            }
        }
        first.ok_or_else(|| tell.say(|| "no command would run".to_owned()))
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
        sense: Sense,
        tell: Tell,
        around: Option<&Self>,
    ) -> Result<Held, (usize, String)> {
        let name = if command.program.is_empty() { &command.raw } else { &command.program };
        if let Some(program) = &self.program
            && !program.matches(&command.program)
        {
            return Err((0, tell.say(|| format!("no program is one of {}", program.list()))));
        }
        if let Some(via) = &self.via
            && !command.via.iter().any(|program| via.matches(program))
        {
            return Err((1, tell.say(|| format!("`{name}` is started by none of {}", via.list()))));
        }
        if !self.on.contains(&command.on) {
            return Err((1, tell.say(|| format!("`{name}` runs elsewhere"))));
        }
        if let Some(acts) = &self.acts
            && !command.acts.iter().any(|act| acts.matches(act))
        {
            return Err((1, tell.say(|| format!("`{name}` does nothing of {}", acts.list()))));
        }
        if !self.text.is_empty() && !self.fits_texts(command, sense, around) {
            return Err((1, tell.say(|| format!("`{name}` is given no such text"))));
        }
        if !self.sql.is_empty() && !self.fits_statements(command, sense, around) {
            return Err((1, tell.say(|| format!("`{name}` is given no such statement"))));
        }
        if let Some(env) = &self.env
            && !command.env.iter().any(|pair| env.matches(pair))
        {
            return Err((1, tell.say(|| format!("`{name}` is started with none of {}", env.list()))));
        }
        if let Some(first) = &self.first {
            let word = command.operands.first().filter(|word| !word.dynamic);
            if !word.is_some_and(|word| first.matches(&word.text)) {
                return Err((
                    1,
                    tell.say(|| format!("the first word behind `{name}` is none of {}", first.list())),
                ));
            }
        }
        // Which may be given is enough to be afraid of it; to be vouched for it has to be in effect.
        let counts = |option: &&ShellOption| sense == Sense::Guards || !option.off;
        let mut options = command.options.iter().filter(counts);
        let given = options.any(|option| self.options.iter().any(|wanted| option.is(wanted)));
        let options_open = !self.options.is_empty() && !given;
        let no_option =
            || (1, tell.say(|| format!("`{name}` has none of the options {}", self.options.join(", "))));
        if options_open && !command.open_options {
            return Err(no_option());
        }
        if !self.words.is_empty() {
            let mut words = command.words.iter();
            let all =
                self.words.iter().all(|wanted| words.any(|word| !word.dynamic && wanted.matches(&word.text)));
            if !all {
                return Err((1, tell.say(|| format!("the words behind `{name}` are others"))));
            }
        }
        let mut found = String::new();
        if !self.places.is_empty() || self.operand.is_some() {
            // A word that has to be the option cannot be the operand as well.
            let candidates = command
                .operands
                .iter()
                .filter(|path| !(options_open && path.dynamic) && sense.looks_at(path));
            let operand = sense.pick(candidates, |path| self.operand_fits(path, sense));
            let Some(operand) = operand else {
                return Err((2, tell.say(|| format!("no operand of `{name}` points where the rule looks"))));
            };
            found = format!("`{name}` on `{}`", operand.text);
        } else if options_open {
            return Err(no_option());
        }
        if let Some(paths) = &self.path {
            let all = command.operands.iter().chain(&command.named).chain(&command.inputs);
            let path = sense
                .path(paths, all)
                .ok_or_else(|| (3, tell.say(|| format!("`{name}` names none of {}", paths.list()))))?;
            found = format!("`{name}` with {path}");
        }
        if let Some(paths) = &self.reads {
            let path = sense
                .path(paths, command.reads())
                .ok_or_else(|| (3, tell.say(|| format!("`{name}` reads none of {}", paths.list()))))?;
            found = format!("`{name}` with {path}");
        }
        if let Some(paths) = &self.input {
            let path = sense.path(paths, command.inputs.iter()).ok_or_else(|| {
                (3, tell.say(|| format!("nothing is redirected into `{name}` from {}", paths.list())))
            })?;
            found = format!("`{name}` with input {path}");
        }
        if let Some(paths) = &self.output {
            let path = sense.path(paths, command.outputs.iter()).ok_or_else(|| {
                (3, tell.say(|| format!("the output of `{name}` goes into none of {}", paths.list())))
            })?;
            found = format!("`{name}` with output {path}");
        }
        if let Some(programs) = &self.pipes_into {
            let spared = command.feeds.iter().any(|program| programs.excludes(program));
            let feeds = command.feeds.iter().filter(|_| !spared);
            let target = sense.pick(feeds, |program| programs.matches(program)).ok_or_else(|| {
                (4, tell.say(|| format!("what `{name}` prints is run by none of {}", programs.list())))
            })?;
            let what = if found.is_empty() { format!("`{name}`") } else { found };
            found = format!("{what} into `{target}`");
        }
        if let Some(programs) = &self.ends_in {
            let last = command.ends_in.as_ref().filter(|program| programs.matches(program));
            let last = last.ok_or_else(|| {
                (4, tell.say(|| format!("what `{name}` prints does not end in {}", programs.list())))
            })?;
            found = format!("`{name}` into `{last}`");
        }
        for inner in &self.not {
            if inner
                .check(command, sense.other(), Tell::Nothing, Some(self))
                .is_ok_and(|held| held.sure || sense == Sense::Vouches)
            {
                return Err((5, tell.say(|| format!("an exception holds for `{name}`"))));
            }
        }
        let why = if found.is_empty() { format!("`{name}`") } else { found };
        // Who vouches for a command vouches for all of its options; those of `echo` change nothing.
        let plain = matches!(command.program.as_str(), "echo" | "printf");
        let open = options_open || sense == Sense::Vouches && command.open_options && !plain;
        Ok(Held { why, sure: !open, doubt: OPEN_OPTION })
    }

    /// Whether a pattern fits one of the texts; as an exception, all texts that `around` was met by.
    fn fits_texts(&self, command: &ShellCommand, sense: Sense, around: Option<&Self>) -> bool {
        let fits = |text: &str| self.text.iter().any(|pattern| pattern.is_match(text));
        let words = command.words.iter().map(|word| word.text.as_str());
        let mut texts = words.chain(command.given.iter().map(AsRef::as_ref));
        match around.filter(|around| sense == Sense::Vouches && !around.text.is_empty()) {
            None => texts.any(fits),
            Some(around) => {
                let met = |text: &&str| around.text.iter().any(|pattern| pattern.is_match(text));
                sense.pick(texts.filter(met), |text| fits(text)).is_some()
            }
        }
    }

    /// The same for SQL statements.
    fn fits_statements(&self, command: &ShellCommand, sense: Sense, around: Option<&Self>) -> bool {
        let statements = command.statements();
        let fits = |text: &str| self.sql.iter().any(|pattern| pattern.is_match(text));
        match around.filter(|around| sense == Sense::Vouches && !around.sql.is_empty()) {
            None => statements.iter().any(|statement| fits(&statement.text)),
            Some(around) => {
                let met = |statement: &&Statement| {
                    around.sql.iter().any(|pattern| pattern.is_match(&statement.text))
                };
                sense.pick(statements.iter().filter(met), |statement| fits(&statement.unquoted)).is_some()
            }
        }
    }

    fn operand_fits(&self, path: &PathFact, sense: Sense) -> bool {
        let listed = |place| self.places.contains(place);
        let placed = match sense {
            _ if self.places.is_empty() => true,
            Sense::Guards => path.places.iter().any(listed),
            Sense::Vouches => path.places.iter().all(listed),
        };
        placed && self.operand.as_ref().is_none_or(|globs| sense.glob(globs, path).is_some())
    }
}
