// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on an MCP tool.
//!
//! Harnesses change names of servers and tools and join them. A rule that denies or asks considers every way to split
//! a joined name. A rule that allows needs an unambiguous name and the configured name of the server.

use serde::{Deserialize, Serialize};
use tenterhook_facts::{Facts, McpFact, McpReading};

use super::glob::{McpNameGlobs, NameGlobs};
use super::match_mode::{Check, Explain, MatchMode, Matched, OPEN_NAME, check_names};
use super::non_empty::MayBeEmpty;
use crate::index::{IndexTerm, NeedList, Rarity};

/// Conditions on an MCP tool.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map with `server`, `tool` or `acts`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Mcp"))]
pub(crate) struct McpCondition {
    /// Globs on the server, by its name in the harness's settings.
    pub(crate) server: Option<McpNameGlobs>,
    /// Globs on the tool, by its name on the server.
    pub(crate) tool: Option<McpNameGlobs>,
    /// Globs on what the tool does on its service, as the words in its name and arguments say: `destroy`, `expose`
    /// (gives others access), `unprotect`, `pay`, `reveal-secret`, `publish`.
    pub(crate) acts: Option<NameGlobs>,
}

/// How well one reading (server and tool) of a joined name matches.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum McpFit {
    /// The reading may be wrong: its server is not named or not in the settings, or the name of the tool is cut.
    Doubtful,
    Certain,
}

impl MayBeEmpty for McpCondition {
    fn is_empty(&self) -> bool {
        let Self { server, tool, acts } = self;
        server.is_none() && tool.is_none() && acts.is_none()
    }
}

impl McpCondition {
    pub(super) fn add_needs(&self, to: &mut NeedList) {
        let Self { server, tool: _, acts } = self;
        to.add_names(acts.as_ref(), |name| IndexTerm::Act(name));
        to.add_names(server.as_ref().map(|server| &server.folded), |name| IndexTerm::Server(name));
        to.add_words(Rarity::Seldom, &[IndexTerm::SomeMcp]);
    }

    pub(super) fn check(&self, facts: &Facts, mode: MatchMode, explain: Explain) -> Check {
        let Some(mcp) = &facts.mcp else {
            return Err(explain.failure(|| "the tool does not belong to an MCP server".to_owned()));
        };
        check_names(self.acts.as_ref(), mcp.acts.iter().copied(), "no act of the tool", explain)?;
        // A rule that allows has to cover everything that the tool does.
        let covers = |acts: &NameGlobs| mcp.acts.iter().all(|act| acts.matches(act));
        if mode == MatchMode::All && !self.acts.as_ref().is_none_or(covers) {
            return Err(explain.failure(|| "the tool also does something else".to_owned()));
        }
        match mode {
            MatchMode::Any => self.check_some(mcp, explain),
            MatchMode::All => self.check_certain(mcp, explain),
        }
    }

    fn check_certain(&self, mcp: &McpFact, explain: Explain) -> Check {
        let Self { server, tool, acts: _ } = self;
        if !mcp.certain {
            return Err(explain.failure(|| "the joined name can refer to several servers".to_owned()));
        }
        check_names(written(server.as_ref()), Some(mcp.server.as_str()), "the server", explain)?;
        check_names(written(tool.as_ref()), Some(mcp.tool.as_str()), "the tool", explain)?;
        Ok(Matched::certain(format!("`{}` of the server `{}`", mcp.tool, mcp.server)))
    }

    fn check_some(&self, mcp: &McpFact, explain: Explain) -> Check {
        let Self { server, tool, acts: _ } = self;
        let fitting = mcp.readings.iter().filter_map(|reading| Some((self.fit(mcp, reading)?, reading)));
        let Some((fit, reading)) = fitting.max_by(|(one, _), (other, _)| one.cmp(other)) else {
            check_names(written(server.as_ref()), Some(mcp.server.as_str()), "the server", explain)?;
            check_names(written(tool.as_ref()), Some(mcp.tool.as_str()), "the tool", explain)?;
            return Err(
                explain.failure(|| "no reading of the joined name matches both server and tool".to_owned())
            );
        };
        let name = if reading.server.is_empty() { "not named" } else { &reading.server };
        let why = format!("`{}` of the server `{name}`", reading.tool);
        Ok(Matched { why, certain: fit == McpFit::Certain, doubt: OPEN_NAME })
    }

    fn fit(&self, mcp: &McpFact, reading: &McpReading) -> Option<McpFit> {
        let Self { server, tool, acts: _ } = self;
        let by_tool = tool.as_ref().map(|tool| &tool.folded);
        let shortened = match by_tool {
            Some(names) if names.matches(&reading.tool) => false,
            Some(names) if mcp.shortened && may_be_shortened(names, &reading.tool) => true,
            Some(_) => return None,
            None => false,
        };
        let known = reading.known || mcp.readings.iter().all(|other| !other.known);
        let fit = if known && !shortened { McpFit::Certain } else { McpFit::Doubtful };
        let spelled_out = match server.as_ref().map(|server| &server.folded) {
            None => by_tool.is_some_and(|names| names.lists_literally(&reading.tool)),
            Some(wanted) if reading.server.is_empty() => {
                // The harness does not name the server, so it may be any configured server.
                let servers = mcp.servers.as_ref();
                let may_be = servers.is_none_or(|servers| servers.iter().any(|name| wanted.matches(name)));
                return may_be.then_some(McpFit::Doubtful);
            }
            Some(wanted) if !wanted.matches(&reading.server) => return None,
            Some(wanted) => wanted.lists_literally(&reading.server),
        };
        // If one reading names a server from the settings, other readings are used only if the rule spells
        // out their names.
        (known || spelled_out).then_some(fit)
    }
}

fn written(globs: Option<&McpNameGlobs>) -> Option<&NameGlobs> {
    globs.map(|globs| &globs.written)
}

/// Whether a tool whose name the harness has shortened may be one of these. The remaining name is too short
/// to be matched by a pattern, so any pattern may match. Of a literal name, only the beginning is compared.
fn may_be_shortened(names: &NameGlobs, tool: &str) -> bool {
    const MIN_COMMON_PREFIX: usize = 6;
    let alike = |name: &str| name.bytes().zip(tool.bytes()).take_while(|(one, other)| one == other).count();
    let begins_alike = |name: &str| alike(name) >= MIN_COMMON_PREFIX.min(name.len());
    names.has_patterns() || names.literal_names().any(begins_alike)
}
