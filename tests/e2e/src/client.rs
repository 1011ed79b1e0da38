// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Describes a client for tests: how it is set up and started, and the names of its tools.

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use fs_err as fs;
use serde_json::Value;
use tenterhook_model_server::{ConversationScript, ModelServer, ScriptedCall, ToolResult, contains_text};

use crate::world::World;
use crate::{launched, process};

/// Creates the command that starts a client with a prompt in the project of a test's [`World`].
pub type Start = fn(&World, model: &str, prompt: &str) -> Result<Command>;

/// One client. Its row is in its module in `clients/`; [`crate::clients::ALL`] lists all.
#[derive(Debug)]
pub struct Client {
    /// Name in Tenterhook and `clients.txt`.
    pub id: &'static str,
    /// Additional arguments of `tenterhook install`.
    pub install: &'static [&'static str],
    /// Writes the settings that a user has before Tenterhook is installed: the model, and the MCP servers of
    /// the [`World`].
    pub prepare: fn(&World) -> Result<()>,
    /// Starts the client with a prompt in the project. Every permission is granted, so that only Tenterhook
    /// stops calls.
    pub start: Start,
    /// Events that a session with one shell call fires, by the client's names.
    pub life: &'static [&'static str],
    /// A call of its shell tool.
    pub shell: fn(command: &str) -> ScriptedCall,
    /// Arguments of that call, as its hooks see them.
    pub shell_input: fn(command: &str) -> Value,
    /// A call of its shell with a working directory in the arguments, if it accepts one.
    pub shell_in: Option<fn(directory: &Path, command: &str) -> ScriptedCall>,
    /// Its patch tool, if it has one.
    pub patch: Option<PatchTool>,
    /// A call of a tool of an MCP server.
    pub mcp: fn(server: &str, tool: &str, arguments: Value) -> ScriptedCall,
    /// A call that starts a subagent with this prompt, if it supports subagents.
    pub subagent: Option<fn(prompt: &str) -> ScriptedCall>,
}

/// The patch tool of a client.
#[derive(Debug)]
pub struct PatchTool {
    /// Arguments on the command line that enable the tool; several clients offer it to some models only.
    pub args: &'static [&'static str],
    /// A call that creates this file with this one line.
    pub call: fn(file: &Path, line: &str) -> ScriptedCall,
}

/// A patch that creates a file with one line, in Codex's patch format.
pub(crate) fn added_file(file: &Path, line: &str) -> String {
    format!("*** Begin Patch\n*** Add File: {}\n+{line}\n*** End Patch\n", file.display())
}

/// One run of a client, from its prompt to its exit. The debug output omits the requests, which are long; they are
/// stored next to the client's output.
pub struct Session {
    /// Whether the client reported success.
    pub success: bool,
    /// Content of standard output.
    pub stdout: String,
    /// Content of standard error.
    pub stderr: String,
    /// Requests of the agent's loop.
    pub agent_requests: Vec<Value>,
    /// Results of tool calls that were sent to the model.
    pub tool_results: Vec<ToolResult>,
}

impl Client {
    /// Sends the client one prompt and waits until it has ended; the model follows `script`.
    pub fn run(&self, world: &World, prompt: &str, script: ConversationScript) -> Result<Session> {
        self.run_with(world, prompt, script, &[])
    }

    /// Like [`Client::run`], with additional arguments.
    pub fn run_with(
        &self,
        world: &World,
        prompt: &str,
        script: ConversationScript,
        args: &[&str],
    ) -> Result<Session> {
        self.run_started(self.start, world, prompt, script, args)
    }

    /// Like [`Client::run`], with another start command.
    pub fn run_as(
        &self,
        start: Start,
        world: &World,
        prompt: &str,
        script: ConversationScript,
    ) -> Result<Session> {
        self.run_started(start, world, prompt, script, &[])
    }

    /// Like [`Client::run`], but `tenterhook run` starts the client.
    pub(crate) fn run_guarded(
        &self,
        world: &World,
        prompt: &str,
        script: ConversationScript,
    ) -> Result<Session> {
        let server = ModelServer::start_with(script, launched::delivery(self.id)?)?;
        let started = (self.start)(world, &server.url(), prompt)?;
        self.finish(&server, world.started_by_run(&started)?, world)
    }

    /// Like [`Client::run`], but `tenterhook run --sandbox` starts the client. Its model is on another loopback address
    /// of the machine, which only the proxy reaches.
    pub fn run_sandboxed(
        &self,
        world: &World,
        prompt: &str,
        script: ConversationScript,
        drop_arguments: &[&str],
    ) -> Result<Session> {
        let address = std::net::Ipv4Addr::new(127, 0, 0, 2);
        let server = ModelServer::start_at(address, script, launched::delivery(self.id)?)?;
        let started = (self.start)(world, &server.url(), prompt)?;
        let mut kept = Command::new(started.get_program());
        let mut arguments = started.get_args().peekable();
        while let Some(argument) = arguments.next() {
            // A `-c` goes with its value.
            let is_dropped = |text: &std::ffi::OsStr| drop_arguments.iter().any(|dropped| text == *dropped);
            if argument == "-c" && arguments.peek().is_some_and(|next| is_dropped(next)) {
                arguments.next();
            } else {
                kept.arg(argument);
            }
        }
        kept.envs(started.get_envs().filter_map(|(name, value)| Some((name, value?))));
        self.finish(&server, world.started_in_sandbox(&kept)?, world)
    }

    fn run_started(
        &self,
        start: Start,
        world: &World,
        prompt: &str,
        script: ConversationScript,
        args: &[&str],
    ) -> Result<Session> {
        let server = ModelServer::start_with(script, launched::delivery(self.id)?)?;
        let mut command = start(world, &server.url(), prompt)?;
        command.args(args);
        self.finish(&server, command, world)
    }

    /// Runs the command to its end and collects the requests to the model.
    pub(crate) fn finish(
        &self,
        server: &ModelServer,
        mut command: Command,
        world: &World,
    ) -> Result<Session> {
        let logs = world.next_logs();
        let ended = process::run_to_any_end(&mut command, &logs);
        fs::write(logs.join("requests.json"), serde_json::to_string_pretty(&server.requests())?)?;
        let (success, ended) = ended?;
        Ok(Session {
            success,
            stdout: ended.stdout,
            stderr: ended.stderr,
            agent_requests: server.agent_requests(),
            tool_results: server.tool_results(),
        })
    }
}

impl Session {
    /// Whether the model was sent this text, in any field.
    pub fn model_read(&self, text: &str) -> bool {
        self.agent_requests.iter().any(|request| contains_text(request, text))
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("success", &self.success)
            .field("stdout", &self.stdout)
            .field("stderr", &self.stderr)
            .field("agent_requests", &self.agent_requests.len())
            .field("tool_results", &self.tool_results)
            .finish()
    }
}
