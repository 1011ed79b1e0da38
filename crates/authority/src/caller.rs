// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Identifies the caller of a privileged action.

use std::fmt;

use serde_json::{Value, json};

use super::ancestry::{Ancestry, own_pid_namespace, pid_namespace};
use super::sandboxed_runs::agent_of_run;
use super::{Agent, Agents, AuthorityRefusal, Process};
use tenterhook_api::SandboxedRun;

/// Maximum number of ancestors that a record names.
const MAX_NAMED_ANCESTORS: usize = 8;

/// The caller of a privileged action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The account of the caller, according to the kernel.
    pub uid: u32,
    /// Pid of the caller, if the kernel reports it.
    pub pid: Option<i32>,
    /// Path of the caller's program.
    pub program: Option<String>,
    /// Names of the caller's ancestors.
    pub ancestors: Vec<String>,
    /// Whether the process has a terminal, according to the kernel; `None` if unknown.
    pub terminal: Option<bool>,
    /// The guarded agent that the process is or descends from.
    pub agent: Option<Agent>,
    /// The sandboxed run that the process belongs to; it is then also the agent.
    pub run: Option<SandboxedRun>,
    /// How reliably the process is identified.
    pub identity: Identity,
    /// How the caller reached the gate for privileged actions.
    pub channel: CallerChannel,
}

/// How reliably the process of a caller is identified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The process runs, and all its ancestors are known.
    Verified,
    /// The ancestry of the process is unknown, incomplete or inconsistent. Contains the reason.
    Unknown(String),
    /// This platform does not report ancestries.
    Unsupported,
    /// The caller connected over TCP or with a browser, so its process is unknown.
    Remote,
}

/// How a caller reached the gate for privileged actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallerChannel {
    /// Through the daemon's socket.
    Socket,
    /// Over TCP, with the token; the caller is unknown.
    Tcp,
    /// With a browser, through a one-time link. Every process that can request a link can also open it.
    Browser,
    /// As a command that runs without a daemon.
    Command,
}

impl Caller {
    /// Identifies the process at the other end of the daemon's socket. `start` is the start time of the process, if
    /// it was verified when the connection was accepted.
    pub fn from_socket(uid: u32, pid: Option<i32>, start: Option<u64>, agents: &Agents) -> Self {
        let ancestry = match pid.zip(start) {
            _ if cfg!(not(target_os = "linux")) => Ancestry::Unsupported,
            Some((pid, start)) => Ancestry::of(pid, start),
            None => Ancestry::Unknown("the process that opened the connection has ended or is not visible"),
        };
        Self::of(uid, pid, &ancestry, CallerChannel::Socket, agents)
    }

    /// Identifies this process, for a command that runs without a daemon.
    pub fn current(agents: &Agents) -> Self {
        let pid = i32::try_from(std::process::id()).ok();
        Self::of(
            rustix::process::getuid().as_raw(),
            pid,
            &Ancestry::current(),
            CallerChannel::Command,
            agents,
        )
    }

    fn of(uid: u32, pid: Option<i32>, ancestry: &Ancestry, channel: CallerChannel, agents: &Agents) -> Self {
        let processes = ancestry.processes();
        let run = agents.runs.find(processes);
        let agent = agents.find_among(processes).or_else(|| run.as_ref().map(agent_of_run));
        let identity = match ancestry {
            Ancestry::Complete(_) if agent.is_some() => Identity::Verified,
            Ancestry::Complete(_) => match find_in_other_namespace(processes, channel, agents) {
                Some(other) => Identity::Unknown(format!(
                    "the marked agent ({other}) is in another pid namespace, where its number cannot be compared"
                )),
                None => Identity::Verified,
            },
            Ancestry::Unknown(why) => Identity::Unknown((*why).to_owned()),
            Ancestry::Unsupported => Identity::Unsupported,
        };
        Self {
            uid,
            pid,
            // Read only for a verified process. If the process has ended, a different process may have its pid.
            program: processes.first().and_then(|process| Process::program(process.pid)),
            ancestors: processes
                .iter()
                .skip(1)
                .take(MAX_NAMED_ANCESTORS)
                .map(|process| process.name.clone())
                .collect(),
            terminal: processes.first().map(|process| process.terminal),
            agent,
            run,
            identity,
            channel,
        }
    }

    /// The reason why it is unknown whether the caller is a guarded agent; `None` if it is known.
    pub fn unverified_reason(&self) -> Option<&str> {
        match &self.identity {
            Identity::Unknown(why) => Some(why),
            Identity::Verified | Identity::Unsupported | Identity::Remote => None,
        }
    }

    /// Returns a refusal of `what` if the caller is, or may be, a guarded agent.
    pub fn refusal(&self, what: &str) -> Option<AuthorityRefusal> {
        if let Some(SandboxedRun { command, level, .. }) = &self.run {
            let why = format!("`{what}` was requested from inside a sandboxed run (`{command}`, {level})");
            let hint = "use a terminal outside the sandbox, or give a code (`--code`) where codes are set up";
            return Some(AuthorityRefusal { why, hint: hint.to_owned() });
        }
        if let Some(agent) = &self.agent {
            let Agent { pid, name, .. } = agent;
            let why = format!("`{what}` was requested by a guarded agent ({agent})");
            let hint = format!(
                "use a terminal that process {pid} did not start, or give a code (`--code`) where codes are set \
                 up; if `{name}` is not an agent, clear its mark with `tenterhook agent forget {pid}` there"
            );
            return Some(AuthorityRefusal { why, hint });
        }
        let doubt = self.unverified_reason()?;
        let why = format!("`{what}` was requested by a process that cannot be identified: {doubt}");
        let hint = "run the command itself, in a terminal of this machine, or give a code (`--code`) where codes are set up";
        Some(AuthorityRefusal { why, hint: hint.to_owned() })
    }

    /// A caller over TCP that presented the token of an account.
    pub fn with_token(uid: u32) -> Self {
        Self::unknown(uid, CallerChannel::Tcp)
    }

    /// A caller in a browser, whose one-time link an account requested.
    pub fn in_browser(uid: u32) -> Self {
        Self::unknown(uid, CallerChannel::Browser)
    }

    fn unknown(uid: u32, channel: CallerChannel) -> Self {
        let (pid, program, ancestors, terminal, agent, run) = (None, None, Vec::new(), None, None, None);
        Self { uid, pid, program, ancestors, terminal, agent, run, identity: Identity::Remote, channel }
    }

    /// The caller as JSON, for records.
    pub fn to_json(&self) -> Value {
        let mut value = json!({"uid": self.uid, "via": self.channel.name()});
        let Some(fields) = value.as_object_mut() else { return value };
        fields.extend(self.pid.map(|pid| ("pid".to_owned(), pid.into())));
        fields.extend(self.program.clone().map(|program| ("program".to_owned(), program.into())));
        if !self.ancestors.is_empty() {
            fields.insert("under".to_owned(), self.ancestors.clone().into());
        }
        if let Some(agent) = &self.agent {
            fields.insert("agent".to_owned(), json!(agent));
        }
        if let Some(SandboxedRun { id, level, .. }) = &self.run {
            fields.insert("run".to_owned(), json!({"id": id, "level": level}));
        }
        match &self.identity {
            Identity::Unknown(why) => drop(fields.insert("unverified".to_owned(), json!(why))),
            Identity::Unsupported => {
                fields.insert("unverified".to_owned(), json!("this platform does not report ancestries"));
            }
            Identity::Verified | Identity::Remote => {}
        }
        value
    }
}

/// Returns the mark of an agent in another pid namespace, if the caller may descend from that agent.
fn find_in_other_namespace(processes: &[Process], channel: CallerChannel, agents: &Agents) -> Option<Agent> {
    let namespace = match channel {
        CallerChannel::Command => own_pid_namespace(),
        CallerChannel::Socket | CallerChannel::Tcp | CallerChannel::Browser => {
            processes.first().and_then(|process| pid_namespace(process.pid))
        }
    };
    agents.find_in_other_namespace(namespace)
}

impl CallerChannel {
    fn name(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Tcp => "tcp",
            Self::Browser => "browser",
            Self::Command => "command",
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, name, harness, .. } = self;
        match harness.as_str() {
            "" => write!(f, "`{name}`, process {pid}"),
            harness => write!(f, "{harness}: `{name}`, process {pid}"),
        }
    }
}
