// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The conditions of a rule, checked one by one. The first that fails says so in plain words.

use tenterhook_event::{Event, EventKind};

use crate::compile::glob::Paths;
use crate::compile::{Matcher, Shell};
use crate::facts::{Facts, PathFact, ShellCommand, Unread};

/// What was found, or which condition failed.
type Check = Result<String, String>;

impl Matcher {
    /// Whether all conditions hold.
    pub(crate) fn check(&self, event: &Event, facts: &Facts) -> Check {
        self.concerns(event)?;
        let mut found = Vec::new();
        if let Some(shell) = &self.shell {
            found.push(shell.check_all(&facts.commands)?);
        }
        if let Some(paths) = &self.paths {
            let of_commands =
                facts.commands.iter().flat_map(|command| command.operands.iter().chain(&command.inputs));
            let all = facts.paths.iter().chain(of_commands);
            found.push(matching(paths, all).ok_or_else(|| format!("no path is one of {}", paths.list()))?);
        }
        if !self.any.is_empty() {
            let held = self.any.iter().find_map(|matcher| matcher.check(event, facts).ok());
            found.push(held.ok_or_else(|| format!("none of its {} alternatives holds", self.any.len()))?);
        }
        if found.is_empty() {
            found.push(format!("{} of {}", event.event, tool_name(event)));
        }
        Ok(found.join(", "))
    }

    /// What an unread text mentions of the things this looks for, if it mentions enough of them.
    pub(crate) fn mentioned(&self, event: &Event, text: &Unread) -> Option<String> {
        self.concerns(event).ok()?;
        let mut found = None;
        if let Some(shell) = &self.shell {
            found = Some(shell.mentioned(text)?);
        }
        if let Some(paths) = &self.paths {
            let trace = paths.traces().find(|trace| text.contains(trace))?;
            found.get_or_insert_with(|| format!("`{trace}`"));
        }
        if !self.any.is_empty() {
            let inner = self.any.iter().find_map(|matcher| matcher.mentioned(event, text))?;
            found.get_or_insert(inner);
        }
        found
    }

    /// Whether events of this kind are looked at.
    pub(crate) fn concerns_kind(&self, kind: EventKind) -> bool {
        self.events.as_ref().is_none_or(|events| events.contains(&kind))
    }

    fn concerns(&self, event: &Event) -> Result<(), String> {
        if !self.concerns_kind(event.event) {
            return Err(format!("it is not about `{}` events", event.event));
        }
        if let Some(tools) = &self.tools {
            let fits = event
                .tool
                .as_ref()
                .is_some_and(|tool| tools.classes.contains(&tool.class) || tools.names.matches(&tool.name));
            if !fits {
                return Err(format!("it is not about {}", tool_name(event)));
            }
        }
        Ok(())
    }
}

impl Shell {
    fn check_all(&self, commands: &[ShellCommand]) -> Check {
        let mut nearest: Option<(usize, String)> = None;
        for command in commands {
            match self.check(command) {
                Ok(why) => return Ok(why),
                Err((met, why)) if nearest.as_ref().is_none_or(|(most, _)| met > *most) => {
                    nearest = Some((met, why));
                }
                Err(_) => {}
            }
        }
        Err(nearest.map_or_else(|| "no command would run".to_owned(), |(_, why)| why))
    }

    /// On failure also how many conditions held before: the command that came nearest is reported.
    fn check(&self, command: &ShellCommand) -> Result<String, (usize, String)> {
        let name = if command.program.is_empty() { &command.raw } else { &command.program };
        if let Some(program) = &self.program
            && !program.matches(&command.program)
        {
            return Err((0, format!("no program is one of {}", program.list())));
        }
        let given = self.options.iter().any(|wanted| command.options.iter().any(|option| option.is(wanted)));
        let options_open = !self.options.is_empty() && !given;
        if options_open && !command.open_options {
            return Err((1, format!("`{name}` has none of the options {}", self.options.join(", "))));
        }
        let mut found = format!("`{name}`");
        if !self.places.is_empty() || self.operand.is_some() {
            // A word that has to be the option cannot be the operand as well.
            let candidates = command.operands.iter().filter(|path| !(options_open && path.dynamic));
            let operand = candidates.into_iter().find(|path| self.operand_fits(path));
            let Some(operand) = operand else {
                return Err((2, format!("no operand of `{name}` points where the rule looks")));
            };
            found = format!("`{name}` on `{}`", operand.text);
        } else if options_open {
            return Err((1, format!("`{name}` has none of the options {}", self.options.join(", "))));
        }
        if let Some(paths) = &self.path {
            let all = command.operands.iter().chain(&command.named).chain(&command.inputs);
            let path = matching(paths, all)
                .ok_or_else(|| (3, format!("`{name}` names none of {}", paths.list())))?;
            found = format!("`{name}` with {path}");
        }
        if let Some(paths) = &self.input {
            let path = matching(paths, command.inputs.iter())
                .ok_or_else(|| (3, format!("nothing is redirected into `{name}` from {}", paths.list())))?;
            found = format!("`{name}` with input {path}");
        }
        if let Some(programs) = &self.pipes_into {
            let target =
                command.feeds.iter().find(|program| programs.matches(program)).ok_or_else(|| {
                    (4, format!("what `{name}` prints is run by none of {}", programs.list()))
                })?;
            found = format!("{found} into `{target}`");
        }
        Ok(found)
    }

    fn operand_fits(&self, path: &PathFact) -> bool {
        let placed = self.places.is_empty() || path.places.iter().any(|place| self.places.contains(place));
        placed && self.operand.as_ref().is_none_or(|globs| globs.matching(path).is_some())
    }

    fn mentioned(&self, text: &Unread) -> Option<String> {
        let mut found = None;
        for names in [&self.program, &self.pipes_into].into_iter().flatten() {
            let word = text.words().find(|word| names.matches(word))?;
            found.get_or_insert_with(|| format!("`{word}`"));
        }
        for paths in [&self.operand, &self.path, &self.input].into_iter().flatten() {
            let trace = paths.traces().find(|trace| text.contains(trace))?;
            found.get_or_insert_with(|| format!("`{trace}`"));
        }
        found
    }
}

fn matching<'a>(globs: &Paths, mut paths: impl Iterator<Item = &'a PathFact>) -> Option<String> {
    paths.find_map(|path| globs.matching(path).map(|glob| format!("`{}` (`{glob}`)", path.text)))
}

fn tool_name(event: &Event) -> String {
    event.tool.as_ref().map_or_else(
        || "an event without a tool".to_owned(),
        |tool| format!("the tool `{}` of class `{}`", tool.name, tool.class.name()),
    )
}
