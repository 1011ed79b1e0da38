// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Derives the effects of `find`, whose operands are directories and whose options act on the files found in them.

use tenterhook_paths::FileOp::{Delete, Write};
use tenterhook_programs::Role;

use super::super::described_command::DescribedCommand;
use super::OperandEffect;
use crate::shell::find_targets;

/// Returns the files that `find` deletes, and the lists that it writes.
pub(super) fn find_effects(command: &DescribedCommand<'_>) -> Vec<OperandEffect> {
    let mut effects: Vec<_> =
        command.values(Role::Write).map(|(word, _)| OperandEffect::new(Write, &word)).collect();
    if command.has_flag(Role::Delete) {
        let found = find_targets(command.words);
        effects.extend(
            found.iter().map(|word| OperandEffect::new(Delete, word).recursive(word.shape.ends_with("/**"))),
        );
    }
    effects
}
