// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Folder trust of LLxprt Code: in an untrusted folder it runs no hook of any settings file, including the user's and
//! the machine's. With `folderTrust` on, a folder without an entry in `trustedFolders.json` is not trusted.

use std::path::{Path, PathBuf};

use jsonc_parser::ast::Object;

use super::layers;
use crate::{
    InstallRequest, InstallWarning, file,
    jsonc::{self, JsoncSource},
};

const TRUSTED_FOLDERS_FILE: &str = "trustedFolders.json";
const SYSTEM_DEFAULTS_FILE: &str = "system-defaults.json";

/// An entry of `trustedFolders.json`: a folder and everything below it.
#[derive(Debug, PartialEq, Eq)]
struct TrustRule {
    folder: PathBuf,
    is_trusted: bool,
}

/// Warnings about the folder where the user works, and a note about other untrusted folders.
pub(super) fn warnings(order: &InstallRequest) -> Vec<InstallWarning> {
    let Some(setting) = folder_trust_setting(order) else { return Vec::new() };
    let file = trusted_folders_file(order);
    let rules = trust_rules(&file);
    let mut warnings = Vec::new();
    match order.project.as_deref().map(|folder| (folder, is_trusted(&rules, folder))) {
        Some((folder, Some(false))) => warnings.push(InstallWarning::blocks(format!(
            "`{}` is not trusted (in `{}`), and LLxprt Code runs no hooks in such a folder: trust it with `/permissions` \
             in LLxprt Code, or do not run agents there",
            folder.display(),
            file.display()
        ))),
        Some((folder, None)) => warnings.push(InstallWarning::pending(format!(
            "trust `{}` with `/permissions` in LLxprt Code: `folderTrust` is on (in `{}`), so LLxprt Code runs no hooks \
             in a folder that `{}` does not list",
            folder.display(),
            setting.display(),
            file.display()
        ))),
        _ => {}
    }
    let is_elsewhere = |rule: &&TrustRule| {
        !rule.is_trusted && !order.project.as_ref().is_some_and(|here| here.starts_with(&rule.folder))
    };
    let others: Vec<_> =
        rules.iter().filter(is_elsewhere).map(|rule| format!("`{}`", rule.folder.display())).collect();
    if !others.is_empty() {
        warnings.push(InstallWarning::note(format!(
            "LLxprt Code runs no hooks in folders that it does not trust: {} (in `{}`)",
            others.join(", "),
            file.display()
        )));
    }
    warnings
}

/// The file that turns folder trust on; `None` if it is off.
fn folder_trust_setting(order: &InstallRequest) -> Option<PathBuf> {
    let mut files = layers::files(order);
    let defaults = files
        .last()
        .and_then(|machine| machine.parent())
        .map(|directory| directory.join(SYSTEM_DEFAULTS_FILE));
    files.splice(0..0, defaults);
    let mut found = files.into_iter().rev().filter_map(|path| {
        let is_on = read_root(&path, |root| root.get_boolean("folderTrust").map(|value| value.value))??;
        Some((path, is_on))
    });
    found.next().filter(|(_, is_on)| *is_on).map(|(path, _)| path)
}

fn trusted_folders_file(order: &InstallRequest) -> PathBuf {
    let named = order.variables.get("LLXPRT_CODE_TRUSTED_FOLDERS_PATH").cloned();
    named.unwrap_or_else(|| order.user_directory.join(TRUSTED_FOLDERS_FILE))
}

fn trust_rules(path: &Path) -> Vec<TrustRule> {
    let rules = read_root(path, |root| {
        let entries = root.properties.iter();
        let rule = |property: &jsonc_parser::ast::ObjectProp<'_>| {
            let level = property.value.as_string_lit()?.value.to_string();
            rule(Path::new(property.name.as_str()), &level)
        };
        entries.filter_map(rule).collect()
    });
    rules.unwrap_or_default()
}

fn rule(folder: &Path, level: &str) -> Option<TrustRule> {
    let real = fs_err::canonicalize(folder).ok();
    match level {
        "DO_NOT_TRUST" => {
            Some(TrustRule { folder: real.unwrap_or_else(|| folder.to_owned()), is_trusted: false })
        }
        "TRUST_FOLDER" => Some(TrustRule { folder: real?, is_trusted: true }),
        "TRUST_PARENT" => Some(TrustRule { folder: real?.parent()?.to_owned(), is_trusted: true }),
        _ => None,
    }
}

/// Whether a folder is trusted. The closest rule above the folder decides. If two rules name the same folder, the one
/// that refuses trust decides.
fn is_trusted(rules: &[TrustRule], folder: &Path) -> Option<bool> {
    let real = fs_err::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let around =
        rules.iter().filter(|rule| real.starts_with(&rule.folder) || folder.starts_with(&rule.folder));
    let closest = around.max_by_key(|rule| (rule.folder.as_os_str().len(), !rule.is_trusted))?;
    Some(closest.is_trusted)
}

/// Reads a value from the root object of a settings file; `None` if the file cannot be read.
fn read_root<T>(path: &Path, read: impl FnOnce(&Object<'_>) -> T) -> Option<T> {
    let bytes = file::read(path).ok()??;
    let text = file::text(path, &bytes).ok()?;
    let source = JsoncSource::parse(jsonc::split_mark(text).1).ok()?;
    source.root().ok()?.map(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_rule_decides_and_a_refusal_wins_a_tie() {
        let rule = |folder: &str, is_trusted| TrustRule { folder: folder.into(), is_trusted };
        let rules = [rule("/w", false), rule("/w/good", true), rule("/w/both", true), rule("/w/both", false)];
        for (folder, expected) in [
            ("/w/x", Some(false)),
            ("/w/good/deep", Some(true)),
            ("/w/goodness", Some(false)),
            ("/w/both", Some(false)),
            ("/elsewhere", None),
        ] {
            assert_eq!(is_trusted(&rules, Path::new(folder)), expected, "{folder}");
        }
    }
}
