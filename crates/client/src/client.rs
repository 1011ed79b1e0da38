// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenterhook_proto::MAX_MESSAGE_BYTES;
use tenterhook_proto::v1::HookResponse;
use tenterhook_proto::v1::hook_service_client::HookServiceClient;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use crate::channel::Channel;
use crate::{Address, Error, Hook, hook_stream};

/// How long [`Client::ready`] waits for the stream to open.
const STREAM_OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// A client of the daemon. Clones share one connection; the stream ends when the last clone is dropped.
#[derive(Clone)]
pub struct Client {
    pub(crate) shared: Arc<ClientShared>,
}

/// Builds a [`Client`].
#[derive(Debug)]
pub struct ClientBuilder {
    address: Address,
    name: String,
    id: Option<String>,
}

/// State shared by the client and its stream task.
pub(crate) struct ClientShared {
    pub(crate) channel: Channel,
    pub(crate) state: Mutex<ConnectionState>,
    /// Status of the stream.
    pub(crate) status: watch::Sender<StreamStatus>,
}

#[derive(Default)]
pub(crate) struct ConnectionState {
    pub(crate) hooks: HashMap<String, Hook>,
    /// Queue of responses; present only while a stream is open.
    pub(crate) responses: Option<mpsc::Sender<HookResponse>>,
    /// Running handlers, by call id.
    pub(crate) running: HashMap<u64, AbortHandle>,
    /// The most recent responses, kept in case the stream breaks before they arrive.
    pub(crate) sent_responses: VecDeque<HookResponse>,
    /// The task that keeps a stream open.
    pub(crate) task: Option<AbortHandle>,
}

/// Status of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StreamStatus {
    /// The stream is being opened. Contains the error of the last attempt.
    Opening(Option<Error>),
    Open,
    /// The stream is closed and will not be reopened. Contains the reason.
    Closed(Error),
}

impl Client {
    /// Starts building a client. It connects on first use.
    pub fn builder(address: Address) -> ClientBuilder {
        ClientBuilder {
            address,
            name: concat!("rust-client/", env!("CARGO_PKG_VERSION")).to_owned(),
            id: None,
        }
    }

    /// Creates a client with default options.
    pub fn new(address: Address) -> Result<Self, Error> {
        Self::builder(address).build()
    }

    /// Opens the stream if necessary, and waits until it is open.
    pub async fn ready(&self) -> Result<(), Error> {
        hook_stream::start(&self.shared);
        let mut status = self.shared.status.subscribe();
        let open = status.wait_for(|status| !matches!(status, StreamStatus::Opening(_)));
        let status = match tokio::time::timeout(STREAM_OPEN_TIMEOUT, open).await {
            Ok(Ok(status)) => status.clone(),
            Ok(Err(_)) => StreamStatus::Closed(Error::Closed),
            Err(_) => self.shared.status.borrow().clone(),
        };
        match status {
            StreamStatus::Open => Ok(()),
            StreamStatus::Closed(error) | StreamStatus::Opening(Some(error)) => Err(error),
            StreamStatus::Opening(None) => Err(Error::Unreachable {
                address: "the daemon".to_owned(),
                why: "no stream within 10 s".to_owned(),
            }),
        }
    }

    /// Returns the connection, for use with other services of the daemon.
    pub fn channel(&self) -> Channel {
        self.shared.channel.clone()
    }

    /// Returns the generated gRPC client with this client's id and name, for calls that this crate does not wrap.
    pub fn rpc(&self) -> HookServiceClient<Channel> {
        hook_service(&self.shared.channel)
    }
}

pub(crate) fn hook_service(channel: &Channel) -> HookServiceClient<Channel> {
    HookServiceClient::with_origin(channel.clone(), channel.origin())
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES)
}

impl ClientBuilder {
    /// Sets the name shown to users, such as `my-agent/1.2`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the client id. A program that restarts with the same id keeps its hooks. The id is a secret of 16 to 128
    /// letters, digits, `_` and `-`; by default a random one is generated.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Builds the client.
    pub fn build(self) -> Result<Client, Error> {
        let id = self.id.map_or_else(random_id, Ok)?;
        let channel = Channel::new(self.address, &id, &self.name)?;
        let status = watch::Sender::new(StreamStatus::Opening(None));
        Ok(Client { shared: Arc::new(ClientShared { channel, state: Mutex::default(), status }) })
    }
}

/// Returns 128 random bits in hexadecimal.
pub(crate) fn random_id() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::Unreachable {
        address: "the system".to_owned(),
        why: format!("no random numbers: {error}"),
    })?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

impl ClientShared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the stream and aborts all running handlers.
    pub(crate) fn close(&self) {
        self.status.send_replace(StreamStatus::Closed(Error::Closed));
        let mut state = self.lock();
        state.responses = None;
        state.hooks.clear();
        for (_, running) in state.running.drain() {
            running.abort();
        }
        if let Some(task) = state.task.take() {
            task.abort();
        }
    }
}

impl Drop for ClientShared {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("status", &*self.shared.status.borrow()).finish_non_exhaustive()
    }
}
