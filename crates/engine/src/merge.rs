// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Merges the modifications of several hooks by what each hook changed.
//!
//! Hooks send whole values: `{...args, timeout: 30000}`. Hooks of one event run in parallel on the same input, so the
//! value of one hook repeats what another hook has just changed. Each value is therefore compared with what its hook
//! was given (a three-way merge), and only the difference counts. Objects are merged at every depth; arrays and
//! scalars are whole values. Where two hooks change the same place differently, the later hook wins and its trace
//! entry names the place.

use serde_json::{Map, Value, json};
use tenterhook_event::{Event, Merge, Modification, Origin};

use crate::run::Answer;

/// How many places of conflict a trace entry names.
const MAX_NAMED_CONFLICTS: usize = 3;
/// The longest key that a trace entry repeats.
const MAX_KEY_CHARS: usize = 60;

/// The part of a call that a modification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    ToolInput,
    ToolOutput,
    ModelRequest,
    ModelResponse,
}

/// One part of the call, after the changes of all hooks so far.
#[derive(Debug)]
struct MergedPart {
    target: Target,
    value: Value,
    writes: Vec<Write>,
}

/// A place that a hook has changed.
#[derive(Debug)]
struct Write {
    path: Vec<String>,
    by: Origin,
}

/// What one merge did: the places it wrote, and those that an earlier hook had changed differently.
#[derive(Debug, Default)]
struct MergeLog {
    written: Vec<Vec<String>>,
    conflicts: Vec<Vec<String>>,
}

/// Merges what the hooks changed. Afterwards the value of each modification is the one that holds after its hook, so
/// that applying them in order gives the merged result. A single modification stays as it is.
pub(crate) fn merge_modifications(event: &Event, answers: &mut [Answer]) {
    let changing = answers.iter().filter(|answer| !answer.heard.finding.modifications.is_empty());
    if changing.count() < 2 {
        return;
    }
    let mut parts: Vec<MergedPart> = Vec::new();
    for answer in answers {
        let Answer { heard, step, given, .. } = answer;
        let given = given.as_deref().unwrap_or(event);
        let by = heard.finding.by.clone();
        let mut notes = Vec::new();
        for modification in &mut heard.finding.modifications {
            let Some((target, merge, value)) = described(modification) else { continue };
            let at = parts.iter().position(|part| part.target == target).unwrap_or_else(|| {
                parts.push(MergedPart { target, value: part_of(event, target), writes: Vec::new() });
                parts.len() - 1
            });
            let Some(part) = parts.get_mut(at) else { continue };
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

/// A modification as (target, merge, value); `None`: it is not merged.
fn described(modification: &Modification) -> Option<(Target, Merge, &Value)> {
    match modification {
        Modification::ToolInput { merge, value } => Some((Target::ToolInput, *merge, value)),
        Modification::ToolOutput { value } => Some((Target::ToolOutput, Merge::Replace, value)),
        Modification::ModelRequest { merge, value } => Some((Target::ModelRequest, *merge, value)),
        Modification::ModelResponse { merge, value } => Some((Target::ModelResponse, *merge, value)),
        Modification::ToolSelection { .. } => None,
    }
}

fn part_of(event: &Event, target: Target) -> Value {
    let detail = &event.detail;
    let value = match target {
        Target::ToolInput => event.tool.as_ref().map(|tool| &tool.args),
        Target::ToolOutput => detail.tool_output.as_ref(),
        Target::ModelRequest => detail.model_request.as_ref(),
        Target::ModelResponse => detail.model_response.as_ref(),
    };
    value.cloned().unwrap_or_default()
}

impl MergedPart {
    /// Brings in the change of one hook, which was `given` this part. Returns the modification that now stands for it,
    /// and a text for each conflict.
    fn merge(
        &mut self,
        given: &Value,
        merge: Merge,
        value: &Value,
        by: &Origin,
    ) -> (Modification, Vec<String>) {
        let mut base = given.clone();
        if self.target == Target::ModelRequest {
            name_model_alike(&mut base, value);
            name_model_alike(&mut self.value, value);
        }
        let mut wanted = base.clone();
        merge.apply(&mut wanted, value);
        let mut log = MergeLog::default();
        let current = std::mem::take(&mut self.value);
        let merged = merge_three(Some(&base), Some(&wanted), Some(current), &mut Vec::new(), &mut log);
        self.value = merged.unwrap_or_default();
        let conflicts = log.conflicts.iter().map(|path| self.conflict_text(path)).collect();
        self.writes.extend(log.written.into_iter().map(|path| Write { path, by: by.clone() }));
        (self.modification(merge, value), conflicts)
    }

    /// The modification that holds after this hook.
    fn modification(&self, merge: Merge, value: &Value) -> Modification {
        // Who changes single keys of a request or an answer leaves the others to the harness, which may know more of them.
        let named = || match (merge, value, &self.value) {
            (Merge::Shallow | Merge::Deep, Value::Object(keys), Value::Object(all)) => {
                let known = keys.keys().filter_map(|key| Some((key.clone(), all.get(key)?.clone())));
                (Merge::Shallow, Value::Object(known.collect::<Map<_, _>>()))
            }
            _ => (Merge::Replace, self.value.clone()),
        };
        match self.target {
            Target::ToolInput => Modification::ToolInput { merge: Merge::Replace, value: self.value.clone() },
            Target::ToolOutput => Modification::ToolOutput { value: self.value.clone() },
            Target::ModelRequest => {
                let (merge, value) = named();
                Modification::ModelRequest { merge, value }
            }
            Target::ModelResponse => {
                let (merge, value) = named();
                Modification::ModelResponse { merge, value }
            }
        }
    }

    fn conflict_text(&self, path: &[String]) -> String {
        let overlaps = |write: &&Write| write.path.iter().zip(path).all(|(one, other)| one == other);
        let earlier = self.writes.iter().rev().find(overlaps).map(|write| match &write.by {
            Origin::Hook(id) => format!(" by `{id}`"),
            _ => String::new(),
        });
        let keys = path.iter().map(|key| printable(key));
        let place: Vec<_> = std::iter::once(self.target.word().to_owned()).chain(keys).collect();
        format!("`{}` (changed{})", place.join("."), earlier.unwrap_or_default())
    }
}

impl Target {
    /// The word of `docs/spec/sdk-events.md`.
    fn word(self) -> &'static str {
        match self {
            Self::ToolInput => "args",
            Self::ToolOutput => "result.output",
            Self::ModelRequest => "request",
            Self::ModelResponse => "response",
        }
    }
}

/// LLxprt Code and Gemini CLI name the model by a text, A3S by an object with `name`: makes the value comparable with a
/// change in the second form.
fn name_model_alike(request: &mut Value, change: &Value) {
    if !change.get("model").is_some_and(Value::is_object) {
        return;
    }
    if let Some(model) = request.get_mut("model").filter(|model| model.is_string()) {
        *model = json!({"name": model.take()});
    }
}

/// Brings the difference between `base` and `wanted` into `current`. `None` stands for an absent key.
fn merge_three(
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
                let merged = merge_three(base.get(key), wanted.get(key), before, path, log);
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
