// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The conditions of a rule, checked one by one. The first that fails says so in plain words.

use tenterhook_event::{Event, EventKind};

use crate::compile::glob::Paths;
use crate::compile::{Matcher, Shell};
use crate::facts::{Facts, PathFact, ShellCommand, ShellOption, Side, Unread};

/// What was found, or which condition failed.
type Check = Result<Held, String>;

/// Whether somebody wants to know which condition failed. Putting it in words for every condition of
/// every rule costs more than the judging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tell {
    Why,
    Nothing,
}

impl Tell {
    fn say(self, why: impl FnOnce() -> String) -> String {
        if self == Self::Why { why() } else { String::new() }
    }
}

/// All conditions hold.
pub(crate) struct Held {
    /// By what.
    pub(crate) why: String,
    /// Whether they do for certain; not if an unknown word has to be an option for it.
    pub(crate) sure: bool,
}

impl Matcher {
    /// Whether all conditions hold.
    pub(crate) fn check(&self, event: &Event, facts: &Facts, tell: Tell) -> Check {
        self.concerns(event, tell)?;
        let mut found = Vec::new();
        let mut sure = true;
        if let Some(shell) = &self.shell {
            let held = shell.check_all(&facts.commands, tell)?;
            sure &= held.sure;
            found.push(held.why);
        }
        if let Some(paths) = &self.paths {
            let of_commands =
                facts.commands.iter().flat_map(|command| command.operands.iter().chain(&command.inputs));
            let all = facts.paths.iter().chain(of_commands);
            found.push(
                matching(paths, all)
                    .ok_or_else(|| tell.say(|| format!("no path is one of {}", paths.list())))?,
            );
        }
        if !self.any.is_empty() {
            let mut held: Option<Held> = None;
            for other in self.any.iter().filter_map(|matcher| matcher.check(event, facts, Tell::Nothing).ok())
            {
                let enough = other.sure;
                held = Some(other);
                if enough {
                    break;
                }
            }
            let held = held.ok_or_else(|| {
                tell.say(|| {
                    let first = self.any.first().and_then(|matcher| matcher.check(event, facts, tell).err());
                    let first = first.unwrap_or_default();
                    format!("none of its {} alternatives holds; the first: {first}", self.any.len())
                })
            })?;
            sure &= held.sure;
            found.push(held.why);
        }
        if found.is_empty() {
            found.push(format!("{} of {}", event.event, tool_name(event)));
        }
        Ok(Held { why: found.join(", "), sure })
    }

    /// What an unread text mentions of the things this looks for, if it mentions enough of them.
    pub(crate) fn mentioned(&self, event: &Event, text: &Unread) -> Option<String> {
        self.concerns(event, Tell::Nothing).ok()?;
        let mut found = None;
        if let Some(shell) = &self.shell {
            found = Some(shell.mentioned(text)?);
        }
        if let Some(paths) = &self.paths {
            let glob = paths.mentioned(|part| text.contains(part))?;
            found.get_or_insert_with(|| format!("`{glob}`"));
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

    fn concerns(&self, event: &Event, tell: Tell) -> Result<(), String> {
        if !self.concerns_kind(event.event) {
            return Err(tell.say(|| format!("it is not about `{}` events", event.event)));
        }
        if let Some(tools) = &self.tools {
            let fits = event
                .tool
                .as_ref()
                .is_some_and(|tool| tools.classes.contains(&tool.class) || tools.names.matches(&tool.name));
            if !fits {
                return Err(tell.say(|| format!("it is not about {}", tool_name(event))));
            }
        }
        Ok(())
    }
}

impl Shell {
    fn check_all(&self, commands: &[ShellCommand], tell: Tell) -> Check {
        let mut nearest: Option<(usize, String)> = None;
        let mut unsure = None;
        // Until rules can say where, they speak of this machine.
        for command in commands.iter().filter(|command| command.on == Side::Here) {
            match self.check(command, tell) {
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

    /// On failure also how many conditions held before: the command that came nearest is reported.
    fn check(&self, command: &ShellCommand, tell: Tell) -> Result<Held, (usize, String)> {
        let name = if command.program.is_empty() { &command.raw } else { &command.program };
        if let Some(program) = &self.program
            && !program.matches(&command.program)
        {
            return Err((0, tell.say(|| format!("no program is one of {}", program.list()))));
        }
        let given = self.options.iter().any(|wanted| command.options.iter().any(|option| option.is(wanted)));
        let options_open = !self.options.is_empty() && !given;
        if options_open && !command.open_options {
            return Err((
                1,
                tell.say(|| format!("`{name}` has none of the options {}", self.options.join(", "))),
            ));
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
            let candidates = command.operands.iter().filter(|path| !(options_open && path.dynamic));
            let operand = candidates.into_iter().find(|path| self.operand_fits(path));
            let Some(operand) = operand else {
                return Err((2, tell.say(|| format!("no operand of `{name}` points where the rule looks"))));
            };
            found = format!("`{name}` on `{}`", operand.text);
        } else if options_open {
            return Err((
                1,
                tell.say(|| format!("`{name}` has none of the options {}", self.options.join(", "))),
            ));
        }
        if let Some(paths) = &self.path {
            let all = command.operands.iter().chain(&command.named).chain(&command.inputs);
            let path = matching(paths, all)
                .ok_or_else(|| (3, tell.say(|| format!("`{name}` names none of {}", paths.list()))))?;
            found = format!("`{name}` with {path}");
        }
        if let Some(paths) = &self.reads {
            let path = matching(paths, command.reads())
                .ok_or_else(|| (3, tell.say(|| format!("`{name}` reads none of {}", paths.list()))))?;
            found = format!("`{name}` with {path}");
        }
        if let Some(paths) = &self.input {
            let path = matching(paths, command.inputs.iter()).ok_or_else(|| {
                (3, tell.say(|| format!("nothing is redirected into `{name}` from {}", paths.list())))
            })?;
            found = format!("`{name}` with input {path}");
        }
        if let Some(programs) = &self.pipes_into {
            let target = command.feeds.iter().find(|program| programs.matches(program)).ok_or_else(|| {
                (4, tell.say(|| format!("what `{name}` prints is run by none of {}", programs.list())))
            })?;
            let what = if found.is_empty() { format!("`{name}`") } else { found };
            found = format!("{what} into `{target}`");
        }
        let why = if found.is_empty() { format!("`{name}`") } else { found };
        Ok(Held { why, sure: !options_open })
    }

    fn operand_fits(&self, path: &PathFact) -> bool {
        let placed = self.places.is_empty() || path.places.iter().any(|place| self.places.contains(place));
        placed && self.operand.as_ref().is_none_or(|globs| globs.matching(path).is_some())
    }

    fn mentioned(&self, text: &Unread) -> Option<String> {
        if text.whole {
            return Some("more than can be read".to_owned());
        }
        let mut found = None;
        if let Some(program) = &self.program {
            let options = |word: &str| {
                let option = ShellOption::from_word(word);
                option.is_some_and(|option| self.options.iter().any(|wanted| option.is(wanted)))
            };
            // In code of another language, `rm` may be anything; next to `-r` it is a command.
            let word = if self.options.is_empty() {
                text.words().find(|word| program.matches(word))
            } else {
                text.followed_by(|word| program.matches(word), options)
            };
            found = Some(format!("`{}`", word?));
        }
        if let Some(names) = &self.pipes_into {
            let word = text.words().find(|word| names.matches(word))?;
            found.get_or_insert_with(|| format!("`{word}`"));
        }
        for wanted in &self.words {
            text.words().find(|word| wanted.matches(word))?;
        }
        for paths in [&self.operand, &self.path, &self.reads, &self.input].into_iter().flatten() {
            let glob = paths.mentioned(|part| text.contains(part))?;
            found = Some(format!("`{glob}`"));
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
