// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which argument keys of a tool carry what, by the tool's class.
//!
//! Keys are compared without case, `_` and `-`: `file_path`, `filePath` and `FilePath` are one key, because
//! a tool that is not in the table may spell it in any of these ways.

use serde_json::Value;

use crate::ToolClass;

/// The argument keys that carry something worth judging. A value may be a text or a list.
#[derive(Debug, Clone, Copy)]
pub struct Roles {
    /// A command: shell text, or an argv when the value is a list.
    pub command: &'static [&'static str],
    /// A list of commands, each shell text, an argv, or an object with a `command` role.
    pub commands: &'static [&'static str],
    /// The directory that commands run in, and that relative paths start from; several lists count as one.
    pub directory: &'static [&'static [&'static str]],
    /// A path, or several.
    pub path: &'static [&'static str],
    /// A path that is written, whatever happens to the others.
    pub output: &'static [&'static str],
    /// The same, if the value looks like a path.
    pub loose_output: &'static [&'static str],
    /// Text that will be written.
    pub content: &'static [&'static str],
    /// Where the tool connects to.
    pub url: &'static [&'static str],
    /// A patch text, which carries paths and content.
    pub patch: &'static [&'static str],
}

const NOTHING: Roles = Roles {
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
const PATHS: &[&str] = &[
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
const OUTPUTS: &[&str] = &[
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
const LOOSE_OUTPUTS: &[&str] = &["output", "out", "target", "to"];
const CONTENTS: &[&str] = &[
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
const COMMANDS: &[&str] = &["command", "cmd", "script", "command_line"];
/// `input` is what `write_bash` types.
const SHELL_COMMANDS: &[&str] = &["command", "cmd", "script", "command_line", "input"];
const URLS: &[&str] = &["url", "urls", "uri"];
const PATCHES: &[&str] =
    &["patch", "patches", "patch_text", "patch_content", "diff", "unified_diff", "diff_content"];
/// Names of a working directory that mean nothing else.
const WORKING_DIRECTORIES: &[&str] = &[
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
/// Names of a directory that other arguments may start from.
const BASE_DIRECTORIES: &[&str] = &[
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
/// Names of the directory that results go to.
const OUTPUT_DIRECTORIES: &[&str] = &["output_dir", "output_directory", "out_dir", "destination_directory"];
/// Names of a working directory for a tool that runs commands, where a directory can hardly be anything else.
pub(crate) const SHELL_DIRECTORIES: &[&[&str]] = &[WORKING_DIRECTORIES, BASE_DIRECTORIES, &["path"]];
/// Values nested deeper than this are not looked into.
const DEEPEST_ARGUMENT: usize = 12;

impl ToolClass {
    /// Which argument keys of this class carry what.
    pub fn roles(self) -> Roles {
        let written = Roles { output: OUTPUTS, loose_output: LOOSE_OUTPUTS, ..NOTHING };
        match self {
            Self::Shell => Roles {
                command: SHELL_COMMANDS,
                commands: &["commands"],
                directory: SHELL_DIRECTORIES,
                ..NOTHING
            },
            Self::Read | Self::Search => {
                Roles { directory: &[WORKING_DIRECTORIES], path: PATHS, output: OUTPUTS, ..NOTHING }
            }
            Self::Write | Self::Edit => Roles {
                directory: &[WORKING_DIRECTORIES],
                path: PATHS,
                content: CONTENTS,
                patch: PATCHES,
                ..written
            },
            Self::Patch => Roles {
                directory: &[WORKING_DIRECTORIES],
                path: PATHS,
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
            Self::Fetch => Roles { url: URLS, output: OUTPUTS, ..NOTHING },
            Self::Agent | Self::Todo => NOTHING,
            // Somebody else's tool: any key that usually means something is taken to mean it.
            Self::Mcp | Self::Other => Roles {
                command: COMMANDS,
                commands: &["commands"],
                directory: &[WORKING_DIRECTORIES, BASE_DIRECTORIES, OUTPUT_DIRECTORIES],
                path: PATHS,
                content: CONTENTS,
                url: URLS,
                patch: PATCHES,
                ..written
            },
        }
    }
}

/// Whether an argument is named by a key, in any spelling.
pub(crate) fn same_key(name: &str, key: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = u8> {
        text.bytes().filter(|byte| !matches!(byte, b'_' | b'-')).map(|byte| byte.to_ascii_lowercase())
    }
    // Most keys begin with another letter.
    letters(name).next() == letters(key).next() && letters(name).eq(letters(key))
}

/// Every working directory in the arguments; `None` is one that is not a text.
pub(crate) fn working_directories<'a>(args: &'a Value, keys: &[&[&str]]) -> Vec<Option<&'a str>> {
    let mut found = Vec::new();
    each_argument(args, DEEPEST_ARGUMENT, &mut |name, value| {
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

/// Calls `see` with every argument and its name, the outermost first.
fn each_argument<'a>(value: &'a Value, depth: usize, see: &mut impl FnMut(&'a str, &'a Value)) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| see(name, value));
            let nested = fields.values().filter(|value| value.is_object() || value.is_array());
            nested.for_each(|value| each_argument(value, depth, see));
        }
        Value::Array(items) => items.iter().for_each(|item| each_argument(item, depth, see)),
        _ => {}
    }
}

/// Texts in arguments.
pub(crate) struct Texts;

impl Texts {
    /// The texts at these keys, at any depth: a text, or a list of texts.
    pub(crate) fn at<'a>(args: &'a Value, keys: &[&str]) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut found = Vec::new();
        each_argument(args, DEEPEST_ARGUMENT, &mut |name, value| {
            if keys.iter().any(|key| same_key(name, key)) {
                push_texts(value, &mut found);
            }
        });
        found.into_iter()
    }

    /// Every text.
    pub(crate) fn all(args: &Value) -> impl Iterator<Item = &str> {
        let mut found = Vec::new();
        each_argument(args, DEEPEST_ARGUMENT, &mut |_, value| push_texts(value, &mut found));
        found.into_iter()
    }
}

/// A text, or the texts of a list.
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
