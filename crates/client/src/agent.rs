// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon's own agent: sessions, turns, single tools.

use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::{Stream, StreamExt as _};
use serde_json::Value;
use tenterhook_proto::v1::agent_service_client::AgentServiceClient;
use tenterhook_proto::v1::generate_event::What;
use tenterhook_proto::v1::{
    CreateSessionRequest, EndSessionRequest, ErrorCode, ExecuteToolRequest, GenerateEvent, GenerateRequest,
    Handling,
};

use crate::channel::Channel;
use crate::client::LARGEST;
use crate::events::{ModelResponse, ToolArgs, ToolCall, ToolResult};
use crate::{Client, Error};

tokio::task_local! {
    /// The event that a hook of ours handles in this task.
    pub(crate) static HANDLING: Handling;
}

/// A session that is wanted.
#[derive(Debug, Clone)]
pub struct NewSession {
    request: CreateSessionRequest,
}

/// Something that happens in a turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// The model said something, and hooks let it pass.
    Text(String),
    /// The model is saying something; no hook has seen it yet.
    Draft(String),
    /// The model wants a tool.
    ToolCall(ToolCall),
    /// What came of it.
    ToolResult {
        /// The id of the call.
        id: String,
        /// Whether it did not run, because somebody said no: `output` says why.
        denied: bool,
        /// What it returned.
        result: ToolResult,
    },
    /// Something else: `{"what": …}`.
    Moment(Value),
    /// The turn is over; the last step.
    Done(ModelResponse),
}

/// A turn, step by step. Dropping it cancels the turn.
#[derive(Debug)]
pub struct Steps {
    events: tonic::Streaming<GenerateEvent>,
}

impl NewSession {
    /// One that works in this directory, has all tools and no model, and asks before it changes anything.
    pub fn in_dir(dir: impl AsRef<Path>) -> Self {
        let working_directory = dir.as_ref().to_string_lossy().into_owned();
        Self { request: CreateSessionRequest { working_directory, ..CreateSessionRequest::default() } }
    }

    /// The model: `{"provider": "anthropic", "name": …}`. The daemon has the keys.
    #[must_use]
    pub fn model(mut self, model: &Value) -> Self {
        self.request.model = model.to_string().into_bytes();
        self
    }

    /// What the model is told before everything else.
    #[must_use]
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.request.system_prompt = Some(text.into());
        self
    }

    /// The tools it may use.
    #[must_use]
    pub fn tools(mut self, names: &[&str]) -> Self {
        self.request.tools = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// What it may do without asking: `default`, `acceptEdits`, `plan`, `bypassPermissions` or `dontAsk`. Hooks and
    /// rules are asked in every mode.
    #[must_use]
    pub fn permission_mode(mut self, mode: impl Into<String>) -> Self {
        self.request.permission_mode = mode.into();
        self
    }
}

impl Client {
    /// Begins a session of the daemon's own agent; says its id. It belongs to this client.
    pub async fn create_session(&self, session: NewSession) -> Result<String, Error> {
        let request = CreateSessionRequest { handling: handling(), ..session.request };
        let response = self.agent_rpc().create_session(request).await?.into_inner();
        response.error.map_or(Ok(response.session_id), |error| Err(error.into()))
    }

    /// Ends a session, and what is under way in it.
    pub async fn end_session(&self, session_id: &str, reason: &str) -> Result<(), Error> {
        let (session_id, reason) = (session_id.to_owned(), reason.to_owned());
        let request = EndSessionRequest { session_id, reason, handling: handling() };
        let response = self.agent_rpc().end_session(request).await?.into_inner();
        response.error.map_or(Ok(()), |error| Err(error.into()))
    }

    /// One turn of a session, to its end.
    pub async fn generate(&self, session_id: &str, prompt: &str) -> Result<ModelResponse, Error> {
        let mut steps = self.start_turn(session_id, prompt, false).await?;
        while let Some(step) = steps.next().await {
            if let Step::Done(response) = step? {
                return Ok(response);
            }
        }
        Err(unfinished())
    }

    /// The same, step by step, drafts of the model included.
    pub async fn generate_stream(&self, session_id: &str, prompt: &str) -> Result<Steps, Error> {
        self.start_turn(session_id, prompt, true).await
    }

    async fn start_turn(&self, session_id: &str, prompt: &str, drafts: bool) -> Result<Steps, Error> {
        let (session_id, prompt) = (session_id.to_owned(), prompt.to_owned());
        let request = GenerateRequest { session_id, prompt, drafts, handling: handling() };
        Ok(Steps { events: self.agent_rpc().generate(request).await?.into_inner() })
    }

    /// Runs a tool in a session, past the same hooks and rules as when the model asks for it. One that nobody let run
    /// is an error; one that ran and failed is a result.
    pub async fn execute_tool(
        &self,
        session_id: &str,
        tool: &str,
        args: &ToolArgs,
    ) -> Result<ToolResult, Error> {
        let request = ExecuteToolRequest {
            session_id: session_id.to_owned(),
            tool: tool.to_owned(),
            args: serde_json::to_vec(args)?,
            timeout_ms: 0,
            handling: handling(),
        };
        let response = self.agent_rpc().execute_tool(request).await?.into_inner();
        match response.error {
            Some(error) => Err(error.into()),
            None => Ok(serde_json::from_slice(&response.result)?),
        }
    }

    fn agent_rpc(&self) -> AgentServiceClient<Channel> {
        let channel = self.channel();
        let origin = channel.origin();
        AgentServiceClient::with_origin(channel, origin)
            .max_decoding_message_size(LARGEST)
            .max_encoding_message_size(LARGEST)
    }
}

impl Stream for Steps {
    type Item = Result<Step, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let event = match ready!(Pin::new(&mut self.events).poll_next(cx)) {
                None => return Poll::Ready(None),
                Some(Err(status)) => return Poll::Ready(Some(Err(status.into()))),
                Some(Ok(event)) => event,
            };
            // What a newer daemon says is passed over.
            if let Some(what) = event.what {
                return Poll::Ready(Some(step(what)));
            }
        }
    }
}

fn step(what: What) -> Result<Step, Error> {
    Ok(match what {
        What::Text(text) => Step::Text(text),
        What::Draft(text) => Step::Draft(text),
        What::ToolCall(call) => Step::ToolCall(serde_json::from_slice(&call)?),
        What::ToolResult(bytes) => {
            let whole: Value = serde_json::from_slice(&bytes)?;
            let id = whole.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            let denied = whole.get("denied").and_then(Value::as_bool).unwrap_or_default();
            Step::ToolResult { id, denied, result: serde_json::from_value(whole)? }
        }
        What::Done(response) => Step::Done(serde_json::from_slice(&response)?),
        What::Moment(moment) => Step::Moment(serde_json::from_slice(&moment)?),
        What::Error(error) => return Err(error.into()),
    })
}

fn handling() -> Option<Handling> {
    HANDLING.try_with(Clone::clone).ok()
}

fn unfinished() -> Error {
    Error::Refused {
        code: ErrorCode::ErrorInternal,
        message: "the turn ended without an answer".to_owned(),
        hint: "is the daemon still there?".to_owned(),
    }
}
