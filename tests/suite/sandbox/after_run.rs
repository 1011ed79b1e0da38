// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is compared after a run and undone.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use super::{PROGRAM, Sandbox};
use crate::terminal_user::until;

#[test]
fn a_guarded_file_at_the_root_of_the_project_is_moved_aside() {
    for sandbox in Sandbox::all() {
        let ran = sandbox.run("echo 'import os' >sitecustomize.py");
        assert!(ran.stderr.contains("sitecustomize.py"), "{}", ran.stderr);
        assert!(!sandbox.test.path("work/sitecustomize.py").exists());
        assert!(sandbox.test.path("work/sitecustomize.py.removed-by-tenterhook").exists());
    }
}

#[test]
fn a_link_to_settings_is_restored() {
    for sandbox in Sandbox::all() {
        let settings = sandbox.test.path("person/.claude/settings.json");
        std::fs::remove_file(&settings).unwrap();
        let target = sandbox.test.write("person/dotfiles/settings.json", "{}\n");
        symlink(&target, &settings).unwrap();
        let ran = sandbox.run("cd ~/.claude; echo x >settings.json && echo DONE; rm settings.json; echo '{\"hooks\":{}}' >settings.json");
        assert!(!ran.stdout.contains("DONE"), "{}", ran.stdout);
        assert!(ran.stderr.contains("the link was replaced"), "{}", ran.stderr);
        assert_eq!(std::fs::read_link(&settings).unwrap(), target);
        assert_eq!(std::fs::read_to_string(&settings).unwrap(), "{}\n");
    }
}

#[test]
fn a_linked_directory_of_a_client_is_protected_at_its_target() {
    for sandbox in Sandbox::all() {
        let real = sandbox.test.path("person/dotfiles/claude");
        std::fs::create_dir_all(real.parent().unwrap()).unwrap();
        std::fs::rename(sandbox.test.path("person/.claude"), &real).unwrap();
        symlink(&real, sandbox.test.path("person/.claude")).unwrap();
        let ran = sandbox.run("echo x >~/.claude/settings.json && echo DONE; mv ~/.claude ~/.c2 && echo DONE; echo x >~/dotfiles/claude/settings.json && echo DONE; true");
        assert!(!ran.stdout.contains("DONE"), "{}{}", ran.stdout, ran.stderr);
        assert_eq!(std::fs::read_to_string(real.join("settings.json")).unwrap(), "{\"model\": \"x\"}\n");
    }
}

#[test]
fn servers_that_are_added_to_the_client_s_own_state_are_removed() {
    for sandbox in Sandbox::all() {
        sandbox.test.write(
            "person/.claude.json",
            "{\"mcpServers\": {\"mine\": {}}, \"projects\": {\"/a\": {\"mcpServers\": {}}}}\n",
        );
        sandbox.give_away(sandbox.test.path("person"));
        let ran = sandbox.python(
            "import json, os\np = os.path.expanduser('~/.claude.json')\nd = json.load(open(p))\nd['mcpServers']['evil'] = {'command': 'x'}\n\
             d['projects']['/a']['mcpServers'] = {'evil': {}}\nd['projects']['/b'] = {'mcpServers': {'evil': {}}, 'history': [1]}\nd['numStartups'] = 3\njson.dump(d, open(p, 'w'))",
        );
        assert!(ran.stderr.contains("changed mcpServers"), "{}", ran.stderr);
        let text = std::fs::read_to_string(sandbox.test.path("person/.claude.json")).unwrap();
        assert!(!text.contains("evil"), "{text}");
        let state: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&state["numStartups"], &state["projects"]["/b"]["history"][0]), (&3.into(), &1.into()));
        assert_eq!(state["mcpServers"]["mine"], serde_json::json!({}));
    }
}

#[test]
fn undone_changes_are_recorded() {
    for sandbox in Sandbox::all() {
        std::fs::remove_dir_all(sandbox.test.home().join("ledger")).unwrap();
        sandbox.run("git config alias.x '!evil'");
        let records = sandbox.test.records();
        let found = records.iter().any(|record| record.to_string().contains("sandbox.undo"));
        assert!(found, "{records:?}");
    }
}

#[test]
fn a_later_command_undoes_what_a_killed_run_has_changed() {
    for command in [&["status"][..], &["doctor"], &["run", "--sandbox", "--network", "none", "--", "true"]] {
        for sandbox in Sandbox::all() {
            let script = "git config core.hooksPath /tmp/evil; touch started; exec sleep 600";
            let command_line = ["/bin/sh", "-c", script];
            let mut run = sandbox.sandboxed(&["--network", "none"], &command_line).spawn().unwrap();
            until("the command has started", || sandbox.test.path("work/started").exists().then_some(()));
            run.kill().unwrap();
            run.wait().unwrap();
            let hooks_path = || sandbox.plain("git config core.hooksPath").stdout;
            assert_eq!(hooks_path(), "/tmp/evil\n", "nothing has undone it yet");
            // Its processes end with the supervisor, and hold its lock until then.
            let last = until("the change is undone", || {
                let ran = sandbox.test.run_command(sandbox.command(Path::new(PROGRAM), command), b"");
                hooks_path().is_empty().then_some(ran)
            });
            assert!(
                last.stderr.contains("undone after the run") && last.stderr.contains("core.hookspath"),
                "{}",
                last.stderr
            );
            let again = sandbox.test.run_command(sandbox.command(Path::new(PROGRAM), command), b"");
            assert!(!again.stderr.contains("undone"), "{}", again.stderr);
        }
    }
}

#[test]
fn two_runs_at_once_share_their_placeholders() {
    for sandbox in Sandbox::all() {
        let mut first = sandbox.sandboxed(&["--profile", "claude-code", "--network", "none"], &["/bin/sh", "-c", "touch started; while [ ! -e go ]; do sleep 0.02; done; mkdir -p .codex; echo x >.codex/config.toml && echo DONE; ls -a .codex"]);
        let first =
            first.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
        crate::terminal_user::until("the run has started", || {
            sandbox.test.path("work/started").exists().then_some(())
        });
        assert_eq!(sandbox.run("true").exit, 0);
        assert!(sandbox.test.path("work/.codex").exists(), "the first run needs it");
        sandbox.test.write("work/go", "");
        let output = first.wait_with_output().unwrap();
        assert!(!String::from_utf8_lossy(&output.stdout).contains("DONE"));
        assert!(!sandbox.test.path("work/.codex").exists());
    }
}
