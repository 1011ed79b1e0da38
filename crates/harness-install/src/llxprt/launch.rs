// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How LLxprt Code is run without a user. It calls an OpenAI Chat model.

use serde_json::json;

use crate::launch::{ClientInvocation, ClientLaunch, ToolRequest};

pub(super) const LAUNCH: ClientLaunch = ClientLaunch {
    hook_keys: &[&["hooks"], &["hooksConfig"], &["tools", "enableHooks"]],
    settings: &[(&["telemetry", "enabled"], "false"), (&["privacy", "usageStatisticsEnabled"], "false")],
    // LLxprt Code fails at random when several events of a stream arrive at once.
    event_pause_ms: Some(30),
    ..ClientLaunch::new(
        |site, prompt| {
            let model = format!("{}/v1", site.model);
            let provider = ["--provider", "openai", "--baseurl", &model, "--key", "dummy", "-m", "scripted"];
            // In a run without a user, LLxprt Code offers no shell tool unless `--yolo` is given.
            ClientInvocation::new(provider.into_iter().chain(["--yolo", "-p", prompt]))
        },
        |command| ToolRequest {
            name: "run_shell_command",
            input: json!({"command": command, "description": "as scripted"}),
        },
    )
};
