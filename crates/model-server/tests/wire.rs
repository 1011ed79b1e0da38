// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests the server over a raw socket, without a client library.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use tenterhook_model_server::{ConversationScript, Fault, ModelServer, ModelTurn, ToolResult};

/// Sends one request and returns the status line and the body.
fn exchange(server: &ModelServer, method: &str, path: &str, body: &str) -> io::Result<(String, String)> {
    let mut stream = TcpStream::connect(server.address())?;
    let length = body.len();
    write!(stream, "{method} {path} HTTP/1.1\r\nhost: model\r\ncontent-length: {length}\r\n\r\n{body}")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::InvalidData)?;
    Ok((head.lines().next().unwrap_or_default().to_owned(), body.to_owned()))
}

fn ask(server: &ModelServer, body: &Value) -> io::Result<String> {
    let (status, body) = exchange(server, "POST", "/v1/messages?beta=true", &body.to_string())?;
    assert_eq!(status, "HTTP/1.1 200 OK");
    Ok(body)
}

fn ask_json(server: &ModelServer, body: &Value) -> io::Result<Value> {
    Ok(serde_json::from_str(&ask(server, body)?)?)
}

fn with_tools(messages: &Value) -> Value {
    json!({"model": "m", "tools": [{"name": "Bash"}], "messages": messages})
}

#[test]
fn turns_are_answered_in_order_and_then_done() {
    let script = ConversationScript::new()
        .turn(ModelTurn::text("look").and_tool("Bash", json!({"command": "ls"})))
        .turn(ModelTurn::text("bye"));
    let server = ModelServer::start(script).unwrap();

    let first = ask_json(&server, &with_tools(&json!([]))).unwrap();
    assert_eq!(first["stop_reason"], "tool_use");
    assert_eq!(first["content"][0], json!({"type": "text", "text": "look"}));
    assert_eq!(first["content"][1]["input"], json!({"command": "ls"}));

    let second = ask_json(&server, &with_tools(&json!([]))).unwrap();
    assert_eq!((&second["stop_reason"], &second["content"][0]["text"]), (&json!("end_turn"), &json!("bye")));

    let third = ask_json(&server, &with_tools(&json!([]))).unwrap();
    assert_eq!((&third["stop_reason"], &third["content"][0]["text"]), (&json!("end_turn"), &json!("done")));
}

#[test]
fn a_request_without_tools_consumes_no_turn() {
    let server = ModelServer::start(ConversationScript::new().turn(ModelTurn::text("first"))).unwrap();
    let aside = ask_json(&server, &json!({"model": "m", "messages": []})).unwrap();
    assert_eq!(aside["content"][0]["text"], "ok");
    let turn = ask_json(&server, &with_tools(&json!([]))).unwrap();
    assert_eq!(turn["content"][0]["text"], "first");
    assert_eq!((server.requests().len(), server.agent_requests().len()), (2, 1));
}

#[test]
fn a_stream_spells_out_the_same_turn() {
    let script =
        ConversationScript::new().turn(ModelTurn::text("look").and_tool("Bash", json!({"command": "ls"})));
    let server = ModelServer::start(script).unwrap();
    let mut body = with_tools(&json!([]));
    body["stream"] = json!(true);
    let text = ask(&server, &body).unwrap();

    let names: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let mut expected = vec!["message_start"];
    expected.extend(block);
    expected.extend(block);
    expected.extend(["message_delta", "message_stop"]);
    assert_eq!(names, expected);

    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let data: Vec<Value> = data.map(|data| serde_json::from_str(data).unwrap()).collect();
    assert_eq!(data[2]["delta"], json!({"type": "text_delta", "text": "look"}));
    assert_eq!(data[4]["content_block"]["input"], json!({}));
    assert_eq!(data[5]["delta"], json!({"type": "input_json_delta", "partial_json": r#"{"command":"ls"}"#}));
    assert_eq!(data[7]["delta"]["stop_reason"], "tool_use");
}

/// The stream of a turn with a fault, and its duration.
fn faulty(turn: ModelTurn) -> io::Result<(String, String, std::time::Duration)> {
    let server = ModelServer::start(ConversationScript::new().turn(turn))?;
    let body = json!({"model": "m", "stream": true, "tools": [{"name": "Bash"}], "messages": []});
    let began = std::time::Instant::now();
    let (status, text) = exchange(&server, "POST", "/v1/messages", &body.to_string())?;
    Ok((status, text, began.elapsed()))
}

#[test]
fn a_turn_goes_wrong_as_its_fault_says() {
    let turn = ModelTurn::text("in the pieces in which it is streamed");
    let events = |text: &str| text.matches("\n\n").count();
    let (status, whole, _) = faulty(turn.clone()).unwrap();
    assert_eq!((status.as_str(), events(&whole)), ("HTTP/1.1 200 OK", 8));

    let (_, cut, _) = faulty(turn.clone().with_fault(Fault::Cut { after: 3 })).unwrap();
    assert_eq!(events(&cut), 3);
    let (_, short, _) = faulty(turn.clone().with_fault(Fault::Short { after: 3 })).unwrap();
    assert_eq!(events(&short), 3);
    let (_, malformed, _) = faulty(turn.clone().with_fault(Fault::Malformed { after: 3 })).unwrap();
    assert_eq!((events(&malformed), malformed.matches("nonsense").count()), (9, 1));
    let (_, stalled, took) = faulty(turn.with_fault(Fault::Stall { after: 3, ms: 150 })).unwrap();
    assert_eq!(events(&stalled), 8);
    assert!(took >= std::time::Duration::from_millis(150), "{took:?}");

    let (status, body, _) = faulty(ModelTurn::status(529)).unwrap();
    assert_eq!(status, "HTTP/1.1 529 Scripted");
    assert!(body.contains("the script says so"), "{body}");
}

#[test]
fn call_ids_are_unique_even_between_servers() {
    let mut ids = std::collections::HashSet::new();
    for _ in 0..2 {
        let turn = ModelTurn::tool("Bash", json!({})).and_tool("Bash", json!({}));
        let server = ModelServer::start(ConversationScript::new().turn(turn)).unwrap();
        let answer = ask_json(&server, &with_tools(&json!([]))).unwrap();
        for block in answer["content"].as_array().unwrap() {
            assert!(ids.insert(block["id"].as_str().unwrap().to_owned()));
        }
    }
    assert_eq!(ids.len(), 4);
}

#[test]
fn a_result_repeated_by_the_history_is_reported_once() {
    let server = ModelServer::start(ConversationScript::new()).unwrap();
    let result = |id: &str, text: &str| {
        json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": false}]})
    };
    ask(&server, &with_tools(&json!([result("a", "one")]))).unwrap();
    ask(&server, &with_tools(&json!([result("a", "one"), result("b", "two")]))).unwrap();
    let expected = [("a", "one"), ("b", "two")].map(|(id, text)| ToolResult {
        call_id: id.into(),
        is_error: false,
        text: text.into(),
    });
    assert_eq!(server.tool_results(), expected);
}

#[test]
fn probes_are_welcome_and_strangers_are_not() {
    let server = ModelServer::start(ConversationScript::new()).unwrap();
    let ok = "HTTP/1.1 200 OK".to_owned();
    assert_eq!(exchange(&server, "HEAD", "/", "").unwrap(), (ok.clone(), String::new()));
    assert_eq!(exchange(&server, "GET", "/", "").unwrap().0, ok);

    let (status, body) = exchange(&server, "POST", "/v2/messages", "{}").unwrap();
    assert_eq!(status, "HTTP/1.1 404 Not Found");
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["error"]["message"], "nothing is served at `/v2/messages`");

    let (status, _) = exchange(&server, "POST", "/v1/messages", "not json").unwrap();
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
    assert!(server.requests().is_empty());
}

#[test]
fn dropping_the_server_closes_the_port_even_with_a_client_half_way() {
    let server = ModelServer::start(ConversationScript::new()).unwrap();
    let address = server.address();
    let mut idle = TcpStream::connect(address).unwrap();
    idle.write_all(b"POST /v1/messages HTTP/1.1\r\ncontent-length: 10\r\n\r\n").unwrap();
    drop(server);
    assert!(TcpStream::connect(address).is_err());
}
