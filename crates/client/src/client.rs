// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenterhook_proto::v1::HookResponse;
use tenterhook_proto::v1::hook_service_client::HookServiceClient;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use crate::channel::Channel;
use crate::{Address, Error, Hook, stream};

/// The largest message: a payload of 32 MiB, and what is around it.
pub(crate) const LARGEST: usize = 33 * 1024 * 1024;
/// How long the first stream may take to open.
const PATIENCE: Duration = Duration::from_secs(10);

/// A program's side of the daemon. Clones are the same client; when the last one is dropped the stream ends.
#[derive(Clone)]
pub struct Client {
    pub(crate) shared: Arc<Shared>,
}

/// Puts a client together.
#[derive(Debug)]
pub struct Builder {
    address: Address,
    name: String,
    id: Option<String>,
}

/// What the stream's task and the client share.
pub(crate) struct Shared {
    pub(crate) channel: Channel,
    pub(crate) state: Mutex<State>,
    /// How the stream stands.
    pub(crate) stands: watch::Sender<Stands>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) hooks: HashMap<String, Hook>,
    /// Where answers go, while a stream is open.
    pub(crate) answers: Option<mpsc::Sender<HookResponse>>,
    /// Handlers at work, by the question.
    pub(crate) running: HashMap<u64, AbortHandle>,
    /// The last answers, in case a stream broke before they arrived.
    pub(crate) answered: VecDeque<HookResponse>,
    /// The task that keeps a stream open.
    pub(crate) task: Option<AbortHandle>,
}

/// How the stream stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stands {
    /// It is being opened, for the first time or again.
    Opening(Option<Error>),
    Open,
    /// It will not be opened again.
    Over(Error),
}

impl Client {
    /// A client of the daemon at an address. Nothing is opened before it is needed.
    pub fn builder(address: Address) -> Builder {
        Builder { address, name: concat!("rust-client/", env!("CARGO_PKG_VERSION")).to_owned(), id: None }
    }

    /// The same with nothing said.
    pub fn new(address: Address) -> Result<Self, Error> {
        Self::builder(address).build()
    }

    /// Opens the stream, if it is not open, and returns when it is.
    pub async fn ready(&self) -> Result<(), Error> {
        stream::start(&self.shared);
        let mut stands = self.shared.stands.subscribe();
        let open = stands.wait_for(|stands| !matches!(stands, Stands::Opening(_)));
        let stands = match tokio::time::timeout(PATIENCE, open).await {
            Ok(Ok(stands)) => stands.clone(),
            Ok(Err(_)) => Stands::Over(Error::Closed),
            Err(_) => self.shared.stands.borrow().clone(),
        };
        match stands {
            Stands::Open => Ok(()),
            Stands::Over(error) | Stands::Opening(Some(error)) => Err(error),
            Stands::Opening(None) => Err(Error::Unreachable {
                address: "the daemon".to_owned(),
                why: "no stream within ten seconds".to_owned(),
            }),
        }
    }

    /// The connection, for other services of the daemon.
    pub fn channel(&self) -> Channel {
        self.shared.channel.clone()
    }

    /// The service itself, with this client's id and name, for whoever needs more than there is here.
    pub fn rpc(&self) -> HookServiceClient<Channel> {
        rpc(&self.shared.channel)
    }
}

pub(crate) fn rpc(channel: &Channel) -> HookServiceClient<Channel> {
    HookServiceClient::with_origin(channel.clone(), channel.origin())
        .max_decoding_message_size(LARGEST)
        .max_encoding_message_size(LARGEST)
}

impl Builder {
    /// What people see: `my-agent/1.2`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// A client id that was made up before: a program that was started anew gets its hooks back with it. It is a
    /// secret of 16 to 128 letters, digits, `_` and `-`.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The client.
    pub fn build(self) -> Result<Client, Error> {
        let id = self.id.map_or_else(random, Ok)?;
        let channel = Channel::new(self.address, &id, &self.name)?;
        let stands = watch::Sender::new(Stands::Opening(None));
        Ok(Client { shared: Arc::new(Shared { channel, state: Mutex::default(), stands }) })
    }
}

/// 128 random bits.
pub(crate) fn random() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::Unreachable {
        address: "the system".to_owned(),
        why: format!("no randomness: {error}"),
    })?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the stream and everything that runs for it.
    pub(crate) fn end(&self) {
        self.stands.send_replace(Stands::Over(Error::Closed));
        let mut state = self.lock();
        state.answers = None;
        state.hooks.clear();
        for (_, running) in state.running.drain() {
            running.abort();
        }
        if let Some(task) = state.task.take() {
            task.abort();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("stands", &*self.shared.stands.borrow()).finish_non_exhaustive()
    }
}
