// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Command lines and their effects on files, in short form: `delete! ~/x` deletes `~/x` and everything below it.
//! Paths in the project are relative, others start at home or root; `?` marks unknown parts.

mod code;
mod exec_locations;
mod hostile;
mod programs;

use serde_json::json;
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};

use crate::{EvalEnvironment, ExecLocation, FileEffect, facts};

fn event(tool: ToolCall) -> Event {
    let (id, now) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, now, "claude-code", EventKind::PreTool, "PreToolUse");
    event.cwd = Some("/home/user/project".into());
    event.tool = Some(tool);
    event
}

fn short(effect: &FileEffect) -> String {
    let does = serde_json::to_value(effect.does).unwrap();
    let below = if effect.recursive { "!" } else { "" };
    let side = match effect.on {
        ExecLocation::Here => "",
        ExecLocation::Container => "container:",
        ExecLocation::Remote => "remote:",
    };
    let path = &effect.path;
    let name = match (&path.in_project, &path.in_home, &path.resolved) {
        (Some(inside), _, _) if inside.is_empty() => ".",
        (Some(inside), _, _) | (None, Some(inside), Some(_)) => inside,
        (None, _, Some(whole)) => whole,
        (None, _, None) => &path.text,
    };
    let unknown = if path.dynamic || path.resolved.is_none() { "?" } else { "" };
    format!("{}{below} {side}{name}{unknown}", does.as_str().unwrap())
}

fn effects_of(tool: ToolCall) -> String {
    let facts =
        facts(&event(tool), &EvalEnvironment { home: Some("/home/user"), ..EvalEnvironment::default() });
    facts.effects.iter().map(short).collect::<Vec<_>>().join(", ")
}

fn effects_of_line(line: &str) -> String {
    effects_of(ToolCall::new("Bash", json!({ "command": line })))
}

/// Checks that every line has exactly these effects.
fn assert_effects(table: &[(&str, &str)]) {
    let wrong: Vec<_> = table
        .iter()
        .map(|(line, wanted)| (line, wanted, effects_of_line(line)))
        .filter(|(_, wanted, got)| got != *wanted)
        .map(|(line, wanted, got)| format!("{line}\n  expected: {wanted}\n  got:      {got}"))
        .collect();
    assert_eq!(wrong.join("\n"), "");
}

#[test]
fn tools_have_effects_by_their_class() {
    let path = json!({"file_path": "~/.bashrc", "path": "/etc"});
    for (name, wanted) in [
        ("Read", "read ~/.bashrc, read /etc"),
        ("Write", "write ~/.bashrc, write /etc"),
        ("Edit", "write ~/.bashrc, write /etc"),
        // By default, only names are printed.
        ("Grep", ""),
        ("grep", "read! ~/.bashrc, read! /etc"),
        ("Glob", ""),
        ("mcp__files__read_file", "read ~/.bashrc, read /etc"),
        ("mcp__files__write_file", "write ~/.bashrc, write /etc"),
        ("mcp__files__delete_file", "delete! ~/.bashrc, delete! /etc"),
        ("TodoWrite", ""),
    ] {
        assert_eq!(effects_of(ToolCall::new(name, path.clone())), wanted, "{name}");
    }
    let search = |glob: &str| {
        let args = json!({"pattern": "x", "path": "~", "output_mode": "content", "glob": glob});
        effects_of(ToolCall::new("Grep", args))
    };
    assert_eq!(search("*"), "read! ~");
    assert_eq!(search("!*.json"), "read! ~");
    assert_eq!(search("*.{ts,js}"), "read ~/**/*.ts, read ~/**/*.js");
    assert_eq!(
        effects_of(ToolCall::new("WebFetch", json!({"url": "file:///etc/passwd"}))),
        "read /etc/passwd"
    );
    let view = json!({"command": "view", "path": "x"});
    assert_eq!(effects_of(ToolCall::new("developer__text_editor", view)), "read x");
}

#[test]
fn patches_have_effects_wherever_they_are() {
    let text = "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: ~/b\n*** Update File: /etc/c\n*** Move to: d\n*** End Patch\n";
    let wanted = "write a, delete ~/b, move /etc/c, write d";
    assert_eq!(effects_of(ToolCall::new("apply_patch", json!({ "input": text }))), wanted);
    let call = ToolCall::new("apply_patch", json!({ "input": text }));
    assert_eq!(facts(&event(call), &EvalEnvironment::default()).contents, ["x\n"]);
    let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    assert_effects(&[
        (&format!("git apply <<'EOF'\n{diff}EOF"), "write x"),
        (&format!("patch -p1 <<'EOF'\n{diff}EOF"), "write x"),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: x\n*** End Patch\nEOF", "delete x"),
        ("apply_patch '*** Begin Patch\n*** Add File: x\n+1\n*** End Patch'", "write x"),
        ("patch -p1 < x.diff", "read x.diff"),
        ("git apply --check <<'EOF'\n--- a/x\n+++ b/x\nEOF", ""),
    ]);
}

#[test]
fn a_file_that_the_same_line_writes_is_read_when_it_is_run() {
    assert_effects(&[
        ("echo 'rm -rf /srv' > x.sh; bash x.sh", "write x.sh, run x.sh, delete! /srv"),
        (
            "cat > x.sh <<'EOF'\nrm -rf /srv\nEOF\nchmod +x x.sh && ./x.sh",
            "write x.sh, permit x.sh, run x.sh, delete! /srv",
        ),
        ("echo ./x.sh > x.sh; sh x.sh", "write x.sh, run x.sh, run x.sh"),
    ]);
}
