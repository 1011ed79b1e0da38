// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Who asks.

use std::fmt;

use serde_json::{Value, json};

use super::ancestry::{Ancestry, own_pid_namespace, pid_namespace};
use super::{Agent, Agents, Process, Refused};

/// How many processes above a caller the record names.
const NAMED: usize = 8;

/// Somebody who asks for something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The account, as the kernel says.
    pub uid: u32,
    /// The process, where the kernel knows it.
    pub pid: Option<i32>,
    /// The program that runs in it.
    pub program: Option<String>,
    /// The names of the processes it comes from.
    pub under: Vec<String>,
    /// Whether the process has a terminal, by the kernel's word; `None`: unknown.
    pub terminal: Option<bool>,
    /// The guarded agent that the process is, or comes from.
    pub agent: Option<Agent>,
    /// Whether its ancestry was established.
    pub identity: Identity,
    /// How they came.
    pub way: Way,
}

/// How well the process of a caller is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The process runs, and all its ancestors are known.
    Verified,
    /// Its ancestry is unknown, cut or inconsistent; why.
    Unknown(String),
    /// This platform does not tell ancestries.
    Unsupported,
    /// The caller came over TCP: no process is known, and only a code counts.
    Remote,
}

/// How somebody came to the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Through the daemon's socket.
    Socket,
    /// Over TCP, with the token; who they are is not known.
    Tcp,
    /// With a browser that a one-time link let in; whoever can ask for one can have it.
    Browser,
    /// Without a daemon, as a command.
    Command,
}

impl Caller {
    /// The process at the other end of the socket: its number, and its start if that was verified when the
    /// connection was accepted.
    pub fn connected(uid: u32, pid: Option<i32>, start: Option<u64>, agents: &Agents) -> Self {
        let ancestry = match pid.zip(start) {
            _ if cfg!(not(target_os = "linux")) => Ancestry::Unsupported,
            Some((pid, start)) => Ancestry::of(pid, start),
            None => Ancestry::Unknown("the process that opened the connection has ended or is not visible"),
        };
        Self::of(uid, pid, &ancestry, Way::Socket, agents)
    }

    /// The process we are.
    pub fn own(agents: &Agents) -> Self {
        let pid = i32::try_from(std::process::id()).ok();
        Self::of(rustix::process::getuid().as_raw(), pid, &Ancestry::own(), Way::Command, agents)
    }

    fn of(uid: u32, pid: Option<i32>, ancestry: &Ancestry, way: Way, agents: &Agents) -> Self {
        let processes = ancestry.processes();
        let agent = agents.among(processes);
        let identity = match ancestry {
            Ancestry::Complete(_) if agent.is_some() => Identity::Verified,
            Ancestry::Complete(_) => match incomparable(processes, way, agents) {
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
            // The number may be another process's by now.
            program: processes.first().and_then(|process| Process::program(process.pid)),
            under: processes.iter().skip(1).take(NAMED).map(|process| process.name.clone()).collect(),
            terminal: processes.first().map(|process| process.terminal),
            agent,
            identity,
            way,
        }
    }

    /// Why the caller cannot be told from a guarded agent, if it cannot.
    pub fn doubt(&self) -> Option<&str> {
        match &self.identity {
            Identity::Unknown(why) => Some(why),
            Identity::Verified | Identity::Unsupported | Identity::Remote => None,
        }
    }

    /// Why the caller may not do what guarded agents may not, if it is one or cannot be told from one.
    pub fn refusal(&self, what: &str) -> Option<Refused> {
        if let Some(agent) = &self.agent {
            let Agent { pid, name, .. } = agent;
            let why = format!("`{what}` was asked for by an agent that is guarded here ({agent})");
            let hint = format!(
                "use a terminal that process {pid} did not start, or give a code (`--code`) where codes are set \
                 up; if `{name}` is not an agent, clear its mark with `tenterhook agent forget {pid}` there"
            );
            return Some(Refused { why, hint });
        }
        let doubt = self.doubt()?;
        let why = format!("`{what}` was asked for by a process that cannot be identified: {doubt}");
        let hint = "run the command itself, in a terminal of this machine, or give a code (`--code`) where codes are set up";
        Some(Refused { why, hint: hint.to_owned() })
    }

    /// Somebody with the token of an account.
    pub fn with_token(uid: u32) -> Self {
        Self::unknown(uid, Way::Tcp)
    }

    /// Somebody in a browser that an account let in.
    pub fn in_browser(uid: u32) -> Self {
        Self::unknown(uid, Way::Browser)
    }

    fn unknown(uid: u32, way: Way) -> Self {
        let (pid, program, under, terminal, agent) = (None, None, Vec::new(), None, None);
        Self { uid, pid, program, under, terminal, agent, identity: Identity::Remote, way }
    }

    /// For the record.
    pub fn to_json(&self) -> Value {
        let mut value = json!({"uid": self.uid, "via": self.way.word()});
        let Some(fields) = value.as_object_mut() else { return value };
        fields.extend(self.pid.map(|pid| ("pid".to_owned(), pid.into())));
        fields.extend(self.program.clone().map(|program| ("program".to_owned(), program.into())));
        if !self.under.is_empty() {
            fields.insert("under".to_owned(), self.under.clone().into());
        }
        if let Some(agent) = &self.agent {
            fields.insert("agent".to_owned(), json!(agent));
        }
        match &self.identity {
            Identity::Unknown(why) => drop(fields.insert("unverified".to_owned(), json!(why))),
            Identity::Unsupported => {
                fields.insert("unverified".to_owned(), json!("this platform does not tell ancestries"));
            }
            Identity::Verified | Identity::Remote => {}
        }
        value
    }
}

/// A mark of another pid namespace that the caller may come from.
fn incomparable(processes: &[Process], way: Way, agents: &Agents) -> Option<Agent> {
    let namespace = match way {
        Way::Command => own_pid_namespace(),
        Way::Socket | Way::Tcp | Way::Browser => {
            processes.first().and_then(|process| pid_namespace(process.pid))
        }
    };
    agents.incomparable(namespace)
}

impl Way {
    fn word(self) -> &'static str {
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
