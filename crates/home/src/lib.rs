// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A home of Tenterhook: where its settings, rules, trust, memory and record lie, and the road that is
//! made of them. The daemon and the command line both stand on it; a library that only wants the engine
//! never needs it.
//!
//! The road from the files to a decision: [`Home`] says where everything is, [`Sources`] gathers the
//! texts of all rules, [`Configuration`] makes rules and hooks of them, and [`Road`] takes calls down.
//! What was decided goes into the [`Book`].

mod addition;
pub mod authority;
pub mod backtest;
pub mod caller_rights;
pub mod daemon_port;
pub mod door;
pub mod draft;
pub mod env;
mod guarded;
pub mod hindsight;
mod home;
pub mod hook_files;
mod intake;
pub mod kits;
mod mode;
pub mod packs;
pub mod program_files;
mod recorder;
mod road;
mod seal;
pub mod seen;
pub mod servers;
mod sessions;
mod settings;
pub mod snapshot;
pub mod socket;
mod sources;
mod state_format;
mod switches;
pub mod templates;
pub mod trust;
pub mod usage;
mod view;

pub use addition::append_rule;
pub use env::Env;
pub use home::{Home, make_private, make_public, write_whole};
pub use intake::{regular_file, state_file};
pub use mode::Mode;
pub use recorder::{
    Book, BookRecorder, Destination, Settings, Spool, SpoolRecorder, TakenIn, generation_entry, passphrase,
};
pub use road::{Configuration, LONGEST_HOOK, Memory, Road};
pub use seal::SealKey;
pub use sessions::{SessionMemory, Sessions};
pub use settings::{DaemonSettings, Settled, Telemetry};
pub use sources::{Place, Sources, Text};
pub use state_format::{STATE_FORMAT, StateFormat};
pub use switches::Switches;
pub use view::View;
