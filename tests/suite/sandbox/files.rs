// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Attacks on guarded files and credentials.

use super::{Sandbox, attack};

#[test]
fn guarded_files_cannot_be_written_truncated_or_removed() {
    for file in super::GUARD_FILES {
        attack(&format!(
            "cd ..; echo x >{file} && echo DONE; : >>{file} && echo DONE; truncate -s 0 {file} && echo DONE; \
             rm -f {file} && echo DONE; chmod 777 {file} && echo DONE; mv {file} work/stolen && echo DONE; true"
        ));
    }
}

#[test]
fn directories_above_guarded_files_cannot_be_moved() {
    for directory in [
        "person/.claude",
        "person/.claude/hooks",
        "person/.ssh",
        "work/.claude",
        "work/.git",
        "work/.git/hooks",
        "work/nested/.git",
        "work/nested",
        "home",
        "home/bin",
        "person",
        "work",
    ] {
        attack(&format!(
            "cd ..; mv {directory} {directory}2 && mkdir {directory} && echo DONE; \
             python3 -c \"import os; os.rename('{directory}', 'work/moved'); print('DONE')\" 2>/dev/null; rm -rf {directory} 2>/dev/null && echo DONE; \
             python3 -c \"import ctypes; l=ctypes.CDLL(None); print('DONE' if l.renameat2(-100,b'{directory}',-100,b'person/.cache',2)==0 else '')\"; true"
        ));
    }
}

#[test]
fn guarded_files_that_do_not_exist_cannot_be_created() {
    for file in [
        "person/.claude/settings.local.json",
        "work/.codex/config.toml",
        "work/.claude/settings.local.json",
        "work/.cursor/hooks.json",
        "work/.github/hooks/x.json",
        "work/.git/hooks/post-checkout",
        "home/x",
        "person/.profile",
        "person/.config/git/config",
        "person/.zshrc",
    ] {
        attack(&format!(
            "cd ..; mkdir -p $(dirname {file}); echo '{{\"hooks\":1}}' >{file} && echo DONE; ln -s /tmp/x {file} && echo DONE; true"
        ));
    }
}

#[test]
fn a_missing_settings_file_of_the_client_cannot_be_created() {
    for sandbox in Sandbox::all() {
        let settings = sandbox.test.path("person/.claude/settings.json");
        std::fs::remove_file(&settings).unwrap();
        let ran = sandbox.run("cd ~/.claude; echo '{\"hooks\":{}}' >settings.json && echo DONE; mv settings.json x && echo DONE; cat settings.json");
        assert_eq!(ran.stdout, "{}\n", "{}", ran.stderr);
        assert!(!settings.exists(), "the placeholder is removed");
        assert!(!sandbox.test.home().join("guarded-runs/placeholders.json").exists());
    }
}

#[test]
fn links_do_not_lead_to_guarded_files() {
    attack(
        "ln -s ~/.claude/settings.json soft && echo x >soft && echo DONE; rm -f soft; \
         ln ~/.claude/settings.json hard && echo DONE; ln ~/.bashrc hard && echo DONE; \
         ln -s ~/.claude dir && echo x >dir/settings.json && echo DONE; rm -f dir; \
         ln ../home/policy.yaml hard && echo DONE; true",
    );
}

#[test]
fn a_double_fork_gains_nothing() {
    attack(
        "(setsid sh -c 'sleep 0.1; echo x >~/.claude/settings.json && echo DONE; echo x >../home/policy.yaml && echo DONE' &) ; sleep 0.4",
    );
}

#[test]
fn sixty_four_nested_processes_gain_nothing() {
    attack(
        "python3 -c \"\nimport os\nfor n in range(64):\n    if os.fork(): os.wait(); os._exit(0)\ntry:\n    open(os.path.expanduser('~/.claude/settings.json'),'w').write('x'); print('DONE')\nexcept OSError as e: print(e)\n\"",
    );
}

#[test]
fn nothing_can_be_mounted() {
    attack(
        "mount -t tmpfs x ~/.claude && echo DONE; mount --bind /tmp ~/.claude && echo DONE; \
         umount ~/.claude/settings.json && echo DONE; umount -l ~/.claude && echo DONE; \
         mount -o remount,rw ~/.claude/settings.json && echo DONE; mount -o remount,rw / && echo DONE; \
         unshare -Ur true && echo DONE; unshare -Urm sh -c 'umount ~/.claude/settings.json' && echo DONE; \
         unshare -m true && echo DONE; nsenter -t 1 -m true && echo DONE; \
         bwrap --bind / / true && echo DONE; test -w /proc/sys/kernel/core_pattern && echo DONE; test -w /proc/sysrq-trigger && echo DONE; \
         test -w /sys/kernel/uevent_helper && echo DONE; mknod /tmp/d b 8 0 && echo DONE; true",
    );
}

#[test]
fn credentials_and_the_ledger_s_keys_are_hidden() {
    for sandbox in Sandbox::all() {
        for file in ["person/.ssh/id_ed25519", "person/.aws/credentials", "home/ledger/key", "home/totp"] {
            let ran = sandbox.run(&format!("cat ../{file}; ls -la ../{file}; true"));
            for secret in ["PRIVATE", "hidden", "secret"] {
                assert!(!ran.stdout.contains(secret), "{file}: {}", ran.stdout);
            }
        }
        // A file that replaces a hidden one is hidden too, although the mount is gone.
        let credentials = sandbox.test.path("person/.aws/credentials");
        let mut run = sandbox.sandboxed(
            &[],
            &[
                "/bin/sh",
                "-c",
                "touch started; while [ ! -e go ]; do sleep 0.02; done; cat ~/.aws/credentials",
            ],
        );
        let run =
            run.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        crate::terminal_user::until("the run has started", || {
            sandbox.test.path("work/started").exists().then_some(())
        });
        std::fs::write(sandbox.test.path("person/.aws/new"), "still hidden\n").unwrap();
        std::fs::rename(sandbox.test.path("person/.aws/new"), &credentials).unwrap();
        sandbox.test.write("work/go", "");
        let output = run.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        assert!(String::from_utf8_lossy(&output.stderr).contains("credentials"));
    }
}

#[test]
fn the_user_s_own_rules_protect_paths_too() {
    for sandbox in Sandbox::all() {
        sandbox.test.write(
            "home/policy.yaml",
            "version: 1\nrules:\n  - id: no-plans\n    match: { effect: { does: [write], path: [\"plans/**\"] } }\n    \
             verdict: deny\n    reason: Plans are fixed.\n  - id: no-letters\n    match: { path: [\"~/letters/**\"] }\n    \
             verdict: deny\n    reason: Private.\n",
        );
        sandbox.test.write("work/plans/a.txt", "plan\n");
        sandbox.test.write("person/letters/a.txt", "dear\n");
        sandbox.give_away(sandbox.test.path("."));
        let ran = sandbox
            .run("echo x >plans/a.txt; cat plans/a.txt; cat ~/letters/a.txt; echo x >plans/b.txt; ls plans");
        assert_eq!(ran.stdout, "plan\na.txt\n", "{}", ran.stderr);
        let explained = sandbox.run_with(&["--explain", "--json"], &["true"]).json();
        let paths = explained["paths"].as_array().unwrap();
        let entry = |reason: &str| paths.iter().find(|entry| entry["reason"] == reason).unwrap().clone();
        assert_eq!(entry("no-plans")["access"], "read-only");
        assert_eq!(entry("no-letters")["access"], "hidden");
    }
}

#[test]
fn a_home_directory_is_not_a_project() {
    for sandbox in Sandbox::all() {
        for directory in [sandbox.test.path("person"), "/".into(), sandbox.test.home()] {
            let mut command = sandbox.sandboxed(&[], &["true"]);
            command.current_dir(&directory);
            let ran = sandbox.test.run_command(command, b"");
            assert_eq!(ran.exit, 2, "{}: {}", directory.display(), ran.stderr);
        }
    }
}

/// Claude Code sources `shell-snapshots` before each command of a session, `npx` runs `_npx` again, and a user's own `PATH`
/// may lead into the directory of an agent.
#[test]
fn programs_on_the_path_and_code_of_other_sessions_are_out_of_reach() {
    for sandbox in Sandbox::all() {
        sandbox.test.write("person/.claude/shell-snapshots/snapshot-1.sh", "true\n");
        sandbox.test.write("person/.claude/tools/tool", "#!/bin/sh\n");
        sandbox.test.write("person/.claude/versions/1/claude", "#!/bin/sh\n");
        sandbox.test.write("person/.npm/_npx/1/tool.js", "1\n");
        sandbox.test.write("person/.local/bin/other", "#!/bin/sh\n");
        let link = sandbox.test.path("person/.local/bin/claude");
        std::os::unix::fs::symlink("../../.claude/versions/1/claude", link).unwrap();
        sandbox.give_away(sandbox.test.path("."));
        let script = "for f in ~/.claude/tools/tool ~/.claude/tools/new ~/.claude/versions/1/claude ~/.claude/bin/new; do \
            mkdir -p ${f%/*} && echo x >$f && echo DONE $f; done; \
            mv ~/.claude/tools ~/.claude/t && echo DONE; mv ~/.claude/versions ~/.claude/v && echo DONE; \
            ls -A ~/.claude/shell-snapshots ~/.npm/_npx; \
            echo x >~/.claude/shell-snapshots/snapshot-1.sh && echo x >~/.npm/_npx/new && echo own";
        let mut command = sandbox.sandboxed(&["--profile", "claude-code"], &["/bin/sh", "-c", script]);
        let home = sandbox.test.path("person");
        let home = home.display();
        command
            .env("PATH", format!("{home}/.claude/tools:{home}/.claude/bin:{home}/.local/bin:/usr/bin:/bin"));
        let ran = sandbox.test.run_command(command, b"");
        assert!(!ran.stdout.contains("DONE"), "{}{}", ran.stdout, ran.stderr);
        assert!(!ran.stdout.contains("snapshot-1.sh") && !ran.stdout.contains("\n1\n"), "{}", ran.stdout);
        assert!(ran.stdout.ends_with("own\n"), "{}{}", ran.stdout, ran.stderr);
        let text = |name: &str| std::fs::read_to_string(sandbox.test.path(name)).unwrap();
        assert_eq!(text("person/.claude/shell-snapshots/snapshot-1.sh"), "true\n");
        assert_eq!(text("person/.claude/versions/1/claude"), "#!/bin/sh\n");
        assert!(!sandbox.test.path("person/.npm/_npx/new").exists());
        assert!(!sandbox.test.path("person/.claude/bin").exists(), "the placeholder is removed");
    }
}
