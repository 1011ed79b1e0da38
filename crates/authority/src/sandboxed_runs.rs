// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The sandboxed runs: a run's processes are a guarded agent, even if they leave the agent's process tree.
//!
//! A process belongs to a run if it is in the run's pid namespace, if it descends from the run's first process, or if
//! it descends from the run's supervisor. A nested pid namespace changes nothing: its first process descends from the
//! run's first process, which adopts it if its parent exits.
//!
//! Each run has a mark: a file in `<state>/run/sandboxes/`, named by its id. A daemon that starts later, and a command
//! without a daemon, read the marks. A mark counts as long as the first process runs.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};
use tenterhook_api::{RunRegistration, SandboxedRun};
use tenterhook_error::Failure;
use tenterhook_event::{EventId, SandboxLevel};
use tenterhook_home::{Home, call_meta, make_private_dir, read_file, write_atomic_until_reboot};

use crate::agents::boot_id;
use crate::ancestry::{is_in_inner_namespace, own_pid_namespace, pid_namespace, walk};
use crate::{Agent, Process};

/// Maximum number of runs at the same time.
const MAX_RUNS: usize = 256;
/// Maximum length of the texts of a registration.
const MAX_TEXT_BYTES: usize = 4096;

/// The sandboxed runs of a state directory.
#[derive(Debug)]
pub struct SandboxedRuns {
    dir: PathBuf,
    known: OnceLock<Mutex<Vec<KnownRun>>>,
}

/// A run as this process remembers it.
#[derive(Debug)]
struct KnownRun {
    mark: RunMark,
    /// Refers to the first process. It becomes readable when the process ends.
    pidfd: Option<OwnedFd>,
    session: Option<RunSession>,
}

/// The session whose hooks were called from inside a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSession {
    /// Id of the harness.
    pub source: String,
    /// Id of the session.
    pub id: String,
    /// Working directory of the newest event.
    pub cwd: Option<String>,
    /// Project of the newest event.
    pub project: Option<String>,
}

/// The content of a mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RunMark {
    #[serde(flatten)]
    run: RunRegistration,
    since: tenterhook_event::Timestamp,
    /// Start time of the first process.
    init_start: u64,
    supervisor_pid: i32,
    supervisor_start: u64,
    /// Pid namespace of the first process, if it is not the one in which the run was registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<u64>,
    /// Pid namespace in which the run was registered, in which the pids are valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    registered_in: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    boot: Option<String>,
}

/// Why a run cannot be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RunRefusal {
    /// The first process has ended or is not visible.
    #[error("the run's first process has ended or is not visible")]
    Ended,
    /// The first process was not started by the caller.
    #[error("the run's first process does not descend from the caller")]
    Foreign,
    /// The level is higher than what the kernel shows.
    #[error("the run has no pid namespace of its own, so its level is not `namespaces-landlock`")]
    NoNamespace,
    /// There are too many runs.
    #[error("more than {MAX_RUNS} sandboxed runs")]
    TooMany,
    /// A text of the registration is too long.
    #[error("a text of the registration is longer than {MAX_TEXT_BYTES} bytes")]
    TooLong,
    /// The id belongs to another run.
    #[error("the id belongs to another run")]
    OtherRun,
}

// === impl SandboxedRuns ===

impl SandboxedRuns {
    /// The sandboxed runs of a state directory. Marks are read when they are first needed.
    pub fn of(home: &Home) -> Self {
        Self { dir: home.run().join("sandboxes"), known: OnceLock::new() }
    }

    /// Registers a run whose supervisor is `supervisor`. Returns true if the run is new.
    pub fn register(
        &self,
        run: RunRegistration,
        supervisor: &Process,
    ) -> Result<Result<bool, RunRefusal>, Failure> {
        let mark = match RunMark::of(run, supervisor) {
            Ok(mark) => mark,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut known = self.lock();
        self.forget_ended(&mut known);
        if let Some(same) = known.iter().find(|known| known.mark.run.id == mark.run.id) {
            let is_same = (same.mark.init(), same.mark.run.level) == (mark.init(), mark.run.level);
            return Ok(if is_same { Ok(false) } else { Err(RunRefusal::OtherRun) });
        }
        if known.len() >= MAX_RUNS {
            return Ok(Err(RunRefusal::TooMany));
        }
        // Without its mark, a later daemon would not know the run. After a crash of the machine, there is no run.
        make_private_dir(&self.dir)?;
        let text = serde_json::to_vec(&mark).map_err(std::io::Error::from)?;
        write_atomic_until_reboot(&self.path(mark.run.id), &text, 0o600)?;
        let run = KnownRun::of(mark);
        // Checked after the pidfd was opened, so that both are about the same process.
        if !run.is_first_process() {
            self.remove_mark(&run.mark);
            return Ok(Err(RunRefusal::Ended));
        }
        known.push(run);
        Ok(Ok(true))
    }

    /// Returns the run that the first of these processes belongs to. The others are its ancestors.
    pub fn find(&self, processes: &[Process]) -> Option<SandboxedRun> {
        let first = processes.first()?;
        self.find_by(first.pid, || processes.iter().map(|process| (process.pid, process.start)).collect())
    }

    /// Returns the run that a process belongs to. The process must be running.
    pub fn find_by_pid(&self, pid: i32) -> Option<SandboxedRun> {
        self.find_by(pid, || walk(pid).0.iter().map(|process| (process.pid, process.start)).collect())
    }

    /// Returns the run that a process supervises, and the session of the run. The run may just have ended: its supervisor
    /// still reports the last connections.
    pub fn supervised_by(&self, pid: i32, start: Option<u64>) -> Option<(SandboxedRun, Option<RunSession>)> {
        let known = self.lock();
        let run = known.iter().rev().find(|run| run.mark.supervisor_pid == pid)?;
        let start = start.or_else(|| Process::read(pid).map(|process| process.start));
        (start == Some(run.mark.supervisor_start)).then(|| (run.describe(), run.session.clone()))
    }

    /// Notes the session whose hook was called from inside a run. Connections of the run belong to it.
    pub fn note_session(&self, id: EventId, session: RunSession) {
        if let Some(run) = self.lock().iter_mut().find(|run| run.mark.run.id == id) {
            run.session = Some(session);
        }
    }

    /// The runs that have not ended, oldest first. Marks of ended runs are removed.
    pub fn list(&self) -> Vec<SandboxedRun> {
        let mut known = self.lock();
        self.forget_ended(&mut known);
        known.iter().filter(|run| run.is_running()).map(KnownRun::describe).collect()
    }

    /// Whether the first process of a run is running.
    pub fn is_running(&self, id: EventId) -> bool {
        self.lock().iter().any(|run| run.mark.run.id == id && run.is_running())
    }

    fn find_by(&self, pid: i32, ancestry: impl FnOnce() -> Vec<(i32, u64)>) -> Option<SandboxedRun> {
        let known = self.lock();
        // Most machines have no sandboxed run, and hook calls wait for this.
        if known.is_empty() {
            return None;
        }
        let namespace = pid_namespace(pid);
        let by_namespace = |run: &&KnownRun| {
            run.mark.namespace.is_some() && run.mark.namespace == namespace && run.is_running()
        };
        if let Some(run) = known.iter().find(by_namespace) {
            return Some(run.describe());
        }
        let ancestry = ancestry();
        // The confinement of an outer run also holds inside a run within it.
        let belongs = |run: &&KnownRun| {
            let above = ancestry.iter().skip(1);
            ancestry.contains(&run.mark.init())
                || above
                    .clone()
                    .any(|process| *process == (run.mark.supervisor_pid, run.mark.supervisor_start))
        };
        let found = known.iter().filter(|run| run.is_running()).filter(belongs);
        found.max_by_key(|run| run.mark.run.level).map(KnownRun::describe)
    }

    /// Removes the marks of runs that have ended, and forgets those whose supervisors have ended too.
    fn forget_ended(&self, known: &mut Vec<KnownRun>) {
        for run in known.iter().filter(|run| !run.is_running()) {
            self.remove_mark(&run.mark);
        }
        known.retain(KnownRun::is_needed);
    }

    /// Removes a mark. A mark that cannot be removed is harmless: no other process has this pid and start time.
    fn remove_mark(&self, mark: &RunMark) {
        drop(fs_err::remove_file(self.path(mark.run.id)));
    }

    fn path(&self, id: EventId) -> PathBuf {
        self.dir.join(format!("{id}.json"))
    }

    /// Locks the known runs, after the first call has read the marks.
    fn lock(&self) -> MutexGuard<'_, Vec<KnownRun>> {
        let known = self.known.get_or_init(|| Mutex::new(self.read_marks()));
        known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_marks(&self) -> Vec<KnownRun> {
        let (own, boot) = (own_pid_namespace(), boot_id());
        let entries = fs_err::read_dir(&self.dir).into_iter().flatten().flatten();
        let texts = entries.filter_map(|entry| read_file::regular_file(&entry.path()).ok().flatten());
        let marks = texts.filter_map(|text| serde_json::from_str::<RunMark>(&text).ok());
        // Pids of another namespace or another boot are other processes.
        let (valid, other): (Vec<_>, Vec<_>) =
            marks.partition(|mark| mark.boot == boot && mark.registered_in == own);
        // In another namespace, the run may go on.
        other.iter().filter(|mark| mark.boot != boot).for_each(|mark| self.remove_mark(mark));
        let is_running = |run: &KnownRun| {
            let is_running = run.is_first_process();
            if !is_running {
                self.remove_mark(&run.mark);
            }
            is_running
        };
        let known = valid.into_iter().map(KnownRun::of).filter(is_running);
        let mut runs: Vec<_> = known.take(MAX_RUNS).collect();
        runs.sort_by_key(|run| run.mark.run.id);
        runs
    }
}

// === impl KnownRun ===

impl KnownRun {
    fn of(mark: RunMark) -> Self {
        let pid = Pid::from_raw(mark.run.init_pid);
        // Opened first: while it shows a running process, the pid belongs to that process.
        let pidfd = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Self { mark, pidfd, session: None }
    }

    /// Whether the first process runs.
    fn is_running(&self) -> bool {
        match &self.pidfd {
            Some(pidfd) => {
                let mut polled = [PollFd::new(pidfd, PollFlags::IN)];
                poll(&mut polled, Some(&Timespec::default())) == Ok(0)
            }
            // Before Linux 5.3.
            None => self.is_first_process(),
        }
    }

    /// Whether the run has not ended, or its supervisor may still report what happened in it.
    fn is_needed(&self) -> bool {
        let RunMark { supervisor_pid, supervisor_start, .. } = self.mark;
        let is_supervisor = |process: Process| process.start == supervisor_start && !process.ended;
        self.is_running() || Process::read(supervisor_pid).is_some_and(is_supervisor)
    }

    /// Whether the first process is still the one that was registered, and not another with the same pid.
    fn is_first_process(&self) -> bool {
        let (pid, start) = self.mark.init();
        Process::read(pid).is_some_and(|process| process.start == start && !process.ended)
    }

    fn describe(&self) -> SandboxedRun {
        let RunMark { run, since, supervisor_pid, .. } = &self.mark;
        SandboxedRun {
            id: run.id,
            level: run.level,
            since: *since,
            init_pid: run.init_pid,
            supervisor_pid: *supervisor_pid,
            harness: run.harness.clone(),
            command: run.command.clone(),
            session: self.session.as_ref().map(|session| session.id.clone()),
        }
    }
}

// === impl RunMark ===

impl RunMark {
    /// Checks a registration against what the kernel shows.
    fn of(run: RunRegistration, supervisor: &Process) -> Result<Self, RunRefusal> {
        let texts = [&run.harness, &run.cwd, &run.project, &Some(run.command.clone())];
        if texts.into_iter().flatten().any(|text| text.len() > MAX_TEXT_BYTES) {
            return Err(RunRefusal::TooLong);
        }
        let (own, namespace) = (own_pid_namespace(), pid_namespace(run.init_pid));
        let (ancestors, is_complete) = walk(run.init_pid);
        let init = ancestors.first().filter(|init| !init.ended).ok_or(RunRefusal::Ended)?;
        // Otherwise, any process could be made an agent, such as the user's own shell.
        let is_own = |process: &Process| (process.pid, process.start) == (supervisor.pid, supervisor.start);
        if !is_complete || !ancestors.iter().skip(1).any(is_own) {
            return Err(RunRefusal::Foreign);
        }
        let namespace = namespace.filter(|namespace| Some(*namespace) != own);
        let is_inner = namespace.is_some() || is_in_inner_namespace(run.init_pid);
        if run.level == SandboxLevel::NamespacesLandlock && !is_inner {
            return Err(RunRefusal::NoNamespace);
        }
        Ok(Self {
            since: call_meta::now(),
            init_start: init.start,
            supervisor_pid: supervisor.pid,
            supervisor_start: supervisor.start,
            namespace,
            registered_in: own,
            boot: boot_id(),
            run,
        })
    }

    /// Pid and start time of the first process.
    fn init(&self) -> (i32, u64) {
        (self.run.init_pid, self.init_start)
    }
}

/// Describes a run as the agent that all its processes are.
pub(crate) fn agent_of_run(run: &SandboxedRun) -> Agent {
    Agent {
        pid: run.init_pid,
        start: Process::read(run.init_pid).map_or(0, |process| process.start),
        name: run.command.clone(),
        harness: run.harness.clone().unwrap_or_default(),
        namespace: None,
        boot: None,
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn own() -> Process {
        Process::read(i32::try_from(std::process::id()).unwrap()).unwrap()
    }

    fn child() -> Child {
        Command::new("sleep").arg("60").spawn().unwrap()
    }

    fn registration(pid: i32, level: SandboxLevel) -> RunRegistration {
        let id = call_meta::mint().unwrap().id;
        let command = "sleep".to_owned();
        RunRegistration { id, init_pid: pid, level, harness: None, command, cwd: None, project: None }
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_run_is_known_to_later_processes_until_its_first_process_ends() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        let (runs, first) = (SandboxedRuns::of(&home), child());
        let pid = i32::try_from(first.id()).unwrap();
        assert_eq!(runs.find_by_pid(pid), None);
        let run = registration(pid, SandboxLevel::Landlock);
        assert_eq!(runs.register(run.clone(), &own()).unwrap(), Ok(true));
        assert_eq!(runs.register(run.clone(), &own()).unwrap(), Ok(false), "again");
        let found = runs.find_by_pid(pid).unwrap();
        assert_eq!((found.id, found.level, found.session), (run.id, SandboxLevel::Landlock, None));
        let later = SandboxedRuns::of(&home);
        assert_eq!(later.list().len(), 1, "another process reads the mark");
        // Every descendant of the supervisor belongs to the run, but not the supervisor itself.
        let orphan = child();
        assert!(later.find_by_pid(i32::try_from(orphan.id()).unwrap()).is_some());
        assert_eq!(later.find_by_pid(own().pid), None);
        assert_eq!(later.supervised_by(own().pid, Some(own().start)).unwrap().0.id, run.id);
        assert_eq!(later.supervised_by(own().pid, Some(own().start + 1)), None);
        end(first);
        assert_eq!(
            (later.list(), later.find_by_pid(i32::try_from(orphan.id()).unwrap())),
            (Vec::new(), None)
        );
        assert_eq!(std::fs::read_dir(home.run().join("sandboxes")).unwrap().count(), 0);
        end(orphan);
    }

    #[test]
    fn the_marks_of_ended_runs_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        let count = || std::fs::read_dir(home.run().join("sandboxes")).map_or(0, Iterator::count);
        let register = |runs: &SandboxedRuns, child: &Child| {
            let run = registration(i32::try_from(child.id()).unwrap(), SandboxLevel::Landlock);
            assert_eq!(runs.register(run, &own()).unwrap(), Ok(true));
        };
        let (runs, first, second) = (SandboxedRuns::of(&home), child(), child());
        register(&runs, &first);
        end(first);
        register(&runs, &second);
        assert_eq!(count(), 1, "the next registration removes the mark");
        end(second);
        assert_eq!(SandboxedRuns::of(&home).list(), Vec::new());
        assert_eq!(count(), 0, "a later process removes it");
    }

    #[test]
    fn a_registration_cannot_claim_more_than_the_kernel_shows() {
        let dir = tempfile::tempdir().unwrap();
        let runs = SandboxedRuns::of(&Home::in_dir(dir.path().to_owned()));
        let first = child();
        let pid = i32::try_from(first.id()).unwrap();
        let refusal = |run, supervisor: &Process| runs.register(run, supervisor).unwrap().unwrap_err();
        let claimed = registration(pid, SandboxLevel::NamespacesLandlock);
        assert_eq!(refusal(claimed, &own()), RunRefusal::NoNamespace);
        // The caller's own parent, such as the user's shell, was not started by the caller.
        assert_eq!(refusal(registration(own().parent, SandboxLevel::Hooks), &own()), RunRefusal::Foreign);
        assert_eq!(refusal(registration(own().pid, SandboxLevel::Hooks), &own()), RunRefusal::Foreign);
        assert_eq!(refusal(registration(i32::MAX, SandboxLevel::Hooks), &own()), RunRefusal::Ended);
        let long = RunRegistration { command: "x".repeat(5000), ..registration(pid, SandboxLevel::Hooks) };
        assert_eq!(refusal(long, &own()), RunRefusal::TooLong);
        let run = registration(pid, SandboxLevel::Hooks);
        assert_eq!(runs.register(run.clone(), &own()).unwrap(), Ok(true));
        let stronger = RunRegistration { level: SandboxLevel::Landlock, ..run };
        assert_eq!(refusal(stronger, &own()), RunRefusal::OtherRun);
        end(first);
    }
}
