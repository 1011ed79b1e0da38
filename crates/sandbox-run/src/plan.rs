// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Plans a sandboxed run. Planning writes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tenterhook_error::Failure;
use tenterhook_event::SandboxLevel;
use tenterhook_event::Timestamp;
use tenterhook_fleet_bundle::BundleFileKind;
use tenterhook_guard::snapshot::{self, RuleOrigin};
use tenterhook_home::{Env, FleetPolicy, Home, Mode, Sources, WorkDirs, regular_file};
use tenterhook_policy::{RuleAboutPaths, RuleSet};
use tenterhook_sandbox::call_observer::ObservedCalls;
use tenterhook_sandbox::probe::{self, Availability};
use tenterhook_sandbox::{
    CachedTree, DiskTree, FileTree as _, FoundRepositories, NetworkAccess, PathSets, SandboxProfile,
    SandboxRoots, find_repositories,
};

use crate::project::find_project;
use crate::refusal_watch::RefusalRuleText;

/// Directory of the user's own profiles, in the configuration directory.
const PROFILE_DIRECTORY: &str = "sandbox";

/// Which level a run requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelChoice {
    /// Namespaces and Landlock; otherwise the run does not start.
    Required,
    /// The strongest level that the machine supports.
    BestEffort,
}

/// A run that shall be sandboxed.
#[derive(Debug, Clone, Copy)]
pub struct SandboxRequest<'a> {
    /// State directory of Tenterhook.
    pub home: &'a Home,
    /// Environment of the user.
    pub env: &'a Env,
    /// Directory in which the command runs.
    pub working_directory: &'a Path,
    /// Name of the profile; `None` selects it by the program.
    pub profile: Option<&'a str>,
    /// Name of the program or harness.
    pub program: &'a str,
    /// Network; `None` takes the network of the profile.
    pub network: Option<NetworkAccess>,
    /// Which level is required.
    pub level: LevelChoice,
    /// Which calls of the run are observed.
    pub observed: ObservedCalls,
    /// Time at which rules are evaluated.
    pub now: Timestamp,
}

/// A planned run.
#[derive(Debug)]
pub struct SandboxPlan {
    /// Level of the sandbox.
    pub level: SandboxLevel,
    /// What the machine supports; known only if the level is not the strongest.
    pub availability: Option<Availability>,
    /// The profile, with what it includes.
    pub profile: SandboxProfile,
    /// Network of the run.
    pub network: NetworkAccess,
    /// Paths and what the run may do with each.
    pub sets: PathSets,
    /// The directories that the paths were derived from.
    pub roots: SandboxRoots,
    /// Whether all repositories of the project were found.
    pub searched_all: bool,
    /// Directory in which the command runs.
    pub working_directory: PathBuf,
    /// Which calls of the run are observed.
    pub observed: ObservedCalls,
    /// What the rules say that protect paths, by their id.
    pub rule_texts: BTreeMap<String, RefusalRuleText>,
    /// Whether the rules were read in compiled form, or a compiled form would not help.
    pub has_snapshot: bool,
}

impl SandboxPlan {
    /// Plans a run.
    pub fn new(request: &SandboxRequest<'_>) -> Result<Self, Failure> {
        let SandboxRequest { home, env, .. } = *request;
        let user_home = env.home.as_deref().ok_or_else(|| Failure::user("`HOME` is not set"))?;
        let user_home = user_home.canonicalize()?;
        let project = find_project(request.working_directory, &user_home, home)?;
        let profile = load_profile(request)?;
        let network = request.network.or(profile.network).unwrap_or_default();
        let (level, availability) = choose_level(request.level)?;

        let place = WorkDirs::at(Some(request.working_directory.to_owned()));
        let (rule_set, has_snapshot) = load_rules(home, env, &place);
        let rules_about_paths = rule_set.rules_about_paths(request.now);
        let rules: Vec<_> = rules_about_paths.iter().flat_map(|rule| rule.alternatives.clone()).collect();

        let FoundRepositories { repositories, is_complete: searched_all, unread } =
            find_repositories(&project, &DiskTree);
        let tree = CachedTree::default();
        let canonical = |path: PathBuf| tree.canonical(&path);
        let secret_state = [
            home.ledger(),
            home.spool(),
            home.undo(),
            home.totp(),
            home.token(),
            home.sessions(),
            home.usage(),
            home.approvals(),
            // The machine's key and the credentials of its fleet.
            home.state.join("fleet"),
        ];
        let roots = SandboxRoots {
            home: user_home,
            project,
            repositories,
            is_searched: searched_all,
            unread,
            state: canonical(home.state.clone()),
            config: canonical(home.config.clone()),
            secret_state: secret_state.map(canonical).to_vec(),
            program_directories: program_directories(env),
        };
        let sets = PathSets::derive(&rules, &profile, &roots, &tree);
        let working_directory = request.working_directory.canonicalize()?;
        let protecting: BTreeSet<_> = sets.protecting_rules().collect();
        let text =
            |rule: RuleAboutPaths| RefusalRuleText { reason: rule.reason, suggestion: rule.suggestion };
        let named = rules_about_paths.into_iter().filter(|rule| protecting.contains(rule.id.as_str()));
        let rule_texts = named.map(|rule| (rule.id.clone(), text(rule))).collect();
        Ok(Self {
            level,
            availability,
            profile,
            network,
            sets,
            roots,
            searched_all,
            working_directory,
            observed: request.observed,
            rule_texts,
            has_snapshot,
        })
    }
}

/// Returns the directories of the `PATH`. One that does not exist yet counts too: the run could create it.
fn program_directories(env: &Env) -> Vec<PathBuf> {
    let search_path = env.all.get("PATH").map(String::as_str).unwrap_or_default();
    let directories = std::env::split_paths(search_path).filter(|directory| directory.is_absolute());
    let real = |directory: PathBuf| {
        let parent = || Some(directory.parent()?.canonicalize().ok()?.join(directory.file_name()?));
        directory.canonicalize().ok().or_else(parent).unwrap_or(directory)
    };
    directories.map(real).collect()
}

/// Loads the rules, and returns whether a snapshot of them would not help. Monitor mode is about calls; a sandbox that the
/// user asked for protects.
fn load_rules(home: &Home, env: &Env, place: &WorkDirs) -> (RuleSet, bool) {
    let (configuration, origin) = snapshot::load_configuration(home, env, place);
    if configuration.mode == Mode::Enforce {
        return (configuration.rules, origin == RuleOrigin::Snapshot);
    }
    let mut sources = Sources::collect(home, env, place);
    sources.monitor = false;
    (sources.load().rules, true)
}

fn load_profile(request: &SandboxRequest<'_>) -> Result<SandboxProfile, Failure> {
    let directory = request.home.config.join(PROFILE_DIRECTORY);
    // The organisation's profiles take precedence over the user's.
    let fleet = FleetPolicy::load(request.home).and_then(|policy| policy.trusted_bundle().cloned());
    let own = |name: &str| {
        let is_name = !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
        let of_fleet = fleet.as_ref().and_then(|bundle| {
            let found = bundle.files_of(BundleFileKind::Profile).find(|(other, _)| *other == name);
            found.map(|(_, text)| text.to_owned())
        });
        of_fleet.or_else(|| {
            regular_file(&directory.join(format!("{name}.yaml"))).ok().flatten().filter(|_| is_name)
        })
    };
    let name = request.profile.unwrap_or_else(|| SandboxProfile::name_for(request.program));
    SandboxProfile::load(name, &own).map_err(|error| {
        let known: Vec<_> = tenterhook_sandbox::built_in_profiles().iter().map(|(name, _)| *name).collect();
        Failure::user(error.to_string()).hint(format!("profiles: {}", known.join(", ")))
    })
}

/// Returns the level of a run. If `bwrap` is installed, whether it works is known when it has started.
fn choose_level(choice: LevelChoice) -> Result<(SandboxLevel, Option<Availability>), Failure> {
    if choice == LevelChoice::Required && probe::find_bubblewrap().is_some() {
        return Ok((SandboxLevel::NamespacesLandlock, None));
    }
    let available = probe::available_level();
    if choice == LevelChoice::Required && available.level != SandboxLevel::NamespacesLandlock {
        return Err(refusal(&available));
    }
    Ok((available.level, Some(available)))
}

/// The failure if the machine does not support the required level.
pub(crate) fn refusal(available: &Availability) -> Failure {
    let why = available.namespaces_missing.as_deref().unwrap_or("it could not be started");
    let failure = Failure::conflict(format!("no sandbox with namespaces on this machine: {why}"));
    let failure = available.hint.into_iter().fold(failure, Failure::hint);
    failure.hint(format!(
        "`--best-effort` starts the command with less protection ({})",
        available.level.title()
    ))
}
