// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every configuration and code example of the seeds, the documents that this project started from. Examples that
//! need the SDK of another project are left out. Each document has a module, and each test is named after its
//! example.
//!
//! If an example is a callback, the test registers its logic as a closure in an engine. If an example is a file, the
//! program reads that file.

mod a3s;
mod agent_sdk;
mod chorus;
mod llxprt;

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tenterhook_engine::Engine;
use tenterhook_event::{Event, EventId, EventKind, HookCall, Outcome, Timestamp, ToolCall};

use crate::context::TestContext;

/// Values that a callback stored, for the test to check.
#[derive(Debug, Default)]
struct Notes<T>(Arc<Mutex<Vec<T>>>);

impl<T> Clone for Notes<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Clone> Notes<T> {
    fn new() -> Self {
        Self(Arc::default())
    }

    fn add(&self, note: T) {
        self.0.lock().unwrap().push(note);
    }

    fn all(&self) -> Vec<T> {
        self.0.lock().unwrap().clone()
    }
}

fn event(kind: EventKind) -> Event {
    Event::new(EventId::from_parts(0, 0), Timestamp::from_unix_ms(0), "my-agent", kind, kind.name())
}

fn tool(kind: EventKind, name: &str, args: Value) -> Event {
    Event { tool: Some(ToolCall::new(name, args)), ..event(kind) }
}

/// An argument of the tool call, which examples write as `input.tool_input?.[key]` or `event.args.[key]`.
fn argument(event: &Event, key: &str) -> String {
    event.tool.as_ref().and_then(|tool| tool.args[key].as_str()).unwrap_or_default().to_owned()
}

fn tool_name(event: &Event) -> String {
    event.tool.as_ref().map(|tool| tool.name.clone()).unwrap_or_default()
}

async fn fire(engine: &Engine, event: Event) -> Outcome {
    engine.fire(&HookCall { event, native: None }).await
}

/// Fires an event under a profile with this settings file and returns what `--json` prints.
fn fire_profile(test: &TestContext, profile: &str, event: &str, settings: &Value, input: &Value) -> Value {
    let path = test.write("settings.json", &settings.to_string());
    let args =
        ["fire", "--profile", profile, "--event", event, "--settings", path.to_str().unwrap(), "--json"];
    let ran = test.run_with(&args, input.to_string().as_bytes());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    ran.json()
}

/// Command line of a hook that prints this answer.
fn printing_command(answer: &Value) -> String {
    format!("echo '{answer}'")
}

fn json_file(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Writes a `tenterhook.yaml` with this hook alone.
fn write_single_hook(test: &TestContext, fields: &Value) {
    let mut hook = json!({"id": "example"});
    hook.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    test.write("home/tenterhook.yaml", &json!({"hooks": [hook]}).to_string());
}
