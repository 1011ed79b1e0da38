// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How Gemini CLI is run without a user.

use serde_json::json;

use crate::launch::{ClientInvocation, ClientLaunch, ToolRequest};

pub(super) const LAUNCH: ClientLaunch = ClientLaunch {
    hook_keys: &[&["hooks"], &["hooksConfig"]],
    settings: &[
        (&["security", "auth", "selectedType"], "\"gemini-api-key\""),
        (&["telemetry", "enabled"], "false"),
        (&["privacy", "usageStatisticsEnabled"], "false"),
        (&["general", "disableAutoUpdate"], "true"),
    ],
    ..ClientLaunch::new(
        |site, prompt| {
            let args = ["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-o", "text", "-p", prompt];
            ClientInvocation::new(args)
                .env("GEMINI_API_KEY", "dummy")
                .env("GOOGLE_GEMINI_BASE_URL", site.model)
                .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
                // Without this variable, Gemini CLI restarts itself as another process.
                .env("GEMINI_CLI_NO_RELAUNCH", "true")
        },
        |command| ToolRequest {
            name: "run_shell_command",
            input: json!({"command": command, "description": "as scripted"}),
        },
    )
};
