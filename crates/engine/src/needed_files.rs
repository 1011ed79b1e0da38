// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the files that a command hook needs to run: its program, and the script that an interpreter runs.
//!
//! The files are checked before the hook starts. Python and shells exit with code 2 if their script is missing, and
//! exit code 2 means deny. Without the check, a hook with a missing script would seem to deny.

mod shell_words;

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::{CommandHook, CommandLine};

/// Maximum number of bytes read from the first line of a script, which names its interpreter.
const MAX_SHEBANG_BYTES: usize = 256;

/// Interpreters, each with the option letters that may precede the script. Any other option may take a value or
/// program text, so nothing is assumed about the words after it.
const INTERPRETERS: &[(&str, &str)] = &[
    ("python", "bBdEIOPqsSuvx"),
    ("pypy", "bBdEIOPqsSuvx"),
    ("node", ""),
    ("bun", ""),
    ("deno", ""),
    ("ruby", "wvT"),
    ("perl", "wtTU"),
    ("php", "nq"),
    ("lua", "E"),
    ("tsx", ""),
    ("ts-node", ""),
    ("Rscript", ""),
    ("bash", "efhlpuvx"),
    ("dash", "efhluvx"),
    ("fish", ""),
    ("ksh", "efhluvx"),
    ("sh", "efhluvx"),
    ("zsh", "efhluvx"),
];

/// A file that a command needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NeededFile {
    /// An executable: a path, or a name that is looked up in `PATH`.
    Program(String),
    /// A script that an interpreter reads.
    Script(String),
}

/// Returns the files that a command needs, as far as the command's text shows them.
pub fn needed_files(command: &CommandHook) -> Vec<NeededFile> {
    match &command.line {
        CommandLine::Exec(words) => {
            let words: Vec<_> = words.iter().map(|word| Some(word.clone())).collect();
            files_from_words(&words)
        }
        CommandLine::Shell(text) => {
            let variable = |name: &str| {
                let hook_variable = command.env.iter().find(|(known, _)| known == name);
                let home = || command.home.clone().filter(|_| name == "HOME");
                hook_variable.map(|(_, value)| value.clone()).or_else(home)
            };
            files_from_words(&shell_words::first_command(text, command.home.as_deref(), &variable))
        }
    }
}

/// Returns the absolute paths among the files that a command needs.
pub fn needed_paths(command: &CommandHook) -> Vec<PathBuf> {
    let path = |file: NeededFile| match file {
        NeededFile::Program(text) | NeededFile::Script(text) => {
            Some(text).filter(|text| text.starts_with('/'))
        }
    };
    needed_files(command).into_iter().filter_map(path).map(PathBuf::from).collect()
}

/// Returns why a command cannot run, if that is certain. Relative paths are looked up in `dir`, and names in `search`
/// (the value of `PATH`). If `dir` or `search` is `None`, the paths or names are not checked.
pub fn why_not_runnable(command: &CommandHook, dir: Option<&Path>, search: Option<&str>) -> Option<String> {
    needed_files(command).iter().find_map(|file| file.why_not_usable(dir, search))
}

impl NeededFile {
    fn why_not_usable(&self, dir: Option<&Path>, search: Option<&str>) -> Option<String> {
        match self {
            Self::Script(text) => {
                let path = resolve_path(text, dir)?;
                check_access(&path, "script", Access::READ_OK)
            }
            Self::Program(text) if text.contains('/') => {
                let path = resolve_path(text, dir)?;
                check_access(&path, "program", Access::EXEC_OK)
                    .or_else(|| search.and_then(|_| missing_interpreter(&path)))
            }
            Self::Program(name) => {
                let mut dirs = search?.split(':').filter(|dir| !dir.is_empty());
                let found = dirs.any(|dir| {
                    let path = Path::new(dir).join(name);
                    path.is_file() && access(&path, Access::EXEC_OK).is_ok()
                });
                (!found).then(|| format!("program `{name}` is not in `PATH`"))
            }
        }
    }
}

fn resolve_path(text: &str, dir: Option<&Path>) -> Option<PathBuf> {
    if text.starts_with('/') { Some(PathBuf::from(text)) } else { dir.map(|dir| dir.join(text)) }
}

fn check_access(path: &Path, role: &str, wanted: Access) -> Option<String> {
    let shown = path.display();
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Some(format!("{role} `{shown}` does not exist"))
        }
        Err(error) => Some(format!("{role} `{shown}` cannot be read: {error}")),
        Ok(found) if found.is_dir() => Some(format!("{role} `{shown}` is a directory")),
        Ok(_) if access(path, wanted).is_ok() => None,
        Ok(_) if wanted == Access::EXEC_OK => {
            Some(format!("{role} `{shown}` is not executable; run `chmod +x {shown}`"))
        }
        Ok(_) => Some(format!("{role} `{shown}` cannot be read: permission denied")),
    }
}

/// Returns an error text if the first line of a script names an interpreter that does not exist.
fn missing_interpreter(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut start = Vec::with_capacity(MAX_SHEBANG_BYTES);
    let limit = u64::try_from(MAX_SHEBANG_BYTES).unwrap_or(u64::MAX);
    // Opening a named pipe instead of a file would block.
    let script = tenterhook_files::open(path, tenterhook_files::FileClass::Named).ok()??;
    script.take(limit).read_to_end(&mut start).ok()?;
    let first = start.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(first).ok()?.strip_prefix("#!")?;
    let interpreter = line.split_whitespace().next()?;
    (interpreter.starts_with('/') && !Path::new(interpreter).exists())
        .then(|| format!("program `{}` needs `{interpreter}`, which does not exist", path.display()))
}

/// Returns the program and, for an interpreter, its script. A word is `None` if its value is not known before the
/// hook starts.
fn files_from_words(words: &[Option<String>]) -> Vec<NeededFile> {
    let mut words = words.iter();
    let Some(Some(program)) = words.next() else { return Vec::new() };
    let mut needed = vec![NeededFile::Program(program.clone())];
    let mut name = base_name(program);
    if name == "env" {
        // `env NAME=value python3 script`: the first word that is not an assignment is the program.
        let next = words.find(|word| word.as_ref().is_none_or(|word| !is_assignment(word)));
        match next {
            Some(Some(inner)) if !inner.starts_with('-') => {
                needed.push(NeededFile::Program(inner.clone()));
                name = base_name(inner);
            }
            _ => return needed,
        }
    }
    let Some(harmless) = harmless_options(&name) else { return needed };
    for word in words {
        let Some(word) = word else { break };
        let Some(letters) = word.strip_prefix('-') else {
            if word == "run" && matches!(name.as_str(), "bun" | "deno") {
                continue;
            }
            // A word that starts with `{` is a placeholder such as `{kit}` (the directory of the hook package), which
            // is replaced later.
            needed.extend((!word.starts_with('{')).then(|| NeededFile::Script(word.clone())));
            break;
        };
        if letters.is_empty() || !letters.chars().all(|letter| harmless.contains(letter)) {
            break;
        }
    }
    needed
}

/// Returns the option letters that may precede the script; `None` if the program is not an interpreter.
fn harmless_options(name: &str) -> Option<&'static str> {
    // The name may end with a version: `python3.12`, `ruby3.2`.
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    INTERPRETERS.iter().find(|(known, _)| *known == plain).map(|(_, options)| *options)
}

/// Returns the index of an interpreter's script among the words, if there is one.
#[cfg(feature = "load")]
pub(crate) fn script_index(words: &[String]) -> Option<usize> {
    let known: Vec<_> = words.iter().map(|word| Some(word.clone())).collect();
    let script = files_from_words(&known).into_iter().find_map(|file| match file {
        NeededFile::Script(text) => Some(text),
        NeededFile::Program(_) => None,
    })?;
    words.iter().skip(1).position(|word| *word == script).map(|index| index + 1)
}

fn base_name(program: &str) -> String {
    program.rsplit('/').next().unwrap_or_default().to_owned()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}

#[cfg(test)]
mod tests;
