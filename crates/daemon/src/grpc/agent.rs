// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The service of the daemon's own agent.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use serde_json::{Value, json};
use tenterhook_agent::Moment;
use tenterhook_proto::v1::agent_service_server::AgentService;
use tenterhook_proto::v1::generate_event::What;
use tenterhook_proto::v1::{
    CreateSessionRequest, CreateSessionResponse, EndSessionRequest, EndSessionResponse, ErrorCode,
    ExecuteToolRequest, ExecuteToolResponse, GenerateEvent, GenerateRequest, Handling, HookError,
};
use tonic::{Request, Response, Status};

use super::service::{Program, Service};
use super::words::error;
use crate::agent::{self, Asker, Told, Turn, Wanted};

/// A turn, as it happens.
pub(crate) struct Events {
    turn: Option<Turn>,
    /// The turn could not begin.
    error: Option<HookError>,
}

impl Program {
    fn asks(&self, handling: Option<Handling>) -> Asker<'_> {
        let handling = handling.map(|Handling { event_id, hook_id }| agent::Handling { event_id, hook_id });
        Asker { peer: self.peer, id: &self.id, name: &self.name, handling }
    }
}

#[tonic::async_trait]
impl AgentService for Service {
    type GenerateStream = Events;

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
        let wanted = Wanted { cwd, system, model, tools, mode };
        let created = agent::create(&self.daemon, &program.asks(handling), wanted).await;
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
        let ended = agent::end(&self.daemon, &program.asks(handling), &session_id, &reason).await;
        Ok(Response::new(EndSessionResponse { error: ended.err().map(Into::into) }))
    }

    async fn generate(&self, request: Request<GenerateRequest>) -> Result<Response<Events>, Status> {
        let program = self.program(&request)?;
        let GenerateRequest { session_id, prompt, drafts, handling } = request.into_inner();
        let asker = program.asks(handling);
        let turn = agent::generate(&self.daemon, &asker, &session_id, prompt, drafts).await;
        Ok(Response::new(match turn {
            Ok(turn) => Events { turn: Some(turn), error: None },
            Err(refusal) => Events { turn: None, error: Some(refusal.into()) },
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
                let asker = program.asks(handling);
                agent::execute(&self.daemon, &asker, &session_id, &tool, args, within)
                    .await
                    .map_err(Into::into)
            }
            Err(_) => Err(error(ErrorCode::ErrorInvalid, "`args` is no JSON", "send the tool's arguments")),
        };
        Ok(Response::new(match ran {
            Ok(result) => ExecuteToolResponse { result: bytes(&result), error: None },
            Err(error) => ExecuteToolResponse { error: Some(error), ..ExecuteToolResponse::default() },
        }))
    }
}

impl Stream for Events {
    type Item = Result<GenerateEvent, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = |what| Poll::Ready(Some(Ok(GenerateEvent { what: Some(what) })));
        if let Some(error) = self.error.take() {
            return event(What::Error(error));
        }
        let Some(turn) = &mut self.turn else { return Poll::Ready(None) };
        match turn.told.poll_recv(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => {
                self.turn = None;
                Poll::Ready(None)
            }
            Poll::Ready(Some(told)) => event(what(told)),
        }
    }
}

fn what(told: Told) -> What {
    match told {
        Told::Moment(None, Moment::Said { text, .. }) => What::Text(text),
        Told::Moment(None, Moment::Delta { text }) => What::Draft(text),
        Told::Moment(None, Moment::Tool { id, tool, args }) => {
            What::ToolCall(bytes(&json!({"id": id, "name": tool, "args": args})))
        }
        Told::Moment(None, Moment::Result { id, success, output, duration_ms, .. }) => What::ToolResult(
            bytes(&json!({"id": id, "success": success, "output": output, "duration": duration_ms})),
        ),
        Told::Moment(None, Moment::Denied { id, reason, nudge, .. }) => {
            let mut result = json!({"id": id, "success": false, "output": reason, "duration": 0});
            if let Some(fields) = result.as_object_mut() {
                fields.insert("denied".to_owned(), json!(true));
                fields.extend(nudge.map(|nudge| ("nudge".to_owned(), json!(nudge))));
            }
            What::ToolResult(bytes(&result))
        }
        Told::Moment(subagent, moment) => {
            // Plain data in memory has nothing to fail on.
            let mut moment = serde_json::to_value(moment).unwrap_or_default();
            if let (Some(fields), Some(subagent)) = (moment.as_object_mut(), subagent) {
                fields.insert("subagent".to_owned(), json!(subagent));
            }
            What::Moment(bytes(&moment))
        }
        Told::Done(response) => What::Done(bytes(&response)),
        Told::Failed(refusal) => What::Error(refusal.into()),
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}
