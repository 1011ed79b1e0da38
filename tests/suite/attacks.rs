// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Attacks that succeeded in an earlier version, each tested at the level where it succeeded.

mod agent_service;
mod approval_swap;
mod caller_identity;
mod connection_limits;
mod daemon_port;
mod dashboard_account;
mod foreign_sessions;
mod hostile_files;
mod identity_lockout;
mod killed_hooks;
mod ledger_files;
mod mcp_names;
mod native_payloads;
mod option_values;
mod own_secrets;
mod patch_tools;
mod secret_fields;
mod session_state;
mod steerable_exceptions;
mod system_account;
mod system_files;
mod tree_copies;
mod typed_input;
mod verdicts;
mod working_directory;

pub(crate) use caller_identity::find_program;
