// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Describes command-line programs and the meaning of their arguments.
//!
//! Every program is described once, in a data file in `programs/`: its options and their values, operands,
//! sub-commands and the commands it runs. The build compiles the files into one blob. A lookup decodes only the
//! program and the options that occur.
//!
//! ```
//! use tenterhook_programs::{Programs, Role};
//!
//! let programs = Programs::builtin();
//! let curl = programs.find("curl").unwrap();
//! let words = ["--noproxy", "internal", "-o", "out.html", "https://a.test"];
//! let parsed = curl.parse(&words);
//! let texts = |role| parsed.parts_with_role(role).map(|part| part.text).collect::<Vec<_>>();
//! assert_eq!(texts(Role::Write), ["out.html"]);
//! assert_eq!(texts(Role::Url), ["https://a.test"]);
//! ```

mod command_libraries;
mod examples;
mod format;
mod hook_variables;
mod own_rm;
mod parsed_args;
mod parser;
mod programs;
mod project_files;
mod summary;
mod table;
mod user_programs;

pub use command_libraries::{CommandLibrary, find_command_library};
pub use examples::{ExampleError, check_example};
pub use format::record::{
    Arity, FileRunner, Location, OptionRecord, PackageVerb, RoleCase, SpecStyle, StandardInput,
};
pub use format::role::{Language, Role};
pub use format::source::ExampleSource;
pub use hook_variables::{VariableUse, find_variable_use};
pub use own_rm::has_own_rm;
pub use parsed_args::{
    CommandWord, InnerCommand, ParsedArgs, ParsedOperand, ParsedOption, Variant, WordSlice,
};
pub use programs::{DescribedOption, Program, Programs};
pub use project_files::find_project_files;
pub use summary::{CommandSummary, OperandSummary, OptionSummary};
pub use user_programs::{
    DescriptionTrust, LoadedPrograms, UserProgram, UserProgramFile, UserProgramSource, UserProgramTables,
    read_examples,
};
