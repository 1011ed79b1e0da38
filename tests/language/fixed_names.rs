// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Names and texts that the seeds fix (the documents that this project started from). Other programs look for
//! them, so plainer words must not replace them. Each row names a file that is public or generated from the
//! code. The test suite compares generated files with the code.

use crate::repository;

/// Fixed texts, and the file that must contain each of them unchanged.
struct FixedTexts {
    /// Document or program that fixes the texts.
    by: &'static str,
    file: &'static str,
    texts: &'static [&'static str],
}

const FIXED_TEXTS: &[FixedTexts] = &[
    FixedTexts {
        by: "seed 001: a deny with a suggestion, byte for byte",
        file: "crates/event/src/outcome.rs",
        texts: &[r#"format!("{reason}\n\n→ Suggested: {nudge}")"#],
    },
    FixedTexts {
        by: "seed 001: the key of a suggestion",
        file: "docs/spec/rules.schema.json",
        texts: &["\"nudge\": {"],
    },
    FixedTexts {
        by: "seed 001: the route of a hook call",
        file: "docs/reference/openapi.json",
        texts: &["\"/v1/hooks/{harness}/{event}\": {"],
    },
    FixedTexts {
        by: "seed 001: the fields of a record",
        file: "docs/spec/leaf.schema.json",
        texts: &[
            "\"source\": {",
            "\"event\": {",
            "\"harness_session_id\": {",
            "\"tool_use_id\": {",
            "\"tool\": {",
            "\"name\": {",
            "\"agent\": {",
            "\"model\": {",
            "\"user\": {",
            "\"verdict\": {",
            "\"reason\": {",
            "\"policy_rule_id\": {",
            "\"signer\": {",
        ],
    },
    FixedTexts {
        by: "seed 001: the arguments of a tool",
        file: "docs/spec/event.schema.json",
        texts: &["\"args\": {"],
    },
    FixedTexts {
        by: "seed 001: the status line",
        file: "tests/suite/status_line.rs",
        texts: &["\"Tenterhook ✓\\n\"", "\"Tenterhook ⚠ daemon offline\\n\""],
    },
    FixedTexts {
        by: "seed 002: settings and events",
        file: "sdk/typescript/src/llxprt/config.ts",
        texts: &[
            "interface SettingsHooks",
            "interface HookDefinition",
            "interface CommandHookConfig",
            "type HookConfig",
            "enum HookEventName",
            "BeforeTool = \"BeforeTool\"",
            "AfterTool = \"AfterTool\"",
            "BeforeAgent = \"BeforeAgent\"",
            "AfterAgent = \"AfterAgent\"",
            "BeforeModel = \"BeforeModel\"",
            "AfterModel = \"AfterModel\"",
            "BeforeToolSelection = \"BeforeToolSelection\"",
            "SessionStart = \"SessionStart\"",
            "SessionEnd = \"SessionEnd\"",
            "PreCompress = \"PreCompress\"",
            "Notification = \"Notification\"",
        ],
    },
    FixedTexts {
        by: "seed 002: inputs",
        file: "sdk/typescript/src/llxprt/input.ts",
        texts: &[
            "interface HookInput",
            "interface BeforeToolInput",
            "interface AfterToolInput",
            "interface BeforeModelInput",
            "interface AfterModelInput",
            "interface BeforeToolSelectionInput",
            "interface SessionStartInput",
            "interface SessionEndInput",
            "interface BeforeAgentInput",
            "interface AfterAgentInput",
        ],
    },
    FixedTexts {
        by: "seed 002: outputs, results and messages",
        file: "sdk/typescript/src/llxprt/output.ts",
        texts: &[
            "type HookDecision",
            "interface HookOutput",
            "interface BeforeToolOutput",
            "interface AfterToolOutput",
            "interface BeforeModelOutput",
            "interface AfterModelOutput",
            "interface BeforeToolSelectionOutput",
            "interface AggregatedHookResult",
            "interface ProcessedHookResult",
            "interface HookExecutionRequest",
            "interface HookExecutionResponse",
        ],
    },
    FixedTexts {
        by: "seed 002: output classes",
        file: "sdk/typescript/src/llxprt/outputs/default.ts",
        texts: &[
            "class DefaultHookOutput",
            "isBlockingDecision()",
            "shouldStopExecution()",
            "getEffectiveReason()",
            "getAdditionalContext()",
            "getBlockingError()",
        ],
    },
    FixedTexts {
        by: "seed 002: output classes",
        file: "sdk/typescript/src/llxprt/outputs/before-tool.ts",
        texts: &["class BeforeToolHookOutput", "getModifiedToolInput()"],
    },
    FixedTexts {
        by: "seed 002: output classes",
        file: "sdk/typescript/src/llxprt/outputs/model.ts",
        texts: &[
            "class BeforeModelHookOutput",
            "getSyntheticResponse()",
            "applyLLMRequestModifications(",
            "class AfterModelHookOutput",
            "getModifiedResponse()",
        ],
    },
    FixedTexts {
        by: "seed 002: output classes",
        file: "sdk/typescript/src/llxprt/outputs/tool-selection.ts",
        texts: &["class BeforeToolSelectionHookOutput", "applyToolConfigModifications("],
    },
    FixedTexts {
        by: "seed 002: exit codes",
        file: "sdk/typescript/src/llxprt/exit-codes.ts",
        texts: &["EXIT_CODE_SUCCESS = 0", "EXIT_CODE_NON_BLOCKING_ERROR = 1", "EXIT_CODE_BLOCKING_ERROR = 2"],
    },
    FixedTexts {
        by: "seed 002: channels",
        file: "crates/profile/src/bus.rs",
        texts: &["\"HOOK_EXECUTION_REQUEST\"", "\"HOOK_EXECUTION_RESPONSE\""],
    },
    FixedTexts {
        by: "seed 003: settings",
        file: "crates/profile/src/settings/registered.rs",
        texts: &[
            "\"enabled\"",
            "\"maxHooksPerEvent\"",
            "\"maxTotalHooks\"",
            "\"defaultTimeout\"",
            "\"failBehavior\"",
            "\"auditLevel\"",
        ],
    },
    FixedTexts {
        by: "seed 003: proto names and numbers",
        file: "proto/tenterhook/v1/hooks.proto",
        texts: &[
            "service HookService {",
            "rpc RegisterHook(RegisterHookRequest) returns (RegisterHookResponse);",
            "rpc UnregisterHook(UnregisterHookRequest) returns (UnregisterHookResponse);",
            "rpc ListHooks(ListHooksRequest) returns (ListHooksResponse);",
            "rpc HookStream(stream HookResponse) returns (stream HookEvent);",
            "string event_type = 1;",
            "HookMatcher matcher = 2;",
            "HookConfig config = 3;",
            "optional string tool = 1;",
            "optional string path_pattern = 2;",
            "optional string command_pattern = 3;",
            "int32 priority = 1;",
            "int32 timeout_ms = 2;",
            "bool async = 3;",
            "string hook_id = 1;",
            "string event_type = 2;",
            "string session_id = 3;",
            "int64 timestamp = 4;",
            "bytes payload = 5;",
            "HookAction action = 2;",
            "optional string reason = 3;",
            "optional bytes modified = 4;",
            "CONTINUE = 0;",
            "BLOCK = 1;",
            "RETRY = 2;",
            "SKIP = 3;",
        ],
    },
    FixedTexts {
        by: "seed 003: methods of the TypeScript SDK",
        file: "sdk/typescript/src/client.ts",
        texts: &[
            " registerHook<",
            " unregisterHook(",
            " listHooks(",
            " executeTool(",
            " setHookAuditLevel(",
            " generate(",
        ],
    },
    FixedTexts {
        by: "seed 003: methods of the Python SDK",
        file: "docs/reference/sdk-python.md",
        texts: &["hook(", "register_hook(", "temporary_hook(", "generate(", "continue_(", "block("],
    },
];

#[test]
fn names_fixed_by_seeds_are_unchanged() {
    let mut missing = Vec::new();
    for FixedTexts { by, file, texts } in FIXED_TEXTS {
        let content = std::fs::read_to_string(repository().join(file)).unwrap();
        let gone = texts.iter().filter(|text| !content.contains(**text));
        missing.extend(gone.map(|text| format!("{file}: `{text}` ({by})")));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
