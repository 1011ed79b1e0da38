// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Merges the modifications of several hooks, based on what each hook changed.
//!
//! Hooks send whole values, such as `{...args, timeout: 30000}`. The hooks of one event run in parallel on the same
//! input, so one hook's value still contains the old version of what another hook has just changed. Each value is
//! therefore compared with the input that its hook received (a three-way merge), and only the difference is applied.
//! Objects are merged at every depth; arrays and scalars are replaced as a whole. If two hooks change the same path
//! differently, the later hook's change applies, and the trace entry of that hook names the path.

use serde_json::{Map, Value, json};
use tenterhook_event::{Event, MergeMode, Modification, Origin};

use crate::run::HookRun;

/// Maximum number of conflicts that a trace entry names.
const MAX_NAMED_CONFLICTS: usize = 3;
/// Maximum length of a key in a trace entry, in characters.
const MAX_KEY_CHARS: usize = 60;

/// The part of a call that a modification changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MergeTarget {
    ToolInput,
    ToolOutput,
    ModelRequest,
    ModelResponse,
}

/// One part of the call, with the changes of all hooks so far.
#[derive(Debug)]
struct MergedPart {
    target: MergeTarget,
    value: Value,
    writes: Vec<HookWrite>,
}

/// A path that a hook has changed.
#[derive(Debug)]
struct HookWrite {
    path: Vec<String>,
    by: Origin,
}

/// The paths that one merge wrote, and the conflicts: paths that an earlier hook had changed differently.
#[derive(Debug, Default)]
struct MergeLog {
    written: Vec<Vec<String>>,
    conflicts: Vec<Vec<String>>,
}

/// Merges the modifications of all hooks. Each modification is replaced by a value that contains the changes of its
/// own hook and all earlier hooks, so applying the modifications in order gives the merged result. If there is only
/// one modification, it is not changed.
pub(crate) fn merge_modifications(event: &Event, runs: &mut [HookRun]) {
    let changing = runs.iter().filter(|run| !run.answer.finding.modifications.is_empty());
    if changing.count() < 2 {
        return;
    }
    let mut parts: Vec<MergedPart> = Vec::new();
    for run in runs {
        let HookRun { answer, step, given, .. } = run;
        let given = given.as_deref().unwrap_or(event);
        let by = answer.finding.by.clone();
        let mut notes = Vec::new();
        for modification in &mut answer.finding.modifications {
            let Some((target, merge, value)) = mergeable_parts(modification) else { continue };
            let index = parts.iter().position(|part| part.target == target).unwrap_or_else(|| {
                parts.push(MergedPart { target, value: part_of(event, target), writes: Vec::new() });
                parts.len() - 1
            });
            let Some(part) = parts.get_mut(index) else { continue };
            let (merged, conflicts) = part.merge(&part_of(given, target), merge, value, &by);
            notes.extend(conflicts);
            *modification = merged;
        }
        if !notes.is_empty() {
            let note = conflict_note(&notes);
            step.note =
                Some(step.note.take().map_or_else(|| note.clone(), |before| format!("{before}; {note}")));
        }
    }
}

/// Returns a modification as (target, mode, value); `None` if it is not merged.
fn mergeable_parts(modification: &Modification) -> Option<(MergeTarget, MergeMode, &Value)> {
    match modification {
        Modification::ToolInput { merge, value } => Some((MergeTarget::ToolInput, *merge, value)),
        Modification::ToolOutput { value } => Some((MergeTarget::ToolOutput, MergeMode::Replace, value)),
        Modification::ModelRequest { merge, value } => Some((MergeTarget::ModelRequest, *merge, value)),
        Modification::ModelResponse { merge, value } => Some((MergeTarget::ModelResponse, *merge, value)),
        Modification::ToolSelection { .. } => None,
    }
}

fn part_of(event: &Event, target: MergeTarget) -> Value {
    let detail = &event.detail;
    let value = match target {
        MergeTarget::ToolInput => event.tool.as_ref().map(|tool| &tool.args),
        MergeTarget::ToolOutput => detail.tool_output.as_ref(),
        MergeTarget::ModelRequest => detail.model_request.as_ref(),
        MergeTarget::ModelResponse => detail.model_response.as_ref(),
    };
    value.cloned().unwrap_or_default()
}

impl MergedPart {
    /// Merges one hook's change. `given` is this part of the call as the hook received it. Returns the modification to
    /// use instead, and a description of each conflict.
    fn merge(
        &mut self,
        given: &Value,
        merge: MergeMode,
        value: &Value,
        by: &Origin,
    ) -> (Modification, Vec<String>) {
        let mut base = given.clone();
        if self.target == MergeTarget::ModelRequest {
            align_model_format(&mut base, value);
            align_model_format(&mut self.value, value);
        }
        let mut wanted = base.clone();
        merge.apply(&mut wanted, value);
        let mut log = MergeLog::default();
        let current = std::mem::take(&mut self.value);
        let merged = merge_three_way(Some(&base), Some(&wanted), Some(current), &mut Vec::new(), &mut log);
        self.value = merged.unwrap_or_default();
        let conflicts = log.conflicts.iter().map(|path| self.conflict_text(path)).collect();
        self.writes.extend(log.written.into_iter().map(|path| HookWrite { path, by: by.clone() }));
        (self.modification(merge, value), conflicts)
    }

    /// Returns a modification that contains all changes merged so far.
    fn modification(&self, merge: MergeMode, value: &Value) -> Modification {
        // If a hook changed single keys of a request or response, the modification contains only those keys: the
        // harness may have more keys than the event shows.
        let named = || match (merge, value, &self.value) {
            (MergeMode::Shallow | MergeMode::Deep, Value::Object(keys), Value::Object(all)) => {
                let known = keys.keys().filter_map(|key| Some((key.clone(), all.get(key)?.clone())));
                (MergeMode::Shallow, Value::Object(known.collect::<Map<_, _>>()))
            }
            _ => (MergeMode::Replace, self.value.clone()),
        };
        match self.target {
            MergeTarget::ToolInput => {
                Modification::ToolInput { merge: MergeMode::Replace, value: self.value.clone() }
            }
            MergeTarget::ToolOutput => Modification::ToolOutput { value: self.value.clone() },
            MergeTarget::ModelRequest => {
                let (merge, value) = named();
                Modification::ModelRequest { merge, value }
            }
            MergeTarget::ModelResponse => {
                let (merge, value) = named();
                Modification::ModelResponse { merge, value }
            }
        }
    }

    fn conflict_text(&self, path: &[String]) -> String {
        let overlaps = |write: &&HookWrite| write.path.iter().zip(path).all(|(one, other)| one == other);
        let earlier = self.writes.iter().rev().find(overlaps).map(|write| match &write.by {
            Origin::Hook(id) => format!(" by `{id}`"),
            _ => String::new(),
        });
        let keys = path.iter().map(|key| printable(key));
        let place: Vec<_> = std::iter::once(self.target.name().to_owned()).chain(keys).collect();
        format!("`{}` (changed{})", place.join("."), earlier.unwrap_or_default())
    }
}

impl MergeTarget {
    /// Returns the name that `docs/spec/sdk-events.md` uses for the part.
    fn name(self) -> &'static str {
        match self {
            Self::ToolInput => "args",
            Self::ToolOutput => "result.output",
            Self::ModelRequest => "request",
            Self::ModelResponse => "response",
        }
    }
}

/// If the change has the model as an object with `name` (A3S), converts a model string in the request (LLxprt Code,
/// Gemini CLI) to such an object. The request and the change can then be compared.
fn align_model_format(request: &mut Value, change: &Value) {
    if !change.get("model").is_some_and(Value::is_object) {
        return;
    }
    if let Some(model) = request.get_mut("model").filter(|model| model.is_string()) {
        *model = json!({"name": model.take()});
    }
}

/// Applies the difference between `base` and `wanted` to `current`. `None` means that the key is absent.
fn merge_three_way(
    base: Option<&Value>,
    wanted: Option<&Value>,
    current: Option<Value>,
    path: &mut Vec<String>,
    log: &mut MergeLog,
) -> Option<Value> {
    if wanted == base || wanted == current.as_ref() {
        return current;
    }
    if current.as_ref() == base {
        log.written.push(path.clone());
        return wanted.cloned();
    }
    match (wanted, current) {
        (Some(Value::Object(wanted)), Some(Value::Object(mut current))) => {
            let none = Map::new();
            let base = base.and_then(Value::as_object).unwrap_or(&none);
            let removed = base.keys().filter(|key| !wanted.contains_key(*key));
            for key in wanted.keys().chain(removed) {
                path.push(key.clone());
                let before = current.remove(key);
                let merged = merge_three_way(base.get(key), wanted.get(key), before, path, log);
                current.extend(merged.map(|value| (key.clone(), value)));
                path.pop();
            }
            Some(Value::Object(current))
        }
        (wanted, _) => {
            log.written.push(path.clone());
            log.conflicts.push(path.clone());
            wanted.cloned()
        }
    }
}

fn conflict_note(conflicts: &[String]) -> String {
    let named: Vec<_> = conflicts.iter().take(MAX_NAMED_CONFLICTS).map(String::as_str).collect();
    let more = match conflicts.len().saturating_sub(MAX_NAMED_CONFLICTS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("conflict: {}{more}; the value of this hook is used", named.join(", "))
}

fn printable(key: &str) -> String {
    key.chars().take(MAX_KEY_CHARS).map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests;
