// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Estimates how rare the keys of the index are in the calls of agents.

use tenterhook_facts::FileOp;

/// How rare the keys of a rule are. The rarer the keys, the less often the rule is evaluated without a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rarity {
    Paired,
    Named,
    Placed,
    Seldom,
    /// Some of the keys are in many calls.
    Common,
    Often,
}

/// Programs that agents run in many calls.
const COMMON_PROGRAMS: &[&str] = &[
    "awk", "bash", "cat", "cd", "cp", "curl", "cut", "echo", "find", "git", "grep", "head", "ls", "mkdir",
    "node", "npm", "pip", "printf", "python", "python3", "rg", "rm", "sed", "sh", "sort", "tail", "tee",
    "test", "tr", "wc", "xargs",
];

impl Rarity {
    /// Returns the rarity of a list of programs.
    pub(super) fn of_programs<'p>(mut programs: impl Iterator<Item = &'p str>) -> Self {
        if programs.any(|program| COMMON_PROGRAMS.contains(&program)) { Self::Common } else { Self::Named }
    }

    /// Returns the rarity of a list of operations; no operation means any. Most calls only read.
    pub(crate) fn of_operations(operations: &[FileOp]) -> Self {
        if operations.is_empty() || operations.contains(&FileOp::Read) { Self::Often } else { Self::Seldom }
    }
}
