// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines what a tool's argument keys mean, depending on the tool's class.
//!
//! Keys are compared without regard to case, `_` and `-`. For example, `file_path`, `filePath` and `FilePath` are the
//! same key, because tools that are not in the table use all of these spellings.

use serde_json::Value;

use crate::ToolClass;

/// The argument keys that rules read, grouped by meaning. A value may be a string or a list.
#[derive(Debug, Clone, Copy)]
pub struct ArgumentRoles {
    /// A command: shell text, or an argument vector if the value is a list.
    pub command: &'static [&'static str],
    /// A list of commands: each is shell text, an argument vector, or an object with a `command` key.
    pub commands: &'static [&'static str],
    /// The directory in which commands run and to which paths are relative. A key in any of these lists is such a
    /// directory.
    pub directory: &'static [&'static [&'static str]],
    /// One or more paths.
    pub path: &'static [&'static str],
    /// A path that is written, even if the tool only reads the other paths.
    pub output: &'static [&'static str],
    /// A path that is written, but only if the value looks like a path.
    pub loose_output: &'static [&'static str],
    /// Text that is written to a file.
    pub content: &'static [&'static str],
    /// Address that the tool connects to.
    pub url: &'static [&'static str],
    /// A patch, which contains both paths and content.
    pub patch: &'static [&'static str],
}

const NO_ROLES: ArgumentRoles = ArgumentRoles {
    command: &[],
    commands: &[],
    directory: &[],
    path: &[],
    output: &[],
    loose_output: &[],
    content: &[],
    url: &[],
    patch: &[],
};
const PATH_KEYS: &[&str] = &[
    "file_path",
    "path",
    "absolute_path",
    "notebook_path",
    "file",
    "files",
    "paths",
    "file_paths",
    "filename",
    "relative_path",
    "target_file",
    "dir_path",
    "directory",
    "directory_path",
    "folder",
    "input_path",
    "input_paths",
    "input_file",
    "input_files",
    "old_path",
    "source",
    "source_path",
    "source_file",
    "src",
    "replacements",
];
const OUTPUT_KEYS: &[&str] = &[
    "output_path",
    "output_paths",
    "output_file",
    "output_files",
    "output_filename",
    "output_dir",
    "output_directory",
    "out_path",
    "out_file",
    "out_dir",
    "destination",
    "destination_path",
    "destination_file",
    "destination_directory",
    "dest",
    "dest_path",
    "dest_file",
    "dst",
    "dst_path",
    "new_path",
    "new_file_path",
    "target_path",
    "target_directory",
    "save_path",
    "save_to",
    "save_as",
    "write_to",
    "download_path",
    "download_to",
];
const LOOSE_OUTPUT_KEYS: &[&str] = &["output", "out", "target", "to"];
const CONTENT_KEYS: &[&str] = &[
    "content",
    "contents",
    "file_text",
    "new_string",
    "new_str",
    "new_text",
    "new_source",
    "edits",
    "replacements",
    "file_content",
    "diff",
    "text",
];
const COMMAND_KEYS: &[&str] = &["command", "cmd", "script", "command_line"];
/// Keys of a shell command. `input` is the text that the tool `write_bash` sends to a running shell.
const SHELL_COMMAND_KEYS: &[&str] = &["command", "cmd", "script", "command_line", "input"];
const URL_KEYS: &[&str] = &["url", "urls", "uri"];
const PATCH_KEYS: &[&str] =
    &["patch", "patches", "patch_text", "patch_content", "diff", "unified_diff", "diff_content"];
/// Keys that always name a working directory.
const WORKING_DIRECTORY_KEYS: &[&str] = &[
    "cwd",
    "workdir",
    "working_dir",
    "working_directory",
    "current_dir",
    "current_directory",
    "current_working_directory",
    "work_directory",
    "chdir",
    "pwd",
    "exec_dir",
];
/// Keys that name a directory to which other arguments may be relative.
const BASE_DIRECTORY_KEYS: &[&str] = &[
    "dir_path",
    "directory",
    "directory_path",
    "dir",
    "folder",
    "folder_path",
    "base_dir",
    "base_directory",
    "base_path",
    "root_dir",
    "root_directory",
    "start_directory",
    "target_directory",
];
/// Keys that name the directory to which results are written.
const OUTPUT_DIRECTORY_KEYS: &[&str] =
    &["output_dir", "output_directory", "out_dir", "destination_directory"];
/// Keys that name a working directory of tools that run commands. For such tools, any directory argument is most
/// likely the working directory.
pub(crate) const SHELL_DIRECTORY_KEYS: &[&[&str]] = &[WORKING_DIRECTORY_KEYS, BASE_DIRECTORY_KEYS, &["path"]];
/// Maximum nesting depth of arguments. Deeper arguments are ignored.
const MAX_ARGUMENT_DEPTH: usize = 12;

impl ToolClass {
    /// Returns the argument keys for tools of this class, grouped by meaning.
    pub fn roles(self) -> ArgumentRoles {
        let written = ArgumentRoles { output: OUTPUT_KEYS, loose_output: LOOSE_OUTPUT_KEYS, ..NO_ROLES };
        match self {
            Self::Shell => ArgumentRoles {
                command: SHELL_COMMAND_KEYS,
                commands: &["commands"],
                directory: SHELL_DIRECTORY_KEYS,
                ..NO_ROLES
            },
            Self::Read | Self::Search => ArgumentRoles {
                directory: &[WORKING_DIRECTORY_KEYS],
                path: PATH_KEYS,
                output: OUTPUT_KEYS,
                ..NO_ROLES
            },
            Self::Write | Self::Edit => ArgumentRoles {
                directory: &[WORKING_DIRECTORY_KEYS],
                path: PATH_KEYS,
                content: CONTENT_KEYS,
                patch: PATCH_KEYS,
                ..written
            },
            Self::Patch => ArgumentRoles {
                directory: &[WORKING_DIRECTORY_KEYS],
                path: PATH_KEYS,
                patch: &[
                    "input",
                    "command",
                    "patch",
                    "patches",
                    "patch_text",
                    "patch_content",
                    "diff",
                    "unified_diff",
                ],
                ..written
            },
            Self::Fetch => ArgumentRoles { url: URL_KEYS, output: OUTPUT_KEYS, ..NO_ROLES },
            Self::Agent | Self::Todo => NO_ROLES,
            // The arguments of these tools are not known, so each key is taken to have its usual meaning.
            Self::Mcp | Self::Other => ArgumentRoles {
                command: COMMAND_KEYS,
                commands: &["commands"],
                directory: &[WORKING_DIRECTORY_KEYS, BASE_DIRECTORY_KEYS, OUTPUT_DIRECTORY_KEYS],
                path: PATH_KEYS,
                content: CONTENT_KEYS,
                url: URL_KEYS,
                patch: PATCH_KEYS,
                ..written
            },
        }
    }
}

/// Returns whether an argument name equals a key, in any spelling.
pub(crate) fn same_key(name: &str, key: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = u8> {
        text.bytes().filter(|byte| !matches!(byte, b'_' | b'-')).map(|byte| byte.to_ascii_lowercase())
    }
    if name == key {
        return true;
    }
    // Most keys differ in the first letter, so the first letters are compared first.
    letters(name).next() == letters(key).next() && letters(name).eq(letters(key))
}

/// Returns all working directories in the arguments. A `None` in the list means that a directory argument is not a
/// string.
pub(crate) fn find_working_directories<'a>(args: &'a Value, keys: &[&[&str]]) -> Vec<Option<&'a str>> {
    let mut found = Vec::new();
    visit_arguments(args, MAX_ARGUMENT_DEPTH, &mut |name, value| {
        if keys.iter().copied().flatten().any(|key| same_key(name, key)) {
            match value {
                Value::Null => {}
                Value::String(text) if text.trim().is_empty() => {}
                value if !found.contains(&value.as_str()) => found.push(value.as_str()),
                _ => {}
            }
        }
    });
    found
}

/// Calls `visit` with the name and value of every argument, outer arguments first.
fn visit_arguments<'a>(value: &'a Value, depth: usize, visit: &mut impl FnMut(&'a str, &'a Value)) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| visit(name, value));
            let nested = fields.values().filter(|value| value.is_object() || value.is_array());
            nested.for_each(|value| visit_arguments(value, depth, visit));
        }
        Value::Array(items) => items.iter().for_each(|item| visit_arguments(item, depth, visit)),
        _ => {}
    }
}

/// Returns all strings at these keys, at any depth. If the value is a list, its strings are included.
pub(crate) fn texts_at_keys<'a>(args: &'a Value, keys: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    visit_arguments(args, MAX_ARGUMENT_DEPTH, &mut |name, value| {
        if keys.iter().any(|key| same_key(name, key)) {
            push_texts(value, &mut found);
        }
    });
    found
}

/// Returns all strings in the arguments.
pub(crate) fn all_texts(args: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    visit_arguments(args, MAX_ARGUMENT_DEPTH, &mut |_, value| push_texts(value, &mut found));
    found
}

/// Collects a string, or the strings of a list.
fn push_texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| push_texts(item, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolCall;
    use serde_json::json;

    #[test]
    fn a_key_is_known_in_every_spelling() {
        for name in ["file_path", "filePath", "FilePath", "filepath", "file-path", "_file_path", "FILE_PATH"]
        {
            assert!(same_key(name, "file_path"), "{name}");
        }
        for name in ["file_paths", "profile_path", "file", ""] {
            assert!(!same_key(name, "file_path"), "{name}");
        }
    }

    #[test]
    fn a_directory_is_a_working_directory_for_a_shell_and_a_path_for_a_search() {
        let shell = ToolCall::new("run_shell_command", json!({"command": "ls", "directory": "/d"}));
        assert_eq!((shell.working_directories(), shell.paths()), (vec![Some("/d")], vec![]));
        let search = ToolCall::new("glob", json!({"pattern": "*", "directory": "/d"}));
        assert_eq!((search.working_directories(), search.paths()), (vec![], vec!["/d"]));
    }

    #[test]
    fn every_working_directory_counts_and_one_that_is_no_text_is_unknown() {
        let args =
            json!({"command": "ls", "dir_path": "a", "directory": "b", "cwd": 7, "workdir": "", "dir": null});
        let shell = ToolCall::new("run_shell_command", args);
        let mut found = shell.working_directories();
        found.sort_unstable();
        assert_eq!(found, [None, Some("a"), Some("b")]);
        let nested = json!({"arguments": {"command": "ls", "workingDirectory": "/x"}});
        assert_eq!(ToolCall::new("mcp__term__run", nested).working_directories(), [Some("/x")]);
        let items = json!({"commands": [{"command": "ls", "cwd": "/y"}]});
        assert_eq!(ToolCall::new("run_commands", items).working_directories(), [Some("/y")]);
    }

    #[test]
    fn the_place_of_a_result_is_a_path_that_is_written() {
        let image = ToolCall::new(
            "generate_image",
            json!({"prompt": "p", "output_path": "/o", "input_paths": ["/i"]}),
        );
        assert_eq!((image.paths(), image.outputs()), (vec!["/i", "/o"], vec!["/o"]));
        let loose = ToolCall::new("export", json!({"output": "json", "to": "~/x"}));
        assert_eq!(loose.outputs(), ["~/x"]);
    }
}
