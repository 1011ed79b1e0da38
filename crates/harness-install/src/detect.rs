// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Detects harnesses on this machine by looking for files, without running anything.

use std::path::{Path, PathBuf};

use super::{HarnessClient as _, MachineEnvironment, SettingsScope, file};
use tenterhook_harness::Harness;

/// Files by which a harness is detected.
#[derive(Debug, Clone, Copy)]
pub struct ClientSigns {
    /// Names of the harness's programs, as a user types them.
    pub programs: &'static [&'static str],
    /// Files and directories that the harness creates; paths are absolute or relative to the home directory.
    pub traces: &'static [&'static str],
}

/// A harness that was found on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DetectedClient {
    /// Path of the program.
    pub program: Option<PathBuf>,
    /// Settings directory of the harness, or another file that the harness created.
    pub trace: Option<PathBuf>,
    /// Version of the program, if its path or its package manifest contains it.
    pub version: Option<String>,
}

/// Detects a harness; `None` if it is not on this machine.
pub fn detect(harness: &Harness, ground: &MachineEnvironment<'_>) -> Option<DetectedClient> {
    let signs = &harness.client()?.signs;
    let program = signs.programs.iter().find_map(|name| on_path(ground, name));
    let settings =
        harness.installer().and_then(|installer| (installer.directory)(ground, &SettingsScope::User));
    // A harness without its own program may share its settings directory with another harness. The directory then does
    // not prove that the harness is installed.
    let settings = settings.filter(|_| !signs.programs.is_empty());
    let traces = signs.traces.iter().filter_map(|trace| match Path::new(trace) {
        whole if whole.is_absolute() => Some(whole.to_owned()),
        below => Some(ground.home?.join(below)),
    });
    let trace = settings.into_iter().chain(traces).find(|place| place.exists());
    if program.is_none() && trace.is_none() {
        return None;
    }
    let version = program.as_deref().and_then(version);
    Some(DetectedClient { program, trace, version })
}

/// The first executable file with this name in the search path.
fn on_path(ground: &MachineEnvironment<'_>, name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let places = std::env::split_paths(ground.path).filter(|directory| directory.is_absolute());
    places.map(|directory| directory.join(name)).find(|program| {
        program.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}

/// Version of a program, taken from its real file name if that is a version, or from its package manifest.
fn version(program: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct PackageManifest {
        name: Option<String>,
        version: Option<String>,
    }
    let real = fs_err::canonicalize(program).ok()?;
    let named = real.file_name()?.to_str().filter(|name| is_version(name));
    if let Some(version) = named {
        return Some(version.to_owned());
    }
    // Programs are at most this deep in packages: `<package>/bin/x`, `<package>/dist/y/x`.
    real.ancestors().skip(1).take(4).find_map(|directory| {
        let bytes = file::read(&directory.join("package.json")).ok()??;
        let manifest: PackageManifest = serde_json::from_slice(&bytes).ok()?;
        manifest.version.filter(|_| manifest.name.is_some())
    })
}

fn is_version(name: &str) -> bool {
    let parts: Vec<_> = name.split('.').collect();
    parts.len() >= 3 && parts.iter().all(|part| part.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, ffi::OsStr, fs, os::unix::fs::PermissionsExt};

    use super::*;
    use tenterhook_harness::find_harness;

    fn program(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    // seed: 001-030, 001-039
    #[test]
    fn a_harness_is_found_by_its_program_or_by_what_it_leaves_behind() {
        let root = tempfile::tempdir().unwrap();
        let (home, bin) = (root.path().join("home"), root.path().join("bin"));
        let variables = BTreeMap::new();
        let ground = MachineEnvironment { home: Some(&home), variables: &variables, path: bin.as_os_str() };
        let look = |id: &str| detect(find_harness(id).unwrap(), &ground);
        assert_eq!(look("gemini"), None);

        program(&bin.join("gemini"));
        assert_eq!(look("gemini").unwrap().program, Some(bin.join("gemini")));
        fs::create_dir_all(home.join(".continue")).unwrap();
        assert_eq!(look("continue").unwrap().trace, Some(home.join(".continue")));

        let package = root.path().join("lib/node_modules/@openai/codex");
        program(&package.join("bin/codex.js"));
        fs::write(package.join("package.json"), r#"{"name": "@openai/codex", "version": "0.166.0"}"#)
            .unwrap();
        std::os::unix::fs::symlink(package.join("bin/codex.js"), bin.join("codex")).unwrap();
        assert_eq!(look("codex").unwrap().version.as_deref(), Some("0.166.0"));
        program(&root.path().join("share/claude/versions/2.1.325"));
        std::os::unix::fs::symlink(root.path().join("share/claude/versions/2.1.325"), bin.join("claude"))
            .unwrap();
        assert_eq!(look("claude-code").unwrap().version.as_deref(), Some("2.1.325"));
        assert_eq!(look("codex-desktop"), None, "the shared directory does not speak for it");
        for id in ["opencode", "cline"] {
            assert_eq!(look(id), None);
            program(&bin.join(id));
            assert_eq!(look(id).unwrap().program, Some(bin.join(id)));
        }
        let nothing = MachineEnvironment { path: OsStr::new(""), home: None, ..ground };
        assert_eq!(detect(find_harness("gemini").unwrap(), &nothing), None);
    }
}
