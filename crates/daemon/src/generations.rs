// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Holds the rules and hooks in force: one base generation, and one generation for each project with its own rules.
//!
//! A generation never changes. When a file changes, a new generation replaces the old one between two events. If a
//! file is invalid, the old generation stays in force; `status`, the API and the live stream report the problem.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use serde_json::Value;
use tenterhook_document::Problem;
use tenterhook_engine::load::HookDefaults;
use tenterhook_engine::{Generation, Hook};
use tenterhook_error::Failure;
use tenterhook_file_watch::FileStamps;
use tenterhook_guard::Configuration;
use tenterhook_home::{
    Env, FleetPolicy, Home, Mode, Sources, Switches, WorkDirs, hook_files, hook_packages, program_files,
    regular_file, trust,
};

use crate::account_projects::{AccountProjects, read_as};

/// How long the list of project files for a place is cached. A place is the set of directories in which an agent works
/// ([`WorkDirs`]).
pub(crate) const PLACE_CACHE_TIME: Duration = Duration::from_millis(500);
/// Maximum number of cached places and projects; the cache is emptied when it is full.
pub(crate) const MAX_CACHED_PLACES: usize = 256;

/// All generations in force.
pub struct Generations {
    home: Home,
    env: Env,
    base: ArcSwap<ActiveConfig>,
    /// Hooks that programs registered; no file contains them.
    programs: ArcSwap<Vec<Arc<Hook>>>,
    /// Held while a new base is built.
    change_lock: Mutex<()>,
    projects: Mutex<ProjectCache>,
    accounts: AccountProjects,
}

/// A generation with its settings and problems.
#[derive(Debug, Clone)]
pub struct ActiveConfig {
    /// Hooks and rules that evaluate calls.
    pub generation: Generation,
    /// The generation without the hooks that programs registered.
    plain: Generation,
    /// Default settings of hooks.
    pub defaults: HookDefaults,
    /// Whether the rules are enforced or only monitored.
    pub mode: Mode,
    /// Description of the generation's sources, stored in its record.
    pub detail: Value,
    /// Problems that make rules, hooks or settings unusable.
    pub problems: Vec<Problem>,
    /// Likely mistakes in rules that can be used.
    pub warnings: Vec<Problem>,
    /// Sources of the rules.
    pub sources: Arc<Sources>,
    /// Files that changed but cannot be read; their previous content is in force.
    pub stale: Vec<Problem>,
    stamps: FileStamps,
}

/// Result of checking the files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refreshed {
    /// Nothing has changed.
    Same,
    /// A new generation is in force.
    New,
    /// A file cannot be read: the old generation stays in force.
    Stale,
}

#[derive(Default)]
struct ProjectCache {
    places: HashMap<WorkDirs, (Instant, Vec<PathBuf>)>,
    generations: HashMap<Vec<PathBuf>, (FileStamps, Arc<ActiveConfig>)>,
}

impl Generations {
    /// Reads the configuration in a state directory.
    pub fn read(home: &Home, env: &Env) -> Result<Self, Failure> {
        let (home, env) = (home.clone(), env.clone());
        let base = ActiveConfig::read(&home, &env, &WorkDirs::default())?;
        Ok(Self {
            home,
            env,
            base: ArcSwap::from_pointee(base),
            programs: ArcSwap::default(),
            change_lock: Mutex::default(),
            projects: Mutex::default(),
            accounts: AccountProjects::default(),
        })
    }

    /// Returns the configuration for places where no project has its own rules.
    pub fn base(&self) -> Arc<ActiveConfig> {
        self.base.load_full()
    }

    /// Returns the configuration for an agent that works in this place.
    pub fn active_for(&self, place: &WorkDirs) -> Result<Arc<ActiveConfig>, Failure> {
        let files = self.project_files(place);
        if files.is_empty() {
            return Ok(self.base());
        }
        let stamps = FileStamps::of(files.iter().cloned());
        if let Some((known, found)) = self.lock_projects().generations.get(&files)
            && *known == stamps
        {
            return Ok(Arc::clone(found));
        }
        let base = self.base();
        let read = ActiveConfig::read(&self.home, &self.env, place)?;
        // `set_programs` clears the cache, so that a hook registered later is included.
        let mut projects = self.lock_projects();
        let found = Arc::new(read.with_program_hooks(&self.programs.load(), &self.home));
        // If the base changed in the meantime, the result is used for this event only.
        if !Arc::ptr_eq(&base, &self.base()) {
            return Ok(found);
        }
        if projects.generations.len() >= MAX_CACHED_PLACES {
            projects.generations.clear();
        }
        projects.generations.insert(files, (stamps, Arc::clone(&found)));
        Ok(found)
    }

    /// Returns the configuration for a caller from another account. A thread with the caller's rights reads the
    /// project files; the call waits for that thread for a limited time.
    pub(crate) async fn for_account(
        &self,
        place: &WorkDirs,
        account: u32,
    ) -> Result<Arc<ActiveConfig>, Failure> {
        let base = self.base();
        if place.cwd.is_none() {
            return Ok(base);
        }
        if let Some(found) = self.accounts.get_fresh(account, place, &base) {
            return Ok(found);
        }
        let permit = self.accounts.acquire_permit(account).await?;
        // Another call may have read the same files in the meantime.
        if let Some(found) = self.accounts.get_fresh(account, place, &base) {
            return Ok(found);
        }
        let (texts, _permit) = read_as(account, place, self.env.home.clone(), permit).await?;
        let found = match self.accounts.get_same(account, place, &base, &texts) {
            Some(found) => found,
            None if texts.is_empty() => Arc::clone(&base),
            None => {
                let (home, env, project) = (self.home.clone(), self.env.clone(), texts.clone());
                // Rules are compiled in a thread that no other account waits for.
                let compiled = tokio::task::spawn_blocking(move || {
                    ActiveConfig::read_with(&home, &env, |home, env| {
                        Configuration::read_with_project(home, env, project)
                    })
                });
                let read = compiled.await.map_err(|error| Failure::internal(error.to_string()))??;
                Arc::new(read.with_program_hooks(&self.programs.load(), &self.home))
            }
        };
        self.accounts.insert(account, place, base, texts, &found);
        Ok(found)
    }

    /// Replaces the hooks that programs registered, from the next event on.
    pub(crate) fn set_programs(&self, hooks: Vec<Arc<Hook>>) {
        let _changing = self.change_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let mut projects = self.lock_projects();
        self.base.store(Arc::new(self.base().with_program_hooks(&hooks, &self.home)));
        self.programs.store(Arc::new(hooks));
        projects.generations.clear();
    }

    pub(crate) fn user_home(&self) -> Option<&str> {
        self.env.home.as_deref().and_then(std::path::Path::to_str)
    }

    /// Reads the sources of the rules that apply in a place.
    pub(crate) fn sources(&self, place: &WorkDirs) -> Sources {
        Sources::collect(&self.home, &self.env, place)
    }

    /// Returns the files that the base is built from.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.base().stamps.paths()
    }

    /// Whether a file could not be read, so that the previous rules are in force.
    pub(crate) fn is_stale(&self) -> bool {
        !self.base().stale.is_empty()
    }

    /// Checks the files for changes. With `force`, they are read even if none has changed.
    pub(crate) fn refresh(&self, force: bool) -> Result<Refreshed, Failure> {
        if !force && self.base().stamps.are_current() {
            return Ok(Refreshed::Same);
        }
        let _changing = self.change_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let base = self.base();
        // Read before the files, so that a file which is still being written differs at the next check.
        let stamps = FileStamps::of(base_files(&self.home, &self.env));
        let broken = find_unreadable(&self.home);
        if !broken.is_empty() {
            let refreshed = if base.stale == broken { Refreshed::Same } else { Refreshed::Stale };
            self.base.store(Arc::new(base.with_stale_files(broken, stamps)));
            return Ok(refreshed);
        }
        let new = ActiveConfig::read(&self.home, &self.env, &WorkDirs::default())?;
        if let Some(lost) = find_lost_policy(&base, &new) {
            let refreshed = if base.stale == lost { Refreshed::Same } else { Refreshed::Stale };
            self.base.store(Arc::new(base.with_stale_files(lost, stamps)));
            return Ok(refreshed);
        }
        let new = new.with_program_hooks(&self.programs.load(), &self.home);
        let same = new.generation.name() == base.generation.name()
            && (&new.problems, &new.warnings, &new.stale) == (&base.problems, &base.warnings, &base.stale);
        self.base.store(Arc::new(new));
        self.lock_projects().generations.clear();
        Ok(if same { Refreshed::Same } else { Refreshed::New })
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    fn project_files(&self, place: &WorkDirs) -> Vec<PathBuf> {
        let Some(cwd) = &place.cwd else { return Vec::new() };
        if let Some((since, files)) = self.lock_projects().places.get(place)
            && since.elapsed() < PLACE_CACHE_TIME
        {
            return files.clone();
        }
        let files = trust::project_files(cwd, place.project.as_deref(), self.env.home.as_deref());
        let mut projects = self.lock_projects();
        if projects.places.len() >= MAX_CACHED_PLACES {
            projects.places.clear();
        }
        projects.places.insert(place.clone(), (Instant::now(), files.clone()));
        files
    }

    fn lock_projects(&self) -> std::sync::MutexGuard<'_, ProjectCache> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ActiveConfig {
    fn read(home: &Home, env: &Env, place: &WorkDirs) -> Result<Self, Failure> {
        Self::read_with(home, env, |home, env| Configuration::read_trusted(home, env, place))
    }

    fn read_with(
        home: &Home,
        env: &Env,
        configure: impl FnOnce(&Home, &Env) -> Configuration,
    ) -> Result<Self, Failure> {
        // Read before the files, so that a change in the meantime is noticed.
        let stamps = FileStamps::of(base_files(home, env));
        let mut configuration = configure(home, env);
        if home.is_machine_wide() {
            configuration = configuration.for_other_accounts();
        }
        // A snapshot waits for the disk, so the other tasks of the thread move to another thread.
        configuration = configuration.run_snapshots_with(|work| tokio::task::block_in_place(work));
        let (problems, warnings) =
            (configuration.problems.clone(), std::mem::take(&mut configuration.warnings));
        let (mode, detail) = (configuration.mode, configuration.detail());
        let defaults = configuration.defaults.clone();
        let sources = Arc::new(std::mem::take(&mut configuration.sources));
        let generation = configuration.into_generation(env.home.as_deref())?;
        let (plain, stale) = (generation.clone(), Vec::new());
        Ok(Self { generation, plain, defaults, mode, detail, problems, warnings, sources, stale, stamps })
    }

    /// Adds hooks registered by programs, with their on/off switches applied.
    fn with_program_hooks(&self, hooks: &[Arc<Hook>], home: &Home) -> Self {
        let mut hooks: Vec<Hook> = hooks.iter().map(|hook| Hook::clone(hook)).collect();
        // An unreadable file is already listed as a problem of the generation.
        if let Ok(switches) = Switches::read(home) {
            switches.apply(&mut hooks);
        }
        if !self.defaults.enabled {
            for hook in &mut hooks {
                hook.enabled = false;
            }
        }
        let hooks: Vec<_> = hooks.into_iter().map(Arc::new).collect();
        Self { generation: self.plain.clone().with_checked_hooks(&hooks), ..self.clone() }
    }

    /// Returns the same configuration, with the problems of files that changed and cannot be read.
    fn with_stale_files(&self, stale: Vec<Problem>, stamps: FileStamps) -> Self {
        Self { stale, stamps, ..self.clone() }
    }
}

/// Returns the problems because of which no policy of the fleet can be read any more, if one is in force. Another version on
/// the disk replaces the one in force, and so does the end of the membership.
fn find_lost_policy(base: &ActiveConfig, new: &ActiveConfig) -> Option<Vec<Problem>> {
    base.sources.fleet.as_ref()?.bundle.as_ref()?;
    let fleet = new.sources.fleet.as_ref()?;
    (fleet.bundle.is_none() && !fleet.problems.is_empty()).then(|| fleet.problems.clone())
}

/// Returns every file that the base is built from.
fn base_files(home: &Home, env: &Env) -> Vec<PathBuf> {
    let mut files = text_files(home);
    files.extend([home.trust(), home.packs(), home.mode(), home.retention(), home.switches(), home.port()]);
    files.extend(program_files::watched_files(home));
    files.extend(FleetPolicy::watched_files(home));
    files.extend(hook_packages::watched_files(home));
    files.extend(hook_files::watched_files(home, env));
    files
}

fn text_files(home: &Home) -> Vec<PathBuf> {
    let own = [home.settings(), home.policy(), home.prices(), home.pack_list(), home.hook_package_list()];
    own.into_iter().chain(home.organisation.clone()).collect()
}

/// Returns the configuration files that are not valid YAML.
fn find_unreadable(home: &Home) -> Vec<Problem> {
    let mut problems = Vec::new();
    let descriptions = program_files::watched_files(home).into_iter().filter(|path| !path.is_dir());
    for path in text_files(home).into_iter().chain(descriptions) {
        let name = path.display().to_string();
        match regular_file(&path) {
            Ok(None) => {}
            Ok(Some(text)) => {
                if let Err((spot, message)) = tenterhook_document::parse(&text) {
                    problems.push(Problem::new(&name, spot, message));
                }
            }
            Err(error) => problems.push(Problem::for_file(&name, error.to_string())),
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_slow_look_does_not_bring_back_what_was_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        let generations = Generations::read(&home, &Env::default()).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let others = (0..2).map(|_| {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        generations.refresh(true).unwrap();
                        // A thread that releases a lock and immediately takes it again starves the others.
                        std::thread::sleep(Duration::from_millis(5));
                    }
                })
            });
            let others: Vec<_> = others.collect();
            for number in 0..8 {
                let mode = if number % 2 == 0 { Mode::Monitor } else { Mode::Enforce };
                mode.write(&home, tenterhook_home::call_meta::now()).unwrap();
                generations.refresh(true).unwrap();
                assert_eq!(generations.base().mode, mode, "{number}");
            }
            done.store(true, Ordering::Relaxed);
            for other in others {
                other.join().unwrap();
            }
        });
    }
}
