// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Who asks.

use std::fmt;

use serde_json::{Value, json};

use super::{Agent, Agents, Process};

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
    /// Whether the process has a terminal; `None`: nobody can say.
    pub terminal: Option<bool>,
    /// The guarded agent that the process is, or comes from.
    pub agent: Option<Agent>,
    /// How they came.
    pub way: Way,
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
    /// A process.
    pub fn process(uid: u32, pid: Option<i32>, way: Way, agents: &Agents) -> Self {
        let line = pid.map(Process::line).unwrap_or_default();
        Self {
            uid,
            pid,
            program: pid.and_then(Process::program),
            under: line.iter().skip(1).take(NAMED).map(|process| process.name.clone()).collect(),
            terminal: line.first().map(|process| process.terminal),
            agent: agents.among(&line),
            way,
        }
    }

    /// The process we are.
    pub fn own(agents: &Agents) -> Self {
        let pid = i32::try_from(std::process::id()).ok();
        Self::process(rustix::process::getuid().as_raw(), pid, Way::Command, agents)
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
        Self { uid, pid, program, under, terminal, agent, way }
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
        value
    }
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
