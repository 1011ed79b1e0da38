// SPDX-License-Identifier: Apache-2.0 OR MIT

//! In system mode an account cannot read the data of another account, and cannot keep the daemon from answering.

use serde_json::{Value, json};

use crate::system::{SystemHome, as_stranger, is_root};
use crate::terminal_user::request;

/// A hook's id may equal the name of a harness. A request to test the hook must not be treated as a call from
/// the harness.
#[test]
fn another_account_cannot_test_the_hooks_of_root() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let ran = system.test.path("ran");
    let hook = format!("  - {{id: codex, on: pre-tool, command: 'touch {}'}}\n", ran.display());
    system.test.write("system/tenterhook.yaml", &format!("hooks:\n{hook}"));
    let _guard = system.serve();
    let socket = system.socket();
    let sample = json!({"sample": {"event": "pre-tool", "tool": "Bash", "args": {"command": "ls"}}});
    for path in [
        "/v1/hooks/codex/test",
        "/v1/hooks/codex/enable",
        "/v1/hooks/codex/disable",
        "/v1/hooks/codex/%74est",
        "/v1/hooks/codex/no-such-event",
        "/v1/hooks/codex/test/",
        "/v1/hooks//test",
    ] {
        let (status, answer) = as_stranger(|| request(&socket, "POST", path, &sample));
        assert_eq!(status, 403, "{path}: {answer}");
    }
    assert!(!ran.exists(), "the hook ran");
    let (status, answer) = request(&socket, "GET", "/v1/hooks", &Value::Null);
    assert_eq!((status, &answer["hooks"][0]["id"]), (200, &json!("codex")), "the hook is there: {answer}");
}
