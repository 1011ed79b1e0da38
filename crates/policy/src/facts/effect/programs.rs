// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The programs that are known to do something to files: one row each, or one for a family.
//!
//! A program without a row does nothing that is known; what is redirected counts all the same.

use super::Does::{self, Append, Delete, Move, Permit, Read, Write};
use super::archive::{gzip, seven_zip, tar, unzip, zip};
use super::copy::{copy, cpio, dpkg, install, pax};
use super::disk::{cryptsetup, dd, diskutil, nvme, wipefs};
use super::edit::{awk, editor, in_place, sed, yq};
use super::fetch::{curl, wget};
use super::given::{Given, Touch};
use super::own::{chattr, docker, find, gpg, kubectl, openssl, shred, ssh_keygen, xattr, xxd};
use super::remote::{aws, gsutil, rclone, rsync, scp};
use super::version::git;
use crate::facts::known::known;

/// What a program does to its operands.
#[derive(Clone, Copy)]
pub(super) enum What {
    /// Nothing.
    Nothing,
    /// The same to each.
    Each(Does),
    /// The same to each; with one of these options it only adds to the end.
    EachOrAppend(&'static [&'static str]),
    /// Something to the first alone.
    First(Does),
    /// Something to the last alone.
    Last(Does),
    /// The first so many are no paths, unless one of these options takes their place.
    After(usize, &'static [&'static str], Does),
    /// As [`What::After`]; without any path it goes through the working directory, if it goes below at all.
    Search(&'static [&'static str]),
    /// Something to all but the last, which is written; or to all, with the target in `-t`. Trees that are
    /// copied or moved write everything below where they land.
    Copy(Does),
    /// The first is read, the second written.
    Filter,
    /// In a way of its own.
    Own(fn(&Given<'_>) -> Vec<Touch>),
}

/// One program, or several that are alike.
pub(super) struct Row {
    pub(super) names: &'static [&'static str],
    pub(super) what: What,
    /// Options that take a value which is no path: letters, and long names.
    pub(super) values: &'static str,
    pub(super) long_values: &'static [&'static str],
    /// Options whose value is a path, and what is done to it.
    pub(super) given: &'static [(&'static str, Does)],
    /// Options with which it takes everything below.
    pub(super) deep: &'static [&'static str],
}

const fn row(names: &'static [&'static str], what: What) -> Row {
    Row { names, what, values: "", long_values: &[], given: &[], deep: &[] }
}

const RECURSIVE: &[&str] = &["r", "R", "recursive"];
const PATTERN: &[&str] = &["e", "f", "regexp", "file", "files", "type-list"];
const GREP_VALUES: &str = "emABCdDgtTEjr";
const COPIES: &str = "mgoSZ";
const COPIES_LONG: &[&str] = &["mode", "owner", "group", "suffix", "backup", "strip-program", "context"];
const TARGET: &[(&str, Does)] = &[("t", Write), ("target-directory", Write)];

/// Every program that is known.
pub(super) const PROGRAMS: &[Row] = &[
    // Removing.
    Row { deep: RECURSIVE, ..row(&["rm", "grm", "srm"], What::Each(Delete)) },
    row(&["unlink", "gunlink", "rmdir", "grmdir"], What::Each(Delete)),
    Row { deep: &["r"], ..row(&["wipe"], What::Each(Delete)) },
    Row { values: "ns", long_values: &["iterations", "size"], ..row(&["shred", "gshred"], What::Own(shred)) },
    row(&["trash", "trash-put", "rip", "rimraf", "del", "del-cli"], What::Own(super::own::trash)),
    // Copying and moving.
    Row {
        values: COPIES,
        long_values: COPIES_LONG,
        given: TARGET,
        deep: &["r", "R", "recursive", "a", "archive"],
        ..row(&["cp", "gcp", "ditto"], What::Copy(Read))
    },
    Row { values: COPIES, long_values: COPIES_LONG, given: TARGET, ..row(&["mv", "gmv"], What::Copy(Move)) },
    Row { values: COPIES, long_values: COPIES_LONG, given: TARGET, ..row(&["ln", "gln"], What::Copy(Read)) },
    Row {
        values: COPIES,
        long_values: COPIES_LONG,
        given: TARGET,
        ..row(&["install", "ginstall"], What::Own(install))
    },
    row(&["rename", "prename", "perl-rename", "file-rename"], What::After(1, &["e"], Move)),
    Row {
        values: "CDEFHIMOR",
        long_values: &["directory", "file", "format", "owner", "pattern-file", "block-size", "io-size"],
        ..row(&["cpio", "gcpio"], What::Own(cpio))
    },
    Row { values: "bfopsxEgBTU", ..row(&["pax"], What::Own(pax)) },
    row(&["dpkg", "dpkg-deb"], What::Own(dpkg)),
    Row { given: &[("d", Write), ("dest", Write)], ..row(&["unsquashfs"], What::First(Read)) },
    Row {
        values: "eTfBM",
        long_values: &["rsh", "exclude", "include", "filter", "partial-dir", "rsync-path", "chmod", "chown"],
        given: &[("exclude-from", Read), ("include-from", Read), ("files-from", Read), ("log-file", Write)],
        deep: &["r", "recursive", "a", "archive"],
        ..row(&["rsync"], What::Own(rsync))
    },
    Row { values: "cDFiJloPSX", deep: &["r"], ..row(&["scp", "sftp"], What::Own(scp)) },
    row(&["rclone"], What::Own(rclone)),
    row(&["aws"], What::Own(aws)),
    row(&["gsutil", "gcloud"], What::Own(gsutil)),
    row(&["docker", "podman", "nerdctl"], What::Own(docker)),
    row(&["kubectl", "oc"], What::Own(kubectl)),
    // Archives.
    row(&["tar", "bsdtar", "gtar"], What::Own(tar)),
    Row { values: "tbnxi", ..row(&["zip"], What::Own(zip)) },
    Row { values: "dxPO", ..row(&["unzip"], What::Own(unzip)) },
    row(&["7z", "7za", "7zr", "7zz", "unrar", "rar"], What::Own(seven_zip)),
    Row {
        values: "ST",
        deep: &["r"],
        ..row(
            &["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma", "zstd", "unzstd", "pigz"],
            What::Own(gzip),
        )
    },
    Row {
        values: "dDr",
        long_values: &["date", "reference"],
        ..row(&["touch", "gtouch"], What::Each(Write))
    },
    // Writing.
    row(&["tee", "gtee", "sponge"], What::EachOrAppend(&["a", "append"])),
    Row {
        values: "sr",
        long_values: &["size", "reference"],
        ..row(&["truncate", "gtruncate"], What::Each(Write))
    },
    Row { values: "lo", long_values: &["length", "offset"], ..row(&["fallocate"], What::Each(Write)) },
    Row { values: "mZ", long_values: &["mode"], ..row(&["mkdir", "gmkdir", "mkfifo"], What::Each(Write)) },
    row(&["mknod"], What::First(Write)),
    Row { values: "m", ..row(&["sqlite3", "sqlite"], What::First(Write)) },
    row(&["sudoedit", "dos2unix", "unix2dos", "rustfmt", "ptx"], What::Each(Write)),
    Row {
        given: &[("i", Read), ("input", Read), ("o", Write), ("output", Write), ("d", Write)],
        values: "pFVB",
        ..row(&["patch", "gpatch"], What::First(Write))
    },
    Row { values: "labCn", given: &[], ..row(&["split", "gsplit", "csplit"], What::First(Read)) },
    // Editing in place.
    Row {
        values: "el",
        long_values: &["expression", "line-length"],
        given: &[("f", Read), ("file", Read)],
        ..row(&["sed", "gsed"], What::Own(sed))
    },
    row(&["perl", "ruby"], What::Own(in_place)),
    Row {
        values: "Fv",
        long_values: &["field-separator", "assign", "include"],
        ..row(&["awk", "gawk", "mawk", "nawk"], What::Own(awk))
    },
    row(&["ed", "ex", "vi", "vim", "nvim", "nano", "emacs", "micro", "pico"], What::Own(editor)),
    row(&["yq", "tomlq", "xq"], What::Own(yq)),
    row(
        &["crudini", "dasel", "augtool", "json", "plutil", "PlistBuddy", "defaults"],
        What::Own(super::edit::settings),
    ),
    // Devices.
    row(&["dd", "gdd", "dcfldd"], What::Own(dd)),
    Row {
        values: "tLUNbiIEOmJgGoqTC",
        ..row(&["mkfs", "mke2fs", "mkswap", "mkdosfs", "newfs", "blkdiscard"], What::Each(Write))
    },
    row(&["wipefs"], What::Own(wipefs)),
    row(&["parted", "sgdisk", "sfdisk", "fdisk", "gdisk", "cfdisk"], What::Own(super::disk::partition)),
    // What was to be seen there is gone.
    Row {
        values: "toLUNOS",
        long_values: &["types", "options", "source"],
        ..row(&["mount"], What::Own(super::disk::mount))
    },
    row(&["pvcreate", "pvremove"], What::Last(Write)),
    Row { values: "bcsoiKrE", ..row(&["ddrescue", "dd_rescue"], What::Filter) },
    Row { values: "fOocSWmst", ..row(&["qemu-img"], What::Own(super::disk::image)) },
    row(&["cryptsetup"], What::Own(cryptsetup)),
    row(&["nvme"], What::Own(nvme)),
    row(&["diskutil"], What::Own(diskutil)),
    // Permissions.
    Row {
        deep: &["R", "recursive"],
        long_values: &["reference", "from"],
        ..row(&["chmod", "chown", "chgrp", "gchmod", "gchown"], What::Own(super::own::permit))
    },
    row(&["chcon", "chflags", "setcap"], What::After(1, &["reference"], Permit)),
    Row {
        values: "mxMX",
        long_values: &["modify", "remove", "set", "restore"],
        deep: &["R", "recursive"],
        ..row(&["setfacl"], What::Each(Permit))
    },
    Row { values: "nvx", ..row(&["setfattr", "restorecon"], What::Each(Permit)) },
    row(&["chattr"], What::Own(chattr)),
    row(&["xattr"], What::Own(xattr)),
    // Reading.
    row(
        &[
            "cat",
            "gcat",
            "tac",
            "nl",
            "less",
            "more",
            "most",
            "zcat",
            "gzcat",
            "bzcat",
            "xzcat",
            "zstdcat",
            "zless",
            "strings",
            "cut",
            "paste",
            "join",
            "comm",
            "diff",
            "cmp",
            "sdiff",
            "colordiff",
            "delta",
            "column",
            "fold",
            "fmt",
            "pr",
            "expand",
            "unexpand",
            "rev",
            "wc",
            "md5sum",
            "sha1sum",
            "sha224sum",
            "sha256sum",
            "sha384sum",
            "sha512sum",
            "shasum",
            "md5",
            "cksum",
            "b2sum",
            "hexyl",
            "pygmentize",
            "glow",
            "look",
            "uuencode",
            "pbcopy",
            "zdiff",
            "vimdiff",
            "tsort",
            "base32",
            "basenc",
            "difft",
        ],
        What::Each(Read),
    ),
    Row {
        values: "lHrm",
        long_values: &["language", "theme", "line-range"],
        ..row(&["bat", "batcat"], What::Each(Read))
    },
    Row {
        values: "w",
        long_values: &["wrap"],
        given: &[("i", Read), ("input", Read), ("o", Write), ("output", Write)],
        ..row(&["base64", "gbase64"], What::Each(Read))
    },
    Row {
        values: "ncs",
        long_values: &["lines", "bytes", "sleep-interval", "pid"],
        ..row(&["head", "tail", "ghead", "gtail"], What::Each(Read))
    },
    Row { values: "AjNStwn", ..row(&["od", "hexdump", "hd"], What::Each(Read)) },
    Row { values: "clnos", ..row(&["xxd"], What::Own(xxd)) },
    Row {
        values: "ktST",
        long_values: &["key", "field-separator", "buffer-size", "temporary-directory"],
        given: &[("o", Write), ("output", Write)],
        ..row(&["sort", "gsort"], What::Each(Read))
    },
    Row { values: "nie", given: &[("o", Write), ("output", Write)], ..row(&["shuf"], What::Each(Read)) },
    Row { values: "fsw", ..row(&["uniq"], What::Filter) },
    Row { values: "ft", given: &[("o", Write), ("output", Write)], ..row(&["iconv"], What::Each(Read)) },
    Row {
        values: GREP_VALUES_OF_GREP,
        long_values: &["regexp", "include", "exclude", "exclude-dir", "max-count", "context", "color"],
        given: &[("f", Read), ("file", Read)],
        deep: &["r", "R", "recursive", "dereference-recursive"],
        ..row(&["grep", "egrep", "fgrep", "zgrep", "ggrep", "pcregrep"], What::Search(PATTERN))
    },
    Row {
        values: GREP_VALUES,
        long_values: &["regexp", "glob", "type", "type-not", "max-count", "context", "iglob", "max-depth"],
        given: &[("f", Read), ("file", Read)],
        ..row(&["rg", "ag", "ack", "ugrep"], What::Search(PATTERN))
    },
    Row {
        values: "L",
        long_values: &["arg", "argjson", "indent"],
        given: &[("f", Read), ("from-file", Read)],
        ..row(&["jq", "gojq", "jaq"], What::Own(super::own::jq))
    },
    row(&["openssl"], What::Own(openssl)),
    row(&["gpg", "gpg2", "age", "rage", "sops"], What::Own(gpg)),
    row(&["ssh-keygen"], What::Own(ssh_keygen)),
    Row {
        given: &[("a", Read), ("attach", Read), ("A", Read)],
        values: "sScbr",
        ..row(&["mail", "mailx", "mutt", "swaks"], What::Nothing)
    },
    Row { given: &[("a", Read), ("arg-file", Read)], values: "dEILnPsi", ..row(&["xargs"], What::Nothing) },
    Row { given: &[("f", Read)], values: "qt", ..row(&["at", "batch"], What::Nothing) },
    // The network.
    row(&["curl"], What::Own(curl)),
    row(&["wget"], What::Own(wget)),
    // The rest.
    row(&["find", "gfind"], What::Own(find)),
    row(&["git"], What::Own(git)),
];
const GREP_VALUES_OF_GREP: &str = "emABCdD";

/// The known program that a glob in a program's place stands for: the first, as they do the most.
pub(crate) fn programs_like(glob: &str) -> Option<&'static str> {
    let mut names = PROGRAMS.iter().flat_map(|row| row.names).copied();
    names.find(|name| fast_glob::glob_match(glob, name))
}

/// What a program does to the paths among its words.
pub(crate) fn touches(program: &str, words: &[super::super::Word]) -> Vec<Touch> {
    // `mkfs.ext4`
    let name = if program.starts_with("mkfs.") { "mkfs" } else { program };
    if !known!(PROGRAMS, names).may_have(name) {
        return Vec::new();
    }
    let Some(row) = PROGRAMS.iter().find(|row| row.names.contains(&name)) else { return Vec::new() };
    let given = Given::new(row, name, words);
    let mut touches = given.by_options(row);
    let each = |does: Does, from: usize| {
        let paths = given.operands.iter().skip(from);
        paths.map(move |word| Touch::new(does, word))
    };
    match row.what {
        What::Nothing => {}
        What::Each(does) => touches.extend(each(does, 0).map(|touch| touch.deep(given.deep))),
        What::EachOrAppend(options) => {
            touches.extend(each(if given.has(options) { Append } else { Write }, 0));
        }
        What::First(does) => touches.extend(each(does, 0).take(1)),
        What::Last(does) => touches.extend(given.operands.last().map(|word| Touch::new(does, word))),
        What::After(count, instead, does) => {
            let count = if given.has(instead) { 0 } else { count };
            touches.extend(each(does, count).map(|touch| touch.deep(given.deep)));
        }
        What::Search(instead) => {
            let count = usize::from(!given.has(instead));
            // The one that is made for it goes below by itself.
            let deep = row.deep.is_empty() || given.deep;
            touches.extend(each(Read, count).map(|touch| touch.deep(deep)));
            if deep && given.operands.len() == count {
                touches.push(Touch::new(Read, &super::super::Word::literal(".")).deep(true));
            }
        }
        What::Copy(does) => touches.extend(copy(&given, does)),
        What::Filter => {
            touches.extend(each(Read, 0).take(1));
            touches.extend(each(Write, 1).take(1));
        }
        What::Own(own) => touches.extend(own(&given)),
    }
    touches
}
