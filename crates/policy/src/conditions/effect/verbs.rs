// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists words in unparsed text that suggest an operation on a file.

use tenterhook_facts::{FileOp, UnreadText};

/// Fragments of paths that are outside the agent's own directories, without quotes.
pub(super) const OUTSIDE_PATH_FRAGMENTS: &[&str] = &[
    " /",
    "(/",
    "=/",
    ",/",
    "[/",
    ":/",
    "~",
    "..",
    "$",
    "HOME",
    "home(",
    "homedir",
    "expanduser",
    "os.sep",
    "ROOT",
];

/// Names of operations that are recursive without an option.
pub(super) const RECURSIVE_OPERATIONS: &[&str] = &[
    "rmtree",
    "remove_tree",
    "rm_rf",
    "rm_r",
    "remove_entry_secure",
    "rimraf",
    "deltree",
    "copytree",
    "fullcopy",
];

/// Programs and functions whose names are also English words.
const ENGLISH_NAMES: &[&str] = &[
    "append", "as", "at", "batch", "call", "copy", "delete", "dump", "erase", "exec", "fetch", "file",
    "find", "head", "host", "install", "join", "less", "link", "links", "look", "mail", "more", "move",
    "open", "pass", "read", "remove", "rename", "replace", "run", "say", "script", "screen", "set", "sort",
    "source", "split", "strings", "system", "tail", "test", "time", "touch", "truncate", "view", "watch",
    "who", "wipe", "write", "yes",
];

/// Whether a word of an unparsed text may be a command or a function there. A word that is also English has to be
/// where a command can be.
pub(in crate::conditions) fn may_be_command(text: &UnreadText, word: &str) -> bool {
    !ENGLISH_NAMES.contains(&word) || text.may_run(word)
}

/// Parts of arguments of `open` with which a file may be written.
const WRITING_MODES: &[&str] =
    &[",w", ", w", ",a", ", a", ",x", ", x", ",r+", ", r+", "mode", "flag", "O_", ">", "$"];

/// Whether an unparsed text may open a file for an operation: `open('x')` only reads.
pub(super) fn may_open_for(text: &UnreadText, word: &str, does: FileOp) -> bool {
    if !matches!(word, "open" | "fopen") || !matches!(does, FileOp::Write | FileOp::Append) {
        return true;
    }
    let calls = text.text().split("open(").skip(1);
    let arguments = calls.map(|rest| rest.split('\n').next().unwrap_or_default());
    let mut known = arguments.peekable();
    known.peek().is_none() || known.any(|call| WRITING_MODES.iter().any(|mode| call.contains(mode)))
}

/// Returns the programs, and the functions of common languages, that are known to do an operation.
pub(super) fn words_for_operation(does: FileOp) -> &'static [&'static str] {
    match does {
        FileOp::Read => &[
            "cat",
            "head",
            "tail",
            "less",
            "more",
            "open",
            "fopen",
            "read",
            "readFile",
            "readFileSync",
            "read_text",
            "read_bytes",
            "readlines",
            "slurp",
            "file_get_contents",
            "createReadStream",
            "cp",
            "copy",
            "copyfile",
            "copyFile",
            "copyFileSync",
            "base64",
            "xxd",
            "strings",
            "grep",
            "awk",
            "sed",
            "tar",
            "zip",
            "scp",
            "rsync",
        ],
        FileOp::Write => &[
            "write",
            "writeFile",
            "writeFileSync",
            "write_text",
            "write_bytes",
            "open",
            "fopen",
            "file_put_contents",
            "createWriteStream",
            "cp",
            "copy",
            "copyfile",
            "copy2",
            "copyFile",
            "copyFileSync",
            "copytree",
            "tee",
            "dd",
            "install",
            "sed",
            "truncate",
            "ln",
            "symlink",
            "symlinkSync",
            "dump",
            "rsync",
            "tar",
            "unzip",
            "mkfs",
            "Set-Content",
            "Add-Content",
            "Out-File",
        ],
        FileOp::Append => {
            &["append", "appendFile", "appendFileSync", "open", "fopen", "tee", "file_put_contents"]
        }
        FileOp::Delete => &[
            "rm",
            "rmdir",
            "unlink",
            "unlinkSync",
            "rmSync",
            "rmdirSync",
            "rmtree",
            "remove",
            "removedirs",
            "remove_tree",
            "rm_rf",
            "rm_r",
            "rm_f",
            "remove_entry_secure",
            "shred",
            "rimraf",
            "delete",
            "del",
            "deltree",
            "Remove-Item",
            "erase",
            "truncate",
            "wipe",
            "srm",
        ],
        FileOp::Move => &["mv", "move", "rename", "renameSync", "renames", "replace", "Move-Item"],
        FileOp::Permit => &[
            "chmod",
            "chown",
            "chgrp",
            "chattr",
            "setfacl",
            "chmodSync",
            "chownSync",
            "lchown",
            "fchmod",
            "icacls",
            "setxattr",
            "xattr",
        ],
        FileOp::Run => &[
            "bash",
            "sh",
            "zsh",
            "dash",
            "source",
            "system",
            "exec",
            "execSync",
            "execFile",
            "execFileSync",
            "execv",
            "execvp",
            "execve",
            "spawn",
            "spawnSync",
            "popen",
            "Popen",
            "run",
            "call",
            "check_call",
            "check_output",
            "passthru",
            "shell_exec",
            "eval",
        ],
    }
}
