// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which MCP tool a call is about, in every way that the harness's name for it can be read.

use serde::Serialize;
use tenterhook_event::{McpServers, ToolCall, fold_mcp_name};

/// The MCP tool of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct McpFact {
    /// The server, as configured in the harness; empty if it is not known.
    pub server: String,
    /// The tool, as the server names it.
    pub tool: String,
    /// Whether there is no other reading.
    pub certain: bool,
    /// Every reading, this one included.
    pub readings: Vec<McpReading>,
    /// The servers of the harness, without what harnesses change in names, if they are known.
    #[serde(skip)]
    pub servers: Option<Vec<String>>,
    /// Whether the harness may have cut the name, as models allow no longer one.
    #[serde(skip)]
    pub shortened: bool,
}

/// Harnesses cut joined names that are longer than about 64 letters.
const SHORTENED_FROM: usize = 60;

/// One reading of a harness's name for an MCP tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct McpReading {
    /// The server, without what harnesses change in names.
    pub server: String,
    /// The tool, likewise.
    pub tool: String,
    /// Whether the harness's settings have such a server.
    pub known: bool,
}

impl McpFact {
    pub(super) fn of(call: &ToolCall, harness: &str, servers: Option<&McpServers>) -> Option<Self> {
        let mcp = call.mcp.as_ref()?;
        let servers = servers.and_then(|servers| servers.of(harness));
        let folded: Option<Vec<String>> =
            servers.map(|servers| servers.iter().map(|name| fold_mcp_name(name)).collect());
        let mut readings: Vec<McpReading> = Vec::new();
        let mut best = None;
        for (server, tool) in mcp.readings() {
            let reading =
                McpReading { server: fold_mcp_name(server), tool: fold_mcp_name(tool), known: false };
            let known = folded.as_ref().is_some_and(|folded| folded.contains(&reading.server));
            if known && best.is_none() {
                best = Some((server, tool));
            }
            if !readings.iter().any(|other| (&other.server, &other.tool) == (&reading.server, &reading.tool))
            {
                readings.push(McpReading { known, ..reading });
            }
        }
        let (server, tool) = best.unwrap_or((mcp.server.as_str(), mcp.tool.as_str()));
        let wanted = fold_mcp_name(server);
        let mut spelled = servers.into_iter().flatten().filter(|name| fold_mcp_name(name) == wanted);
        let (configured, other) = (spelled.next(), spelled.next());
        // The harness has changed the name, or has several that it would change to the same one.
        let server = if mcp.also.is_empty() && best.is_none() {
            server
        } else {
            configured.map_or(server, String::as_str)
        };
        let known = readings.iter().filter(|reading| reading.known).count();
        let shortened = call.name.len() >= SHORTENED_FROM && !told(call);
        let certain = (mcp.also.is_empty() || known == 1) && other.is_none() && !shortened;
        Some(Self {
            server: server.to_owned(),
            tool: tool.to_owned(),
            certain,
            readings,
            servers: folded,
            shortened,
        })
    }
}

/// Whether the harness names the tool beside the joined name, which then does not matter.
fn told(call: &ToolCall) -> bool {
    call.mcp.as_ref().is_some_and(|mcp| mcp.also.is_empty() && !call.name.ends_with(&mcp.tool))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tenterhook_event::Mcp;

    fn fact(mcp: Mcp, servers: Option<&[&str]>) -> McpFact {
        let servers = servers.map(|servers| servers.iter().map(|name| (*name).to_owned()).collect());
        let servers = servers.map(|servers| McpServers(BTreeMap::from([("opencode".to_owned(), servers)])));
        let tool = ToolCall { mcp: Some(mcp), ..ToolCall::new("x", serde_json::json!({})) };
        McpFact::of(&tool, "opencode", servers.as_ref()).unwrap()
    }

    fn short(fact: &McpFact) -> (&str, &str, bool) {
        (&fact.server, &fact.tool, fact.certain)
    }

    #[test]
    fn known_servers_say_where_a_name_is_split() {
        let split = || Mcp::split("google_drive_erase", "_").unwrap();
        assert_eq!(short(&fact(split(), None)), ("google", "drive_erase", false));
        assert_eq!(short(&fact(split(), Some(&["records"]))), ("google", "drive_erase", false));
        assert_eq!(short(&fact(split(), Some(&["google_drive"]))), ("google_drive", "erase", true));
        assert_eq!(short(&fact(split(), Some(&["Google-Drive"]))), ("Google-Drive", "erase", true));
        assert_eq!(
            short(&fact(split(), Some(&["google", "google_drive"]))),
            ("google", "drive_erase", false)
        );
        assert_eq!(
            fact(split(), Some(&["google_drive"])).readings.len(),
            2,
            "the other stays a possible one"
        );
    }

    #[test]
    fn two_servers_that_a_harness_spells_alike_are_not_certain() {
        let codex = || Mcp::from_tool_name("mcp__brave_search__web").unwrap();
        assert_eq!(short(&fact(codex(), None)), ("brave_search", "web", true));
        assert_eq!(short(&fact(codex(), Some(&["brave-search"]))), ("brave-search", "web", true));
        assert!(!fact(codex(), Some(&["brave-search", "brave_search"])).certain);
    }
}
