// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests the three protocols over HTTP with the scripted model server.

mod faults;
mod reading;

use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_model_server::{ConversationScript, ModelServer, ModelTurn, TurnUsage as Cost};

use super::*;

const PROVIDER_NAMES: [&str; 3] = ["anthropic", "openai", "gemini"];
const SECRET: &str = "sk-not-to-be-seen";

fn limits() -> ProviderLimits {
    ProviderLimits {
        connect: Duration::from_secs(2),
        idle: Duration::from_millis(200),
        attempts: 3,
        pause: Duration::from_millis(10),
        max_pause: Duration::from_secs(2),
    }
}

fn provider(name: &str, url: &str) -> Box<dyn Provider> {
    // The base URL of this protocol includes the API version.
    let base_url = if name == "openai" { format!("{url}/v1") } else { url.to_owned() };
    let settings = ProviderSettings { key: ApiKey::new(SECRET), base_url: Some(base_url), limits: limits() };
    provider_by_name(name, settings).unwrap()
}

fn request(messages: Vec<ChatMessage>) -> ModelRequest {
    let schema = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    let tool = ToolSpec { name: "Bash".to_owned(), description: "Runs a command.".to_owned(), schema };
    ModelRequest {
        model: "some-model".to_owned(),
        purpose: RequestPurpose::default(),
        system: Some("be brief".to_owned()),
        messages,
        tools: vec![tool],
        tool_choice: ToolChoice::Auto,
        max_tokens: 1000,
        temperature: Some(0.5),
        sampling: SamplingOptions {
            top_p: Some(0.9),
            top_k: Some(40),
            stop_sequences: vec!["END".to_owned()],
        },
    }
}

struct ProviderRun {
    result: Result<ModelReply, ProviderError>,
    deltas: Vec<ReplyDelta>,
}

impl ProviderRun {
    /// Returns all text that was reported, in order.
    fn reported_text(&self) -> String {
        let texts = self.deltas.iter().filter_map(|delta| match delta {
            ReplyDelta::Text(text) => Some(text.as_str()),
            ReplyDelta::ToolCall(_) => None,
        });
        texts.collect()
    }
}

async fn ask(provider: &dyn Provider, request: &ModelRequest) -> ProviderRun {
    let mut deltas = Vec::new();
    let result = provider.generate(request, &mut |delta| deltas.push(delta), &CancelToken::new()).await;
    ProviderRun { result, deltas }
}

/// Sends the same request with each provider, each to its own server.
async fn for_each_provider(script: &ConversationScript, check: impl Fn(&str, ProviderRun, &ModelServer)) {
    for name in PROVIDER_NAMES {
        let server = ModelServer::start(script.clone()).unwrap();
        let asked = ask(&*provider(name, &server.url()), &request(vec![ChatMessage::user("go")])).await;
        check(name, asked, &server);
    }
}

#[tokio::test]
async fn text_arrives_in_pieces_and_tokens_are_counted() {
    let text = "Words come in pieces, ümläuts and all, and none of them is lost.";
    let cost = Cost { input: 700, output: 80, cache_read: 300, cache_write: 0 };
    let script = ConversationScript::new().turn(ModelTurn::text(text).with_usage(cost));
    for_each_provider(&script, |name, asked, server| {
        assert!(asked.deltas.len() > 2, "{name}: {:?}", asked.deltas);
        assert_eq!(asked.reported_text(), text, "{name}");
        let reply = asked.result.unwrap();
        assert_eq!((reply.text.as_str(), reply.stop), (text, StopReason::EndTurn), "{name}");
        assert_eq!(
            reply.usage,
            ModelUsage { input: 700, output: 80, cache_read: 300, cache_write: 0 },
            "{name}"
        );
        let model = if name == "gemini" { "scripted" } else { "some-model" };
        assert_eq!(reply.model, model, "{name}");
        assert_eq!(server.agent_requests().len(), 1, "{name}");
    })
    .await;
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_goes_back() {
    let long = "cat /a/path/that/is/longer/than/one/piece/of/a/stream";
    for name in PROVIDER_NAMES {
        let script = ConversationScript::new()
            .turn(ModelTurn::text("let me look").and_tool("Bash", json!({"command": long})))
            .turn(ModelTurn::tool("Bash", json!({})))
            .turn(ModelTurn::text("bye"));
        let server = ModelServer::start(script).unwrap();
        let provider = provider(name, &server.url());
        let mut messages = vec![ChatMessage::user("go")];
        for (expected, content, is_error) in
            [(json!({"command": long}), "fine", false), (json!({}), "no command", true)]
        {
            let asked = ask(&*provider, &request(messages.clone())).await;
            let reply = asked.result.unwrap();
            assert_eq!(reply.stop, StopReason::ToolUse, "{name}");
            let [call] = &reply.tool_calls[..] else { panic!("{name}: {reply:?}") };
            assert_eq!((call.name.as_str(), &call.args), ("Bash", &expected), "{name}");
            assert_eq!(asked.deltas.last(), Some(&ReplyDelta::ToolCall(call.clone())), "{name}");
            let blocks = vec![ContentBlock::Text(reply.text.clone()), ContentBlock::ToolCall(call.clone())];
            messages.push(ChatMessage { role: ChatRole::Assistant, blocks });
            let result =
                ContentBlock::ToolResult { id: call.id.clone(), content: content.to_owned(), is_error };
            messages.push(ChatMessage { role: ChatRole::User, blocks: vec![result] });
        }
        let last = ask(&*provider, &request(messages)).await.result.unwrap();
        assert_eq!((last.text.as_str(), last.stop), ("bye", StopReason::EndTurn), "{name}");
        let results = server.tool_results();
        let results: Vec<_> = results.iter().map(|result| (result.text.as_str(), result.is_error)).collect();
        // OpenAI has no flag for failures.
        assert_eq!(results, [("fine", false), ("no command", name != "openai")], "{name}");
    }
}

#[tokio::test]
async fn parallel_tool_calls_are_complete_and_distinct() {
    let turn = (1..=3)
        .fold(ModelTurn::default(), |turn, n| turn.and_tool("Bash", json!({"command": format!("run {n}")})));
    for_each_provider(&ConversationScript::new().turn(turn), |name, asked, _| {
        let reply = asked.result.unwrap();
        let commands: Vec<_> = reply.tool_calls.iter().map(|call| call.args["command"].clone()).collect();
        assert_eq!(commands, ["run 1", "run 2", "run 3"], "{name}");
        let mut ids: Vec<_> = reply.tool_calls.iter().map(|call| call.id.clone()).collect();
        ids.dedup();
        assert_eq!(ids.len(), 3, "{name}");
        assert_eq!(asked.deltas.len(), 3, "{name}");
    })
    .await;
}

#[tokio::test]
async fn each_protocol_gets_its_own_request_format() {
    let call = ModelToolCall { id: "c1".to_owned(), name: "Bash".to_owned(), args: json!({"command": "ls"}) };
    let result =
        ContentBlock::ToolResult { id: "c1".to_owned(), content: "a.txt".to_owned(), is_error: false };
    let messages = vec![
        ChatMessage::user("go"),
        ChatMessage {
            role: ChatRole::Assistant,
            blocks: vec![ContentBlock::Text(String::new()), ContentBlock::ToolCall(call)],
        },
        ChatMessage { role: ChatRole::User, blocks: vec![ContentBlock::Text("and now?".to_owned()), result] },
    ];
    let mut sent = Vec::new();
    for name in PROVIDER_NAMES {
        let server = ModelServer::start(ConversationScript::new()).unwrap();
        ask(&*provider(name, &server.url()), &request(messages.clone())).await.result.unwrap();
        sent.extend(server.requests());
    }
    insta::assert_json_snapshot!(Value::Array(sent));
}

#[tokio::test]
async fn the_key_goes_into_the_header_that_each_protocol_has_for_it() {
    use std::io::{Read as _, Write as _};
    for (name, header) in [
        ("anthropic", "x-api-key: sk-not-to-be-seen\r\n"),
        ("openai", "authorization: Bearer sk-not-to-be-seen\r\n"),
        ("gemini", "x-goog-api-key: sk-not-to-be-seen\r\n"),
    ] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let request_head = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = vec![0; 4096];
            let read = stream.read(&mut head).unwrap();
            stream.write_all(b"HTTP/1.1 400 Bad\r\ncontent-length: 0\r\n\r\n").unwrap();
            String::from_utf8_lossy(&head[..read]).into_owned()
        });
        ask(&*provider(name, &url), &request(Vec::new())).await.result.unwrap_err();
        let head = request_head.join().unwrap();
        assert!(head.contains(header), "{head}");
        assert_eq!(head.matches(SECRET).count(), 1, "{head}");
    }
}
