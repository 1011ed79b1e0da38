// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses PowerShell into pipelines of commands with parameters, and into expressions.
//!
//! [`parse_powershell`] never fails: a part that is not understood becomes [`PowerShellStatement::Unparsed`], and
//! parsing continues on the next line. Text beyond the nesting limit becomes [`PowerShellStatement::TooDeep`].
//! The tree does not describe the effects of commands.
//! [`decode_encoded_command`] decodes the value of `-EncodedCommand`, and [`begins_with_powershell`] recognises
//! PowerShell in the text of an unknown shell. [`split_cmd_commands`] splits the command lines of `cmd.exe`.

mod aliases;
mod ast;
mod cmd_line;
mod command;
mod encoded;
mod expression;
mod recognize;
mod scan;
mod statement;
mod string;
#[cfg(test)]
mod tests;

pub use aliases::{find_cmdlet, fold_command_name, is_program_name};
pub use ast::{
    CommandElement, ForEachStatement, FunctionStatement, HashEntry, InvocationKind, MemberAccess,
    PowerShellAssignment, PowerShellBranches, PowerShellCommand, PowerShellExpression, PowerShellPipeline,
    PowerShellScript, PowerShellStage, PowerShellStatement, StringPart,
};
pub use cmd_line::{CmdCommand, split_cmd_commands, split_cmd_words, strip_cmd_condition};
pub use encoded::{decode_base64, decode_encoded_command, decode_utf16};
pub use recognize::begins_with_powershell;

/// Maximum nesting depth of blocks and expressions. Deeper text is not parsed.
const MAX_NESTING: usize = 48;

/// Parses a script.
pub fn parse_powershell(text: &str) -> PowerShellScript {
    let mut parser = scan::ScriptParser::new(text);
    let mut script = PowerShellScript::default();
    loop {
        let part = parser.parse_script();
        script.statements.extend(part.statements);
        script.parameters.extend(part.parameters);
        // A closing bracket that nothing has opened is skipped.
        if parser.next_char().is_none() {
            return script;
        }
    }
}
