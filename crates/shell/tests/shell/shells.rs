// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks whether real shells accept a text. With `-n` they parse it and run nothing.

use std::process::{Command, Stdio};

const DRIVER: &str = r#"n=0; while [ -f "$n" ]; do if "$1" $2 -n "$n" 2>/dev/null; then echo 1; else echo 0; fi; n=$((n+1)); done"#;

/// Whether `shell` accepts each text; `None` if it is not installed.
pub(crate) fn accepts(shell: &str, texts: &[String]) -> Option<Vec<bool>> {
    let is_installed = Command::new(shell).arg("-c").arg(":").stdin(Stdio::null()).status().is_ok();
    if !is_installed {
        tenterhook_test_support::skip_test(&format!("needs `{shell}`"));
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(folder.path().join(number.to_string()), text).unwrap();
    }
    let options = if shell == "zsh" { "-f" } else { "--norc" };
    // The loop runs in `sh`, because `sh` starts thousands of shells faster than bash does.
    let output = Command::new("sh")
        .args(["-c", DRIVER, "driver", shell, options])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let lines = String::from_utf8(output.stdout).unwrap();
    let accepted: Vec<_> = lines.lines().map(|line| line == "1").collect();
    assert_eq!(accepted.len(), texts.len(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(accepted)
}
