// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on an MCP tool.
//!
//! Harnesses change names and join them, so a rule that guards looks at every reading of the joined name; one
//! that vouches needs a single reading, and the server as it is configured.

use serde::{Deserialize, Serialize};
use tenterhook_facts::{Facts, McpFact, McpReading};

use super::given::MayBeEmpty;
use super::glob::{McpNameGlobs, NameGlobs};
use super::match_mode::{Check, Explain, MatchMode, Matched, OPEN_NAME, one_of};
use crate::index::{NeedList, Rarity, Word};

/// Conditions on an MCP tool.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map with `server` or `tool`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Mcp"))]
pub(crate) struct McpCondition {
    /// Globs on the server, as it is called in the harness.
    pub(crate) server: Option<McpNameGlobs>,
    /// Globs on the tool, as the server calls it.
    pub(crate) tool: Option<McpNameGlobs>,
}

/// How well a reading fits.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// Only if the harness has a server that its settings do not show.
    Doubtful,
    Certain,
}

impl MayBeEmpty for McpCondition {
    fn is_empty(&self) -> bool {
        let Self { server, tool } = self;
        server.is_none() && tool.is_none()
    }
}

impl McpCondition {
    pub(super) fn add_needs(&self, to: &mut NeedList) {
        let Self { server, tool: _ } = self;
        to.add_names(server.as_ref().map(|server| &server.folded), |name| Word::Server(name));
        to.add_words(Rarity::Seldom, &[Word::SomeMcp]);
    }

    pub(super) fn check(&self, facts: &Facts, mode: MatchMode, explain: Explain) -> Check {
        let Some(mcp) = &facts.mcp else {
            return Err(explain.with(|| "the tool is not one of an MCP server".to_owned()));
        };
        match mode {
            MatchMode::Any => self.check_some(mcp, explain),
            MatchMode::All => self.check_certain(mcp, explain),
        }
    }

    fn check_certain(&self, mcp: &McpFact, explain: Explain) -> Check {
        let Self { server, tool } = self;
        if !mcp.certain {
            return Err(explain.with(|| "its name can be read as that of several servers".to_owned()));
        }
        one_of(written(server.as_ref()), Some(mcp.server.as_str()), "the server", explain)?;
        one_of(written(tool.as_ref()), Some(mcp.tool.as_str()), "the server's tool", explain)?;
        Ok(Matched::certainly(format!("`{}` of the server `{}`", mcp.tool, mcp.server)))
    }

    fn check_some(&self, mcp: &McpFact, explain: Explain) -> Check {
        let Self { server, tool } = self;
        let fitting = mcp.readings.iter().filter_map(|reading| Some((self.fit(mcp, reading)?, reading)));
        let Some((fit, reading)) = fitting.max_by(|(one, _), (other, _)| one.cmp(other)) else {
            one_of(written(server.as_ref()), Some(mcp.server.as_str()), "the server", explain)?;
            one_of(written(tool.as_ref()), Some(mcp.tool.as_str()), "the server's tool", explain)?;
            return Err(explain.with(|| "no reading of its name is the server and the tool".to_owned()));
        };
        let name = if reading.server.is_empty() { "not named" } else { &reading.server };
        let why = format!("`{}` of the server `{name}`", reading.tool);
        Ok(Matched { why, certain: fit == Fit::Certain, doubt: OPEN_NAME })
    }

    fn fit(&self, mcp: &McpFact, reading: &McpReading) -> Option<Fit> {
        let Self { server, tool } = self;
        let by_tool = tool.as_ref().map(|tool| &tool.folded);
        let shortened = match by_tool {
            Some(names) if names.matches(&reading.tool) => false,
            Some(names) if mcp.shortened && may_be_shortened(names, &reading.tool) => true,
            Some(_) => return None,
            None => false,
        };
        let known = reading.known || mcp.readings.iter().all(|other| !other.known);
        let fit = if known && !shortened { Fit::Certain } else { Fit::Doubtful };
        let spelled_out = match server.as_ref().map(|server| &server.folded) {
            None => by_tool.is_some_and(|names| names.spell_out(&reading.tool)),
            Some(wanted) if reading.server.is_empty() => {
                // The harness does not say: it may be any of its servers.
                let servers = mcp.servers.as_ref();
                let may_be = servers.is_none_or(|servers| servers.iter().any(|name| wanted.matches(name)));
                return may_be.then_some(Fit::Doubtful);
            }
            Some(wanted) if !wanted.matches(&reading.server) => return None,
            Some(wanted) => wanted.spell_out(&reading.server),
        };
        // Beside a server that is known, others only count if the rule names them.
        (known || spelled_out).then_some(fit)
    }
}

fn written(globs: Option<&McpNameGlobs>) -> Option<&NameGlobs> {
    globs.map(|globs| &globs.written)
}

/// Whether a tool that a harness has cut the name of may be one of these: what is left of the name says too
/// little for patterns, and of a longer name only how it begins.
fn may_be_shortened(names: &NameGlobs, tool: &str) -> bool {
    const SAME_LETTERS: usize = 6;
    let alike = |name: &str| name.bytes().zip(tool.bytes()).take_while(|(one, other)| one == other).count();
    let begins_alike = |name: &str| alike(name) >= SAME_LETTERS.min(name.len());
    names.has_patterns() || names.spelled_out().any(begins_alike)
}
