// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a test has to know about a client: how it is set up and started, and what its tools are called.

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use fs_err as fs;
use serde_json::Value;
use tenterhook_model_server::{ModelServer, Script, ToolCall, ToolResult, anywhere};

use crate::world::World;
use crate::{launched, process};

/// Makes the command that starts a client in the world's project with a prompt.
pub type Start = fn(&World, model: &str, prompt: &str) -> Result<Command>;

/// One client. Its module in `clients/` has the row; [`crate::clients::ALL`] has them all.
#[derive(Debug)]
pub struct Client {
    /// The name under which Tenterhook and `clients.txt` know it.
    pub id: &'static str,
    /// What `tenterhook install` has to be told beside the name.
    pub install: &'static [&'static str],
    /// Writes the settings that a person has before we come: the model, and the MCP servers of the world.
    pub prepare: fn(&World) -> Result<()>,
    /// The client in the world's project, about to be given a prompt, with every permission granted:
    /// whatever is then stopped, we stopped.
    pub start: Start,
    /// The events that a session with one shell call fires, in its own words.
    pub life: &'static [&'static str],
    /// A call of its shell.
    pub shell: fn(command: &str) -> ToolCall,
    /// The arguments of that call, as its hooks see them.
    pub shell_input: fn(command: &str) -> Value,
    /// A call of its shell that names the working directory in its arguments, if it takes one.
    pub shell_in: Option<fn(directory: &Path, command: &str) -> ToolCall>,
    /// Its patch tool, if it has one.
    pub patch: Option<PatchTool>,
    /// A call of a tool of an MCP server.
    pub mcp: fn(server: &str, tool: &str, arguments: Value) -> ToolCall,
    /// A call that starts a subagent with this prompt, if there is one.
    pub subagent: Option<fn(prompt: &str) -> ToolCall>,
}

/// The patch tool of a client.
#[derive(Debug)]
pub struct PatchTool {
    /// What is said on the command line for the tool to be offered; several offer it to some models only.
    pub args: &'static [&'static str],
    /// A call that makes this file with this one line in it.
    pub call: fn(file: &Path, line: &str) -> ToolCall,
}

/// The patch that makes a file with one line in it, in the form that Codex has made known.
pub(crate) fn added_file(file: &Path, line: &str) -> String {
    format!("*** Begin Patch\n*** Add File: {}\n+{line}\n*** End Patch\n", file.display())
}

/// One run of a client, from its prompt to its exit. Printed, it leaves the requests out, which are long: they
/// are kept beside the client's output.
pub struct Session {
    /// Whether the client was content with itself.
    pub success: bool,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// The requests of the agent's loop.
    pub agent_requests: Vec<Value>,
    /// What the model was told about its tool calls.
    pub tool_results: Vec<ToolResult>,
}

impl Client {
    /// Gives the client one prompt and waits until it has ended; the model behind it follows `script`.
    pub fn run(&self, world: &World, prompt: &str, script: Script) -> Result<Session> {
        self.run_with(world, prompt, script, &[])
    }

    /// The same, with more said on its command line.
    pub fn run_with(&self, world: &World, prompt: &str, script: Script, args: &[&str]) -> Result<Session> {
        self.run_started(self.start, world, prompt, script, args)
    }

    /// The same, started in another way.
    pub fn run_as(&self, start: Start, world: &World, prompt: &str, script: Script) -> Result<Session> {
        self.run_started(start, world, prompt, script, &[])
    }

    fn run_started(
        &self,
        start: Start,
        world: &World,
        prompt: &str,
        script: Script,
        args: &[&str],
    ) -> Result<Session> {
        let server = ModelServer::start_with(script, launched::delivery(self.id)?)?;
        let mut command = start(world, &server.url(), prompt)?;
        command.args(args);
        self.finish(&server, command, world)
    }

    /// Runs the command to its end and collects what the model behind it was asked.
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
    /// Whether the model was sent this text, in whatever place.
    pub fn model_read(&self, text: &str) -> bool {
        self.agent_requests.iter().any(|request| anywhere(request, text))
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
