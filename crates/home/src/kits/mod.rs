// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Kits: hooks in a folder of their own, `<config>/hooks/<name>/` with a `hook.yaml` and the files it runs.
//!
//! They come from a template, a directory or a git repository. `hooks.yaml` lists them with the hash of every
//! file. A kit does nothing until somebody trusts it, and nothing any more once a file of it is another one.

mod list;
mod manifest;
pub mod tried;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tenterhook_document::Problem;
use tenterhook_engine::load::{self, LoadContext, LoadedHooks};
use tenterhook_engine::{CommandLine, Hook, HookBackend};

pub use list::{Kit, KitList};
pub use manifest::{Manifest, sample_event};

use crate::home::{Home, make_private, write_whole};
use crate::read_file;
use crate::trust::sha256;
use tenterhook_error::Failure;

/// The file that says what a kit is.
pub const MANIFEST: &str = "hook.yaml";
/// What stands for the kit's own folder in `exec`, and the variable that names it.
const HERE: &str = "{kit}";
const VARIABLE: &str = "TENTERHOOK_KIT";
/// A kit is small enough to be read before it is trusted.
const MOST: usize = 20;
const LARGEST: u64 = 256 * 1024;

/// File names and their texts.
pub type Files = BTreeMap<String, String>;

/// Adds the hooks of all kits that may run. A kit that is not what was trusted is a problem. What was added,
/// if anything, for the name of the generation.
pub fn load(home: &Home, loaded: &mut LoadedHooks, around: &LoadContext<'_>) -> Option<String> {
    let list = match KitList::read(home) {
        Ok(list) => list,
        Err(problem) => {
            loaded.problems.push(*problem);
            return None;
        }
    };
    let mut added = String::new();
    for kit in list.kits.iter().filter(|kit| kit.trusted) {
        let dir = home.kits().join(&kit.name);
        match kit.files(home) {
            Ok(files) => {
                place(&dir, &files, loaded, around);
                added += &format!("{} {}\n", kit.name, digest(&kit.files));
            }
            Err(failure) => {
                let hint = failure.hints.first().cloned().unwrap_or_default();
                let problem = Problem::whole(&dir.display().to_string(), failure.message);
                loaded.problems.push(problem.about("kit", Some(&kit.name)).hint(hint));
            }
        }
    }
    (!added.is_empty()).then_some(added)
}

/// Every file that says something about the kits of a home.
pub fn watched(home: &Home) -> Vec<PathBuf> {
    let mut files = vec![home.kit_list()];
    // The list itself is watched, so an unreadable list is noticed when it changes.
    for kit in KitList::read(home).unwrap_or_default().kits.iter().filter(|kit| kit.trusted) {
        let dir = home.kits().join(&kit.name);
        files.extend(kit.files.keys().map(|file| dir.join(file)));
        files.push(dir);
    }
    files
}

fn place(dir: &Path, files: &Files, loaded: &mut LoadedHooks, around: &LoadContext<'_>) {
    let name = dir.join(MANIFEST).display().to_string();
    let before = loaded.hooks.len();
    load::load_more(loaded, &name, files.get(MANIFEST).map_or("", String::as_str), around);
    loaded.hooks.iter_mut().skip(before).for_each(|hook| settle(hook, dir));
}

/// Tells a hook where its kit lies.
fn settle(hook: &mut Hook, dir: &Path) {
    let HookBackend::Command(command) = &mut hook.runner else { return };
    let dir = dir.display().to_string();
    if let CommandLine::Exec(words) = &mut command.line {
        for word in words {
            *word = word.replace(HERE, &dir);
        }
    }
    // A cache of compiled Python in the folder would be a file that nobody trusted.
    let fixed = [(VARIABLE.to_owned(), dir), ("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned())];
    command.env.extend(fixed);
}

/// The hooks of a kit that lies in a folder, or why it cannot be used.
pub fn check(dir: &Path, files: &Files, around: &LoadContext<'_>) -> Result<(Manifest, Vec<Hook>), Failure> {
    let text = files.get(MANIFEST).ok_or_else(|| no_manifest(dir))?;
    let name = dir.join(MANIFEST).display().to_string();
    let manifest = Manifest::read(&name, text).map_err(|problem| Failure::user(problem.to_string()))?;
    let mut loaded = LoadedHooks::default();
    place(dir, files, &mut loaded, around);
    match loaded.problems.first() {
        Some(problem) => Err(Failure::user(problem.to_string())),
        None => Ok((manifest, loaded.hooks)),
    }
}

/// The files in a folder: plain texts only, and not many.
pub fn gather(dir: &Path) -> Result<Files, Failure> {
    let mut files = Files::new();
    let refuse = |name: &str, why: &str| {
        let hint = format!("a kit is a folder with `{MANIFEST}` and at most {MOST} small text files");
        Err(Failure::user(format!("`{}`: {why}", dir.join(name).display())).hint(hint))
    };
    for entry in fs_err::read_dir(dir).map_err(|error| Failure::user(error.to_string()))? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { return refuse("", "a name is not UTF-8") };
        if name == ".git" {
            continue;
        }
        // Of the entry itself: a link could lead anywhere.
        let found = entry.metadata()?;
        if !found.is_file() {
            return refuse(&name, "is no plain file");
        }
        if found.len() > LARGEST {
            return refuse(&name, "is larger than 256 KiB");
        }
        match read_file::regular_file(&entry.path()) {
            Ok(Some(text)) => drop(files.insert(name, text)),
            _ => return refuse(&name, "is no text"),
        }
    }
    if files.len() > MOST {
        return refuse("", "has too many files");
    }
    if files.contains_key(MANIFEST) { Ok(files) } else { Err(no_manifest(dir)) }
}

fn no_manifest(dir: &Path) -> Failure {
    Failure::user(format!("there is no `{MANIFEST}` in `{}`", dir.display()))
        .hint("docs/guide/templates.md says what a kit is")
}

/// The hash of every file.
pub fn hashes(files: &Files) -> BTreeMap<String, String> {
    files.iter().map(|(name, text)| (name.clone(), sha256(text.as_bytes()))).collect()
}

/// One hash for all files of a kit: of the lines `<sha256>  <name>`, in the order of the names.
pub fn digest(hashes: &BTreeMap<String, String>) -> String {
    let lines: String = hashes.iter().flat_map(|(name, hash)| [hash, "  ", name, "\n"]).collect();
    sha256(lines.as_bytes())
}

/// Writes a kit into its place in a home; what was there before goes.
pub fn write(home: &Home, name: &str, files: &Files) -> Result<PathBuf, Failure> {
    let dir = home.kits().join(name);
    make_private(&dir)?;
    for entry in fs_err::read_dir(&dir)? {
        let entry = entry?;
        if !files.keys().any(|file| entry.file_name() == file.as_str()) {
            let remove =
                if entry.file_type()?.is_dir() { fs_err::remove_dir_all } else { fs_err::remove_file };
            remove(entry.path())?;
        }
    }
    for (file, text) in files {
        write_whole(&dir.join(file), text.as_bytes(), 0o600)?;
    }
    Ok(dir)
}

/// Whether a text can be the name of a kit, which is also the name of its folder.
pub fn check_name(name: &str) -> Result<(), Failure> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if !name.is_empty() && name.len() <= 64 && !name.starts_with('-') && name.chars().all(fits) {
        return Ok(());
    }
    Err(Failure::user(format!("`{name}` is no name for a kit of hooks"))
        .hint("use small letters, digits, `-` and `_`"))
}

#[cfg(test)]
mod tests;
