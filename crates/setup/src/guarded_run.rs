// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Plans and prepares one guarded run of a harness: the options, variables and files with which the client runs Tenterhook's
//! hooks. The user's settings are not changed.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::{FdFlags, fcntl_setfd};
use tenterhook_error::Failure;
use tenterhook_guard::snapshot;
use tenterhook_harness::Harness;
use tenterhook_harness_install::guarded_run::{RunAdditions, RunRequest, RunSettings};
use tenterhook_harness_install::receipt::InstallOptions;
use tenterhook_harness_install::{HarnessClient as _, SettingsScope, WarningLevel};
use tenterhook_home::{Home, WorkDirs, call_meta, make_private_dir, write_atomic};

use crate::wiring::{self, HookState, MACHINE_SCOPE};
use crate::{Setup, hook_programs};

/// File that is locked while a run uses its directory.
pub const LOCK_FILE: &str = "lock";

/// How one run of a harness is guarded.
#[derive(Debug)]
pub enum GuardedRun {
    /// The hooks of the settings guard the run, so nothing is added.
    BySettings {
        /// Scope of these settings: `user`, `machine` or `project DIR`.
        scope: String,
    },
    /// The run has settings of its own.
    ByAdditions(PlannedRun),
}

/// What is added to one run. Nothing has been written yet.
#[derive(Debug)]
pub struct PlannedRun {
    /// Arguments, to be inserted before the user's own.
    pub args: Vec<OsString>,
    /// Variables to set.
    pub variables: Vec<(&'static str, OsString)>,
    /// Notes for the user, one sentence each.
    pub notes: Vec<String>,
    files: Vec<(PathBuf, Vec<u8>)>,
    directory: PathBuf,
}

/// Directory of one run's files. It is removed when this value is dropped.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    /// The locked file. The client inherits the lock, so another run removes the directory only after both have ended.
    _lock: File,
}

/// Plans a run of a harness with these arguments. Writes nothing.
///
/// Fails if the client takes no hooks for one run, or if it would not run them with these arguments and variables.
pub fn plan_run(
    setup: &Setup<'_>,
    harness: &'static Harness,
    args: &[OsString],
) -> Result<GuardedRun, Failure> {
    if let Some(scope) = guarding_scope(setup, harness) {
        return Ok(GuardedRun::BySettings { scope });
    }
    let run = run_settings(setup, harness, args)?;
    let options = InstallOptions { scope: SettingsScope::User, http: false, trust: true };
    let user = wiring::install_request(setup, harness, &options)?;
    let directory = setup.home.guarded_runs().join(call_meta::mint()?.id.to_string());
    let request = RunRequest { directory: &directory, user: &user, variables: &setup.env.all };
    let RunAdditions { args, variables, files, warnings } = (run.additions)(&request)?;
    let mut notes = Vec::new();
    for warning in warnings {
        match warning.weight {
            WarningLevel::Blocks => {
                let message = format!("{} would not run the hooks: {}", harness.title, warning.message);
                return Err(Failure::conflict(message));
            }
            WarningLevel::Note | WarningLevel::Pending => notes.push(warning.message),
        }
    }
    Ok(GuardedRun::ByAdditions(PlannedRun { args, variables, notes, files, directory }))
}

impl PlannedRun {
    /// Writes the files of the run, and installs the hook programs that they name.
    pub fn write_files(&self, setup: &Setup<'_>) -> Result<RunDirectory, Failure> {
        // The programs come first, because the settings name them.
        hook_programs::install_programs(setup)?;
        snapshot::write(setup.home, setup.env, &WorkDirs::default())?;
        let directory = RunDirectory::create(setup.home, &self.directory)?;
        for (path, bytes) in &self.files {
            if let Some(parent) = path.parent() {
                make_private_dir(parent)?;
            }
            write_atomic(path, bytes, 0o600)?;
        }
        Ok(directory)
    }
}

/// How the client takes hooks for one run with these arguments and variables.
fn run_settings(
    setup: &Setup<'_>,
    harness: &'static Harness,
    args: &[OsString],
) -> Result<&'static RunSettings, Failure> {
    let title = harness.title;
    let install = format!("guard it in its settings instead: `tenterhook install {}`", harness.id);
    let run = harness.guarded_run().map_err(|reason| {
        let failure = Failure::user(format!("cannot guard one run of {title}: {reason}"));
        if harness.installer().is_some() { failure.hint(&install) } else { failure }
    })?;
    if let Some(option) = run.refused_argument(args) {
        let message = format!("cannot guard a run of {title} with `{}`: {}", option.name, option.reason);
        return Err(Failure::user(message).hint("omit the option").hint(install));
    }
    if let Some(name) = run.refused_variable(&setup.env.all) {
        let message = format!("cannot guard this run of {title}: with `{name}` it runs no hooks");
        return Err(Failure::user(message).hint(format!("unset `{name}`")));
    }
    Ok(run)
}

/// Scope of installed hooks that the harness runs in the working directory, if there are any.
fn guarding_scope(setup: &Setup<'_>, harness: &'static Harness) -> Option<String> {
    let installer = harness.installer()?;
    let applies = |options: &InstallOptions| match (&options.scope, &setup.working_directory) {
        (SettingsScope::Project(root), Some(directory)) => directory.starts_with(root),
        (SettingsScope::Project(_), None) => false,
        _ => true,
    };
    for options in wiring::installed_options(setup.home, installer).iter().filter(|options| applies(options))
    {
        if let Ok(HookState::Complete(plan)) = wiring::compare_hooks(setup, harness, options)
            && plan.in_force
            && plan.pending.is_empty()
        {
            return Some(wiring::scope_name(&options.scope));
        }
    }
    let by_machine = wiring::machine_hooks(setup, harness).is_some_and(|hooks| hooks.in_force);
    by_machine.then(|| MACHINE_SCOPE.to_owned())
}

impl RunDirectory {
    /// Creates a directory in the directory of guarded runs, and removes those of runs that were killed.
    pub fn create(home: &Home, path: &Path) -> Result<Self, Failure> {
        let parent = home.guarded_runs();
        make_private_dir(&parent)?;
        // One run at a time creates or removes directories.
        let all = File::create(parent.join(LOCK_FILE))?;
        flock(&all, FlockOperation::LockExclusive).map_err(std::io::Error::from)?;
        remove_ended_runs(&parent)?;
        make_private_dir(path)?;
        let lock = File::create(path.join(LOCK_FILE))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(std::io::Error::from)?;
        fcntl_setfd(&lock, FdFlags::empty()).map_err(std::io::Error::from)?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        // The next run removes what remains.
        drop(fs_err::remove_dir_all(&self.path));
    }
}

/// Removes the directories that no run has locked.
fn remove_ended_runs(parent: &Path) -> Result<(), Failure> {
    for entry in fs_err::read_dir(parent)? {
        let path = entry?.path();
        let is_locked = |lock: File| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err();
        let lock = File::options().read(true).open(path.join(LOCK_FILE));
        if path.is_dir() && !lock.is_ok_and(is_locked) {
            fs_err::remove_dir_all(&path)?;
        }
    }
    Ok(())
}
