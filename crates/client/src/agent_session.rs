// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs sessions of the agent that is built into the daemon.

use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::{Stream, StreamExt as _};
use serde_json::Value;
use tenterhook_proto::MAX_MESSAGE_BYTES;
use tenterhook_proto::v1::agent_service_client::AgentServiceClient;
use tenterhook_proto::v1::generate_event::What;
use tenterhook_proto::v1::{
    CreateSessionRequest, EndSessionRequest, ErrorCode, ExecuteToolRequest, GenerateEvent, GenerateRequest,
    Handling,
};

use crate::channel::Channel;
use crate::events::{ModelResponse, ToolArgs, ToolCall, ToolResult};
use crate::{Client, Error};

tokio::task_local! {
    /// The event that one of this client's hooks is handling in the current task.
    pub(crate) static HANDLED_EVENT: Handling;
}

/// Options of a new session of the daemon's agent.
#[derive(Debug, Clone)]
pub struct NewSession {
    request: CreateSessionRequest,
}

/// One step of a turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GenerateStep {
    /// Text from the model that hooks have checked.
    Text(String),
    /// Streamed text from the model that hooks have not checked yet.
    Draft(String),
    /// The model calls a tool.
    ToolCall(ToolCall),
    /// Result of a tool call.
    ToolResult {
        /// Id of the tool call.
        id: String,
        /// Whether the call was denied. If so, `output` contains the reason.
        denied: bool,
        /// Output of the tool.
        result: ToolResult,
    },
    /// Any other event of the turn: `{"what": …}`.
    Moment(Value),
    /// End of the turn; always the last step.
    Done(ModelResponse),
}

/// The steps of a turn. Dropping this value cancels the turn.
#[derive(Debug)]
pub struct GenerateSteps {
    events: tonic::Streaming<GenerateEvent>,
}

impl NewSession {
    /// Creates options for a session in a working directory, with all tools, without a model and with the default
    /// permission mode.
    pub fn in_dir(dir: impl AsRef<Path>) -> Self {
        let working_directory = dir.as_ref().to_string_lossy().into_owned();
        Self { request: CreateSessionRequest { working_directory, ..CreateSessionRequest::default() } }
    }

    /// Sets the model: `{"provider": "anthropic", "name": …}`. API keys are configured in the daemon.
    #[must_use]
    pub fn model(mut self, model: &Value) -> Self {
        self.request.model = model.to_string().into_bytes();
        self
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.request.system_prompt = Some(text.into());
        self
    }

    /// Sets the tools that the agent may use.
    #[must_use]
    pub fn tools(mut self, names: &[&str]) -> Self {
        self.request.tools = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// Sets what the agent may do without asking: `default`, `acceptEdits`, `plan`, `bypassPermissions` or `dontAsk`.
    /// Hooks and rules apply in every mode.
    #[must_use]
    pub fn permission_mode(mut self, mode: impl Into<String>) -> Self {
        self.request.permission_mode = mode.into();
        self
    }
}

impl Client {
    /// Starts a session of the daemon's agent and returns its id. The session belongs to this client.
    pub async fn create_session(&self, session: NewSession) -> Result<String, Error> {
        let request = CreateSessionRequest { handling: handled_event(), ..session.request };
        let response = self.agent_rpc().create_session(request).await?.into_inner();
        response.error.map_or(Ok(response.session_id), |error| Err(error.into()))
    }

    /// Ends a session and cancels its current turn.
    pub async fn end_session(&self, session_id: &str, reason: &str) -> Result<(), Error> {
        let (session_id, reason) = (session_id.to_owned(), reason.to_owned());
        let request = EndSessionRequest { session_id, reason, handling: handled_event() };
        let response = self.agent_rpc().end_session(request).await?.into_inner();
        response.error.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Runs one turn of a session and returns the final response.
    pub async fn generate(&self, session_id: &str, prompt: &str) -> Result<ModelResponse, Error> {
        let mut steps = self.start_turn(session_id, prompt, false).await?;
        while let Some(step) = steps.next().await {
            if let GenerateStep::Done(response) = step? {
                return Ok(response);
            }
        }
        Err(unfinished_turn())
    }

    /// Runs one turn of a session and returns its steps as a stream, including drafts of the model's text.
    pub async fn generate_stream(&self, session_id: &str, prompt: &str) -> Result<GenerateSteps, Error> {
        self.start_turn(session_id, prompt, true).await
    }

    async fn start_turn(&self, session_id: &str, prompt: &str, drafts: bool) -> Result<GenerateSteps, Error> {
        let (session_id, prompt) = (session_id.to_owned(), prompt.to_owned());
        let request = GenerateRequest { session_id, prompt, drafts, handling: handled_event() };
        Ok(GenerateSteps { events: self.agent_rpc().generate(request).await?.into_inner() })
    }

    /// Runs a tool in a session. The same hooks and rules apply as to a call by the model. A denied call is an error;
    /// a tool that ran and failed is a result.
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
            handling: handled_event(),
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
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES)
    }
}

impl Stream for GenerateSteps {
    type Item = Result<GenerateStep, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let event = match ready!(Pin::new(&mut self.events).poll_next(cx)) {
                None => return Poll::Ready(None),
                Some(Err(status)) => return Poll::Ready(Some(Err(status.into()))),
                Some(Ok(event)) => event,
            };
            // Unknown steps from a newer daemon are ignored.
            if let Some(what) = event.what {
                return Poll::Ready(Some(decode_step(what)));
            }
        }
    }
}

fn decode_step(what: What) -> Result<GenerateStep, Error> {
    Ok(match what {
        What::Text(text) => GenerateStep::Text(text),
        What::Draft(text) => GenerateStep::Draft(text),
        What::ToolCall(call) => GenerateStep::ToolCall(serde_json::from_slice(&call)?),
        What::ToolResult(bytes) => {
            let whole: Value = serde_json::from_slice(&bytes)?;
            let id = whole.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            let denied = whole.get("denied").and_then(Value::as_bool).unwrap_or_default();
            GenerateStep::ToolResult { id, denied, result: serde_json::from_value(whole)? }
        }
        What::Done(response) => GenerateStep::Done(serde_json::from_slice(&response)?),
        What::Moment(moment) => GenerateStep::Moment(serde_json::from_slice(&moment)?),
        What::Error(error) => return Err(error.into()),
    })
}

fn handled_event() -> Option<Handling> {
    HANDLED_EVENT.try_with(Clone::clone).ok()
}

fn unfinished_turn() -> Error {
    Error::Refused {
        code: ErrorCode::ErrorInternal,
        message: "the turn ended without a response".to_owned(),
        hint: "check that the daemon is running".to_owned(),
    }
}
