// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the program descriptions in the policy that were used to analyse a call.

use serde::Serialize;
use tenterhook_policy::{Facts, RuleSet};

/// A program in a call for which the policy has a description.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct DescribedProgram {
    /// Name of the program.
    pub program: String,
    /// File that describes it.
    pub source: String,
    /// Line of the description, counted from one.
    pub line: usize,
}

/// Returns the policy's descriptions that were used for the commands of a call, in addition to the built-in ones.
pub fn described_programs(rules: &RuleSet, facts: &Facts) -> Vec<DescribedProgram> {
    let mut found = Vec::new();
    let Some(programs) = rules.programs() else { return found };
    for command in &facts.commands {
        for (file, description, _) in programs.user_descriptions(&command.program) {
            let (program, source) = (command.program.clone(), file.source.clone());
            let described = DescribedProgram { program, source, line: description.line };
            if !found.contains(&described) {
                found.push(described);
            }
        }
    }
    found
}

impl std::fmt::Display for DescribedProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}:{})", self.program, self.source, self.line)
    }
}
