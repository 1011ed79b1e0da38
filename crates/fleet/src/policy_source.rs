// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The directory from which a policy bundle is made: rules, profiles, descriptions of programs, and `fleet.yaml`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use tenterhook_error::Failure;
use tenterhook_event::Timestamp;
use tenterhook_files::{FileClass, read_text};
use tenterhook_fleet_bundle::{ApprovalSettings, BundleFileKind, BundleManifest, SignerSet, StaleBehaviour};
use tenterhook_records::time_spec::parse_duration_spec;

/// Name of the settings file.
const SETTINGS_FILE: &str = "fleet.yaml";
/// Maximum size of a file of the policy.
const MAX_SOURCE_BYTES: u64 = 512 << 10;
/// How long a bundle is valid, if the settings name no time.
const DEFAULT_VALIDITY: Duration = Duration::from_hours(90 * 24);

/// Settings of the bundles that are made from a directory.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SourceSettings {
    /// How long a bundle is valid, such as `90d`.
    valid_for: Option<String>,
    /// What machines do with a stale bundle: `keep`, `ask` or `deny`.
    when_stale: Option<StaleBehaviour>,
    /// Lowest version that machines may still use.
    min_version: Option<u64>,
    /// The keys that sign the next bundle; without them, those that sign this one.
    signers: Option<SignerSet>,
    /// Who may answer approvals.
    approvals: ApprovalSettings,
}

/// The content of a bundle before it is signed.
pub(crate) struct PolicySource {
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) commit: Option<String>,
    settings: SourceSettings,
    validity: Duration,
}

impl PolicySource {
    /// Reads a directory.
    pub(crate) fn read(dir: &Path) -> Result<Self, Failure> {
        let settings = match read_source(&dir.join(SETTINGS_FILE))? {
            Some(text) => parse_settings(&dir.join(SETTINGS_FILE), &text)?,
            None => SourceSettings::default(),
        };
        let validity = match &settings.valid_for {
            None => DEFAULT_VALIDITY,
            Some(text) => parse_duration_spec(text)
                .map_err(|error| Failure::user(format!("`valid_for` in `{SETTINGS_FILE}`: {error}")))?,
        };
        let mut files = BTreeMap::new();
        for kind in ["rules", "profiles", "programs"] {
            let Ok(entries) = std::fs::read_dir(dir.join(kind)) else { continue };
            for entry in entries {
                let path = entry?.path();
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                if path.extension().is_none_or(|extension| extension != "yaml") {
                    continue;
                }
                let inside = format!("{kind}/{name}");
                if BundleFileKind::of_path(&inside).is_none() {
                    let error = Failure::user(format!("invalid file name `{}`", path.display()));
                    return Err(error.hint("use lower-case letters, digits, `-` and `_`"));
                }
                files.insert(inside, read_source(&path)?.unwrap_or_default());
            }
        }
        if files.is_empty() {
            return Err(Failure::user(format!("`{}` has no policy", dir.display()))
                .hint("put rules into `rules/NAME.yaml` of this directory"));
        }
        Ok(Self { files, commit: git_commit(dir), settings, validity })
    }

    /// Returns the manifest of the next bundle. `signers` are the keys that sign it.
    pub(crate) fn manifest(
        &self,
        fleet: &str,
        version: u64,
        signers: &SignerSet,
        now: Timestamp,
    ) -> BundleManifest {
        let validity = u64::try_from(self.validity.as_millis()).unwrap_or(u64::MAX);
        BundleManifest {
            fleet: fleet.to_owned(),
            version,
            min_version: self.settings.min_version.unwrap_or(1),
            not_after: Timestamp::from_unix_ms(now.unix_ms().saturating_add(validity)),
            when_stale: self.settings.when_stale.unwrap_or(StaleBehaviour::Keep),
            commit: self.commit.clone(),
            signers: self.settings.signers.clone().unwrap_or_else(|| signers.clone()),
            approvals: self.settings.approvals.clone(),
            files: Vec::new(),
        }
    }
}

/// Reads a file of the policy; `None` if it does not exist.
fn read_source(path: &Path) -> Result<Option<String>, Failure> {
    let read = read_text(path, FileClass::Named, MAX_SOURCE_BYTES);
    read.map_err(|error| Failure::user(format!("`{}`: {error}", path.display())))
}

fn parse_settings(path: &Path, text: &str) -> Result<SourceSettings, Failure> {
    let at = |line: usize, message: String| Failure::user(format!("`{}`:{line}: {message}", path.display()));
    let tree = tenterhook_document::parse(text).map_err(|(spot, message)| at(spot.line, message))?;
    tenterhook_document::read(&tree).map_err(|misfit| at(misfit.spot.line, misfit.message))
}

/// Returns the git commit of a directory, marked if files in it differ from the commit.
fn git_commit(dir: &Path) -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git").arg("-C").arg(dir).args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--", "."])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}-changed") })
}
