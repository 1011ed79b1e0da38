// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Names of MCP tools. A harness joins the names of the server and the tool into one name, which cannot always be
//! split again unambiguously.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An MCP tool: its server, and the tool's name on that server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Mcp"))]
pub struct McpToolId {
    /// Name of the server, as configured in the harness; empty if the harness does not report it.
    pub server: String,
    /// Name of the tool, as the server defines it.
    pub tool: String,
    /// Other ways to split the harness's name for the tool; empty if server and tool are certain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<McpNameReading>,
}

/// One way to split a harness's name for an MCP tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "McpName"))]
pub struct McpNameReading {
    /// Name of the server.
    pub server: String,
    /// Name of the tool.
    pub tool: String,
}

/// The MCP servers in the settings of each harness, by the harness's id. If a harness is missing here, its settings
/// were not read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct McpServers(pub BTreeMap<String, Vec<String>>);

/// Maximum number of readings kept for one name.
const MAX_NAME_READINGS: usize = 256;

// === impl McpToolId ===

impl McpToolId {
    /// Creates the id of a tool whose server is certain.
    pub fn new(server: impl Into<String>, tool: impl Into<String>) -> Self {
        Self { server: server.into(), tool: tool.into(), also: Vec::new() }
    }

    /// Parses `mcp__server__tool` and `mcp_server_tool`.
    pub fn from_tool_name(name: &str) -> Option<Self> {
        match name.strip_prefix("mcp__") {
            Some(rest) => Self::split(rest, "__"),
            None => Self::split(name.strip_prefix("mcp_")?, "_"),
        }
    }

    /// Parses `server<separator>tool`. Both names may contain the separator. The preferred reading has the shortest
    /// server name; the other readings are kept in [`McpToolId::also`].
    pub fn split(name: &str, separator: &str) -> Option<Self> {
        let mut readings = split_readings(name, separator);
        let first = readings.next()?;
        Some(Self {
            server: first.server,
            tool: first.tool,
            also: readings.take(MAX_NAME_READINGS).collect(),
        })
    }

    /// Parses `server<separator>tool` like [`McpToolId::split`], but prefers the longest server name.
    pub fn split_last(name: &str, separator: &str) -> Option<Self> {
        let mut readings: Vec<_> = split_readings(name, separator).take(MAX_NAME_READINGS).collect();
        let last = readings.pop()?;
        Some(Self { server: last.server, tool: last.tool, also: readings })
    }

    /// Creates the id of a tool whose server the harness reports separately. A server prefix is removed from the
    /// tool's name, in any spelling.
    pub fn from_server(server: &str, name: &str) -> Self {
        let wanted = fold_mcp_name(server);
        let bare = name.strip_prefix("mcp__").or_else(|| name.strip_prefix("mcp_")).unwrap_or(name);
        let find_reading = |name: &str, separator: &str| {
            split_readings(name, separator).find(|reading| fold_mcp_name(&reading.server) == wanted)
        };
        let found = ["__", "_", "-", "/", "."].iter().find_map(|separator| find_reading(bare, separator));
        Self::new(server, found.map_or_else(|| name.to_owned(), |reading| reading.tool))
    }

    /// Iterates over all readings as (server, tool) pairs, the preferred reading first.
    pub fn readings(&self) -> impl Iterator<Item = (&str, &str)> {
        let also = self.also.iter().map(|name| (name.server.as_str(), name.tool.as_str()));
        std::iter::once((self.server.as_str(), self.tool.as_str())).chain(also)
    }
}

/// Removes the differences that harnesses introduce into a name: letters become lower case, and each run of
/// characters that are neither letters nor digits becomes one `_`.
pub fn fold_mcp_name(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_alphanumeric() {
            folded.extend(letter.to_lowercase());
        } else if !folded.ends_with('_') {
            folded.push('_');
        }
    }
    folded
}

/// Iterates over all ways to split a name in two.
fn split_readings(name: &str, separator: &str) -> impl Iterator<Item = McpNameReading> {
    let starts = name.char_indices().map(|(at, _)| at);
    starts.filter_map(move |at| {
        let (server, rest) = name.split_at_checked(at)?;
        let tool = rest.strip_prefix(separator)?;
        let both = !server.is_empty() && !tool.is_empty();
        both.then(|| McpNameReading { server: server.to_owned(), tool: tool.to_owned() })
    })
}

// === impl McpServers ===

impl McpServers {
    /// Returns the servers in a harness's settings; `None` if the settings were not read.
    pub fn get(&self, harness: &str) -> Option<&[String]> {
        self.0.get(harness).map(Vec::as_slice)
    }

    /// Returns whether any harness has a server with this name, in any spelling.
    pub fn contains(&self, server: &str) -> bool {
        let wanted = fold_mcp_name(server);
        self.0.values().flatten().any(|known| fold_mcp_name(known) == wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(mcp: Option<&McpToolId>) -> Vec<String> {
        mcp.iter().flat_map(|mcp| mcp.readings().map(|(server, tool)| format!("{server}|{tool}"))).collect()
    }

    #[test]
    fn a_name_is_split_wherever_its_separator_is() {
        assert_eq!(
            readings(McpToolId::from_tool_name("mcp__files__read_file").as_ref()),
            ["files|read_file"]
        );
        assert_eq!(readings(McpToolId::from_tool_name("mcp__a__b__c").as_ref()), ["a|b__c", "a__b|c"]);
        assert_eq!(readings(McpToolId::from_tool_name("mcp__a___b").as_ref()), ["a|_b", "a_|b"]);
        assert_eq!(readings(McpToolId::from_tool_name("mcp_a_b_c").as_ref()), ["a|b_c", "a_b|c"]);
        assert_eq!(
            readings(McpToolId::split("google_drive_erase", "_").as_ref()),
            ["google|drive_erase", "google_drive|erase"]
        );
        assert_eq!(
            readings(McpToolId::split_last("my-server-echo", "-").as_ref()),
            ["my-server|echo", "my|server-echo"]
        );
        for name in ["mcp__", "mcp__server", "mcp__server__", "mcp____tool", "mcp_", "read"] {
            assert_eq!(McpToolId::from_tool_name(name), None, "{name}");
        }
    }

    #[test]
    fn the_prefix_of_a_named_server_is_taken_off_in_every_spelling() {
        let tool = |server, name| McpToolId::from_server(server, name).tool;
        assert_eq!(tool("records", "mcp__records__erase"), "erase");
        assert_eq!(tool("records", "records__erase"), "erase");
        assert_eq!(tool("my-rec_ords", "mcp__my-rec_ords__erase"), "erase");
        assert_eq!(tool("brave-search", "mcp__brave_search__web_search"), "web_search");
        assert_eq!(tool("my__server", "mcp__my__server__do_it"), "do_it");
        assert_eq!(tool("records", "erase"), "erase");
        assert_eq!(tool("fakemcp", "mcp_fakemcp_echo"), "echo");
    }

    #[test]
    fn names_are_folded_as_harnesses_change_them() {
        for name in ["brave-search", "brave_search", "Brave.Search", "brave search", "brave__search"] {
            assert_eq!(fold_mcp_name(name), "brave_search", "{name}");
        }
        let servers = McpServers(BTreeMap::from([("codex".to_owned(), vec!["brave-search".to_owned()])]));
        assert!(servers.contains("brave_search") && !servers.contains("brave"));
        assert_eq!((servers.get("codex").map(<[_]>::len), servers.get("cursor")), (Some(1), None));
    }
}
