// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Registers, lists and removes hooks, watches the daemon's events, and sets the audit level.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::Stream;
use serde_json::Value;
use tenterhook_proto::v1::{
    self, HookInfo, ListHooksRequest, SetAuditLevelRequest, UnregisterHookRequest, WatchEvent, WatchRequest,
};

use crate::client::random_id;
use crate::{Client, Error, HandlerResult, Hook, HookEvent};

/// How long [`Client::close`] waits for the daemon's reply.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A hook as returned by [`Client::list_hooks`].
pub type ListedHook = HookInfo;

/// How much is recorded about SDK hooks, in addition to the record that every decision gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuditLevel {
    /// Records hooks that are registered and removed.
    Off,
    /// Also records hooks that block, modify or fail.
    Info,
    /// Also records hooks that start and complete.
    Verbose,
}

/// A hook that is unregistered when this value is dropped. [`TemporaryHook::end`] unregisters it and waits until the
/// daemon has confirmed.
#[derive(Debug)]
#[must_use = "the hook is unregistered when this is dropped"]
pub struct TemporaryHook {
    client: Client,
    id: Option<String>,
}

/// A stream of the daemon's events, as pairs of kind and JSON data.
#[derive(Debug)]
pub struct WatchStream {
    events: tonic::Streaming<WatchEvent>,
}

impl Client {
    /// Registers a hook for all events of a type and returns its id.
    pub async fn register_hook<F, R, A>(&self, event_type: &str, handler: F) -> Result<String, Error>
    where
        F: Fn(HookEvent) -> R + Send + Sync + 'static,
        R: Future<Output = A> + Send + 'static,
        A: Into<HandlerResult>,
    {
        self.register(Hook::on(event_type).run(handler)).await
    }

    /// Registers a hook and returns its id. If the daemon restarts, the hook is registered again.
    pub async fn register(&self, hook: Hook) -> Result<String, Error> {
        self.ready().await?;
        let id = match &hook.id {
            Some(id) => id.clone(),
            None => format!("rust-{}", random_id()?),
        };
        let request = hook.to_request(&id);
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

    /// Registers a hook until the returned value is dropped.
    pub async fn temporary_hook(&self, hook: Hook) -> Result<TemporaryHook, Error> {
        let id = self.register(hook).await?;
        Ok(TemporaryHook { client: self.clone(), id: Some(id) })
    }

    /// Unregisters a hook.
    pub async fn unregister_hook(&self, id: &str) -> Result<(), Error> {
        let request = UnregisterHookRequest { hook_id: id.to_owned() };
        let response = self.rpc().unregister_hook(request).await?.into_inner();
        if let Some(error) = response.error {
            return Err(error.into());
        }
        self.shared.lock().hooks.remove(id);
        Ok(())
    }

    /// Lists the hooks of this client, or all active hooks, in the order in which they run.
    pub async fn list_hooks(&self, all: bool) -> Result<Vec<ListedHook>, Error> {
        let response = self.rpc().list_hooks(ListHooksRequest { all }).await?.into_inner();
        match response.error {
            Some(error) => Err(error.into()),
            None => Ok(response.hooks),
        }
    }

    /// Watches the daemon's events from now on: `decided`, `session`, `generation`, `verify`, `warning`. An empty
    /// list means all kinds.
    pub async fn watch(&self, kinds: &[&str]) -> Result<WatchStream, Error> {
        let kinds = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        let request = WatchRequest { kinds, session_id: String::new() };
        Ok(WatchStream { events: self.rpc().watch(request).await?.into_inner() })
    }

    /// Sets how much is recorded about SDK hooks and returns the previous level. Recording less needs a code from the
    /// user's authenticator app.
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

    /// Unregisters all hooks and ends the stream.
    pub async fn close(&self) {
        let ids: Vec<_> = self.shared.lock().hooks.keys().cloned().collect();
        let unregister_all = async {
            for id in ids {
                // An error means that the hook or the daemon is already gone.
                drop(self.unregister_hook(&id).await);
            }
        };
        drop(tokio::time::timeout(CLOSE_TIMEOUT, unregister_all).await);
        self.shared.close();
    }
}

impl TemporaryHook {
    /// Returns the id of the hook.
    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    /// Unregisters the hook and waits until the daemon has confirmed.
    pub async fn end(mut self) -> Result<(), Error> {
        match self.id.take() {
            Some(id) => self.client.unregister_hook(&id).await,
            None => Ok(()),
        }
    }
}

impl Drop for TemporaryHook {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let client = self.client.clone();
        // From now on the handler is not called; the daemon is notified in the background.
        client.shared.lock().hooks.remove(&id);
        runtime.spawn(async move { client.unregister_hook(&id).await });
    }
}

impl Stream for WatchStream {
    /// Kind and data of an event.
    type Item = Result<(String, Value), Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(Pin::new(&mut self.events).poll_next(cx));
        Poll::Ready(event.map(|event| {
            let event = event?;
            Ok((event.kind, serde_json::from_slice(&event.data)?))
        }))
    }
}
