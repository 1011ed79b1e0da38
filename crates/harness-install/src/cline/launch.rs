// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs Cline's CLI without a user. Cline calls an OpenAI Chat model, whose address it reads only from its settings.
//! Its sessions usually run in a background hub, which would outlive the run; this setup keeps them in the program
//! itself.

use serde_json::json;

use crate::launch::{ClientInvocation, ClientLaunch, ToolRequest};

pub(super) const LAUNCH: ClientLaunch = ClientLaunch {
    sign_in: Some(|site| {
        let model = format!("{}/v1", site.model);
        ClientInvocation::new(["auth", "openai-compatible", "-k", "dummy", "-m", "scripted", "-b", &model])
            .env("CLINE_SESSION_BACKEND_MODE", "local")
    }),
    ..ClientLaunch::new(
        |_, prompt| {
            let args =
                ["--json", "--auto-approve", "true", "-P", "openai-compatible", "-m", "scripted", prompt];
            ClientInvocation::new(args).env("CLINE_TELEMETRY_DISABLED", "1")
        },
        |command| ToolRequest { name: "run_commands", input: json!({"commands": [command]}) },
    )
};
