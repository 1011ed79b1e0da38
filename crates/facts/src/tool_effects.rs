// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a tool does to the paths it names itself.

use tenterhook_event::{ToolCall, ToolClass};
use tenterhook_paths::{Does, PathFact};
use tenterhook_shell_facts::{Effect, Side};

/// Tools that look into files; the others of their class only list names.
const SEARCHERS: &[&str] = &["Grep", "grep", "search_file_content", "grep_search", "search_codebase"];

/// A path that a tool names, and whether it names it as the place of its result.
pub(crate) struct NamedPath {
    pub(crate) path: PathFact,
    pub(crate) output: bool,
}

/// What a tool does to these paths. `patched` is what its patches do to files: a path beside a patch is one of
/// those files, whatever the patch calls it.
pub(crate) fn by_tool(tool: &ToolCall, paths: &[NamedPath], patched: &[Does]) -> Vec<Effect> {
    let (does, recursive) = match tool.class {
        // An editor with verbs, one of which only looks.
        ToolClass::Edit if tool.args.get("command").is_some_and(|verb| verb == "view") => {
            (Some(Does::Read), false)
        }
        ToolClass::Write | ToolClass::Edit | ToolClass::Patch => (Some(Does::Write), false),
        ToolClass::Search if SEARCHERS.contains(&tool.name.as_str()) => (Some(Does::Read), true),
        ToolClass::Read | ToolClass::Fetch => (Some(Does::Read), false),
        ToolClass::Mcp | ToolClass::Other => {
            let (does, recursive) = guess(tool);
            (Some(does), recursive)
        }
        ToolClass::Shell | ToolClass::Search | ToolClass::Agent | ToolClass::Todo => (None, false),
    };
    let effect = |path: &PathFact, does: Does, recursive: bool| Effect {
        does,
        path: path.clone(),
        recursive,
        by: tool.name.clone(),
        on: Side::Here,
        certainty: path.certainty(),
        span: None,
    };
    let mut effects = Vec::with_capacity(paths.len());
    for NamedPath { path, output } in paths {
        if *output {
            effects.push(effect(path, Does::Write, false));
            continue;
        }
        effects.extend(does.map(|does| effect(path, does, recursive)));
        for also in [Does::Delete, Does::Move, Does::Permit] {
            if patched.contains(&also) && does != Some(also) {
                effects.push(effect(path, also, false));
            }
        }
    }
    effects
}

/// Somebody else's tool, by the verb in its name.
fn guess(tool: &ToolCall) -> (Does, bool) {
    let name = tool.own_name().to_ascii_lowercase();
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
        || !tool.patches().is_empty()
    {
        (Does::Write, false)
    } else {
        (Does::Read, false)
    }
}
