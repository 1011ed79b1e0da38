// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whole tools, MCP servers, addresses, subagents and skills.

use tenterhook_event::{Mcp, ToolClass};

use super::{Meaning, PermissionRuleError, Sense};
use tenterhook_document::yaml::{Map, Tree};

/// Tools that fetch a page; a search is not one of them.
const FETCHERS: &[&str] = &["WebFetch", "webfetch", "web_fetch", "fetch_web_content", "FetchUrl"];

pub(super) fn meaning(tool: &str, of: Option<&str>, sense: Sense) -> Result<Meaning, PermissionRuleError> {
    if tool.starts_with("mcp__") {
        return match of {
            None => Ok(Meaning::of(mcp(tool))),
            Some(_) => Err(PermissionRuleError::McpArguments),
        };
    }
    match (tool, of) {
        ("WebFetch", Some(of)) => {
            let domain = of.strip_prefix("domain:").ok_or(PermissionRuleError::NoDomain)?;
            host(domain.trim(), sense)
        }
        ("Agent" | "Task", Some(of)) => Ok(argument("agent", &["subagent_type"], of)),
        ("Skill", Some(of)) => Ok(argument("Skill", &["skill", "command"], of)),
        (tool, Some(_)) => Err(PermissionRuleError::UnknownCondition(tool.to_owned())),
        (tool, None) => {
            let tools: Vec<String> = match (tool, sense) {
                ("Bash", _) => vec!["shell".to_owned()],
                ("Read", Sense::Stops) => vec!["read".to_owned(), "search".to_owned()],
                ("Read", Sense::Vouches) => vec!["read".to_owned()],
                ("Edit", _) => vec!["edit".to_owned(), "write".to_owned(), "patch".to_owned()],
                ("Write", _) => vec!["write".to_owned()],
                ("Agent" | "Task", _) => vec!["agent".to_owned()],
                ("WebFetch", _) => FETCHERS.iter().map(|name| (*name).to_owned()).collect(),
                (name, _) if ToolClass::from_name(name).is_some() => {
                    return Err(PermissionRuleError::UnknownTool(name.to_owned()));
                }
                (name, _) => vec![name.to_owned()],
            };
            Ok(Meaning::of(vec![("tool", Tree::texts(tools))]))
        }
    }
}

/// `mcp__server`, `mcp__server__tool`; either part may have `*` in it.
fn mcp(name: &str) -> Map {
    let (server, tool) = match Mcp::from_tool_name(name) {
        Some(mcp) => (mcp.server, mcp.tool),
        None => (name.trim_start_matches("mcp__").to_owned(), "*".to_owned()),
    };
    let mut map = vec![("server", Tree::text(if server.is_empty() { "*".to_owned() } else { server }))];
    if tool != "*" {
        map.push(("tool", Tree::text(tool)));
    }
    vec![("mcp", Tree::Map(map))]
}

fn host(domain: &str, sense: Sense) -> Result<Meaning, PermissionRuleError> {
    let is_host = |letter: char| letter.is_ascii_alphanumeric() || ".-*".contains(letter);
    if domain.is_empty() || !domain.chars().all(is_host) {
        return Err(PermissionRuleError::InvalidDomain);
    }
    let domain = domain.to_ascii_lowercase();
    let mut hosts = vec![domain.clone()];
    // Whatever is below a domain that is kept away is kept away, too.
    if sense == Sense::Stops && !domain.starts_with('*') {
        hosts.push(format!("*.{domain}"));
    }
    let mut matches = vec![("url", Tree::Map(vec![("host", Tree::texts(hosts))]))];
    if sense == Sense::Vouches {
        matches.insert(0, ("tool", Tree::texts(FETCHERS.iter().copied())));
    }
    Ok(Meaning::of(matches))
}

/// An argument of a tool, which our conditions do not know: a `when`.
fn argument(tool: &str, keys: &[&str], of: &str) -> Meaning {
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
    Meaning { matches: vec![("tool", Tree::text(tool))], when: Some(when), notes: Vec::new() }
}
