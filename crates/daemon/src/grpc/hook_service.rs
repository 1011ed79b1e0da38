// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Implements the gRPC service for hooks that programs register.

use std::sync::Arc;
use std::time::Duration;

use tenterhook_authority as authority;
use tenterhook_engine::HookBackend;
use tenterhook_proto::v1::hook_service_server::HookService;
use tenterhook_proto::v1::{
    AuditLevel, ErrorCode, FireRequest, FireResponse, HookInfo, HookResponse, ListHooksRequest,
    ListHooksResponse, RegisterHookRequest, RegisterHookResponse, SetAuditLevelRequest,
    SetAuditLevelResponse, UnregisterHookRequest, UnregisterHookResponse, WatchRequest,
};
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status, Streaming};

use super::wire::{self, error};
use super::{fire, program_stream, watch};
use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::sdk::{self, ClientId};

/// Name for a program that sends no name.
const DEFAULT_PROGRAM_NAME: &str = "program";
/// Maximum length of a program's name; longer names are cut.
const MAX_PROGRAM_NAME_CHARS: usize = 100;

pub(super) struct Service {
    pub(super) daemon: Arc<Daemon>,
}

pub(super) struct CallingProgram {
    pub(super) peer: Peer,
    pub(super) id: ClientId,
    pub(super) name: String,
}

impl Service {
    /// Returns the calling program. Refuses the request while the daemon shuts down.
    pub(super) fn program<T>(&self, request: &Request<T>) -> Result<CallingProgram, Status> {
        let peer = self.peer(request)?;
        let text = |name: &str| text(request.metadata(), name);
        let id = text("tenterhook-client-id").and_then(ClientId::parse).ok_or_else(|| {
            Status::invalid_argument(
                "send the metadata `tenterhook-client-id`: 16 to 128 random letters, digits, `_` or `-`, chosen once by the program",
            )
        })?;
        let name = text("tenterhook-client-name")
            .map(|name| name.chars().take(MAX_PROGRAM_NAME_CHARS).collect::<String>());
        let name =
            name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| DEFAULT_PROGRAM_NAME.to_owned());
        Ok(CallingProgram { peer, id, name })
    }

    fn peer<T>(&self, request: &Request<T>) -> Result<Peer, Status> {
        if self.daemon.is_draining() {
            return Err(Status::unavailable("the daemon is shutting down"));
        }
        let peer = request.extensions().get::<Peer>().copied();
        peer.ok_or_else(|| Status::unauthenticated("the caller is unknown"))
    }
}

fn text<'a>(metadata: &'a MetadataMap, name: &str) -> Option<&'a str> {
    metadata.get(name)?.to_str().ok()
}

#[tonic::async_trait]
impl HookService for Service {
    type HookStreamStream = program_stream::OutgoingMessages;
    type WatchStream = watch::LiveEventStream;

    async fn register_hook(
        &self,
        request: Request<RegisterHookRequest>,
    ) -> Result<Response<RegisterHookResponse>, Status> {
        let CallingProgram { peer, id, name } = self.program(&request)?;
        let registered = match wire::hook_request(request.into_inner()) {
            Ok(wanted) => sdk::register(&self.daemon, peer, &id, &name, wanted).await.map_err(Into::into),
            Err(error) => Err(error),
        };
        Ok(Response::new(match registered {
            Ok((hook_id, replaced)) => RegisterHookResponse { hook_id, replaced, error: None },
            Err(error) => RegisterHookResponse { error: Some(error), ..Default::default() },
        }))
    }

    async fn unregister_hook(
        &self,
        request: Request<UnregisterHookRequest>,
    ) -> Result<Response<UnregisterHookResponse>, Status> {
        let CallingProgram { peer, id, .. } = self.program(&request)?;
        let hook = request.into_inner().hook_id;
        let error = sdk::unregister(&self.daemon, peer, &id, &hook).await.err().map(Into::into);
        Ok(Response::new(UnregisterHookResponse { error }))
    }

    async fn list_hooks(
        &self,
        request: Request<ListHooksRequest>,
    ) -> Result<Response<ListHooksResponse>, Status> {
        let CallingProgram { id, .. } = self.program(&request)?;
        let (all, programs) = (request.into_inner().all, &self.daemon.programs);
        let own = programs.hooks_of(&id);
        let base = self.daemon.generations.base();
        let hooks = base.generation.all_hooks().iter().filter_map(|hook| {
            let is_own_account = own.iter().any(|known| known.hook.id == hook.id);
            if !all && !is_own_account {
                return None;
            }
            let kinds = || hook.on.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(",");
            let known = programs.find_hook(&hook.id);
            let (client_name, connected) = match &hook.runner {
                HookBackend::Sdk(function) => {
                    (function.client.name().to_owned(), function.client.is_connected())
                }
                _ => (String::new(), false),
            };
            let linger = known.as_ref().map_or(Duration::ZERO, |known| known.linger);
            Some(HookInfo {
                hook_id: hook.id.to_string(),
                event_type: known.as_ref().map_or_else(kinds, |known| known.event_type.clone()),
                matcher: known.as_ref().map(|known| wire::matcher_message(&known.matcher)),
                config: Some(wire::config_message(hook, linger)),
                own: is_own_account,
                client_name,
                connected,
            })
        });
        Ok(Response::new(ListHooksResponse { hooks: hooks.collect(), error: None }))
    }

    async fn hook_stream(
        &self,
        request: Request<Streaming<HookResponse>>,
    ) -> Result<Response<Self::HookStreamStream>, Status> {
        let program = self.program(&request)?;
        program_stream::open(&self.daemon, program, request.into_inner()).await.map(Response::new)
    }

    async fn fire(&self, request: Request<FireRequest>) -> Result<Response<FireResponse>, Status> {
        let peer = self.peer(&request)?;
        let fired = fire::fire(&self.daemon, peer, request.into_inner()).await;
        Ok(Response::new(
            fired.unwrap_or_else(|error| FireResponse { error: Some(error), ..Default::default() }),
        ))
    }

    async fn watch(&self, request: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        self.program(&request)?;
        watch::open(&self.daemon, request.into_inner()).map(Response::new)
    }

    async fn set_audit_level(
        &self,
        request: Request<SetAuditLevelRequest>,
    ) -> Result<Response<SetAuditLevelResponse>, Status> {
        let CallingProgram { peer, .. } = self.program(&request)?;
        let SetAuditLevelRequest { level, proof } = request.into_inner();
        let proof = proof.unwrap_or_default();
        let proof = authority::Proof { tty: proof.tty, code: proof.code };
        let wanted = AuditLevel::try_from(level).ok().and_then(wire::to_wire_level);
        let set = match wanted {
            Some(level) => sdk::set_audit_level(&self.daemon, peer, level, &proof).await.map_err(Into::into),
            None => Err(error(ErrorCode::ErrorInvalid, "unknown audit level", "use off, info or verbose")),
        };
        Ok(Response::new(match set {
            Ok(previous) => {
                let previous = wire::from_wire_level(previous).into();
                SetAuditLevelResponse { level, previous, error: None }
            }
            Err(error) => {
                let is = wire::from_wire_level(self.daemon.generations.base().defaults.audit).into();
                SetAuditLevelResponse { level: is, previous: is, error: Some(error) }
            }
        }))
    }
}
