// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats the words and expressions of an outline on one line.

use crate::ast::{
    ArrayLiteral, Assignment, AssignmentValue, BraceKind, GlobKind, Parameter, ParameterOperator, Subscript,
    TestExpression, Word, WordPart,
};

pub(super) fn assignment_text(assignment: &Assignment) -> String {
    let sign = if assignment.appends { "+=" } else { "=" };
    let subscript = assignment.subscript.as_ref().map(subscript_text).unwrap_or_default();
    let value = match &assignment.value {
        AssignmentValue::Word(word) => word_text(word),
        AssignmentValue::Array(array) => array_text(array),
    };
    format!("{}{subscript}{sign}{value}", assignment.name)
}

pub(super) fn array_text(array: &ArrayLiteral) -> String {
    let elements: Vec<_> = array
        .elements
        .iter()
        .map(|element| match &element.subscript {
            Some(subscript) => format!("{}={}", subscript_text(subscript), word_text(&element.value)),
            None => word_text(&element.value),
        })
        .collect();
    format!("({})", elements.join(" "))
}

pub(super) fn subscript_text(subscript: &Subscript) -> String {
    match subscript {
        Subscript::All => "[@]".to_owned(),
        Subscript::Joined => "[*]".to_owned(),
        Subscript::Index(expression) => format!("[{}]", parts_text(&expression.parts)),
    }
}

pub(super) fn word_text(word: &Word) -> String {
    if word.parts.is_empty() { "''".to_owned() } else { parts_text(&word.parts) }
}

pub(super) fn parts_text(parts: &[WordPart]) -> String {
    parts.iter().map(part_text).collect()
}

fn part_text(part: &WordPart) -> String {
    match part {
        WordPart::Literal(part) => part.text.to_string(),
        WordPart::Escaped(part) => format!("\\{}", part.character),
        WordPart::SingleQuoted(part) => format!("'{}'", part.text),
        WordPart::AnsiQuoted(part) => format!("$'{}'", part.text.escape_debug()),
        WordPart::DoubleQuoted(part) => {
            format!("{}\"{}\"", if part.is_translated { "$" } else { "" }, parts_text(&part.parts))
        }
        WordPart::Tilde(part) => format!("<~{}>", part.user),
        WordPart::Glob(part) => match &part.kind {
            GlobKind::Star => "<*>".to_owned(),
            GlobKind::Question => "<?>".to_owned(),
            GlobKind::Bracket(text) => format!("<[{text}]>"),
            GlobKind::BracketStart => "<[>".to_owned(),
            GlobKind::Extended { operator, alternatives } => {
                let words: Vec<_> = alternatives.iter().map(word_text).collect();
                format!("<{operator}({})>", words.join("|"))
            }
            GlobKind::NumericRange(text) => format!("<<{text}>>"),
        },
        WordPart::Brace(part) => match &part.kind {
            BraceKind::Alternatives(words) => {
                format!("<{{{}}}>", words.iter().map(word_text).collect::<Vec<_>>().join(","))
            }
            BraceKind::Sequence { first, last, step } => {
                format!(
                    "<{{{first}..{last}{}}}>",
                    step.as_ref().map(|step| format!("..{step}")).unwrap_or_default()
                )
            }
        },
        WordPart::Parameter(part) => parameter_text(part),
        WordPart::Command(part) => if part.is_backticks { "$`…`" } else { "$(…)" }.to_owned(),
        WordPart::Arithmetic(part) => format!("$(({}))", parts_text(&part.expression.parts)),
        WordPart::Process(_) => "<(…)".to_owned(),
        WordPart::Array(part) => array_text(part),
        WordPart::ProgramPath(part) => format!("<={}>", part.text),
        WordPart::History(part) => format!("<{}>", part.text),
        WordPart::Unparsed(part) => format!("<unparsed {}>", part.text),
    }
}

fn parameter_text(part: &Parameter) -> String {
    let parameter = &part.parameter;
    let mut text = String::from("${");
    text.push_str(parameter.zsh_flags.as_deref().unwrap_or_default());
    text.push_str(if parameter.is_length { "#" } else { "" });
    text.push_str(if parameter.is_indirect { "!" } else { "" });
    text.push_str(&parameter.name);
    text.push_str(&parameter.nested.as_ref().map(|word| word_text(word)).unwrap_or_default());
    text.push_str(&parameter.subscript.as_ref().map(subscript_text).unwrap_or_default());
    match &part.operator {
        ParameterOperator::None => {}
        ParameterOperator::Default { action, or_empty, word } => {
            let colon = if *or_empty { ":" } else { "" };
            text.push_str(&format!(" {colon}{action:?} {}", word_text(word)));
        }
        ParameterOperator::RemovePrefix { longest, pattern } => {
            text.push_str(&format!(" {} {}", if *longest { "##" } else { "#" }, word_text(pattern)));
        }
        ParameterOperator::RemoveSuffix { longest, pattern } => {
            text.push_str(&format!(" {} {}", if *longest { "%%" } else { "%" }, word_text(pattern)));
        }
        ParameterOperator::Replace { scope, pattern, replacement } => {
            let replacement = replacement.as_ref().map(word_text).unwrap_or_default();
            text.push_str(&format!(" Replace{scope:?} {} {replacement}", word_text(pattern)));
        }
        ParameterOperator::Substring { offset, length } => {
            let length = length.as_ref().map(|length| format!(":{}", parts_text(&length.parts)));
            text.push_str(&format!(" :{}{}", parts_text(&offset.parts), length.unwrap_or_default()));
        }
        ParameterOperator::ChangeCase { change, all, pattern } => {
            text.push_str(&format!(" {change:?}{} {}", if *all { "All" } else { "" }, word_text(pattern)));
        }
        ParameterOperator::Transform(letter) => text.push_str(&format!(" @{letter}")),
        ParameterOperator::Names { joined } => text.push_str(if *joined { " *" } else { " @" }),
        ParameterOperator::Other(word) => text.push_str(&format!(" other {}", word_text(word))),
    }
    text.push('}');
    text
}

pub(super) fn test_text(expression: &TestExpression) -> String {
    let join = |all: &[TestExpression], sign: &str| all.iter().map(test_text).collect::<Vec<_>>().join(sign);
    match expression {
        TestExpression::Word(word) => word_text(word),
        TestExpression::Unary { operator, operand } => format!("({operator} {})", word_text(operand)),
        TestExpression::Binary { left, operator, right } => {
            format!("({} {operator} {})", word_text(left), word_text(right))
        }
        TestExpression::Not(inner) => format!("!{}", test_text(inner)),
        TestExpression::Group(inner) => format!("({})", test_text(inner)),
        TestExpression::And(all) => format!("({})", join(all, " && ")),
        TestExpression::Or(all) => format!("({})", join(all, " || ")),
        TestExpression::Other(words) => {
            format!("other {}", words.iter().map(word_text).collect::<Vec<_>>().join(" "))
        }
    }
}
