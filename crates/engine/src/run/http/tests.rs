// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests HTTP hooks with a real server on the loopback interface.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::json;
use tenterhook_event::{Decision, Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_harness::dialect;

use super::*;

/// Time limit for tests in which no response arrives.
const SHORT_TIMEOUT: Duration = Duration::from_millis(400);
/// Time limit for tests in which a response arrives; longer than a busy machine needs.
const LONG_TIMEOUT: Duration = Duration::from_secs(20);

/// Starts a server that passes one request to the test. The server answers with these bytes, or not at all.
fn start_server(answer: Option<&'static str>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else { return };
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(read) = stream.read(&mut buffer) {
            request.extend(&buffer[..read]);
            if read == 0 || request.ends_with(b"}") {
                break;
            }
        }
        send.send(String::from_utf8_lossy(&request).into_owned()).unwrap();
        match answer {
            Some(answer) => drop(stream.write_all(answer.as_bytes())),
            // Reads until the caller disconnects.
            None => while stream.read(&mut buffer).is_ok_and(|read| read > 0) {},
        }
    });
    (url, receive)
}

fn call() -> HookCall {
    let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, ts, "claude-code", EventKind::PreTool, "PreToolUse");
    event.tool = Some(ToolCall::new("Bash", json!({"command": "ls"})));
    HookCall { event, native: None }
}

fn hook(url: String) -> HttpHook {
    let headers = vec![("authorization".to_owned(), "Bearer t".to_owned())];
    HttpHook { url, headers, dialect: dialect::find("claude").unwrap(), max_output_bytes: 1024 }
}

async fn ask(answer: Option<&'static str>, limit: Duration) -> Result<InterpretedOutput, String> {
    let (url, _requests) = start_server(answer);
    run(&hook(url), &call(), Origin::hook("h"), limit).await.map_err(|failure| match failure {
        RunFailure::TimedOut => "timed out".to_owned(),
        RunFailure::Failed(why) | RunFailure::Unreachable(why) => why,
    })
}

#[tokio::test]
async fn the_payload_is_posted_and_a_json_answer_decides() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 35\r\n\r\n{\"decision\":\"block\",\"reason\":\"no!\"}";
    let (url, requests) = start_server(Some(answer));
    let answer = run(&hook(url), &call(), Origin::hook("h"), LONG_TIMEOUT).await.ok().unwrap();
    assert_eq!((answer.finding.decision, answer.finding.reason.as_deref()), (Decision::Deny, Some("no!")));
    let request = requests.recv().unwrap();
    assert!(request.starts_with("POST /hook HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("authorization: Bearer t\r\n"), "{request}");
    assert!(request.contains("\"hook_event_name\":\"PreToolUse\""), "{request}");
}

#[tokio::test]
async fn an_empty_answer_objects_to_nothing() {
    let answer = ask(Some("HTTP/1.1 204 No Content\r\n\r\n"), LONG_TIMEOUT).await.unwrap();
    assert_eq!(answer.finding.decision, Decision::None);
}

#[tokio::test]
async fn any_other_answer_is_a_failure() {
    for (answer, expected) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", "the response is not a JSON object"),
        ("HTTP/1.1 403 Forbidden\r\ncontent-length: 20\r\n\r\n{\"decision\":\"block\"}", "HTTP status 403"),
        ("HTTP/1.1 307 T\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", "HTTP status 307"),
    ] {
        let why = ask(Some(answer), LONG_TIMEOUT).await.unwrap_err();
        assert!(why.contains(expected), "{why}");
    }
    let unreachable = hook("http://127.0.0.1:1/".to_owned());
    assert!(run(&unreachable, &call(), Origin::hook("h"), SHORT_TIMEOUT).await.is_err());
}

#[tokio::test]
async fn an_answer_after_the_time_limit_does_not_count() {
    let why = ask(None, SHORT_TIMEOUT).await.unwrap_err();
    assert!(why.contains("timed out") || why.contains("timeout"), "{why}");
}

#[tokio::test]
async fn an_answer_without_end_is_cut() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\n{";
    let (url, _requests) = start_server(Some(answer));
    let small = HttpHook { max_output_bytes: 16, ..hook(url) };
    assert!(run(&small, &call(), Origin::hook("h"), SHORT_TIMEOUT).await.is_err());
}
