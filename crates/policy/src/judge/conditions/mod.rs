// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The conditions of a rule, checked one by one. The first that fails says so in plain words.

mod address;
mod effect;
mod mcp;
mod mentioned;
mod package;
mod shell;
mod text;

pub(crate) use text::commands;

use tenterhook_event::{Event, EventKind};

use crate::compile::glob::{Names, Paths};
use crate::compile::{Matcher, Tools};
use crate::facts::{Facts, PathFact, Side};
use crate::state::SessionState;

/// What was found, or which condition failed.
type Check = Result<Held, String>;

/// Whether somebody wants to know which condition failed. Putting it in words for every condition of
/// every rule costs more than the judging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tell {
    Why,
    Nothing,
}

/// How conditions are read. One command of a line is enough to be afraid of it; to vouch for the
/// line, all of them have to be known and fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sense {
    /// Some one thing satisfies them, or may.
    Guards,
    /// Everything there is satisfies them, for certain.
    Vouches,
}

/// All conditions hold.
#[derive(Debug)]
pub(crate) struct Held {
    /// By what.
    pub(crate) why: String,
    /// Whether they do for certain.
    pub(crate) sure: bool,
    /// Where they do not, what would have to be true.
    pub(crate) doubt: &'static str,
}

/// An unknown word may turn out to be an option.
const OPEN_OPTION: &str = "an unknown word is an option";
/// A pattern may stand for a guarded path.
const OPEN_PATTERN: &str = "the pattern matches it";

/// The joined name of an MCP tool may be that of another server.
const OPEN_NAME: &str = "the name is read that way";

/// What conditions are checked on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) event: &'a Event,
    pub(crate) facts: &'a Facts,
    pub(crate) state: &'a SessionState,
    /// Whether the rule is locked: no setting of the user turns it off, so it must not deny by mistake.
    pub(crate) locked: bool,
}

// === impl Tell ===

impl Tell {
    fn say(self, why: impl FnOnce() -> String) -> String {
        if self == Self::Why { why() } else { String::new() }
    }
}

// === impl Sense ===

impl Sense {
    /// What an exception to a condition is read in.
    fn other(self) -> Self {
        match self {
            Self::Guards => Self::Vouches,
            Self::Vouches => Self::Guards,
        }
    }

    /// The first that fits, if there are enough that do: one, or all.
    fn pick<T>(self, mut items: impl Iterator<Item = T>, fits: impl Fn(&T) -> bool) -> Option<T> {
        match self {
            Self::Guards => items.find(fits),
            Self::Vouches => {
                let first = items.next()?;
                (fits(&first) && items.all(|item| fits(&item))).then_some(first)
            }
        }
    }

    /// Whether a path counts by itself: who vouches for a place does not have to name it twice.
    fn looks_at(self, path: &PathFact) -> bool {
        self == Self::Guards || !path.again
    }

    /// The glob a path matches.
    fn glob<'a>(self, globs: &'a Paths, path: &PathFact) -> Option<&'a str> {
        match self {
            Self::Guards => globs.matching(path),
            Self::Vouches => globs.surely(path),
        }
    }

    /// The path that matches and its glob, in words.
    fn path<'a>(self, globs: &Paths, paths: impl Iterator<Item = &'a PathFact>) -> Option<String> {
        let paths = paths.filter(|path| self.looks_at(path));
        let path = self.pick(paths, |path| self.glob(globs, path).is_some())?;
        self.glob(globs, path).map(|glob| format!("`{}` (`{glob}`)", path.text))
    }
}

// === impl Held ===

impl Held {
    fn surely(why: String) -> Self {
        Self { why, sure: true, doubt: OPEN_OPTION }
    }
}

// === impl Matcher ===

impl Matcher {
    /// Whether all conditions hold.
    pub(crate) fn check(&self, case: Case<'_>, sense: Sense, tell: Tell) -> Check {
        self.check_parts(case, sense, tell, None)
    }

    /// The same, when it is known that only these of the alternatives could hold.
    pub(crate) fn check_parts(
        &self,
        case: Case<'_>,
        sense: Sense,
        tell: Tell,
        parts: Option<&[u16]>,
    ) -> Check {
        self.concerns(case, tell)?;
        let mut found = Vec::new();
        let (mut sure, mut doubt) = (true, OPEN_OPTION);
        let mut note = |held: Held| {
            if !held.sure {
                (sure, doubt) = (false, held.doubt);
            }
            found.push(held.why);
        };
        let Case { event, facts, .. } = case;
        // A call that was not understood may do more than what is seen of it.
        if sense == Sense::Vouches && facts.unparsed && self.unparsed != Some(true) && self.is_narrow() {
            return Err(tell.say(|| "part of the call could not be understood".to_owned()));
        }
        if let Some(shell) = &self.shell {
            note(shell.check_all(&facts.commands, sense, self.effect.is_some(), tell)?);
        }
        if let Some(effect) = &self.effect {
            note(effect.check_all(&facts.effects, sense, case.locked, tell)?);
        }
        if let Some(paths) = &self.paths {
            let here = facts.commands.iter().filter(|command| command.on == Side::Here);
            let of_commands = here.flat_map(|command| command.operands.iter().chain(&command.inputs));
            let path = sense.path(paths, facts.paths.iter().chain(of_commands));
            let path = path.ok_or_else(|| tell.say(|| format!("no path is one of {}", paths.list())))?;
            note(Held::surely(path));
        }
        if let Some(url) = &self.url {
            note(Held::surely(url.check_all(&facts.urls, sense, tell)?));
        }
        if let Some(mcp) = &self.mcp {
            note(mcp.check(facts, sense, tell)?);
        }
        if let Some(package) = &self.package {
            note(Held::surely(package.check_all(&facts.packages, sense, tell)?));
        }
        if let Some(kinds) = &self.secret {
            let secret = sense.pick(facts.secrets.iter(), |secret| kinds.matches(secret.kind));
            let secret = secret.ok_or_else(|| {
                tell.say(|| format!("no secret of the kind {} is in the call", kinds.list()))
            })?;
            note(Held::surely(format!("a secret (`{}`) in the {}", secret.kind, secret.within)));
        }
        if let Some(patterns) = &self.regex {
            note(Held::surely(patterns.check(case, sense, tell)?));
        }
        if !self.any.is_empty() {
            note(self.any_of(case, sense, tell, parts)?);
        }
        for inner in &self.not {
            match inner.check(case, sense.other(), Tell::Nothing) {
                Ok(held) if held.sure || sense == Sense::Vouches => {
                    return Err(tell.say(|| format!("an exception holds: {}", held.why)));
                }
                // It may hold.
                Ok(_) => sure = false,
                Err(_) => {}
            }
        }
        if found.is_empty() {
            found.push(format!("{} of {}", event.event, tool_name(event)));
        }
        Ok(Held { why: found.join(", "), sure, doubt })
    }

    fn any_of(&self, case: Case<'_>, sense: Sense, tell: Tell, parts: Option<&[u16]>) -> Check {
        let mut held: Option<Held> = None;
        // Whether it is enough.
        let mut look = |matcher: &Self| {
            let other = matcher.check(case, sense, Tell::Nothing).ok();
            let sure = other.as_ref().is_some_and(|other| other.sure);
            held = other.or_else(|| held.take());
            sure
        };
        match parts {
            None => self.any.iter().any(&mut look),
            Some(parts) => parts.iter().filter_map(|part| self.any.get(usize::from(*part))).any(&mut look),
        };
        held.ok_or_else(|| {
            tell.say(|| {
                let first = self.any.first().and_then(|matcher| matcher.check(case, sense, tell).err());
                let first = first.unwrap_or_default();
                format!("none of its {} alternatives holds; the first: {first}", self.any.len())
            })
        })
    }

    /// Whether events of this kind are looked at.
    pub(crate) fn concerns_kind(&self, kind: EventKind) -> bool {
        self.events.as_ref().is_none_or(|events| events.contains(&kind))
    }

    /// The conditions that are not about what the call does.
    fn concerns(&self, case: Case<'_>, tell: Tell) -> Result<(), String> {
        let Case { event, facts, state, .. } = case;
        if !self.concerns_kind(event.event) {
            return Err(tell.say(|| format!("it is not about `{}` events", event.event)));
        }
        if let Some(tools) = &self.tools
            && !tools.contain(event)
        {
            return Err(tell.say(|| format!("it is not about {}", tool_name(event))));
        }
        one_of(self.sources.as_ref(), Some(event.source.as_str()), "the harness", tell)?;
        one_of(self.user.as_ref(), facts.user.as_deref(), "who runs the agent", tell)?;
        one_of(self.group.as_ref(), facts.groups.iter().map(String::as_str), "no group of theirs", tell)?;
        one_of(self.label.as_ref(), state.labels(), "no label of the session", tell)?;
        if let Some(unparsed) = self.unparsed
            && unparsed != facts.unparsed
        {
            let why = if unparsed { "all of it was understood" } else { "part of it was not understood" };
            return Err(tell.say(|| why.to_owned()));
        }
        Ok(())
    }
}

fn one_of<'a>(
    names: Option<&Names>,
    given: impl IntoIterator<Item = &'a str>,
    what: &str,
    tell: Tell,
) -> Result<(), String> {
    match names {
        Some(names) if !given.into_iter().any(|name| names.matches(name)) => {
            let is = if what.starts_with("no ") { "is" } else { "is not" };
            Err(tell.say(|| format!("{what} {is} one of {}", names.list())))
        }
        _ => Ok(()),
    }
}

impl Tools {
    fn contain(&self, event: &Event) -> bool {
        let Some(tool) = &event.tool else { return false };
        let within = self.classes.contains(&tool.class)
            || self.names.as_ref().is_some_and(|names| names.matches(&tool.name));
        within
            && !self
                .except
                .as_ref()
                .is_some_and(|names| names.matches(&tool.name) || names.matches(tool.class.name()))
    }
}

fn tool_name(event: &Event) -> String {
    event.tool.as_ref().map_or_else(
        || "an event without a tool".to_owned(),
        |tool| format!("the tool `{}` of class `{}`", tool.name, tool.class.name()),
    )
}
