// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a tool does to the paths it names itself.

use tenterhook_event::{ToolCall, ToolClass};

use super::super::PathFact;
use super::{Does, Effect, Side};

/// Tools that look into files; the others of their class only list names.
const SEARCHERS: &[&str] = &["Grep", "grep", "search_file_content", "grep_search", "search_codebase"];

/// What a tool does to these paths.
pub(crate) fn by_tool(tool: &ToolCall, paths: &[PathFact]) -> Vec<Effect> {
    let (does, recursive) = match tool.class {
        // An editor with verbs, one of which only looks.
        ToolClass::Edit if tool.args.get("command").is_some_and(|verb| verb == "view") => (Does::Read, false),
        ToolClass::Write | ToolClass::Edit => (Does::Write, false),
        ToolClass::Search if SEARCHERS.contains(&tool.name.as_str()) => (Does::Read, true),
        ToolClass::Read | ToolClass::Fetch => (Does::Read, false),
        ToolClass::Mcp | ToolClass::Other => guess(tool),
        ToolClass::Shell | ToolClass::Patch | ToolClass::Search | ToolClass::Agent | ToolClass::Todo => {
            return Vec::new();
        }
    };
    let one = |path: &PathFact| Effect {
        does,
        path: path.clone(),
        recursive,
        by: tool.name.clone(),
        on: Side::Here,
    };
    paths.iter().map(one).collect()
}

/// Somebody else's tool, by the verb in its name.
fn guess(tool: &ToolCall) -> (Does, bool) {
    let name = tool.mcp.as_ref().map_or(tool.name.as_str(), |mcp| mcp.tool.as_str()).to_ascii_lowercase();
    let says = |verbs: &[&str]| verbs.iter().any(|verb| name.contains(verb));
    if says(&["delete", "remove", "unlink", "rmdir", "trash", "purge"]) {
        (Does::Delete, true)
    } else if says(&["move", "rename"]) {
        (Does::Move, false)
    } else if says(&["chmod", "chown", "permission"]) {
        (Does::Permit, false)
    } else if says(&["append"]) {
        (Does::Append, false)
    } else if says(&["write", "edit", "create", "save", "update", "replace", "insert", "patch", "upload_to"])
        || !tool.contents().is_empty()
    {
        (Does::Write, false)
    } else {
        (Does::Read, false)
    }
}
