# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Files that the attacker leaves behind and that programs outside run later. A wrapper may refuse the write, or restore
the file after the run: the checks look at the files, or run git, after the wrapper ended."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from registry import MARK, add, attack, planted

# Name, path below the home (`proj` is the project), and what reads the file. Files marked `+` exist before.
FILES = (
    ("bashrc", "+.bashrc", "the shell"), ("profile", "+.profile", "the login shell"), ("bash-profile", ".bash_profile", "the login shell"),
    ("zshenv", ".zshenv", "zsh"), ("fish", ".config/fish/config.fish", "fish"), ("bash-logout", ".bash_logout", "the shell"),
    ("environment-d", ".config/environment.d/attack.conf", "systemd, for LD_PRELOAD of a fake hook program"),
    ("pam-environment", ".pam_environment", "PAM, for LD_PRELOAD of a fake hook program"),
    ("autostart", ".config/autostart/attack.desktop", "the desktop"), ("systemd-unit", ".config/systemd/user/attack.service", "systemd"),
    ("systemd-wants", ".config/systemd/user/default.target.wants/attack.service", "systemd"),
    ("dbus-service", ".local/share/dbus-1/services/attack.service", "D-Bus"), ("desktop-entry", ".local/share/applications/attack.desktop", "the desktop"),
    ("git-config", "+.gitconfig", "git"), ("git-config-xdg", ".config/git/config", "git"), ("git-attributes", ".config/git/attributes", "git"),
    ("ssh-config", ".ssh/config", "ssh"), ("ssh-rc", ".ssh/rc", "sshd"), ("authorized-keys", "+.ssh/authorized_keys", "sshd"),
    ("cargo-config", ".cargo/config.toml", "cargo"), ("npmrc", ".npmrc", "npm"), ("pip-config", ".config/pip/pip.conf", "pip"),
    ("usercustomize", ".local/lib/python3.11/site-packages/usercustomize.py", "Python"), ("pth", ".local/lib/python3.11/site-packages/a.pth", "Python"),
    ("vimrc", ".vimrc", "vim"), ("neovim", ".config/nvim/init.lua", "Neovim"), ("tmux-conf", ".tmux.conf", "tmux"), ("inputrc", ".inputrc", "readline"),
    ("path-program", ".local/bin/git", "the shell's PATH"), ("cargo-bin", ".cargo/bin/cargo", "the shell's PATH"),
    ("docker-config", ".docker/config.json", "docker"), ("kube-config", ".kube/config", "kubectl"), ("gdbinit", ".gdbinit", "gdb"),
    ("direnv", "proj/.envrc", "direnv"), ("vscode-tasks", "proj/.vscode/tasks.json", "VS Code"), ("vscode-settings", "proj/.vscode/settings.json", "VS Code"),
    ("devcontainer", "proj/.devcontainer/devcontainer.json", "VS Code"), ("cursor-mcp", "proj/.cursor/mcp.json", "Cursor"),
    ("vscode-mcp", "proj/.vscode/mcp.json", "VS Code"), ("idea", "proj/.idea/workspace.xml", "a JetBrains editor"),
)


def append(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab") as file:
        file.write(b"\n# " + MARK + b"\n")


for _name, _path, _reader in FILES:
    _clean = _path.lstrip("+")
    add(f"plant-{_name}", "planted in the project" if _clean.startswith("proj/") else "planted in the home",
        f"{'append to' if _path[0] == '+' else 'create'} `~/{_clean}`, which {_reader} reads",
        lambda t, p=_clean: append(t.home / p), planted(_clean))


def planted_outside(name: str):
    return lambda stage: f"`{name}` has the attacker's text" if MARK in stage.outside_file(name) else ""


for _name, _title in (("crontab", "the user's crontab"), ("ld-preload", "/etc/ld.so.preload"), ("profile-d", "/etc/profile.d"),
                      ("etc-hosts", "/etc/hosts"), ("sudoers", "/etc/sudoers.d")):
    add(f"plant-{_name}", "planted in the system", f"write {_title}",
        lambda t, n=_name: append(Path(t.outside[n])), planted_outside(_name))


# ---- git: the check runs git outside and looks if the attacker's command ran ----

def runs_in_git(*directories: str):
    def check(stage) -> str:
        for directory in directories:
            stage.run_git(directory)
        return "a git command outside ran the attacker's program" if stage.later_program_ran() else ""
    return check


def write_hook(t, hooks: Path, name: str = "pre-commit") -> Path:
    hooks.mkdir(parents=True, exist_ok=True)
    hook = hooks / name
    if hook.is_symlink() or hook.exists():
        hook.unlink()
    hook.write_text(f"#!/bin/sh\n{t.later_command}\n")
    hook.chmod(0o755)
    return hook


def git(t, *arguments: str, directory: str = "proj") -> None:
    subprocess.run(["git", "-C", str(t.home / directory), *arguments], check=True, capture_output=True, timeout=8)


def later(summary: str, *directories: str):
    return attack("git", summary, runs_in_git(*(directories or ("proj",))))


@later("add a hook in `.git/hooks`")
def git_hook(t):
    write_hook(t, t.project / ".git/hooks")


@later("change an existing hook in place")
def git_hook_overwrite(t):
    with open(t.project / ".git/hooks/post-commit", "a") as hook:
        hook.write(t.later_command + "\n")


@later("replace `.git/hooks` by a directory made elsewhere")
def git_hooks_rename(t):
    write_hook(t, t.project / "made")
    os.rename(t.project / ".git/hooks", t.project / ".git/hooks-old")
    os.rename(t.project / "made", t.project / ".git/hooks")


@later("rename `.git` and put a copy with a hook in its place")
def git_directory_swap(t):
    os.rename(t.project / ".git", t.project / ".git-old")
    shutil.copytree(t.project / ".git-old", t.project / ".git", symlinks=True)
    write_hook(t, t.project / ".git/hooks")


@later("make `.git` a file that names another directory")
def git_file(t):
    shutil.copytree(t.project / ".git", t.project / "other", symlinks=True)
    write_hook(t, t.project / "other/hooks")
    os.rename(t.project / ".git", t.project / ".git-old")
    (t.project / ".git").write_text("gitdir: other\n")


@later("set core.hooksPath with git")
def git_hooks_path(t):
    write_hook(t, t.project / "tools")
    git(t, "config", "core.hooksPath", "tools")


@later("set core.fsmonitor with git")
def git_fsmonitor(t):
    git(t, "config", "core.fsmonitor", str(write_hook(t, t.project / "tools")))


@later("define an alias with git")
def git_alias(t):
    git(t, "config", "alias.st", f"!{t.later_command}")


@later("write `.git/config` directly, with an include of a file in the project")
def git_include(t):
    (t.project / "shared.gitconfig").write_text(f"[core]\n\tfsmonitor = {write_hook(t, t.project / 'tools')}\n")
    with open(t.project / ".git/config", "a") as config:
        config.write("[include]\n\tpath = ../shared.gitconfig\n")


@later("replace `.git/config` by rename")
def git_config_replace(t):
    text = (t.project / ".git/config").read_text()
    (t.project / "config").write_text(f"{text}[core]\n\tfsmonitor = {write_hook(t, t.project / 'tools')}\n")
    os.replace(t.project / "config", t.project / ".git/config")


@later("add a filter and attributes")
def git_filter(t):
    git(t, "config", "filter.x.clean", f"{t.later_command}; cat")
    (t.project / ".gitattributes").write_text("* filter=x\n")


@later("turn on per-worktree configuration and write `config.worktree`")
def git_worktree_config(t):
    git(t, "config", "extensions.worktreeConfig", "true")
    (t.project / ".git/config.worktree").write_text(f"[core]\n\tfsmonitor = {write_hook(t, t.project / 'tools')}\n")


@later("point `.git/commondir` to a directory with hooks")
def git_common_directory(t):
    shutil.copytree(t.project / ".git", t.project / "common", symlinks=True)
    write_hook(t, t.project / "common/hooks")
    (t.project / ".git/commondir").write_text("../common\n")


@later("add a hook in a nested repository that exists", "proj/vendor/lib")
def git_nested_hook(t):
    write_hook(t, t.project / "vendor/lib/.git/hooks")


@later("set core.hooksPath in a nested repository that exists", "proj/vendor/lib")
def git_nested_hooks_path(t):
    write_hook(t, t.project / "tools")
    git(t, "config", "core.hooksPath", str(t.project / "tools"), directory="proj/vendor/lib")


@later("make a repository with a hook", "proj/fresh")
def git_fresh_repository(t):
    os.mkdir(t.project / "fresh")
    git(t, "init", "-q", directory="proj/fresh")
    write_hook(t, t.project / "fresh/.git/hooks")


@later("make a directory that git takes for a bare repository", "proj/bare")
def git_bare_repository(t):
    os.mkdir(t.project / "bare")
    git(t, "init", "-q", "--bare", directory="proj/bare")
    git(t, "config", "core.bare", "false", directory="proj/bare")
    git(t, "config", "core.worktree", "..", directory="proj/bare")
    git(t, "config", "core.fsmonitor", str(write_hook(t, t.project / "tools")), directory="proj/bare")


def runs_and_writes(*directories: str):
    """Git outside runs in these directories, and then `~/.profile` has the attacker's mark."""
    def check(stage) -> str:
        for directory in directories:
            stage.run_git(directory)
        return planted(".profile")(stage)
    return check


@later("put a repository in `.git`, named by a file with a space at its end", "proj/sub")
def git_file_space(t):
    shutil.copytree(t.project / ".git", t.project / ".git/module ", symlinks=True, ignore=shutil.ignore_patterns("module*"))
    git(t, "--git-dir", ".git/module ", "config", "core.fsmonitor", str(write_hook(t, t.project / "tools")))
    os.mkdir(t.project / "sub")
    (t.project / "sub/.git").write_text("gitdir: ../.git/module \n")


@later("put a repository in `.git`, and a link to it in the project", "proj/docs")
def git_link_into_git(t):
    os.makedirs(t.project / ".git/kept")
    git(t, "init", "-q", directory="proj/.git/kept")
    git(t, "config", "core.fsmonitor", str(write_hook(t, t.project / "tools")), directory="proj/.git/kept")
    os.symlink(".git/kept", t.project / "docs")


@later("make a repository nine directories deep", "proj/a/b/c/d/e/f/g/h/i")
def git_deep_repository(t):
    os.makedirs(t.project / "a/b/c/d/e/f/g/h/i")
    git(t, "init", "-q", directory="proj/a/b/c/d/e/f/g/h/i")
    git(t, "config", "core.fsmonitor", str(write_hook(t, t.project / "tools")), directory="proj/a/b/c/d/e/f/g/h/i")


@attack("git", "link git's log to `~/.profile`", runs_and_writes("proj"))
def git_log_link(t):
    log = t.project / ".git/logs/HEAD"
    log.parent.mkdir(exist_ok=True)
    log.unlink(missing_ok=True)
    os.symlink(t.home / ".profile", log)
    git(t, "config", "user.name", MARK.decode())


@later("set a hook directory in the user's git configuration")
def git_global_hooks_path(t):
    write_hook(t, t.project / "tools")
    git(t, "config", "--global", "core.hooksPath", str(t.project / "tools"))


@later("add a hook in another project of the user", "other")
def git_other_project(t):
    write_hook(t, t.home / "other/.git/hooks")
