// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the MCP servers that are named in the settings of harnesses.
//!
//! When an MCP tool is called, the daemon reads the settings of the calling harness if they have changed. A hook
//! without a daemon uses the names in its snapshot.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tenterhook_event::{Event, McpServers};
use tenterhook_harness::{HARNESSES, Harness};
use tenterhook_harness_install::{MachineEnvironment, mcp_settings};
use tenterhook_policy::{Problem, RuleSet};

use tenterhook_home::env::Env;
use tenterhook_home::read_file;

/// The known MCP servers of harnesses.
#[derive(Debug, Default)]
pub enum KnownServers {
    /// No server is known.
    #[default]
    Unknown,
    /// Servers that were read earlier.
    Listed(McpServers),
    /// Settings that are read when an MCP tool is called.
    Settings(SettingsReader),
}

/// Reads the settings of a user's harnesses whenever they have changed.
#[derive(Debug)]
pub struct SettingsReader {
    home: Option<PathBuf>,
    variables: BTreeMap<&'static str, PathBuf>,
    /// Servers by harness id.
    read: Mutex<BTreeMap<&'static str, CachedServers>>,
}

#[derive(Debug)]
struct CachedServers {
    stamps: Vec<Option<Stamp>>,
    servers: Option<Vec<String>>,
}

/// Size, modification time in seconds and nanoseconds, and inode.
type Stamp = (u64, i64, i64, u64);

/// Returns the servers in the settings of all harnesses and of a project.
pub fn read_servers(env: &Env, project: Option<&Path>) -> McpServers {
    let of = |harness: &Harness| {
        let found = read_servers_of(harness, &env.machine(), project)?;
        Some((harness.id.to_owned(), found))
    };
    McpServers(HARNESSES.iter().filter_map(of).collect())
}

/// Reports rules that name a server which no harness has. Returns nothing if no settings could be read.
pub fn unknown_servers(rules: &RuleSet, servers: &McpServers) -> Vec<Problem> {
    if servers.0.is_empty() {
        return Vec::new();
    }
    let mut known: Vec<_> = servers.0.values().flatten().map(String::as_str).collect();
    known.sort_unstable();
    known.dedup();
    let hint = match known.as_slice() {
        [] => "no client has an MCP server".to_owned(),
        known => format!("configured servers: {}", known.join(", ")),
    };
    let mut problems = Vec::new();
    for rule in rules.rules() {
        for server in rule.mcp_servers().iter().filter(|server| !servers.contains(server)) {
            let message = format!("unknown MCP server `{server}`: no installed client has it");
            problems.push(rule.problem(message).hint(hint.clone()));
        }
    }
    problems
}

fn read_servers_of(
    harness: &Harness,
    machine: &MachineEnvironment<'_>,
    project: Option<&Path>,
) -> Option<Vec<String>> {
    let mut found: Option<Vec<String>> = None;
    for (path, settings) in mcp_settings(harness, machine, project) {
        let text = read_file::regular_file(&path).ok().flatten();
        if let Some(servers) = text.and_then(|text| settings.servers(&text)) {
            found.get_or_insert_default().extend(servers);
        }
    }
    if let Some(found) = &mut found {
        found.sort_unstable();
        found.dedup();
    }
    found
}

// === impl KnownServers ===

impl KnownServers {
    /// Returns the servers in the settings of a user's harnesses.
    pub fn from_settings(env: &Env) -> Self {
        let (home, variables) = (env.home.clone(), env.harness_variables.clone());
        Self::Settings(SettingsReader { home, variables, read: Mutex::default() })
    }

    /// Returns the servers of the event's harness, if the event is about an MCP tool.
    pub fn for_event(&self, event: &Event) -> Option<McpServers> {
        event.tool.as_ref()?.mcp.as_ref()?;
        match self {
            Self::Unknown => None,
            Self::Listed(servers) => Some(servers.clone()),
            Self::Settings(reader) => reader.servers(tenterhook_harness::find_harness(&event.source)?),
        }
    }
}

// === impl SettingsReader ===

impl SettingsReader {
    fn servers(&self, harness: &'static Harness) -> Option<McpServers> {
        let machine =
            MachineEnvironment { home: self.home.as_deref(), variables: &self.variables, path: "".as_ref() };
        let files = mcp_settings(harness, &machine, None);
        let stamps: Vec<_> = files.iter().map(|(path, _)| file_stamp(path)).collect();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let same = read.get(harness.id).filter(|read| read.stamps == stamps);
        let known = if let Some(read) = same {
            read.servers.clone()
        } else {
            let servers = read_servers_of(harness, &machine, None);
            read.insert(harness.id, CachedServers { stamps, servers: servers.clone() });
            servers
        };
        Some(McpServers(BTreeMap::from([(harness.id.to_owned(), known?)])))
    }
}

fn file_stamp(path: &Path) -> Option<Stamp> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.len(), found.mtime(), found.mtime_nsec(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenterhook_event::{EventId, EventKind, Timestamp, ToolCall};

    #[test]
    fn settings_are_read_again_when_they_have_changed() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env { home: Some(dir.path().to_owned()), ..Env::default() };
        let known = KnownServers::from_settings(&env);
        let (id, now) = (EventId::from_parts(1, 1), Timestamp::from_unix_ms(1));
        let mut event = Event::new(id, now, "gemini", EventKind::PreTool, "BeforeTool");
        event.tool = Some(ToolCall::new("mcp_a_b", serde_json::json!({})));
        assert_eq!(known.for_event(&event), None, "there are no settings");
        std::fs::create_dir(dir.path().join(".gemini")).unwrap();
        let settings = dir.path().join(".gemini/settings.json");
        std::fs::write(&settings, r#"{"mcpServers": {"a": {}}}"#).unwrap();
        let names = |servers: McpServers| servers.get("gemini").map(<[String]>::to_vec);
        assert_eq!(known.for_event(&event).and_then(names), Some(vec!["a".to_owned()]));
        std::fs::write(&settings, r#"{"mcpServers": {"a": {}, "b": {}}}"#).unwrap();
        assert_eq!(known.for_event(&event).and_then(names).map(|names| names.len()), Some(2));
        event.tool = Some(ToolCall::new("read_file", serde_json::json!({})));
        assert_eq!(known.for_event(&event), None, "nobody asks for other tools");
        assert_eq!(read_servers(&env, None).0.len(), 1);
    }
}
