// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where copies land: a tree that is copied or moved onto a place writes everything in it.

use super::super::Word;
use super::Does::{self, Move, Read, Write};
use super::given::{Given, Touch};
use super::here;

/// How a program puts its sources at a target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Landing {
    /// Whether directories are taken with all that is in them.
    pub(super) tree: bool,
    /// Whether a source takes the target's own place, as with `cp -T`.
    pub(super) onto: bool,
    /// Whether `x/` stands for what is in `x`, as for `rsync`.
    pub(super) slash_is_contents: bool,
}

impl Landing {
    /// What putting a source at a target writes.
    pub(super) fn touches(self, target: &Word, source: &Word) -> Vec<Touch> {
        let at_target = || Touch::new(Write, target);
        if self.onto || self.takes_contents(source) {
            return vec![at_target().deep(self.tree)];
        }
        let mut touches = vec![at_target()];
        // The target may be a directory, and then it is this that is written.
        if let Some(inside) = within(target, source) {
            touches.push(Touch::new(Write, &inside));
            touches.extend(self.tree.then(|| Touch::new(Write, &inside).deep(true)));
        }
        touches
    }

    /// Whether what is in the source lands at the target itself, not below the source's name.
    fn takes_contents(self, source: &Word) -> bool {
        let text = source.text.as_str();
        let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        self.slash_is_contents && text.ends_with('/') || matches!(last, "" | "." | "..")
    }
}

/// `cp`, `mv`, `ln`: something to all but the last, which is written; or to all, with the target in `-t`.
pub(super) fn copy(given: &Given<'_>, does: Does) -> Vec<Touch> {
    let named = given.value(&["t", "target-directory"]);
    let (sources, target) = match (named, given.operands.split_last()) {
        (Some(target), _) => (given.operands.as_slice(), Some(target)),
        (None, Some((target, sources))) if !sources.is_empty() => (sources, Some(*target)),
        // `ln -s x` and `cp x` without a target.
        (None, _) => (given.operands.as_slice(), None),
    };
    let mut touches: Vec<_> =
        sources.iter().map(|source| Touch::new(does, source).deep(given.deep)).collect();
    let Some(target) = target else { return touches };
    // `mv "$f" "${f%.x}.y"` gives each a new name where it is.
    if let (Move, [_], [touch]) = (does, sources, touches.as_mut_slice())
        && is_new_name(target)
        && touch.path.pattern
    {
        let shape = touch.path.shape.trim_end_matches('*').to_owned() + "…";
        touch.path = Word { shape, ..touch.path.clone() };
    }
    let merges = given.program == "ditto";
    let landing = Landing {
        tree: given.deep || does == Move || merges,
        onto: merges || given.has(&["T", "no-target-directory"]),
        slash_is_contents: false,
    };
    // An option that names the target has said so already.
    let said = |touch: &Touch| named.is_some() && !touch.deep && touch.path == *target;
    touches.extend(landed(landing, target, sources).into_iter().filter(|touch| !said(touch)));
    touches
}

/// Whether a target is a name made of something that is only known when it runs, in the same directory.
fn is_new_name(target: &Word) -> bool {
    let text = target.text.as_str();
    let name = text.trim_start_matches("${").trim_start_matches('$').trim_end_matches('}');
    // A variable alone may be another directory, unless a command has made it of something.
    let lone = text.starts_with('$') && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let made = !lone || !target.from.is_empty();
    (target.dynamic || target.shape.contains('*'))
        && made
        && !target.shape.contains('/')
        && !text.starts_with('~')
}

/// What putting several sources at a target writes; the target itself is named once.
pub(super) fn landed(landing: Landing, target: &Word, sources: &[&Word]) -> Vec<Touch> {
    let mut touches: Vec<Touch> = Vec::new();
    for touch in sources.iter().flat_map(|source| landing.touches(target, source)) {
        let known = |other: &Touch| other.deep == touch.deep && other.path == touch.path;
        if touch.path != *target || !touches.iter().any(known) {
            touches.push(touch);
        }
    }
    touches
}

pub(super) fn install(given: &Given<'_>) -> Vec<Touch> {
    if given.has(&["d", "directory"]) {
        return given.operands.iter().map(|word| Touch::new(Write, word)).collect();
    }
    copy(given, Read)
}

/// `cpio -p DIRECTORY` copies the files it is told on standard input; `-i` unpacks.
pub(super) fn cpio(given: &Given<'_>) -> Vec<Touch> {
    let mut touches: Vec<_> =
        given.value(&["F", "I", "file"]).map(|word| Touch::new(Read, word)).into_iter().collect();
    if given.has(&["p", "pass-through"]) {
        touches.extend(given.operands.last().map(|word| Touch::new(Write, word).deep(true)));
    } else if given.has(&["i", "extract"]) && !given.has(&["t", "list", "to-stdout"]) {
        let to = given.value(&["D", "directory"]).cloned().unwrap_or_else(here);
        touches.push(Touch::new(Write, &to).deep(true));
    }
    touches
}

/// `pax -rw FILES DIRECTORY` copies; `-r` alone unpacks, `-w` alone packs.
pub(super) fn pax(given: &Given<'_>) -> Vec<Touch> {
    match (given.has(&["r"]), given.has(&["w"])) {
        (true, true) => {
            let Some((target, sources)) = given.operands.split_last() else { return Vec::new() };
            let read = sources.iter().map(|word| Touch::new(Read, word).deep(true));
            read.chain([Touch::new(Write, target).deep(true)]).collect()
        }
        (true, false) => vec![Touch::new(Write, &here()).deep(true)],
        (false, true) => given.operands.iter().map(|word| Touch::new(Read, word).deep(true)).collect(),
        (false, false) => Vec::new(),
    }
}

/// `dpkg-deb -x PACKAGE DIRECTORY`
pub(super) fn dpkg(given: &Given<'_>) -> Vec<Touch> {
    let unpacks = given.has(&["x", "X", "R", "extract", "vextract", "raw-extract"]);
    match given.operands.as_slice() {
        [package, to, ..] if unpacks => vec![Touch::new(Read, package), Touch::new(Write, to).deep(true)],
        _ => Vec::new(),
    }
}

/// `DIRECTORY/NAME`, where the name is the last part of what is copied there.
fn within(directory: &Word, source: &Word) -> Option<Word> {
    let name = |text: &str| text.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
    let join = |directory: &str, name: String| format!("{}/{name}", directory.trim_end_matches('/'));
    let (text, shape) = (name(&source.text)?, name(&source.shape)?);
    let plain = !matches!(text.as_str(), "" | "." | "..");
    plain.then(|| Word {
        text: join(&directory.text, text),
        shape: join(&directory.shape, shape),
        dynamic: directory.dynamic || source.dynamic,
        pattern: directory.pattern || source.pattern,
        ..directory.clone()
    })
}
