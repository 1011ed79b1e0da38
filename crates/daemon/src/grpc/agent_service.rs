// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Implements the gRPC service of the daemon's own agent.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use serde_json::{Value, json};
use tenterhook_agent::AgentActivity;
use tenterhook_proto::v1::agent_service_server::AgentService;
use tenterhook_proto::v1::generate_event::What;
use tenterhook_proto::v1::{
    CreateSessionRequest, CreateSessionResponse, EndSessionRequest, EndSessionResponse, ErrorCode,
    ExecuteToolRequest, ExecuteToolResponse, GenerateEvent, GenerateRequest, Handling, HookError,
};
use tonic::{Request, Response, Status};

use super::hook_service::{CallingProgram, Service};
use super::wire::error;
use crate::agent::{self, AgentCaller, RunningTurn, SessionRequest, TurnUpdate};

/// Streams the updates of a turn.
pub(crate) struct TurnEvents {
    turn: Option<RunningTurn>,
    /// Why the turn could not begin.
    error: Option<HookError>,
}

impl CallingProgram {
    fn agent_caller(&self, handling: Option<Handling>) -> AgentCaller<'_> {
        let handling =
            handling.map(|Handling { event_id, hook_id }| agent::HandledEvent { event_id, hook_id });
        AgentCaller { peer: self.peer, id: &self.id, name: &self.name, handling }
    }
}

#[tonic::async_trait]
impl AgentService for Service {
    type GenerateStream = TurnEvents;

    async fn create_session(
        &self,
        request: Request<CreateSessionRequest>,
    ) -> Result<Response<CreateSessionResponse>, Status> {
        let program = self.program(&request)?;
        let CreateSessionRequest {
            working_directory,
            system_prompt,
            model,
            tools,
            permission_mode,
            handling,
        } = request.into_inner();
        let (cwd, system, mode) = (working_directory, system_prompt, permission_mode);
        let wanted = SessionRequest { cwd, system, model, tools, mode };
        let created = agent::create(&self.daemon, &program.agent_caller(handling), wanted).await;
        Ok(Response::new(match created {
            Ok(session_id) => CreateSessionResponse { session_id, error: None },
            Err(refusal) => {
                CreateSessionResponse { error: Some(refusal.into()), ..CreateSessionResponse::default() }
            }
        }))
    }

    async fn end_session(
        &self,
        request: Request<EndSessionRequest>,
    ) -> Result<Response<EndSessionResponse>, Status> {
        let program = self.program(&request)?;
        let EndSessionRequest { session_id, reason, handling } = request.into_inner();
        let ended = agent::end(&self.daemon, &program.agent_caller(handling), &session_id, &reason).await;
        Ok(Response::new(EndSessionResponse { error: ended.err().map(Into::into) }))
    }

    async fn generate(&self, request: Request<GenerateRequest>) -> Result<Response<TurnEvents>, Status> {
        let program = self.program(&request)?;
        let GenerateRequest { session_id, prompt, drafts, handling } = request.into_inner();
        let asker = program.agent_caller(handling);
        let turn = agent::generate(&self.daemon, &asker, &session_id, prompt, drafts).await;
        Ok(Response::new(match turn {
            Ok(turn) => TurnEvents { turn: Some(turn), error: None },
            Err(refusal) => TurnEvents { turn: None, error: Some(refusal.into()) },
        }))
    }

    async fn execute_tool(
        &self,
        request: Request<ExecuteToolRequest>,
    ) -> Result<Response<ExecuteToolResponse>, Status> {
        let program = self.program(&request)?;
        let ExecuteToolRequest { session_id, tool, args, timeout_ms, handling } = request.into_inner();
        let within = u64::try_from(timeout_ms).ok().filter(|ms| *ms > 0).map(Duration::from_millis);
        let ran = match serde_json::from_slice(&args) {
            Ok(args) => {
                let asker = program.agent_caller(handling);
                agent::execute(&self.daemon, &asker, &session_id, &tool, args, within)
                    .await
                    .map_err(Into::into)
            }
            Err(_) => {
                Err(error(ErrorCode::ErrorInvalid, "`args` is not valid JSON", "send the tool's arguments"))
            }
        };
        Ok(Response::new(match ran {
            Ok(result) => ExecuteToolResponse { result: json_bytes(&result), error: None },
            Err(error) => ExecuteToolResponse { error: Some(error), ..ExecuteToolResponse::default() },
        }))
    }
}

impl Stream for TurnEvents {
    type Item = Result<GenerateEvent, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = |what| Poll::Ready(Some(Ok(GenerateEvent { what: Some(what) })));
        if let Some(error) = self.error.take() {
            return event(What::Error(error));
        }
        let Some(turn) = &mut self.turn else { return Poll::Ready(None) };
        match turn.updates.poll_recv(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => {
                self.turn = None;
                Poll::Ready(None)
            }
            Poll::Ready(Some(update)) => event(update_message(update)),
        }
    }
}

fn update_message(update: TurnUpdate) -> What {
    match update {
        TurnUpdate::Activity(None, AgentActivity::Said { text, .. }) => What::Text(text),
        TurnUpdate::Activity(None, AgentActivity::Delta { text }) => What::Draft(text),
        TurnUpdate::Activity(None, AgentActivity::Tool { id, tool, args }) => {
            What::ToolCall(json_bytes(&json!({"id": id, "name": tool, "args": args})))
        }
        TurnUpdate::Activity(None, AgentActivity::Result { id, success, output, duration_ms, .. }) => {
            What::ToolResult(json_bytes(
                &json!({"id": id, "success": success, "output": output, "duration": duration_ms}),
            ))
        }
        TurnUpdate::Activity(None, AgentActivity::Denied { id, reason, nudge, .. }) => {
            let mut result = json!({"id": id, "success": false, "output": reason, "duration": 0});
            if let Some(fields) = result.as_object_mut() {
                fields.insert("denied".to_owned(), json!(true));
                fields.extend(nudge.map(|nudge| ("nudge".to_owned(), json!(nudge))));
            }
            What::ToolResult(json_bytes(&result))
        }
        TurnUpdate::Activity(subagent, moment) => {
            // Serialising plain in-memory data cannot fail.
            let mut moment = serde_json::to_value(moment).unwrap_or_default();
            if let (Some(fields), Some(subagent)) = (moment.as_object_mut(), subagent) {
                fields.insert("subagent".to_owned(), json!(subagent));
            }
            What::Moment(json_bytes(&moment))
        }
        TurnUpdate::Done(response) => What::Done(json_bytes(&response)),
        TurnUpdate::Failed(refusal) => What::Error(refusal.into()),
    }
}

fn json_bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}
