// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Settings of git with which a later command outside would run a program of the agent.

use super::Sandbox;

#[test]
fn settings_that_run_programs_are_undone_after_the_run() {
    for sandbox in Sandbox::all() {
        // A section that is empty now sets nothing.
        let config = || sandbox.plain("git config --local --list").stdout;
        let before = config();
        for (key, value) in [
            ("core.hooksPath", "/tmp/x"),
            ("core.fsmonitor", "/tmp/x"),
            ("core.sshCommand", "x"),
            ("core.pager", "x"),
            ("alias.st", "!x"),
            ("filter.a.clean", "x"),
            ("diff.a.command", "x"),
            ("credential.helper", "!x"),
            ("url.x.insteadOf", "y"),
            ("include.path", "/tmp/x"),
        ] {
            let ran = sandbox.run(&format!(
                "git config {key} '{value}'; git config user.nickname b; git config --get {key}"
            ));
            assert_eq!(ran.stdout, format!("{value}\n"), "inside, it is set: {}", ran.stderr);
            assert!(ran.stderr.contains("undone after the run"), "{key}: {}", ran.stderr);
            let kept = sandbox.plain("git config --get user.nickname").stdout;
            assert_eq!(kept, "b\n", "{key}: ordinary settings stay");
            sandbox.plain("git config --remove-section user");
            assert_eq!(config(), before, "{key}");
        }
    }
}

#[test]
fn a_replaced_configuration_is_restored() {
    for sandbox in Sandbox::all() {
        let path = sandbox.test.path("work/.git/config");
        sandbox.plain("git config core.pager cat");
        let before = std::fs::read_to_string(&path).unwrap();
        for script in [
            "ln -sf /tmp/evil .git/config",
            "rm .git/config; mkdir .git/config",
            "printf '[core] hooksPath = /tmp/x\\n' >.git/config",
            "printf '[include]\\npath = /tmp/x\\n' >.git/config.worktree",
            "git config core.pager evil",
            "rm .git/config",
        ] {
            let ran = sandbox.run(script);
            assert!(ran.stderr.contains("undone after the run"), "{script}: {}", ran.stderr);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), before, "{script}");
            let worktree =
                std::fs::read_to_string(sandbox.test.path("work/.git/config.worktree")).unwrap_or_default();
            assert!(!worktree.contains("path"), "{worktree}");
        }
    }
}

#[test]
fn nested_repositories_and_worktrees_are_checked_too() {
    for sandbox in Sandbox::all() {
        sandbox.plain("git commit -q --no-verify --allow-empty -m x && git worktree add -q tree && git -C nested config core.bare false");
        let ran = sandbox.run(
            "git -C nested config core.hooksPath /tmp/x; git -C tree config alias.x '!x'; echo x >nested/.git/hooks/pre-commit && echo DONE; \
             echo x >tree/.git/hooks/x 2>/dev/null && echo DONE; git init -q new; printf '#!/bin/sh\\n' >new/.git/hooks/pre-commit; chmod +x new/.git/hooks/pre-commit; \
             git -C new config core.fsmonitor /tmp/x",
        );
        assert!(!ran.stdout.contains("DONE"), "{}", ran.stdout);
        for part in ["nested/.git/config", "work/.git/config", "new/.git/config", "new/.git/hooks/pre-commit"]
        {
            assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
        }
        for repository in ["nested", "tree", "new"] {
            let found = sandbox
                .plain(&format!(
                    "git -C {repository} config --get-regexp 'core.(hookspath|fsmonitor)|alias.*'"
                ))
                .stdout;
            assert_eq!(found, "", "{repository}");
        }
        let hook = sandbox.test.path("work/new/.git/hooks/pre-commit");
        assert_eq!(std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(hook).unwrap()) & 0o111, 0);
    }
}

#[test]
fn a_worktree_outside_the_main_repository_is_a_project() {
    for sandbox in Sandbox::all() {
        sandbox.plain("git commit -q --no-verify --allow-empty -m x && git worktree add -q ../tree");
        let mut command = sandbox.sandboxed(&[], &["/bin/sh", "-c", "echo a >a && git add a && git commit -q --no-verify -m a && git log --oneline | wc -l; echo x >../work/.git/hooks/pre-push && echo DONE; git config core.pager x; echo x >../work/y; true"]);
        command.current_dir(sandbox.test.path("tree"));
        let ran = sandbox.test.run_command(command, b"");
        assert_eq!(ran.stdout.trim(), "2", "{}", ran.stderr);
        assert!(!sandbox.test.path("work/y").exists());
        assert!(ran.stderr.contains("undone after the run"), "{}", ran.stderr);
    }
}

#[test]
fn a_repository_cannot_be_pointed_to_other_settings() {
    for sandbox in Sandbox::all() {
        let evil = "git init -q evil; git -C evil config alias.x '!x';";
        for script in [
            "echo ../evil/.git >.git/commondir",
            "mkdir deep; echo \"gitdir: $PWD/evil/.git\" >deep/.git",
            "mkdir deep; ln -s ../evil/.git deep/.git",
            "git init -q --bare deep; git -C deep config alias.x '!x'",
            "mkdir deep; cp -r evil/.git deep/.git; echo \"$PWD/evil/.git\" >deep/.git/commondir",
        ] {
            let ran = sandbox.run(&format!("{evil} {script}"));
            for directory in [".", "nested", "deep"] {
                let show =
                    format!("test ! -d {directory} || git -C {directory} config --get-regexp 'alias.*'");
                assert_eq!(sandbox.plain(&show).stdout, "", "{script}: {}", ran.stderr);
            }
            sandbox.plain("rm -rf evil deep .git/commondir*");
        }
    }
}

#[test]
fn a_planted_git_file_makes_no_directory_writable_and_changes_no_other_repository() {
    for sandbox in Sandbox::all() {
        sandbox.plain("mkdir ../other; git init -q ../other; git -C ../other config alias.mine '!x'");
        for (name, plant) in [
            ("link", "ln -s ~/.ssh sub/.git"),
            ("file", "echo \"gitdir: $HOME/.ssh\" >sub/.git"),
            ("common", "mkdir sub/.git; echo \"$HOME/.ssh\" >sub/.git/commondir"),
            (
                "both",
                "mkdir sub/.git; echo \"$PWD/sub/.git\" >sub/.git/gitdir; echo \"$HOME\" >sub/.git/commondir",
            ),
            ("other", "echo \"gitdir: $PWD/../other/.git\" >sub/.git"),
        ] {
            sandbox.plain(&format!("mkdir sub; {plant}"));
            let before = sandbox.guard_files();
            let ran = sandbox.run(
                "echo x >~/.ssh/config && echo DONE; echo x >~/.ssh/authorized_keys && echo DONE; \
                 echo x >../other/.git/x && echo DONE; echo x >~/.planted && echo DONE; true",
            );
            assert!(!ran.stdout.contains("DONE"), "{name}: {}", ran.stdout);
            assert!(!sandbox.test.path("person/.planted").exists(), "{name}");
            assert_eq!(sandbox.guard_files(), before, "{name}");
            assert!(!sandbox.test.path("person/.ssh/config").exists());
            assert_eq!(sandbox.plain("git -C ../other config alias.mine").stdout, "!x\n");
            sandbox.plain("rm -rf sub");
        }
    }
}
