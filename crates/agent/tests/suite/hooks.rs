// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks that the agent obeys hooks.

use std::sync::Arc;

use serde_json::{Value, json};
use tenterhook_agent::provider::{ChatRole, ContentBlock, ToolChoice};
use tenterhook_agent::{
    AgentActivity, CancelToken, MAX_STOP_BLOCKS, PermissionAnswer, PermissionMode, TurnError,
};
use tenterhook_engine::{Hook, response};
use tenterhook_event::{Decision, EventKind, Finding, Origin, SelectionMode};

use crate::fixture::{TestBuilder, test};

const PLAIN: &str = "turns: [{ call: { Bash: { command: echo ran } } }, { say: finished }]";

fn unrestricted() -> TestBuilder {
    test().set(|settings| settings.mode = PermissionMode::BypassPermissions)
}

#[tokio::test]
async fn a_denied_call_reaches_the_model_with_its_nudge_to_the_byte() {
    let no =
        Hook::on("no", EventKind::PreTool).run(|_| async { response::deny("too much").nudge("use trash") });
    let test = unrestricted().hook(no).start(PLAIN).await.unwrap();
    test.prompt("go").await.unwrap();
    let messages = test.log.last_messages();
    let Some(ContentBlock::ToolResult { content, is_error: true, .. }) =
        messages.last().unwrap().blocks.first()
    else {
        panic!("{messages:?}")
    };
    assert_eq!(content, "too much\n\n→ Suggested: use trash");
    assert!(test.log.calls_of(EventKind::PostTool).is_empty(), "nothing ran");
}

#[tokio::test]
async fn stop_hooks_are_obeyed_a_bounded_number_of_times_and_the_bound_is_recorded() {
    let never = Hook::on("never", EventKind::Stop).run(|_| async { response::deny("not yet") });
    let test = unrestricted().hook(never).start("turns: [{ say: done }]").await.unwrap();
    assert_eq!(test.prompt("go").await.unwrap(), "done");
    let stops = test.log.calls_of(EventKind::Stop);
    let active: Vec<_> = stops.iter().map(|call| call.event.detail.stop_hook_active.unwrap()).collect();
    assert_eq!(stops.len(), usize::try_from(MAX_STOP_BLOCKS).unwrap() + 1);
    assert_eq!((active[0], active[1..].iter().all(|active| *active)), (false, true));
    let notes = test.log.calls_of(EventKind::Notification);
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].event.detail.cause.as_deref(), Some("stop_block_cap"));
}

#[tokio::test]
async fn work_in_between_counts_the_refusals_to_stop_from_the_start() {
    let never = Hook::on("never", EventKind::Stop).run(|_| async { response::deny("not yet") });
    let mut script = "turns:\n".to_owned();
    for _ in 0..MAX_STOP_BLOCKS {
        script += "  - say: done\n";
    }
    script += "  - call: { TodoWrite: { todos: [] } }\n  - say: really\n";
    let test = unrestricted().hook(never).start(&script).await.unwrap();
    assert_eq!(test.prompt("go").await.unwrap(), "really");
    assert_eq!(test.log.calls_of(EventKind::Stop).len(), usize::try_from(MAX_STOP_BLOCKS * 2).unwrap() + 1);
}

#[tokio::test]
async fn tools_that_were_not_offered_are_not_run() {
    let only = Hook::on("only", EventKind::ToolSelection)
        .run(|_| async { response::none().tools(SelectionMode::Any, ["Read"]) });
    let test = unrestricted().hook(only).start(PLAIN).await.unwrap();
    test.prompt("go").await.unwrap();
    let requests = test.log.requests.lock().unwrap();
    let names: Vec<_> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((names, requests[0].tool_choice), (vec!["Read"], ToolChoice::Any));
    let errors = test.log.calls_of(EventKind::ToolError);
    assert_eq!(
        errors[0].event.detail.error.as_deref(),
        Some("tool `Bash` may not be called now; allowed tools: Read")
    );
    assert!(test.log.calls_of(EventKind::PostTool).is_empty());
}

// seed: 002-052, 003-024
#[tokio::test]
async fn a_hook_may_change_the_request_in_either_vocabulary() {
    for change in [
        json!({"prompt": "other", "systemPrompt": "sys", "model": {"name": "m2", "temperature": 0.5, "maxTokens": 9}, "tools": ["Read"]}),
        json!({"contents": [{"role": "user", "parts": ["other"]}], "systemInstruction": {"parts": [{"text": "sys"}]},
               "model": "m2", "generationConfig": {"temperature": 0.5, "maxOutputTokens": 9}, "tools": ["Read"]}),
    ] {
        let request = change.clone();
        let hook = Hook::on("change", EventKind::PreModel).run(move |_| {
            let request = request.clone();
            async move { response::none().model_request(request) }
        });
        let test = unrestricted().hook(hook).start("turns: [{ say: hi }]").await.unwrap();
        test.prompt("first").await.unwrap();
        let request = test.log.requests.lock().unwrap()[0].clone();
        assert_eq!(request.messages[0].text(), "other", "{change}");
        assert_eq!((request.system.as_deref(), request.model.as_str()), (Some("sys"), "m2"));
        assert_eq!((request.temperature, request.max_tokens), (Some(0.5), 9));
        assert_eq!(request.tools.len(), 1);
    }
}

// seed: 002-058, 002-059
#[tokio::test]
async fn a_partial_generation_config_of_each_hook_reaches_the_model() {
    let config = |id: &'static str, config: serde_json::Value| {
        Hook::on(id, EventKind::PreModel).run(move |_| {
            let request = json!({"generationConfig": config});
            async move { response::none().model_request(request) }
        })
    };
    let test = unrestricted()
        .hook(config("stops", json!({"stopSequences": ["END", "###"], "topK": 40})))
        .hook(config("calm", json!({"temperature": 0.1, "topP": 0.9})))
        .start("turns: [{ say: hi }]")
        .await
        .unwrap();
    test.prompt("first").await.unwrap();
    let request = test.log.requests.lock().unwrap()[0].clone();
    assert_eq!(
        (request.temperature, request.sampling.top_p, request.sampling.top_k),
        (Some(0.1), Some(0.9), Some(40))
    );
    assert_eq!(request.sampling.stop_sequences, ["END", "###"]);
    let sent = test.log.calls_of(EventKind::PostModel)[0].event.detail.model_request.clone().unwrap();
    assert_eq!(sent["generationConfig"]["stopSequences"], json!(["END", "###"]), "later events show it");
}

// seed: 002-053, 002-054, 003-025
#[tokio::test]
async fn a_hook_may_answer_in_the_model_s_place_and_the_answer_s() {
    let response = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "synthetic"}]}}]});
    let hook = Hook::on("instead", EventKind::PreModel).run(move |_| {
        let response = response.clone();
        async move { response::none().model_response(response) }
    });
    let test = unrestricted().hook(hook).start(PLAIN).await.unwrap();
    assert_eq!(test.prompt("go").await.unwrap(), "synthetic");
    assert!(test.log.requests.lock().unwrap().is_empty(), "the model was not called");
    assert_eq!(test.log.calls_of(EventKind::PostModel).len(), 1, "the reply event is fired anyway");

    let calls = json!({"text": "", "toolCalls": [{"name": "TodoWrite", "args": {"todos": []}}]});
    let hook = Hook::on("after", EventKind::PostModel).run(move |event| {
        let first = event.detail.model_response.as_ref().is_some_and(|answer| answer["text"] == "one");
        let calls = calls.clone();
        async move { if first { response::none().model_response(calls) } else { response::none() } }
    });
    let test = unrestricted().hook(hook).start("turns: [{ say: one }, { say: two }]").await.unwrap();
    assert_eq!(test.prompt("go").await.unwrap(), "two");
    assert_eq!(test.log.calls_of(EventKind::PostTool)[0].event.tool.as_ref().unwrap().name, "TodoWrite");
}

#[tokio::test]
async fn output_can_be_replaced_and_hidden_from_the_user() {
    let hook = Hook::on("hush", EventKind::PostTool).run(|_| async {
        let finding = Finding { suppress_output: true, ..Finding::silent(Origin::Engine) };
        let mut heard = tenterhook_engine::InterpretedOutput::from(
            response::none().tool_output(json!({"output": "[redacted]"})),
        );
        heard.finding.suppress_output = finding.suppress_output;
        heard
    });
    let test = unrestricted().hook(hook).start(PLAIN).await.unwrap();
    test.prompt("go").await.unwrap();
    let activities = test.log.activities.lock().unwrap();
    let shown = activities.iter().find_map(|activity| match activity {
        AgentActivity::Result { output, suppressed, .. } => Some((output.clone(), *suppressed)),
        _ => None,
    });
    assert_eq!(shown, Some((String::new(), true)));
    let messages = test.log.last_messages();
    assert!(messages.iter().any(|message| {
        message.role == ChatRole::User
            && message.blocks.iter().any(
                |block| matches!(block, ContentBlock::ToolResult { content, .. } if content == "[redacted]"),
            )
    }));
}

#[tokio::test]
async fn modes_ask_or_refuse_as_they_say() {
    let script = r#"
turns:
  - calls:
      - { Read: { file_path: a } }
      - { Write: { file_path: a, content: x } }
      - { Bash: { command: "true" } }
  - say: finished
"#;
    let mut table = String::new();
    for mode in PermissionMode::names() {
        let builder = test().set(|settings| settings.mode = PermissionMode::from_name(mode).unwrap());
        std::fs::write(builder.dir.path().join("a"), "x").unwrap();
        let test = builder
            .answers([PermissionAnswer::Unavailable, PermissionAnswer::Unavailable])
            .start(script)
            .await
            .unwrap();
        test.prompt("go").await.unwrap();
        let tools = |kind| {
            let calls = test.log.calls_of(kind);
            let names = calls.iter().map(|call| call.event.tool.as_ref().unwrap().name.clone());
            names.collect::<Vec<_>>().join(" ")
        };
        let (ran, denied) = (tools(EventKind::PostTool), tools(EventKind::PermissionDenied));
        let asked = test.log.questions.lock().unwrap().len();
        table += &format!("{mode}: ran [{ran}], denied [{denied}], asked {asked}\n");
    }
    insta::assert_snapshot!(table, @"
    default: ran [Read], denied [Write Bash], asked 2
    acceptEdits: ran [Read Write], denied [Bash], asked 1
    plan: ran [Read], denied [Write Bash], asked 0
    bypassPermissions: ran [Read Write Bash], denied [], asked 0
    dontAsk: ran [Read], denied [Write Bash], asked 0
    ");
}

#[tokio::test]
async fn what_a_rule_asks_about_is_asked_about_even_where_nothing_else_is() {
    let hook = Hook::on("ask", EventKind::PreTool).run(|_| async { response::ask("is that meant?") });
    let test = unrestricted()
        .hook(hook)
        .answers([PermissionAnswer::No { reason: Some("no".to_owned()) }])
        .start(PLAIN)
        .await
        .unwrap();
    test.prompt("go").await.unwrap();
    assert_eq!(test.log.questions.lock().unwrap()[0].reason.as_deref(), Some("is that meant?"));
    assert_eq!(
        test.log.calls_of(EventKind::PermissionDenied)[0].event.detail.cause.as_deref(),
        Some("denied by the user: no")
    );
    assert!(test.log.calls_of(EventKind::PostTool).is_empty());
}

#[tokio::test]
async fn a_hook_that_executes_tools_does_not_loop_on_itself() {
    let (_dir, log, agent) = unrestricted().agent("turns: [{ say: hi }]");
    let session =
        tenterhook_agent::AgentSession::start(agent, "s1", "startup", &CancelToken::new()).await.unwrap();
    let session = Arc::new(session);
    // Makes as many calls as a hook that calls itself would make.
    let cancel = CancelToken::new();
    let slow = |_: u32| session.execute_tool("Bash", json!({"command": "sleep 0.3"}), &cancel);
    let done = futures_util::future::join_all((0..12).map(slow)).await;
    let refused = done.iter().filter(|done| matches!(done, Err(TurnError::Blocked { .. }))).count();
    assert_eq!(refused, 4);
    assert_eq!(log.calls_of(EventKind::PostTool).len(), 8);
}

#[tokio::test]
async fn the_context_of_hooks_reaches_the_model_once() {
    let hooks = [EventKind::SessionStart, EventKind::Prompt, EventKind::PostTool, EventKind::ToolSelection];
    let builder = hooks.into_iter().fold(unrestricted(), |builder, kind| {
        builder.hook(
            Hook::on(kind.name(), kind)
                .run(move |_| async move { response::none().context(format!("<{kind}>")) }),
        )
    });
    let test = builder.start(PLAIN).await.unwrap();
    test.prompt("go").await.unwrap();
    let requests = test.log.requests.lock().unwrap();
    let text = |at: usize| format!("{:?}", requests[at].messages);
    for kind in ["<session-start>", "<prompt>", "<tool-selection>"] {
        assert_eq!(text(0).matches(kind).count(), 1, "{kind}");
    }
    assert_eq!(text(1).matches("<post-tool>").count(), 1);
    assert_eq!(text(1).matches("<tool-selection>").count(), 1, "context of one request is not kept");
}

#[tokio::test]
async fn a_conversation_that_was_summarised_goes_on_from_the_summary() {
    let script = r"
turns:
  - { say: first, call: { Bash: { command: echo one } } }
  - { say: second, call: { Bash: { command: echo two } }, usage: { input: 980, output: 1 } }
  - say: finished
summary: SUMMARY
";
    let test = unrestricted().set(|settings| settings.context_window = 1000).start(script).await.unwrap();
    test.prompt("go").await.unwrap();
    let messages = test.log.last_messages();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(messages[0].text().contains("SUMMARY"));
    let ids: Vec<Value> = messages[1..]
        .iter()
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some(json!(call.id)),
            ContentBlock::ToolResult { id, .. } => Some(json!(id)),
            ContentBlock::Text(_) => None,
        })
        .collect();
    assert_eq!(ids, [json!("call_2_1"), json!("call_2_1")], "a result stays with its call");
    let pre = &test.log.calls_of(EventKind::PreCompact)[0];
    assert_eq!(pre.event.detail.cause.as_deref(), Some("auto"));
    assert!(test.log.outcomes.lock().unwrap().iter().all(|outcome| outcome.decision == Decision::None));
}
