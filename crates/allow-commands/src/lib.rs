// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The commands that adjust protection to daily work: `allow` lets a stopped call run, `rules from` drafts rules from
//! calls, `rules level` sets how much the rules ask, `rules suggest` finds
//! what users allow again and again, and `undo` restores what calls discarded.

pub mod allow;
pub mod rules_from;
pub mod rules_level;
pub mod rules_suggest;
pub mod undo;
mod undo_list;

use tenterhook_command::{confirm, context, error, terminal};
use tenterhook_daemon_control::ask;
