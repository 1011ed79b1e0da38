// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The package managers, a row for each way of asking one.

use super::From;
use super::managers::{Kind, Manager, Verb};
use super::name::Style;

const fn verb(kind: Kind, words: &'static [&'static str]) -> Verb {
    Verb { words, needs: &[], skips: 0, kind }
}

const fn installs(words: &'static [&'static str]) -> Verb {
    verb(Kind::Installs, words)
}

const fn runs(words: &'static [&'static str]) -> Verb {
    verb(Kind::Runs, words)
}

const fn needs(options: &'static [&'static str], verb: Verb) -> Verb {
    Verb { needs: options, ..verb }
}

const fn after(skips: usize, verb: Verb) -> Verb {
    Verb { skips, ..verb }
}

const fn adds(from: From, words: &'static [&'static str]) -> Verb {
    verb(Kind::Adds(from), words)
}

const PLAIN: Manager = Manager {
    programs: &[],
    called: "",
    style: Style::Plain,
    verbs: &[],
    letters: "",
    values: "",
    indexes: &[],
    gits: &[],
    paths: &[],
    specs: &[],
    files: &[],
    runs_files: false,
};

const fn simple(
    called: &'static str,
    programs: &'static [&'static str],
    style: Style,
    verbs: &'static [Verb],
) -> Manager {
    Manager { programs, called, style, verbs, ..PLAIN }
}

const NPM: Manager = Manager {
    style: Style::Npm,
    letters: "cpwC",
    values: "\
        registry package prefix workspace call cache tag userconfig dir filter cwd loglevel omit \
        include",
    indexes: &["registry"],
    specs: &["p", "package"],
    ..PLAIN
};
const NPM_INSTALLS: &[Verb] = &[
    installs(&[
        "install|i|in|ins|inst|insta|instal|isnt|isnta|isntal|isntall|add|install-test|it|update|up|upgrade|link|ln",
    ]),
    runs(&["exec|x|dlx"]),
    verb(Kind::Creates, &["create|init|innit"]),
];
const PIP: Manager = Manager {
    style: Style::Python,
    letters: "ircfetpb",
    values: "\
        index-url extra-index-url find-links requirement constraint editable target proxy python \
        platform prefix root cache-dir cert trusted-host timeout retries log index default-index \
        requirements python-version upgrade-strategy no-binary only-binary src with with-requirements \
        with-editable from spec pip-args suffix group extra branch tag git path rev source \
        directory project env-file optional package config-settings implementation abi",
    indexes: &[
        "i",
        "index-url",
        "extra-index-url",
        "f",
        "find-links",
        "index",
        "default-index",
        "source",
        "pip-args",
    ],
    files: &["r", "requirement", "requirements", "e", "editable", "with-requirements", "with-editable"],
    ..PLAIN
};
const NIX: Manager = Manager {
    style: Style::Nix,
    letters: "fIApE",
    values: "override-input attr packages file include arg profile",
    ..PLAIN
};

pub(super) const MANAGERS: &[Manager] = &[
    Manager { programs: &["npm"], called: "npm", verbs: NPM_INSTALLS, ..NPM },
    Manager { programs: &["npx"], called: "npm", verbs: &[runs(&[])], ..NPM },
    Manager { programs: &["pnpm"], called: "pnpm", verbs: NPM_INSTALLS, ..NPM },
    Manager { programs: &["pnpx"], called: "pnpm", verbs: &[runs(&[])], ..NPM },
    Manager {
        programs: &["yarn", "yarnpkg"],
        called: "yarn",
        verbs: &[
            installs(&["global", "add"]),
            installs(&["add|up|upgrade|link"]),
            runs(&["dlx|exec"]),
            verb(Kind::Creates, &["create|init"]),
        ],
        ..NPM
    },
    Manager { programs: &["bun"], called: "bun", verbs: NPM_INSTALLS, ..NPM },
    Manager { programs: &["bunx"], called: "bun", verbs: &[runs(&[])], ..NPM },
    Manager {
        programs: &["pip", "pip2", "pip3", "pip3.9", "pip3.10", "pip3.11", "pip3.12", "pip3.13", "pip3.14"],
        called: "pip",
        verbs: &[installs(&["install|download|wheel"])],
        ..PIP
    },
    Manager {
        programs: &["pipx"],
        called: "pipx",
        letters: "ip",
        verbs: &[runs(&["run"]), after(1, installs(&["inject"])), installs(&["install|upgrade"])],
        specs: &["spec"],
        ..PIP
    },
    Manager {
        programs: &["uv"],
        called: "uv",
        letters: "ircfetpnw",
        verbs: &[
            installs(&["pip", "install"]),
            installs(&["tool", "install|upgrade"]),
            runs(&["tool", "run"]),
            installs(&["add"]),
        ],
        specs: &["from", "with", "w"],
        paths: &["path"],
        ..PIP
    },
    // What follows `uv run` is a command of the project, judged by itself; only `--with` adds to it.
    Manager {
        programs: &["uv"],
        called: "uv",
        letters: "pw",
        verbs: &[needs(&["with", "w"], runs(&["run"]))],
        specs: &["with", "w"],
        ..PIP
    },
    Manager {
        programs: &["uvx"],
        called: "uv",
        letters: "ipwf",
        verbs: &[runs(&[])],
        specs: &["from", "with", "w"],
        ..PIP
    },
    Manager {
        programs: &["poetry", "pdm", "rye", "hatch", "pipenv", "pixi"],
        called: "poetry",
        letters: "GEpir",
        verbs: &[installs(&["add|install"])],
        gits: &["git"],
        paths: &["path"],
        ..PIP
    },
    Manager {
        programs: &["conda", "mamba", "micromamba"],
        called: "conda",
        letters: "cnpf",
        values: "channel name prefix file",
        indexes: &["c", "channel"],
        files: &["f", "file"],
        verbs: &[installs(&["install|create|update"]), installs(&["env", "create|update"])],
        ..PIP
    },
    Manager {
        programs: &["cargo"],
        called: "cargo",
        style: Style::At,
        letters: "FjpZC",
        values: "\
        features version vers git branch tag rev path root registry index target profile package \
        rename manifest-path config target-dir color bin example jobs",
        verbs: &[installs(&["install|add|binstall"])],
        indexes: &["registry", "index"],
        gits: &["git"],
        paths: &["path"],
        ..PLAIN
    },
    Manager {
        programs: &["go"],
        called: "go",
        style: Style::Go,
        values: "-tags -ldflags -gcflags -mod -modfile -o -C -exec -p",
        verbs: &[installs(&["install|get"]), runs(&["run"])],
        runs_files: true,
        ..PLAIN
    },
    Manager {
        programs: &["gem", "bundle", "bundler"],
        called: "gem",
        style: Style::Colon,
        letters: "vsipng",
        values: "\
        version source git github path group branch install-dir bindir platform ref",
        verbs: &[installs(&["install|i|add|update"]), adds(From::Index, &["sources"])],
        indexes: &["s", "source"],
        gits: &["git", "github"],
        paths: &["path"],
        ..PLAIN
    },
    Manager {
        programs: &["composer"],
        called: "composer",
        style: Style::Colon,
        letters: "d",
        values: "working-dir repository repository-url",
        indexes: &["repository", "repository-url"],
        verbs: &[installs(&["require"]), installs(&["global", "require"]), runs(&["create-project"])],
        ..PLAIN
    },
    simple(
        "brew",
        &["brew"],
        Style::Brew,
        &[installs(&["install|reinstall|upgrade"]), adds(From::Git, &["tap"])],
    ),
    Manager {
        letters: "toc",
        values: "target-release option config-file",
        ..simple("apt", &["apt", "apt-get", "aptitude"], Style::Equals, &[installs(&["install|reinstall"])])
    },
    simple("apt", &["dpkg"], Style::Plain, &[needs(&["i", "install", "unpack"], installs(&[]))]),
    simple("apt", &["add-apt-repository", "apt-add-repository"], Style::Plain, &[adds(From::Index, &[])]),
    simple("apt", &["apt-key"], Style::Plain, &[adds(From::Index, &["add|adv"])]),
    Manager {
        values: "\
        repo repoid enablerepo disablerepo releasever installroot setopt repofrompath",
        indexes: &["repofrompath"],
        ..simple(
            "dnf",
            &["dnf", "yum", "microdnf", "dnf5"],
            Style::Plain,
            &[installs(&["install|localinstall|reinstall|upgrade"])],
        )
    },
    Manager {
        values: "add-repo",
        specs: &["add-repo"],
        ..simple(
            "dnf",
            &["dnf", "yum", "dnf5", "yum-config-manager"],
            Style::Plain,
            &[
                needs(&["add-repo"], adds(From::Index, &["config-manager"])),
                needs(&["add-repo"], adds(From::Index, &[])),
            ],
        )
    },
    simple("dnf", &["rpm"], Style::Plain, &[needs(&["i", "U", "F", "install", "upgrade"], installs(&[]))]),
    simple(
        "zypper",
        &["zypper"],
        Style::Equals,
        &[installs(&["install|in"]), adds(From::Index, &["addrepo|ar"])],
    ),
    Manager {
        letters: "Xpt",
        values: "repository root virtual",
        indexes: &["X", "repository"],
        ..simple("apk", &["apk"], Style::Equals, &[installs(&["add"])])
    },
    simple(
        "pacman",
        &["pacman", "yay", "paru"],
        Style::Plain,
        &[needs(&["S", "U", "sync", "upgrade"], installs(&[]))],
    ),
    Manager {
        values: "channel revision",
        ..simple("snap", &["snap"], Style::Plain, &[installs(&["install|refresh"])])
    },
    simple(
        "flatpak",
        &["flatpak"],
        Style::Plain,
        &[installs(&["install"]), after(1, adds(From::Index, &["remote-add"]))],
    ),
    Manager {
        programs: &["nix"],
        called: "nix",
        verbs: &[installs(&["profile", "install|add"]), runs(&["run"]), installs(&["shell|develop"])],
        ..NIX
    },
    Manager {
        programs: &["nix-env"],
        called: "nix",
        letters: "fIAE",
        verbs: &[needs(&["i", "install"], installs(&[]))],
        specs: &["A", "attr"],
        ..NIX
    },
    Manager {
        programs: &["nix-shell"],
        called: "nix",
        letters: "IE",
        verbs: &[needs(&["p", "packages"], installs(&[]))],
        values: "run command",
        ..NIX
    },
    Manager {
        letters: "fn",
        values: "\
        repo values set namespace version username password set-string set-file kube-context timeout",
        indexes: &["repo"],
        ..simple(
            "helm",
            &["helm"],
            Style::Plain,
            &[
                after(1, adds(From::Index, &["repo", "add"])),
                after(1, installs(&["install|upgrade"])),
                installs(&["pull", "template"]),
                installs(&["plugin", "install"]),
            ],
        )
    },
    Manager {
        letters: "nLr",
        values: "name root config import-map lock node-modules-dir",
        runs_files: true,
        ..simple("deno", &["deno"], Style::Deno, &[runs(&["run|serve|x"]), installs(&["install|i|add"])])
    },
    Manager {
        values: "install-extension",
        specs: &["install-extension"],
        ..simple(
            "vscode",
            &["code", "code-insiders", "codium", "cursor", "windsurf"],
            Style::At,
            &[needs(&["install-extension"], installs(&[]))],
        )
    },
    simple("gh", &["gh"], Style::Plain, &[adds(From::Git, &["extension|extensions|ext", "install"])]),
    Manager {
        letters: "vsf",
        values: "version source add-source framework tool-path configfile",
        indexes: &["s", "source", "add-source"],
        ..simple(
            "dotnet",
            &["dotnet"],
            Style::At,
            &[
                installs(&["add", "package"]),
                after(2, needs(&[], installs(&["add"]))),
                installs(&["tool", "install|update"]),
                runs(&["tool", "exec"]),
                installs(&["package", "add"]),
            ],
        )
    },
    Manager {
        programs: &["nuget"],
        called: "dotnet",
        values: "-Source -Version -OutputDirectory",
        indexes: &["Source"],
        verbs: &[installs(&["install"])],
        ..PLAIN
    },
    Manager {
        values: "server tree only-server",
        indexes: &["server", "only-server"],
        ..simple("luarocks", &["luarocks"], Style::Plain, &[installs(&["install"])])
    },
    Manager {
        letters: "lLMn",
        values: "mirror from",
        indexes: &["mirror", "from", "M"],
        ..simple("cpan", &["cpan", "cpanm"], Style::At, &[installs(&[])])
    },
    simple(
        "opam",
        &["opam"],
        Style::Colon,
        &[
            installs(&["install"]),
            adds(From::Index, &["repository|repo", "add"]),
            after(1, adds(From::Git, &["pin", "add"])),
        ],
    ),
    simple(
        "mix",
        &["mix"],
        Style::Plain,
        &[
            adds(From::Git, &["archive.install|escript.install", "github|git"]),
            installs(&["archive.install|escript.install", "hex"]),
            installs(&["archive.install|escript.install"]),
        ],
    ),
    simple(
        "krew",
        &["kubectl", "krew", "kubectl-krew"],
        Style::Plain,
        &[
            installs(&["krew", "install"]),
            after(1, adds(From::Index, &["krew", "index", "add"])),
            installs(&["install"]),
        ],
    ),
];
