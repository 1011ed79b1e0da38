// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Stores the compiled rules of a home in `<state>/snapshot/`. A hook without a daemon decides from them without
//! reading the rule files.
//!
//! A snapshot lists the files from which it was built, with their stamps. If one of the files has changed, or the
//! snapshot is missing or lacks this home's seal, the files are read instead. This takes longer but is not less
//! strict. The decision's record says whether the snapshot or the files were used.

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tenterhook_event::McpServers;
use tenterhook_policy::{Problem, RuleSet};

use crate::mcp_servers::{KnownServers, read_servers};
use crate::pipeline::Configuration;
use tenterhook_error::Failure;
use tenterhook_home::FleetPolicy;
use tenterhook_home::Home;
use tenterhook_home::env::Env;
use tenterhook_home::packs::PackList;
use tenterhook_home::program_files;
use tenterhook_home::trust::{self, sha256};
use tenterhook_home::{Mode, ModeSetting, ProtectionLevel};
use tenterhook_home::{SealKey, SealPurpose};
use tenterhook_home::{Sources, WorkDirs};
use tenterhook_home::{make_private_dir, write_atomic};

const SNAPSHOT_FORMAT: u32 = 4;
/// Version of the program that wrote the snapshot. Another version may compile rules differently.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Maximum size of a snapshot. One hundred rules take about 50 KB.
const MAX_SNAPSHOT_BYTES: u64 = 64 << 20;

/// Where the rules of a hook without a daemon come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleOrigin {
    /// The snapshot of the rules.
    Snapshot,
    /// The files, because there is no snapshot.
    NoSnapshot,
    /// The files, because they have changed since the snapshot was written.
    Stale,
    /// The files, because the snapshot is not trusted. Contains the reason.
    Refused(String),
}

/// Header of a snapshot, before the rules.
#[derive(Serialize, Deserialize)]
struct SnapshotHeader {
    v: u32,
    version: String,
    mode: Mode,
    #[serde(default)]
    level: ProtectionLevel,
    problems: usize,
    settings: Option<String>,
    /// MCP servers in the settings of harnesses when the snapshot was written. Harnesses change those files often,
    /// and they contain no rules, so a change of them does not invalidate the snapshot.
    #[serde(default)]
    servers: McpServers,
    files: Vec<InputFile>,
}

/// An input file and its stamp. There is no stamp if the file did not exist.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InputFile {
    path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stamp: Option<(u64, i64, i64, i64, i64)>,
}

/// Writes a snapshot of the rules that apply in a home, for agents that work in these directories. Returns whether
/// the snapshot was written. Rules that cannot be serialized are read from their files.
pub fn write(home: &Home, env: &Env, dirs: &WorkDirs) -> Result<bool, Failure> {
    // The stamps are taken first, so that a change during the read invalidates the snapshot.
    let files = input_files(home, env, dirs);
    let Some(files) = files.into_iter().map(InputFile::of).collect::<Option<Vec<_>>>() else {
        return Ok(false);
    };
    // A snapshot without settings would lack their hooks. Without a snapshot, the files are read and the problem
    // is reported.
    let Ok(settings) = tenterhook_home::regular_file(&home.settings()) else { return Ok(false) };
    let sources = Sources::collect(home, env, dirs);
    // Problems of the settings are found again when the snapshot is read.
    let loaded = sources.load();
    let Some(rules) = loaded.rules.to_snapshot(tenterhook_baseline::trusted()) else { return Ok(false) };
    let head = SnapshotHeader {
        v: SNAPSHOT_FORMAT,
        version: VERSION.to_owned(),
        mode: if sources.monitor { Mode::Monitor } else { Mode::Enforce },
        level: sources.level,
        problems: sources.problems.len() + loaded.problems.len(),
        settings,
        servers: if home.is_machine_wide() { McpServers::default() } else { read_servers(env, None) },
        files,
    };
    let mut body = serde_json::to_vec(&head).map_err(std::io::Error::from)?;
    body.push(b'\n');
    body.extend(rules);
    let key = SealKey::open(&home.state)?;
    let mut bytes = format!("{}\n", key.seal(SealPurpose::Snapshot, &body)?).into_bytes();
    bytes.extend(body);
    make_private_dir(&home.snapshots())?;
    write_atomic(&snapshot_path(home, env, dirs), &bytes, 0o600)?;
    Ok(true)
}

/// Returns the configuration of a home, and where it was read from.
pub fn load_configuration(home: &Home, env: &Env, dirs: &WorkDirs) -> (Configuration, RuleOrigin) {
    match read(home, env, dirs) {
        Ok(configuration) => (configuration, RuleOrigin::Snapshot),
        Err(why) => (Configuration::read_trusted(home, env, dirs), why),
    }
}

fn read(home: &Home, env: &Env, dirs: &WorkDirs) -> Result<Configuration, RuleOrigin> {
    let refuse = |why: &str| RuleOrigin::Refused(why.to_owned());
    let bytes =
        match tenterhook_home::read_file::state_bytes(&snapshot_path(home, env, dirs), MAX_SNAPSHOT_BYTES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Err(RuleOrigin::NoSnapshot),
            Err(error) => return Err(RuleOrigin::Refused(error.to_string())),
        };
    let key = SealKey::open_existing(&home.state).map_err(|error| RuleOrigin::Refused(error.to_string()))?;
    let key = key.ok_or_else(|| refuse("the seal key is missing"))?;
    let line = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        (rest.get(..end).unwrap_or_default(), from + end + 1)
    };
    let (seal, start) = line(0);
    let seal = std::str::from_utf8(seal).unwrap_or_default();
    if !key.verify(SealPurpose::Snapshot, bytes.get(start..).unwrap_or_default(), seal) {
        return Err(refuse("it was changed, or another home wrote it"));
    }
    let (head, start) = line(start);
    let head: SnapshotHeader =
        serde_json::from_slice(head).map_err(|error| RuleOrigin::Refused(error.to_string()))?;
    let fresh = head.v == SNAPSHOT_FORMAT && head.version == VERSION;
    // Time alone can end monitor mode, which changes no file.
    let monitoring = if head.mode == Mode::Monitor { ModeSetting::read(home).ok() } else { None };
    let is_mode_current = head.mode == monitoring.as_ref().map_or(Mode::Enforce, |setting| setting.mode);
    if !fresh || !is_mode_current || !head.files.iter().all(InputFile::is_unchanged) {
        return Err(RuleOrigin::Stale);
    }
    let rules = RuleSet::from_snapshot(&Arc::new(bytes), start, tenterhook_baseline::trusted());
    let rules = rules.ok_or_else(|| refuse("its rules are damaged, or another build wrote them"))?;
    // Only the number of problems is known from the snapshot, and a hook needs nothing more.
    let problems = (0..head.problems).map(|_| Problem::for_file("", String::new())).collect();
    let mut configuration =
        Configuration::from_rules(home, env, rules, head.mode, head.settings.as_deref(), problems);
    configuration.set_level(head.level);
    let monitor_until = monitoring.and_then(|setting| setting.until);
    Ok(Configuration { servers: KnownServers::Listed(head.servers), monitor_until, ..configuration })
}

/// Returns the path of the snapshot for these directories. There is one snapshot for each set of project files.
fn snapshot_path(home: &Home, env: &Env, dirs: &WorkDirs) -> PathBuf {
    let projects = project_files(env, dirs);
    if projects.is_empty() {
        return home.snapshots().join("home");
    }
    let names: Vec<_> = projects.iter().map(|path| path.as_os_str().as_encoded_bytes()).collect();
    let name = sha256(&names.join(&0));
    home.snapshots().join(format!("project-{}", name.get(..16).unwrap_or(&name)))
}

fn project_files(env: &Env, dirs: &WorkDirs) -> Vec<PathBuf> {
    let Some(cwd) = &dirs.cwd else { return Vec::new() };
    trust::project_files(cwd, dirs.project.as_deref(), env.home.as_deref())
}

/// Returns every file that affects the rules, whether or not it exists.
fn input_files(home: &Home, env: &Env, dirs: &WorkDirs) -> Vec<PathBuf> {
    let mut files =
        vec![home.pack_list(), home.policy(), home.prices(), home.settings(), home.trust(), home.mode()];
    files.push(home.port());
    files.extend(home.organisation.clone());
    files.extend(program_files::watched_files(home));
    files.extend(FleetPolicy::watched_files(home));
    // The list itself is also an input file, so an unreadable list is noticed when it changes.
    for added in PackList::read(home).unwrap_or_default().sources {
        let dir = home.packs().join(&added.name);
        files.extend(added.files.keys().map(|file| dir.join(file)));
    }
    files.extend(project_files(env, dirs));
    files
}

// === impl InputFile ===

impl InputFile {
    fn of(path: PathBuf) -> Option<Self> {
        path.to_str()?;
        Some(Self { stamp: Self::read_stamp(&path), path })
    }

    fn is_unchanged(&self) -> bool {
        Self::read_stamp(&self.path) == self.stamp
    }

    fn read_stamp(path: &Path) -> Option<(u64, i64, i64, i64, i64)> {
        let found = std::fs::metadata(path).ok()?;
        Some((found.len(), found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()))
    }
}

// === impl RuleOrigin ===

impl fmt::Display for RuleOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot => f.write_str("the snapshot"),
            Self::NoSnapshot => f.write_str("the files: there is no snapshot"),
            Self::Stale => f.write_str("the files: the snapshot is outdated"),
            Self::Refused(why) => write!(f, "the files: the snapshot is refused: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str =
        "version: 1\nrules:\n  - {id: mine, match: {shell: {program: alpha}}, verdict: deny}\n";

    fn home(dir: &Path) -> Home {
        let home = Home::in_dir(dir.to_owned());
        home.mark_installed().unwrap();
        std::fs::write(home.policy(), RULES).unwrap();
        home
    }

    fn found(home: &Home, dirs: &WorkDirs) -> (String, RuleOrigin) {
        let (configuration, from) = load_configuration(home, &Env::default(), dirs);
        assert!(configuration.rules.rule("mine").is_some(), "{from:?}");
        (configuration.generation, from)
    }

    #[test]
    fn a_snapshot_stands_for_its_files_as_long_as_they_are_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let (home, env, dirs) = (home(dir.path()), Env::default(), WorkDirs::default());
        std::fs::write(home.settings(), "hooks:\n  - {id: a, on: stop, command: 'true'}\n").unwrap();
        let (generation, from) = found(&home, &dirs);
        assert_eq!(from, RuleOrigin::NoSnapshot);
        assert!(write(&home, &env, &dirs).unwrap());
        assert_eq!(found(&home, &dirs), (generation.clone(), RuleOrigin::Snapshot));
        let (read, _) = load_configuration(&home, &env, &dirs);
        assert_eq!(read.hooks.len(), 1);
        std::fs::write(
            home.policy(),
            format!("{RULES}  - {{id: two, match: {{tool: shell}}, verdict: ask}}\n"),
        )
        .unwrap();
        let (changed, from) = found(&home, &dirs);
        assert_eq!(from, RuleOrigin::Stale);
        assert_ne!(changed, generation);
        write(&home, &env, &dirs).unwrap();
        assert_eq!(found(&home, &dirs).1, RuleOrigin::Snapshot);
        std::fs::write(home.pack_list(), "disabled: [two]\n").unwrap();
        assert_eq!(found(&home, &dirs).1, RuleOrigin::Stale, "a file that was not there");
    }

    #[test]
    fn a_snapshot_does_not_extend_monitor_mode() {
        let dir = tempfile::tempdir().unwrap();
        let (home, env, dirs) = (home(dir.path()), Env::default(), WorkDirs::default());
        let time = std::time::Duration::from_secs(3);
        ModeSetting::write_monitor_for(&home, time, tenterhook_home::call_meta::now()).unwrap();
        write(&home, &env, &dirs).unwrap();
        let mode = || load_configuration(&home, &env, &dirs);
        let (read, from) = mode();
        assert_eq!((read.mode, from), (Mode::Monitor, RuleOrigin::Snapshot));
        std::thread::sleep(time);
        let (read, from) = mode();
        assert_eq!((read.mode, from), (Mode::Enforce, RuleOrigin::Stale));
    }

    #[test]
    fn a_snapshot_that_was_changed_or_taken_away_opens_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (home, env, dirs) = (home(dir.path()), Env::default(), WorkDirs::default());
        write(&home, &env, &dirs).unwrap();
        let path = home.snapshots().join("home");
        let whole = std::fs::read(&path).unwrap();
        let at = whole.windows(4).position(|part| part == b"mine").unwrap();
        let mut changed = whole.clone();
        changed[at..at + 4].copy_from_slice(b"none");
        for bytes in [&changed[..], &whole[..whole.len() - 1], b"", b"\n\n"] {
            std::fs::write(&path, bytes).unwrap();
            assert!(matches!(found(&home, &dirs).1, RuleOrigin::Refused(_)));
        }
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(found(&home, &dirs).1, RuleOrigin::Snapshot);
        std::fs::remove_file(home.state.join("seal.key")).unwrap();
        assert!(matches!(found(&home, &dirs).1, RuleOrigin::Refused(_)), "without a key nothing is believed");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(found(&home, &dirs).1, RuleOrigin::NoSnapshot);
    }

    #[test]
    fn a_snapshot_knows_the_servers_of_harnesses() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir.path().join("home"));
        let env = Env { home: Some(dir.path().to_owned()), ..Env::default() };
        std::fs::create_dir(dir.path().join(".gemini")).unwrap();
        let settings = dir.path().join(".gemini/settings.json");
        std::fs::write(&settings, r#"{"mcpServers": {"my_server": {}}}"#).unwrap();
        write(&home, &env, &WorkDirs::default()).unwrap();
        // The harness may write its settings at any time.
        std::fs::write(&settings, "{}").unwrap();
        let (read, from) = load_configuration(&home, &env, &WorkDirs::default());
        let KnownServers::Listed(servers) = read.servers else { panic!("{from:?}") };
        assert!(servers.contains("my-server") && servers.get("cursor").is_none());
    }

    #[test]
    fn a_snapshot_has_the_programs_that_the_policy_describes() {
        let dir = tempfile::tempdir().unwrap();
        let (home, env, dirs) = (home(dir.path()), Env::default(), WorkDirs::default());
        write(&home, &env, &dirs).unwrap();
        let describes = |name: &str| {
            let (read, from) = load_configuration(&home, &env, &dirs);
            let programs = read.rules.programs();
            (programs.is_some_and(|programs| programs.find_addition(0, name).is_some()), from)
        };
        assert_eq!(describes("acme"), (false, RuleOrigin::Snapshot));
        std::fs::create_dir(home.program_descriptions()).unwrap();
        let file = home.program_descriptions().join("acme.yaml");
        std::fs::write(&file, "acme:\n  operands: delete...\n").unwrap();
        assert_eq!(describes("acme"), (true, RuleOrigin::Stale), "a new file is noticed");
        write(&home, &env, &dirs).unwrap();
        assert_eq!(describes("acme"), (true, RuleOrigin::Snapshot));
        std::fs::write(&file, "other:\n  operands: delete...\n").unwrap();
        assert_eq!(describes("acme"), (false, RuleOrigin::Stale));
        write(&home, &env, &dirs).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(describes("other"), (false, RuleOrigin::Stale));
    }

    #[test]
    fn a_project_has_a_snapshot_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir.path().join("home"));
        let work = dir.path().join("work");
        std::fs::create_dir(&work).unwrap();
        let file = work.join(".tenterhook.yaml");
        std::fs::write(&file, "version: 1\nrules:\n  - {id: p, match: {tool: shell}, verdict: ask}\n")
            .unwrap();
        let (env, dirs) = (Env::default(), WorkDirs::at(Some(work)));
        write(&home, &env, &WorkDirs::default()).unwrap();
        assert_eq!(found(&home, &dirs).1, RuleOrigin::NoSnapshot);
        write(&home, &env, &dirs).unwrap();
        let (read, from) = load_configuration(&home, &env, &dirs);
        assert_eq!((from, read.rules.rule("p").is_some()), (RuleOrigin::Snapshot, true));
        assert_eq!(found(&home, &WorkDirs::default()).1, RuleOrigin::Snapshot);
        std::fs::write(&file, "version: 1\nrules: []\n").unwrap();
        assert_eq!(found(&home, &dirs).1, RuleOrigin::Stale);
    }
}
