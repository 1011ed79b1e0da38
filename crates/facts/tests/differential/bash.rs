// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Asks bash whether a text is a valid script. `bash -n` parses without running anything.

use std::process::{Command, Stdio};

const DRIVER: &str = r#"n=0; while [ -f "$n" ]; do if "$BASH" -n "$n" 2>/dev/null; then echo 1; else echo 0; fi; n=$((n+1)); done"#;

/// Whether each text is a valid script; `None` if bash is not installed.
pub(crate) fn accepts(texts: &[String]) -> Option<Vec<bool>> {
    let dir = tempfile::tempdir().unwrap();
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(dir.path().join(number.to_string()), text).unwrap();
    }
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", DRIVER])
        .current_dir(dir.path())
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8(output.stdout).unwrap();
    let accepted: Vec<_> = said.lines().map(|line| line == "1").collect();
    assert_eq!(accepted.len(), texts.len(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(accepted)
}
