// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Versions of this program, the hook programs and the daemon, and advice if they differ.

use std::cmp::Ordering;

use rustix::process::Pid;
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_guard::STATE_FORMAT;
use tenterhook_home::{Home, state_file};

use tenterhook_error::Failure;

/// Version of this program.
pub const PROGRAM_VERSION: &str = env!("CARGO_PKG_VERSION");
/// Command that updates the hooks and the daemon to this version.
pub const REFRESH_COMMAND: &str = "tenterhook self refresh";
/// Version shown if the marker file contains no version. Versions up to 0.1.0 did not write one.
const UNMARKED_VERSION: &str = "0.1.0 or older";

/// Version of a program, compared with the running one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramVersion {
    /// Version as written.
    pub version: String,
    /// Whether it is older (`Less`) or newer (`Greater`) than the running program.
    pub age: Ordering,
}

/// A version that can be compared. A pre-release is older than its release.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReleaseVersion {
    numbers: [u64; 3],
    is_final: bool,
    pre_release: String,
}

/// Content of the file that a running daemon writes into the state directory.
#[derive(Deserialize)]
struct DaemonCard {
    pid: i32,
    version: String,
}

impl ReleaseVersion {
    /// Parses `MAJOR.MINOR.PATCH`, with an optional pre-release after a dash.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let invalid = || Failure::internal(format!("invalid version `{text}`"));
        let (core, pre_release) = text.split_once('-').unwrap_or((text, ""));
        let mut parts = core.split('.').map(|part| part.parse::<u64>().map_err(|_| invalid()));
        let mut next = || parts.next().unwrap_or_else(|| Err(invalid()));
        let numbers = [next()?, next()?, next()?];
        if parts.next().is_some() {
            return Err(invalid());
        }
        Ok(Self { numbers, is_final: pre_release.is_empty(), pre_release: pre_release.to_owned() })
    }
}

impl ProgramVersion {
    /// Compares a version with the running program's version. An invalid version is treated as older.
    pub fn new(version: &str) -> Self {
        let age = match (ReleaseVersion::parse(version), ReleaseVersion::parse(PROGRAM_VERSION)) {
            (Ok(one), Ok(other)) => one.cmp(&other),
            _ => Ordering::Less,
        };
        Self { version: version.to_owned(), age }
    }
}

/// Version of the installed hook programs, from their marker file; `None` if none are installed.
pub fn of_hook_programs(home: &Home) -> Option<ProgramVersion> {
    if !home.has_hook_programs() {
        return None;
    }
    Some(home.installed_version().map_or_else(
        || ProgramVersion { version: UNMARKED_VERSION.to_owned(), age: Ordering::Less },
        |version| ProgramVersion::new(&version),
    ))
}

/// Version of the running daemon, read from its file without connecting to it; `None` if no daemon is running.
fn of_daemon(home: &Home) -> Option<ProgramVersion> {
    let text = state_file(&home.daemon()).ok().flatten()?;
    let card: DaemonCard = serde_json::from_str(&text).ok()?;
    // A killed daemon leaves the file behind.
    rustix::process::test_kill_process(Pid::from_raw(card.pid)?).ok()?;
    Some(ProgramVersion::new(&card.version))
}

/// All versions as JSON. `daemon` is the version that the daemon reported, if any.
pub fn to_json(home: &Home, daemon: Option<&Value>) -> Value {
    json!({
        "program": PROGRAM_VERSION,
        "hook_programs": of_hook_programs(home).map(|found| found.version),
        "daemon": daemon.and_then(|health| health.get("version")),
        "callers": daemon.and_then(|health| health.get("hook_versions")),
        "state_format": STATE_FORMAT,
    })
}

/// Advice for the user if versions differ, in one sentence.
pub fn advice(hooks: Option<&ProgramVersion>, daemon: Option<&ProgramVersion>) -> Option<String> {
    let named = [("the hooks", hooks), ("the daemon", daemon)];
    let with = |age: Ordering| -> Vec<String> {
        let found = named.iter().filter_map(|(what, version)| Some((what, (*version)?)));
        let found = found.filter(|(_, found)| found.age == age);
        found.map(|(what, found)| format!("{what} ({})", found.version)).collect()
    };
    let (older, newer) = (with(Ordering::Less), with(Ordering::Greater));
    let (names, order, fix) = if !newer.is_empty() {
        (newer, "newer", "upgrade this program".to_owned())
    } else if !older.is_empty() {
        (older, "older", format!("run `{REFRESH_COMMAND}`"))
    } else {
        return None;
    };
    let verb = if names.len() > 1 || names.first().is_some_and(|name| name.contains("hooks")) {
        "are"
    } else {
        "is"
    };
    Some(format!("{} {verb} {order} than this program ({PROGRAM_VERSION}): {fix}", names.join(" and ")))
}

/// Advice if the hook programs or the running daemon have a different version.
pub fn version_advice(home: &Home) -> Option<String> {
    advice(of_hook_programs(home).as_ref(), of_daemon(home).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_number_and_pre_releases_come_first() {
        let ordered = ["0.1.0-rc.1", "0.1.0", "0.1.9", "0.1.10", "0.2.0-beta", "0.2.0", "1.0.0"];
        let parsed: Vec<_> = ordered.iter().map(|text| ReleaseVersion::parse(text).unwrap()).collect();
        assert!(parsed.is_sorted());
        for invalid in ["", "1", "1.2", "1.2.3.4", "a.b.c", "1.2.x"] {
            assert!(ReleaseVersion::parse(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn advice_names_what_differs_and_one_command() {
        let [older, same, newer] = ["0.0.1", PROGRAM_VERSION, "9.9.9"].map(ProgramVersion::new);
        assert_eq!(advice(Some(&same), Some(&same)), None);
        assert_eq!(advice(None, None), None);
        let refresh = format!("than this program ({PROGRAM_VERSION}): run `{REFRESH_COMMAND}`");
        assert_eq!(
            advice(Some(&older), Some(&same)).unwrap(),
            format!("the hooks (0.0.1) are older {refresh}")
        );
        assert_eq!(advice(None, Some(&older)).unwrap(), format!("the daemon (0.0.1) is older {refresh}"));
        let both = advice(Some(&older), Some(&older)).unwrap();
        assert!(both.starts_with("the hooks (0.0.1) and the daemon (0.0.1) are older"), "{both}");
        let downgrade = advice(Some(&newer), Some(&older)).unwrap();
        assert!(
            downgrade.contains("(9.9.9) are newer") && downgrade.ends_with("upgrade this program"),
            "{downgrade}"
        );
    }
}
