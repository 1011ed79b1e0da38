// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The rules of a home in a form that a hook without a daemon can judge by at once: `<state>/snapshot/`.
//!
//! A snapshot says which files it was made of and how they looked. If one of them looks different now, or
//! the snapshot is not there or does not carry this home's seal, the files themselves are read: that takes
//! longer and opens nothing. What was judged by is recorded with the decision.

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tenterhook_event::McpServers;
use tenterhook_policy::{Problem, RuleSet};

use crate::pipeline::Configuration;
use crate::seal::{SealKey, Sealed};
use crate::servers::{KnownServers, read_servers};
use tenterhook_error::Failure;
use tenterhook_home::Home;
use tenterhook_home::Mode;
use tenterhook_home::env::Env;
use tenterhook_home::packs::PackList;
use tenterhook_home::program_files;
use tenterhook_home::trust::{self, sha256};
use tenterhook_home::{Place, Sources};
use tenterhook_home::{make_private, write_whole};

const FORMAT: u32 = 3;
/// The program that wrote it; another one may compile rules differently.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// No snapshot is larger: a hundred rules take some 50 KB.
const MAX_SNAPSHOT_BYTES: u64 = 64 << 20;

/// What a hook without a daemon judges by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RulesFrom {
    /// The snapshot.
    Snapshot,
    /// The files themselves, because there is no snapshot.
    NoSnapshot,
    /// The files themselves, because they are not what they were when the snapshot was made.
    Stale,
    /// The files themselves, because the snapshot cannot be trusted, and why.
    Refused(String),
}

/// What a snapshot says before the rules.
#[derive(Serialize, Deserialize)]
struct Head {
    v: u32,
    version: String,
    mode: Mode,
    problems: usize,
    settings: Option<String>,
    /// The MCP servers in the settings of harnesses when it was made. Those files change all the time and say
    /// nothing about the rules, so that a snapshot outlives them.
    #[serde(default)]
    servers: McpServers,
    files: Vec<Looks>,
}

/// A file, and how it looked; without size and times if it was not there.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Looks {
    path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stamp: Option<(u64, i64, i64, i64, i64)>,
}

/// Makes a snapshot of the rules that are in force in a home, for agents that work in a place. Says
/// whether there is one now: rules that cannot be written are read from their files.
pub fn write(home: &Home, env: &Env, place: &Place) -> Result<bool, Failure> {
    // How the files look comes first: what changes while they are read is seen later.
    let files = files(home, env, place);
    let Some(files) = files.into_iter().map(Looks::of).collect::<Option<Vec<_>>>() else { return Ok(false) };
    // A snapshot without settings would lack their hooks. Without a snapshot the files are read and the problem is
    // reported.
    let Ok(settings) = tenterhook_home::regular_file(&home.settings()) else { return Ok(false) };
    let sources = Sources::in_force(home, env, place);
    // Those of the settings are found again.
    let loaded = sources.load();
    let Some(rules) = loaded.rules.to_snapshot(tenterhook_baseline::trusted()) else { return Ok(false) };
    let head = Head {
        v: FORMAT,
        version: VERSION.to_owned(),
        mode: if sources.monitor { Mode::Monitor } else { Mode::Enforce },
        problems: sources.problems.len() + loaded.problems.len(),
        settings,
        servers: if home.public.is_some() { McpServers::default() } else { read_servers(env, None) },
        files,
    };
    let mut body = serde_json::to_vec(&head).map_err(std::io::Error::from)?;
    body.push(b'\n');
    body.extend(rules);
    let key = SealKey::open(&home.state)?;
    let mut bytes = format!("{}\n", key.seal(Sealed::Snapshot, &body)?).into_bytes();
    bytes.extend(body);
    make_private(&home.snapshots())?;
    write_whole(&file(home, env, place), &bytes, 0o600)?;
    Ok(true)
}

/// The configuration of a home, and what it was read from.
pub fn configuration(home: &Home, env: &Env, place: &Place) -> (Configuration, RulesFrom) {
    match read(home, env, place) {
        Ok(configuration) => (configuration, RulesFrom::Snapshot),
        Err(why) => (Configuration::read_trusted(home, env, place), why),
    }
}

fn read(home: &Home, env: &Env, place: &Place) -> Result<Configuration, RulesFrom> {
    let refuse = |why: &str| RulesFrom::Refused(why.to_owned());
    let bytes = match tenterhook_home::read_file::state_bytes(&file(home, env, place), MAX_SNAPSHOT_BYTES) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(RulesFrom::NoSnapshot),
        Err(error) => return Err(RulesFrom::Refused(error.to_string())),
    };
    let key = SealKey::existing(&home.state).map_err(|error| RulesFrom::Refused(error.to_string()))?;
    let key = key.ok_or_else(|| refuse("the key of this home is gone"))?;
    let line = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        (rest.get(..end).unwrap_or_default(), from + end + 1)
    };
    let (seal, start) = line(0);
    let seal = std::str::from_utf8(seal).unwrap_or_default();
    if !key.is_seal(Sealed::Snapshot, bytes.get(start..).unwrap_or_default(), seal) {
        return Err(refuse("it was changed, or it is not of this home"));
    }
    let (head, start) = line(start);
    let head: Head = serde_json::from_slice(head).map_err(|error| RulesFrom::Refused(error.to_string()))?;
    let fresh = head.v == FORMAT && head.version == VERSION;
    if !fresh || !head.files.iter().all(Looks::still) {
        return Err(RulesFrom::Stale);
    }
    let rules = RuleSet::from_snapshot(&Arc::new(bytes), start, tenterhook_baseline::trusted());
    let rules = rules.ok_or_else(|| refuse("its rules are of another build of the program, or damaged"))?;
    // Only how many there are is ever asked of a hook.
    let problems = (0..head.problems).map(|_| Problem::whole("", String::new())).collect();
    let configuration = Configuration::of(home, env, rules, head.mode, head.settings.as_deref(), problems);
    Ok(Configuration { servers: KnownServers::Listed(head.servers), ..configuration })
}

/// The snapshot for a place: one for each set of project files.
fn file(home: &Home, env: &Env, place: &Place) -> PathBuf {
    let projects = projects(env, place);
    if projects.is_empty() {
        return home.snapshots().join("home");
    }
    let names: Vec<_> = projects.iter().map(|path| path.as_os_str().as_encoded_bytes()).collect();
    let name = sha256(&names.join(&0));
    home.snapshots().join(format!("project-{}", name.get(..16).unwrap_or(&name)))
}

fn projects(env: &Env, place: &Place) -> Vec<PathBuf> {
    let Some(cwd) = &place.cwd else { return Vec::new() };
    trust::project_files(cwd, place.project.as_deref(), env.home.as_deref())
}

/// Every file that says something about the rules, there or not.
fn files(home: &Home, env: &Env, place: &Place) -> Vec<PathBuf> {
    let mut files =
        vec![home.pack_list(), home.policy(), home.prices(), home.settings(), home.trust(), home.mode()];
    files.push(home.port());
    files.extend(home.organisation.clone());
    files.extend(program_files::watched(home));
    // The list itself is watched, so an unreadable list is noticed when it changes.
    for added in PackList::read(home).unwrap_or_default().sources {
        let dir = home.packs().join(&added.name);
        files.extend(added.files.keys().map(|file| dir.join(file)));
    }
    files.extend(projects(env, place));
    files
}

// === impl Looks ===

impl Looks {
    fn of(path: PathBuf) -> Option<Self> {
        path.to_str()?;
        Some(Self { stamp: Self::stamp(&path), path })
    }

    fn still(&self) -> bool {
        Self::stamp(&self.path) == self.stamp
    }

    fn stamp(path: &Path) -> Option<(u64, i64, i64, i64, i64)> {
        let found = std::fs::metadata(path).ok()?;
        Some((found.len(), found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()))
    }
}

// === impl RulesFrom ===

impl fmt::Display for RulesFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot => f.write_str("the snapshot"),
            Self::NoSnapshot => f.write_str("the files: there is no snapshot"),
            Self::Stale => f.write_str("the files: the snapshot is of other ones"),
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
        let home = Home::whole(dir.to_owned());
        home.mark().unwrap();
        std::fs::write(home.policy(), RULES).unwrap();
        home
    }

    fn found(home: &Home, place: &Place) -> (String, RulesFrom) {
        let (configuration, from) = configuration(home, &Env::default(), place);
        assert!(configuration.rules.rule("mine").is_some(), "{from:?}");
        (configuration.generation, from)
    }

    #[test]
    fn a_snapshot_stands_for_its_files_as_long_as_they_are_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let (home, env, place) = (home(dir.path()), Env::default(), Place::default());
        std::fs::write(home.settings(), "hooks:\n  - {id: a, on: stop, command: 'true'}\n").unwrap();
        let (generation, from) = found(&home, &place);
        assert_eq!(from, RulesFrom::NoSnapshot);
        assert!(write(&home, &env, &place).unwrap());
        assert_eq!(found(&home, &place), (generation.clone(), RulesFrom::Snapshot));
        let (read, _) = configuration(&home, &env, &place);
        assert_eq!(read.hooks.len(), 1);
        std::fs::write(
            home.policy(),
            format!("{RULES}  - {{id: two, match: {{tool: shell}}, verdict: ask}}\n"),
        )
        .unwrap();
        let (changed, from) = found(&home, &place);
        assert_eq!(from, RulesFrom::Stale);
        assert_ne!(changed, generation);
        write(&home, &env, &place).unwrap();
        assert_eq!(found(&home, &place).1, RulesFrom::Snapshot);
        std::fs::write(home.pack_list(), "disabled: [two]\n").unwrap();
        assert_eq!(found(&home, &place).1, RulesFrom::Stale, "a file that was not there");
    }

    #[test]
    fn a_snapshot_that_was_changed_or_taken_away_opens_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (home, env, place) = (home(dir.path()), Env::default(), Place::default());
        write(&home, &env, &place).unwrap();
        let path = home.snapshots().join("home");
        let whole = std::fs::read(&path).unwrap();
        let at = whole.windows(4).position(|part| part == b"mine").unwrap();
        let mut changed = whole.clone();
        changed[at..at + 4].copy_from_slice(b"none");
        for bytes in [&changed[..], &whole[..whole.len() - 1], b"", b"\n\n"] {
            std::fs::write(&path, bytes).unwrap();
            assert!(matches!(found(&home, &place).1, RulesFrom::Refused(_)));
        }
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(found(&home, &place).1, RulesFrom::Snapshot);
        std::fs::remove_file(home.state.join("seal.key")).unwrap();
        assert!(matches!(found(&home, &place).1, RulesFrom::Refused(_)), "without a key nothing is believed");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(found(&home, &place).1, RulesFrom::NoSnapshot);
    }

    #[test]
    fn a_snapshot_knows_the_servers_of_harnesses() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir.path().join("home"));
        let env = Env { home: Some(dir.path().to_owned()), ..Env::default() };
        std::fs::create_dir(dir.path().join(".gemini")).unwrap();
        let settings = dir.path().join(".gemini/settings.json");
        std::fs::write(&settings, r#"{"mcpServers": {"my_server": {}}}"#).unwrap();
        write(&home, &env, &Place::default()).unwrap();
        // The harness writes its settings whenever it likes.
        std::fs::write(&settings, "{}").unwrap();
        let (read, from) = configuration(&home, &env, &Place::default());
        let KnownServers::Listed(servers) = read.servers else { panic!("{from:?}") };
        assert!(servers.contains("my-server") && servers.get("cursor").is_none());
    }

    #[test]
    fn a_snapshot_has_the_programs_that_the_policy_describes() {
        let dir = tempfile::tempdir().unwrap();
        let (home, env, place) = (home(dir.path()), Env::default(), Place::default());
        write(&home, &env, &place).unwrap();
        let describes = |name: &str| {
            let (read, from) = configuration(&home, &env, &place);
            let programs = read.rules.programs();
            (programs.is_some_and(|programs| programs.find_addition(0, name).is_some()), from)
        };
        assert_eq!(describes("acme"), (false, RulesFrom::Snapshot));
        std::fs::create_dir(home.program_descriptions()).unwrap();
        let file = home.program_descriptions().join("acme.yaml");
        std::fs::write(&file, "acme:\n  operands: delete...\n").unwrap();
        assert_eq!(describes("acme"), (true, RulesFrom::Stale), "a new file is noticed");
        write(&home, &env, &place).unwrap();
        assert_eq!(describes("acme"), (true, RulesFrom::Snapshot));
        std::fs::write(&file, "other:\n  operands: delete...\n").unwrap();
        assert_eq!(describes("acme"), (false, RulesFrom::Stale));
        write(&home, &env, &place).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(describes("other"), (false, RulesFrom::Stale));
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
        let (env, place) = (Env::default(), Place::at(Some(work)));
        write(&home, &env, &Place::default()).unwrap();
        assert_eq!(found(&home, &place).1, RulesFrom::NoSnapshot);
        write(&home, &env, &place).unwrap();
        let (read, from) = configuration(&home, &env, &place);
        assert_eq!((from, read.rules.rule("p").is_some()), (RulesFrom::Snapshot, true));
        assert_eq!(found(&home, &Place::default()).1, RulesFrom::Snapshot);
        std::fs::write(&file, "version: 1\nrules: []\n").unwrap();
        assert_eq!(found(&home, &place).1, RulesFrom::Stale);
    }
}
