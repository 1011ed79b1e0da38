// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The commands that read the ledger: `ledger` and `sessions`.

pub mod ledger;
pub mod sessions;

use tenterhook_command::{confirm, context, error, terminal};
use tenterhook_daemon_control::ask;
