// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that come up with a prompt of their own unless they are told what to do.

/// A program with a prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prompt {
    pub(super) names: &'static [&'static str],
    /// Words that have to be among its operands, in this order; `|` between those that do the same.
    pub(super) verbs: &'static [&'static str],
    /// Letters of options that take a value.
    pub(super) values: &'static str,
    /// Long names of options that take a value, with one dash or two.
    pub(super) long_values: &'static [&'static str],
    /// Letters of options that tell it what to do, so that there is no prompt.
    pub(super) tells: &'static str,
    /// Long names of such options.
    pub(super) told: &'static [&'static str],
    /// With more operands than these it has been told what to do.
    pub(super) operands: usize,
}

/// However many operands there are.
const ANY: usize = usize::MAX;
const VERSION: &[&str] = &["version", "help"];

const fn prompt(names: &'static [&'static str], operands: usize) -> Prompt {
    Prompt { names, verbs: &[], values: "", long_values: &[], tells: "", told: VERSION, operands }
}

const fn verb(names: &'static [&'static str], verbs: &'static [&'static str]) -> Prompt {
    Prompt { verbs, ..prompt(names, ANY) }
}

/// Programs that read what to do from standard input.
pub(super) const PROMPTS: &[Prompt] = &[
    // Databases; most of them have a way to start a shell.
    Prompt {
        values: "dhLopPRTUvF",
        tells: "cflV?",
        told: &["command", "file", "list", "version", "help"],
        long_values: &["host", "port", "username", "dbname", "set", "variable", "output", "pset"],
        ..prompt(&["psql", "pgcli", "ysqlsh", "usql"], ANY)
    },
    Prompt {
        values: "DhPuS",
        tells: "eV?",
        told: &["execute", "version", "help", "print-defaults"],
        long_values: &["user", "host", "port", "database", "socket", "protocol"],
        ..prompt(&["mysql", "mariadb", "mycli", "mysqlsh"], ANY)
    },
    Prompt {
        told: &["version", "help", "c", "s"],
        long_values: &["cmd", "init", "separator", "newline", "nullvalue", "vfs", "maxsize", "mmap"],
        ..prompt(&["sqlite3", "sqlite", "litecli", "duckdb"], 1)
    },
    Prompt {
        tells: "f",
        told: &["eval", "file", "version", "help"],
        long_values: &["host", "port", "username", "password", "authenticationDatabase"],
        ..prompt(&["mongosh", "mongo"], 1)
    },
    Prompt {
        values: "hpsanurdDiX",
        told: &["version", "help", "scan", "bigkeys", "stat", "latency", "eval", "pipe", "cluster", "rdb"],
        long_values: &["user", "pass", "cacert", "cert", "key"],
        ..prompt(&["redis-cli", "valkey-cli", "keydb-cli"], 0)
    },
    Prompt {
        values: "hdu",
        tells: "qV",
        told: &["query", "queries-file", "version", "help"],
        ..prompt(&["clickhouse-client", "snowsql"], ANY)
    },
    Prompt {
        values: "upk",
        tells: "ef",
        told: &["execute", "file", "version", "help"],
        ..prompt(&["cqlsh"], ANY)
    },
    Prompt {
        values: "SUPdCo",
        tells: "iQqfe",
        told: &["execute", "file", "version", "help"],
        ..prompt(&["sqlcmd", "osql", "tsql", "isql", "trino", "presto", "beeline", "hive", "spark-sql"], ANY)
    },
    prompt(&["sqlplus"], 1),
    Prompt { tells: "f", values: "aupd", told: &["file", "version", "help"], ..prompt(&["cypher-shell"], 0) },
    Prompt { tells: "e", told: &["execute", "file", "version"], ..verb(&["cockroach"], &["sql"]) },
    verb(&["bq"], &["shell"]),
    // Languages that `interpreter` does not know, or that stay at their prompt behind a file.
    Prompt { tells: "e", told: &["eval", "version", "help"], ..prompt(&["ghci", "iex", "utop"], ANY) },
    Prompt {
        tells: "e",
        told: &["version", "help"],
        ..prompt(&["irb", "pry", "ocaml", "scala", "gnuplot"], 0)
    },
    Prompt { tells: "ef", told: &["version", "help", "CMD"], ..prompt(&["R", "racket", "guile", "gp"], 0) },
    prompt(&["bpython", "ptpython", "ptipython", "jshell", "gst", "maxima", "dc", "spark-shell"], 0),
    Prompt {
        tells: "emMTX",
        told: &["version", "help", "main", "eval"],
        ..prompt(&["clj", "clojure", "bb", "kotlinc-jvm"], 0)
    },
    Prompt { told: &["eval", "version", "help"], ..prompt(&["octave", "octave-cli"], 0) },
    Prompt {
        values: "gtsfl",
        told: &["version", "help", "dump-runtime-variables"],
        ..prompt(&["swipl"], ANY)
    },
    Prompt { told: &["noshell", "noinput", "version"], ..prompt(&["erl"], ANY) },
    Prompt {
        told: &["script", "non-interactive", "version", "help"],
        ..prompt(&["sbcl", "clisp", "ecl"], ANY)
    },
    verb(&["jupyter"], &["console"]),
    verb(&["rails", "bin/rails"], &["console|c|dbconsole|db"]),
    Prompt {
        tells: "c",
        told: &["command", "version", "help"],
        ..verb(&["django-admin"], &["shell|dbshell"])
    },
    verb(&["flask"], &["shell"]),
    verb(&["artisan"], &["tinker"]),
    // Debuggers.
    Prompt {
        told: &["batch", "version", "help"],
        tells: "b",
        ..prompt(&["gdb", "rust-gdb", "cgdb", "lldb", "rust-lldb"], ANY)
    },
    prompt(&["pdb", "pdb3", "ipdb", "pudb", "jdb", "bashdb", "rdbg", "byebug", "perldb"], ANY),
    Prompt {
        told: &["headless", "version", "help"],
        ..verb(&["dlv"], &["debug|exec|attach|test|core|connect"])
    },
    Prompt { tells: "qv", told: &["version", "help"], ..prompt(&["r2", "radare2", "rizin"], ANY) },
    // Editors that read standard input.
    prompt(&["ed", "red"], ANY),
    Prompt { told: &["version", "help"], ..prompt(&["ex"], ANY) },
    // Files on other machines, with a way to start a shell here.
    Prompt { tells: "b", values: "cDFiJloPRSX", ..prompt(&["sftp"], ANY) },
    Prompt { tells: "cef", told: &["version", "help"], ..prompt(&["lftp"], ANY) },
    prompt(&["ftp", "tnftp", "telnet", "smbclient", "gdbserver"], ANY),
    // Shells that need no command to be named.
    Prompt { told: &["run", "command", "version", "help"], ..prompt(&["nix-shell"], ANY) },
    Prompt { tells: "c", told: &["command", "version", "help"], ..verb(&["nix"], &["develop|shell"]) },
    verb(&["poetry", "pipenv", "hatch", "devbox", "pixi", "pdm", "flox", "guix"], &["shell|activate"]),
    verb(&["toolbox", "distrobox"], &["enter"]),
    verb(&["docker", "podman", "nerdctl"], &["attach"]),
    verb(&["virsh", "lxc", "incus"], &["console"]),
    verb(&["machinectl"], &["login"]),
    verb(&["aws"], &["ssm", "start-session"]),
    prompt(&["login", "minicom", "picocom", "abduco", "dtach", "byobu"], ANY),
    prompt(&["zellij"], 0),
    verb(&["zellij"], &["attach|a"]),
];

/// Programs that show themselves on the terminal and read keys from there.
pub(super) const EDITORS: &[Prompt] = &[
    Prompt {
        told: &["es", "Es", "version", "help", "headless"],
        ..prompt(&["vim", "vi", "nvim", "view", "vimdiff", "gvim", "rvim", "nvi", "elvis"], ANY)
    },
    Prompt {
        told: &["batch", "script", "version", "help", "daemon"],
        ..prompt(&["emacs", "mg", "jed", "joe", "zile"], ANY)
    },
    Prompt { tells: "ne", told: &["eval", "no-wait", "version", "help"], ..prompt(&["emacsclient"], ANY) },
    prompt(&["nano", "pico", "micro", "hx", "helix", "kak", "ne", "mcedit"], ANY),
    prompt(&["ranger", "nnn", "lf", "yazi", "vifm"], ANY),
    prompt(&["mc"], 0),
    prompt(&["less", "more", "most"], ANY),
    Prompt {
        tells: "c",
        told: &["check", "version", "help"],
        ..prompt(&["visudo", "vipw", "vigr", "sudoedit"], ANY)
    },
];
