// SPDX-License-Identifier: Apache-2.0 OR MIT

#![doc = include_str!("../../../docs/guide/embed-rust.md")]

mod address;
mod agent;
mod channel;
mod client;
mod error;
mod event;
pub mod events;
mod fire;
mod hook;
mod response;
mod stream;
mod verbs;

pub use address::Address;
pub use agent::{NewSession, Step, Steps};
pub use channel::Channel;
pub use client::{Builder, Client};
pub use error::Error;
pub use event::Event;
pub use fire::{Fire, Fired};
pub use hook::{FailBehavior, Handler, Hook};
pub use response::{Answer, Response};
pub use verbs::{AuditLevel, Listed, Temporary, Watched};

/// The messages themselves, for whoever needs more than is here.
pub use tenterhook_proto::v1 as proto;
