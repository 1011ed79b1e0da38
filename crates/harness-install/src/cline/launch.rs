// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How Cline's CLI is run without a user. It calls an OpenAI Chat model, whose address it takes from its settings only.
//! Sessions usually run in a hub in the background, which would outlive the run: here they run in the program itself.

use serde_json::json;

use crate::launch::{Invocation, Launch, ToolRequest};

pub(super) const LAUNCH: Launch = Launch {
    sign_in: Some(|site| {
        let model = format!("{}/v1", site.model);
        Invocation::new(["auth", "openai-compatible", "-k", "dummy", "-m", "scripted", "-b", &model])
            .env("CLINE_SESSION_BACKEND_MODE", "local")
    }),
    ..Launch::new(
        |_, prompt| {
            let args =
                ["--json", "--auto-approve", "true", "-P", "openai-compatible", "-m", "scripted", prompt];
            Invocation::new(args).env("CLINE_TELEMETRY_DISABLED", "1")
        },
        |command| ToolRequest { name: "run_commands", input: json!({"commands": [command]}) },
    )
};
