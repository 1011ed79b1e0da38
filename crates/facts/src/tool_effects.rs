// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Operations of a tool on the paths in its arguments.

use tenterhook_event::{ToolCall, ToolClass};
use tenterhook_paths::{FileOp, PathFact};
use tenterhook_shell_facts::{ExecLocation, FileEffect};

/// Search tools that read file contents; the others of their class only list names.
const CONTENT_SEARCH_TOOLS: &[&str] =
    &["Grep", "grep", "search_file_content", "grep_search", "search_codebase"];

/// A path in a tool's arguments, and whether it is where the tool writes its result.
pub(crate) struct NamedPath {
    pub(crate) path: PathFact,
    pub(crate) output: bool,
}

/// Returns the operations of a tool on these paths. `patched` are the operations of the tool's patches: a path
/// argument next to a patch is one of the patched files, regardless of the names in the patch.
pub(crate) fn tool_effects(tool: &ToolCall, paths: &[NamedPath], patched: &[FileOp]) -> Vec<FileEffect> {
    let (does, recursive) = match tool.class {
        // An editor tool with subcommands, one of which only reads.
        ToolClass::Edit if tool.args.get("command").is_some_and(|verb| verb == "view") => {
            (Some(FileOp::Read), false)
        }
        ToolClass::Write | ToolClass::Edit | ToolClass::Patch => (Some(FileOp::Write), false),
        ToolClass::Search if CONTENT_SEARCH_TOOLS.contains(&tool.name.as_str()) => (Some(FileOp::Read), true),
        ToolClass::Read | ToolClass::Fetch => (Some(FileOp::Read), false),
        ToolClass::Mcp | ToolClass::Other => {
            let (does, recursive) = guess_operation(tool);
            (Some(does), recursive)
        }
        ToolClass::Shell | ToolClass::Search | ToolClass::Agent | ToolClass::Todo => (None, false),
    };
    let effect = |path: &PathFact, does: FileOp, recursive: bool| FileEffect {
        does,
        path: path.clone(),
        recursive,
        by: tool.name.clone(),
        on: ExecLocation::Here,
        certainty: path.certainty(),
        span: None,
    };
    let mut effects = Vec::with_capacity(paths.len());
    for NamedPath { path, output } in paths {
        if *output {
            effects.push(effect(path, FileOp::Write, false));
            continue;
        }
        effects.extend(does.map(|does| effect(path, does, recursive)));
        for also in [FileOp::Delete, FileOp::Move, FileOp::Permit] {
            if patched.contains(&also) && does != Some(also) {
                effects.push(effect(path, also, false));
            }
        }
    }
    effects
}

/// Guesses the operation of an unknown tool from the verb in its name.
fn guess_operation(tool: &ToolCall) -> (FileOp, bool) {
    let name = tool.unprefixed_name().to_ascii_lowercase();
    let name_contains = |verbs: &[&str]| verbs.iter().any(|verb| name.contains(verb));
    if name_contains(&["delete", "remove", "unlink", "rmdir", "trash", "purge"]) {
        (FileOp::Delete, true)
    } else if name_contains(&["move", "rename"]) {
        (FileOp::Move, false)
    } else if name_contains(&["chmod", "chown", "permission"]) {
        (FileOp::Permit, false)
    } else if name_contains(&["append"]) {
        (FileOp::Append, false)
    } else if name_contains(&[
        "write",
        "edit",
        "create",
        "save",
        "update",
        "replace",
        "insert",
        "patch",
        "upload_to",
    ]) || !tool.contents().is_empty()
        || !tool.patches().is_empty()
    {
        (FileOp::Write, false)
    } else {
        (FileOp::Read, false)
    }
}
