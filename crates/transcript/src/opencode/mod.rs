// SPDX-License-Identifier: Apache-2.0 OR MIT

//! OpenCode's transcripts, which are in the SQLite database `opencode.db`. Reading does not create, repair or lock
//! the database.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tenterhook_event::Timestamp;

use crate::{EventContext, RecordedToolResult, TranscriptReader, Transcripts, UnreadPart, open_regular_file};

pub(super) const TRANSCRIPTS: Transcripts = Transcripts {
    variables: &["XDG_DATA_HOME"],
    directories: |machine| {
        let data = machine.variable_or("XDG_DATA_HOME", ".local/share");
        data.map(|data| data.join("opencode")).into_iter().collect()
    },
    // Builds of other release channels have their own database, such as `opencode-dev.db`.
    is_transcript: |path| {
        let own = path.to_str().is_some_and(|name| name.starts_with("opencode"));
        own && path.iter().count() == 1 && path.extension().is_some_and(|extension| extension == "db")
    },
    read,
    usage: None,
};

/// Types of message parts without tool calls.
const IGNORED_TYPES: &[&str] = &[
    "agent",
    "compaction",
    "file",
    "patch",
    "reasoning",
    "retry",
    "snapshot",
    "step-finish",
    "step-start",
    "subtask",
];

/// Every part with its session and message, in chronological order. Ids of parts sort by time.
const PARTS_QUERY: &str =
    "SELECT s.id, s.parent_id, s.directory, s.agent, s.time_created, m.data, p.id, p.data, p.time_created
    FROM part p JOIN message m ON m.id = p.message_id JOIN session s ON s.id = p.session_id
    ORDER BY s.time_created, s.id, m.time_created, m.id, p.id";

fn read(path: &Path, reader: &mut TranscriptReader<'_>) -> std::io::Result<()> {
    let bytes = open_regular_file(path)?.metadata()?.len();
    let done = read_parts(path, reader).map_err(|error| std::io::Error::other(error.to_string()));
    reader.report_progress(bytes);
    done
}

fn read_parts(path: &Path, reader: &mut TranscriptReader<'_>) -> rusqlite::Result<()> {
    let connection = open(path)?;
    let mut statement = connection.prepare(PARTS_QUERY)?;
    let mut rows = statement.query([])?;
    let mut session = String::new();
    while let Some(row) = rows.next()? {
        let text = |at: usize| row.get::<_, Option<String>>(at).map(Option::unwrap_or_default);
        let ms = |at: usize| {
            row.get::<_, i64>(at).map(|ms| Timestamp::from_unix_ms(u64::try_from(ms).unwrap_or(0)))
        };
        let (id, parent) = (text(0)?, text(1)?);
        let message: Value = serde_json::from_str(&text(5)?).unwrap_or_default();
        let message_field = |place: &[&str]| {
            let value = place.iter().try_fold(&message, |value, key| value.get(key));
            value.and_then(Value::as_str).map(ToOwned::to_owned)
        };
        let mut context = EventContext {
            ts: Some(ms(4)?),
            session: Some(id.clone()),
            cwd: message_field(&["path", "cwd"]).or(Some(text(2)?)).filter(|cwd| !cwd.is_empty()),
            project: message_field(&["path", "root"]).filter(|root| root != "/").or(Some(text(2)?)),
            model: message_field(&["modelID"]).or_else(|| message_field(&["model", "modelID"])),
            ..EventContext::default()
        };
        if !parent.is_empty() {
            context.agent.clone_from(&context.session);
            context.agent_type = Some(text(3)?).filter(|agent| !agent.is_empty());
            context.agent_parent = Some(parent);
        }
        if id != session {
            session = id;
            if context.agent.is_some() {
                reader.emit_subagent_start(&context);
            } else {
                reader.emit_session_start(&context);
            }
        }
        context.ts = Some(ms(8)?);
        context.turn = message_field(&["parentID"]);
        match serde_json::from_str::<Value>(&text(7)?) {
            Ok(part) => read_part(&part, &text(6)?, message_field(&["role"]).as_deref(), &context, reader),
            Err(_) => reader.report_unread(UnreadPart::Broken),
        }
    }
    Ok(())
}

fn read_part(
    part: &Value,
    id: &str,
    role: Option<&str>,
    context: &EventContext,
    reader: &mut TranscriptReader<'_>,
) {
    let text = |key: &str| part.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "tool" => read_tool_call(part, context, reader),
        "text" => {
            let own = part.get("synthetic").and_then(Value::as_bool).unwrap_or_default();
            if role == Some("user") && context.agent.is_none() && !own {
                reader.emit_prompt(context, id, text("text"));
            }
        }
        kind if IGNORED_TYPES.contains(&kind) => {}
        kind => reader.report_unknown(kind),
    }
}

fn read_tool_call(part: &Value, context: &EventContext, reader: &mut TranscriptReader<'_>) {
    let text = |key: &str| part.get(key).and_then(Value::as_str).unwrap_or_default();
    let state = part.get("state").unwrap_or(&Value::Null);
    let args = state.get("input").cloned().unwrap_or_default();
    reader.emit_call(context, text("callID"), text("tool"), args, None);
    let at = |key: &str| state.get("time")?.get(key)?.as_u64();
    let output = state.get("output").cloned();
    let exit = state.get("metadata").and_then(|metadata| metadata.get("exit")).and_then(Value::as_i64);
    let words = |key: &str| state.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let error = match state.get("status").and_then(Value::as_str) {
        Some("error") => Some(words("error")),
        Some("completed") => exit.filter(|code| *code != 0).map(|_| words("output")),
        // The call has not ended yet.
        _ => return,
    };
    let duration_ms = at("end").zip(at("start")).map(|(end, start)| end.saturating_sub(start));
    let after = EventContext { ts: at("end").map(Timestamp::from_unix_ms).or(context.ts), ..context.clone() };
    reader.emit_result(&after, text("callID"), RecordedToolResult { error, output, duration_ms });
}

/// Opens a database without changing it. If there is no write-ahead log, the database is opened as immutable, because
/// SQLite would create a log if it were not. If there is a log, it is read with its index (`-shm`). If the index is
/// missing, no process has the database open, and SQLite builds the index in memory.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let logged = std::fs::metadata(path.with_extension("db-wal")).is_ok_and(|log| log.len() > 0);
    let indexed = path.with_extension("db-shm").exists();
    uri += match (logged, indexed) {
        (false, _) => "?mode=ro&immutable=1",
        (true, true) => "?mode=ro&readonly_shm=1",
        (true, false) => "?mode=ro&vfs=unix-none",
    };
    let connection = Connection::open_with_flags(uri, flags)?;
    if logged && !indexed {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE")?;
    }
    connection.busy_timeout(std::time::Duration::from_secs(2))?;
    Ok(connection)
}
