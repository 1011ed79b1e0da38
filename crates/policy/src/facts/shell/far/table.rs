// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The programs that run commands elsewhere, and how they take their options.

use super::super::super::effect::Side;

/// What the first operand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    /// Nothing of interest.
    None,
    /// The machine or container.
    First,
    /// A directory that becomes the root.
    Root,
}

/// A program that runs a command elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Far {
    pub(super) names: &'static [&'static str],
    /// The words that have to come first; `|` between those that do the same.
    pub(super) verbs: &'static [&'static str],
    pub(super) on: Side,
    pub(super) host: Host,
    /// Letters and long names of its options that take a value.
    pub(super) values: &'static str,
    pub(super) long_values: &'static [&'static str],
    /// Options whose value is a text for a shell there.
    pub(super) texts: &'static [&'static str],
    /// Options whose value is a directory to go to first.
    pub(super) goes: &'static [&'static str],
    /// Options whose value is a directory that becomes the root.
    pub(super) roots: &'static [&'static str],
    /// Options that make a directory of this side visible there.
    pub(super) mounts: &'static [&'static str],
    /// Options that name the program, the words being its arguments.
    pub(super) entry: &'static [&'static str],
    /// Operands of its own before the command begins.
    pub(super) operands: usize,
    /// Whether `--` ends them early.
    pub(super) dashes_end_operands: bool,
    /// Whether a command only ever stands behind `--`.
    pub(super) only_behind_dashes: bool,
    /// Whether the words are one text for a shell there.
    pub(super) joins: bool,
    /// Whether it runs its input when there is no command.
    pub(super) shell: bool,
}

const REMOTE: Far = Far {
    names: &[],
    verbs: &[],
    on: Side::Remote,
    host: Host::First,
    values: "",
    long_values: &[],
    texts: &[],
    goes: &[],
    roots: &[],
    mounts: &[],
    entry: &[],
    operands: 1,
    dashes_end_operands: false,
    only_behind_dashes: false,
    joins: true,
    shell: true,
};
const CONTAINER: Far = Far { on: Side::Container, joins: false, shell: false, ..REMOTE };
const DOCKER: &[&str] = &["docker", "podman", "nerdctl", "finch"];
const DOCKER_RUN: &[&str] = &[
    "name",
    "volume",
    "mount",
    "workdir",
    "env",
    "env-file",
    "user",
    "entrypoint",
    "network",
    "net",
    "publish",
    "label",
    "hostname",
    "memory",
    "cpus",
    "gpus",
    "device",
    "add-host",
    "platform",
    "pull",
    "restart",
    "cap-add",
    "cap-drop",
    "security-opt",
    "tmpfs",
    "volumes-from",
    "pid",
    "ipc",
    "userns",
    "ulimit",
    "shm-size",
    "log-driver",
    "link",
    "dns",
    "cidfile",
    "context",
    "host",
    "config",
    "log-level",
    "detach-keys",
    "index",
    "cgroupns",
    "runtime",
    "stop-signal",
];
const COMPOSE: &[&str] = &[
    "file",
    "project-name",
    "profile",
    "env-file",
    "project-directory",
    "index",
    "entrypoint",
    "user",
    "workdir",
    "env",
    "volume",
    "name",
    "publish",
    "label",
];
const KUBECTL: &[&str] = &[
    "namespace",
    "container",
    "context",
    "kubeconfig",
    "cluster",
    "user",
    "filename",
    "image",
    "env",
    "labels",
    "overrides",
    "restart",
    "target",
    "profile",
    "server",
    "token",
    "pod-running-timeout",
    "request-timeout",
];
const SSH: &str = "BbcDEeFIiJLlmOopQRSWwM";

/// Every program of the kind.
pub(super) const FAR: &[Far] = &[
    Far { names: &["ssh", "autossh", "slogin", "hpnssh", "tsh"], values: SSH, ..REMOTE },
    Far { names: &["mosh", "et"], long_values: &["ssh", "port"], values: "p", ..REMOTE },
    Far { names: &["pdsh", "clush", "dsh"], values: "wxlugRtfmMn", operands: 0, host: Host::None, ..REMOTE },
    Far {
        names: &["pssh", "parallel-ssh"],
        values: "hHlptoeOxA",
        long_values: &["hosts", "host", "user", "par", "timeout", "option", "extra-args"],
        operands: 0,
        host: Host::None,
        ..REMOTE
    },
    Far {
        names: &["gcloud"],
        verbs: &["compute", "ssh"],
        long_values: &["command", "zone", "project", "ssh-flag", "ssh-key-file"],
        texts: &["command"],
        ..REMOTE
    },
    Far {
        names: &["vagrant"],
        verbs: &["ssh"],
        values: "c",
        long_values: &["command"],
        texts: &["c", "command"],
        ..REMOTE
    },
    Far {
        names: &["fly", "flyctl"],
        verbs: &["ssh", "console"],
        values: "aCs",
        long_values: &["command", "app"],
        texts: &["C", "command"],
        operands: 0,
        host: Host::None,
        ..REMOTE
    },
    Far {
        names: &["heroku"],
        verbs: &["run|run:detached"],
        values: "a",
        long_values: &["app"],
        operands: 0,
        host: Host::None,
        ..REMOTE
    },
    Far {
        names: &["aws"],
        verbs: &["ecs", "execute-command"],
        long_values: &["command", "cluster", "task", "container", "profile", "region"],
        texts: &["command"],
        operands: 0,
        host: Host::None,
        ..REMOTE
    },
    Far {
        names: &["az"],
        verbs: &["vm|vmss", "run-command", "invoke|create"],
        values: "gn",
        long_values: &["scripts", "script", "command-id", "name", "resource-group", "parameters"],
        texts: &["scripts", "script"],
        operands: 0,
        host: Host::None,
        ..REMOTE
    },
    Far {
        names: &["az"],
        verbs: &["container", "exec"],
        values: "gn",
        long_values: &["exec-command", "name", "resource-group", "container-name"],
        texts: &["exec-command"],
        operands: 0,
        host: Host::None,
        ..REMOTE
    },
    Far {
        names: &["cf"],
        verbs: &["ssh"],
        values: "ci",
        long_values: &["command"],
        texts: &["c", "command"],
        ..REMOTE
    },
    Far {
        names: &["railway", "scalingo", "gigalixir", "dokku", "platform", "upsun", "eb"],
        verbs: &["ssh|run|enter"],
        values: "aspec",
        long_values: &["app", "service", "project", "environment", "command"],
        texts: &["c", "command"],
        operands: 0,
        host: Host::None,
        ..REMOTE
    },
    Far { names: &["adb"], verbs: &["shell"], values: "s", operands: 0, host: Host::None, ..REMOTE },
    Far { names: &["tailscale"], verbs: &["ssh"], ..REMOTE },
    Far {
        names: &["gh"],
        verbs: &["codespace|cs", "ssh"],
        values: "c",
        long_values: &["codespace"],
        operands: 0,
        host: Host::None,
        ..REMOTE
    },
    Far {
        names: DOCKER,
        verbs: &["compose", "exec|run"],
        values: "fpeuwv",
        long_values: COMPOSE,
        goes: &["w", "workdir"],
        mounts: &["v", "volume"],
        entry: &["entrypoint"],
        ..CONTAINER
    },
    Far {
        names: &["docker-compose", "podman-compose"],
        verbs: &["exec|run"],
        values: "fpeuwv",
        long_values: COMPOSE,
        goes: &["w", "workdir"],
        mounts: &["v", "volume"],
        ..CONTAINER
    },
    Far {
        names: DOCKER,
        verbs: &["exec"],
        values: "euwHlc",
        long_values: DOCKER_RUN,
        goes: &["w", "workdir"],
        ..CONTAINER
    },
    Far {
        names: DOCKER,
        verbs: &["container", "exec"],
        values: "euwHlc",
        long_values: DOCKER_RUN,
        goes: &["w", "workdir"],
        ..CONTAINER
    },
    Far {
        names: DOCKER,
        verbs: &["run|create"],
        values: "vwueplhmcaHl",
        long_values: DOCKER_RUN,
        goes: &["w", "workdir"],
        mounts: &["v", "volume", "mount"],
        entry: &["entrypoint"],
        ..CONTAINER
    },
    Far {
        names: DOCKER,
        verbs: &["container", "run|create"],
        values: "vwueplhmcaHl",
        long_values: DOCKER_RUN,
        goes: &["w", "workdir"],
        mounts: &["v", "volume", "mount"],
        entry: &["entrypoint"],
        ..CONTAINER
    },
    Far {
        names: &["kubectl", "oc", "k"],
        verbs: &["exec"],
        values: "ncf",
        long_values: KUBECTL,
        dashes_end_operands: true,
        on: Side::Remote,
        ..CONTAINER
    },
    Far {
        names: &["kubectl", "oc", "k"],
        verbs: &["run|debug"],
        values: "nlf",
        long_values: KUBECTL,
        only_behind_dashes: true,
        dashes_end_operands: true,
        ..CONTAINER
    },
    Far {
        names: &["oc"],
        verbs: &["rsh"],
        values: "nc",
        long_values: KUBECTL,
        on: Side::Remote,
        ..CONTAINER
    },
    Far {
        names: &["lxc", "incus"],
        verbs: &["exec"],
        values: "",
        long_values: &["cwd", "env", "user", "group"],
        goes: &["cwd"],
        ..CONTAINER
    },
    Far {
        names: &["lxc-attach"],
        values: "n",
        long_values: &["name"],
        operands: 0,
        host: Host::None,
        ..CONTAINER
    },
    Far { names: &["knife"], verbs: &["ssh"], values: "xiaPCp", long_values: &["ssh-user"], ..REMOTE },
    Far {
        names: &["bolt"],
        verbs: &["command", "run"],
        values: "tu",
        long_values: &["targets", "user", "inventoryfile"],
        operands: 0,
        host: Host::None,
        ..REMOTE
    },
    Far {
        names: &["fab"],
        values: "Hufi",
        long_values: &["hosts", "user", "identity"],
        only_behind_dashes: true,
        operands: 0,
        host: Host::None,
        ..REMOTE
    },
    Far {
        names: &["kubectl", "oc", "k"],
        verbs: &["node-shell|node_shell"],
        values: "n",
        long_values: KUBECTL,
        dashes_end_operands: true,
        ..REMOTE
    },
    Far { names: &["multipass"], verbs: &["exec"], values: "d", goes: &["d"], ..CONTAINER },
    Far {
        names: &["limactl"],
        verbs: &["shell"],
        long_values: &["workdir"],
        goes: &["workdir"],
        ..CONTAINER
    },
    Far {
        names: &["machinectl"],
        verbs: &["shell"],
        values: "E",
        long_values: &["uid", "setenv"],
        ..CONTAINER
    },
    Far { names: &["nomad"], verbs: &["alloc", "exec"], long_values: &["task", "job"], ..CONTAINER },
    Far {
        names: &["devcontainer"],
        verbs: &["exec"],
        long_values: &["workspace-folder", "container-id", "config"],
        operands: 0,
        host: Host::None,
        ..CONTAINER
    },
    Far { names: &["flatpak"], verbs: &["run"], long_values: &["command"], entry: &["command"], ..CONTAINER },
    Far {
        names: &["chroot", "arch-chroot"],
        long_values: &["userspec", "groups"],
        values: "ur",
        host: Host::Root,
        shell: true,
        ..CONTAINER
    },
    Far {
        names: &["systemd-nspawn"],
        values: "DiMu",
        long_values: &["directory", "image", "bind", "machine", "user"],
        roots: &["D", "directory"],
        operands: 0,
        host: Host::Root,
        ..CONTAINER
    },
];
