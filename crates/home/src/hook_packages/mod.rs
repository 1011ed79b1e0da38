// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hook packages: directories `<config>/hooks/<name>/` that contain a `hook.yaml` and the files its hooks run.
//!
//! A package comes from a template, a directory or a git repository. `hooks.yaml` lists the packages with the hash
//! of every file. The hooks of a package run only if the user trusts it and none of its files has changed since.

mod list;
mod manifest;
pub mod sample_run;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tenterhook_document::Problem;
use tenterhook_engine::load::{self, LoadContext, LoadedHooks};
use tenterhook_engine::{CommandLine, Hook, HookBackend};

pub use list::{PackageEntry, PackageList};
pub use manifest::{Manifest, sample_event};

use crate::home::{Home, make_private_dir, write_atomic};
use crate::read_file;
use crate::trust::sha256;
use tenterhook_error::Failure;

/// File name of the manifest.
pub const MANIFEST: &str = "hook.yaml";
/// Placeholder in `exec` that is replaced with the path of the package's directory.
const PACKAGE_DIR_PLACEHOLDER: &str = "{kit}";
/// Environment variable that contains the path of the package's directory.
const PACKAGE_DIR_VARIABLE: &str = "TENTERHOOK_KIT";
/// Maximum number of files. A package must be small enough that a user can read it before trusting it.
const MAX_PACKAGE_FILES: usize = 20;
const MAX_FILE_BYTES: u64 = 256 * 1024;

/// The content of each file of a package, by file name.
pub type PackageFiles = BTreeMap<String, String>;

/// Loads the hooks of all trusted packages. A package that has changed since it was trusted is not loaded, but
/// reported as a problem. Returns the names and digests of the loaded packages. They become part of the name of the
/// generation, which identifies the rules and hooks in force.
pub fn load(home: &Home, loaded: &mut LoadedHooks, context: &LoadContext<'_>) -> Option<String> {
    let list = match PackageList::read(home) {
        Ok(list) => list,
        Err(problem) => {
            loaded.problems.push(*problem);
            return None;
        }
    };
    let mut added = String::new();
    for package in list.packages.iter().filter(|package| package.trusted) {
        let dir = home.hook_packages().join(&package.name);
        match package.files(home) {
            Ok(files) => {
                load_package(&dir, &files, loaded, context);
                added += &format!("{} {}\n", package.name, digest(&package.files));
            }
            Err(failure) => {
                let hint = failure.hints.first().cloned().unwrap_or_default();
                let problem = Problem::for_file(&dir.display().to_string(), failure.message);
                loaded.problems.push(problem.about("hook package", Some(&package.name)).hint(hint));
            }
        }
    }
    (!added.is_empty()).then_some(added)
}

/// Every file that affects the hook packages of a home.
pub fn watched_files(home: &Home) -> Vec<PathBuf> {
    let mut files = vec![home.hook_package_list()];
    // If the list is unreadable, only the list is watched. The packages are watched once the list can be read.
    for package in
        PackageList::read(home).unwrap_or_default().packages.iter().filter(|package| package.trusted)
    {
        let dir = home.hook_packages().join(&package.name);
        files.extend(package.files.keys().map(|file| dir.join(file)));
        files.push(dir);
    }
    files
}

fn load_package(dir: &Path, files: &PackageFiles, loaded: &mut LoadedHooks, context: &LoadContext<'_>) {
    let name = dir.join(MANIFEST).display().to_string();
    let before = loaded.hooks.len();
    load::load_more(loaded, &name, files.get(MANIFEST).map_or("", String::as_str), context);
    loaded.hooks.iter_mut().skip(before).for_each(|hook| set_package_dir(hook, dir));
}

/// Inserts the package's directory into a hook's command line and environment.
fn set_package_dir(hook: &mut Hook, dir: &Path) {
    let HookBackend::Command(command) = &mut hook.runner else { return };
    let dir = dir.display().to_string();
    if let CommandLine::Exec(words) = &mut command.line {
        for word in words {
            *word = word.replace(PACKAGE_DIR_PLACEHOLDER, &dir);
        }
    }
    // Without this variable, Python would write a bytecode cache into the package, and that file would not be pinned.
    let fixed =
        [(PACKAGE_DIR_VARIABLE.to_owned(), dir), ("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned())];
    command.env.extend(fixed);
}

/// Loads the manifest and the hooks of a package. Fails with the first problem if the package cannot be used.
pub fn check(
    dir: &Path,
    files: &PackageFiles,
    context: &LoadContext<'_>,
) -> Result<(Manifest, Vec<Hook>), Failure> {
    let text = files.get(MANIFEST).ok_or_else(|| missing_manifest(dir))?;
    let name = dir.join(MANIFEST).display().to_string();
    let manifest = Manifest::read(&name, text).map_err(|problem| Failure::user(problem.to_string()))?;
    let mut loaded = LoadedHooks::default();
    load_package(dir, files, &mut loaded, context);
    match loaded.problems.first() {
        Some(problem) => Err(Failure::user(problem.to_string())),
        None => Ok((manifest, loaded.hooks)),
    }
}

/// Reads the files of a package directory. Only a small number of small text files is accepted.
pub fn read_files(dir: &Path) -> Result<PackageFiles, Failure> {
    let mut files = PackageFiles::new();
    let refuse = |name: &str, why: &str| {
        let hint = format!(
            "a hook package is a directory with `{MANIFEST}` and at most {MAX_PACKAGE_FILES} small text files"
        );
        Err(Failure::user(format!("`{}`: {why}", dir.join(name).display())).hint(hint))
    };
    for entry in fs_err::read_dir(dir).map_err(|error| Failure::user(error.to_string()))? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            return refuse("", "a file name is not valid UTF-8");
        };
        if name == ".git" {
            continue;
        }
        // `metadata` of a directory entry does not follow links, which could lead anywhere.
        let found = entry.metadata()?;
        if !found.is_file() {
            return refuse(&name, "is not a regular file");
        }
        if found.len() > MAX_FILE_BYTES {
            return refuse(&name, "is larger than 256 KiB");
        }
        match read_file::regular_file(&entry.path()) {
            Ok(Some(text)) => drop(files.insert(name, text)),
            _ => return refuse(&name, "is not a text file"),
        }
    }
    if files.len() > MAX_PACKAGE_FILES {
        return refuse("", "has too many files");
    }
    if files.contains_key(MANIFEST) { Ok(files) } else { Err(missing_manifest(dir)) }
}

fn missing_manifest(dir: &Path) -> Failure {
    Failure::user(format!("there is no `{MANIFEST}` in `{}`", dir.display()))
        .hint("docs/guide/templates.md describes hook packages")
}

/// Computes the SHA-256 of each file.
pub fn hash_files(files: &PackageFiles) -> BTreeMap<String, String> {
    files.iter().map(|(name, text)| (name.clone(), sha256(text.as_bytes()))).collect()
}

/// Computes one hash for a whole package: the SHA-256 of the lines `<sha256>  <name>`, sorted by name.
pub fn digest(hashes: &BTreeMap<String, String>) -> String {
    let lines: String = hashes.iter().flat_map(|(name, hash)| [hash, "  ", name, "\n"]).collect();
    sha256(lines.as_bytes())
}

/// Writes a package to its directory in a home, and removes all other files from that directory.
pub fn write(home: &Home, name: &str, files: &PackageFiles) -> Result<PathBuf, Failure> {
    let dir = home.hook_packages().join(name);
    make_private_dir(&dir)?;
    for entry in fs_err::read_dir(&dir)? {
        let entry = entry?;
        if !files.keys().any(|file| entry.file_name() == file.as_str()) {
            let remove =
                if entry.file_type()?.is_dir() { fs_err::remove_dir_all } else { fs_err::remove_file };
            remove(entry.path())?;
        }
    }
    for (file, text) in files {
        write_atomic(&dir.join(file), text.as_bytes(), 0o600)?;
    }
    Ok(dir)
}

/// Checks the name of a package, which is also the name of its directory.
pub fn check_name(name: &str) -> Result<(), Failure> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if !name.is_empty() && name.len() <= 64 && !name.starts_with('-') && name.chars().all(fits) {
        return Ok(());
    }
    Err(Failure::user(format!("invalid name `{name}` for a hook package"))
        .hint("use lower-case letters, digits, `-` and `_`"))
}

#[cfg(test)]
mod tests;
