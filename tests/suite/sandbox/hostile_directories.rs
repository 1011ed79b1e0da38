// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Directories that a run prepares so that the undo after it, or a later run, does harm.

use std::os::unix::fs::PermissionsExt as _;

use super::Sandbox;

/// Ways to make a repository's settings hard to restore. Each follows `git config alias.x '!x'`.
const OBSTACLES: &[&str] = &[
    "mkdir .git/config.tenterhook-new; touch .git/config.tenterhook-new/x",
    "chmod a-w .git",
    "rm .git/config; mkdir -p .git/config/x; touch .git/config.removed-by-tenterhook; chmod a-w .git",
];

#[test]
fn the_undo_changes_no_file_outside_the_project() {
    for sandbox in Sandbox::all() {
        let program = sandbox.test.write("person/.cargo/bin/tool", "#!/bin/sh\n");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let link = sandbox.test.path("person/.cargo/bin/linked");
        std::os::unix::fs::symlink("tool", &link).unwrap();
        sandbox.give_away(sandbox.test.path("person"));
        for script in [
            "git init -q n; rm -rf n/.git/hooks; ln -s ~/.cargo/bin n/.git/hooks",
            "mkdir -p n/.git; ln -s ~/.cargo/bin n/.git/hooks; cp .git/HEAD .git/config n/.git; mkdir n/.git/objects n/.git/refs",
        ] {
            let ran = sandbox.run(script);
            let mode = std::fs::metadata(&program).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o755, "{script}: {}", ran.stderr);
            assert!(link.symlink_metadata().is_ok(), "{script}: {}", ran.stderr);
            assert!(ran.stderr.contains("n/.git/hooks"), "{script}: {}", ran.stderr);
            assert!(sandbox.test.path("work/n/.git/hooks").symlink_metadata().is_err(), "{script}");
            sandbox.plain("rm -rf n");
        }
    }
}

#[test]
fn a_run_cannot_make_the_undo_fail() {
    for sandbox in Sandbox::all() {
        // An empty section may stay; git reads no setting from it.
        let settings = || sandbox.plain("git config --file .git/config --list").stdout;
        let before = settings();
        assert!(before.contains("core."), "{before}");
        for obstacle in OBSTACLES {
            let ran = sandbox.run(&format!("git config alias.x '!x'; {obstacle}"));
            assert_eq!(settings(), before, "{obstacle}: {}", ran.stderr);
            assert!(!ran.stderr.contains("NOT UNDONE"), "{obstacle}: {}", ran.stderr);
            sandbox.plain("chmod u+w .git; rm -rf .git/config.*");
        }
        let ran = sandbox.run(
            "touch sitecustomize.py sitecustomize.py.removed-by-tenterhook; \
             for n in $(seq 999); do touch sitecustomize.py.removed-by-tenterhook.$n; done",
        );
        assert!(!sandbox.test.path("work/sitecustomize.py").exists(), "{}", ran.stderr);
    }
}

#[test]
fn a_restored_file_has_the_mode_from_before_the_run() {
    for sandbox in Sandbox::all() {
        let config = sandbox.test.path("work/.git/config");
        std::fs::set_permissions(&config, std::fs::Permissions::from_mode(0o640)).unwrap();
        let ran = sandbox.run("umask 0; ln -sf /tmp/evil .git/config");
        let mode = std::fs::symlink_metadata(&config).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{}", ran.stderr);
    }
}

#[test]
fn many_names_push_no_settings_file_out_of_the_protected_set() {
    for sandbox in Sandbox::all() {
        sandbox.plain("for i in $(seq 600); do echo {} >~/.claude/settings-$(printf %04d $i).json; done");
        let before = sandbox.guard_files();
        let ran = sandbox.run(
            "echo x >~/.claude/settings.json && echo DONE; echo x >~/.claude/settings-0600.json && echo DONE; true",
        );
        assert!(!ran.stdout.contains("DONE"), "{}{}", ran.stdout, ran.stderr);
        assert_eq!(sandbox.guard_files(), before);
    }
}

#[test]
fn a_new_git_file_that_names_a_directory_outside_is_moved_aside() {
    for sandbox in Sandbox::all() {
        let cache = sandbox.test.path("person/.claude/g");
        let ran = sandbox.run(
            "git init -q ~/.claude/g && git -C ~/.claude/g config core.fsmonitor $PWD/x; mkdir -p src; \
             echo \"gitdir: $HOME/.claude/g/.git\" >src/.git",
        );
        assert!(cache.join(".git/config").exists(), "{}", ran.stderr);
        assert!(ran.stderr.contains("src/.git"), "{}", ran.stderr);
        let found = sandbox.plain("cd src && git config core.fsmonitor").stdout;
        assert_eq!(found, "", "{}", ran.stderr);
    }
}

#[test]
fn settings_that_only_other_parsers_read_are_restored() {
    for sandbox in Sandbox::all() {
        let before = "{\"mcpServers\": {}, \"numStartups\": 1}\n";
        sandbox.test.write("person/.claude.json", before);
        sandbox.give_away(sandbox.test.path("person"));
        for text in [
            "{\\\"mcpServers\\\": {\\\"evil\\\": {}}, \\\"a\\\": 1e999}",
            "{\\\"mcpServers\\\": {\\\"evil\\\": {}}, \\\"a\\\": \\\"\\\\ud800\\\"}",
        ] {
            let ran = sandbox.python(&format!(
                "import os\nopen(os.path.expanduser('~/.claude.json'), 'w').write(\"{text}\")"
            ));
            let now = std::fs::read_to_string(sandbox.test.path("person/.claude.json")).unwrap();
            assert!(!now.contains("evil"), "{now}{}", ran.stderr);
            assert!(ran.stderr.contains(".claude.json"), "{}", ran.stderr);
        }
    }
}
