// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Seed 003: the design of hooks for A3S Box.

mod engine;
mod examples;
mod files;

use serde_json::{Value, json};
use tenterhook_engine::{Engine, EventMatcher, Hook, response};
use tenterhook_event::EventKind::{PostModel, PreTool};
use tenterhook_event::{Decision, Event};
use tenterhook_harness::dialect::A3sMatcher;

use super::{event, fire, tool};

fn bash(command: &str) -> Event {
    tool(PreTool, "Bash", json!({"command": command}))
}

fn write(path: &str, content: &str) -> Event {
    tool(PreTool, "Write", json!({"file_path": path, "content": content}))
}

/// Adds the conditions of a registration's `matcher: {…}` to a hook.
fn matching(matcher: Value, hook: Hook) -> Hook {
    let matcher: A3sMatcher = serde_json::from_value(matcher).unwrap();
    Hook { matcher: EventMatcher::a3s(&matcher).unwrap(), ..hook }
}

fn with(hooks: impl IntoIterator<Item = Hook>) -> Engine {
    Engine::builder().hooks(hooks).build().unwrap()
}

fn silent(id: &str) -> Hook {
    Hook::on(id, PreTool).run(|_| async { response::none() })
}

async fn decision(engine: &Engine, event: Event) -> Decision {
    fire(engine, event).await.decision
}

fn generated(tokens: u64) -> Event {
    let mut event = event(PostModel);
    event.harness_session_id = Some("s-1".into());
    event.detail.model_response = Some(json!({"text": "t", "usage": {"total_tokens": tokens}}));
    event
}

fn tokens(event: &Event) -> u64 {
    let response = event.detail.model_response.as_ref().unwrap();
    response["usage"]["total_tokens"].as_u64().unwrap()
}
