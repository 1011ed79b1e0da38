// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts that are meant to be expensive: analysis must not take more than linear time.

use serde_json::json;
use tenterhook_event::ToolCall;
use tenterhook_test_support::assert_linear_cost;

use super::{effects_of_line, event};
use crate::{EvalEnvironment, facts};

#[test]
fn large_texts_take_linear_time() {
    for case in 0..lines(1).len() {
        let name: String = lines(1)[case].chars().take(60).collect();
        assert_linear_cost(&name, |scale| drop(effects_of_line(&lines(scale)[case])));
    }
}

/// Returns the strings, at half or full size.
fn lines(scale: usize) -> Vec<String> {
    let repeat = |text: &str, times: usize| text.repeat(times / 2 * scale);
    let long = repeat("x", 30_000);
    vec![
        format!("tar c -C {long} {}", repeat("a ", 15_000)),
        format!("cd {long}; rm -rf {}", repeat("a ", 15_000)),
        format!("docker run {} a rm {}", repeat("-v /a:/b ", 3_000), repeat("c ", 15_000)),
        format!("echo {long} {} | sh", repeat("| tr a-z b-za", 900)),
        format!("a={}; {}", "ab".repeat(64), repeat("echo ${a##*a*b*c};", 3_000)),
        format!("rm -rf {} x", repeat("a/../", 12_000)),
        format!("git {} x", repeat("-c a.b=c ", 6_000)),
        format!("curl {} x", repeat("-F a=@b ", 7_000)),
        format!("{} rm x", repeat("chroot / ", 6_000)),
        format!("{} rm x", repeat("ssh h ", 9_000)),
        format!("sed '{}' f", repeat("1e ls;", 9_000)),
        format!("echo '{}' | crontab -", repeat("* * * * * ls\n", 4_000)),
        format!("{} popd", repeat("pushd a;", 7_000)),
        format!("cat > x <<'E'\n{}\nE\n{}", repeat("./x\n", 2_000), repeat("sh x;", 2_000)),
        format!("apply_patch <<'E'\n{}E", repeat("*** Add File: x\n+y\n", 2_500)),
        format!("a {}", repeat("> f ", 12_000)),
        format!("a {}", repeat("<<< f ", 8_000)),
    ]
}

#[test]
fn large_patches_and_code_take_linear_time() {
    for case in 0..calls(1).len() {
        let (name, _) = calls(1).swap_remove(case);
        assert_linear_cost(&format!("{name}, {case}"), |scale| {
            let (name, args) = calls(scale).swap_remove(case);
            facts(&event(ToolCall::new(name, args)), &EvalEnvironment::default());
        });
    }
}

fn calls(scale: usize) -> Vec<(&'static str, serde_json::Value)> {
    let size = scale << 19;
    vec![
        ("apply_patch", json!({"input": "*** Add File: x\n+y\n".repeat(size / 19)})),
        ("apply_patch", json!({"input": "+".repeat(size)})),
        ("apply_patch", json!({"input": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n".repeat(size / 28)})),
        ("mcp__x__run", json!({"code": "a(".repeat(size / 2)})),
        ("mcp__x__run", json!({"code": "import os; os.remove('x')\n".repeat(size / 26)})),
        ("Write", json!({"file_path": "x", "content": "y".repeat(size)})),
        ("Read", json!({"file_path": "../".repeat(size / 3)})),
    ]
}
