// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Repositories and files that a run plants where git finds them later, but a simple search does not.

use super::Sandbox;

/// A setting with which git runs a program.
const PLANTED: &str = "'touch PWNED; false'";

/// Runs a script in the sandbox and another one outside, after `before`. Outside, nothing of the agent's runs.
fn plant(before: &str, inside: &str, outside: &str) {
    for sandbox in Sandbox::all() {
        sandbox.plain(before);
        let pwned = sandbox.test.path("person/PWNED");
        let path = pwned.to_str().unwrap();
        let ran = sandbox.run(&inside.replace("PWNED", path));
        assert!(ran.stderr.contains("undone after the run"), "{inside}\n{}{}", ran.stdout, ran.stderr);
        let later = sandbox.plain(outside);
        assert!(!pwned.exists(), "{inside}\n{}{}{}", ran.stderr, later.stdout, later.stderr);
        // The attack is a real one: without the undo, the program runs.
        sandbox.plain(&format!(
            "cd ..; rm -rf work; mkdir work; cd work; git init -q . && git init -q nested; {before}"
        ));
        sandbox.plain(&inside.replace("PWNED", path));
        sandbox.plain(outside);
        assert!(pwned.exists(), "it has no effect without a sandbox either: {inside}");
        sandbox.plain(&format!("rm {path}"));
    }
}

#[test]
fn a_git_file_with_any_bytes_hides_no_repository() {
    for name in ["m ", "\\377", "m\\nx"] {
        let script = format!(
            "name=$(printf '{name}x'); name=${{name%x}}; git init -q m; mv m/.git \".git/$name\"; git --git-dir \".git/$name\" config core.bare false; \
             git --git-dir \".git/$name\" config core.fsmonitor {PLANTED}; mkdir sub; touch sub/a; printf 'gitdir: %s\\n' \"../.git/$name\" >sub/.git"
        );
        plant("true", &script, "cd sub && git status");
    }
}

#[test]
fn a_link_into_a_git_directory_hides_no_repository() {
    let script = format!(
        "git init -q .git/x/a; git -C .git/x/a config core.fsmonitor {PLANTED}; mkdir .git/x/a/src; ln -s .git/x/a/src src"
    );
    plant("true", &script, "cd src && git status");
}

#[test]
fn neither_depth_nor_many_directories_hide_a_repository() {
    let deep = "a/b/c/d/e/f/g/h/i";
    let script =
        format!("mkdir -p {deep}; git init -q {deep}; git -C {deep} config core.fsmonitor {PLANTED}");
    plant("true", &script, &format!("cd {deep} && git status"));
    let script = format!(
        "mkdir zz; python3 -c 'import os; [os.mkdir(f\"zz/{{n}}\") for n in range(4100)]'; mkdir -p aa; git init -q aa/r; \
         git -C aa/r config core.fsmonitor {PLANTED}"
    );
    plant("true", &script, "cd aa/r && git status");
}

#[test]
fn a_submodule_that_is_checked_out_later_runs_no_planted_hook() {
    let script = "git init -q /tmp/s$$ && git -C /tmp/s$$ -c user.name=a -c user.email=a commit -q --allow-empty -m i; mkdir -p .git/modules; \
         git clone -q --bare /tmp/s$$ .git/modules/sub; rm -rf /tmp/s$$; commit=$(git -C .git/modules/sub rev-parse HEAD); \
         git -C .git/modules/sub config core.bare false; mkdir -p .git/modules/sub/hooks; \
         printf '#!/bin/sh\\ntouch PWNED\\n' >.git/modules/sub/hooks/post-checkout; chmod +x .git/modules/sub/hooks/post-checkout; \
         printf '[submodule \"sub\"]\\n\\tpath = sub\\n\\turl = https://git.invalid/s\\n' >.gitmodules; \
         git update-index --add --cacheinfo 160000,$commit,sub; git add .gitmodules; git commit -q --no-verify -m sub";
    plant("true", script, "git submodule update --init");
}

#[test]
fn worktrees_outside_the_project_get_no_other_settings() {
    let worktree = "rm -rf ../tree; git commit -q --no-verify --allow-empty -m x; git config extensions.worktreeConfig true; git worktree add -q ../tree";
    let common = format!(
        "git init -q .git/evil; git -C .git/evil config core.fsmonitor {PLANTED}; echo \"$PWD/.git/evil/.git\" >.git/worktrees/tree/commondir"
    );
    plant(worktree, &common, "cd ../tree && git status");
    let own = format!("git config --file .git/worktrees/tree/config.worktree core.fsmonitor {PLANTED}");
    plant(worktree, &own, "cd ../tree && git status");
}

#[test]
fn git_writes_no_protected_file_through_a_planted_link() {
    let log = "git commit -q --no-verify --allow-empty -m x; ln -sf ~/.profile .git/logs/HEAD; git config user.name 'x; touch PWNED; #'";
    plant("rm -f ~/.profile", log, "git commit -q --no-verify --allow-empty -m y; sh ~/.profile");
    let message = "ln -sf ~/.profile .git/COMMIT_EDITMSG; echo 'touch PWNED' >.git/SQUASH_MSG";
    plant(
        "rm -f ~/.profile",
        message,
        "git commit -q --no-verify --allow-empty -m \"$(cat .git/SQUASH_MSG)\"; sh ~/.profile",
    );
    let built = "ln -s ~/.profile build.log; echo 'touch PWNED' >source";
    plant("rm -f ~/.profile", built, "test ! -L build.log || cat source >build.log; sh ~/.profile");
}

#[test]
fn an_unfinished_rebase_gets_no_commands() {
    let script = "git commit -q --no-verify --allow-empty -m x; mkdir .git/rebase-merge; cd .git/rebase-merge; git symbolic-ref HEAD >head-name; \
         git rev-parse HEAD >onto; cp onto orig-head; echo 'exec touch PWNED' >git-rebase-todo; touch done interactive; echo 1 >msgnum; echo 1 >end";
    plant("true", script, "GIT_EDITOR=true git rebase --continue");
}

/// What a project may contain without harm, such as test data: a git directory with settings and hooks, under another name.
const OLD_CONTENT: &str = "git init -q data; mv data/.git data/dot-git; git --git-dir data/dot-git config core.bare false; \
     git --git-dir data/dot-git config core.fsmonitor 'touch PWNED; false'; \
     printf '#!/bin/sh\ntouch PWNED\n' >data/dot-git/hooks/pre-commit; chmod +x data/dot-git/hooks/pre-commit; sleep 0.3";

#[test]
fn a_repository_made_of_old_files_runs_nothing() {
    for (inside, directory) in [
        ("mkdir sub; echo 'gitdir: ../data/dot-git' >sub/.git", "sub"),
        ("mv data/dot-git data/.git", "data"),
        ("mkdir sub; ln -s ../data/dot-git sub/.git", "sub"),
        ("mv data/dot-git data/x; mv data/x data/.git; touch -d '2020-01-01' data/.git", "data"),
        ("mkdir sub; git init -q sub; echo ../../data/dot-git >sub/.git/commondir", "sub"),
    ] {
        for sandbox in Sandbox::all() {
            let pwned = sandbox.test.path("person/PWNED");
            let path = pwned.to_str().unwrap();
            let before = OLD_CONTENT.replace("PWNED", path);
            let outside = format!("cd {directory} && git status; git commit --allow-empty -q -m x");
            sandbox.plain(&before);
            // A known directory cannot be renamed; a file that names it is undone.
            let ran = sandbox.run(inside);
            let later = sandbox.plain(&outside);
            assert!(!pwned.exists(), "{inside}\n{}{}{}", ran.stderr, later.stdout, later.stderr);
            // The attack is a real one.
            sandbox.plain(&format!("rm -rf data sub; {before}; {inside}"));
            sandbox.plain(&outside);
            assert!(pwned.exists(), "it has no effect without a sandbox either: {inside}");
        }
    }
}

#[test]
fn settings_of_a_repository_that_the_search_before_did_not_find_stay() {
    for sandbox in Sandbox::all() {
        let deep = "a/b/c/d/e/f/g/h/i";
        sandbox.plain(&format!(
            "git init -q {deep}; git -C {deep} config alias.mine '!true'; printf '#!/bin/sh\\n' >{deep}/.git/hooks/pre-push; \
             chmod +x {deep}/.git/hooks/pre-push; ln -s ~/.bashrc mine; sleep 0.3"
        ));
        let ran = sandbox.run(&format!("touch {deep}/x; git -C {deep} add x"));
        assert!(!ran.stderr.contains("undone"), "{}", ran.stderr);
        assert_eq!(sandbox.plain(&format!("git -C {deep} config alias.mine")).stdout, "!true\n");
        assert_eq!(sandbox.plain(&format!("test -x {deep}/.git/hooks/pre-push && test -L mine")).exit, 0);
    }
}

#[test]
fn a_full_file_system_keeps_no_planted_setting() {
    for sandbox in Sandbox::all() {
        if sandbox.account.is_some() || !rustix::process::getuid().is_root() {
            continue;
        }
        let small = sandbox.test.path("person/small");
        std::fs::create_dir(&small).unwrap();
        let script = format!(
            "mount -t tmpfs -o size=512k none {0} && cd {0} && git init -q . && git -C . config alias.old '!true' && \
             '{1}' run --sandbox --network none -- sh -c \"git config alias.x '!x'; cat /dev/zero >full 2>/dev/null; true\"; git config alias.x; echo \"found $?\"",
            small.display(),
            super::PROGRAM
        );
        let ran = sandbox.test.run_command(
            sandbox.command(std::path::Path::new("/usr/bin/unshare"), &["--mount", "/bin/sh", "-c", &script]),
            b"",
        );
        assert!(ran.stdout.contains("found 1"), "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("the file was renamed instead"), "{}", ran.stderr);
    }
}
