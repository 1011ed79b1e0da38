// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The agents that are guarded now: who calls hooks is one, and so is everything it starts.
//!
//! Each is a file in `<state>/run/agents/`, named by process and start, so that a daemon that was
//! started later knows them, and a command without a daemon too.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::process::Process;
use crate::home::{Home, make_private, write_whole};
use crate::intake;

/// How long an agent is believed to be the same process without a look.
const BELIEVED: Duration = Duration::from_secs(1);
/// How many are remembered; beyond that those that have ended are looked for.
const MOST: usize = 1024;
/// What our own agent calls itself.
pub const OWN_AGENT: &str = "tenterhook-agent";
/// Our own programs, which an agent calls.
const OURS: &[&str] = &["tenterhook", "tenterhook-hook"];

/// The agents of a home.
#[derive(Debug)]
pub struct Agents {
    dir: PathBuf,
    /// By the number of the process; with whether it is an agent, and when it was looked at.
    known: Mutex<HashMap<i32, (u64, Instant)>>,
}

/// An agent that called a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Its process.
    pub pid: i32,
    /// When that began.
    pub start: u64,
    /// The name of the process.
    pub name: String,
    /// The harness it said it is.
    pub harness: String,
}

impl Agents {
    /// The agents of a home.
    pub fn of(home: &Home) -> Self {
        Self { dir: home.run().join("agents"), known: Mutex::default() }
    }

    /// Whether a process is an agent that was looked at a moment ago.
    pub fn knows(&self, pid: u32) -> bool {
        let pid = i32::try_from(pid).unwrap_or_default();
        self.known().get(&pid).is_some_and(|(_, looked)| looked.elapsed() < BELIEVED)
    }

    /// Remembers who made this process call a hook. Nothing can be done if that fails: the call is
    /// judged all the same.
    pub fn remember(&self, caller: i32, harness: &str) {
        let Some(process) = Process::read(caller) else { return };
        // Our own agent is one itself, whatever started it.
        let ours = OURS.contains(&process.name.as_str()) && harness != OWN_AGENT;
        // Usually the parent, and usually known.
        let near = if ours { process.parent } else { caller };
        if self.known().get(&near).is_some_and(|(_, looked)| looked.elapsed() < BELIEVED) {
            return;
        }
        let found = if ours { agent_above(&process) } else { Some(process) };
        let Some(agent) = found else { return };
        let mut known = self.known();
        if known.len() >= MOST {
            known.retain(|pid, (start, _)| Process::read(*pid).is_some_and(|there| there.start == *start));
        }
        let looked = (agent.start, Instant::now());
        let is_new = known.insert(agent.pid, looked).is_none_or(|(start, _)| start != agent.start);
        drop(known);
        if is_new {
            self.keep(&agent, harness);
        }
    }

    /// The agent that one of these processes is.
    pub fn among(&self, line: &[Process]) -> Option<Agent> {
        line.iter()
            .find_map(|process| {
                let text = intake::regular_file(&self.path(process)).ok()??;
                let agent = serde_json::from_str(&text).unwrap_or_else(|_| Agent {
                    pid: process.pid,
                    start: process.start,
                    name: process.name.clone(),
                    harness: String::new(),
                });
                Some(agent)
            })
            .or_else(|| {
                // The file may have been removed by whoever it is about.
                let known = self.known();
                let found = line.iter().find(|process| {
                    known.get(&process.pid).is_some_and(|(start, _)| *start == process.start)
                })?;
                Some(Agent {
                    pid: found.pid,
                    start: found.start,
                    name: found.name.clone(),
                    harness: String::new(),
                })
            })
    }

    fn keep(&self, agent: &Process, harness: &str) {
        let kept = Agent {
            pid: agent.pid,
            start: agent.start,
            name: agent.name.clone(),
            harness: harness.to_owned(),
        };
        let path = self.path(agent);
        if path.exists() || make_private(&self.dir).is_err() {
            return;
        }
        self.forget_the_ended();
        if let Ok(text) = serde_json::to_vec(&kept) {
            drop(write_whole(&path, &text, 0o600));
        }
    }

    fn forget_the_ended(&self) {
        for entry in fs_err::read_dir(&self.dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some((pid, start)) = name.split_once('-') else { continue };
            let there = pid.parse().ok().and_then(Process::read);
            if there.is_none_or(|there| there.start.to_string() != start) {
                drop(fs_err::remove_file(entry.path()));
            }
        }
    }

    fn path(&self, process: &Process) -> PathBuf {
        self.dir.join(format!("{}-{}", process.pid, process.start))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<i32, (u64, Instant)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a process is one of our programs that an agent calls; our own agent calls for itself.
pub(super) fn is_own_program(name: &str, harness: &str) -> bool {
    OURS.contains(&name) && harness != OWN_AGENT
}

/// The nearest process above that is not just passing on. A shell that a person types into means that
/// a person tries a hook by hand; the first process of all is nobody's agent.
fn agent_above(process: &Process) -> Option<Process> {
    let line = Process::line(process.parent);
    line.into_iter().find(|process| !process.passes_on()).filter(|found| found.pid > 1 && !found.is_shell())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn own() -> i32 {
        i32::try_from(std::process::id()).unwrap()
    }

    #[test]
    fn whoever_calls_is_known_with_all_it_starts_and_nobody_else() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::whole(dir.path().to_owned());
        let agents = Agents::of(&home);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let line = Process::line(i32::try_from(child.id()).unwrap());
        assert_eq!(agents.among(&line), None);
        agents.remember(own(), "codex");
        let found = agents.among(&line).unwrap();
        assert_eq!((found.pid, found.harness.as_str()), (own(), "codex"));
        assert_eq!(Agents::of(&home).among(&line), Some(found), "another process knows it too");
        assert_eq!(agents.among(&line[2..]), None, "whoever started the agent is none");

        // Removing the file does not help against whoever saw it.
        std::fs::remove_dir_all(home.run().join("agents")).unwrap();
        assert_eq!(agents.among(&line).unwrap().pid, own());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_number_that_is_used_again_is_somebody_else() {
        let dir = tempfile::tempdir().unwrap();
        let agents = Agents::of(&Home::whole(dir.path().to_owned()));
        agents.remember(own(), "codex");
        let mut line = Process::line(own());
        line[0].start += 1;
        assert_eq!(agents.among(&line[..1]), None);
    }
}
