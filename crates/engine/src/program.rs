// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The files that a command hook cannot run without: its program, and the script that an interpreter is
//! given.
//!
//! They are looked at before the start. Python and shells exit with 2 when their script is missing, and an
//! exit code of 2 means deny: from the exit code alone a hook that never ran looks like one that blocked.

mod line;

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::{Command, CommandLine};

/// The longest first line of a script that names its interpreter, in bytes.
const SHEBANG_BYTES: usize = 256;

/// Interpreters, with the options that may come before the script. An option of any other letter may take
/// a value or a program text, so nothing is assumed about what follows.
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
    /// It is executed: a path, or a name that is searched in `PATH`.
    Program(String),
    /// It is read by an interpreter.
    Script(String),
}

/// The files that a command needs, as far as its text shows.
pub fn needed_files(command: &Command) -> Vec<NeededFile> {
    match &command.line {
        CommandLine::Exec(words) => {
            let words: Vec<_> = words.iter().map(|word| Some(word.clone())).collect();
            from_words(&words)
        }
        CommandLine::Shell(text) => {
            let variable = |name: &str| {
                let own = command.env.iter().find(|(known, _)| known == name);
                let home = || command.home.clone().filter(|_| name == "HOME");
                own.map(|(_, value)| value.clone()).or_else(home)
            };
            from_words(&line::first_command(text, command.home.as_deref(), &variable))
        }
    }
}

/// The absolute paths of the files that a command needs.
pub fn needed_paths(command: &Command) -> Vec<PathBuf> {
    let path = |file: NeededFile| match file {
        NeededFile::Program(text) | NeededFile::Script(text) => {
            Some(text).filter(|text| text.starts_with('/'))
        }
    };
    needed_files(command).into_iter().filter_map(path).map(PathBuf::from).collect()
}

/// Why a command cannot run, if that can be seen: relative paths are looked for in `dir`, names in `search`
/// (the value of `PATH`); without them they are not looked for.
pub fn why_not_runnable(command: &Command, dir: Option<&Path>, search: Option<&str>) -> Option<String> {
    needed_files(command).iter().find_map(|file| file.why_not_usable(dir, search))
}

impl NeededFile {
    fn why_not_usable(&self, dir: Option<&Path>, search: Option<&str>) -> Option<String> {
        match self {
            Self::Script(text) => {
                let path = absolute(text, dir)?;
                problem_of(&path, "script", Access::READ_OK)
            }
            Self::Program(text) if text.contains('/') => {
                let path = absolute(text, dir)?;
                problem_of(&path, "program", Access::EXEC_OK)
                    .or_else(|| search.and_then(|_| missing_interpreter(&path)))
            }
            Self::Program(name) => {
                let mut places = search?.split(':').filter(|place| !place.is_empty());
                let found = places.any(|place| {
                    let path = Path::new(place).join(name);
                    path.is_file() && access(&path, Access::EXEC_OK).is_ok()
                });
                (!found).then(|| format!("program `{name}` is not in `PATH`"))
            }
        }
    }
}

fn absolute(text: &str, dir: Option<&Path>) -> Option<PathBuf> {
    if text.starts_with('/') { Some(PathBuf::from(text)) } else { dir.map(|dir| dir.join(text)) }
}

fn problem_of(path: &Path, what: &str, wanted: Access) -> Option<String> {
    let shown = path.display();
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Some(format!("{what} `{shown}` does not exist"))
        }
        Err(error) => Some(format!("{what} `{shown}` cannot be read: {error}")),
        Ok(found) if found.is_dir() => Some(format!("{what} `{shown}` is a directory")),
        Ok(_) if access(path, wanted).is_ok() => None,
        Ok(_) if wanted == Access::EXEC_OK => {
            Some(format!("{what} `{shown}` is not executable; run `chmod +x {shown}`"))
        }
        Ok(_) => Some(format!("{what} `{shown}` cannot be read: permission denied")),
    }
}

/// A script whose first line names an interpreter that does not exist.
fn missing_interpreter(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut start = Vec::with_capacity(SHEBANG_BYTES);
    let limit = u64::try_from(SHEBANG_BYTES).unwrap_or(u64::MAX);
    // A pipe in its place would never answer.
    let script = tenterhook_files::open(path, tenterhook_files::FileClass::Named).ok()??;
    script.take(limit).read_to_end(&mut start).ok()?;
    let first = start.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(first).ok()?.strip_prefix("#!")?;
    let interpreter = line.split_whitespace().next()?;
    (interpreter.starts_with('/') && !Path::new(interpreter).exists())
        .then(|| format!("program `{}` needs `{interpreter}`, which does not exist", path.display()))
}

/// The program and, for an interpreter, its script. A word of `None` is not known before the start.
fn from_words(words: &[Option<String>]) -> Vec<NeededFile> {
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
            // `{kit}/guard.py` and the like are filled in later.
            needed.extend((!word.starts_with('{')).then(|| NeededFile::Script(word.clone())));
            break;
        };
        if letters.is_empty() || !letters.chars().all(|letter| harmless.contains(letter)) {
            break;
        }
    }
    needed
}

/// The options of an interpreter that may come before its script; `None`: not an interpreter.
fn harmless_options(name: &str) -> Option<&'static str> {
    // `python3.12`, `ruby3.2`
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    INTERPRETERS.iter().find(|(known, _)| *known == plain).map(|(_, options)| *options)
}

/// The place of an interpreter's script among words, if one can be told.
#[cfg(feature = "load")]
pub(crate) fn script_at(words: &[String]) -> Option<usize> {
    let known: Vec<_> = words.iter().map(|word| Some(word.clone())).collect();
    let script = from_words(&known).into_iter().find_map(|file| match file {
        NeededFile::Script(text) => Some(text),
        NeededFile::Program(_) => None,
    })?;
    words.iter().skip(1).position(|word| *word == script).map(|at| at + 1)
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
