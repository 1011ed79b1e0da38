// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which options of which programs take a value.

/// Which options of a program take a value: letters, then long names.
pub(super) type Values = (&'static str, &'static [&'static str]);

const KUBECTL: &[&str] = &[
    "namespace",
    "filename",
    "kustomize",
    "selector",
    "field-selector",
    "output",
    "container",
    "context",
    "cluster",
    "user",
    "server",
    "token",
    "as",
    "as-group",
    "as-uid",
    "request-timeout",
    "timeout",
    "grace-period",
    "cache-dir",
    "template",
    "patch",
    "replicas",
    "type",
    "image",
];
const HELM: &[&str] = &[
    "namespace",
    "kube-context",
    "description",
    "timeout",
    "values",
    "set",
    "set-string",
    "set-file",
    "version",
    "repo",
    "cascade",
    "selector",
    "environment",
    "state-values-set",
];
const AWS: &[&str] = &[
    "include",
    "profile",
    "region",
    "output",
    "query",
    "endpoint-url",
    "page-size",
    "request-payer",
    "sse",
    "acl",
    "color",
    "cli-read-timeout",
    "cli-connect-timeout",
    "ca-bundle",
];
/// Written with one dash or two.
const SQLITE: &[&str] = &[
    "cmd",
    "init",
    "separator",
    "newline",
    "nullvalue",
    "mmap",
    "vfs",
    "lookaside",
    "pagecache",
    "heap",
    "maxsize",
    "nonce",
    "escape",
];

/// Only programs for which mistaking a value for an operand would matter to somebody.
pub(super) fn values_of(program: &str) -> Values {
    match program {
        "curl" => (
            "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
            &[
                "data",
                "data-ascii",
                "data-binary",
                "data-raw",
                "data-urlencode",
                "form",
                "form-string",
                "header",
                "upload-file",
                "output",
                "request",
                "user",
                "user-agent",
                "cookie",
                "cookie-jar",
                "url",
                "key",
                "cert",
                "cacert",
                "config",
                "netrc-file",
                "proxy",
                "referer",
                "max-time",
                "connect-timeout",
                "retry",
                "json",
            ],
        ),
        "wget" => (
            "oOaeBTwQPUt",
            &["output-document", "output-file", "post-file", "post-data", "body-file", "header"],
        ),
        "ssh" => ("BbcDEeFIiJLlmOopQRSWw", &[]),
        "scp" | "sftp" | "ssh-copy-id" | "sshfs" => ("cDFiJloPSX", &[]),
        "rsync" => ("eTfB", &["rsh", "exclude", "include", "exclude-from", "include-from", "files-from"]),
        "head" | "tail" => ("nc", &["lines", "bytes"]),
        "grep" | "egrep" | "fgrep" => {
            ("efmABC", &["regexp", "file", "include", "exclude", "exclude-dir", "max-count", "context"])
        }
        "rg" => ("efgtTmABC", &["regexp", "file", "glob", "type", "type-not", "max-count", "context"]),
        "sed" | "perl" | "ruby" => ("efl", &["expression", "file"]),
        "awk" | "gawk" | "mawk" => ("Fvf", &["field-separator", "assign", "file"]),
        "tar" | "bsdtar" => ("bCfgHKLNTVX", &["file", "directory", "files-from", "exclude", "exclude-from"]),
        "base64" => ("w", &["wrap"]),
        "git" => ("Cc", &["git-dir", "work-tree"]),
        "make" | "gmake" | "ninja" => ("Cf", &["directory", "file"]),
        "sort" => ("oktST", &["output"]),
        "cp" | "mv" | "install" | "ln" => {
            ("tmgoS", &["target-directory", "mode", "owner", "group", "suffix"])
        }
        "kubectl" | "oc" | "kubecolor" | "k" | "microk8s.kubectl" => ("nfklocLs", KUBECTL),
        "helm" | "helm3" | "helmfile" => ("nf", HELM),
        "aws" => ("", AWS),
        "sqlite3" | "sqlite" | "duckdb" => ("", SQLITE),
        // `-i` is a switch of these; of others it is most likely a key, as ssh has it.
        "rm" | "ls" | "find" | "test" | "[" | "xxd" | "less" | "more" | "cat" | "tac" | "nl" | "diff"
        | "cmp" | "od" | "strings" | "uniq" | "comm" | "join" | "ag" | "ack" | "zgrep" | "bat"
        | "hexdump" | "wc" | "tee" | "env" | "bash" | "sh" | "zsh" | "sudo" | "xargs" => ("", &[]),
        _ => ("i", &[]),
    }
}

/// Whether long names of options are written with one dash as well as with two: `sqlite3 -cmd .tables`.
pub(super) fn takes_long_names_with_one_dash(program: &str) -> bool {
    matches!(program, "sqlite3" | "sqlite" | "duckdb")
}
