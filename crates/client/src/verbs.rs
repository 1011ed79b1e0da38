// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a client can do beside firing.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::Stream;
use serde_json::Value;
use tenterhook_proto::v1::{
    self, HookInfo, ListHooksRequest, SetAuditLevelRequest, UnregisterHookRequest, WatchEvent, WatchRequest,
};

use crate::client::random;
use crate::{Answer, Client, Error, Event, Hook};

/// How long saying goodbye may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// A hook in a list.
pub type Listed = HookInfo;

/// How much is recorded about hooks of programs, beside the leaf of each decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuditLevel {
    /// That hooks come and go.
    Off,
    /// And that one blocked, modified or failed.
    Info,
    /// And that one was started and completed.
    Verbose,
}

/// A hook for a while. [`Temporary::end`] takes it back and waits for that; dropping it does not wait.
#[derive(Debug)]
#[must_use = "the hook is gone when this is dropped"]
pub struct Temporary {
    client: Client,
    id: Option<String>,
}

/// What happens in the daemon, one thing after the other.
#[derive(Debug)]
pub struct Watched {
    events: tonic::Streaming<WatchEvent>,
}

impl Client {
    /// Registers a hook for every event of a type; says its id.
    pub async fn register_hook<F, R, A>(&self, event_type: &str, handler: F) -> Result<String, Error>
    where
        F: Fn(Event) -> R + Send + Sync + 'static,
        R: Future<Output = A> + Send + 'static,
        A: Into<Answer>,
    {
        self.register(Hook::on(event_type).run(handler)).await
    }

    /// Registers a hook; says its id. It comes back by itself when the stream was broken.
    pub async fn register(&self, hook: Hook) -> Result<String, Error> {
        self.ready().await?;
        let id = match &hook.id {
            Some(id) => id.clone(),
            None => format!("rust-{}", random()?),
        };
        let request = hook.request(&id);
        let before = self.shared.lock().hooks.insert(id.clone(), hook);
        let registered = self.rpc().register_hook(request).await.map_err(Error::from);
        let error = match registered.map(tonic::Response::into_inner) {
            Ok(v1::RegisterHookResponse { error: None, .. }) => return Ok(id),
            Ok(v1::RegisterHookResponse { error: Some(error), .. }) => error.into(),
            Err(error) => error,
        };
        let mut state = self.shared.lock();
        match before {
            Some(before) => state.hooks.insert(id, before),
            None => state.hooks.remove(&id),
        };
        Err(error)
    }

    /// Registers a hook for as long as what comes back is kept.
    pub async fn temporary_hook(&self, hook: Hook) -> Result<Temporary, Error> {
        let id = self.register(hook).await?;
        Ok(Temporary { client: self.clone(), id: Some(id) })
    }

    /// Takes a hook back.
    pub async fn unregister_hook(&self, id: &str) -> Result<(), Error> {
        let request = UnregisterHookRequest { hook_id: id.to_owned() };
        let response = self.rpc().unregister_hook(request).await?.into_inner();
        if let Some(error) = response.error {
            return Err(error.into());
        }
        self.shared.lock().hooks.remove(id);
        Ok(())
    }

    /// The hooks of this client, or all that are in force, in the order they run in.
    pub async fn list_hooks(&self, all: bool) -> Result<Vec<Listed>, Error> {
        let response = self.rpc().list_hooks(ListHooksRequest { all }).await?.into_inner();
        match response.error {
            Some(error) => Err(error.into()),
            None => Ok(response.hooks),
        }
    }

    /// What happens from now on: `decided`, `session`, `generation`, `verify`, `warning`; no kinds: all.
    pub async fn watch(&self, kinds: &[&str]) -> Result<Watched, Error> {
        let kinds = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        let request = WatchRequest { kinds, session_id: String::new() };
        Ok(Watched { events: self.rpc().watch(request).await?.into_inner() })
    }

    /// Says how much is recorded about hooks of programs; what it was before comes back. Less needs a code of the
    /// person's authenticator app.
    pub async fn set_audit_level(
        &self,
        level: AuditLevel,
        code: Option<String>,
    ) -> Result<AuditLevel, Error> {
        let level = match level {
            AuditLevel::Off => v1::AuditLevel::Off,
            AuditLevel::Info => v1::AuditLevel::Info,
            AuditLevel::Verbose => v1::AuditLevel::Verbose,
        };
        let proof = Some(v1::Proof { tty: false, code });
        let request = SetAuditLevelRequest { level: level.into(), proof };
        let response = self.rpc().set_audit_level(request).await?.into_inner();
        let previous = match response.previous() {
            v1::AuditLevel::Off => AuditLevel::Off,
            v1::AuditLevel::Verbose => AuditLevel::Verbose,
            v1::AuditLevel::Info | v1::AuditLevel::Unspecified => AuditLevel::Info,
        };
        response.error.map_or(Ok(previous), |error| Err(error.into()))
    }

    /// Takes all hooks back and ends the stream.
    pub async fn close(&self) {
        let ids: Vec<_> = self.shared.lock().hooks.keys().cloned().collect();
        let goodbye = async {
            for id in ids {
                // Whoever has gone already needs no goodbye.
                drop(self.unregister_hook(&id).await);
            }
        };
        drop(tokio::time::timeout(GOODBYE, goodbye).await);
        self.shared.end();
    }
}

impl Temporary {
    /// The hook's id.
    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    /// Takes it back, and returns when it is.
    pub async fn end(mut self) -> Result<(), Error> {
        match self.id.take() {
            Some(id) => self.client.unregister_hook(&id).await,
            None => Ok(()),
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let client = self.client.clone();
        // From now on nothing of it runs here; the daemon hears as soon as it can.
        client.shared.lock().hooks.remove(&id);
        runtime.spawn(async move { client.unregister_hook(&id).await });
    }
}

impl Stream for Watched {
    /// The kind, and what happened.
    type Item = Result<(String, Value), Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(Pin::new(&mut self.events).poll_next(cx));
        Poll::Ready(event.map(|event| {
            let event = event?;
            Ok((event.kind, serde_json::from_slice(&event.data)?))
        }))
    }
}
