// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codex CLI. It asks an OpenAI Responses model, and its tools come in groups.

use std::fmt::Write as _;

use serde_json::json;
use tenterhook_model_server::ToolCall;

use crate::client::Client;
use crate::programs;

pub(super) const CLIENT: Client = Client {
    id: "codex",
    install: &["--trust"],
    prepare: |world| {
        // The model's name decides which tools there are.
        let mut config = String::from(
            "# A comment of the person's.\nmodel = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n\
             approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n\n\
             [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
             wire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\nsupports_websockets = false\n\
             request_max_retries = 0\nstream_max_retries = 0\n",
        );
        let (program, args) = world.mcp_server()?;
        write!(config, "\n[mcp_servers.records]\ncommand = {}\nargs = {}\n", json!(program), json!(args))?;
        world.write(".codex/config.toml", &config)
    },
    start: |world, model, prompt| {
        let mut command = world.command(programs::client("codex")?)?;
        command
            .env("CODEX_HOME", world.home().join(".codex"))
            .env("SCRIPTED_KEY", "dummy")
            .args(["exec", "--json", "--skip-git-repo-check"])
            .args(["-c", &format!("model_providers.scripted.base_url=\"{model}/v1\"")])
            .arg("-C")
            .arg(world.project())
            .arg(prompt);
        Ok(command)
    },
    life: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"],
    shell: |command| ToolCall::new("exec_command", json!({"cmd": command})),
    shell_input: |command| json!({"command": command}),
    mcp: |tool, arguments| ToolCall::new(tool, arguments).under("mcp__records"),
    subagent: Some(|prompt| ToolCall::new("spawn_agent", json!({"message": prompt})).under("multi_agent_v1")),
};
