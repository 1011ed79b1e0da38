// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The syntax tree of a PowerShell script.

/// A sequence of statements: a script, a script block or a sub-expression.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PowerShellScript {
    /// Statements in order.
    pub statements: Vec<PowerShellStatement>,
    /// Names of the parameters that `param(…)` declares, in lower case.
    pub parameters: Vec<String>,
}

/// One statement of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PowerShellStatement {
    /// A pipeline of commands and expressions.
    Pipeline(PowerShellPipeline),
    /// An assignment to a variable.
    Assignment(PowerShellAssignment),
    /// A loop over a list: `foreach ($x in …) { … }`.
    ForEach(ForEachStatement),
    /// Conditions and bodies of `if`, `while`, `for`, `switch` or `try`.
    Branches(PowerShellBranches),
    /// Definition of a function or filter.
    Function(FunctionStatement),
    /// Text that was not understood.
    Unparsed(String),
    /// The rest of the text, which is nested too deeply to be parsed and may do anything.
    TooDeep(String),
}

/// Stages that are connected by `|`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PowerShellPipeline {
    /// Stages in order.
    pub stages: Vec<PowerShellStage>,
}

/// One stage of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PowerShellStage {
    /// A command with its arguments.
    Command(PowerShellCommand),
    /// An expression whose value is passed on, and redirections of its output.
    Expression(PowerShellExpression, Vec<CommandElement>),
}

/// How a command is invoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvocationKind {
    /// By its name.
    Name,
    /// By the call operator: `& $command`.
    Call,
    /// In the current scope: `. ./file.ps1`.
    DotSource,
}

/// A command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PowerShellCommand {
    /// How the command is invoked.
    pub invocation: InvocationKind,
    /// Name of the command, or the expression that the call operator invokes.
    pub name: PowerShellExpression,
    /// Parameters, arguments and redirections in order.
    pub elements: Vec<CommandElement>,
    /// Position of the command in the text, in bytes.
    pub start: u32,
    /// End of the command in the text, in bytes.
    pub end: u32,
}

/// A part of a command after its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandElement {
    /// A parameter as written (`-Recurse`), and its value if that is written as `-Name:value`.
    Parameter(String, Option<PowerShellExpression>),
    /// An argument without a parameter name, or the value of the parameter before it.
    Argument(PowerShellExpression),
    /// Output that is written or appended to a file.
    Redirect {
        /// Whether the output is appended.
        appends: bool,
        /// The file that receives the output.
        target: PowerShellExpression,
    },
}

/// An expression or the argument of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PowerShellExpression {
    /// A bare word, number or string.
    Text(Vec<StringPart>),
    /// The name of a variable in lower case, with its drive but without its scope: `home`, `env:path`.
    Variable(String),
    /// A variable whose entries become parameters: `@options`.
    Splat(String),
    /// A list of values.
    List(Vec<PowerShellExpression>),
    /// Statements whose output is the value: `( … )`, `$( … )`, `@( … )`.
    Statements(PowerShellScript),
    /// A script block: `{ … }`.
    Block(PowerShellScript),
    /// A hash table.
    Hash(Vec<HashEntry>),
    /// A type: `[IO.File]`.
    Type(String),
    /// A value that is converted to a type: `[string]$x`.
    Cast(String, Box<PowerShellExpression>),
    /// A property, a method call or an element.
    Member(Box<MemberAccess>),
    /// An operator in lower case with both operands: `a + b`.
    Binary(String, Box<[PowerShellExpression; 2]>),
    /// An operator before its operand: `-not x`.
    Unary(String, Box<PowerShellExpression>),
}

/// A part of a word or string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StringPart {
    /// Text without further meaning.
    Literal(String),
    /// The value of an expression.
    Value(PowerShellExpression),
}

/// A property, a method call or an element of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberAccess {
    /// The value or type.
    pub target: PowerShellExpression,
    /// Name of the property or method, or the index of the element.
    pub name: PowerShellExpression,
    /// Arguments of a method call; `None` for a property or an element.
    pub arguments: Option<Vec<PowerShellExpression>>,
}

/// An entry of a hash table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashEntry {
    /// The key of the entry.
    pub key: PowerShellExpression,
    /// The statement whose output is the value.
    pub value: PowerShellStatement,
}

/// An assignment to a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PowerShellAssignment {
    /// The variable, or another expression that is assigned to.
    pub target: PowerShellExpression,
    /// Whether the value is added to the old one: `+=`.
    pub appends: bool,
    /// The statement whose output is the value.
    pub value: Box<PowerShellStatement>,
}

/// A loop over a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForEachStatement {
    /// The loop variable, in lower case.
    pub variable: String,
    /// Statements whose output is the list.
    pub list: PowerShellScript,
    /// The body of the loop.
    pub body: PowerShellScript,
}

/// Conditions and bodies of a statement with branches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PowerShellBranches {
    /// Conditions and other parts that always run.
    pub conditions: Vec<PowerShellScript>,
    /// Bodies, any of which may run.
    pub bodies: Vec<PowerShellScript>,
}

/// Definition of a function or filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionStatement {
    /// The name, in lower case.
    pub name: String,
    /// The body, with the names of its parameters.
    pub body: PowerShellScript,
}

impl PowerShellExpression {
    /// Creates a string without variables.
    pub fn literal(text: &str) -> Self {
        Self::Text(vec![StringPart::Literal(text.to_owned())])
    }

    /// Returns the string, if it contains no variable or other expression.
    pub fn as_literal(&self) -> Option<&str> {
        match self {
            Self::Text(parts) => match parts.as_slice() {
                [] => Some(""),
                [StringPart::Literal(text)] => Some(text),
                _ => None,
            },
            _ => None,
        }
    }
}
