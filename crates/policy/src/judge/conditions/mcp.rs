// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on an MCP tool.
//!
//! Harnesses change names and join them, so a rule that guards looks at every reading of the joined name; one
//! that vouches needs a single reading, and the server as it is configured.

use super::{Check, Held, OPEN_NAME, Sense, Tell, one_of};
use crate::compile::Mcp;
use crate::compile::glob::Names;
use crate::facts::{Facts, McpFact, McpReading};

/// How well a reading fits.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// Only if the harness has a server that its settings do not show.
    Doubtful,
    Sure,
}

impl Mcp {
    pub(super) fn check(&self, facts: &Facts, sense: Sense, tell: Tell) -> Check {
        let Some(mcp) = &facts.mcp else {
            return Err(tell.say(|| "the tool is not one of an MCP server".to_owned()));
        };
        match sense {
            Sense::Guards => self.check_some(mcp, tell),
            Sense::Vouches => self.check_certain(mcp, tell),
        }
    }

    fn check_certain(&self, mcp: &McpFact, tell: Tell) -> Check {
        if !mcp.certain {
            return Err(tell.say(|| "its name can be read as that of several servers".to_owned()));
        }
        one_of(self.server.as_ref(), Some(mcp.server.as_str()), "the server", tell)?;
        one_of(self.tool.as_ref(), Some(mcp.tool.as_str()), "the server's tool", tell)?;
        Ok(Held::surely(format!("`{}` of the server `{}`", mcp.tool, mcp.server)))
    }

    fn check_some(&self, mcp: &McpFact, tell: Tell) -> Check {
        let fitting = mcp.readings.iter().filter_map(|reading| Some((self.fit(mcp, reading)?, reading)));
        let Some((fit, reading)) = fitting.max_by(|(one, _), (other, _)| one.cmp(other)) else {
            one_of(self.server.as_ref(), Some(mcp.server.as_str()), "the server", tell)?;
            one_of(self.tool.as_ref(), Some(mcp.tool.as_str()), "the server's tool", tell)?;
            return Err(tell.say(|| "no reading of its name is the server and the tool".to_owned()));
        };
        let server = if reading.server.is_empty() { "not named" } else { &reading.server };
        let why = format!("`{}` of the server `{server}`", reading.tool);
        Ok(Held { why, sure: fit == Fit::Sure, doubt: OPEN_NAME })
    }

    fn fit(&self, mcp: &McpFact, reading: &McpReading) -> Option<Fit> {
        let by_tool = self.folded_tool.as_ref();
        let shortened = match by_tool {
            Some(names) if names.matches(&reading.tool) => false,
            Some(names) if mcp.shortened && may_be_shortened(names, &reading.tool) => true,
            Some(_) => return None,
            None => false,
        };
        let known = reading.known || mcp.readings.iter().all(|other| !other.known);
        let fit = if known && !shortened { Fit::Sure } else { Fit::Doubtful };
        let spelled_out = match &self.folded_server {
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

/// Whether a tool that a harness has cut the name of may be one of these: what is left of the name says too
/// little for patterns, and of a longer name only how it begins.
fn may_be_shortened(names: &Names, tool: &str) -> bool {
    const SAME_LETTERS: usize = 6;
    let alike = |name: &str| name.bytes().zip(tool.bytes()).take_while(|(one, other)| one == other).count();
    let begins_alike = |name: &str| alike(name) >= SAME_LETTERS.min(name.len());
    names.has_patterns() || names.spelled_out().any(begins_alike)
}
