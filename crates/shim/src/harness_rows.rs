// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Harness data of the hook programs. Generated from the table in `crates/harness` by
//! `make generate`; a test fails when this file is stale.

/// Largest accepted payload.
pub const MAX_PAYLOAD_BYTES: usize = 32 * 1024 * 1024;

/// Harness, and the variable that contains the project root.
pub(crate) const PROJECT_VARIABLES: &[(&str, &str)] = &[
    ("claude-code", "CLAUDE_PROJECT_DIR"),
    ("cursor", "CURSOR_PROJECT_DIR"),
    ("gemini", "GEMINI_PROJECT_DIR"),
    ("llxprt", "LLXPRT_PROJECT_DIR"),
    ("qwen", "QWEN_PROJECT_DIR"),
    ("copilot", "COPILOT_PROJECT_DIR"),
];

/// Harness, and the variable and value that mean a run without a prompt.
#[rustfmt::skip]
pub(crate) const HEADLESS_SIGNS: &[(&str, &str, &str)] = &[
    ("claude-code", "CLAUDE_CODE_ENTRYPOINT", "sdk-cli"),
];

/// Harness, event, and the standard output that means "no match". An empty name stands for every other event.
#[rustfmt::skip]
pub(crate) const NEUTRAL_REPLIES: &[(&str, &str, &str)] = &[
    ("cursor", "workspace-open", ""),
    ("cursor", "session-start", ""),
    ("cursor", "before-submit-prompt", "{\"continue\":true}\n"),
    ("cursor", "pre-tool-use", "{\"permission\":\"allow\"}\n"),
    ("cursor", "before-shell-execution", "{\"permission\":\"allow\"}\n"),
    ("cursor", "before-mcp-execution", "{\"permission\":\"allow\"}\n"),
    ("cursor", "before-read-file", "{\"permission\":\"allow\"}\n"),
    ("cursor", "before-tab-file-read", "{\"permission\":\"allow\"}\n"),
    ("cursor", "post-tool-use", ""),
    ("cursor", "post-tool-use-failure", ""),
    ("cursor", "after-shell-execution", ""),
    ("cursor", "after-mcp-execution", ""),
    ("cursor", "after-file-edit", ""),
    ("cursor", "after-tab-file-edit", ""),
    ("cursor", "subagent-start", "{\"permission\":\"allow\"}\n"),
    ("cursor", "subagent-stop", ""),
    ("cursor", "pre-compact", ""),
    ("cursor", "after-agent-response", ""),
    ("cursor", "after-agent-thought", ""),
    ("cursor", "stop", ""),
    ("cursor", "session-end", ""),
    ("cursor", "", "{\"permission\":\"allow\"}\n"),
];
