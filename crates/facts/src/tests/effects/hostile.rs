// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts made to cost a lot. What matters is that none costs a multiple of its size.

use std::time::{Duration, Instant};

use serde_json::json;
use tenterhook_event::ToolCall;

use super::{event, of_line};
use crate::{Surroundings, facts};

/// Far more than any of them takes, and far less than a quadratic one would, unoptimised and on a busy machine.
const ENOUGH: Duration = Duration::from_secs(20);

#[test]
fn large_texts_cost_no_multiple_of_their_size() {
    let long = "x".repeat(30_000);
    let lines = [
        format!("tar c -C {long} {}", "a ".repeat(15_000)),
        format!("cd {long}; rm -rf {}", "a ".repeat(15_000)),
        format!("docker run {} a rm {}", "-v /a:/b ".repeat(3_000), "c ".repeat(15_000)),
        format!("echo {long} {} | sh", "| tr a-z b-za".repeat(900)),
        format!("a={}; {}", "ab".repeat(64), "echo ${a##*a*b*c};".repeat(3_000)),
        format!("rm -rf {} x", "a/../".repeat(12_000)),
        format!("git {} x", "-c a.b=c ".repeat(6_000)),
        format!("curl {} x", "-F a=@b ".repeat(7_000)),
        format!("{} rm x", "chroot / ".repeat(6_000)),
        format!("{} rm x", "ssh h ".repeat(9_000)),
        format!("sed '{}' f", "1e ls;".repeat(9_000)),
        format!("echo '{}' | crontab -", "* * * * * ls\n".repeat(4_000)),
        format!("{} popd", "pushd a;".repeat(7_000)),
        format!("cat > x <<'E'\n{}\nE\n{}", "./x\n".repeat(2_000), "sh x;".repeat(2_000)),
        format!("apply_patch <<'E'\n{}E", "*** Add File: x\n+y\n".repeat(2_500)),
        format!("a {}", "> f ".repeat(12_000)),
        format!("a {}", "<<< f ".repeat(8_000)),
    ];
    for line in lines {
        let start = Instant::now();
        of_line(&line);
        let took = start.elapsed();
        assert!(took < ENOUGH, "{took:?}: {}", line.chars().take(60).collect::<String>());
    }
}

#[test]
fn large_patches_and_codes_cost_no_multiple_of_their_size() {
    let size = 1 << 20;
    let calls = [
        ("apply_patch", json!({"input": "*** Add File: x\n+y\n".repeat(size / 19)})),
        ("apply_patch", json!({"input": "+".repeat(size)})),
        ("apply_patch", json!({"input": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n".repeat(size / 28)})),
        ("mcp__x__run", json!({"code": "a(".repeat(size / 2)})),
        ("mcp__x__run", json!({"code": "import os; os.remove('x')\n".repeat(size / 26)})),
        ("Write", json!({"file_path": "x", "content": "y".repeat(size)})),
        ("Read", json!({"file_path": "../".repeat(size / 3)})),
    ];
    for (name, args) in calls {
        let start = Instant::now();
        facts(&event(ToolCall::new(name, args)), &Surroundings::default());
        assert!(start.elapsed() < ENOUGH, "{name}");
    }
}
