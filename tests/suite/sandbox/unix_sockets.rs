// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Unix sockets of programs outside: a session bus, a container daemon, a terminal multiplexer, an ssh agent.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use super::Sandbox;

fn listen(path: &Path) -> UnixListener {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let listener = UnixListener::bind(path).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

fn connect(path: &Path) -> String {
    format!(
        "import socket\ntry:\n    s = socket.socket(socket.AF_UNIX); s.connect('{0}'); print('DONE')\nexcept OSError as e: print(e.errno)\n\
         try:\n    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b'x', '{0}'); print('DONE')\nexcept OSError as e: print(e.errno)\n",
        path.display()
    )
}

#[test]
fn sockets_of_other_programs_are_not_reachable() {
    for sandbox in Sandbox::all() {
        // A temporary directory outside the test's own, which is visible.
        let temporary = tempfile::Builder::new().prefix("tmux-").tempdir_in("/tmp").unwrap();
        std::fs::set_permissions(temporary.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let places: Vec<PathBuf> = vec![
            sandbox.test.path("person/.docker/run/docker.sock"),
            sandbox.test.path("person/.ssh/control-master"),
            sandbox.test.path("person/.gnupg/S.gpg-agent"),
            sandbox.test.path("person/.cache/editor/server.sock"),
            sandbox.test.path("person/.bus"),
            sandbox.test.path("elsewhere/docker.sock"),
            sandbox.test.path("work/tmux.sock"),
            sandbox.test.path("work/nested/.overmind.sock"),
            sandbox.test.path("person/.claude/editor.sock"),
            temporary.path().join("default"),
        ];
        let listeners: Vec<_> = places.iter().map(|path| listen(path)).collect();
        sandbox.give_away(sandbox.test.path("."));
        let program: String = places.iter().map(|path| connect(path)).collect();
        let ran = sandbox.python(&program);
        assert_eq!(ran.stdout.lines().count(), places.len() * 2, "{}{}", ran.stdout, ran.stderr);
        assert!(!ran.stdout.contains("DONE"), "{}", ran.stdout);
        for (path, listener) in places.iter().zip(&listeners) {
            assert!(listener.accept().is_err(), "{} was reached", path.display());
            assert!(path.symlink_metadata().is_ok(), "{} is left", path.display());
        }
    }
}

#[test]
fn a_real_terminal_multiplexer_is_not_reachable() {
    for sandbox in Sandbox::all() {
        let socket = sandbox.test.path("person/tmux.sock");
        // The account's own shell may be `nologin`, with which the session ends at once.
        let tmux =
            |command: &str| format!("SHELL=/bin/sh tmux -S {} -f /dev/null {command}", socket.display());
        let started =
            sandbox.plain(&format!("{} && {}", tmux("new-session -d 'sleep 60'"), tmux("has-session")));
        if started.exit != 0 {
            tenterhook_test_support::skip_test("needs a `tmux` that starts");
            continue;
        }
        let ran = sandbox.run(&format!("{} && echo DONE; true", tmux("run-shell 'echo DONE'")));
        let still = sandbox.plain(&tmux("has-session"));
        sandbox.plain(&tmux("kill-server"));
        assert!(!ran.stdout.contains("DONE"), "{}{}", ran.stdout, ran.stderr);
        assert_eq!(still.exit, 0, "{}", still.stderr);
    }
}

#[test]
fn the_ssh_agent_is_reachable_only_with_its_profile() {
    for sandbox in Sandbox::all() {
        let directory = tempfile::Builder::new().prefix("ssh-").tempdir_in("/tmp").unwrap();
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = directory.path().join("agent.1");
        let listener = listen(&path);
        for (profile, reached) in [("git", false), ("ssh", true)] {
            let program = "import os, socket; socket.socket(socket.AF_UNIX).connect(os.environ['SSH_AUTH_SOCK']); print('reached')";
            let mut command =
                sandbox.sandboxed(&["--profile", profile], &["/usr/bin/python3", "-c", program]);
            command.env("SSH_AUTH_SOCK", &path);
            let ran = sandbox.test.run_command(command, b"");
            assert_eq!(ran.stdout == "reached\n", reached, "{profile}: {}", ran.stderr);
            assert_eq!(listener.accept().is_ok(), reached);
        }
    }
}
