// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is in force: one generation for everybody, and one for each project with rules of its own.
//!
//! A generation never changes. When a file changes, a new one takes its place between two events; a
//! file that cannot be read as a whole keeps the old one in force, and everybody who looks is told.

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
use tenterhook_guard::Configuration;
use tenterhook_home::{
    Env, Home, Mode, Sources, Switches, WorkDirs, hook_files, hook_packages, program_files, regular_file,
    trust,
};

use crate::account_projects::{AccountProjects, read_as};
use crate::stamp::Stamps;

/// How long the files of a place are believed to be the same ones.
pub(crate) const BELIEVED: Duration = Duration::from_millis(500);
/// How many places and projects are remembered; beyond that they are read again.
pub(crate) const REMEMBERED: usize = 256;

/// All generations in force.
pub struct Generations {
    home: Home,
    env: Env,
    base: ArcSwap<InForce>,
    /// Hooks of programs: they come and go, and stand in no file.
    programs: ArcSwap<Vec<Arc<Hook>>>,
    /// Held while another base is made from what there is.
    changing: Mutex<()>,
    projects: Mutex<Projects>,
    accounts: AccountProjects,
}

/// A generation, and what a user should know about it.
#[derive(Debug, Clone)]
pub struct InForce {
    /// Hooks and rules that evaluate calls.
    pub generation: Generation,
    /// The same without the hooks of programs.
    of_files: Generation,
    /// What holds for hooks that do not say otherwise.
    pub defaults: HookDefaults,
    /// Whether its rules hold.
    pub mode: Mode,
    /// What it is made of, for its leaf.
    pub made_of: Value,
    /// What cannot be used.
    pub problems: Vec<Problem>,
    /// What can be used but is probably not meant so.
    pub warnings: Vec<Problem>,
    /// Where its rules come from.
    pub sources: Arc<Sources>,
    /// Files that changed and cannot be read: what they said before is still in force.
    pub stale: Vec<Problem>,
    stamps: Stamps,
}

/// What became of looking at the files again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refreshed {
    /// Nothing is different.
    Same,
    /// Another generation is in force.
    New,
    /// A file cannot be read: the old generation stays.
    Stale,
}

#[derive(Default)]
struct Projects {
    places: HashMap<WorkDirs, (Instant, Vec<PathBuf>)>,
    generations: HashMap<Vec<PathBuf>, (Stamps, Arc<InForce>)>,
}

impl Generations {
    /// Reads what is in force in a home.
    pub fn read(home: &Home, env: &Env) -> Result<Self, Failure> {
        let (home, env) = (home.clone(), env.clone());
        let base = InForce::read(&home, &env, &WorkDirs::default())?;
        Ok(Self {
            home,
            env,
            base: ArcSwap::from_pointee(base),
            programs: ArcSwap::default(),
            changing: Mutex::default(),
            projects: Mutex::default(),
            accounts: AccountProjects::default(),
        })
    }

    /// What is in force where no project has rules of its own.
    pub fn base(&self) -> Arc<InForce> {
        self.base.load_full()
    }

    /// What is in force for an agent that works in a place.
    pub fn of(&self, place: &WorkDirs) -> Result<Arc<InForce>, Failure> {
        let files = self.files_of(place);
        if files.is_empty() {
            return Ok(self.base());
        }
        let stamps = Stamps::of(files.iter().cloned());
        if let Some((known, found)) = self.projects().generations.get(&files)
            && *known == stamps
        {
            return Ok(Arc::clone(found));
        }
        let base = self.base();
        let read = InForce::read(&self.home, &self.env, place)?;
        // A program that registers a hook in the meantime causes this to be built again.
        let mut projects = self.projects();
        let found = Arc::new(read.beside(&self.programs.load(), &self.home));
        // What was read while something else came into force is good for this event only.
        if !Arc::ptr_eq(&base, &self.base()) {
            return Ok(found);
        }
        if projects.generations.len() >= REMEMBERED {
            projects.generations.clear();
        }
        projects.generations.insert(files, (stamps, Arc::clone(&found)));
        Ok(found)
    }

    /// What is in force for a caller of another account. Its project files are read in a thread with the
    /// caller's rights; the call waits for that thread in the runtime, and not for long.
    pub(crate) async fn of_account(&self, place: &WorkDirs, account: u32) -> Result<Arc<InForce>, Failure> {
        let base = self.base();
        if place.cwd.is_none() {
            return Ok(base);
        }
        if let Some(found) = self.accounts.get_fresh(account, place, &base) {
            return Ok(found);
        }
        let permit = self.accounts.permit(account).await?;
        // Others may have read the same while this call waited.
        if let Some(found) = self.accounts.get_fresh(account, place, &base) {
            return Ok(found);
        }
        let (texts, _permit) = read_as(account, place, self.env.home.clone(), permit).await?;
        let found = match self.accounts.get_same(account, place, &base, &texts) {
            Some(found) => found,
            None if texts.is_empty() => Arc::clone(&base),
            None => {
                let (home, env, project) = (self.home.clone(), self.env.clone(), texts.clone());
                // Rules take their time to compile, and no other account waits for that.
                let compiled = tokio::task::spawn_blocking(move || {
                    InForce::read_with(&home, &env, |home, env| {
                        Configuration::read_with_project(home, env, project)
                    })
                });
                let read = compiled.await.map_err(|error| Failure::internal(error.to_string()))??;
                Arc::new(read.beside(&self.programs.load(), &self.home))
            }
        };
        self.accounts.insert(account, place, base, texts, &found);
        Ok(found)
    }

    /// These are the hooks of programs from the next event on.
    pub(crate) fn set_programs(&self, hooks: Vec<Arc<Hook>>) {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut projects = self.projects();
        self.base.store(Arc::new(self.base().beside(&hooks, &self.home)));
        self.programs.store(Arc::new(hooks));
        projects.generations.clear();
    }

    /// The person whose home it is.
    pub(crate) fn person(&self) -> Option<&str> {
        self.env.home.as_deref().and_then(std::path::Path::to_str)
    }

    /// Where the rules of a place come from, as the files are now.
    pub(crate) fn sources(&self, place: &WorkDirs) -> Sources {
        Sources::collect(&self.home, &self.env, place)
    }

    /// The files that what is in force everywhere is made of.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.base().stamps.paths()
    }

    /// Whether a file could not be read, so that the rules before are in force.
    pub(crate) fn is_stale(&self) -> bool {
        !self.base().stale.is_empty()
    }

    /// Looks at the files again; `anyway`, also if none of them looks different.
    pub(crate) fn refresh(&self, anyway: bool) -> Result<Refreshed, Failure> {
        if !anyway && self.base().stamps.hold() {
            return Ok(Refreshed::Same);
        }
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let base = self.base();
        // Taken first: a file that is completed while it is read looks different at the next look.
        let stamps = Stamps::of(files(&self.home, &self.env));
        let broken = unreadable(&self.home);
        if !broken.is_empty() {
            let refreshed = if base.stale == broken { Refreshed::Same } else { Refreshed::Stale };
            self.base.store(Arc::new(base.kept(broken, stamps)));
            return Ok(refreshed);
        }
        let new = InForce::read(&self.home, &self.env, &WorkDirs::default())?;
        let new = new.beside(&self.programs.load(), &self.home);
        let same = new.generation.name() == base.generation.name()
            && (&new.problems, &new.warnings, &new.stale) == (&base.problems, &base.warnings, &base.stale);
        self.base.store(Arc::new(new));
        self.projects().generations.clear();
        Ok(if same { Refreshed::Same } else { Refreshed::New })
    }

    /// What the environment of the daemon says.
    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    fn files_of(&self, place: &WorkDirs) -> Vec<PathBuf> {
        let Some(cwd) = &place.cwd else { return Vec::new() };
        if let Some((since, files)) = self.projects().places.get(place)
            && since.elapsed() < BELIEVED
        {
            return files.clone();
        }
        let files = trust::project_files(cwd, place.project.as_deref(), self.env.home.as_deref());
        let mut projects = self.projects();
        if projects.places.len() >= REMEMBERED {
            projects.places.clear();
        }
        projects.places.insert(place.clone(), (Instant::now(), files.clone()));
        files
    }

    fn projects(&self) -> std::sync::MutexGuard<'_, Projects> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InForce {
    fn read(home: &Home, env: &Env, place: &WorkDirs) -> Result<Self, Failure> {
        Self::read_with(home, env, |home, env| Configuration::read_trusted(home, env, place))
    }

    fn read_with(
        home: &Home,
        env: &Env,
        configure: impl FnOnce(&Home, &Env) -> Configuration,
    ) -> Result<Self, Failure> {
        // Before reading: a change in between is seen the next time.
        let stamps = Stamps::of(files(home, env));
        let mut configuration = configure(home, env);
        let (problems, warnings) =
            (configuration.problems.clone(), std::mem::take(&mut configuration.warnings));
        let (mode, made_of) = (configuration.mode, configuration.detail());
        let defaults = configuration.defaults.clone();
        let sources = Arc::new(std::mem::take(&mut configuration.sources));
        let generation = configuration.into_generation(env.home.as_deref())?;
        let (of_files, stale) = (generation.clone(), Vec::new());
        Ok(Self { generation, of_files, defaults, mode, made_of, problems, warnings, sources, stale, stamps })
    }

    /// Adds the hooks of programs that are not disabled.
    fn beside(&self, hooks: &[Arc<Hook>], home: &Home) -> Self {
        let mut hooks: Vec<Hook> = hooks.iter().map(|hook| Hook::clone(hook)).collect();
        // A file that cannot be read is a problem of the generation already.
        if let Ok(switches) = Switches::read(home) {
            switches.apply(&mut hooks);
        }
        if !self.defaults.enabled {
            for hook in &mut hooks {
                hook.enabled = false;
            }
        }
        let hooks: Vec<_> = hooks.into_iter().map(Arc::new).collect();
        Self { generation: self.of_files.clone().with_checked_hooks(&hooks), ..self.clone() }
    }

    /// The same, although files have changed that cannot be read.
    fn kept(&self, stale: Vec<Problem>, stamps: Stamps) -> Self {
        Self { stale, stamps, ..self.clone() }
    }
}

/// Every file that a generation is made of, wherever the agent works.
fn files(home: &Home, env: &Env) -> Vec<PathBuf> {
    let mut files = texts(home);
    files.extend([home.trust(), home.packs(), home.mode(), home.retention(), home.switches(), home.port()]);
    files.extend(program_files::watched_files(home));
    files.extend(hook_packages::watched_files(home));
    files.extend(hook_files::watched_files(home, env));
    files
}

fn texts(home: &Home) -> Vec<PathBuf> {
    let own = [home.settings(), home.policy(), home.prices(), home.pack_list(), home.hook_package_list()];
    own.into_iter().chain(home.organisation.clone()).collect()
}

/// Configuration files that are not valid YAML.
fn unreadable(home: &Home) -> Vec<Problem> {
    let mut problems = Vec::new();
    let descriptions = program_files::watched_files(home).into_iter().filter(|path| !path.is_dir());
    for path in texts(home).into_iter().chain(descriptions) {
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
                        // Whoever holds a lock and takes it again at once lets nobody else have it.
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
