// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A file in JSON in which a harness keeps its state, and with which it starts programs.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::file_repair::FileRepair;
use super::stored::FileBytes;
use super::{UndoneChange, read_settings};

/// Keys with which a harness starts programs.
const STATE_KEYS: &[&str] = &[
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "env",
    "hooks",
    "mcpServers",
    "otelHeadersHelper",
    "statusLine",
];
/// Keys with which a harness trusts a project. The user may set them for the project of the run.
const TRUST_KEYS: &[&str] =
    &["allowedTools", "enableAllProjectMcpServers", "enabledMcpjsonServers", "hasTrustDialogAccepted"];

/// The file before a run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(from = "StoredStateFile")]
pub(super) struct StateFile {
    content: Option<FileBytes>,
    /// Its value; null if it is missing, `None` if it is not valid.
    #[serde(skip)]
    value: Option<Value>,
}

/// A file as it is stored for the case that the supervisor is killed.
#[derive(Deserialize)]
struct StoredStateFile {
    content: Option<FileBytes>,
}

impl From<StoredStateFile> for StateFile {
    fn from(stored: StoredStateFile) -> Self {
        Self::new(stored.content.map(|content| content.0))
    }
}

impl StateFile {
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        Ok(Self::new(read_settings(path)?))
    }

    fn new(content: Option<Vec<u8>>) -> Self {
        let value = content.as_deref().map_or(Some(Value::Null), parse);
        Self { content: content.map(FileBytes), value }
    }

    /// Undoes changes with which the harness would start programs.
    pub(super) fn restore(
        &self,
        path: &Path,
        project: &Path,
        repair: &FileRepair<'_>,
    ) -> Option<UndoneChange> {
        let now = match read_settings(path) {
            Ok(None) => return None,
            Ok(content) => content,
            Err(_) => None,
        };
        if now.is_some() && now.as_ref() == self.content.as_ref().map(|content| &content.0) {
            return None;
        }
        // Another parser may accept what this one does not.
        let (Some(before), Some(mut value)) = (&self.value, now.as_deref().and_then(parse)) else {
            let result = match &self.content {
                Some(content) => repair.replace(path, &content.0, None),
                None => repair.move_aside(path),
            };
            return Some(UndoneChange::new(path, "its content is not valid", result));
        };
        let mut changed = Vec::new();
        let project = project.to_str().unwrap_or_default();
        restore_keys(before, &mut value, &StateContext { project, is_own: true }, &mut changed);
        if changed.is_empty() {
            return None;
        }
        changed.dedup();
        let text = serde_json::to_vec_pretty(&value).map_err(io::Error::from);
        let result = text.and_then(|text| repair.replace(path, &text, None));
        Some(UndoneChange::new(path, format!("changed {}", changed.join(", ")), result))
    }
}

/// Returns the value of a file. An empty file has none.
fn parse(content: &[u8]) -> Option<Value> {
    if content.trim_ascii().is_empty() {
        return Some(Value::Null);
    }
    serde_json::from_slice(content).ok()
}

/// Where a value is in the file.
struct StateContext<'a> {
    project: &'a str,
    /// Whether the value is not about another project.
    is_own: bool,
}

fn restore_keys(
    before: &Value,
    now: &mut Value,
    context: &StateContext<'_>,
    changed: &mut Vec<&'static str>,
) {
    match now {
        Value::Object(map) => {
            let trust = TRUST_KEYS.iter().filter(|_| !context.is_own);
            for key in STATE_KEYS.iter().chain(trust) {
                let old = before.get(key).cloned();
                if map.get(*key) == old.as_ref() || old.is_none() && map.get(*key).is_some_and(is_nothing) {
                    continue;
                }
                changed.push(key);
                match old {
                    Some(old) => drop(map.insert((*key).to_owned(), old)),
                    None => drop(map.remove(*key)),
                }
            }
            for (key, value) in map.iter_mut().filter(|(key, _)| !STATE_KEYS.contains(&key.as_str())) {
                let is_own = if key.starts_with('/') { key == context.project } else { context.is_own };
                let context = StateContext { is_own, ..*context };
                restore_keys(before.get(key).unwrap_or(&Value::Null), value, &context, changed);
            }
        }
        Value::Array(list) => {
            for (at, value) in list.iter_mut().enumerate() {
                restore_keys(before.get(at).unwrap_or(&Value::Null), value, context, changed);
            }
        }
        _ => {}
    }
}

/// Whether a value of a key starts nothing and trusts nothing.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        value => matches!(value, Value::Null | Value::Bool(false)),
    }
}
