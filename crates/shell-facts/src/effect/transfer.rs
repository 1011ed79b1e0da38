// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Transfers between places: what is on this machine, and what is deleted on the other.

use tenterhook_paths::Does::{self, Delete, Read};
use tenterhook_programs::Role;

use super::super::Word;
use super::super::described_command::DescribedCommand;
use super::Side;
use super::Touch;
use super::landing::{Landing, land};

/// One place of a transfer.
struct TransferPlace {
    path: Word,
    /// Whether it is on another machine.
    is_remote: bool,
}

/// Adds what a program does that copies, moves or deletes at places like `host:path`. Paths in stores and
/// containers are not followed.
pub(super) fn add_transfers(given: &DescribedCommand<'_>, touches: &mut Vec<Touch>) {
    let places: Vec<Word> = given.operands(Role::Place).collect();
    let deep = given.has(Role::Recursive);
    let at = |word: &Word| TransferPlace::new(word, given.reaches_machines());
    let Some(target) = given.operands(Role::Target).next_back().filter(|_| !places.is_empty()) else {
        let deleted = places.iter().filter(|_| given.has_flag(Role::Delete)).filter_map(at);
        touches.extend(deleted.map(|place| place.touch(Delete).deep(deep)));
        return;
    };
    for place in places.iter().filter_map(at) {
        touches.push(place.touch(Read).deep(deep));
        if given.has_flag(Role::Move) {
            touches.push(place.touch(Does::Move).deep(deep));
        }
        if given.has_flag(Role::Delete) {
            touches.push(place.touch(Delete).deep(deep));
        }
    }
    let Some(place) = at(&target) else { return };
    let landing =
        Landing { tree: deep, onto: given.has(Role::Onto), slash_is_contents: given.has(Role::Contents) };
    let sources: Vec<Word> = places.iter().map(path_of).collect();
    let sources: Vec<&Word> = sources.iter().collect();
    let landed = land(landing, &place.path, &sources);
    touches.extend(landed.into_iter().map(|touch| place.put(touch)));
    if given.has(Role::Prune) {
        touches.push(place.touch(Delete).deep(true));
    }
}

// === impl TransferPlace ===

impl TransferPlace {
    /// A place that is followed; `None` for one in a store or a container.
    fn new(word: &Word, reaches_machines: bool) -> Option<Self> {
        match far(word) {
            None => Some(Self { path: word.clone(), is_remote: false }),
            Some(path) if reaches_machines => {
                let path = if path.text.is_empty() { Word::literal("~") } else { path };
                Some(Self { path, is_remote: true })
            }
            Some(_) => None,
        }
    }

    fn touch(&self, does: Does) -> Touch {
        self.put(Touch::new(does, &self.path))
    }

    /// Moves a touch to the side of the place.
    fn put(&self, touch: Touch) -> Touch {
        if self.is_remote { Touch { on: Some(Side::Remote), ..touch.inner(true) } } else { touch }
    }
}

/// The path of a place, on whichever side; a store's address ends in its name.
fn path_of(word: &Word) -> Word {
    far(word).filter(|_| !word.text.contains("://")).unwrap_or_else(|| word.clone())
}

/// The path behind `host:`, `store:` or `container:`.
fn far(word: &Word) -> Option<Word> {
    let text = word.text.as_str();
    if let Some((_, rest)) = text.split_once("://").filter(|(scheme, _)| !scheme.contains('/')) {
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        return Some(Word::literal(&format!("/{path}")));
    }
    let at = text.find(':')?;
    let host = text.get(..at)?;
    let is_far = !host.contains('/') && !host.is_empty();
    is_far.then(|| {
        word.tail(at + 1 + usize::from(text.get(at + 1..).is_some_and(|rest| rest.starts_with(':'))))
    })
}
