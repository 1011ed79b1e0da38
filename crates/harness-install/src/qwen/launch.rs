// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How Qwen Code is run without a user. It calls an OpenAI Chat model.

use serde_json::json;

use crate::launch::{ClientInvocation, ClientLaunch, ToolRequest};

pub(super) const LAUNCH: ClientLaunch = ClientLaunch {
    hook_keys: &[&["hooks"], &["hooksConfig"], &["disableAllHooks"]],
    settings: &[
        (&["security", "auth", "selectedType"], "\"openai\""),
        (&["privacy", "usageStatisticsEnabled"], "false"),
        (&["general", "disableAutoUpdate"], "true"),
    ],
    ..ClientLaunch::new(
        |site, prompt| {
            ClientInvocation::new(["--approval-mode", "yolo", "-o", "text", "-p", prompt])
                .env("OPENAI_API_KEY", "dummy")
                .env("OPENAI_BASE_URL", format!("{}/v1", site.model))
                .env("OPENAI_MODEL", "scripted")
        },
        |command| ToolRequest {
            name: "run_shell_command",
            input: json!({"command": command, "description": "as scripted", "is_background": false}),
        },
    )
};
