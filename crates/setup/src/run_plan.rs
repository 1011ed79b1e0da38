// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Plans and prepares one guarded run of a harness: the options, variables and files with which the client runs Tenterhook's
//! hooks. The user's settings are not changed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::{FdFlags, fcntl_setfd};
use tenterhook_error::Failure;
use tenterhook_guard::snapshot;
use tenterhook_harness::Harness;
use tenterhook_harness_install::receipt::InstallOptions;
use tenterhook_harness_install::run_settings::{
    COMMON_REDIRECTING_OPTIONS, DIRECTORY_OPTIONS, OwnSandbox, RunAdditions, RunRequest, RunSettings,
    find_option,
};
use tenterhook_harness_install::{HarnessClient as _, SettingsScope, WarningLevel};
use tenterhook_home::{Home, WorkDirs, call_meta, make_private_dir, regular_file, write_atomic};

use crate::wiring::{self, HookState, MACHINE_SCOPE};
use crate::{Setup, hook_programs};

/// File that is locked while a run uses its directory.
pub const LOCK_FILE: &str = "lock";
/// File with the settings before a sandboxed run, in its directory.
pub const SETTINGS_BEFORE_FILE: &str = "settings-before.json";

/// How one run of a harness is guarded.
#[derive(Debug)]
pub enum GuardedRun {
    /// The hooks of the settings guard the run, so nothing is added.
    BySettings {
        /// Scope of these settings: `user`, `machine` or `project DIR`.
        scope: String,
        /// Arguments, to be inserted before the user's own.
        args: Vec<OsString>,
        /// Notes for the user, one sentence each.
        notes: Vec<String>,
    },
    /// The run has settings of its own.
    ByAdditions(PlannedRun),
}

/// Planned additions to one run. Nothing has been written yet.
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

/// Plans a run of a harness with these arguments. `is_sandboxed` is whether it runs in Tenterhook's sandbox. Writes
/// nothing.
///
/// Fails if the client takes no hooks for one run, or if it would not run them with these arguments and variables.
pub fn plan_run(
    setup: &Setup<'_>,
    harness: &'static Harness,
    args: &[OsString],
    is_sandboxed: bool,
) -> Result<GuardedRun, Failure> {
    let scope = guarding_scope(setup, harness, args);
    let run = harness.guarded_run();
    if let Ok(run) = run {
        // Checked first, because these arguments and variables also turn the hooks of settings off.
        refuse_unguarded(setup, harness, run, args, scope.is_some())?;
    }
    let redirecting = run.map_or(COMMON_REDIRECTING_OPTIONS, |run| run.redirecting_options);
    if let Some(scope) = scope {
        match (find_option(args, redirecting), run) {
            (None, _) => {
                let own = run.ok().and_then(|run| run.own_sandbox).filter(|_| is_sandboxed);
                let args = own.iter().flat_map(|own| own.off_arguments).map(OsString::from).collect();
                let notes = own.and_then(|own| own_sandbox_note(setup, harness, &own)).into_iter().collect();
                return Ok(GuardedRun::BySettings { scope, args, notes });
            }
            // The hooks of this run apply wherever the client reads its settings.
            (Some(option), Ok(run)) => refuse_unguarded(setup, harness, run, args, false)
                .map_err(|failure| failure.hint(format!("omit `{option}`")))?,
            (Some(option), Err(_)) => {
                let message = format!(
                    "cannot guard a run of {} with `{option}`: it may not read the settings that guard it ({scope})",
                    harness.title
                );
                return Err(Failure::user(message).hint("omit the option"));
            }
        }
    }
    let run = run.map_err(|reason| cannot_guard(harness, reason))?;
    let options = InstallOptions { scope: SettingsScope::User, http: false, trust: true };
    let user = wiring::install_request(setup, harness, &options)?;
    let directory = setup.home.guarded_runs().join(call_meta::mint()?.id.to_string());
    let request = RunRequest { directory: &directory, user: &user, variables: &setup.env.all, is_sandboxed };
    let RunAdditions { mut args, variables, files, warnings } = (run.build_additions)(&request)?;
    let mut notes = Vec::new();
    if let Some(own) = run.own_sandbox.filter(|_| is_sandboxed) {
        if own.off_settings.is_none() {
            args.extend(own.off_arguments.iter().map(OsString::from));
        }
        notes.extend(own_sandbox_note(setup, harness, &own));
    }
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

/// Fails if the client would not run the hooks with these arguments and variables. `by_settings` is whether its settings
/// contain the hooks.
fn refuse_unguarded(
    setup: &Setup<'_>,
    harness: &'static Harness,
    run: &RunSettings,
    args: &[OsString],
    by_settings: bool,
) -> Result<(), Failure> {
    let title = harness.title;
    if let Some(refused) = run.refused_argument(args, by_settings) {
        let message = format!("cannot guard a run of {title} with `{}`: {}", refused.name, refused.reason);
        let failure = Failure::user(message).hint("omit the argument");
        return Err(if refused.works_with_settings { failure.hint(install_hint(harness)) } else { failure });
    }
    if let Some(name) = run.refused_variable(&setup.env.all) {
        let message = format!("cannot guard this run of {title}: with `{name}` it may run no hooks");
        return Err(Failure::user(message).hint(format!("unset `{name}`")));
    }
    Ok(())
}

/// Says that the client's own sandbox is off in this run, if it would be on.
fn own_sandbox_note(setup: &Setup<'_>, harness: &Harness, own: &OwnSandbox) -> Option<String> {
    let is_on = own.on_marker.is_none_or(|marker| {
        let home = setup.env.home.iter().map(|home| home.join(".claude/settings.json"));
        let projects = setup.working_directory.iter().flat_map(|directory| {
            [".claude/settings.json", ".claude/settings.local.json"].map(|name| directory.join(name))
        });
        let mut files = home.chain(projects);
        files.any(|file| regular_file(&file).ok().flatten().is_some_and(|text| text.contains(marker)))
    });
    let title = harness.title;
    is_on.then(|| {
        format!("the sandbox of {title} itself is off in this run, because it cannot start inside this one")
    })
}

fn cannot_guard(harness: &Harness, reason: &str) -> Failure {
    let failure = Failure::user(format!("cannot guard one run of {}: {reason}", harness.title));
    if harness.installer().is_some() { failure.hint(install_hint(harness)) } else { failure }
}

fn install_hint(harness: &Harness) -> String {
    format!("guard it in its settings instead: `tenterhook install {}`", harness.id)
}

/// Scope of installed hooks that the harness runs with these arguments, if there are any.
fn guarding_scope(setup: &Setup<'_>, harness: &'static Harness, args: &[OsString]) -> Option<String> {
    let installer = harness.installer()?;
    let applies = |options: &InstallOptions| match (&options.scope, &setup.working_directory) {
        (SettingsScope::Project(root), Some(directory)) => {
            directory.starts_with(root) && !names_other_directory(args, directory, root)
        }
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

/// Whether the client may start outside a project: an argument is a directory outside (`opencode ../other`), or an option
/// names the directory.
fn names_other_directory(args: &[OsString], working_directory: &Path, root: &Path) -> bool {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let is_other = |path: &OsStr| {
        let path = working_directory.join(path);
        path.is_dir() && path.canonicalize().is_ok_and(|path| !path.starts_with(&root))
    };
    find_option(args, DIRECTORY_OPTIONS).is_some()
        || args.iter().any(|arg| {
            let value = arg.to_str().and_then(|arg| arg.split_once('=')).map(|(_, value)| OsStr::new(value));
            is_other(arg) || value.is_some_and(is_other)
        })
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

/// Removes the directories that no run has locked, except those of sandboxed runs whose changes are not undone yet.
fn remove_ended_runs(parent: &Path) -> Result<(), Failure> {
    for entry in fs_err::read_dir(parent)? {
        let path = entry?.path();
        let is_locked = |lock: File| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err();
        let lock = File::options().read(true).open(path.join(LOCK_FILE));
        let is_needed = path.join(SETTINGS_BEFORE_FILE).exists();
        if path.is_dir() && !is_needed && !lock.is_ok_and(is_locked) {
            fs_err::remove_dir_all(&path)?;
        }
    }
    Ok(())
}
