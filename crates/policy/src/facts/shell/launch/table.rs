// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The programs that run a text they are given among other words.

/// A program that runs a text.
pub(super) struct Launcher {
    pub(super) names: &'static [&'static str],
    /// Words that must be there, such as `rebase`.
    pub(super) verbs: &'static [&'static str],
    /// Options, as written, behind which a text stands.
    pub(super) texts: &'static [&'static str],
    /// How words begin whose rest is a text.
    pub(super) starts: &'static [&'static str],
    /// Words behind which all that follows is a command.
    pub(super) words: &'static [&'static str],
    /// Whether every operand is a text.
    pub(super) operands: bool,
}

const fn launcher(names: &'static [&'static str], verbs: &'static [&'static str]) -> Launcher {
    Launcher { names, verbs, texts: &[], starts: &[], words: &[], operands: false }
}

/// Every program of the kind.
pub(super) const LAUNCHERS: &[Launcher] = &[
    Launcher { texts: &["-x", "--exec"], starts: &["--exec="], ..launcher(&["git"], &["rebase"]) },
    Launcher { words: &["run"], ..launcher(&["git"], &["bisect", "run"]) },
    Launcher {
        texts: &[
            "--tree-filter",
            "--index-filter",
            "--msg-filter",
            "--env-filter",
            "--commit-filter",
            "--parent-filter",
            "--tag-name-filter",
        ],
        ..launcher(&["git"], &["filter-branch"])
    },
    Launcher { texts: &["-x", "--extcmd"], starts: &["--extcmd="], ..launcher(&["git"], &["difftool"]) },
    Launcher { starts: &["--upload-pack=", "--receive-pack="], ..launcher(&["git"], &[]) },
    Launcher { texts: &["-u", "--upload-pack"], ..launcher(&["git"], &["clone"]) },
    Launcher { words: &["-c", "--command"], ..launcher(&["nix"], &[]) },
    Launcher {
        texts: &["-I", "--use-compress-program", "-F", "--info-script", "--to-command", "--rsh-command"],
        starts: &[
            "--checkpoint-action=exec=",
            "--to-command=",
            "--use-compress-program=",
            "--rsh-command=",
            "--info-script=",
        ],
        ..launcher(&["tar", "gtar", "bsdtar"], &[])
    },
    Launcher { texts: &["-TT", "--unzip-command"], ..launcher(&["zip"], &[]) },
    Launcher {
        texts: &["-e", "--rsh", "--rsync-path"],
        starts: &["--rsh=", "--rsync-path="],
        ..launcher(&["rsync"], &[])
    },
    Launcher {
        starts: &[
            "ProxyCommand=",
            "-oProxyCommand=",
            "LocalCommand=",
            "-oLocalCommand=",
            "KnownHostsCommand=",
            "ProxyCommand ",
        ],
        ..launcher(&["ssh", "scp", "sftp", "autossh"], &[])
    },
    Launcher { texts: &["-S"], ..launcher(&["scp", "sftp"], &[]) },
    Launcher {
        texts: &["-p", "--prepare", "-c", "--cleanup", "--setup", "-s"],
        operands: true,
        ..launcher(&["hyperfine"], &[])
    },
    Launcher { operands: true, ..launcher(&["concurrently"], &[]) },
    Launcher { texts: &["--exec", "-x"], starts: &["--exec="], ..launcher(&["nodemon"], &[]) },
    Launcher { texts: &["-c", "--command"], ..launcher(&["chokidar", "onchange", "watchman-make"], &[]) },
    Launcher { texts: &["-s", "--shell"], ..launcher(&["cargo"], &["watch"]) },
    Launcher { texts: &["-s"], ..launcher(&["entr"], &[]) },
    Launcher { texts: &["-P", "--pager", "-H"], starts: &["--pager="], ..launcher(&["man"], &[]) },
    Launcher { starts: &["SHELL=", ".SHELLFLAGS="], ..launcher(&["make", "gmake"], &[]) },
];
