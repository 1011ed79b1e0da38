// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The commands that adjust protection to daily work: `allow` lets a stopped call run.

pub mod allow;

use tenterhook_command::{confirm, context, error, terminal};
use tenterhook_daemon_control::ask;
