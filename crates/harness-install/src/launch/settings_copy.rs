// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Copies a client's settings for a run in a temporary directory. The copy contains the settings that decide whether
//! hooks run, exactly as in the user's files. Its hooks call copies of Tenterhook's hook programs. Hooks of other
//! programs keep their position but run nothing.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::ClientLaunch;
use crate::{FileContent, InstallError, InstallRequest, Installer, file, jsonc, toml};

/// Program that harnesses start, below the state directory.
const HOOK_PROGRAM: &str = "bin/tenterhook-hook";

/// Copies the settings of `real` to the paths of `copy`. Missing files stay missing.
pub fn copy_settings(
    launch: &ClientLaunch,
    installer: &Installer,
    real: &InstallRequest,
    copy: &InstallRequest,
) -> Result<(), InstallError> {
    for piece in (installer.pieces)(real)? {
        let Some(target) = relocate(&piece.path, real, copy) else { continue };
        let Some(bytes) = file::read(&piece.path)? else { continue };
        let text = file::text(&piece.path, &bytes)?;
        let kept = match &piece.content {
            FileContent::Owned(owned) if !(owned.is_ours)(&bytes) => continue,
            FileContent::Owned(_) => text.to_owned(),
            FileContent::Edited(_) => keep_hook_keys(launch, real, &piece.path, text)?,
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

/// Adds the settings that a client needs to be run without a user.
pub fn write_launch_settings(launch: &ClientLaunch, directory: &Path) -> Result<(), InstallError> {
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
        let value = jsonc::JsonNode::Raw((*value).to_owned());
        let switch = jsonc::switch::RequiredSetting { path: keys, value, only_if_missing: false };
        text = jsonc::switch::set(&text, &switch).map_err(|flaw| flaw.at(&path))?.0;
    }
    write(&path, &text)
}

/// Path of the hook program of a request.
pub fn hook_program_in(order: &InstallRequest) -> PathBuf {
    order.home.join(HOOK_PROGRAM)
}

/// The path in `copy` that corresponds to a file in `real`; both are requests.
fn relocate(path: &Path, real: &InstallRequest, copy: &InstallRequest) -> Option<PathBuf> {
    let below = |from: &Path, to: &Path| path.strip_prefix(from).ok().map(|rest| to.join(rest));
    below(&real.directory, &copy.directory).or_else(|| below(&real.user_directory, &copy.user_directory))
}

/// Directory prefix that all hook program paths of a request share.
fn programs(order: &InstallRequest) -> String {
    format!("{}/", order.home.join("bin").display())
}

fn keep_hook_keys(
    launch: &ClientLaunch,
    real: &InstallRequest,
    path: &Path,
    text: &str,
) -> Result<String, InstallError> {
    let kept = if path.extension().is_some_and(|extension| extension == "toml") {
        toml::keep_tables(text, launch.hook_tables)
    } else {
        let hook = format!("{}'", hook_program_in(real).display());
        jsonc::keep_hooks(text, launch.hook_keys, |command| command.contains(&hook))
    };
    kept.map_err(|flaw| flaw.at(path))
}

fn write(path: &Path, text: &str) -> Result<(), InstallError> {
    if let Some(directory) = path.parent() {
        fs_err::create_dir_all(directory)?;
    }
    Ok(fs_err::write(path, text)?)
}
