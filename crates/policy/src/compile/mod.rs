// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Wire types → rules that can be judged by.

mod baseline;
pub(crate) mod glob;
mod set;

use std::sync::Arc;

use tenterhook_event::{Decision, EventKind, ToolClass};

use crate::facts::Place;
use crate::load::wire;
use crate::rule::{Mode, Rule};
use crate::source::Source;
use glob::{Names, Paths};
pub use set::{Loaded, RuleSet};
use tenterhook_document::Spot;

/// When a rule says nothing about events, it is about what is going to happen.
const BEFORE: &[EventKind] = &[EventKind::PreTool, EventKind::PermissionRequest];

/// Conditions on one event; those that are there must all hold.
#[derive(Debug)]
pub(crate) struct Matcher {
    pub(crate) events: Option<Vec<EventKind>>,
    pub(crate) tools: Option<Tools>,
    pub(crate) shell: Option<Shell>,
    pub(crate) paths: Option<Paths>,
    pub(crate) any: Vec<Matcher>,
}

/// Tools by class or by name.
#[derive(Debug)]
pub(crate) struct Tools {
    pub(crate) classes: Vec<ToolClass>,
    pub(crate) names: Names,
}

/// Conditions on one command.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(crate) program: Option<Names>,
    pub(crate) options: Vec<String>,
    pub(crate) words: Vec<Names>,
    pub(crate) places: Vec<Place>,
    pub(crate) operand: Option<Paths>,
    pub(crate) path: Option<Paths>,
    pub(crate) reads: Option<Paths>,
    pub(crate) input: Option<Paths>,
    pub(crate) pipes_into: Option<Names>,
}

/// Compiles one rule.
pub(crate) fn rule(wire: &wire::Rule, mode: Mode, spot: Spot, source: &Source<'_>) -> Result<Rule, String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_' | '/');
    if wire.id.is_empty() || !wire.id.chars().all(fits) {
        return Err(format!("`{}` is no id (small letters, digits, `-`, `.`, `_`, `/`)", wire.id));
    }
    let verdict = Decision::from(wire.verdict);
    let unread = match wire.unparsed {
        Some(wire::Unparsed::Deny) => Some(Decision::Deny),
        Some(wire::Unparsed::Ask) => Some(Decision::Ask),
        Some(wire::Unparsed::Ignore) => None,
        None => (verdict != Decision::Allow).then_some(Decision::Ask),
    };
    let mut matcher = matcher(&wire.matches)?;
    matcher.events.get_or_insert_with(|| BEFORE.to_vec());
    Ok(Rule {
        id: wire.id.as_str().into(),
        description: wire.description.trim().to_owned(),
        severity: wire.severity,
        mode: wire.mode.unwrap_or(mode),
        layer: source.layer,
        source: Arc::from(source.name),
        line: spot.line,
        matcher,
        verdict,
        unread,
        reason: wire.reason.as_deref().map(|reason| reason.trim().to_owned()),
        nudge: wire.nudge.as_deref().map(|nudge| nudge.trim().to_owned()),
    })
}

fn matcher(wire: &wire::Match) -> Result<Matcher, String> {
    Ok(Matcher {
        events: wire.event.as_ref().map(|events| events.0.clone()),
        tools: wire.tool.as_ref().map(|tools| self::tools(&tools.0)).transpose()?,
        shell: wire.shell.as_ref().map(shell).transpose()?,
        paths: paths(wire.path.as_ref())?,
        any: wire.any.iter().map(matcher).collect::<Result<_, _>>()?,
    })
}

fn tools(texts: &[String]) -> Result<Tools, String> {
    let classes: Vec<_> = texts.iter().filter_map(|text| ToolClass::from_name(text)).collect();
    let names: Vec<_> = texts.iter().filter(|text| ToolClass::from_name(text).is_none()).cloned().collect();
    Ok(Tools { classes, names: Names::new(&names)? })
}

fn shell(wire: &wire::Shell) -> Result<Shell, String> {
    let operand = wire.operand.as_ref();
    Ok(Shell {
        program: names(wire.program.as_ref())?,
        options: wire.option.as_ref().map(|options| options.0.clone()).unwrap_or_default(),
        words: wire
            .words
            .as_ref()
            .map(|words| words.0.iter().map(|word| Names::new(std::slice::from_ref(word))).collect())
            .transpose()?
            .unwrap_or_default(),
        places: operand
            .and_then(|operand| operand.place.as_ref())
            .map(|places| places.0.clone())
            .unwrap_or_default(),
        operand: paths(operand.and_then(|operand| operand.path.as_ref()))?,
        path: paths(wire.path.as_ref())?,
        reads: paths(wire.reads.as_ref())?,
        input: paths(wire.input.as_ref())?,
        pipes_into: names(wire.pipes_into.as_ref())?,
    })
}

fn names(texts: Option<&wire::Many<String>>) -> Result<Option<Names>, String> {
    texts.map(|texts| Names::new(&texts.0)).transpose()
}

fn paths(texts: Option<&wire::Many<String>>) -> Result<Option<Paths>, String> {
    texts.map(|texts| Paths::new(&texts.0)).transpose()
}
