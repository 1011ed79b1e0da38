// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Derives the effects of transfers between machines: effects on local files, and deletions on the other machine.

use tenterhook_paths::FileOp::{self, Delete, Read};
use tenterhook_programs::Role;

use super::super::ShellWord;
use super::super::described_command::DescribedCommand;
use super::ExecLocation;
use super::OperandEffect;
use super::copy_mode::{CopyMode, copy_effects};

/// The source or target of a transfer.
struct TransferPlace {
    path: ShellWord,
    /// Whether the path is on another machine.
    is_remote: bool,
}

/// Adds the effects of a program that copies, moves or deletes at locations such as `host:path`. Paths in stores and
/// containers are ignored.
pub(super) fn add_transfers(command: &DescribedCommand<'_>, effects: &mut Vec<OperandEffect>) {
    let places: Vec<ShellWord> = command.operands(Role::Place).collect();
    let recursive = command.has(Role::Recursive);
    let at = |word: &ShellWord| TransferPlace::new(word, command.reaches_machines());
    let Some(target) = command.operands(Role::Target).next_back().filter(|_| !places.is_empty()) else {
        let deleted = places.iter().filter(|_| command.has_flag(Role::Delete)).filter_map(at);
        effects.extend(deleted.map(|place| place.effect(Delete).recursive(recursive)));
        return;
    };
    for place in places.iter().filter_map(at) {
        effects.push(place.effect(Read).recursive(recursive));
        if command.has_flag(Role::Move) {
            effects.push(place.effect(FileOp::Move).recursive(recursive));
        }
        if command.has_flag(Role::Delete) {
            effects.push(place.effect(Delete).recursive(recursive));
        }
    }
    let Some(place) = at(&target) else { return };
    let mode = CopyMode {
        tree: recursive,
        onto: command.has(Role::Onto),
        slash_is_contents: command.has(Role::Contents),
    };
    let sources: Vec<ShellWord> = places.iter().map(path_part).collect();
    let sources: Vec<&ShellWord> = sources.iter().collect();
    let landed = copy_effects(mode, &place.path, &sources);
    effects.extend(landed.into_iter().map(|effect| place.at_place(effect)));
    if command.has(Role::Prune) {
        effects.push(place.effect(Delete).recursive(true));
    }
}

// === impl TransferPlace ===

impl TransferPlace {
    /// Returns the location that a word names; `None` for a path in a store or a container.
    fn new(word: &ShellWord, reaches_machines: bool) -> Option<Self> {
        match remote_path(word) {
            None => Some(Self { path: word.clone(), is_remote: false }),
            Some(path) if reaches_machines => {
                let path = if path.text.is_empty() { ShellWord::literal("~") } else { path };
                Some(Self { path, is_remote: true })
            }
            Some(_) => None,
        }
    }

    fn effect(&self, does: FileOp) -> OperandEffect {
        self.at_place(OperandEffect::new(does, &self.path))
    }

    /// Moves an effect to the machine of this location.
    fn at_place(&self, effect: OperandEffect) -> OperandEffect {
        if self.is_remote {
            OperandEffect { on: Some(ExecLocation::Remote), ..effect.inside_word(true) }
        } else {
            effect
        }
    }
}

/// Returns the path of a location without its host. The URL of a store is kept, because its last component is the
/// name.
fn path_part(word: &ShellWord) -> ShellWord {
    remote_path(word).filter(|_| !word.text.contains("://")).unwrap_or_else(|| word.clone())
}

/// Returns the path after `host:`, `store:` or `container:`.
fn remote_path(word: &ShellWord) -> Option<ShellWord> {
    let text = word.text.as_str();
    if let Some((_, rest)) = text.split_once("://").filter(|(scheme, _)| !scheme.contains('/')) {
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        return Some(ShellWord::literal(&format!("/{path}")));
    }
    let at = text.find(':')?;
    let host = text.get(..at)?;
    let is_remote = !host.contains('/') && !host.is_empty();
    is_remote.then(|| {
        word.skip_bytes(at + 1 + usize::from(text.get(at + 1..).is_some_and(|rest| rest.starts_with(':'))))
    })
}
