// SPDX-License-Identifier: Apache-2.0 OR MIT
//! MCP servers in a harness's settings. Some harnesses join the server name and the tool name; the server names tell
//! where to split the joined name.

use crate::HarnessClient as _;
use std::path::{Path, PathBuf};

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use toml_edit::Document;

use super::{MachineEnvironment, SettingsScope};
use tenterhook_harness::Harness;

/// A settings file that names MCP servers.
#[derive(Debug, Clone, Copy)]
pub struct McpSettings {
    harness: &'static str,
    base: SettingsBase,
    file: &'static str,
    format: SettingsFormat,
    /// Paths of the objects whose keys are server names; `*` matches every key.
    objects: &'static [&'static [&'static str]],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SettingsBase {
    /// Directory of the user's settings of this harness.
    Settings,
    /// Home directory of the user.
    Home,
    /// Root of the project.
    Project,
}

#[derive(Debug, Clone, Copy)]
enum SettingsFormat {
    Json,
    Toml,
}

const SERVERS: &[&[&str]] = &[&["mcpServers"]];

const fn row(
    harness: &'static str,
    base: SettingsBase,
    file: &'static str,
    objects: &'static [&'static [&'static str]],
) -> McpSettings {
    McpSettings { harness, base, file, format: SettingsFormat::Json, objects }
}

const SETTINGS: &[McpSettings] = &[
    row(
        "claude-code",
        SettingsBase::Home,
        ".claude.json",
        &[&["mcpServers"], &["projects", "*", "mcpServers"]],
    ),
    row(
        "claude-code",
        SettingsBase::Settings,
        ".claude.json",
        &[&["mcpServers"], &["projects", "*", "mcpServers"]],
    ),
    row("claude-code", SettingsBase::Project, ".mcp.json", SERVERS),
    toml("codex", SettingsBase::Settings),
    toml("codex-desktop", SettingsBase::Settings),
    McpSettings { file: ".codex/config.toml", ..toml("codex", SettingsBase::Project) },
    row("cursor", SettingsBase::Settings, "mcp.json", SERVERS),
    row("cursor", SettingsBase::Project, ".cursor/mcp.json", SERVERS),
    row("gemini", SettingsBase::Settings, "settings.json", SERVERS),
    row("gemini", SettingsBase::Project, ".gemini/settings.json", SERVERS),
    row("llxprt", SettingsBase::Settings, "settings.json", SERVERS),
    row("llxprt", SettingsBase::Home, ".llxprt/settings.json", SERVERS),
    row("llxprt", SettingsBase::Project, ".llxprt/settings.json", SERVERS),
    row("qwen", SettingsBase::Settings, "settings.json", SERVERS),
    row("qwen", SettingsBase::Project, ".qwen/settings.json", SERVERS),
    row("opencode", SettingsBase::Settings, "opencode.json", &[&["mcp"]]),
    row("opencode", SettingsBase::Settings, "opencode.jsonc", &[&["mcp"]]),
    row("opencode", SettingsBase::Settings, "config.json", &[&["mcp"]]),
    row("opencode", SettingsBase::Project, "opencode.json", &[&["mcp"]]),
    row("opencode", SettingsBase::Project, "opencode.jsonc", &[&["mcp"]]),
    row("opencode", SettingsBase::Project, ".opencode/opencode.json", &[&["mcp"]]),
    row("pi", SettingsBase::Settings, "mcp.json", SERVERS),
    row("pi", SettingsBase::Project, ".pi/mcp.json", SERVERS),
    row("copilot", SettingsBase::Settings, "mcp-config.json", SERVERS),
    row("copilot", SettingsBase::Project, ".mcp.json", SERVERS),
    row("cline", SettingsBase::Settings, "data/settings/cline_mcp_settings.json", SERVERS),
    row("cline", SettingsBase::Settings, "mcp_settings.json", SERVERS),
    row("vscode", SettingsBase::Home, ".config/Code/User/mcp.json", &[&["servers"]]),
    row("vscode", SettingsBase::Home, "Library/Application Support/Code/User/mcp.json", &[&["servers"]]),
    row("vscode", SettingsBase::Project, ".vscode/mcp.json", &[&["servers"]]),
];

const fn toml(harness: &'static str, base: SettingsBase) -> McpSettings {
    McpSettings {
        harness,
        base,
        file: "config.toml",
        format: SettingsFormat::Toml,
        objects: &[&["mcp_servers"]],
    }
}

/// Files in which a harness may name MCP servers. Files of a project are included only if `project` is given.
pub fn mcp_settings(
    harness: &Harness,
    ground: &MachineEnvironment<'_>,
    project: Option<&Path>,
) -> Vec<(PathBuf, &'static McpSettings)> {
    let directory = || (harness.installer()?.directory)(ground, &SettingsScope::User);
    let rows = SETTINGS.iter().filter(|row| row.harness == harness.id);
    let path = |row: &'static McpSettings| {
        let base = match row.base {
            SettingsBase::Settings => directory()?,
            SettingsBase::Home => ground.home?.to_owned(),
            SettingsBase::Project => project?.to_owned(),
        };
        Some((base.join(row.file), row))
    };
    rows.filter_map(path).collect()
}

impl McpSettings {
    /// Servers in the text of this file; `None` if it cannot be parsed.
    pub fn servers(&self, text: &str) -> Option<Vec<String>> {
        match self.format {
            SettingsFormat::Json => {
                let body = text.strip_prefix('\u{feff}').unwrap_or(text);
                let parsed = parse_to_ast(body, &CollectOptions::default(), &ParseOptions::default()).ok()?;
                let root = parsed.value?;
                let mut found = Vec::new();
                for keys in self.objects {
                    names_below(root.as_object()?, keys, &mut found);
                }
                Some(found)
            }
            SettingsFormat::Toml => {
                let document = Document::parse(text).ok()?;
                let tables = self.objects.iter().filter_map(|keys| document.as_table().get(keys.first()?));
                let names = tables.filter_map(|item| item.as_table_like());
                Some(names.flat_map(|table| table.iter().map(|(name, _)| name.to_owned())).collect())
            }
        }
    }
}

fn names_below(object: &Object<'_>, keys: &[&str], found: &mut Vec<String>) {
    let Some((first, rest)) = keys.split_first() else {
        found.extend(object.properties.iter().map(|property| property.name.as_str().to_owned()));
        return;
    };
    for property in &object.properties {
        if (*first == "*" || property.name.as_str() == *first)
            && let Value::Object(inner) = &property.value
        {
            names_below(inner, rest, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(harness: &str, file: &str, text: &str) -> Option<Vec<String>> {
        let row = SETTINGS.iter().find(|row| row.harness == harness && row.file == file).unwrap();
        row.servers(text)
    }

    #[test]
    fn servers_are_found_in_every_form_of_settings() {
        let named = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let claude = r#"{"mcpServers": {"a": {}}, "projects": {"/p": {"mcpServers": {"b": {}}}, "/q": {}}}"#;
        assert_eq!(servers("claude-code", ".claude.json", claude), named(&["a", "b"]));
        let codex = "model = 'x'\n[mcp_servers.brave-search]\ncommand = 'x'\n[mcp_servers.\"a.b\"]\n";
        assert_eq!(servers("codex", "config.toml", codex), named(&["brave-search", "a.b"]));
        let opencode = "{\n  // mine\n  \"mcp\": {\"google_drive\": {\"type\": \"local\"},},\n}";
        assert_eq!(servers("opencode", "opencode.jsonc", opencode), named(&["google_drive"]));
        assert_eq!(servers("gemini", "settings.json", "{}"), named(&[]));
        for broken in ["", "[", "{\"mcpServers\":", "null"] {
            assert_eq!(servers("gemini", "settings.json", broken), None, "{broken}");
        }
        assert_eq!(servers("codex", "config.toml", "[["), None);
    }

    #[test]
    fn every_row_is_of_a_harness() {
        for row in SETTINGS {
            assert!(tenterhook_harness::find_harness(row.harness).is_some(), "{}", row.harness);
        }
    }
}
