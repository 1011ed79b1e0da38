// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads transcripts that the pinned client versions wrote. `tests/fixtures/transcripts` is a home directory in which
//! each client did the same work: write a file, fail, delete a directory, call an MCP server, start a subagent. pi
//! has no subagents and ran a script instead; its transcripts are in `tests/fixtures/pi-transcripts`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tenterhook_event::Event;

use super::{SkippedFile, TranscriptFile, TranscriptOutput, TranscriptReader, UnreadPart, find_transcripts};
use crate::transcripts_of;
use tenterhook_harness::Harness;
use tenterhook_harness_install::MachineEnvironment;

/// A copy of the fixtures with OpenCode's database.
fn home() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    copy(&fixtures.join("transcripts"), dir.path());
    copy(&fixtures.join("pi-transcripts"), dir.path());
    let sql = dir.path().join(".local/share/opencode/opencode.sql");
    let database = rusqlite::Connection::open(sql.with_extension("db")).unwrap();
    database.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    database.execute_batch(&std::fs::read_to_string(&sql).unwrap()).unwrap();
    dir
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() { copy(&path, &to) } else { assert!(std::fs::copy(&path, &to).is_ok()) }
    }
}

struct ReadTranscripts {
    events: Vec<Event>,
    unread: Vec<UnreadPart>,
    left_out: Vec<SkippedFile>,
}

fn read_all(harness: &'static Harness, home: &Path) -> ReadTranscripts {
    let machine = MachineEnvironment { home: Some(home), variables: &BTreeMap::new(), path: "".as_ref() };
    let (found, mut left_out) = find_transcripts(harness, &machine);
    let (mut events, mut unread) = (Vec::new(), Vec::new());
    let mut to = |format_events| match format_events {
        TranscriptOutput::Event(event) => events.push(*event),
        TranscriptOutput::UnreadPart(why) => unread.push(why),
        TranscriptOutput::Advanced(_) => {}
    };
    let mut reader = TranscriptReader::new(harness, &mut to);
    for one in &found {
        if let Err(error) = reader.read(one) {
            left_out.push(SkippedFile { path: one.path.clone(), why: error.to_string() });
        }
    }
    ReadTranscripts { events, unread, left_out }
}

fn of(id: &str) -> &'static Harness {
    tenterhook_harness::find_harness(id).unwrap()
}

/// One line for each event, with all its fields.
fn format_events(events: &[Event]) -> String {
    let mut text = String::new();
    for event in events {
        let mut value = serde_json::to_value(event).unwrap();
        let fields = value.as_object_mut().unwrap();
        for same in ["v", "source", "cwd"] {
            fields.remove(same);
        }
        writeln!(text, "{value}").unwrap();
        assert_eq!(event.cwd.as_deref(), Some("/home/dev/project"));
    }
    text
}

#[test]
fn what_every_client_left_is_read_to_the_last_field() {
    let home = home();
    for harness in tenterhook_harness::HARNESSES.iter().filter(|harness| transcripts_of(harness).is_some()) {
        let result = read_all(harness, home.path());
        assert_eq!((&result.unread, &result.left_out), (&vec![], &vec![]), "{}", harness.id);
        insta::assert_snapshot!(format!("transcript-{}", harness.id), format_events(&result.events));
    }
}

#[test]
fn reading_changes_nothing_and_says_the_same_again() {
    fn files(dir: &Path) -> Vec<(PathBuf, u64)> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                found.extend(files(&path));
            } else {
                found.push((path, entry.metadata().unwrap().len()));
            }
        }
        found.sort();
        found
    }
    let home = home();
    let before = files(home.path());
    for harness in tenterhook_harness::HARNESSES.iter().filter(|harness| transcripts_of(harness).is_some()) {
        let (once, again) = (read_all(harness, home.path()), read_all(harness, home.path()));
        assert_eq!(once.events, again.events, "{}", harness.id);
    }
    assert_eq!(files(home.path()), before);
}

#[test]
fn a_database_that_was_not_closed_is_read_with_its_log_and_left_alone() {
    let home = home();
    let (db, aside) = (home.path().join(".local/share/opencode/opencode.db"), home.path().join("aside"));
    std::fs::create_dir(&aside).unwrap();
    // Creates the state after a crash: the write-ahead log exists, but its index does not.
    let writer = rusqlite::Connection::open(&db).unwrap();
    writer
        .execute_batch(
            "PRAGMA wal_autocheckpoint = 0; UPDATE part SET data = replace(data, 'errand.txt', 'other.txt')",
        )
        .unwrap();
    for name in ["opencode.db", "opencode.db-wal"] {
        std::fs::copy(db.with_file_name(name), aside.join(name)).unwrap();
    }
    drop(writer);
    let left = db.parent().unwrap();
    for name in ["opencode.db", "opencode.db-wal", "opencode.db-shm"] {
        drop(std::fs::remove_file(left.join(name)));
    }
    copy(&aside, left);
    // Reads the database first without the index of the log, then with an empty index.
    for index in [None, Some("")] {
        if let Some(text) = index {
            std::fs::write(left.join("opencode.db-shm"), text).unwrap();
        }
        let before = std::fs::read(left.join("opencode.db-wal")).unwrap();
        let result = read_all(of("opencode"), home.path());
        assert!(result.left_out.is_empty(), "{:?}", result.left_out);
        assert!(format_events(&result.events).contains("touch other.txt"), "what is only in the log counts");
        let shm = std::fs::read_to_string(left.join("opencode.db-shm")).ok();
        assert_eq!(shm.as_deref(), index, "nothing is made by reading");
        assert_eq!(std::fs::read(left.join("opencode.db-wal")).unwrap(), before);
    }
}

#[test]
fn a_session_that_is_written_down_twice_is_told_once() {
    let home = home();
    let once = read_all(of("claude-code"), home.path()).events.len();
    let project = home.path().join(".claude/projects/-home-dev-project");
    let session = project.join("861cdcc5-2d89-41f0-8a3c-c34d6213dc7d.jsonl");
    // A resumed session continues in a new file that begins with the content of the first file.
    let text = std::fs::read_to_string(&session).unwrap().replace("861cdcc5", "99999999");
    std::fs::write(project.join("99999999-2d89-41f0-8a3c-c34d6213dc7d.jsonl"), text).unwrap();
    let twice = read_all(of("claude-code"), home.path()).events;
    assert_eq!(twice.len(), once + 1, "only the session itself is another");
}

#[test]
fn what_cannot_be_used_is_told_and_the_rest_is_read() {
    let home = home();
    let project = home.path().join(".claude/projects/-home-dev-project");
    let broken = [
        "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"\",\"name\":\"Bash\"}]}}",
        "not json",
        "[1]",
        "{\"type\":\"hologram\"}",
        "",
        "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"nobody\"}]}}",
        "{\"type\":\"assistant\",\"timestamp\":\"2026-11-15T08:00:00Z\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{\"command\":\"ls\"}}]}}",
        "{\"type\":\"assist",
    ];
    let session = project.join("861cdcc5-2d89-41f0-8a3c-c34d6213dc7d.jsonl");
    std::fs::remove_dir_all(session.with_extension("")).unwrap();
    let huge = format!(
        "{{\"type\":\"user\",\"message\":\"{}\"}}",
        "x".repeat(tenterhook_harness::MAX_PAYLOAD_BYTES)
    );
    std::fs::write(&session, format!("{huge}\n{}", broken.join("\n"))).unwrap();
    let result = read_all(of("claude-code"), home.path());
    assert_eq!(
        result.unread,
        [
            UnreadPart::TooLong,
            UnreadPart::Partial,
            UnreadPart::Broken,
            UnreadPart::Broken,
            UnreadPart::Unknown("hologram".to_owned()),
            UnreadPart::Partial,
            UnreadPart::Broken,
        ]
    );
    let tools: Vec<_> = result.events.iter().filter_map(|event| Some(event.tool.as_ref()?.gist())).collect();
    assert_eq!(tools, ["ls"]);
}

#[test]
fn links_and_pipes_are_named_and_never_opened() {
    let home = home();
    let project = home.path().join(".claude/projects/-home-dev-project");
    let all = read_all(of("claude-code"), home.path()).events.len();
    std::os::unix::fs::symlink("/dev/zero", project.join("zero.jsonl")).unwrap();
    std::os::unix::fs::symlink("/", project.join("root")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        project.join("pipe.jsonl"),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    let result = read_all(of("claude-code"), home.path());
    assert_eq!(result.events.len(), all);
    let why: Vec<_> = result
        .left_out
        .iter()
        .map(|one| (one.path.file_name().unwrap().to_str().unwrap(), one.why.as_str()))
        .collect();
    assert_eq!(
        why,
        [("pipe.jsonl", "not a regular file"), ("root", "symbolic link"), ("zero.jsonl", "symbolic link")]
    );
    // A pipe that replaces a file after the file was found is not opened either.
    let found = TranscriptFile { path: project.join("pipe.jsonl"), bytes: 0, modified_ms: 0 };
    let mut to = |_| {};
    assert!(TranscriptReader::new(of("claude-code"), &mut to).read(&found).is_err());
}

#[test]
fn older_forms_are_read_too() {
    let home = tempfile::tempdir().unwrap();
    let chats = home.path().join(".gemini/tmp/abc/chats");
    std::fs::create_dir_all(&chats).unwrap();
    let whole = serde_json::json!({
        "sessionId": "s", "startTime": "2025-10-01T00:00:00Z", "messages": [
            {"id": "1", "timestamp": "2025-10-01T00:00:01Z", "type": "user", "content": "hello"},
            {"id": "2", "timestamp": "2025-10-01T00:00:02Z", "type": "gemini", "content": "", "model": "m", "toolCalls": [
                {"id": "c", "name": "run_shell_command", "args": {"command": "ls"}, "status": "cancelled"},
            ]},
        ],
    });
    std::fs::write(chats.join("session-2025.json"), whole.to_string()).unwrap();
    let result = read_all(of("gemini"), home.path());
    let kinds: Vec<_> = result.events.iter().map(|event| event.event.name()).collect();
    assert_eq!(kinds, ["session-start", "prompt", "pre-tool", "tool-error"]);

    let codex = home.path().join(".codex/sessions/2025/10/01");
    std::fs::create_dir_all(&codex).unwrap();
    let lines = [
        serde_json::json!({"timestamp": "2025-10-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/w"}}),
        serde_json::json!({"timestamp": "2025-10-01T00:00:01Z", "type": "response_item", "payload": {
            "type": "custom_tool_call", "call_id": "p", "name": "apply_patch",
            "input": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch",
        }}),
        serde_json::json!({"timestamp": "2025-10-01T00:00:02Z", "type": "response_item", "payload": {
            "type": "local_shell_call", "call_id": "l", "action": {"type": "exec", "command": ["ls", "-l"]},
        }}),
        serde_json::json!({"timestamp": "2025-10-01T00:00:03Z", "type": "response_item", "payload": {
            "type": "function_call_output", "call_id": "l", "output": "{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}",
        }}),
    ];
    let text: Vec<_> = lines.iter().map(ToString::to_string).collect();
    std::fs::write(codex.join("rollout-x.jsonl"), text.join("\n")).unwrap();
    let result = read_all(of("codex"), home.path());
    assert!(result.unread.is_empty(), "{:?}", result.unread);
    let patch = result
        .events
        .iter()
        .find_map(|event| event.tool.as_ref()?.patches().first().map(ToString::to_string));
    assert!(patch.is_some_and(|patch| patch.contains("Add File: a")));
    let last = result.events.last().unwrap();
    assert_eq!((last.event.name(), last.tool.as_ref().unwrap().gist().as_ref()), ("tool-error", "ls -l"));
}
