// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Attacks on processes outside the sandbox.

use std::path::Path;

use super::{Background, PROGRAM, Sandbox, start_daemon};

#[test]
fn processes_outside_cannot_be_seen_signalled_or_traced() {
    for sandbox in Sandbox::all() {
        let mut outside = Background::start(sandbox.command(Path::new("/bin/sleep"), &["60"]));
        let pid = outside.0.id();
        let ran = sandbox.run(&format!(
            "kill -9 {pid} 2>/dev/null && echo DONE; cat /proc/{pid}/environ 2>/dev/null && echo DONE; \
             python3 -c \"import ctypes; print('DONE' if ctypes.CDLL(None).ptrace(16,{pid},0,0)==0 else 'no')\"; ls /proc | grep -c '^[0-9]'"
        ));
        assert!(!ran.stdout.contains("DONE"), "{}", ran.stdout);
        let visible: u32 = ran.stdout.lines().last().unwrap().parse().unwrap();
        assert!(visible < 8, "{}", ran.stdout);
        assert!(outside.is_alive());
    }
}

#[test]
fn the_daemon_survives_and_its_memory_cannot_be_read() {
    for sandbox in Sandbox::all() {
        let mut daemon = start_daemon(&sandbox);
        let pid = daemon.0.id();
        let ran = sandbox.run(&format!(
            "kill -9 -1 2>/dev/null & for p in {pid} $(seq 1 400); do kill -9 $p 2>/dev/null; head -c 1 /proc/{pid}/mem 2>/dev/null && echo DONE; done; true"
        ));
        assert!(!ran.stdout.contains("DONE"), "{}", ran.stdout);
        assert!(daemon.is_alive());
        let status =
            sandbox.test.run_command(sandbox.command(Path::new(PROGRAM), &["status", "--json"]), b"");
        assert_eq!(status.exit, 0, "{}", status.stderr);
    }
}

#[test]
fn no_process_of_a_run_is_left() {
    for sandbox in Sandbox::all() {
        let ran = sandbox.run("(setsid sh -c 'sleep 0.5; echo late >late' &); true");
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        std::thread::sleep(std::time::Duration::from_millis(900));
        assert!(!sandbox.test.path("work/late").exists());
    }
}

#[test]
fn files_that_were_open_outside_are_closed() {
    for sandbox in Sandbox::all() {
        let policy = sandbox.test.home().join("policy.yaml");
        let before = std::fs::read(&policy).unwrap();
        let script = format!(
            "exec 7>>'{}' 8<'{}'; exec '{PROGRAM}' run --sandbox -- sh -c 'echo x >&7 && echo DONE; ls -l /proc/self/fd | grep -c policy; (cat <&8) && echo DONE'",
            policy.display(),
            sandbox.test.home().display()
        );
        let ran = sandbox.plain(&script);
        assert!(!ran.stdout.contains("DONE") && ran.stdout.contains('0'), "{}{}", ran.stdout, ran.stderr);
        assert_eq!(std::fs::read(&policy).unwrap(), before);
    }
}

#[test]
fn signals_and_exit_codes_are_passed_through() {
    for sandbox in Sandbox::all() {
        assert_eq!(sandbox.run("exit 7").exit, 7);
        assert_eq!(sandbox.run_with(&[], &["no-such-program"]).exit, 127);
        let mut run = sandbox.sandboxed(
            &[],
            &[
                "/bin/sh",
                "-c",
                "trap 'echo caught >caught; exit 9' TERM; touch started; while :; do sleep 0.02; done",
            ],
        );
        let mut run = run.stderr(std::process::Stdio::null()).spawn().unwrap();
        crate::terminal_user::until("the run has started", || {
            sandbox.test.path("work/started").exists().then_some(())
        });
        let pid = rustix::process::Pid::from_child(&run);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert_eq!(run.wait().unwrap().code(), Some(9));
        assert!(sandbox.test.path("work/caught").exists());
    }
}

#[test]
fn privileged_actions_are_refused_inside() {
    for sandbox in Sandbox::all() {
        let _daemon = start_daemon(&sandbox);
        // With a terminal of its own, on which the run types the confirmation.
        let script = format!(
            "import os, pty, select, signal\n\
             for command in (['mode', 'monitor'], ['stop'], ['rules', 'disable', 'recursive-delete']):\n    \
             pid, fd = pty.fork()\n    \
             if pid == 0: os.execv('{PROGRAM}', ['tenterhook', *command])\n    \
             os.write(fd, b'yes\\nyes\\n')\n    \
             while select.select([fd], [], [], 5)[0]:\n        \
             try: data = os.read(fd, 1024)\n        \
             except OSError: break\n        \
             if not data: break\n        \
             os.write(1, data)\n    \
             os.kill(pid, signal.SIGKILL)"
        );
        let ran = sandbox.python(&script);
        let mode = sandbox.test.run_command(sandbox.command(Path::new(PROGRAM), &["mode", "--json"]), b"");
        assert_eq!(mode.json()["mode"], "enforce", "{}", ran.stdout);
        let status =
            sandbox.test.run_command(sandbox.command(Path::new(PROGRAM), &["status", "--json"]), b"");
        assert_eq!(status.exit, 0, "the daemon still runs: {}", ran.stdout);
        assert!(ran.stdout.contains("error"), "{}{}", ran.stdout, ran.stderr);
    }
}

/// Types Ctrl-C on the terminal of a run, whose standard input is the terminal or a file.
#[test]
fn a_typed_interrupt_reaches_the_command_whatever_its_input_is() {
    const TYPE_INTERRUPT: &str = r"
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    if sys.argv[1] == 'file':
        os.dup2(os.open('/dev/null', os.O_RDONLY), 0)
    os.execv(sys.argv[2], sys.argv[2:])
until = time.time() + 20
while not os.path.exists('started') and time.time() < until:
    time.sleep(0.02)
os.write(fd, b'\x03')
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";
    for sandbox in Sandbox::all() {
        for input in ["terminal", "file"] {
            let script =
                "trap 'echo caught >caught; exit 9' INT; touch started; while :; do sleep 0.02; done";
            let args =
                ["-c", TYPE_INTERRUPT, input, PROGRAM, "run", "--sandbox", "--", "/bin/sh", "-c", script];
            let ran = sandbox.test.run_command(sandbox.command(Path::new("/usr/bin/python3"), &args), b"");
            assert_eq!(ran.stdout, "9\n", "{input}: {}", ran.stderr);
            for file in ["started", "caught"] {
                std::fs::remove_file(sandbox.test.path("work").join(file)).unwrap();
            }
        }
    }
}
