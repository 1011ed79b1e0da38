// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `find`: its operands are directories, its options act on what is found in them.

use tenterhook_paths::Does::{Delete, Write};
use tenterhook_programs::Role;

use super::super::described_command::DescribedCommand;
use super::Touch;
use crate::shell::find_targets;

/// What it would find and remove, and the lists it writes.
pub(super) fn find(given: &DescribedCommand<'_>) -> Vec<Touch> {
    let mut touches: Vec<_> = given.values(Role::Write).map(|(word, _)| Touch::new(Write, &word)).collect();
    if given.has_flag(Role::Delete) {
        let found = find_targets(given.words);
        touches.extend(found.iter().map(|word| Touch::new(Delete, word).deep(word.shape.ends_with("/**"))));
    }
    touches
}
