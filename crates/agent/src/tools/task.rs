// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The `Task` tool, which runs a subagent with its own conversation and the same tools except `Task`.

use std::sync::Arc;

use serde_json::{Value, json};
use tenterhook_event::EventKind;

use super::{ToolFailure, ToolOutput, arguments};
use crate::activity::AgentActivity;
use crate::event_draft::EventDraft;
use crate::provider::{ContentBlock, ToolSpec};
use crate::session::{AgentSession, SubagentIdentity};
use crate::{CancelToken, TurnError, permission};

/// Name of the tool.
pub(crate) const TASK_TOOL: &str = "Task";

/// A type of subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubagentKind {
    /// Name of the type.
    pub name: String,
    /// What the subagent is for; shown to the model that starts it.
    pub about: String,
    /// System prompt of the subagent.
    pub system: String,
}

impl SubagentKind {
    /// Returns the general-purpose type of subagent.
    pub fn general() -> Self {
        Self {
            name: "general".to_owned(),
            about: "any task of several steps".to_owned(),
            system: "You do one task for another agent. Report your findings briefly.".to_owned(),
        }
    }
}

/// Returns the spec of the tool, for the model.
pub(crate) fn task_spec(kinds: &[SubagentKind]) -> ToolSpec {
    let names: Vec<_> = kinds.iter().map(|kind| &kind.name).collect();
    let about: Vec<_> = kinds.iter().map(|kind| format!("{}: {}", kind.name, kind.about)).collect();
    let properties = json!({
        "description": {"type": "string", "description": "The task in five words"},
        "prompt": {"type": "string", "description": "The complete task; the subagent does not see this conversation"},
        "subagent_type": {"type": "string", "enum": names},
    });
    let description =
        format!("Starts a subagent for a task and returns its report. Types: {}", about.join("; "));
    super::tool_spec(TASK_TOOL, &description, &properties, &["description", "prompt", "subagent_type"])
}

/// Runs a subagent and returns its final reply.
pub(crate) async fn run_task(
    parent: &AgentSession,
    args: &Value,
    cancel: &CancelToken,
) -> Result<ToolOutput, ToolFailure> {
    let kind = arguments::required_text(args, "subagent_type")?.to_owned();
    let task = arguments::required_text(args, "prompt")?;
    if !parent.agent.subagents.iter().any(|known| known.name == kind) {
        let known: Vec<_> = parent.agent.subagents.iter().map(|known| known.name.as_str()).collect();
        let why = format!("unknown subagent type `{kind}`; available types: {}", known.join(", "));
        return Err(ToolFailure::new(why));
    }
    let id = {
        let mut state = parent.state();
        state.subagents += 1;
        format!("agent-{}", state.subagents)
    };
    let identity = SubagentIdentity { id, kind, parent: parent.id.clone() };
    let child = AgentSession::new(Arc::clone(&parent.agent), parent.id.clone(), Some(identity));
    let result = run_subagent(&child, task, cancel).await;
    let (used, cost) = (child.usage(), child.state().cost);
    {
        let mut state = parent.state();
        state.usage += used;
        if let Some(cost) = cost {
            *state.cost.get_or_insert(0.0) += cost;
        }
    }
    match result {
        Ok(text) => Ok(ToolOutput::text(text)),
        Err(ended) => Err(ToolFailure::new(format!("the subagent did not finish: {ended}"))),
    }
}

async fn run_subagent(child: &AgentSession, task: &str, cancel: &CancelToken) -> Result<String, TurnError> {
    let Some(identity) = child.identity.clone() else { return Err(TurnError::Cancelled) };
    child.begin_turn(task);
    let fields = json!({"agentId": identity.id, "agentType": identity.kind, "prompt": task});
    let outcome = child.fire(EventDraft::new(EventKind::SubagentStart, fields), cancel).await?;
    if let Some(reason) = permission::check_objection(child, &outcome, "the subagent", cancel).await? {
        return Err(TurnError::Blocked { reason });
    }
    child.queue_context(&outcome);
    child.report(AgentActivity::SubagentStart { kind: identity.kind.clone(), task: task.to_owned() });
    child.push_user_message(vec![ContentBlock::Text(task.to_owned())]);
    let text = child.run_until_done(cancel).await;
    child.report(AgentActivity::SubagentStop { kind: identity.kind });
    text
}
