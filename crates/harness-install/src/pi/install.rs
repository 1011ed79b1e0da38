// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's extension for pi: one file in the directory from which pi loads extensions.

use std::path::Path;

use serde_json::Value;

use super::events;
use crate::{
    FileContent, InstallError, InstallRequest, InstallWarning, Installer, MachineScope, ManagedFile,
    SettingsScope, file, plugin::plugin_file,
};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "pi",
    variables: &["PI_CODING_AGENT_DIR"],
    directory: |ground, scope| match scope {
        SettingsScope::User => ground.variable_or("PI_CODING_AGENT_DIR", ".pi/agent"),
        SettingsScope::Project(root) => Some(root.join(".pi")),
        SettingsScope::Machine(_) => None,
    },
    machine: MachineScope::Cannot("pi has no machine-wide settings or extensions"),
    pieces,
};

const EXTENSION: &str = include_str!("extension.js");

/// Path below the directory with the settings.
const EXTENSION_FILE: &str = "extensions/tenterhook.js";

fn pieces(order: &InstallRequest) -> Result<Vec<ManagedFile>, InstallError> {
    let mut owned = plugin_file(order, EXTENSION, events::EVENTS)?;
    owned.warnings.extend(exclusion(&order.directory)?);
    Ok(vec![ManagedFile::new(order.directory.join(EXTENSION_FILE), FileContent::Owned(owned))])
}

/// A warning if the settings disable the extension. `!pattern` excludes all matching files, `-path` excludes one
/// file. Project settings cannot disable extensions of the user.
fn exclusion(directory: &Path) -> Result<Option<InstallWarning>, InstallError> {
    let path = directory.join("settings.json");
    let Some(bytes) = file::read(&path)? else { return Ok(None) };
    let settings: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let entries = settings.get("extensions").and_then(Value::as_array).into_iter().flatten();
    let excluding = entries.filter_map(Value::as_str).find(|entry| excludes_ours(entry));
    Ok(excluding.map(|entry| {
        let path = path.display();
        InstallWarning::blocks(format!(
            "pi does not load the extension: `extensions` in {path} has `{entry}`"
        ))
    }))
}

fn excludes_ours(entry: &str) -> bool {
    let by_pattern = |pattern: &str| {
        let name = EXTENSION_FILE.rsplit('/').next().unwrap_or_default();
        [EXTENSION_FILE, name].iter().any(|file| fast_glob::glob_match(pattern, file))
    };
    entry.strip_prefix('!').is_some_and(by_pattern)
        || entry.strip_prefix('-').is_some_and(|path| path.ends_with(EXTENSION_FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases were measured on pi 1.5.0, except absolute paths, which come from its documentation.
    #[test]
    fn settings_that_exclude_the_extension_are_noticed() {
        for entry in [
            "!tenterhook.js",
            "!extensions/*",
            "!**/tenterhook.js",
            "!*",
            "-extensions/tenterhook.js",
            "-./extensions/tenterhook.js",
            "-/home/dev/.pi/agent/extensions/tenterhook.js",
        ] {
            assert!(excludes_ours(entry), "{entry}");
        }
        for entry in ["-tenterhook.js", "-builtin:mcp", "!other-*", "extensions/tenterhook.js", "+x", ""] {
            assert!(!excludes_ours(entry), "{entry}");
        }
        let home = tempfile::tempdir().unwrap();
        assert_eq!(exclusion(home.path()).unwrap(), None);
        std::fs::write(home.path().join("settings.json"), r#"{"extensions": ["a.ts", "!*"]}"#).unwrap();
        assert!(exclusion(home.path()).unwrap().unwrap().message.ends_with("has `!*`"));
    }
}
