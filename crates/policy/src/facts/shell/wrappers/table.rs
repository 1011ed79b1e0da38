// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The programs that run other programs, and how they take their options.

/// A program that runs the rest of its words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// The word that has to come first, as in `uv run`; empty if none has to.
    pub(super) verbs: &'static [&'static str],
    /// Letters and long names of its options that take a value.
    pub(super) values: &'static str,
    pub(super) long_values: &'static [&'static str],
    /// The options, letters and long names, whose value is a directory to go to first.
    pub(super) goes: &'static [&'static str],
    /// Those whose value is a text for a shell.
    pub(super) texts: &'static [&'static str],
    /// Operands of its own before the command begins.
    pub(super) operands: usize,
    /// Whether `NAME=value` may stand before the command.
    pub(super) assigns: bool,
    /// Whether it starts a shell on standard input when there is no command.
    pub(super) shell: bool,
    /// Whether it hands its words to a shell, as one text.
    pub(super) joins: bool,
}

const PLAIN: Wrapper = Wrapper {
    name: "",
    verbs: &[],
    values: "",
    long_values: &[],
    goes: &[],
    texts: &[],
    operands: 0,
    assigns: false,
    shell: false,
    joins: false,
};
/// More operands than anybody writes: no command ever begins.
const ALL: usize = usize::MAX;

const fn plain(name: &'static str, values: &'static str, long_values: &'static [&'static str]) -> Wrapper {
    Wrapper { name, values, long_values, ..PLAIN }
}

const fn verb(name: &'static str, verbs: &'static [&'static str], values: &'static str) -> Wrapper {
    Wrapper { name, verbs, values, ..PLAIN }
}

const fn after(operands: usize, wrapper: Wrapper) -> Wrapper {
    Wrapper { operands, ..wrapper }
}

/// Every program of the kind.
pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "sudo",
        values: "CDghpRrtTuU",
        long_values: &["user", "group", "host", "prompt", "chdir", "chroot", "role", "type", "close-from"],
        goes: &["D", "chdir"],
        assigns: true,
        shell: true,
        ..PLAIN
    },
    Wrapper { shell: true, ..plain("doas", "Cu", &[]) },
    Wrapper {
        name: "env",
        values: "uC",
        long_values: &["unset", "chdir"],
        goes: &["C", "chdir"],
        assigns: true,
        ..PLAIN
    },
    Wrapper { name: "su", texts: SU_TEXTS, values: SU, operands: ALL, shell: true, ..PLAIN },
    Wrapper {
        name: "runuser",
        texts: SU_TEXTS,
        values: SU,
        long_values: &["user", "group"],
        shell: true,
        ..PLAIN
    },
    Wrapper {
        name: "script",
        texts: &["c", "command"],
        values: "cEIBOTmot",
        operands: ALL,
        shell: true,
        ..PLAIN
    },
    Wrapper { operands: ALL, shell: true, ..plain("at", "fqt", &[]) },
    Wrapper { operands: ALL, shell: true, ..plain("batch", "fq", &[]) },
    Wrapper { operands: ALL, shell: true, ..plain("crontab", "u", &[]) },
    Wrapper { operands: ALL, shell: true, ..plain("newgrp", "", &[]) },
    plain("nohup", "", &[]),
    plain("setsid", "", &[]),
    plain("time", "fo", &["format", "output"]),
    plain("nice", "n", &["adjustment"]),
    plain("ionice", "cn", &["class", "classdata"]),
    plain("chrt", "TPD", &[]),
    after(1, plain("timeout", "ks", &["kill-after", "signal"])),
    after(1, plain("gtimeout", "ks", &["kill-after", "signal"])),
    plain("stdbuf", "ioe", &["input", "output", "error"]),
    Wrapper { shell: true, ..after(1, plain("chroot", "", &["userspec", "groups"])) },
    Wrapper {
        texts: &["c", "command"],
        ..after(1, plain("flock", "wEc", &["timeout", "conflict-exit-code"]))
    },
    plain("strace", "eopsuEaPI", &[]),
    plain("ltrace", "eopsu", &[]),
    plain(
        "systemd-run",
        "pMHEu",
        &["unit", "property", "uid", "gid", "slice", "setenv", "working-directory"],
    ),
    plain("systemd-inhibit", "", &["what", "who", "why", "mode"]),
    plain("pkexec", "", &["user"]),
    after(1, plain("taskset", "", &[])),
    plain("numactl", "NCmpi", &[]),
    Wrapper { shell: true, ..plain("unshare", "SGRw", &[]) },
    Wrapper { shell: true, ..plain("nsenter", "tSGw", &["target"]) },
    plain("fakeroot", "lsib", &[]),
    plain("proot", "rbwq", &[]),
    after(1, plain("gosu", "", &[])),
    after(1, plain("su-exec", "", &[])),
    after(1, plain("setarch", "", &[])),
    plain("dbus-run-session", "", &[]),
    plain("xvfb-run", "nesfp", &[]),
    plain("unbuffer", "", &[]),
    plain("rlwrap", "", &[]),
    plain("torsocks", "", &[]),
    plain("proxychains", "f", &[]),
    plain("proxychains4", "f", &[]),
    plain("firejail", "", &[]),
    plain("entr", "", &[]),
    plain("command", "", &[]),
    plain("exec", "a", &[]),
    plain("builtin", "", &[]),
    plain("coproc", "", &[]),
    plain("busybox", "", &[]),
    plain("toybox", "", &[]),
    Wrapper { joins: true, ..plain("watch", "nqs", &["interval"]) },
    plain("caffeinate", "tw", &[]),
    plain(
        "xargs",
        "adEILnPs",
        &["arg-file", "delimiter", "max-args", "max-lines", "max-procs", "max-chars", "process-slot-var"],
    ),
    verb("uv", &["run"], "p"),
    verb("poetry", &["run"], ""),
    verb("pipenv", &["run"], ""),
    verb("pdm", &["run"], ""),
    verb("rye", &["run"], ""),
    verb("hatch", &["run"], ""),
    verb("conda", &["run"], "np"),
    verb("mamba", &["run"], "np"),
    verb("bundle", &["exec"], ""),
    verb("pnpm", &["exec", "dlx"], "C"),
    verb("yarn", &["exec", "dlx"], ""),
    Wrapper { texts: &["c", "call"], ..verb("npm", &["exec", "x"], "cpw") },
    Wrapper { name: "npx", texts: &["c", "call"], values: "cp", ..PLAIN },
    verb("mise", &["exec", "x"], ""),
    verb("op", &["run"], ""),
    verb("doppler", &["run"], ""),
    after(1, verb("direnv", &["exec"], "")),
    after(1, verb("aws-vault", &["exec"], "")),
    after(1, verb("rustup", &["run"], "")),
    Wrapper { name: "nix-shell", texts: &["run", "command"], values: "pAIE", operands: ALL, ..PLAIN },
    Wrapper { operands: ALL, ..plain("nix", "", &[]) },
    plain("sshpass", "pfePd", &[]),
    Wrapper { assigns: true, ..plain("cross-env", "", &[]) },
    Wrapper { assigns: true, ..plain("cross-env-shell", "", &[]) },
    verb("devbox", &["run"], "ce"),
    plain("dotenv", "efvp", &[]),
    verb("dotenvx", &["run"], "f"),
    plain("env-cmd", "fer", &[]),
    plain("watchexec", "ewifsdn", &["exts", "watch", "ignore", "filter", "shell", "debounce", "signal"]),
    verb("perf", &["stat", "record", "trace"], "eopCcFr"),
    plain("valgrind", "", &[]),
    plain("heaptrack", "o", &[]),
    plain("setpriv", "", &["reuid", "regid", "groups", "inh-caps", "bounding-set"]),
    plain("prlimit", "", &[]),
    plain("cpulimit", "lp", &["limit"]),
    plain("tini", "p", &[]),
    plain("dumb-init", "r", &[]),
    plain("chronic", "", &[]),
    plain("ifne", "", &[]),
    plain("catchsegv", "", &[]),
    plain("run0", "u", &["user", "unit", "property"]),
    after(1, plain("s6-setuidgid", "", &[])),
    after(1, plain("setuidgid", "", &[])),
    plain("noglob", "", &[]),
    plain("nocorrect", "", &[]),
    plain("tsp", "LDfn", &[]),
    verb("zellij", &["run"], "dnc"),
    plain("gnome-terminal", "", &["title", "working-directory"]),
    Wrapper { name: "xterm", values: "Tgf", ..PLAIN },
    plain("alacritty", "", &["title", "working-directory"]),
    plain("kitty", "dT", &[]),
    plain("foot", "", &[]),
    verb("wezterm", &["start"], ""),
    Wrapper { name: "sg", texts: SU_TEXTS, values: "c", operands: ALL, ..PLAIN },
    verb("pixi", &["run", "exec"], "e"),
    verb("pipx", &["run"], ""),
    verb("micromamba", &["run"], "np"),
    verb("teller", &["run"], "c"),
    verb("infisical", &["run"], ""),
    verb("chamber", &["exec"], ""),
    plain("envchain", "", &[]),
    plain("aws-okta", "", &[]),
    plain("retry", "td", &["times", "delay"]),
    Wrapper { joins: true, ..verb("tmux", TMUX, "cFnstxyel") },
    plain("screen", "ScehpstT", &[]),
];
const SU: &str = "cgGsuwT";
const SU_TEXTS: &[&str] = &["c", "command", "session-command"];
const TMUX: &[&str] = &[
    "new-session",
    "new",
    "new-window",
    "neww",
    "split-window",
    "splitw",
    "run-shell",
    "run",
    "send-keys",
    "send",
];
