// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a rule looks for, ready to be checked.

use tenterhook_event::{EventKind, ToolClass};

use super::glob::{Hosts, Names, Paths};
use super::pattern::Pattern;
use crate::facts::{Does, PackageFrom, Place, Side};
use crate::load::wire;

/// Conditions on one event; those that are there must all hold.
#[derive(Debug, Default)]
pub(crate) struct Matcher {
    pub(crate) events: Option<Vec<EventKind>>,
    pub(crate) tools: Option<Tools>,
    pub(crate) sources: Option<Names>,
    pub(crate) shell: Option<Shell>,
    pub(crate) effect: Option<Effect>,
    pub(crate) paths: Option<Paths>,
    pub(crate) url: Option<Url>,
    pub(crate) mcp: Option<Mcp>,
    pub(crate) package: Option<Package>,
    pub(crate) secret: Option<Names>,
    pub(crate) regex: Option<Regexes>,
    pub(crate) user: Option<Names>,
    pub(crate) group: Option<Names>,
    pub(crate) label: Option<Names>,
    pub(crate) unparsed: Option<bool>,
    pub(crate) any: Vec<Matcher>,
    pub(crate) not: Vec<Matcher>,
}

/// Tools by class or by name.
#[derive(Debug)]
pub(crate) struct Tools {
    pub(crate) classes: Vec<ToolClass>,
    pub(crate) names: Option<Names>,
    pub(crate) except: Option<Names>,
}

/// Conditions on one command.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(crate) program: Option<Names>,
    pub(crate) first: Option<Names>,
    pub(crate) options: Vec<String>,
    pub(crate) words: Vec<Names>,
    pub(crate) places: Vec<Place>,
    pub(crate) operand: Option<Paths>,
    pub(crate) path: Option<Paths>,
    pub(crate) reads: Option<Paths>,
    pub(crate) input: Option<Paths>,
    pub(crate) output: Option<Paths>,
    pub(crate) pipes_into: Option<Names>,
    pub(crate) ends_in: Option<Names>,
    pub(crate) via: Option<Names>,
    pub(crate) acts: Option<Names>,
    pub(crate) text: Vec<Pattern>,
    pub(crate) sql: Vec<Pattern>,
    pub(crate) env: Option<Names>,
    pub(crate) on: Vec<Side>,
    pub(crate) not: Vec<Shell>,
}

/// Conditions on one thing done to one path.
#[derive(Debug)]
pub(crate) struct Effect {
    pub(crate) does: Vec<Does>,
    pub(crate) path: Option<Paths>,
    pub(crate) places: Vec<Place>,
    pub(crate) recursive: Option<bool>,
    pub(crate) certain: bool,
    pub(crate) by: Option<Names>,
    pub(crate) on: Vec<Side>,
    pub(crate) not: Vec<Effect>,
}

/// Conditions on one address.
#[derive(Debug, Default)]
pub(crate) struct Url {
    pub(crate) host: Option<Hosts>,
    pub(crate) scheme: Option<Names>,
    pub(crate) ports: Vec<u16>,
    pub(crate) user: Option<bool>,
    pub(crate) numeric: Option<bool>,
    pub(crate) loopback: Option<bool>,
}

/// Conditions on an MCP tool.
#[derive(Debug)]
pub(crate) struct Mcp {
    pub(crate) server: Option<Names>,
    pub(crate) tool: Option<Names>,
    /// The same for names without what harnesses change in them.
    pub(crate) folded_server: Option<Names>,
    pub(crate) folded_tool: Option<Names>,
}

/// Conditions on one package.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) manager: Option<Names>,
    pub(crate) name: Option<Names>,
    pub(crate) from: Vec<PackageFrom>,
    pub(crate) runs: Option<bool>,
    pub(crate) near: Vec<String>,
}

/// Regular expressions, by what they look at.
#[derive(Debug)]
pub(crate) struct Regexes {
    pub(crate) command: Vec<Pattern>,
    pub(crate) path: Vec<Pattern>,
    pub(crate) url: Vec<Pattern>,
    pub(crate) content: Vec<Pattern>,
    pub(crate) prompt: Vec<Pattern>,
    pub(crate) args: Vec<Pattern>,
}

// === impl Matcher ===

impl Matcher {
    pub(super) fn new(wire: wire::Match) -> Result<Self, String> {
        let any = wire.any.map(|any| any.0).unwrap_or_default();
        let not = wire.not.map(|not| not.0).unwrap_or_default();
        let matcher = Self {
            events: wire.event.map(|events| events.0),
            tools: wire.tool.map(|tools| Tools::new(&tools.0)).transpose()?,
            sources: wire.source.map(|list| list.0),
            shell: wire.shell.map(Shell::new),
            effect: wire.effect.map(Effect::new),
            paths: wire.path.map(|list| list.0),
            url: url(wire.url, wire.host.map(|list| list.0))?,
            mcp: wire.mcp.map(Mcp::new),
            package: wire.package.map(Package::new),
            secret: wire.secret.map(|list| list.0),
            regex: wire.regex.map(Regexes::new),
            user: wire.user.map(|list| list.0),
            group: wire.group.map(|list| list.0),
            label: wire.label.map(|list| list.0),
            unparsed: wire.unparsed,
            any: any.into_iter().map(Self::new).collect::<Result<_, _>>()?,
            not: not.into_iter().map(Self::new).collect::<Result<_, _>>()?,
        };
        if matcher.any.iter().any(Self::is_empty) {
            return Err(
                "an alternative in `any` has no condition, so all of them are as good as none".to_owned()
            );
        }
        if matcher.not.iter().any(Self::is_empty) {
            return Err("what stands in `not` has no condition, so the rule could never match".to_owned());
        }
        Ok(matcher)
    }

    /// Whether it has no condition at all.
    fn is_empty(&self) -> bool {
        !self.is_narrow()
            && self.events.is_none()
            && self.tools.is_none()
            && self.sources.is_none()
            && self.secret.is_none()
            && self.user.is_none()
            && self.group.is_none()
            && self.label.is_none()
            && self.unparsed.is_none()
            && self.any.is_empty()
            && self.not.is_empty()
    }

    /// Whether it says what the call does, not only which tool is called and by whom.
    pub(crate) fn is_narrow(&self) -> bool {
        self.shell.is_some()
            || self.effect.is_some()
            || self.paths.is_some()
            || self.url.is_some()
            || self.mcp.is_some()
            || self.package.is_some()
            || self.regex.is_some()
            || !self.any.is_empty() && self.any.iter().all(Self::is_narrow)
    }

    /// This and everything in `any` and `not`.
    pub(crate) fn each(&self, see: &mut dyn FnMut(&Self)) {
        see(self);
        for inner in self.any.iter().chain(&self.not) {
            inner.each(see);
        }
    }
}

/// `host` is short for `url: {host: …}`.
fn url(wire: Option<wire::Url>, host: Option<Hosts>) -> Result<Option<Url>, String> {
    let Some(wire) = wire else { return Ok(host.map(|host| Url { host: Some(host), ..Url::default() })) };
    let url = Url {
        host: wire.host.map(|list| list.0),
        scheme: wire.scheme.map(|list| list.0),
        ports: wire.port.map(|ports| ports.0).unwrap_or_default(),
        user: wire.user,
        numeric: wire.numeric,
        loopback: wire.loopback,
    };
    match (&url.host, host) {
        (Some(_), Some(_)) => Err("`host` and `url.host` are the same; one is enough".to_owned()),
        (None, Some(host)) => Ok(Some(Url { host: Some(host), ..url })),
        (_, None) => Ok(Some(url)),
    }
}

impl Tools {
    fn new(texts: &[String]) -> Result<Self, String> {
        let class = |text: &String| ToolClass::from_name(text);
        let (taken, given): (Vec<_>, Vec<_>) = texts.iter().partition(|text| text.starts_with('!'));
        if given.is_empty() {
            return Err("a list of tools must name at least one to match".to_owned());
        }
        let taken: Vec<_> = taken.iter().map(|text| text.trim_start_matches('!').to_owned()).collect();
        let named: Vec<_> =
            given.iter().filter(|text| class(text).is_none()).map(|text| (*text).clone()).collect();
        let names = |texts: Vec<String>| (!texts.is_empty()).then(|| Names::new(texts)).transpose();
        Ok(Self {
            classes: given.into_iter().filter_map(class).collect(),
            names: names(named)?,
            except: names(taken)?,
        })
    }
}

/// Where something is done, if the rule does not say: on this machine.
/// An exception is about the very thing that was found: it happens where that happens.
fn exceptions<W, C>(wire: Option<wire::Many<W>>, on: &[Side], new: impl Fn(W, &[Side]) -> C) -> Vec<C> {
    wire.map(|list| list.0.into_iter().map(|inner| new(inner, on)).collect()).unwrap_or_default()
}

impl Shell {
    fn new(wire: wire::Shell) -> Self {
        Self::on(wire, &[Side::Here])
    }

    fn on(wire: wire::Shell, on: &[Side]) -> Self {
        let on = wire.on.map_or_else(|| on.to_vec(), |list| list.0);
        let (places, operand) = wire.operand.map_or((None, None), |operand| (operand.place, operand.path));
        Self {
            program: wire.program.map(|list| list.0),
            first: wire.first.map(|list| list.0),
            options: wire.option.map(|list| list.0).unwrap_or_default(),
            words: wire.words.map(|list| list.0).unwrap_or_default(),
            places: places.map(|list| list.0).unwrap_or_default(),
            operand: operand.map(|list| list.0),
            path: wire.path.map(|list| list.0),
            reads: wire.reads.map(|list| list.0),
            input: wire.input.map(|list| list.0),
            output: wire.output.map(|list| list.0),
            pipes_into: wire.pipes_into.map(|list| list.0),
            ends_in: wire.ends_in.map(|list| list.0),
            via: wire.via.map(|list| list.0),
            acts: wire.acts.map(|list| list.0),
            text: patterns(wire.text),
            sql: patterns(wire.sql),
            env: wire.env.map(|list| list.0),
            not: exceptions(wire.not, &on, Self::on),
            on,
        }
    }
}

impl Effect {
    fn new(wire: wire::Effect) -> Self {
        Self::on(wire, &[Side::Here])
    }

    fn on(wire: wire::Effect, on: &[Side]) -> Self {
        let on = wire.on.map_or_else(|| on.to_vec(), |list| list.0);
        Self {
            does: wire.does.map(|list| list.0).unwrap_or_default(),
            path: wire.path.map(|list| list.0),
            places: wire.place.map(|list| list.0).unwrap_or_default(),
            recursive: wire.recursive,
            certain: wire.certain == Some(true),
            by: wire.by.map(|list| list.0),
            not: exceptions(wire.not, &on, Self::on),
            on,
        }
    }
}

impl Mcp {
    fn new(wire: wire::Mcp) -> Self {
        let (server, tool) = (wire.server.map(|list| list.0), wire.tool.map(|list| list.0));
        let (folded_server, folded_tool) =
            (server.as_ref().map(Names::folded), tool.as_ref().map(Names::folded));
        Self { server, tool, folded_server, folded_tool }
    }
}

impl Package {
    fn new(wire: wire::Package) -> Self {
        Self {
            manager: wire.manager.map(|list| list.0),
            name: wire.name.map(|list| list.0),
            from: wire.from.map(|list| list.0).unwrap_or_default(),
            runs: wire.runs,
            near: wire.near.map(|list| list.0).unwrap_or_default(),
        }
    }
}

impl Regexes {
    fn new(wire: wire::Regexes) -> Self {
        Self {
            command: patterns(wire.command),
            path: patterns(wire.path),
            url: patterns(wire.url),
            content: patterns(wire.content),
            prompt: patterns(wire.prompt),
            args: patterns(wire.args),
        }
    }
}

fn patterns(list: Option<wire::Many<wire::Pattern>>) -> Vec<Pattern> {
    list.map(|list| list.0.into_iter().map(|pattern| pattern.0).collect()).unwrap_or_default()
}
