// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Operations of a tool on the paths in its arguments.

use serde_json::Value;
use tenterhook_event::{ToolCall, ToolClass};
use tenterhook_paths::{FileOp, PathFact};
use tenterhook_shell_facts::{ExecLocation, FileEffect, expand_braces};

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
/// `reads` means that a search tool prints lines of files, and `searched` are patterns of the only files that it reads.
pub(crate) fn tool_effects(
    tool: &ToolCall,
    paths: &[NamedPath],
    (reads, searched): (bool, &[PathFact]),
    patched: &[FileOp],
) -> Vec<FileEffect> {
    let effect = |path: &PathFact, does: FileOp, recursive: bool| FileEffect {
        does,
        path: path.clone(),
        recursive,
        by: tool.name.clone(),
        on: ExecLocation::Here,
        certainty: path.certainty(),
        span: None,
    };
    let (does, recursive) = match tool.class {
        // An editor tool with subcommands, one of which only reads.
        ToolClass::Edit if tool.args.get("command").is_some_and(|verb| verb == "view") => {
            (Some(FileOp::Read), false)
        }
        ToolClass::Write | ToolClass::Edit | ToolClass::Patch => (Some(FileOp::Write), false),
        ToolClass::Search if !reads => (None, false),
        ToolClass::Search if !searched.is_empty() => {
            return searched.iter().map(|path| effect(path, FileOp::Read, false)).collect();
        }
        ToolClass::Search => (Some(FileOp::Read), true),
        ToolClass::Read | ToolClass::Fetch => (Some(FileOp::Read), false),
        ToolClass::Mcp | ToolClass::Other => {
            let (does, recursive) = guess_operation(tool);
            (Some(does), recursive)
        }
        ToolClass::Shell | ToolClass::Agent | ToolClass::Todo => (None, false),
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

/// Whether a search tool prints lines of files. The others of its class, and some modes, print only names.
pub(crate) fn reads_content(tool: &ToolCall, harness: &str) -> bool {
    let mode = tool.args.get("output_mode").and_then(Value::as_str);
    let prints = match mode {
        Some("files_with_matches" | "count") => false,
        // The default of Claude Code's `Grep`.
        None => harness != "claude-code" || tool.name != "Grep",
        Some(_) => true,
    };
    CONTENT_SEARCH_TOOLS.contains(&tool.name.as_str()) && prints
}

/// Returns patterns of the only files that a search tool reads: `~/src/**/*.ts`. Empty if the call does not limit them.
pub(crate) fn searched_patterns(tool: &ToolCall) -> Vec<String> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| tool.args.get(*key)).and_then(Value::as_str);
    let (Some(glob), Some(directory)) = (text(&["glob", "include"]), text(&["path"])) else {
        return Vec::new();
    };
    let globs = expand_braces(glob).filter(|_| tool.class == ToolClass::Search).unwrap_or_default();
    let is_limit = |glob: &String| {
        let name = glob.rsplit('/').next().unwrap_or_default();
        name.contains(char::is_alphanumeric) && !glob.contains(['!', ',', ' ', '\\'])
    };
    if !globs.iter().all(is_limit) {
        return Vec::new();
    }
    let directory = directory.trim_end_matches('/');
    let below = |glob: &String| match glob.trim_start_matches('/') {
        glob if glob.starts_with("**/") => format!("{directory}/{glob}"),
        glob => format!("{directory}/**/{glob}"),
    };
    globs.iter().map(below).collect()
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
