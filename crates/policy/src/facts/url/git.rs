// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The repositories that `git` would talk to.

use super::arguments::{Arguments, Piece};
use super::command::Found;
use super::read::address;
use crate::facts::Word;

const VALUES: &str = "\
    branch config depth exec-path git-dir namespace origin prefix receive-pack reference remote repo \
    separate-git-dir server-option shallow-exclude shallow-since template upload-pack work-tree";

/// Adds the addresses among the words of `git`.
pub(super) fn urls(words: &[Word], found: &mut Found) {
    // `-c` and `-C` come before the verb only; `-b`, `-o` and `-u` mean something else after each verb.
    let given = Arguments::read(words, "Ccbojt", VALUES);
    for setting in given.values(&["c", "config"]) {
        if let Some(value) = setting.value().filter(|_| is_address_setting(setting.text)) {
            found.bare(value, "");
        }
    }
    found.any(&given.values(&["remote", "repo"]).collect::<Vec<_>>());
    let mut operands = given.operands.iter().copied();
    let verb = operands.next().map_or("", |piece| piece.text);
    let rest: Vec<_> = operands.collect();
    let texts: Vec<_> = rest.iter().map(|piece| piece.text).collect();
    match (verb, texts.as_slice()) {
        // A name without a colon is a remote that the repository knows, or a directory.
        ("clone", _) => repository(rest.first(), found),
        ("fetch" | "pull" | "push" | "ls-remote" | "fetch-pack" | "send-pack", _) => {
            repository(rest.first().filter(|piece| address(piece.shape).is_some() || piece.dynamic), found);
        }
        ("remote", ["add" | "set-url", ..]) => {
            rest.iter().skip(2).for_each(|piece| repository(Some(piece), found));
        }
        ("submodule" | "subtree", ["add" | "pull" | "push", ..]) => {
            rest.iter()
                .skip(1)
                .filter(|piece| address(piece.shape).is_some())
                .for_each(|piece| repository(Some(piece), found));
        }
        ("config", [name, ..]) if is_address_setting(name) => {
            rest.iter().skip(1).for_each(|piece| found.bare(*piece, ""));
        }
        ("config", ["set", name, ..]) if is_address_setting(name) => {
            rest.iter().skip(2).for_each(|piece| found.bare(*piece, ""));
        }
        ("send-email" | "imap-send" | "request-pull", _) => found.any(&rest),
        _ => {}
    }
}

fn repository(piece: Option<&Piece<'_>>, found: &mut Found) {
    let Some(piece) = piece else { return };
    if !found.place(*piece) && piece.dynamic && piece.shape.starts_with('*') {
        found.bare(*piece, "");
    }
}

/// Whether a setting says where a remote is, or through what to reach it.
fn is_address_setting(name: &str) -> bool {
    let name = name.split('=').next().unwrap_or(name).to_ascii_lowercase();
    name.starts_with("remote.") && (name.ends_with("url") || name.ends_with("proxy"))
        || name == "http.proxy"
        || name == "https.proxy"
}
