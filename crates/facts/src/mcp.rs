// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Determines the MCP tool of a call, with every way to split the harness's name into a server and a tool.

use serde::Serialize;
use tenterhook_event::{McpServers, ToolCall, fold_mcp_name};

use super::tool_actions::tool_actions;

/// The MCP tool of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct McpFact {
    /// Server name in the harness's settings; empty if unknown.
    pub server: String,
    /// Tool name on the server.
    pub tool: String,
    /// Whether this is the only possible reading.
    pub certain: bool,
    /// Every reading of the name, including this one.
    pub readings: Vec<McpReading>,
    /// What the tool does on its service, as its name and arguments say: `destroy`, `expose`, `unprotect`, `pay`,
    /// `reveal-secret` or `publish`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<&'static str>,
    /// Folded names of the harness's servers, if they are known.
    #[serde(skip)]
    pub servers: Option<Vec<String>>,
    /// Whether the harness may have shortened the name to the length that models accept.
    #[serde(skip)]
    pub shortened: bool,
}

/// Minimum length of a joined name that may have been shortened: harnesses cut names of more than about 64
/// characters.
const MIN_SHORTENED_CHARS: usize = 60;

/// One reading of a harness's name for an MCP tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct McpReading {
    /// Server name, folded: differences that harnesses introduce are removed.
    pub server: String,
    /// Folded tool name.
    pub tool: String,
    /// Whether the harness's settings contain such a server.
    pub known: bool,
}

impl McpFact {
    pub(super) fn from_call(call: &ToolCall, harness: &str, servers: Option<&McpServers>) -> Option<Self> {
        let mcp = call.mcp.as_ref()?;
        let servers = servers.and_then(|servers| servers.get(harness));
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
        // If the harness may have changed the name, the spelling in its settings is used.
        let server = if mcp.also.is_empty() && best.is_none() {
            server
        } else {
            configured.map_or(server, String::as_str)
        };
        let known = readings.iter().filter(|reading| reading.known).count();
        let shortened = call.name.len() >= MIN_SHORTENED_CHARS && !sends_tool_name(call);
        let certain = (mcp.also.is_empty() || known == 1) && other.is_none() && !shortened;
        Some(Self {
            server: server.to_owned(),
            tool: tool.to_owned(),
            certain,
            readings,
            acts: tool_actions(call),
            servers: folded,
            shortened,
        })
    }
}

/// Whether the harness sends the tool's name separately, so that the joined name does not matter.
fn sends_tool_name(call: &ToolCall) -> bool {
    call.mcp.as_ref().is_some_and(|mcp| mcp.also.is_empty() && !call.name.ends_with(&mcp.tool))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tenterhook_event::McpToolId;

    fn fact(mcp: McpToolId, servers: Option<&[&str]>) -> McpFact {
        let servers = servers.map(|servers| servers.iter().map(|name| (*name).to_owned()).collect());
        let servers = servers.map(|servers| McpServers(BTreeMap::from([("opencode".to_owned(), servers)])));
        let tool = ToolCall { mcp: Some(mcp), ..ToolCall::new("x", serde_json::json!({})) };
        McpFact::from_call(&tool, "opencode", servers.as_ref()).unwrap()
    }

    fn short(fact: &McpFact) -> (&str, &str, bool) {
        (&fact.server, &fact.tool, fact.certain)
    }

    #[test]
    fn known_servers_decide_where_a_name_is_split() {
        let split = || McpToolId::split("google_drive_erase", "_").unwrap();
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
            "the other reading stays possible"
        );
    }

    #[test]
    fn two_servers_that_a_harness_spells_alike_are_not_certain() {
        let codex = || McpToolId::from_tool_name("mcp__brave_search__web").unwrap();
        assert_eq!(short(&fact(codex(), None)), ("brave_search", "web", true));
        assert_eq!(short(&fact(codex(), Some(&["brave-search"]))), ("brave-search", "web", true));
        assert!(!fact(codex(), Some(&["brave-search", "brave_search"])).certain);
    }
}
