// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook that finds no daemon starts one if the settings allow it.

use serde_json::Value;

use crate::context::TestContext;
use crate::daemon::until;

fn hook(test: &TestContext) {
    let mut command = test.command(
        std::path::Path::new(env!("CARGO_BIN_EXE_tenterhook")),
        &["hook", "claude-code", "PreToolUse"],
    );
    // Variables that a project could set; the started daemon must not inherit them.
    command.env("TENTERHOOK_LISTEN", "127.0.0.1:1").env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1");
    let ran = test.run_command(command, test.bash("sudo rm -rf /").as_bytes());
    assert!(ran.stdout.contains("deny"), "{}{}", ran.stdout, ran.stderr);
}

/// Stops the daemon of a state directory when the test ends, even if the test fails.
struct DaemonCleanup<'a>(&'a TestContext);

impl Drop for DaemonCleanup<'_> {
    fn drop(&mut self) {
        let card = std::fs::read_to_string(self.0.home().join("run/daemon.json")).unwrap_or_default();
        let card: Value = serde_json::from_str(&card).unwrap_or_default();
        let pid = card["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
    }
}

#[test]
fn a_hook_starts_a_daemon_if_it_may_and_the_next_one_asks_it() {
    let test = TestContext::new();
    let ends = DaemonCleanup(&test);
    hook(&test);
    assert!(!test.home().join("run/starting").exists(), "the settings do not allow it");
    test.write("home/tenterhook.yaml", "daemon: {autostart: true, listen: none}\n");
    hook(&test);
    let status =
        until("a daemon answers", || Some(test.run(&["status", "--json"])).filter(|ran| ran.exit == 0));
    assert_eq!(status.json()["listen"], Value::Null, "the settings apply, not the agent's environment");
    hook(&test);
    let origins: Vec<_> = test.decisions().iter().map(|leaf| leaf["origin"].clone()).collect();
    assert_eq!(origins.last().unwrap(), "daemon", "{origins:?}");
    drop(ends);
    until("the daemon ends", || (!test.home().join("run/tenterhook.sock").exists()).then_some(()));
}
