// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that no row can describe.

use super::super::Word;
use super::Does::{Delete, Permit, Read, Write};
use super::copy::Landing;
use super::given::{Given, Touch};
use crate::facts::find_targets;

/// It overwrites; with `-u` it removes as well.
pub(super) fn shred(given: &Given<'_>) -> Vec<Touch> {
    let removes = given.has(&["u", "remove"]);
    let overwritten = given.operands.iter().map(|word| Touch::new(Write, word));
    let removed = given.operands.iter().filter(|_| removes).map(|word| Touch::new(Delete, word));
    overwritten.chain(removed).collect()
}

/// They take directories with all that is in them.
pub(super) fn trash(given: &Given<'_>) -> Vec<Touch> {
    given.operands.iter().map(|word| Touch::new(Delete, word).deep(true)).collect()
}

/// The first operand says what; `chmod -x f` and `chmod -R 777 d` alike.
pub(super) fn permit(given: &Given<'_>) -> Vec<Touch> {
    let is_mode = |word: &Word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        given.program.ends_with("chmod")
            && !letters.is_empty()
            && letters.chars().all(|c| "rwxXst,+-=ugoa".contains(c))
    };
    let says = given.has(&["reference"]) || given.words.iter().any(is_mode);
    let paths = given.operands.iter().skip(usize::from(!says));
    paths.map(|word| Touch::new(Permit, word).deep(given.deep)).collect()
}

pub(super) fn chattr(given: &Given<'_>) -> Vec<Touch> {
    let deep = given.words.iter().any(|word| word.is("-R"));
    let paths = given.words.iter().filter(|word| !word.text.starts_with(['-', '+', '=']));
    paths.map(|word| Touch::new(Permit, word).deep(deep)).collect()
}

pub(super) fn xattr(given: &Given<'_>) -> Vec<Touch> {
    let changes = given.has(&["d", "w", "c"]);
    let last = given.operands.last().filter(|_| changes);
    last.map(|word| Touch::new(Permit, word).deep(given.has(&["r"]))).into_iter().collect()
}

pub(super) fn xxd(given: &Given<'_>) -> Vec<Touch> {
    let mut touches = Vec::new();
    touches.extend(given.operands.first().map(|word| Touch::new(Read, word)));
    touches.extend(given.operands.get(1).map(|word| Touch::new(Write, word)));
    touches
}

pub(super) fn jq(given: &Given<'_>) -> Vec<Touch> {
    let filter = usize::from(!given.has(&["f", "from-file"]));
    let mut touches = Vec::new();
    let mut operands = given.operands.iter().skip(filter);
    // `--slurpfile NAME FILE`
    for (at, word) in given.words.iter().enumerate() {
        if matches!(word.text.as_str(), "--slurpfile" | "--rawfile" | "--argfile") {
            touches.extend(given.words.get(at + 2).map(|word| Touch::new(Read, word)));
        }
    }
    touches.extend(operands.by_ref().map(|word| Touch::new(Read, word)));
    touches
}

pub(super) fn openssl(given: &Given<'_>) -> Vec<Touch> {
    const READS: &[&str] =
        &["-in", "-inkey", "-key", "-CAkey", "-CA", "-cert", "-certfile", "-signkey", "-kfile", "-sign"];
    let mut touches: Vec<_> = given.all_behind(READS).map(|word| Touch::new(Read, word)).collect();
    touches.extend(given.all_behind(&["-out", "-keyout"]).map(|word| Touch::new(Write, word)));
    // `openssl dgst FILE`
    let digests = given.words.first().is_some_and(|word| word.is("dgst") || word.text.starts_with("sha"));
    if digests {
        let last = given.words.last().filter(|word| !word.text.starts_with('-'));
        touches.extend(last.map(|word| Touch::new(Read, word)));
    }
    touches
}

pub(super) fn gpg(given: &Given<'_>) -> Vec<Touch> {
    const VALUES: &[&str] = &[
        "-r",
        "--recipient",
        "-u",
        "--local-user",
        "--passphrase",
        "--passphrase-fd",
        "-o",
        "--output",
        "--passphrase-file",
        "--homedir",
        "--cipher-algo",
        "--pinentry-mode",
        "-i",
        "--identity",
        "--age",
        "--keyserver",
        "-R",
    ];
    let mut touches: Vec<_> = given
        .all_behind(&["-o", "--output"])
        .map(|word| Touch::new(Write, word))
        .chain(
            given.all_behind(&["--passphrase-file", "-i", "--identity"]).map(|word| Touch::new(Read, word)),
        )
        .collect();
    let keys = |word: &Word| {
        let keys = ["--export", "--list", "--delete", "--recv", "--send", "--gen", "--edit", "--full-gen"];
        keys.iter().any(|verb| word.text.starts_with(verb)) || word.is("-k") || word.is("-K")
    };
    if given.words.iter().any(keys) {
        return touches;
    }
    let mut rest = given.words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        if VALUES.contains(&word.text.as_str()) {
            rest = after.get(1..).unwrap_or_default();
        } else if !word.text.starts_with('-') {
            touches.push(Touch::new(Read, word));
        }
    }
    touches
}

pub(super) fn ssh_keygen(given: &Given<'_>) -> Vec<Touch> {
    let has = |option: &str| given.words.iter().any(|word| word.is(option));
    let reads = ["-l", "-y", "-e", "-B", "-F"].into_iter().any(has);
    let does = if reads { Read } else { Write };
    given.behind("-f").map(|word| Touch::new(does, word)).into_iter().collect()
}

/// What it would find and remove, and the lists it writes.
pub(super) fn find(given: &Given<'_>) -> Vec<Touch> {
    let lists = given.all_behind(&["-fprint", "-fprint0", "-fprintf", "-fls"]);
    let mut touches: Vec<_> = lists.map(|word| Touch::new(Write, word)).collect();
    if given.words.iter().any(|word| word.is("-delete")) {
        let found = find_targets(given.words);
        touches.extend(found.iter().map(|word| Touch::new(Delete, word).deep(word.shape.ends_with("/**"))));
    }
    touches
}

/// `docker cp`: what is on this side.
pub(super) fn docker(given: &Given<'_>) -> Vec<Touch> {
    match given.operands.as_slice() {
        [verb, from, to] if verb.is("cp") => sides(from, to),
        [_, verb, from, to] if verb.is("cp") => sides(from, to),
        _ => Vec::new(),
    }
}

fn sides(from: &Word, to: &Word) -> Vec<Touch> {
    let here = |word: &Word| !word.text.split('/').next().is_some_and(|first| first.contains(':'));
    let mut touches = Vec::new();
    touches.extend(here(from).then(|| Touch::new(Read, from).deep(true)));
    if here(to) {
        // `container:/x/.` is a path behind its colon.
        let path = from.text.find(':').map_or_else(|| from.clone(), |at| from.tail(at + 1));
        let landing = Landing { tree: true, onto: false, slash_is_contents: false };
        touches.extend(landing.touches(to, &path));
    }
    touches
}

pub(super) fn kubectl(given: &Given<'_>) -> Vec<Touch> {
    let mut touches = Vec::new();
    for word in given.words {
        let named = ["--from-file=", "--from-env-file=", "--cert=", "--key=", "--filename="];
        let Some(option) = named.into_iter().find(|option| word.text.starts_with(option)) else { continue };
        let value = word.tail(option.len());
        // `--from-file=KEY=PATH`
        let start = value.text.find('=').map_or(0, |at| at + 1);
        touches.push(Touch::new(Read, &value.tail(start)).inner(true));
    }
    for value in given.all_behind(&["--from-file", "--from-env-file", "-f", "--filename"]) {
        let start = value.text.find('=').map_or(0, |at| at + 1);
        touches.push(Touch::new(Read, &value.tail(start)).inner(start > 0));
    }
    let operands: Vec<&Word> = given.operands.clone();
    if let [verb, from, to, ..] = operands.as_slice()
        && verb.is("cp")
    {
        touches.extend(sides(from, to));
    }
    touches
}
