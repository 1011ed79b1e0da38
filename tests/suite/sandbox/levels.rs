// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What happens on machines that support less.

use std::path::Path;

use super::{PROGRAM, Sandbox};

/// Runs this program without the right to create namespaces or to mount.
fn without_namespaces(sandbox: &Sandbox, args: &[&str]) -> std::process::Command {
    // `--disable-userns` sets the limit of user namespaces to zero, as an administrator can.
    let all: Vec<_> = [&[PROGRAM], args].concat();
    program_without_namespaces(sandbox, &all)
}

fn program_without_namespaces(sandbox: &Sandbox, command: &[&str]) -> std::process::Command {
    let mut all =
        vec!["--unshare-user", "--disable-userns", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--"];
    all.extend(command);
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
            python3 -c \"import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); print('DONE')\"; \
            python3 -c \"import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); print('DONE')\"; \
            python3 -c \"import socket; socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', PORT)); print('DONE')\"; \
            python3 -c \"import socket; socket.socketpair()\" && \
            python3 -c \"import socket; s = socket.socket(); s.connect(('127.0.0.1', PORT)); print('DONE')\"; \
            head -c 1 /dev/urandom >/dev/null";
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
fn landlock_alone_changes_no_other_process_and_creates_no_user_namespace() {
    for sandbox in Sandbox::all() {
        let mut other = super::Background::start(sandbox.command(Path::new("/bin/sleep"), &["60"]));
        // Without `--disable-userns`, so that only the filter is in the way.
        let program = format!(
            "import ctypes, os, resource, threading\n\
             def attempt(name, function):\n    try: print('DONE' if function() == 0 else 'no', name)\n    except Exception as error: print('no', name)\n\
             call = ctypes.CDLL(None).syscall\n\
             attempt('prlimit', lambda: resource.prlimit({}, resource.RLIMIT_CPU, (0, 0)) and 0)\n\
             attempt('unshare', lambda: call(272, 0x10000000))\n\
             attempt('clone', lambda: 0 if call(56, 0x10000000 | 17, 0, 0, 0, 0) > 0 else 1)\n\
             resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n\
             thread = threading.Thread(target=lambda: print('thread')); thread.start(); thread.join()\n\
             print(os.waitstatus_to_exitcode(os.system('exit 3')))\n",
            other.0.id()
        );
        let script = format!(
            "for program in /usr/bin/bwrap /usr/local/bin/bwrap; do test ! -e $program || mount --bind /dev/null $program; done; \
             exec {} '{PROGRAM}' run --sandbox --best-effort --network none -- python3 -c \"$0\"",
            sandbox
                .account
                .map(|id| format!("setpriv --reuid {id} --regid {id} --clear-groups"))
                .unwrap_or_default()
        );
        if !rustix::process::getuid().is_root() {
            tenterhook_test_support::skip_test("needs root: hides bubblewrap");
            return;
        }
        let args = ["--mount", "/bin/sh", "-c", &script, &program];
        let ran = sandbox.test.run_command(sandbox.test.command(Path::new("/usr/bin/unshare"), &args), b"");
        assert!(ran.stderr.contains("sandbox: Landlock only"), "{}", ran.stderr);
        assert!(
            ran.stdout.contains("no prlimit") && ran.stdout.contains("no clone"),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(!ran.stdout.contains("DONE"), "{}", ran.stdout);
        assert!(ran.stdout.contains("thread\n3\n"), "ordinary programs work: {}{}", ran.stdout, ran.stderr);
        assert!(other.is_alive());
    }
}

#[test]
fn an_older_landlock_is_no_sandbox_by_itself() {
    if !Path::new("/usr/bin/strace").exists() {
        tenterhook_test_support::skip_test("needs strace");
        return;
    }
    for sandbox in Sandbox::all() {
        // Linux 6.1 has version 2, which knows neither TCP nor signals nor truncation.
        let older =
            ["/usr/bin/strace", "-f", "-o", "/dev/null", "-e", "inject=landlock_create_ruleset:retval=2"];
        let run = [PROGRAM, "run", "--sandbox", "--best-effort", "--network", "none", "--", "true"];
        let command = program_without_namespaces(&sandbox, &[older.as_slice(), run.as_slice()].concat());
        let ran = sandbox.test.run_command(command, b"");
        assert!(ran.stderr.contains("sandbox: hooks only"), "{}", ran.stderr);
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

/// Hides bubblewrap instead of refusing namespaces, so that the run is one of the real root.
#[test]
fn a_run_of_root_without_namespaces_has_no_capabilities_and_no_devices() {
    if !rustix::process::getuid().is_root() {
        tenterhook_test_support::skip_test("needs root: a run of root without namespaces");
        return;
    }
    let Some(sandbox) = Sandbox::all().into_iter().next() else { return };
    let attempts = "grep CapEff /proc/self/status; mknod disk b 8 0 && echo DONE; mknod memory c 1 1 && echo DONE; \
        for disk in $(awk 'NR > 2 { print $4 }' /proc/partitions); do head -c 1 /dev/$disk && echo DONE; done; \
        python3 -c \"import ctypes; print('DONE' if ctypes.CDLL(None).syscall(175, 0, 0, 0) == 0 else 'no')\"; \
        echo x >/proc/sys/kernel/core_pattern && echo DONE; chroot / true && echo DONE; true";
    let script = format!(
        "for program in /usr/bin/bwrap /usr/local/bin/bwrap; do test ! -e $program || mount --bind /dev/null $program; done; \
         exec '{PROGRAM}' run --sandbox --best-effort -- /bin/sh -c '{}'",
        attempts.replace('\'', "'\\''")
    );
    let args = ["--mount", "/bin/sh", "-c", &script];
    let ran = sandbox.test.run_command(sandbox.command(Path::new("/usr/bin/unshare"), &args), b"");
    assert!(ran.stderr.contains("sandbox: Landlock only"), "{}", ran.stderr);
    assert!(ran.stdout.contains("CapEff:\t0000000000000000"), "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("DONE") && ran.stdout.contains("no\n"), "{}{}", ran.stdout, ran.stderr);
}
