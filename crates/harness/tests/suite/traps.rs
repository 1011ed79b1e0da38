// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks that no reply lets a denied tool run, because a slightly wrong reply would let it run. For every event before
//! a tool, each reply is read as the client reads it.

use serde_json::{Value, json};
use tenterhook_event::{Decision, EventKind, Flow, Modification, Outcome, SelectionMode};
use tenterhook_harness::{
    AskSupport, EventRow, HARNESSES, Harness, HookReply, RewriteSupport, same_call_key,
};

use crate::common::{changed, decided, decoded, denied, harness, outcomes, rewritten, sample, stopped};
use crate::reader::{self, ToolFate};

/// Effect of a reply to an event before a tool.
fn read(harness: &Harness, row: &EventRow, reply: &HookReply) -> ToolFate {
    match harness.id {
        "claude-code" | "vscode" | "continue" => reader::claude(reply),
        "cline" => reader::cline(reply),
        "copilot" => reader::copilot(reply),
        "opencode" | "pi" => reader::plugin(reply),
        "codex" | "codex-desktop" => reader::codex(reply),
        "cursor" => reader::cursor(reply, row.ask == AskSupport::Prompt),
        "gemini" => reader::gemini(reply),
        "llxprt" => reader::llxprt(reply),
        "qwen" => reader::qwen(reply, false),
        other => panic!("no reader for {other}"),
    }
}

// seed: 001-006, 001-036, 001-055, 001-058
#[test]
fn every_outcome_at_every_gate_has_its_effect() {
    for harness in HARNESSES {
        let gates = harness.events.iter().filter(|row| row.is_gate() && row.kind == EventKind::PreTool);
        for row in gates {
            let call = sample(harness, row);
            for (name, outcome) in outcomes() {
                let reply = harness.encode(&call, &outcome);
                let becomes = read(harness, row, &reply);
                let at = format!("{} {} {name}: {reply:?}", harness.id, row.native);
                let unchangeable = outcome.tool_input.is_some() && row.rewrite != RewriteSupport::ToolInput;
                match outcome.decision {
                    _ if outcome.flow != Flow::Go => assert!(matches!(becomes, ToolFate::Blocked(_)), "{at}"),
                    Decision::Deny => {
                        let ToolFate::Blocked(why) = &becomes else { panic!("{at}: {becomes:?}") };
                        let expected = outcome.reason_with_nudge();
                        assert_eq!(why, expected.as_deref().unwrap_or("denied by Tenterhook"), "{at}");
                    }
                    Decision::Ask if row.ask == AskSupport::Prompt => {
                        assert_eq!(becomes, ToolFate::Asked, "{at}");
                    }
                    Decision::Ask => {
                        let ToolFate::Blocked(why) = &becomes else { panic!("{at}: {becomes:?}") };
                        assert!(why.contains("the user's approval"), "{at}");
                    }
                    _ if unchangeable => {
                        let ToolFate::Blocked(why) = &becomes else { panic!("{at}: {becomes:?}") };
                        assert!(why.contains(r#"retry with {"command":"ls"}"#), "{at}");
                    }
                    Decision::None | Decision::Allow => {
                        assert_eq!(becomes, ToolFate::Runs(outcome.tool_input.clone()), "{at}");
                    }
                    Decision::Defer => {}
                }
            }
            let refused = read(harness, row, &harness.refuse(row.native, "not JSON"));
            assert!(matches!(refused, ToolFate::Blocked(_)), "{} {}", harness.id, row.native);
            let neutral = read(harness, row, &harness.neutral(row.native));
            assert_eq!(neutral, ToolFate::Runs(None), "{} {}", harness.id, row.native);
        }
    }
}

fn reply_to(id: &str, event: &str, outcome: &Outcome) -> HookReply {
    let harness = harness(id);
    harness.encode(&sample(harness, harness.event(event).unwrap()), outcome)
}

fn json_of(reply: &HookReply) -> Value {
    serde_json::from_str(&reply.stdout).unwrap()
}

// seed: 001-055
#[test]
fn codex_drops_a_deny_with_one_unknown_field_so_there_is_none() {
    let reply = reply_to("codex", "PreToolUse", &denied());
    assert_eq!(
        reply.stdout,
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\
         \"permissionDecisionReason\":\"because\\n\\n→ Suggested: do otherwise\"}}\n"
    );
    assert_eq!((reply.stderr.as_str(), reply.exit), ("", 0));
    let mut rich = denied();
    rich.suppress_output = true;
    rich.messages = vec![crate::common::attributed("for the user".to_owned())];
    rich.flow = stopped().flow;
    assert_eq!(
        reply_to("codex", "PreToolUse", &rich).stdout,
        reply.stdout,
        "and none comes with more to say"
    );
    let mut wrong = json_of(&reply);
    wrong["hookSpecificOutput"]["by"] = json!("tenterhook");
    let wrong = HookReply { stdout: wrong.to_string(), ..HookReply::silent() };
    assert_eq!(reader::codex(&wrong), ToolFate::Fails("an unknown field"), "the trap itself");
}

#[test]
fn codex_rejects_ask_and_allow_so_neither_is_sent() {
    for decision in [Decision::None, Decision::Allow] {
        assert_eq!(reply_to("codex", "PreToolUse", &decided(decision)), HookReply::silent());
    }
    let asked = json_of(&reply_to("codex", "PreToolUse", &decided(Decision::Ask)));
    assert_eq!(asked["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(harness("codex").event("pre-tool").unwrap().ask, AskSupport::Wait);
    let blank =
        Outcome { reasons: vec![crate::common::attributed(" ".to_owned())], ..decided(Decision::Deny) };
    let blank = reply_to("codex", "PreToolUse", &blank);
    assert_eq!(
        reader::codex(&blank),
        ToolFate::Blocked("denied by Tenterhook".into()),
        "a blank reason is none"
    );
}

// seed: 001-055
#[test]
fn gemini_ignores_claude_s_form_so_it_gets_its_own() {
    for id in ["gemini", "llxprt"] {
        let reply = reply_to(id, "BeforeTool", &denied());
        assert_eq!(
            reply.stdout,
            "{\"decision\":\"deny\",\"reason\":\"because\\n\\n→ Suggested: do otherwise\"}\n"
        );
        assert_eq!((reply.stderr.as_str(), reply.exit), ("", 0));
    }
    let claude = reply_to("claude-code", "PreToolUse", &denied());
    assert_eq!(reader::gemini(&claude), ToolFate::Runs(None), "the trap itself");
    let ask = HookReply { stdout: "{\"decision\":\"ask\"}".into(), ..HookReply::silent() };
    assert_eq!(reader::gemini(&ask), ToolFate::Hangs, "and another");
}

#[test]
fn gemini_runs_the_tools_of_an_answer_that_was_denied_unless_it_is_stopped() {
    let gemini = json_of(&reply_to("gemini", "AfterModel", &denied()));
    assert_eq!((&gemini["decision"], &gemini["continue"]), (&json!("deny"), &json!(false)));
    let synthetic = json_of(&reply_to("gemini", "BeforeModel", &outcomes()[16].1));
    assert_eq!(synthetic["decision"], "deny", "an answer in the model's place is heard only beside a deny");
    assert_eq!(synthetic["hookSpecificOutput"]["llm_response"], json!({"text": "no"}));
    let llxprt = json_of(&reply_to("llxprt", "BeforeModel", &outcomes()[16].1));
    assert_eq!(llxprt["reason"], "no", "there the reason is what the model seems to have said");
}

#[test]
fn stop_at_the_end_of_a_turn_lets_it_end_where_continue_false_would_go_on() {
    for (id, event) in [("qwen", "Stop"), ("llxprt", "AfterAgent"), ("cursor", "stop"), ("codex", "Stop")] {
        let both = Outcome { flow: stopped().flow, ..denied() };
        assert_eq!(reply_to(id, event, &both).stdout, "", "{id}");
        assert_eq!(reply_to(id, event, &stopped()).stdout, "", "{id}");
        assert!(reply_to(id, event, &denied()).stdout.contains("because"), "{id}");
    }
}

#[test]
fn qwen_s_deny_is_not_beaten_by_another_hook_s_allow() {
    let reply = reply_to("qwen", "PreToolUse", &denied());
    assert!(matches!(reader::qwen(&reply, true), ToolFate::Blocked(_)), "{reply:?}");
    for weak in [
        HookReply { stdout: "{\"decision\":\"deny\",\"reason\":\"r\"}".into(), ..HookReply::silent() },
        HookReply { stderr: "r".into(), exit: 2, ..HookReply::silent() },
    ] {
        assert_eq!(reader::qwen(&weak, true), ToolFate::Runs(None), "the trap itself");
    }
    assert_eq!(
        reply_to("qwen", "PreToolUse", &decided(Decision::Allow)),
        HookReply::silent(),
        "nor does ours beat one"
    );
    let changed = reader::qwen(&reply_to("qwen", "PreToolUse", &rewritten()), false);
    assert!(matches!(changed, ToolFate::Blocked(_)), "a changed input would be ignored: {changed:?}");
}

#[test]
fn qwen_s_empty_prompts_are_not_user_prompts() {
    let qwen = harness("qwen");
    let event = |payload: Value| decoded(qwen, "UserPromptSubmit", &payload).event.event;
    let name = "UserPromptSubmit";
    assert_eq!(event(json!({"hook_event_name": name, "prompt": ""})), EventKind::Other);
    assert_eq!(
        event(json!({"hook_event_name": name, "prompt": "", "submitted_prompt": ""})),
        EventKind::Prompt
    );
    assert_eq!(event(json!({"hook_event_name": name, "prompt": "x"})), EventKind::Prompt);
}

#[test]
fn llxprt_offers_no_tool_only_for_an_explicit_empty_list() {
    let none = SelectionMode::None;
    let selected = changed(Modification::ToolSelection { mode: none, allowed: vec!["read_file".into()] });
    for outcome in [denied(), stopped(), selected] {
        let reply = json_of(&reply_to("llxprt", "BeforeToolSelection", &outcome));
        let config = &reply["hookSpecificOutput"]["toolConfig"];
        assert_eq!(config, &json!({"mode": "NONE", "allowedFunctionNames": []}), "{outcome:?}");
        assert_eq!(reply["decision"], json!(null), "a decision is ignored there");
    }
    let any = changed(Modification::ToolSelection { mode: SelectionMode::Any, allowed: Vec::new() });
    let reply = json_of(&reply_to("llxprt", "BeforeToolSelection", &any));
    assert_eq!(reply["hookSpecificOutput"]["toolConfig"], json!({"mode": "ANY"}), "no restriction");
}

#[test]
fn llxprt_gets_no_text_at_an_empty_prompt_and_in_the_middle_of_a_turn() {
    let llxprt = harness("llxprt");
    for file in ["AfterAgent.midturn.json", "BeforeAgent.again.json"] {
        let bytes = std::fs::read(crate::common::fixtures().join("llxprt").join(file)).unwrap();
        let call = llxprt.decode(&crate::common::call_meta(""), &bytes).unwrap();
        assert_eq!(call.event.event, EventKind::Other, "{file}");
        for (name, outcome) in outcomes() {
            let reply = llxprt.encode(&call, &outcome);
            assert_eq!((reply.stdout.as_str(), reply.exit), ("", 0), "{file} {name}");
        }
    }
    for (file, kind) in [("AfterAgent.final.json", EventKind::Stop), ("BeforeAgent.json", EventKind::Prompt)]
    {
        let bytes = std::fs::read(crate::common::fixtures().join("llxprt").join(file)).unwrap();
        let call = llxprt.decode(&crate::common::call_meta(""), &bytes).unwrap();
        assert_eq!(call.event.event, kind, "{file}");
        assert!(llxprt.encode(&call, &denied()).stdout.contains("because"), "{file}");
    }
}

#[test]
fn qwen_gets_no_text_at_an_empty_prompt() {
    let qwen = harness("qwen");
    let call = decoded(qwen, "", &json!({"hook_event_name": "UserPromptSubmit", "prompt": ""}));
    for (name, outcome) in outcomes() {
        assert_eq!(qwen.encode(&call, &outcome).stdout, "", "{name}");
    }
}

#[test]
fn a_piece_of_llxprt_s_stream_counts_no_tokens() {
    let bytes = std::fs::read(crate::common::fixtures().join("llxprt/AfterModel.json")).unwrap();
    let call = harness("llxprt").decode(&crate::common::call_meta(""), &bytes).unwrap();
    assert_eq!(call.event.event, EventKind::PostModel);
    assert_eq!(tenterhook_event::TokenCounts::from_event(&call.event), None);
}

#[test]
fn copilot_s_patch_is_free_text_and_goes_back_as_free_text() {
    let copilot = harness("copilot");
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";
    let payload = |name: &str| json!({"sessionId": "s", "cwd": "/w", "toolName": name, "toolArgs": patch});
    let call = decoded(copilot, "preToolUse", &payload("apply_patch"));
    assert_eq!(call.event.tool.as_ref().unwrap().args, json!({"input": patch}));
    let outcome = Outcome { tool_input: Some(json!({"input": "other"})), ..rewritten() };
    assert_eq!(json_of(&copilot.encode(&call, &outcome))["modifiedArgs"], json!("other"));
    let shell = payload("bash").to_string();
    assert!(
        copilot.decode(&crate::common::call_meta("preToolUse"), shell.as_bytes()).is_err(),
        "a shell has none"
    );
}

// seed: 001-017
#[test]
fn cursor_gets_a_plain_allow_when_nothing_objects() {
    let cursor = harness("cursor");
    for row in cursor.events.iter().filter(|row| row.is_gate()) {
        for outcome in [Outcome::default(), decided(Decision::Allow)] {
            let reply = cursor.encode(&sample(cursor, row), &outcome);
            assert_eq!(reply.stdout, "{\"permission\":\"allow\"}\n", "{}", row.native);
        }
        assert_eq!(cursor.neutral(row.native).stdout, "{\"permission\":\"allow\"}\n");
    }
    assert_eq!(cursor.neutral("stop").stdout, "");
}

#[test]
fn cursor_s_two_gates_for_one_call_are_linked() {
    let cursor = harness("cursor");
    let base = json!({"conversation_id": "c", "generation_id": "g", "workspace_roots": ["/p"]});
    let key = |event: &str, more: Value| {
        let mut payload = base.clone();
        payload["hook_event_name"] = json!(event);
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        same_call_key(&decoded(cursor, event, &payload).event).unwrap()
    };
    let pre = |name: &str, input: Value| {
        key("preToolUse", json!({"tool_name": name, "tool_input": input, "tool_use_id": "t"}))
    };
    let shell = key("beforeShellExecution", json!({"command": "npm i", "cwd": "/p"}));
    assert_eq!(pre("Shell", json!({"command": "npm i", "working_directory": "/p"})), shell);
    assert_ne!(pre("Shell", json!({"command": "rm -rf /"})), shell, "under the same id, something else");
    let other = json!({"command": "npm i", "generation_id": "h"});
    assert_ne!(key("beforeShellExecution", other), shell, "another turn");
    let mcp = json!({"tool_name": "query", "tool_input": "{\"q\":1}", "url": "https://m.example/mcp"});
    assert_eq!(pre("MCP:query", json!({"q": 1})), key("beforeMCPExecution", mcp));
    let read = key("beforeReadFile", json!({"file_path": "/p/a", "content": "x"}));
    assert_eq!(pre("Read", json!({"file_path": "/p/a"})), read);
}

// seed: 001-050, 001-052
#[test]
fn cursor_s_server_address_becomes_the_url_that_is_judged() {
    let cursor = harness("cursor");
    let tool = |more: Value| {
        let mut payload = json!({"hook_event_name": "beforeMCPExecution", "conversation_id": "c",
            "tool_name": "mcp__remote__query", "tool_input": "{\"q\":1}"});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        decoded(cursor, "", &payload).event.tool.unwrap()
    };
    assert_eq!(
        tool(json!({"url": "https://m.example/mcp"})).args,
        json!({"q": 1, "url": "https://m.example/mcp"})
    );
    assert_eq!(tool(json!({"server_url": "https://s.example"})).args["url"], "https://s.example");
    let native = json!({"tool_input": {"url": "https://own.example"}, "url": "https://m.example"});
    assert_eq!(tool(native).args["url"], "https://own.example", "the call's own wins");
    assert_eq!(tool(json!({"url": null, "command": "npx x"})).args, json!({"q": 1}));
    assert_eq!(tool(json!({"tool_name": "query"})).class.name(), "mcp", "whatever its name");
}

#[test]
fn a_turn_ended_by_the_user_does_not_start_again() {
    let cursor = harness("cursor");
    let ended = json!({"hook_event_name": "stop", "conversation_id": "c", "status": "aborted"});
    let reply = cursor.encode(&decoded(cursor, "stop", &ended), &denied());
    assert_eq!((reply.stdout.as_str(), reply.lost.len()), ("", 1));
}

#[test]
fn cline_ignores_exit_codes_and_ends_the_run_on_a_cancel_so_a_deny_is_a_harmless_call() {
    let reply = reply_to("cline", "PreToolUse", &denied());
    assert_eq!(
        reply.stdout,
        "{\"overrideInput\":{\"commands\":[\"printf '%s\\\\n' 'because\\n\\n→ Suggested: do otherwise'\"]}}\n"
    );
    let exit = HookReply { stderr: "no".into(), exit: 2, ..HookReply::silent() };
    assert_eq!(reader::cline(&exit), ToolFate::Runs(None), "the trap itself");
    let claude = reply_to("claude-code", "PreToolUse", &denied());
    assert_eq!(reader::cline(&claude), ToolFate::Runs(None), "and another");
    for reason in ["it's \"no\"", "$(touch /tmp/x) `id` \\n %s", "two\nlines\n", "-e", "'; echo ran; '"] {
        let outcome = Outcome {
            reasons: vec![crate::common::attributed(reason.to_owned())],
            ..decided(Decision::Deny)
        };
        let becomes = reader::cline(&reply_to("cline", "PreToolUse", &outcome));
        assert_eq!(becomes, ToolFate::Blocked(reason.to_owned()), "whatever the reason, it is only said");
    }
    let cline = harness("cline");
    let asked = |name: &str, input: Value| {
        let payload =
            json!({"hookName": "tool_call", "taskId": "t", "tool_call": {"name": name, "input": input}});
        json_of(&cline.encode(&decoded(cline, "PreToolUse", &payload), &denied()))
    };
    let read = asked("read_files", json!({"files": [{"path": "/etc/shadow"}]}));
    assert_eq!(
        read["overrideInput"]["files"][0]["path"],
        "/nonexistent/because\n\n→ Suggested: do otherwise"
    );
    let edited = asked("editor", json!({"path": "/etc/passwd", "new_text": "x"}));
    assert_eq!(edited["cancel"], true, "where no call is harmless, the run ends: {edited}");
    let stop = json_of(&reply_to("cline", "PreToolUse", &stopped()));
    assert_eq!(stop, json!({"cancel": true, "errorMessage": "enough"}));
}

#[test]
fn copilot_loses_the_reason_on_exit_2_so_it_is_never_used_at_a_gate() {
    let reply = reply_to("copilot", "preToolUse", &denied());
    assert_eq!(
        reply.stdout,
        "{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"because\\n\\n→ Suggested: do otherwise\"}\n"
    );
    let exit = HookReply { stderr: "why".into(), exit: 2, ..HookReply::silent() };
    assert_eq!(
        reader::copilot(&exit),
        ToolFate::Blocked("hook exited with code 2".into()),
        "the trap itself"
    );
    let refused = harness("copilot").refuse("preToolUse", "the payload is empty");
    assert_eq!(reader::copilot(&refused), ToolFate::Blocked("the payload is empty".into()));
}

// seed: 001-049
#[test]
fn mcp_tools_are_known_under_every_harness_s_name_for_them() {
    let mcp = |id: &str, event: &str, payload: Value| {
        let tool = decoded(harness(id), event, &payload).event.tool.unwrap();
        let mcp = tool.mcp.unwrap();
        (tool.class.name(), mcp.server, mcp.tool)
    };
    let expected = ("mcp", "files".to_owned(), "read".to_owned());
    let copilot = |name: &str| json!({"sessionId": "s", "toolName": name, "toolArgs": {}});
    assert_eq!(mcp("copilot", "preToolUse", copilot("files-read")), expected);
    assert_eq!(mcp("copilot", "permissionRequest", copilot("files/read")), expected);
    let call = json!({"sessionId": "s", "serverName": "files", "toolName": "read", "arguments": {}});
    assert_eq!(mcp("copilot", "preMcpToolCall", call), expected);
    let cline = json!({"hookName": "tool_call", "tool_call": {"name": "files__read", "input": {}}});
    assert_eq!(mcp("cline", "", cline), expected);
    let opencode =
        json!({"hook": "tool.execute.before", "input": {"tool": "files_read"}, "output": {"args": {}}});
    assert_eq!(mcp("opencode", "", opencode), expected);
    let gemini = json!({"hook_event_name": "BeforeTool", "tool_name": "mcp_my_files_read", "tool_input": {},
        "mcp_context": {"server_name": "my_files", "tool_name": "read", "url": "https://f.example/mcp"}});
    assert_eq!(mcp("gemini", "", gemini.clone()), ("mcp", "my_files".to_owned(), "read".to_owned()));
    let tool = decoded(harness("gemini"), "", &gemini).event.tool.unwrap();
    assert_eq!(tool.args, json!({"url": "https://f.example/mcp"}));
}
