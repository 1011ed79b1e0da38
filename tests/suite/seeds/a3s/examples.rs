// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Seed 003's complete examples: policy, formatting, costs, permissions.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tenterhook_engine::{Hook, response};
use tenterhook_event::EventKind::{PermissionRequest, PostModel, PostTool, PreTool};
use tenterhook_event::{Decision, Event};

use super::{bash, decision, generated, matching, tokens, with};
use crate::seeds::{Notes, argument, fire, tool};

fn written(path: &str, success: bool) -> Event {
    let mut event = tool(PostTool, "Write", json!({"file_path": path}));
    event.detail.tool_output = Some(json!({"success": success}));
    event
}

/// Pretends to run `formatter` on written files and notes the command.
fn formats(executed: &Notes<String>, formatter: fn(&str) -> Option<&'static str>) -> Hook {
    let execute = executed.clone();
    Hook::on("format", PostTool).run(move |event| {
        let path = argument(&event, "file_path");
        let extension = path.rsplit('.').next().unwrap_or_default();
        let success = event.detail.tool_output.as_ref().is_some_and(|output| output["success"] == true);
        if let Some(formatter) = formatter(extension).filter(|_| success) {
            execute.add(format!("{formatter} {path}"));
        }
        async { response::none() }
    })
}

// Seed 003, "TypeScript SDK": "Post-execution hooks".
// seed: 003-036
#[tokio::test]
async fn run_rustfmt_after_writing_rust_files() {
    let executed = Notes::new();
    let hook = formats(&executed, |_| Some("rustfmt"));
    let engine = with([matching(json!({"tool": "Write", "pathPattern": "*.rs"}), hook)]);
    for (path, success) in [("/src/a.rs", true), ("/src/b.rs", false), ("/src/c.py", true)] {
        assert_eq!(decision(&engine, written(path, success)).await, Decision::None);
    }
    assert_eq!(executed.all(), ["rustfmt /src/a.rs"]);
}

// Seed 003, "Auto-Format Hook".
// seed: 003-094
#[tokio::test]
async fn auto_format_hook() {
    let executed = Notes::new();
    let hook = formats(&executed, |extension| match extension {
        "rs" => Some("rustfmt"),
        "py" => Some("black"),
        "ts" | "js" => Some("prettier --write"),
        "go" => Some("gofmt -w"),
        _ => None,
    });
    let engine = with([matching(json!({"tool": "Write"}), hook)]);
    for path in ["/a.rs", "/a.py", "/a.ts", "/a.js", "/a.go", "/a.txt"] {
        fire(&engine, written(path, true)).await;
    }
    fire(&engine, written("/failed.rs", false)).await;
    let expected = [
        "rustfmt /a.rs",
        "black /a.py",
        "prettier --write /a.ts",
        "prettier --write /a.js",
        "gofmt -w /a.go",
    ];
    assert_eq!(executed.all(), expected);
}

// Seed 003, "Security Policy Hook".
// seed: 003-093
#[tokio::test]
async fn security_policy_hook() {
    const DANGEROUS: [&str; 4] = [r"rm\s+-rf\s+\/", r"mkfs\.", r"dd\s+if=.*of=\/dev", r">\s*\/dev\/sd"];
    let hooks = DANGEROUS.iter().enumerate().map(|(at, pattern)| {
        let hook = Hook::on(&format!("dangerous-{at}"), PreTool).run(move |_| async move {
            response::deny(format!("Blocked dangerous command matching {pattern}"))
        });
        matching(json!({"tool": "Bash", "command_pattern": pattern}), hook)
    });
    let engine = with(hooks);
    for (command, pattern) in [
        ("sudo rm  -rf /", 0),
        ("mkfs.ext4 /dev/sda1", 1),
        ("dd if=/dev/zero bs=1M of=/dev/sda", 2),
        ("cat image >/dev/sdb", 3),
    ] {
        let outcome = fire(&engine, bash(command)).await;
        assert_eq!(outcome.decision, Decision::Deny, "{command}");
        let reason = format!("Blocked dangerous command matching {}", DANGEROUS[pattern]);
        assert!(outcome.reasons.iter().any(|said| said.value == reason), "{command}: {outcome:?}");
    }
    for command in ["rm -rf build", "dd if=a of=b", "cat < /dev/sdb", "mkfs"] {
        assert_eq!(decision(&engine, bash(command)).await, Decision::None, "{command}");
    }
}

// Seed 003, "Cost Tracking Hook".
// seed: 003-095
#[tokio::test]
async fn cost_tracking_hook() {
    let usage = Arc::new(Mutex::new((0_u64, 0_u64)));
    let total = Arc::clone(&usage);
    let engine = with([Hook::on("cost", PostModel).run(move |event| {
        let mut usage = total.lock().unwrap();
        usage.0 += tokens(&event);
        // A cent for every thousand tokens.
        usage.1 += tokens(&event) / 1000;
        let cents = usage.1;
        async move {
            if cents > 1000 {
                return response::none().message(format!(
                    "Session cost exceeded $10: ${}.{:02}",
                    cents / 100,
                    cents % 100
                ));
            }
            response::none()
        }
    })]);
    assert_eq!(fire(&engine, generated(900_000)).await.message_text(), None);
    let outcome = fire(&engine, generated(200_000)).await;
    assert_eq!(outcome.message_text().as_deref(), Some("Session cost exceeded $10: $11.00"));
    assert_eq!(outcome.decision, Decision::None);
    assert_eq!(*usage.lock().unwrap(), (1_100_000, 1100));
}

// Seed 003, "Permission Escalation Hook".
// seed: 003-096
#[tokio::test]
async fn permission_escalation_hook() {
    let dialogs = Notes::new();
    let shown = dialogs.clone();
    let engine =
        with([Hook::on("confirm", PermissionRequest).timeout(Duration::from_secs(30)).run(move |event| {
            let tool = event.tool.clone().unwrap();
            let sensitive = ["Bash", "Write", "Edit"].contains(&tool.name.as_str());
            if sensitive {
                shown.add((
                    format!("Allow {}?", tool.name),
                    format!("The agent wants to execute: {}", tool.args),
                ));
            }
            let confirmed = tool.args["command"] == "ls";
            async move {
                if sensitive && !confirmed {
                    return response::deny("User denied permission");
                }
                response::none()
            }
        })]);
    let ask = |name: &str, command: &str| tool(PermissionRequest, name, json!({"command": command}));
    assert_eq!(decision(&engine, ask("Bash", "ls")).await, Decision::None);
    let outcome = fire(&engine, ask("Bash", "rm")).await;
    assert_eq!(
        (outcome.decision, outcome.reason().as_deref()),
        (Decision::Deny, Some("User denied permission"))
    );
    assert_eq!(decision(&engine, ask("Read", "rm")).await, Decision::None);
    let titles: Vec<_> = dialogs.all().into_iter().map(|(title, _)| title).collect();
    assert_eq!(titles, ["Allow Bash?", "Allow Bash?"]);
    assert_eq!(dialogs.all()[1].1, r#"The agent wants to execute: {"command":"rm"}"#);
}
