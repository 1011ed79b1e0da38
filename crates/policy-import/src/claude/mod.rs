// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code's `permissions` → rules.
//!
//! Deny beats ask beats allow, there and here. A rule that denies or asks may be wider than the
//! original, so that a disguise does not help; one that allows is never wider: it vouches for a
//! call, and only for Claude Code's.

mod command;
mod file;
mod other;

use tenterhook_document::{Node, Problem, Spot, Value, parse};

use super::Imported;
use super::draft::{Draft, Ids};
use tenterhook_document::yaml::{Map, Tree};

/// Strictest first.
const LISTS: &[(&str, &str)] = &[("deny", "deny"), ("ask", "ask"), ("allow", "allow")];
const NOTES: &[&str] = &[
    "Rules that deny or ask look at every command of a line, also behind `sudo` or `bash -c`, and at",
    "everything that is done to a file, whichever tool does it. Rules that allow hold for Claude Code only.",
];

/// A permission rule that cannot be written as a rule of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum PermissionRuleError {
    #[error("it has no `)` at its end")]
    Unclosed,
    #[error("it does not begin with the name of a tool")]
    NoTool,
    #[error("a pattern that takes away has no meaning alone")]
    NegatedPattern,
    #[error("Claude Code knows no conditions on the arguments of an MCP tool")]
    McpArguments,
    #[error("an address is written `domain:…`")]
    NoDomain,
    #[error("its domain is none")]
    InvalidDomain,
    #[error("what `{0}(…)` means is not known here")]
    UnknownCondition(String),
    #[error("`{0}` is no tool of Claude Code")]
    UnknownTool(String),
}

/// What a permission rule comes to.
struct Meaning {
    matches: Map,
    when: Option<String>,
    notes: Vec<String>,
}

/// Whether a rule stops something or vouches for it: the one may be wider, the other only narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Stops,
    Vouches,
}

/// Makes rules of the permissions in Claude Code's `settings.json`.
#[expect(clippy::result_large_err, reason = "once for a whole file")]
pub fn claude_permissions(name: &str, text: &str) -> Result<Imported, Problem> {
    let document = read(text).map_err(|(spot, message)| Problem::new(name, spot, message))?;
    let Some(permissions) = document.get("permissions") else {
        return Err(Problem::new(name, document.spot, "there are no `permissions` in it")
            .hint("name a `settings.json` of Claude Code"));
    };
    let Value::Map(entries) = &permissions.value else {
        return Err(Problem::new(name, permissions.spot, "`permissions` must be a map"));
    };
    let mut left_out = Vec::new();
    for (key, value) in entries {
        let key_name = key.text().unwrap_or_default();
        if LISTS.iter().all(|(list, _)| *list != key_name) {
            let spot = if key.spot == Spot::default() { value.spot } else { key.spot };
            left_out.push(setting(name, spot, key_name));
        }
    }
    let mut ids = Ids::new();
    let mut drafts = Vec::new();
    for (list, verdict) in LISTS {
        let Some(node) = permissions.get(list) else { continue };
        let Value::List(items) = &node.value else {
            left_out.push(Problem::new(name, node.spot, format!("`{list}` must be a list")));
            continue;
        };
        for item in items {
            let Some(rule) = item.text() else {
                left_out.push(Problem::new(name, item.spot, "a permission rule must be a text"));
                continue;
            };
            match draft(rule, verdict, &mut ids) {
                Ok(draft) => drafts.push(draft),
                Err(error) => {
                    let problem =
                        Problem::new(name, item.spot, error.to_string()).about("permission", Some(rule));
                    left_out.push(problem.hint("Claude Code itself still applies it"));
                }
            }
        }
    }
    let mut notes = vec![format!("Made by `tenterhook policy import` from the permissions in {name}.")];
    notes.extend(NOTES.iter().map(|note| (*note).to_owned()));
    let carried = drafts.len();
    Ok(Imported { yaml: super::draft::file(&notes, &Vec::new(), &drafts), carried, left_out })
}

/// JSON is YAML but for a few letters; where it is not, places are lost and the content is not.
fn read(text: &str) -> Result<Node, (Spot, String)> {
    parse(text).or_else(|error| serde_json::from_str(text).map(|json| node(&json)).map_err(|_| error))
}

fn node(json: &serde_json::Value) -> Node {
    use serde_json::Value as Json;
    let text = |text: &str| Node { spot: Spot::default(), value: Value::Text(text.to_owned()) };
    let value = match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => Value::Real(number.as_f64().unwrap_or_default()),
        Json::String(content) => return text(content),
        Json::Array(items) => Value::List(items.iter().map(node).collect()),
        Json::Object(map) => Value::Map(map.iter().map(|(key, value)| (text(key), node(value))).collect()),
    };
    Node { spot: Spot::default(), value }
}

/// A setting beside the three lists.
fn setting(source: &str, spot: Spot, name: &str) -> Problem {
    let (message, hint) = match name {
        "defaultMode" => {
            ("what Claude Code does with the rest stays its own affair", "leave it in the settings")
        }
        "additionalDirectories" => (
            "which directories Claude Code may work in is not something a rule grants",
            "leave it in the settings; write `path` or `effect` rules for what must not be touched",
        ),
        "disableBypassPermissionsMode" | "disableAutoMode" => {
            ("rules here hold in every mode of Claude Code", "leave it in the settings")
        }
        _ => ("it is not known here", "leave it in the settings"),
    };
    Problem::new(source, spot, message).about("setting", Some(name)).hint(hint)
}

fn draft(rule: &str, verdict: &'static str, ids: &mut Ids) -> Result<Draft, PermissionRuleError> {
    let sense = if verdict == "allow" { Sense::Vouches } else { Sense::Stops };
    let Meaning { mut matches, when, notes } = meaning(rule.trim(), sense)?;
    if sense == Sense::Vouches {
        matches.insert(0, ("source", Tree::text("claude-code")));
    }
    let (does, reason) = match verdict {
        "deny" => ("Denies", Some(format!("Your Claude Code permissions deny `{rule}`."))),
        "ask" => ("Asks before", Some(format!("Your Claude Code permissions ask before `{rule}`."))),
        _ => ("Allows", None),
    };
    Ok(Draft {
        id: ids.take(&format!("claude/{verdict}/{}", slug(rule))),
        notes,
        description: format!("{does} what the permission rule {rule} is about"),
        severity: None,
        matches,
        when,
        verdict,
        reason,
        nudge: None,
    })
}

/// The words of a rule: `Read(./.env)` is `read-.env`.
fn slug(rule: &str) -> String {
    let words = rule.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.' && letter != '_');
    let words: Vec<_> =
        words.map(|word| word.trim_end_matches(['_', '.'])).filter(|word| !word.is_empty()).collect();
    words.join("-")
}

fn meaning(rule: &str, sense: Sense) -> Result<Meaning, PermissionRuleError> {
    let (tool, of) = match rule.split_once('(') {
        Some((tool, rest)) => {
            let of = rest.strip_suffix(')').ok_or(PermissionRuleError::Unclosed)?;
            (tool, Some(of.trim()).filter(|of| !matches!(*of, "" | "*")))
        }
        None => (rule, None),
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-*.:".contains(letter);
    if tool.is_empty() || !tool.chars().all(is_name) {
        return Err(PermissionRuleError::NoTool);
    }
    match (tool, of) {
        ("Bash", Some(of)) => Ok(command::meaning(of, sense)),
        ("Read" | "Edit" | "Write" | "Glob" | "Grep" | "LS" | "MultiEdit" | "NotebookEdit", Some(of)) => {
            file::meaning(tool, of, sense)
        }
        (tool, of) => other::meaning(tool, of, sense),
    }
}

// === impl Meaning ===

impl Meaning {
    fn of(matches: Map) -> Self {
        Self { matches, when: None, notes: Vec::new() }
    }
}
