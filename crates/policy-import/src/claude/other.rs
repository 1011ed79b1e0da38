// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts permissions on whole tools, MCP servers, addresses, subagents and skills.

use tenterhook_event::{McpToolId, ToolClass};

use super::{PermissionConditions, PermissionKind, PermissionRuleError};
use tenterhook_document::yaml::{Map, Tree};

/// Tools that fetch a page. Search tools are not included.
const FETCH_TOOLS: &[&str] = &["WebFetch", "webfetch", "web_fetch", "fetch_web_content", "FetchUrl"];

pub(super) fn convert(
    tool: &str,
    of: Option<&str>,
    kind: PermissionKind,
) -> Result<PermissionConditions, PermissionRuleError> {
    if tool.starts_with("mcp__") {
        return match of {
            None => Ok(PermissionConditions::new(mcp_conditions(tool))),
            Some(_) => Err(PermissionRuleError::McpArguments),
        };
    }
    match (tool, of) {
        ("WebFetch", Some(of)) => {
            let domain = of.strip_prefix("domain:").ok_or(PermissionRuleError::NoDomain)?;
            host_conditions(domain.trim(), kind)
        }
        ("Agent" | "Task", Some(of)) => Ok(argument_condition("agent", &["subagent_type"], of)),
        ("Skill", Some(of)) => Ok(argument_condition("Skill", &["skill", "command"], of)),
        (tool, Some(_)) => Err(PermissionRuleError::UnknownCondition(tool.to_owned())),
        (tool, None) => {
            let tools: Vec<String> = match (tool, kind) {
                ("Bash", _) => vec!["shell".to_owned()],
                ("Read", PermissionKind::Restricts) => vec!["read".to_owned(), "search".to_owned()],
                ("Read", PermissionKind::Allows) => vec!["read".to_owned()],
                ("Edit", _) => vec!["edit".to_owned(), "write".to_owned(), "patch".to_owned()],
                ("Write", _) => vec!["write".to_owned()],
                ("Agent" | "Task", _) => vec!["agent".to_owned()],
                ("WebFetch", _) => FETCH_TOOLS.iter().map(|name| (*name).to_owned()).collect(),
                (name, _) if ToolClass::from_name(name).is_some() => {
                    return Err(PermissionRuleError::UnknownTool(name.to_owned()));
                }
                (name, _) => vec![name.to_owned()],
            };
            Ok(PermissionConditions::new(vec![("tool", Tree::texts(tools))]))
        }
    }
}

/// Converts `mcp__server` and `mcp__server__tool`. The server and the tool may contain `*`.
fn mcp_conditions(name: &str) -> Map {
    let (server, tool) = match McpToolId::from_tool_name(name) {
        Some(mcp) => (mcp.server, mcp.tool),
        None => (name.trim_start_matches("mcp__").to_owned(), "*".to_owned()),
    };
    let mut map = vec![("server", Tree::text(if server.is_empty() { "*".to_owned() } else { server }))];
    if tool != "*" {
        map.push(("tool", Tree::text(tool)));
    }
    vec![("mcp", Tree::Map(map))]
}

fn host_conditions(domain: &str, kind: PermissionKind) -> Result<PermissionConditions, PermissionRuleError> {
    let is_host = |letter: char| letter.is_ascii_alphanumeric() || ".-*".contains(letter);
    if domain.is_empty() || !domain.chars().all(is_host) {
        return Err(PermissionRuleError::InvalidDomain);
    }
    let domain = domain.to_ascii_lowercase();
    let mut hosts = vec![domain.clone()];
    // A rule that denies or asks about a domain also covers its subdomains.
    if kind == PermissionKind::Restricts && !domain.starts_with('*') {
        hosts.push(format!("*.{domain}"));
    }
    let mut matches = vec![("url", Tree::Map(vec![("host", Tree::texts(hosts))]))];
    if kind == PermissionKind::Allows {
        matches.insert(0, ("tool", Tree::texts(FETCH_TOOLS.iter().copied())));
    }
    Ok(PermissionConditions::new(matches))
}

/// Converts a condition on an argument to a `when`, because rule files have no `match` condition for it.
fn argument_condition(tool: &str, keys: &[&str], of: &str) -> PermissionConditions {
    let of = of.strip_suffix(":*").map_or_else(|| of.to_owned(), |head| format!("{head} *"));
    let (head, tail) = match of.strip_suffix(" *") {
        Some(head) => (head, r"(\s.*)?"),
        None => (of.as_str(), ""),
    };
    let parts: Vec<_> = head.split('*').map(regex::escape).collect();
    let pattern = serde_json::Value::from(format!("^{}{tail}$", parts.join(".*"))).to_string();
    let test = |key: &&str| format!("has(tool.args.{key}) && string(tool.args.{key}).matches({pattern})");
    let tests: Vec<_> = keys.iter().map(test).collect();
    let when = tests.join(" || ");
    PermissionConditions { matches: vec![("tool", Tree::text(tool))], when: Some(when), notes: Vec::new() }
}
