// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The guarded agents: every process that calls hooks, and its descendants.
//!
//! Each agent has a mark: a file in `<state>/run/agents/`, named by pid and start time. The file lets a daemon that
//! starts later, or a command that runs without a daemon, recognise the agent too. A mark is valid only in the pid
//! namespace in which it was made. In another namespace the same pid is a different process. A caller from another
//! namespace must therefore be treated as a possible agent.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::ancestry::{is_initial, own_pid_namespace};
use super::harness_process::{can_be_marked, is_plausible_harness, nearest_above};
use super::process::Process;
use super::sandboxed_runs::SandboxedRuns;
use tenterhook_error::Failure;
use tenterhook_home::read_file;
use tenterhook_home::{Home, make_private_dir, write_atomic};

/// How long a pid is assumed to be the same agent without checking again.
const RECHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of agents in memory. When it is reached, agents that have ended are removed.
const MAX_KNOWN_AGENTS: usize = 1024;
/// Harness id of Tenterhook's own agent.
pub const OWN_AGENT: &str = "tenterhook-agent";
/// Names of Tenterhook's programs that agents start as hooks.
const HOOK_PROGRAMS: &[&str] = &["tenterhook", "tenterhook-hook"];

/// The agents of a state directory.
#[derive(Debug)]
pub struct Agents {
    dir: PathBuf,
    /// Agents that called this process, by process id.
    known: Mutex<HashMap<i32, KnownAgent>>,
    /// Whether writing the last mark failed.
    is_failing: AtomicBool,
    /// Whether a mark exists for callers in a pid namespace that this process cannot see.
    outside: AtomicBool,
    /// The sandboxed runs. All their processes are guarded agents.
    pub runs: SandboxedRuns,
}

/// An agent as this process remembers it, so that its mark does not have to be read for every call.
#[derive(Debug, Clone, Copy)]
struct KnownAgent {
    start: u64,
    checked_at: Instant,
    /// Whether the agent's mark was written. If not, the next call tries again.
    is_marked: bool,
}

/// An agent that called a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Pid of the agent.
    pub pid: i32,
    /// Start time of the process, in ticks since boot.
    pub start: u64,
    /// Name of the process.
    pub name: String,
    /// Id of the agent's harness, as the hook reported it.
    pub harness: String,
    /// Pid namespace in which the pid is valid; 0 if the process that made the mark could not see the agent's
    /// namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<u64>,
    /// Boot id of the machine when the mark was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
}

impl Agents {
    /// The agents of a state directory.
    pub fn of(home: &Home) -> Self {
        let dir = home.run().join("agents");
        let (is_failing, outside) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { dir, known: Mutex::default(), is_failing, outside, runs: SandboxedRuns::of(home) }
    }

    /// Whether a pid belongs to an agent that was checked within the last `RECHECK_INTERVAL`.
    pub fn is_recently_seen(&self, pid: u32) -> bool {
        let pid = i32::try_from(pid).unwrap_or_default();
        self.lock_known().get(&pid).is_some_and(|known| known.checked_at.elapsed() < RECHECK_INTERVAL)
    }

    /// Marks the agent that called a hook. `caller` is the agent itself or the hook program that it started. The
    /// agent is remembered in memory even if its mark cannot be written. If several writes fail in a row, only the
    /// first failure is returned; later calls try again.
    pub fn remember(&self, caller: i32, harness: &str) -> Result<(), Failure> {
        let Some(process) = Process::read(caller) else { return Ok(()) };
        // A hook program was started by the agent. Any other caller, including Tenterhook's own agent, is the agent.
        let ours = is_own_program(&process.name, harness);
        // Fast path: the agent is usually the parent of the hook program, and usually known.
        let near = if ours { process.parent } else { caller };
        if self
            .lock_known()
            .get(&near)
            .is_some_and(|known| known.is_marked && known.checked_at.elapsed() < RECHECK_INTERVAL)
        {
            return Ok(());
        }
        let found = if ours {
            self.find_harness_above(&process, harness)
        } else {
            Some(process).filter(can_be_marked)
        };
        let Some(agent) = found else { return Ok(()) };
        let mut known = self.lock_known();
        if known.len() >= MAX_KNOWN_AGENTS {
            known.retain(|pid, known| Process::read(*pid).is_some_and(|there| there.start == known.start));
        }
        let was_marked =
            known.get(&agent.pid).is_some_and(|known| known.is_marked && known.start == agent.start);
        let now = KnownAgent { start: agent.start, checked_at: Instant::now(), is_marked: was_marked };
        known.insert(agent.pid, now);
        drop(known);
        if was_marked {
            return Ok(());
        }
        let written = self.write_mark(&agent, harness);
        if written.is_ok()
            && let Some(known) =
                self.lock_known().get_mut(&agent.pid).filter(|known| known.start == agent.start)
        {
            known.is_marked = true;
        }
        self.report_first_failure(written)
    }

    /// Returns a failure unless the previous attempt failed too, so that a full disk is reported once.
    fn report_first_failure(&self, written: Result<(), Failure>) -> Result<(), Failure> {
        let was_failing = self.is_failing.swap(written.is_err(), Ordering::AcqRel);
        if was_failing { Ok(()) } else { written }
    }

    /// Records that a hook was called from a pid namespace that this process cannot see. The agent's pid is unknown.
    /// So every caller that may come from another namespace is treated as a possible agent.
    pub fn remember_invisible(&self, harness: &str) -> Result<(), Failure> {
        if self.outside.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let outside = Agent {
            pid: 0,
            start: 0,
            name: "unknown".to_owned(),
            harness: harness.to_owned(),
            namespace: Some(0),
            boot: boot_id(),
        };
        let written = self.write(&outside);
        // If the mark could not be written, the next call tries again.
        self.outside.store(written.is_ok(), Ordering::Release);
        self.report_first_failure(written)
    }

    /// Returns the first of these processes that is a marked or remembered agent.
    pub fn find_among(&self, processes: &[Process]) -> Option<Agent> {
        let own = own_pid_namespace();
        processes
            .iter()
            .find_map(|process| {
                let text = read_file::regular_file(&self.path(process.pid, process.start)).ok()??;
                let unreadable = || Agent::of(process, "", None, None);
                let agent: Agent = serde_json::from_str(&text).unwrap_or_else(|_| unreadable());
                agent.counts_in(own).then_some(agent)
            })
            .or_else(|| {
                // The agent may have removed its own mark, so the agents in memory are searched too.
                let known = self.lock_known();
                let found = processes.iter().find(|process| {
                    known.get(&process.pid).is_some_and(|known| known.start == process.start)
                })?;
                Some(Agent::of(found, "", own, None))
            })
    }

    /// Returns a mark from another pid namespace, if a process in namespace `caller` may descend from the marked
    /// process. Pids of different namespaces cannot be compared, so the descent is only possible, not certain.
    pub(crate) fn find_in_other_namespace(&self, caller: Option<u64>) -> Option<Agent> {
        let own = own_pid_namespace();
        // Processes never move to an outer namespace, and no namespace is outside the initial one.
        if own.is_some_and(is_initial) && own == caller {
            return None;
        }
        let boot = boot_id();
        self.marks()
            .into_iter()
            .find(|agent| !agent.counts_in(own) && (agent.boot.is_none() || agent.boot == boot))
    }

    /// All marked agents that still run.
    pub fn list(&self) -> Vec<Agent> {
        self.remove_ended();
        self.marks()
    }

    /// Removes the marks of a process. Returns whether there were any.
    pub fn forget(&self, pid: i32) -> Result<bool, Failure> {
        let mut found = self.lock_known().remove(&pid).is_some();
        for agent in self.marks().into_iter().filter(|agent| agent.pid == pid) {
            fs_err::remove_file(self.path(agent.pid, agent.start))?;
            found = true;
        }
        if pid == 0 {
            self.outside.store(false, Ordering::Release);
        }
        Ok(found)
    }

    /// Returns the nearest process above a hook program, if it is already marked or is plausibly the harness.
    fn find_harness_above(&self, hook: &Process, harness: &str) -> Option<Process> {
        let nearest = nearest_above(hook)?;
        // Without a daemon, this code runs for every call. An existing mark avoids the slower plausibility check.
        let marked = self.path(nearest.pid, nearest.start).exists();
        (marked || is_plausible_harness(&nearest, harness)).then_some(nearest)
    }

    fn write_mark(&self, agent: &Process, harness: &str) -> Result<(), Failure> {
        let path = self.path(agent.pid, agent.start);
        if path.exists() {
            return Ok(());
        }
        self.remove_ended();
        self.write(&Agent::of(agent, harness, own_pid_namespace(), boot_id()))
    }

    fn write(&self, agent: &Agent) -> Result<(), Failure> {
        make_private_dir(&self.dir)?;
        let text = serde_json::to_vec(agent).map_err(std::io::Error::from)?;
        write_atomic(&self.path(agent.pid, agent.start), &text, 0o600)
    }

    fn marks(&self) -> Vec<Agent> {
        let entries = fs_err::read_dir(&self.dir).into_iter().flatten().flatten();
        let read = |path: PathBuf| read_file::regular_file(&path).ok().flatten();
        entries.filter_map(|entry| serde_json::from_str(&read(entry.path())?).ok()).collect()
    }

    fn remove_ended(&self) {
        let (own, boot) = (own_pid_namespace(), boot_id());
        for agent in self.marks() {
            let ended = if agent.counts_in(own) {
                Process::read(agent.pid).is_none_or(|there| there.start != agent.start)
            } else {
                agent.boot != boot
            };
            if ended {
                // A mark that cannot be removed is harmless: no other process has this pid and start time.
                drop(fs_err::remove_file(self.path(agent.pid, agent.start)));
            }
        }
    }

    fn path(&self, pid: i32, start: u64) -> PathBuf {
        self.dir.join(format!("{pid}-{start}"))
    }

    fn lock_known(&self) -> std::sync::MutexGuard<'_, HashMap<i32, KnownAgent>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a process is one of Tenterhook's programs that an agent starts as a hook. Tenterhook's own agent calls hooks
/// itself, so its process is not a hook program although it has the same name.
pub(crate) fn is_own_program(name: &str, harness: &str) -> bool {
    HOOK_PROGRAMS.contains(&name) && harness != OWN_AGENT
}

impl Agent {
    fn of(process: &Process, harness: &str, namespace: Option<u64>, boot: Option<String>) -> Self {
        let Process { pid, start, name, .. } = process.clone();
        Self { pid, start, name, harness: harness.to_owned(), namespace, boot }
    }

    /// Whether the agent's pid is valid in this namespace.
    fn counts_in(&self, namespace: Option<u64>) -> bool {
        self.namespace.is_none() || self.namespace == namespace
    }
}

/// Boot id of the machine.
pub(crate) fn boot_id() -> Option<String> {
    let id = fs_err::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::ancestry::ancestors;

    fn own() -> i32 {
        i32::try_from(std::process::id()).unwrap()
    }

    #[test]
    fn whoever_calls_is_known_with_all_it_starts_and_nobody_else() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        let agents = Agents::of(&home);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let line = ancestors(i32::try_from(child.id()).unwrap());
        assert_eq!(agents.find_among(&line), None);
        agents.remember(own(), "codex").unwrap();
        let found = agents.find_among(&line).unwrap();
        assert_eq!((found.pid, found.harness.as_str()), (own(), "codex"));
        assert_eq!(Agents::of(&home).find_among(&line), Some(found), "another process knows it too");
        assert_eq!(agents.find_among(&line[2..]), None, "the process that started the agent is not one");

        // The agent is found in memory, without its mark.
        std::fs::remove_dir_all(home.run().join("agents")).unwrap();
        assert_eq!(agents.find_among(&line).unwrap().pid, own());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_number_that_is_used_again_is_somebody_else() {
        let dir = tempfile::tempdir().unwrap();
        let agents = Agents::of(&Home::in_dir(dir.path().to_owned()));
        agents.remember(own(), "codex").unwrap();
        let mut line = ancestors(own());
        line[0].start += 1;
        assert_eq!(agents.find_among(&line[..1]), None);
    }

    #[test]
    fn a_mark_of_another_pid_namespace_is_doubt_and_not_an_agent_of_ours() {
        let dir = tempfile::tempdir().unwrap();
        let agents = Agents::of(&Home::in_dir(dir.path().to_owned()));
        let line = ancestors(own());
        let foreign = Agent::of(&line[0], "codex", Some(1), boot_id());
        agents.write(&foreign).unwrap();
        assert_eq!(agents.find_among(&line), None, "its number is another process here");
        assert_eq!(
            agents.find_in_other_namespace(Some(1)),
            Some(foreign.clone()),
            "the caller may come from it"
        );
        agents.remove_ended();
        assert_eq!(agents.marks(), [foreign], "whether it has ended is not known here");
        agents.write(&Agent::of(&line[0], "codex", Some(1), Some("another boot".to_owned()))).unwrap();
        assert_eq!(agents.find_in_other_namespace(Some(1)), None, "that machine was restarted");
        assert_eq!(agents.list(), []);
        agents.remember_invisible("codex").unwrap();
        assert_eq!(agents.find_in_other_namespace(Some(1)).unwrap().pid, 0);
        assert!(agents.forget(0).unwrap());
        assert_eq!(agents.find_in_other_namespace(Some(1)), None);
    }

    #[test]
    fn a_mark_can_be_cleared() {
        let dir = tempfile::tempdir().unwrap();
        let agents = Agents::of(&Home::in_dir(dir.path().to_owned()));
        agents.remember(own(), "codex").unwrap();
        assert_eq!(agents.list().len(), 1);
        assert!(agents.forget(own()).unwrap());
        assert_eq!((agents.find_among(&ancestors(own())), agents.list()), (None, Vec::new()));
        assert!(!agents.forget(own()).unwrap());
    }

    #[test]
    fn a_mark_that_cannot_be_written_is_reported_once_and_tried_again() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        let agents = Agents::of(&home);
        // A regular file at the path of the marks directory makes every write fail.
        let in_the_way = home.run().join("agents");
        std::fs::create_dir_all(home.run()).unwrap();
        std::fs::write(&in_the_way, "").unwrap();
        assert!(agents.remember(own(), "codex").is_err());
        assert!(agents.remember(own(), "codex").is_ok(), "reported already");
        assert_eq!(
            agents.find_among(&ancestors(own())).unwrap().pid,
            own(),
            "this process knows it all the same"
        );
        assert!(agents.remember_invisible("codex").is_ok(), "still the same failure");
        std::fs::remove_file(&in_the_way).unwrap();
        agents.remember(own(), "codex").unwrap();
        agents.remember_invisible("codex").unwrap();
        assert_eq!(Agents::of(&home).list().len(), 2, "other processes know both now");
    }
}
