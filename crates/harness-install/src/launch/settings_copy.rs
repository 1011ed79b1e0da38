// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A copy of a client's settings for a run in a temporary directory. It holds what decides whether our hooks run, as it
//! stands in the user's files, and calls copies of our programs. Hooks of others keep their place but run nothing.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::Launch;
use crate::{Content, InstallError, Installer, Order, file, jsonc, toml};

/// What harnesses start, below the directory with our programs.
const HOOK_PROGRAM: &str = "bin/tenterhook-hook";

/// Copies the settings that `real` names to where `copy` names them. Files that are missing stay missing.
pub fn copy_settings(
    launch: &Launch,
    installer: &Installer,
    real: &Order,
    copy: &Order,
) -> Result<(), InstallError> {
    for piece in (installer.pieces)(real)? {
        let Some(target) = relocate(&piece.path, real, copy) else { continue };
        let Some(bytes) = file::read(&piece.path)? else { continue };
        let text = file::text(&piece.path, &bytes)?;
        let kept = match &piece.content {
            Content::Owned(owned) if !(owned.is_ours)(&bytes) => continue,
            Content::Owned(_) => text.to_owned(),
            Content::Edited(_) => keep_hook_keys(launch, real, &piece.path, text)?,
        };
        let mut replaced = kept.replace(&programs(real), &programs(copy));
        for (before, after) in (launch.relocated)(real, copy)? {
            replaced = replaced.replace(&before, &after);
        }
        let mode = fs_err::metadata(&piece.path)?.permissions().mode();
        write(&target, &replaced)?;
        fs_err::set_permissions(&target, std::fs::Permissions::from_mode(mode & 0o777))?;
    }
    write_launch_settings(launch, &copy.user_directory)
}

/// Writes the settings that a client needs to be run without a user, beside those that are there.
pub fn write_launch_settings(launch: &Launch, directory: &Path) -> Result<(), InstallError> {
    if launch.settings.is_empty() {
        return Ok(());
    }
    let path = directory.join(launch.settings_file);
    let before = file::read(&path)?.unwrap_or_default();
    let mut text = file::text(&path, &before)?.to_owned();
    if text.trim().is_empty() {
        "{}\n".clone_into(&mut text);
    }
    for (keys, value) in launch.settings {
        let value = jsonc::Node::Raw((*value).to_owned());
        let switch = jsonc::switch::Switch { path: keys, value, only_if_missing: false };
        text = jsonc::switch::put(&text, &switch).map_err(|flaw| at(&path, flaw))?.0;
    }
    write(&path, &text)
}

/// Where the hook program of an order is.
pub fn hook_program_in(order: &Order) -> PathBuf {
    order.home.join(HOOK_PROGRAM)
}

/// The counterpart of one of the files of an order.
fn relocate(path: &Path, real: &Order, copy: &Order) -> Option<PathBuf> {
    let below = |from: &Path, to: &Path| path.strip_prefix(from).ok().map(|rest| to.join(rest));
    below(&real.directory, &copy.directory).or_else(|| below(&real.user_directory, &copy.user_directory))
}

/// What the paths of our programs begin with.
fn programs(order: &Order) -> String {
    format!("{}/", order.home.join("bin").display())
}

fn keep_hook_keys(launch: &Launch, real: &Order, path: &Path, text: &str) -> Result<String, InstallError> {
    let kept = if path.extension().is_some_and(|extension| extension == "toml") {
        toml::keep_tables(text, launch.hook_tables)
    } else {
        let hook = format!("{}'", hook_program_in(real).display());
        jsonc::keep_hooks(text, launch.hook_keys, |command| command.contains(&hook))
    };
    kept.map_err(|flaw| at(path, flaw))
}

fn write(path: &Path, text: &str) -> Result<(), InstallError> {
    if let Some(directory) = path.parent() {
        fs_err::create_dir_all(directory)?;
    }
    Ok(fs_err::write(path, text)?)
}

fn at(path: &Path, flaw: jsonc::Flaw) -> InstallError {
    let jsonc::Flaw { line, column, what } = flaw;
    InstallError::Settings { path: path.to_owned(), line, column, what }
}
