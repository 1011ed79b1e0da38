// SPDX-License-Identifier: Apache-2.0 OR MIT

#![doc = include_str!("../../../docs/guide/embed-rust.md")]

mod address;
mod agent_session;
mod channel;
mod client;
mod error;
pub mod events;
mod fired_event;
mod hook;
mod hook_event;
mod hook_management;
mod hook_response;
mod hook_stream;

pub use address::Address;
pub use agent_session::{GenerateStep, GenerateSteps, NewSession};
pub use channel::Channel;
pub use client::{Client, ClientBuilder};
pub use error::Error;
pub use fired_event::{FireResult, FiredEvent};
pub use hook::{FailBehavior, Handler, Hook};
pub use hook_event::HookEvent;
pub use hook_management::{AuditLevel, ListedHook, TemporaryHook, WatchStream};
pub use hook_response::{HandlerResult, HookResponse};

/// The protobuf messages of the gRPC API, for calls without a wrapper in this crate.
pub use tenterhook_proto::v1 as proto;
