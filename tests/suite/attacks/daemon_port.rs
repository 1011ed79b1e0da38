// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Agents cannot use the daemon's API on any port.

use serde_json::json;

use crate::daemon::{HttpReply, RunningDaemon};

fn is_denied(answer: &HttpReply) -> bool {
    // If no rule matches, the reply is empty.
    answer.body.contains("\"permissionDecision\":\"deny\"")
}

/// In an earlier version the rule covered only the default port, but `start` chooses a free port if the default is in
/// use.
#[test]
fn a_guarded_agent_is_kept_from_the_port_that_the_daemon_took() {
    let mut served = RunningDaemon::new();
    let port = served.address.port();
    let attacks = [
        format!("curl -X PATCH http://127.0.0.1:{port}/v1/mode -d '{{\"mode\":\"monitor\"}}'"),
        format!("curl http://localhost:{port}/v1/policy"),
        format!("wget -qO- http://[::1]:{port}/v1/health"),
        format!("sudo iptables -A INPUT -p tcp --dport {port} -j DROP"),
    ];
    for attack in &attacks {
        assert!(is_denied(&served.bash(attack)), "{attack}");
    }
    let fetch = json!({"url": format!("http://127.0.0.1:{port}/v1/approvals"), "prompt": "x"});
    let answer =
        served.call("PreToolUse", &json!({"tool_name": "WebFetch", "tool_input": fetch, "tool_use_id": "t"}));
    assert!(is_denied(&answer), "{answer:?}");
    let by = served.json("/v1/ledger/lines?verdict=deny&limit=1");
    assert_eq!(by["lines"][0]["by"], "daemon-port");

    // Other servers on this machine are not covered by the rule.
    let other = if port == 3000 { 3001 } else { 3000 };
    for harmless in [
        format!("curl http://127.0.0.1:{other}/v1/mode"),
        format!("curl http://localhost:{other}/v1/hooks"),
        format!("curl https://example.com:{port}/v1/models"),
        format!("echo {port}"),
    ] {
        assert!(!is_denied(&served.bash(&harmless)), "{harmless}");
    }

    // Without a daemon, the hook finds the port in the snapshot or in the files.
    served.signal(rustix::process::Signal::TERM);
    assert!(served.wait());
    let snapshot = served.test.home().join("snapshot/home");
    assert!(snapshot.exists());
    for from in ["the snapshot", "the files"] {
        for attack in &attacks {
            let payload = served.test.bash(attack);
            let ran = served.test.run_with(&["hook", "claude-code", "PreToolUse"], payload.as_bytes());
            assert!(ran.stdout.contains("\"deny\""), "{from}: {attack}: {}{}", ran.stdout, ran.stderr);
        }
        let _ = std::fs::remove_file(&snapshot);
    }
}
