// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How pi is run without a user. It calls an OpenAI Responses model, through the Azure provider, which reads the
//! model's address from the environment. The hooks are an extension, so none of the user's settings are needed.

use serde_json::json;

use crate::launch::{ClientInvocation, ClientLaunch, ToolRequest};

pub(super) const LAUNCH: ClientLaunch = ClientLaunch::new(
    |site, prompt| {
        ClientInvocation::new(["-p", "--approve", "--model", "azure/gpt-5.4", prompt])
            .env("AZURE_OPENAI_BASE_URL", format!("{}/v1", site.model))
            .env("AZURE_OPENAI_API_KEY", "dummy")
            .env("PI_OFFLINE", "1")
            .env("PI_TELEMETRY", "0")
    },
    |command| ToolRequest { name: "bash", input: json!({"command": command}) },
);
