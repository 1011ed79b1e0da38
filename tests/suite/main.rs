// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests that run the whole program from outside. They are in one binary, because linking takes most of the build time.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a failing test panics; tests read their environment and print what they skip"
)]

mod agent;
mod allow;
mod approvals;
mod attacks;
mod audit;
mod audit_import;
mod authority;
mod backtest;
mod bad_input;
mod budgets;
mod callbacks;
mod cases;
mod cases_openagentlock;
mod clock;
mod command_line;
mod command_output;
mod commands;
mod context;
mod corpus;
mod crate_dependencies;
mod daemon;
mod daemon_api;
mod daemon_attacks;
mod daemon_autostart;
mod daemon_directories;
mod daemon_faults;
mod daemon_guide;
mod daemon_health;
mod daemon_live;
mod daemon_openapi;
mod daemon_reload;
mod daemon_telemetry;
mod dashboard;
mod dashboard_api;
mod dashboard_calls;
mod demo;
mod doctor;
mod doctor_prove;
mod egress_proxy;
mod first_use;
mod fixtures;
mod fleet_approvals;
mod fleet_machine;
mod fleet_policy;
mod generated;
mod guarded_run;
mod guides;
mod harnesses;
mod hook_packages;
mod hooks;
mod init;
mod install;
mod integrations;
mod judge;
mod ledger;
mod ledger_commands;
mod ledger_daemon;
mod ledger_disk;
mod ledger_retention;
mod ledger_settings;
mod ledger_tampered;
mod long_running;
mod machine_scope;
mod machine_scope_doctor;
mod monitor_mode;
mod notifications;
mod organisation;
mod policy;
mod posture;
mod profiles;
mod program_descriptions;
mod prompts;
mod quick_build;
mod rule_levels;
mod rules;
mod rules_end_to_end;
mod sandbox;
mod scan;
mod schemas;
mod sdk;
mod sdk_agent;
mod sdk_agent_authority;
mod sdk_authority;
mod sdk_cases;
mod sdk_faults;
mod sdk_pipeline;
mod seed_statements;
mod seeds;
mod self_manage;
mod service;
mod sessions;
mod shim;
mod source;
mod spool;
mod status_line;
mod symlinks;
mod system;
mod system_install;
mod templates;
mod terminal_user;
mod tui;
mod tui_screen;
mod undo;
mod upgrade;
mod usage;
mod your_agent;

#[test]
fn no_test_file_is_forgotten() {
    let list = include_str!("main.rs");
    for entry in std::fs::read_dir(context::repository().join("tests/suite")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") {
            assert!(list.contains(&format!("mod {module};")), "`{name}` is not in main.rs");
        }
    }
}
