// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A model that says what a file tells it to: offline, the same every time.
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
    Block, Delta, Failing, ModelReply, ModelRequest, Provider, ProviderError, Purpose, StopReason, ToolCall,
    Usage,
};
use crate::Cancel;

/// What a refusal with a suggestion has in it.
const NUDGED: &str = "→ Suggested: ";
/// How many letters a scripted token has.
const TOKEN: usize = 4;

/// A model that follows a script.
#[derive(Debug)]
pub struct Scripted {
    script: Script,
    /// What the script is called, for messages.
    source: String,
    /// How far each conversation is.
    at: Mutex<HashMap<Purpose, usize>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    #[serde(default = "usual_name")]
    model: String,
    turns: Vec<Turn>,
    #[serde(default)]
    subagents: BTreeMap<String, Vec<Turn>>,
    #[serde(default)]
    summary: Option<String>,
    /// How long an answer takes, in milliseconds.
    #[serde(default)]
    pace_ms: u64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Turn {
    /// The turn is passed over unless this is how the last tool call ended.
    #[serde(rename = "if")]
    only_if: Option<If>,
    say: Option<String>,
    call: Option<BTreeMap<String, Value>>,
    calls: Vec<BTreeMap<String, Value>>,
    usage: Option<Used>,
    pause_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum If {
    /// It was refused, with a suggestion.
    Nudged,
    /// It was refused, or it failed.
    Failed,
    /// It worked.
    Worked,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Used {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
}

fn usual_name() -> String {
    "scripted-1".to_owned()
}

impl Scripted {
    /// Reads a script, YAML or JSON. What does not fit is said with its line.
    pub fn parse(source: &str, text: &str) -> Result<Self, ProviderError> {
        let refuse = |line: usize, why: &str| {
            let place = if line > 0 { format!("{source}:{line}") } else { source.to_owned() };
            ProviderError::new(Failing::Settings, format!("{place}: {why}"))
                .hint("docs/guide/agent.md shows what a script looks like")
        };
        let tree = parse(text).map_err(|(spot, why)| refuse(spot.line, &why))?;
        let script: Script = read(&tree).map_err(|misfit| refuse(misfit.spot.line, &misfit.message))?;
        let tracks = std::iter::once(("turns", &script.turns))
            .chain(script.subagents.iter().map(|(name, turns)| (name.as_str(), turns)));
        for (track, turns) in tracks {
            if turns.is_empty() {
                return Err(refuse(0, &format!("`{track}` has no turn")));
            }
            if let Some(at) =
                turns.iter().position(|turn| turn.say.is_none() && turn.calls().next().is_none())
            {
                return Err(refuse(0, &format!("turn {} of `{track}` has neither `say` nor `call`", at + 1)));
            }
        }
        Ok(Self { script, source: source.to_owned(), at: Mutex::default() })
    }

    /// The name the script gives its model.
    pub fn model(&self) -> &str {
        &self.script.model
    }

    /// Answers come at once, whatever the script says.
    #[must_use]
    pub fn without_pauses(mut self) -> Self {
        self.script.pace_ms = 0;
        let tracks = std::iter::once(&mut self.script.turns).chain(self.script.subagents.values_mut());
        tracks.flatten().for_each(|turn| turn.pause_ms = None);
        self
    }

    /// The next turn of a conversation, and its number.
    fn next(&self, request: &ModelRequest) -> Result<(usize, Turn), ProviderError> {
        let (track, turns) = match &request.purpose {
            Purpose::Compaction => {
                let summary =
                    self.script.summary.clone().unwrap_or_else(|| "(no summary in the script)".to_owned());
                return Ok((0, Turn { say: Some(summary), ..Turn::default() }));
            }
            Purpose::Turn => ("turns", Some(&self.script.turns)),
            Purpose::Subagent(kind) => (kind.as_str(), self.script.subagents.get(kind)),
        };
        let missing = |what: String| {
            ProviderError::new(Failing::Settings, format!("{}: {what}", self.source))
                .hint("add a turn that only says something; the last of that kind is repeated")
        };
        let turns = turns.ok_or_else(|| missing(format!("`subagents` has no `{track}`")))?;
        let mut all = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.entry(request.purpose.clone()).or_default();
        while let Some(turn) = turns.get(*at) {
            *at += 1;
            if turn.only_if.is_none_or(|how| holds(how, request)) {
                return Ok((*at, turn.clone()));
            }
        }
        // Whoever is asked once more after the last word repeats it.
        match turns.last() {
            Some(last) if last.calls().next().is_none() => Ok((*at, last.clone())),
            _ => {
                Err(missing(format!("`{track}` has only {} turns, and the agent wants another", turns.len())))
            }
        }
    }
}

impl Turn {
    fn calls(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.call.iter().chain(&self.calls).flatten()
    }
}

fn holds(how: If, request: &ModelRequest) -> bool {
    let blocks = request.messages.last().map(|last| last.blocks.as_slice()).unwrap_or_default();
    let last = blocks.iter().rev().find_map(|block| match block {
        Block::ToolResult { content, is_error, .. } => Some((content, *is_error)),
        _ => None,
    });
    match (how, last) {
        (_, None) => false,
        (If::Nudged, Some((content, failed))) => failed && content.contains(NUDGED),
        (If::Failed, Some((_, failed))) => failed,
        (If::Worked, Some((_, failed))) => !failed,
    }
}

/// A scripted model counts four letters as a token.
fn counted(request: &ModelRequest, turn: &Turn) -> Usage {
    let asked = request.messages.iter().flat_map(|message| &message.blocks).map(|block| match block {
        Block::Text(text) => text.len(),
        Block::ToolCall(call) => call.args.to_string().len(),
        Block::ToolResult { content, .. } => content.len(),
    });
    let asked: usize = asked.sum::<usize>() + request.system.as_ref().map_or(0, String::len);
    let said = turn.say.as_ref().map_or(0, String::len);
    let called: usize = turn.calls().map(|(name, args)| name.len() + args.to_string().len()).sum();
    let tokens = |letters: usize| u64::try_from(letters.div_ceil(TOKEN)).unwrap_or(u64::MAX);
    Usage { input: tokens(asked), output: tokens(said + called), ..Usage::default() }
}

impl Provider for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn generate<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut (dyn FnMut(Delta) + Send),
        cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        Box::pin(async move {
            let (number, turn) = self.next(request)?;
            let pause = Duration::from_millis(turn.pause_ms.unwrap_or(self.script.pace_ms));
            cancel.or(tokio::time::sleep(pause)).await.ok_or_else(ProviderError::cancelled)?;
            let text = turn.say.clone().unwrap_or_default();
            if !text.is_empty() {
                deltas(Delta::Text(text.clone()));
            }
            let track = match &request.purpose {
                Purpose::Subagent(kind) => format!("{kind}_"),
                _ => String::new(),
            };
            let calls = (1..).zip(turn.calls()).map(|(at, (name, args))| ToolCall {
                id: format!("call_{track}{number}_{at}"),
                name: name.clone(),
                args: args.clone(),
            });
            let tool_calls: Vec<_> = calls.collect();
            for call in &tool_calls {
                deltas(Delta::ToolCall(call.clone()));
            }
            let usage = turn.usage.map_or_else(
                || counted(request, &turn),
                |used| Usage { input: used.input, output: used.output, ..Usage::default() },
            );
            let stop = if tool_calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
            Ok(ModelReply { text, tool_calls, usage, stop, model: self.script.model.clone() })
        })
    }
}
