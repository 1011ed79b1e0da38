// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code, headless, with every permission granted: whatever is then stopped, we stopped.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde_json::Value;
use tenterhook_model_server::{ModelServer, Script, ToolResult};

use crate::process;
use crate::programs::Program;
use crate::world::World;

/// The name under which Tenterhook knows it.
pub const NAME: &str = "claude-code";

/// How the client's debug log reports that it dropped something from a settings file. It does so
/// nowhere else: exit code, standard error and stream are those of a good run.
const SETTINGS_COMPLAINT: &str = "Invalid setting";

/// One run of the client, from its prompt to its exit.
#[derive(Debug)]
pub struct Session {
    /// What the client reported on its standard output, one JSON object per line.
    pub stream: Vec<Value>,
    /// The requests of the agent's loop.
    pub agent_requests: Vec<Value>,
    /// What the model was told about its tool calls.
    pub tool_results: Vec<ToolResult>,
    debug_log: String,
}

impl Session {
    /// Lines of the debug log in which the client refuses part of a settings file.
    pub fn settings_complaints(&self) -> Vec<&str> {
        self.debug_log.lines().filter(|line| line.contains(SETTINGS_COMPLAINT)).collect()
    }
}

impl World {
    /// The user's settings file of Claude Code.
    pub fn claude_settings(&self) -> PathBuf {
        self.claude_config().join("settings.json")
    }

    /// Gives Claude Code one prompt and waits until it has ended; the model behind it follows
    /// `script`.
    pub fn claude(&self, prompt: &str, script: Script) -> Result<Session> {
        let server = ModelServer::start(script)?;
        let logs = self.next_logs();
        let debug_log = logs.join("debug");
        let mut command = self.command(Program::ClaudeCode.path()?)?;
        command
            .env("ANTHROPIC_BASE_URL", server.url())
            .env("ANTHROPIC_API_KEY", "dummy")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            // Without it the client refuses to skip permissions for root, which CI often is.
            .env("IS_SANDBOX", "1")
            .args(["-p", prompt, "--permission-mode", "bypassPermissions"])
            .args(["--output-format", "stream-json", "--verbose", "--include-hook-events"])
            .arg("--debug-file")
            .arg(&debug_log);
        let finished = process::run(&mut command, &logs)?;
        let lines = finished.stdout.lines();
        let stream = lines.map(|line| serde_json::from_str(line).with_context(|| line.to_owned()));
        Ok(Session {
            stream: stream.collect::<Result<_>>()?,
            agent_requests: server.agent_requests(),
            tool_results: server.tool_results(),
            debug_log: fs::read_to_string(debug_log)?,
        })
    }
}
