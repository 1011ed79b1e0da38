// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What happens on machines that support less.

use std::path::Path;

use super::{PROGRAM, Sandbox};

/// Runs this program without the right to create namespaces or to mount.
fn without_namespaces(sandbox: &Sandbox, args: &[&str]) -> std::process::Command {
    // `--disable-userns` sets the limit of user namespaces to zero, as an administrator can.
    let mut all =
        vec!["--unshare-user", "--disable-userns", "--bind", "/", "/", "--dev-bind", "/dev", "/dev"];
    all.extend(["--", PROGRAM]);
    all.extend(args);
    sandbox.command(Path::new("/usr/bin/bwrap"), &all)
}

#[test]
fn without_namespaces_the_run_is_refused_with_a_hint() {
    for sandbox in Sandbox::all() {
        let command = without_namespaces(&sandbox, &["run", "--sandbox", "--", "/bin/sh", "-c", "touch ran"]);
        let ran = sandbox.test.run_command(command, b"");
        assert_eq!(ran.exit, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("no sandbox with namespaces on this machine"), "{}", ran.stderr);
        assert!(ran.stderr.contains("--best-effort"), "{}", ran.stderr);
        assert!(!sandbox.test.path("work/ran").exists());
        assert_eq!(
            std::fs::read_dir(sandbox.test.home().join("guarded-runs"))
                .unwrap()
                .filter(|entry| entry.as_ref().unwrap().path().is_dir())
                .count(),
            0
        );
    }
}

#[test]
fn best_effort_uses_landlock_alone() {
    for sandbox in Sandbox::all() {
        let before = sandbox.guard_files();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = "echo x >new && cat new; echo x >~/.claude/settings.json && echo DONE; echo x >~/.bashrc && echo DONE; \
            mv ~/.claude ~/.c2 && echo DONE; echo x >../home/policy.yaml && echo DONE; cat ~/.ssh/id_ed25519 && echo DONE; \
            python3 -c \"import socket; socket.socket(socket.AF_UNIX); print('DONE')\"; \
            python3 -c \"import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM); print('DONE')\"; \
            python3 -c \"import socket; s = socket.socket(); s.connect(('127.0.0.1', PORT)); print('DONE')\"; true";
        let script = script.replace("PORT", &port.to_string());
        let command = without_namespaces(
            &sandbox,
            &[
                "run",
                "--sandbox",
                "--best-effort",
                "--profile",
                "claude-code",
                "--network",
                "none",
                "--",
                "/bin/sh",
                "-c",
                &script,
            ],
        );
        let ran = sandbox.test.run_command(command, b"");
        assert!(ran.stderr.contains("sandbox: Landlock only"), "{}", ran.stderr);
        assert_eq!(ran.stdout, "x\n", "{}", ran.stderr);
        assert!(ran.stderr.contains("Permission denied"), "{}", ran.stderr);
        let mut after = sandbox.guard_files();
        let mut before = before;
        // Landlock cannot leave out files of the project; hooks guard them.
        for file in ["work/.claude/settings.json", "work/.git/hooks/pre-commit"] {
            before.remove(file);
            after.remove(file);
        }
        assert_eq!(after, before);
    }
}

#[test]
fn landlock_alone_leaves_no_process_behind() {
    for sandbox in Sandbox::all() {
        let script = "(setsid sh -c 'echo started >up; sleep 60; echo DONE' >out 2>&1 </dev/null &) ; while ! test -s up; do sleep 0.02; done; echo ended";
        let args = ["run", "--sandbox", "--best-effort", "--network", "none", "--", "/bin/sh", "-c", script];
        let began = std::time::Instant::now();
        let ran = sandbox.test.run_command(without_namespaces(&sandbox, &args), b"");
        assert!(ran.stderr.contains("sandbox: Landlock only"), "{}", ran.stderr);
        assert_eq!(ran.stdout, "ended\n", "{}", ran.stderr);
        let work = sandbox.test.path("work").to_str().unwrap().to_owned();
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let is_left = |path: std::path::PathBuf| {
            std::fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.to_str() == Some(&work))
        };
        assert!(!processes.map(|entry| entry.path()).any(is_left), "a process is left");
        assert!(began.elapsed() < std::time::Duration::from_secs(50));
    }
}

#[test]
fn status_and_doctor_name_the_available_level() {
    for sandbox in Sandbox::all() {
        let status = sandbox.test.run_command(sandbox.command(Path::new(PROGRAM), &["status"]), b"");
        assert!(status.stdout.contains("namespaces + Landlock"), "{}", status.stdout);
        let doctor = sandbox.test.run_command(sandbox.command(Path::new(PROGRAM), &["doctor"]), b"");
        assert!(doctor.stdout.contains("namespaces + Landlock"), "{}", doctor.stdout);
    }
}

#[test]
fn an_unknown_profile_is_refused_with_a_suggestion() {
    for sandbox in Sandbox::all() {
        let ran = sandbox.run_with(&["--profile", "claude-cod"], &["true"]);
        assert_eq!(ran.exit, 2);
        assert!(ran.stderr.contains("did you mean `claude-code`?"), "{}", ran.stderr);
    }
}
