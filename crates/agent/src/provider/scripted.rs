// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A model that replies from a script. It works offline and is deterministic.
//!
//! ```yaml
//! model: scripted-1
//! turns:
//!   - say: I clear the build directory.
//!     call: { Bash: { command: rm -rf build } }
//!   - if: nudged
//!     say: Then I move it away.
//!     call: { Bash: { command: mv build /tmp/old-build } }
//!   - say: Done.
//! subagents:
//!   reviewer:
//!     - say: Nothing to object to.
//! summary: The build directory was moved away.
//! ```

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;
use tenterhook_document::{parse, read};

use super::{
    ContentBlock, ModelReply, ModelRequest, ModelToolCall, ModelUsage, Provider, ProviderError,
    ProviderErrorKind, ReplyDelta, RequestPurpose, StopReason,
};
use crate::CancelToken;

/// Text that identifies a denial with a suggestion.
const SUGGESTION_MARKER: &str = "→ Suggested: ";
/// Number of bytes per token that scripted models assume.
const BYTES_PER_TOKEN: usize = 4;

/// A provider that replies from a script.
#[derive(Debug)]
pub struct ScriptedProvider {
    script: ModelScript,
    /// File name of the script, for error messages.
    source: String,
    /// Current position in the script for each conversation.
    at: Mutex<HashMap<RequestPurpose, usize>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelScript {
    #[serde(default = "default_model_name")]
    model: String,
    turns: Vec<ScriptTurn>,
    #[serde(default)]
    subagents: BTreeMap<String, Vec<ScriptTurn>>,
    #[serde(default)]
    summary: Option<String>,
    /// Delay before each reply, in milliseconds.
    #[serde(default)]
    pace_ms: u64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ScriptTurn {
    /// If set, the turn is skipped unless the last tool call ended this way.
    #[serde(rename = "if")]
    only_if: Option<TurnCondition>,
    say: Option<String>,
    call: Option<BTreeMap<String, Value>>,
    calls: Vec<BTreeMap<String, Value>>,
    usage: Option<ScriptedUsage>,
    pause_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TurnCondition {
    /// The call was denied with a suggestion.
    Nudged,
    /// The call was denied or failed.
    Failed,
    /// The call succeeded.
    Worked,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedUsage {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
}

fn default_model_name() -> String {
    "scripted-1".to_owned()
}

impl ScriptedProvider {
    /// Parses a script in YAML or JSON. Errors contain the line number.
    pub fn parse(source: &str, text: &str) -> Result<Self, ProviderError> {
        let refuse = |line: usize, why: &str| {
            let place = if line > 0 { format!("{source}:{line}") } else { source.to_owned() };
            ProviderError::new(ProviderErrorKind::InvalidSettings, format!("{place}: {why}"))
                .hint("see docs/guide/agent.md for the script format")
        };
        let tree = parse(text).map_err(|(spot, why)| refuse(spot.line, &why))?;
        let script: ModelScript = read(&tree).map_err(|misfit| refuse(misfit.spot.line, &misfit.message))?;
        let tracks = std::iter::once(("turns", &script.turns))
            .chain(script.subagents.iter().map(|(name, turns)| (name.as_str(), turns)));
        for (track, turns) in tracks {
            if turns.is_empty() {
                return Err(refuse(0, &format!("`{track}` has no turns")));
            }
            if let Some(at) =
                turns.iter().position(|turn| turn.say.is_none() && turn.tool_calls().next().is_none())
            {
                return Err(refuse(0, &format!("turn {} of `{track}` has neither `say` nor `call`", at + 1)));
            }
        }
        Ok(Self { script, source: source.to_owned(), at: Mutex::default() })
    }

    /// Returns the model name that the script sets.
    pub fn model(&self) -> &str {
        &self.script.model
    }

    /// Removes all delays from the script.
    #[must_use]
    pub fn without_pauses(mut self) -> Self {
        self.script.pace_ms = 0;
        let tracks = std::iter::once(&mut self.script.turns).chain(self.script.subagents.values_mut());
        tracks.flatten().for_each(|turn| turn.pause_ms = None);
        self
    }

    /// Returns the next turn of a conversation, together with the turn's number.
    fn next_turn(&self, request: &ModelRequest) -> Result<(usize, ScriptTurn), ProviderError> {
        let (track, turns) = match &request.purpose {
            RequestPurpose::Compaction => {
                let summary =
                    self.script.summary.clone().unwrap_or_else(|| "(no summary in the script)".to_owned());
                return Ok((0, ScriptTurn { say: Some(summary), ..ScriptTurn::default() }));
            }
            RequestPurpose::Turn => ("turns", Some(&self.script.turns)),
            RequestPurpose::Subagent(kind) => (kind.as_str(), self.script.subagents.get(kind)),
        };
        let missing = |what: String| {
            ProviderError::new(ProviderErrorKind::InvalidSettings, format!("{}: {what}", self.source))
                .hint("end with a turn that has `say` but no `call`; it is repeated")
        };
        let turns = turns.ok_or_else(|| missing(format!("`subagents` has no `{track}`")))?;
        let mut all = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.entry(request.purpose.clone()).or_default();
        while let Some(turn) = turns.get(*at) {
            *at += 1;
            if turn.only_if.is_none_or(|how| condition_holds(how, request)) {
                return Ok((*at, turn.clone()));
            }
        }
        // A final turn without tool calls is repeated.
        match turns.last() {
            Some(last) if last.tool_calls().next().is_none() => Ok((*at, last.clone())),
            _ => Err(missing(format!("`{track}` has {} turns, but the agent needs another", turns.len()))),
        }
    }
}

impl ScriptTurn {
    fn tool_calls(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.call.iter().chain(&self.calls).flatten()
    }
}

fn condition_holds(how: TurnCondition, request: &ModelRequest) -> bool {
    let blocks = request.messages.last().map(|last| last.blocks.as_slice()).unwrap_or_default();
    let last = blocks.iter().rev().find_map(|block| match block {
        ContentBlock::ToolResult { content, is_error, .. } => Some((content, *is_error)),
        _ => None,
    });
    match (how, last) {
        (_, None) => false,
        (TurnCondition::Nudged, Some((content, failed))) => failed && content.contains(SUGGESTION_MARKER),
        (TurnCondition::Failed, Some((_, failed))) => failed,
        (TurnCondition::Worked, Some((_, failed))) => !failed,
    }
}

/// Estimates token counts from text lengths.
fn estimate_usage(request: &ModelRequest, turn: &ScriptTurn) -> ModelUsage {
    let input = request.messages.iter().flat_map(|message| &message.blocks).map(|block| match block {
        ContentBlock::Text(text) => text.len(),
        ContentBlock::ToolCall(call) => call.args.to_string().len(),
        ContentBlock::ToolResult { content, .. } => content.len(),
    });
    let input: usize = input.sum::<usize>() + request.system.as_ref().map_or(0, String::len);
    let output = turn.say.as_ref().map_or(0, String::len);
    let called: usize = turn.tool_calls().map(|(name, args)| name.len() + args.to_string().len()).sum();
    let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u64::MAX);
    ModelUsage { input: tokens(input), output: tokens(output + called), ..ModelUsage::default() }
}

impl Provider for ScriptedProvider {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn generate<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut (dyn FnMut(ReplyDelta) + Send),
        cancel: &'a CancelToken,
    ) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        Box::pin(async move {
            let (number, turn) = self.next_turn(request)?;
            let pause = Duration::from_millis(turn.pause_ms.unwrap_or(self.script.pace_ms));
            cancel.or(tokio::time::sleep(pause)).await.ok_or_else(ProviderError::cancelled)?;
            let text = turn.say.clone().unwrap_or_default();
            if !text.is_empty() {
                deltas(ReplyDelta::Text(text.clone()));
            }
            let track = match &request.purpose {
                RequestPurpose::Subagent(kind) => format!("{kind}_"),
                _ => String::new(),
            };
            let calls = (1..).zip(turn.tool_calls()).map(|(at, (name, args))| ModelToolCall {
                id: format!("call_{track}{number}_{at}"),
                name: name.clone(),
                args: args.clone(),
            });
            let tool_calls: Vec<_> = calls.collect();
            for call in &tool_calls {
                deltas(ReplyDelta::ToolCall(call.clone()));
            }
            let usage = turn.usage.map_or_else(
                || estimate_usage(request, &turn),
                |used| ModelUsage { input: used.input, output: used.output, ..ModelUsage::default() },
            );
            let stop = if tool_calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
            Ok(ModelReply { text, tool_calls, usage, stop, model: self.script.model.clone() })
        })
    }
}
