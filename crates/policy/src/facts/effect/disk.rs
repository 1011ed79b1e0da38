// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs that write to devices.

use super::Does::{Move, Read, Write};
use super::given::{Given, Touch};

pub(super) fn dd(given: &Given<'_>) -> Vec<Touch> {
    let one = |word: &&super::super::Word| match word.text.get(..3)? {
        "if=" => Some(Touch::new(Read, &word.tail(3)).inner(true)),
        "of=" => Some(Touch::new(Write, &word.tail(3)).inner(true)),
        _ => None,
    };
    given.operands.iter().filter_map(one).collect()
}

pub(super) fn image(given: &Given<'_>) -> Vec<Touch> {
    match given.operands.as_slice() {
        [verb, from, .., to] if verb.is("convert") => vec![Touch::new(Read, from), Touch::new(Write, to)],
        [verb, file, ..] if ["create", "resize", "commit", "rebase"].iter().any(|name| verb.is(name)) => {
            vec![Touch::new(Write, file)]
        }
        _ => Vec::new(),
    }
}

/// Something else is put over a directory.
pub(super) fn mount(given: &Given<'_>) -> Vec<Touch> {
    match given.operands.as_slice() {
        [.., _, place] => vec![Touch::new(Move, place)],
        _ => Vec::new(),
    }
}

/// Without `-a` or `-o` it only lists.
pub(super) fn wipefs(given: &Given<'_>) -> Vec<Touch> {
    let wipes = given.has(&["a", "all", "o", "offset"]);
    given.operands.iter().filter(|_| wipes).map(|word| Touch::new(Write, word)).collect()
}

/// Devices among the words, unless they are only listed.
pub(super) fn partition(given: &Given<'_>) -> Vec<Touch> {
    let lists = given.has(&["l", "list", "p", "print", "d", "dump"])
        || given.operands.iter().any(|word| word.is("print"));
    let devices = given.operands.iter().filter(|word| word.text.starts_with('/') || word.dynamic);
    devices.filter(|_| !lists).map(|word| Touch::new(Write, word)).collect()
}

pub(super) fn cryptsetup(given: &Given<'_>) -> Vec<Touch> {
    let writes = |verb: &str| {
        matches!(verb, "luksFormat" | "erase" | "luksErase" | "reencrypt" | "luksKillSlot" | "luksRemoveKey")
    };
    match given.operands.as_slice() {
        [verb, device, ..] if writes(&verb.text) => vec![Touch::new(Write, device)],
        _ => Vec::new(),
    }
}

pub(super) fn nvme(given: &Given<'_>) -> Vec<Touch> {
    match given.operands.as_slice() {
        [verb, device, ..] if verb.is("format") || verb.is("sanitize") || verb.is("write") => {
            vec![Touch::new(Write, device)]
        }
        _ => Vec::new(),
    }
}

pub(super) fn diskutil(given: &Given<'_>) -> Vec<Touch> {
    match given.operands.as_slice() {
        [verb, .., device]
            if verb.text.to_ascii_lowercase().contains("erase") || verb.is("partitionDisk") =>
        {
            vec![Touch::new(Write, device)]
        }
        _ => Vec::new(),
    }
}
