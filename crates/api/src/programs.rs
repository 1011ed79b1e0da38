// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Descriptions of programs: built-in ones, and the files of users.

use serde::{Deserialize, Serialize};

use crate::{FileProblem, RuleLayer};

/// The programs whose arguments rules understand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramList {
    /// Files with descriptions of the user, the organisation or the project.
    pub files: Vec<ProgramFile>,
    /// Problems in these files.
    pub problems: Vec<FileProblem>,
    /// Names of the programs with a built-in description.
    pub builtin: Vec<String>,
}

/// A file that describes programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramFile {
    /// Path of the file.
    pub source: String,
    /// Who the file comes from.
    pub layer: RuleLayer,
    /// Programs that the file describes.
    pub programs: Vec<ProgramDescription>,
}

/// A program in a file with descriptions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramDescription {
    /// Names of the program.
    pub names: Vec<String>,
    /// Line of the description.
    pub line: usize,
    /// Whether the description replaces the built-in one.
    pub replaces: bool,
    /// Number of examples, which were all tested.
    pub examples: usize,
}
