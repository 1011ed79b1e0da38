// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Bash in a sandbox without programs, files, network or variables.

use std::process::{Command, Stdio};

/// Bash calls this function for every name that is not a builtin. Programs whose name starts with `s` also record
/// their input.
const RECORDER: &str = r#"command_not_found_handle() {
	case $1 in
	s*) IFS= read -r -d '' text; printf '%s\0' "$(($# + 1))" "$@" "$text" >&9 ;;
	*) printf '%s\0' "$#" "$@" >&9 ;;
	esac
	return 0
}
"#;

const DRIVER: &str = r#"n=0; while [ -f "/box/$n" ]; do "$BASH" --norc --noprofile "/box/$n" 9>>"/box/$n.out" 2>/dev/null; n=$((n+1)); done"#;

/// Returns the argument lists of the programs that each script started; `None` if bubblewrap is missing or
/// may not create namespaces.
pub(super) fn run(scripts: &[String]) -> Option<Vec<Vec<Vec<String>>>> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("recorder"), RECORDER).unwrap();
    for (number, text) in scripts.iter().enumerate() {
        std::fs::write(folder.path().join(number.to_string()), text).unwrap();
    }
    let status = Command::new("bwrap")
        .args([
            "--unshare-all",
            "--ro-bind",
            "/usr/lib",
            "/usr/lib",
            "--ro-bind-try",
            "/usr/lib64",
            "/usr/lib64",
        ])
        .args(["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--dev", "/dev"])
        .args(["--ro-bind", "/bin/bash", "/bin/bash", "--tmpfs", "/empty", "--chdir", "/empty", "--bind"])
        .arg(folder.path())
        .args(["/box", "--clearenv", "--setenv", "PATH", "/nowhere", "--setenv", "HOME", "/home/u"])
        .args(["--setenv", "LC_ALL", "C.UTF-8", "--setenv", "BASH_ENV", "/box/recorder"])
        .args(["/bin/bash", "--norc", "--noprofile", "-c", DRIVER])
        .stdin(Stdio::null())
        .status();
    if !status.is_ok_and(|status| status.success()) {
        tenterhook_test_support::skip_test("needs bubblewrap and the right to make namespaces");
        return None;
    }
    Some((0..scripts.len()).map(|number| lists(&folder.path().join(format!("{number}.out")))).collect())
}

fn lists(path: &std::path::Path) -> Vec<Vec<String>> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut values = text.split('\0').map(str::to_owned);
    let mut all = Vec::new();
    while let Some(count) = values.next().and_then(|count| count.parse().ok()) {
        all.push(values.by_ref().take(count).collect());
    }
    all
}
