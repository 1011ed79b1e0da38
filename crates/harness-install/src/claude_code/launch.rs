// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs Claude Code without a user.

use serde_json::json;

use crate::launch::{ClientInvocation, ClientLaunch, ToolRequest};

pub(super) const LAUNCH: ClientLaunch = ClientLaunch {
    hook_keys: &[&["hooks"], &["disableAllHooks"]],
    ..ClientLaunch::new(
        |site, prompt| {
            ClientInvocation::new(["-p", prompt, "--permission-mode", "bypassPermissions"])
                .env("ANTHROPIC_BASE_URL", site.model)
                .env("ANTHROPIC_API_KEY", "dummy")
                .env("DISABLE_TELEMETRY", "1")
                .env("DISABLE_AUTOUPDATER", "1")
                .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
                // Without this variable, Claude Code refuses to skip permissions as root, the usual account in CI.
                .env("IS_SANDBOX", "1")
        },
        |command| ToolRequest {
            name: "Bash",
            input: json!({"command": command, "description": "as scripted"}),
        },
    )
};
