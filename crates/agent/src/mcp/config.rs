// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which servers there are: the form that Claude Code and others read, `{"mcpServers": {"name": {…}}}`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::error::{McpError, Why};

/// The variables of ours that a server sees, besides those of its own entry. Keys are not among them.
pub const INHERITED: [&str; 8] = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/// The servers of a file. An entry that cannot be used is refused alone.
#[derive(Debug, Default)]
pub struct Config {
    /// The servers, by name.
    pub servers: BTreeMap<String, ServerSpec>,
    /// The entries that cannot be used.
    pub problems: Vec<McpError>,
}

/// How a server is started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerSpec {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// All variables it sees.
    pub env: BTreeMap<String, String>,
    /// Where it runs, if not where the agent does.
    pub cwd: Option<PathBuf>,
}

/// An entry of the file that cannot be used.
#[derive(Debug, thiserror::Error)]
enum ServerEntryError {
    #[error("its entry cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("type `{0}` is not supported; only servers over `stdio` are")]
    UnsupportedType(String),
    #[error("its entry has no `command`: the program to start")]
    NoCommand,
    #[error("`${{{0}}}` is not set; set it, or write `${{{0}:-…}}`")]
    VariableNotSet(String),
}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Value>,
}

/// Keys that other programs know are passed over, as they pass over each other's.
#[derive(Deserialize)]
struct Entry {
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

impl Config {
    /// Reads a file. `variable` tells the value of a variable: entries may say `${NAME}` or
    /// `${NAME:-otherwise}`, and servers see the [`INHERITED`] ones.
    pub fn read(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> serde_json::Result<Self> {
        let file: File = serde_json::from_str(text)?;
        let mut config = Self::default();
        for (name, entry) in file.servers {
            match spec(entry, variable) {
                Ok(Some(spec)) => drop(config.servers.insert(name, spec)),
                Ok(None) => {}
                Err(error) => config.problems.push(Why::Config(error.to_string()).of(&name)),
            }
        }
        Ok(config)
    }
}

/// How the server of an entry is started; none if it is switched off.
fn spec(
    entry: Value,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<ServerSpec>, ServerEntryError> {
    let entry: Entry = serde_json::from_value(entry)?;
    if entry.disabled {
        return Ok(None);
    }
    if let Some(kind) = entry.kind.as_deref().filter(|kind| *kind != "stdio") {
        return Err(ServerEntryError::UnsupportedType(kind.to_owned()));
    }
    let command = entry.command.filter(|command| !command.is_empty());
    let command = command.ok_or(ServerEntryError::NoCommand)?;
    let fill = |text: &String| expand(text, variable);
    let inherited = INHERITED.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?)));
    let mut env: BTreeMap<_, _> = inherited.collect();
    for (name, value) in &entry.env {
        env.insert(name.clone(), fill(value)?);
    }
    let args = entry.args.iter().map(fill).collect::<Result<_, _>>()?;
    Ok(Some(ServerSpec { command: fill(&command)?, args, env, cwd: entry.cwd }))
}

/// Fills in `${NAME}` and `${NAME:-otherwise}`.
fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, ServerEntryError> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, after)) = after.split_once('}') else { break };
        let (name, otherwise) = match inside.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise.to_owned())),
            None => (inside, None),
        };
        let value = variable(name).or(otherwise);
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
        let config = Config::read(
            r#"{"theme": "dark", "mcpServers": {
                "files": {"command": "npx", "args": ["-y", "${PKG:-files}", "$HOME"], "env": {"T": "a-${TOKEN}-b"}},
                "plain": {"type": "stdio", "command": "x", "autoApprove": []},
                "off": {"command": "x", "disabled": true},
                "remote": {"type": "http", "url": "https://example.com"},
                "url": {"url": "https://example.com"},
                "unset": {"command": "x", "args": ["${NOBODY}"]},
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
        let files = ServerSpec { command: "npx".to_owned(), args, env: env(&[("T", "a-t-b")]), cwd: None };
        let plain = ServerSpec { command: "x".to_owned(), env: env(&[]), ..ServerSpec::default() };
        let expected = BTreeMap::from([("files".to_owned(), files), ("plain".to_owned(), plain)]);
        assert_eq!(config.servers, expected);
        let problems: Vec<_> = config.problems.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(problems.join("\n"), @"
        MCP server `remote`: type `http` is not supported; only servers over `stdio` are
        MCP server `unset`: `${NOBODY}` is not set; set it, or write `${NOBODY:-…}`
        MCP server `url`: its entry has no `command`: the program to start
        MCP server `wrong`: its entry cannot be read: invalid type: sequence, expected a string
        ");
    }

    #[test]
    fn a_file_that_is_none_says_where() {
        assert_eq!(
            Config::read("{\"mcpServers\": []}", &variable).unwrap_err().to_string(),
            "invalid type: sequence, expected a map at line 1 column 15"
        );
        assert_eq!(
            Config::read("{}", &variable).unwrap_err().to_string(),
            "missing field `mcpServers` at line 1 column 2"
        );
    }
}
