// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that copy between machines: what is on this one, and what is deleted on the other.

use super::super::Word;
use super::Does::{self, Delete, Read};
use super::Side;
use super::copy::{Landing, landed};
use super::given::{Given, Touch};

/// The path on another machine in `host:path`.
fn far(word: &Word) -> Option<Word> {
    let text = word.text.as_str();
    if text.starts_with("rsync://") || text.starts_with("sftp://") || text.starts_with("scp://") {
        let (_, path) = text.split_once("://")?.1.split_once('/')?;
        return Some(Word::literal(&format!("/{path}")));
    }
    let at = text.find(':')?;
    let host = text.get(..at)?;
    let is_far = !host.contains('/') && !host.is_empty();
    is_far.then(|| {
        word.tail(at + 1 + usize::from(text.get(at + 1..).is_some_and(|rest| rest.starts_with(':'))))
    })
}

/// Something done to a path on this machine or another.
fn either(does: Does, word: &Word) -> Touch {
    match far(word) {
        Some(path) => {
            let path = if path.text.is_empty() { Word::literal("~") } else { path };
            Touch { on: Some(Side::Remote), ..Touch::new(does, &path).inner(true) }
        }
        None => Touch::new(does, word),
    }
}

/// What putting sources at a target on this machine or another writes.
fn put(landing: Landing, target: &Word, sources: &[&Word]) -> Vec<Touch> {
    let far_target = far(target);
    let at = match &far_target {
        Some(path) if path.text.is_empty() => &Word::literal("~"),
        Some(path) => path,
        None => target,
    };
    let sources: Vec<_> = sources.iter().map(|word| far(word).unwrap_or_else(|| (*word).clone())).collect();
    let sources: Vec<_> = sources.iter().collect();
    let on_far = far_target.as_ref().map(|_| Side::Remote);
    let place = |touch: Touch| {
        let inner = on_far.is_some();
        Touch { on: on_far, ..touch.inner(inner) }
    };
    landed(landing, at, &sources).into_iter().map(place).collect()
}

pub(super) fn rsync(given: &Given<'_>) -> Vec<Touch> {
    let Some((target, sources)) = given.operands.split_last() else { return Vec::new() };
    if sources.is_empty() || given.has(&["n", "dry-run", "list-only"]) {
        return Vec::new();
    }
    let mut touches: Vec<_> = sources.iter().map(|word| either(Read, word).deep(given.deep)).collect();
    if given.has(&["remove-source-files"]) {
        touches.extend(sources.iter().map(|word| either(Delete, word).deep(given.deep)));
    }
    let landing = Landing { tree: given.deep, onto: false, slash_is_contents: true };
    touches.extend(put(landing, target, sources));
    let deletes = given
        .options
        .iter()
        .any(|option| option.long && option.name.starts_with("del") && option.name != "delay-updates");
    if deletes {
        touches.push(either(Delete, target).deep(true));
    }
    touches
}

pub(super) fn scp(given: &Given<'_>) -> Vec<Touch> {
    let Some((target, sources)) = given.operands.split_last() else { return Vec::new() };
    let mut touches: Vec<_> = sources.iter().map(|word| either(Read, word).deep(given.deep)).collect();
    let landing = Landing { tree: given.deep, onto: false, slash_is_contents: false };
    touches.extend(put(landing, target, sources));
    touches
}

/// A name of a store and its path: `s3://x`, `gs://x`, `remote:x`.
fn in_store(word: &Word) -> bool {
    word.text.contains("://") || word.text.split('/').next().is_some_and(|first| first.contains(':'))
}

/// Copies between this machine and a store.
fn store(verb: &str, paths: &[&Word], recursive: bool, deletes: bool) -> Vec<Touch> {
    let mut touches = Vec::new();
    let here = |word: &&&Word| !in_store(word);
    match (verb, paths) {
        ("cp" | "copy" | "copyto" | "sync" | "rsync" | "mv" | "move" | "moveto", [from, to, ..]) => {
            let moves = verb.starts_with('m');
            touches.extend(Some(from).filter(here).map(|word| Touch::new(Read, word).deep(true)));
            if moves {
                touches.extend(Some(from).filter(here).map(|word| Touch::new(Does::Move, word).deep(true)));
            }
            // What lies at the source lands at the target itself, or below its name.
            let landing = Landing { tree: true, onto: recursive, slash_is_contents: true };
            let landed = Some(to).filter(here).map(|word| landing.touches(word, from));
            touches.extend(landed.into_iter().flatten());
            if deletes {
                touches.extend(Some(to).filter(here).map(|word| Touch::new(Delete, word).deep(true)));
            }
        }
        ("delete" | "purge" | "rmdirs" | "deletefile", [path, ..]) => {
            let deep = verb != "deletefile";
            touches.extend(Some(path).filter(here).map(|word| Touch::new(Delete, word).deep(deep)));
        }
        ("cat", paths) => {
            touches.extend(paths.iter().filter(here).map(|word| Touch::new(Read, word)));
        }
        _ => {}
    }
    touches
}

pub(super) fn rclone(given: &Given<'_>) -> Vec<Touch> {
    let Some((verb, paths)) = given.operands.split_first() else { return Vec::new() };
    let recursive = !matches!(verb.text.as_str(), "copyto" | "moveto");
    store(&verb.text, paths, recursive, verb.is("sync"))
}

pub(super) fn aws(given: &Given<'_>) -> Vec<Touch> {
    let at = given.operands.iter().position(|word| word.is("s3"));
    let Some(at) = at else { return Vec::new() };
    let Some((verb, paths)) = given.operands.get(at + 1..).and_then(<[_]>::split_first) else {
        return Vec::new();
    };
    let recursive = verb.is("sync") || given.has(&["recursive"]);
    store(&verb.text, paths, recursive, given.has(&["delete"]))
}

pub(super) fn gsutil(given: &Given<'_>) -> Vec<Touch> {
    let verbs = ["cp", "mv", "rsync", "cat"];
    let at = given.operands.iter().position(|word| verbs.contains(&word.text.as_str()));
    if given.program == "gcloud" && !given.operands.first().is_some_and(|word| word.is("storage")) {
        return Vec::new();
    }
    let Some((verb, paths)) = at.and_then(|at| given.operands.get(at..)).and_then(<[_]>::split_first) else {
        return Vec::new();
    };
    let deletes = given.has(&["d", "delete-unmatched-destination-objects"]);
    let recursive = verb.is("rsync");
    store(&verb.text, paths, recursive, deletes && verb.is("rsync"))
}
