// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the configuration of MCP servers in the format that Claude Code and other clients use:
//! `{"mcpServers": {"name": {…}}}`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::error::{McpError, McpErrorKind};

/// Environment variables that servers inherit, in addition to the variables of their configuration entry. API keys
/// are not inherited.
pub const INHERITED_VARIABLES: [&str; 8] =
    ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/// The servers of a configuration file. An invalid entry does not affect the other servers.
#[derive(Debug, Default)]
pub struct McpConfig {
    /// Valid entries by server name.
    pub servers: BTreeMap<String, McpServerSpec>,
    /// Errors in the invalid entries.
    pub problems: Vec<McpError>,
}

/// How to start a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpServerSpec {
    /// Program to run.
    pub command: String,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Complete environment of the program.
    pub env: BTreeMap<String, String>,
    /// Working directory; `None` for the agent's working directory.
    pub cwd: Option<PathBuf>,
}

/// Why an entry is invalid.
#[derive(Debug, thiserror::Error)]
enum ServerEntryError {
    #[error("invalid entry: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("unsupported type `{0}`; only `stdio` is supported")]
    UnsupportedType(String),
    #[error("the entry has no `command`")]
    NoCommand,
    #[error("variable `{0}` is not set; set it, or write `${{{0}:-default}}`")]
    VariableNotSet(String),
}

#[derive(Deserialize)]
struct McpConfigFile {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Value>,
}

/// One entry of the file. Unknown keys are ignored, because other clients define keys of their own.
#[derive(Deserialize)]
struct ServerEntry {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    cwd: Option<PathBuf>,
    #[serde(default)]
    disabled: bool,
}

impl McpConfig {
    /// Parses a configuration file. `variable` looks up environment variables, for `${NAME}` and `${NAME:-default}` in
    /// entries and for [`INHERITED_VARIABLES`].
    pub fn read(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> serde_json::Result<Self> {
        let file: McpConfigFile = serde_json::from_str(text)?;
        let mut config = Self::default();
        for (name, entry) in file.servers {
            match parse_server_entry(entry, variable) {
                Ok(Some(spec)) => drop(config.servers.insert(name, spec)),
                Ok(None) => {}
                Err(error) => config.problems.push(McpErrorKind::Config(error.to_string()).for_server(&name)),
            }
        }
        Ok(config)
    }
}

/// Parses an entry. Returns `None` if the server is disabled.
fn parse_server_entry(
    entry: Value,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<McpServerSpec>, ServerEntryError> {
    let entry: ServerEntry = serde_json::from_value(entry)?;
    if entry.disabled {
        return Ok(None);
    }
    if let Some(kind) = entry.kind.as_deref().filter(|kind| *kind != "stdio") {
        return Err(ServerEntryError::UnsupportedType(kind.to_owned()));
    }
    let command = entry.command.filter(|command| !command.is_empty());
    let command = command.ok_or(ServerEntryError::NoCommand)?;
    let expand = |text: &String| expand_variables(text, variable);
    let inherited = INHERITED_VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?)));
    let mut env: BTreeMap<_, _> = inherited.collect();
    for (name, value) in &entry.env {
        env.insert(name.clone(), expand(value)?);
    }
    let args = entry.args.iter().map(expand).collect::<Result<_, _>>()?;
    Ok(Some(McpServerSpec { command: expand(&command)?, args, env, cwd: entry.cwd }))
}

/// Expands `${NAME}` and `${NAME:-default}`.
fn expand_variables(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, ServerEntryError> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, after)) = after.split_once('}') else { break };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (inside, None),
        };
        let value = variable(name).or(default);
        let value = value.ok_or_else(|| ServerEntryError::VariableNotSet(name.to_owned()))?;
        filled.push_str(before);
        filled.push_str(&value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<String> {
        let known = [("PATH", "/bin"), ("TOKEN", "t"), ("ANTHROPIC_API_KEY", "k")];
        known.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn a_file_of_other_programs_is_read_and_what_cannot_be_used_is_refused_alone() {
        let config = McpConfig::read(
            r#"{"theme": "dark", "mcpServers": {
                "files": {"command": "npx", "args": ["-y", "${PKG:-files}", "$HOME"], "env": {"T": "a-${TOKEN}-b"}},
                "plain": {"type": "stdio", "command": "x", "autoApprove": []},
                "off": {"command": "x", "disabled": true},
                "remote": {"type": "http", "url": "https://example.com"},
                "url": {"url": "https://example.com"},
                "unset": {"command": "x", "args": ["${UNSET}"]},
                "wrong": {"command": ["x"]}
            }}"#,
            &variable,
        )
        .unwrap();
        let env = |more: &[(&str, &str)]| {
            let all = [&[("PATH", "/bin")], more].concat();
            all.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        let args = ["-y", "files", "$HOME"].map(ToOwned::to_owned).to_vec();
        let files = McpServerSpec { command: "npx".to_owned(), args, env: env(&[("T", "a-t-b")]), cwd: None };
        let plain = McpServerSpec { command: "x".to_owned(), env: env(&[]), ..McpServerSpec::default() };
        let expected = BTreeMap::from([("files".to_owned(), files), ("plain".to_owned(), plain)]);
        assert_eq!(config.servers, expected);
        let problems: Vec<_> = config.problems.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(problems.join("\n"), @"
        MCP server `remote`: unsupported type `http`; only `stdio` is supported
        MCP server `unset`: variable `UNSET` is not set; set it, or write `${UNSET:-default}`
        MCP server `url`: the entry has no `command`
        MCP server `wrong`: invalid entry: invalid type: sequence, expected a string
        ");
    }

    #[test]
    fn an_invalid_file_is_refused_with_its_position() {
        assert_eq!(
            McpConfig::read("{\"mcpServers\": []}", &variable).unwrap_err().to_string(),
            "invalid type: sequence, expected a map at line 1 column 15"
        );
        assert_eq!(
            McpConfig::read("{}", &variable).unwrap_err().to_string(),
            "missing field `mcpServers` at line 1 column 2"
        );
    }
}
