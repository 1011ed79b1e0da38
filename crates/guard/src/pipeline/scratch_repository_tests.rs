// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Git commands in a directory for temporary files are judged by the repository that is there.

use tenterhook_event::Decision;

use super::run_file_tests::Project;

#[test]
fn git_in_a_temporary_directory_is_judged_by_the_repository_there() {
    let temporary = tempfile::tempdir_in("/tmp").unwrap();
    let path = temporary.path().display().to_string();
    let git = temporary.path().join(".git");
    let (clean, reset) = (format!("git -C {path} clean -fdx"), format!("cd {path} && git reset --hard"));
    let run = |line: &str| Project::new(&[]).run(line);
    std::fs::create_dir(&git).unwrap();
    std::fs::write(git.join("config"), "[core]\n\tbare = false\n").unwrap();
    for line in [&clean, &reset] {
        assert_eq!(run(line), Decision::None, "{line}");
    }
    for change in [
        "git config core.worktree ~/work",
        "git config extensions.worktreeConfig true",
        "git config include.path ~/x",
        "printf '[core]\\nworktree=/home/x' >> .git/config",
        "cp -r ~/prepared/.git .",
        "echo gitdir: ~/work/.git > .git",
    ] {
        let line = format!("cd {path} && {change} && git clean -fdx");
        assert!(run(&line) >= Decision::Ask, "{line}");
    }
    let fresh = format!("mkdir {path}/fresh && cd {path}/fresh && git init -q && git clean -fdx");
    assert_eq!(run(&fresh), Decision::None);
    for config in ["[core]\nworktree = /home/x\n", "[Core]\n WorkTree = ../x\n", "[include]\npath = x\n"] {
        std::fs::write(git.join("config"), config).unwrap();
        for line in [&clean, &reset] {
            assert_eq!(run(line), Decision::Ask, "{config}: {line}");
        }
    }
    std::fs::remove_dir_all(&git).unwrap();
    std::fs::write(&git, "gitdir: /home/x/.git\n").unwrap();
    assert_eq!(run(&clean), Decision::Ask, "the repository is elsewhere");
}
