// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts Claude Code's `permissions` to rules.
//!
//! In both formats, deny takes precedence over ask, and ask over allow. A converted rule that denies or asks may be
//! wider than the permission, so that it cannot be evaded. A converted rule that allows is never wider than the
//! permission and applies to Claude Code only.

mod command;
mod file;
mod other;

use tenterhook_document::{Node, Problem, Spot, Value, parse};

use super::ImportedRules;
use super::draft::{ImportedRule, RuleIdGenerator};
use tenterhook_document::yaml::{Map, Tree};

/// The lists of permission rules and their verdicts, strictest first.
const PERMISSION_LISTS: &[(&str, &str)] = &[("deny", "deny"), ("ask", "ask"), ("allow", "allow")];
const FILE_NOTES: &[&str] = &[
    "Rules that deny or ask cover every command of a line, also after `sudo` or `bash -c`, and every operation",
    "on a file, regardless of the tool. Rules that allow apply to Claude Code only.",
];

/// A permission rule that cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum PermissionRuleError {
    #[error("missing `)` at the end")]
    Unclosed,
    #[error("it does not begin with a tool name")]
    NoTool,
    #[error("a pattern that excludes files has no meaning by itself")]
    NegatedPattern,
    #[error("Claude Code has no conditions on the arguments of an MCP tool")]
    McpArguments,
    #[error("an address must be written as `domain:…`")]
    NoDomain,
    #[error("invalid domain")]
    InvalidDomain,
    #[error("unknown form `{0}(…)`")]
    UnknownCondition(String),
    #[error("`{0}` is not a tool of Claude Code")]
    UnknownTool(String),
}

/// Conditions that a permission rule is converted to.
struct PermissionConditions {
    matches: Map,
    when: Option<String>,
    notes: Vec<String>,
}

/// Kind of a permission. If it denies or asks, the converted rule may be wider. If it allows, the converted
/// rule may only be narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PermissionKind {
    Restricts,
    Allows,
}

/// Converts the permissions in Claude Code's `settings.json` to a rule file.
#[expect(clippy::result_large_err, reason = "once for a whole file")]
pub fn import_claude_permissions(name: &str, text: &str) -> Result<ImportedRules, Problem> {
    let document = parse_settings(text).map_err(|(spot, message)| Problem::new(name, spot, message))?;
    let Some(permissions) = document.get("permissions") else {
        return Err(Problem::new(name, document.spot, "the file has no `permissions`")
            .hint("name a `settings.json` of Claude Code"));
    };
    let Value::Map(entries) = &permissions.value else {
        return Err(Problem::new(name, permissions.spot, "`permissions` must be a map"));
    };
    let mut left_out = Vec::new();
    for (key, value) in entries {
        let key_name = key.text().unwrap_or_default();
        if PERMISSION_LISTS.iter().all(|(list, _)| *list != key_name) {
            let spot = if key.spot == Spot::default() { value.spot } else { key.spot };
            left_out.push(setting_problem(name, spot, key_name));
        }
    }
    let mut ids = RuleIdGenerator::new();
    let mut drafts = Vec::new();
    for (list, verdict) in PERMISSION_LISTS {
        let Some(node) = permissions.get(list) else { continue };
        let Value::List(items) = &node.value else {
            left_out.push(Problem::new(name, node.spot, format!("`{list}` must be a list")));
            continue;
        };
        for item in items {
            let Some(rule) = item.text() else {
                left_out.push(Problem::new(name, item.spot, "a permission rule must be text"));
                continue;
            };
            match draft_rule(rule, verdict, &mut ids) {
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
    notes.extend(FILE_NOTES.iter().map(|note| (*note).to_owned()));
    let carried = drafts.len();
    Ok(ImportedRules { yaml: super::draft::write_rule_file(&notes, &Vec::new(), &drafts), carried, left_out })
}

/// Parses JSON as YAML, because the YAML parser reports positions. JSON that is not valid YAML is parsed without
/// positions.
fn parse_settings(text: &str) -> Result<Node, (Spot, String)> {
    parse(text).or_else(|error| serde_json::from_str(text).map(|json| json_to_node(&json)).map_err(|_| error))
}

fn json_to_node(json: &serde_json::Value) -> Node {
    use serde_json::Value as Json;
    let text = |text: &str| Node { spot: Spot::default(), value: Value::Text(text.to_owned()) };
    let value = match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => Value::Real(number.as_f64().unwrap_or_default()),
        Json::String(content) => return text(content),
        Json::Array(items) => Value::List(items.iter().map(json_to_node).collect()),
        Json::Object(map) => {
            Value::Map(map.iter().map(|(key, value)| (text(key), json_to_node(value))).collect())
        }
    };
    Node { spot: Spot::default(), value }
}

/// Reports a setting other than the three lists.
fn setting_problem(source: &str, spot: Spot, name: &str) -> Problem {
    let (message, hint) = match name {
        "defaultMode" => ("the mode for other calls stays with Claude Code", "leave it in the settings"),
        "additionalDirectories" => (
            "a rule cannot grant Claude Code additional directories",
            "leave it in the settings; add `path` or `effect` rules for files that must not be touched",
        ),
        "disableBypassPermissionsMode" | "disableAutoMode" => {
            ("rules apply in every mode of Claude Code", "leave it in the settings")
        }
        _ => ("unknown setting", "leave it in the settings"),
    };
    Problem::new(source, spot, message).about("setting", Some(name)).hint(hint)
}

fn draft_rule(
    rule: &str,
    verdict: &'static str,
    ids: &mut RuleIdGenerator,
) -> Result<ImportedRule, PermissionRuleError> {
    let kind = if verdict == "allow" { PermissionKind::Allows } else { PermissionKind::Restricts };
    let PermissionConditions { mut matches, when, notes } = convert(rule.trim(), kind)?;
    if kind == PermissionKind::Allows {
        matches.insert(0, ("source", Tree::text("claude-code")));
    }
    let (does, reason) = match verdict {
        "deny" => ("Denies", Some(format!("Your Claude Code permissions deny `{rule}`."))),
        "ask" => ("Asks before", Some(format!("Your Claude Code permissions ask before `{rule}`."))),
        _ => ("Allows", None),
    };
    Ok(ImportedRule {
        id: ids.generate(&format!("claude/{verdict}/{}", id_words(rule))),
        notes,
        description: format!("{does} calls that the permission rule {rule} covers"),
        severity: None,
        matches,
        when,
        verdict,
        reason,
        nudge: None,
    })
}

/// Creates an id from the words of a rule: `Read(./.env)` becomes `read-.env`.
fn id_words(rule: &str) -> String {
    let words = rule.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.' && letter != '_');
    let words: Vec<_> =
        words.map(|word| word.trim_end_matches(['_', '.'])).filter(|word| !word.is_empty()).collect();
    words.join("-")
}

fn convert(rule: &str, kind: PermissionKind) -> Result<PermissionConditions, PermissionRuleError> {
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
        ("Bash", Some(of)) => Ok(command::convert(of, kind)),
        ("Read" | "Edit" | "Write" | "Glob" | "Grep" | "LS" | "MultiEdit" | "NotebookEdit", Some(of)) => {
            file::convert(tool, of, kind)
        }
        (tool, of) => other::convert(tool, of, kind),
    }
}

// === impl PermissionConditions ===

impl PermissionConditions {
    fn new(matches: Map) -> Self {
        Self { matches, when: None, notes: Vec::new() }
    }
}
