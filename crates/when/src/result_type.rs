// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds conditions whose result is never a bool, such as `tool.name`, `1 + 1` and `"Bash"`.

use cel::common::ast::{Expr, IdedExpr, LiteralValue, SelectExpr, operators};

/// Operators whose result is never a bool.
const ARITHMETIC: &[&str] = &[
    operators::ADD,
    operators::SUBSTRACT,
    operators::MULTIPLY,
    operators::DIVIDE,
    operators::MODULO,
    operators::NEGATE,
];
/// Functions whose result is never a bool.
const CONVERSIONS: &[&str] = &["size", "int", "uint", "double", "string", "bytes", "type"];
/// Fields with a value of any type.
const ANY_TYPE: &[(&str, &str)] = &[
    ("tool", "args"),
    ("detail", "tool_output"),
    ("detail", "model_request"),
    ("detail", "model_response"),
    ("detail", "stop_hook_active"),
];

/// Returns what the expression yields, if it certainly does not yield a bool.
pub(crate) fn never_boolean(node: &IdedExpr) -> Option<&'static str> {
    match &node.expr {
        Expr::Literal(LiteralValue::Boolean(_)) => None,
        Expr::Literal(LiteralValue::String(_)) => Some("a text"),
        Expr::Literal(_) => Some("a constant"),
        Expr::List(_) => Some("a list"),
        Expr::Map(_) | Expr::Struct(_) => Some("a map"),
        Expr::Ident(name) => crate::VARIABLES.iter().any(|(known, _)| known == name).then_some("a map"),
        Expr::Select(select) if !select.test => never_boolean_field(select),
        Expr::Call(call) if ARITHMETIC.contains(&call.func_name.as_str()) => {
            Some("the result of a calculation")
        }
        Expr::Call(call) if CONVERSIONS.contains(&call.func_name.as_str()) => Some("a value"),
        Expr::Call(call) if call.func_name == operators::CONDITIONAL => {
            let mut branches = call.args.iter().skip(1).map(never_boolean);
            branches.next().flatten().and(branches.next().flatten())
        }
        _ => None,
    }
}

/// Describes a field of an event that always contains a string or a list.
fn never_boolean_field(select: &SelectExpr) -> Option<&'static str> {
    let Expr::Ident(root) = &select.operand.expr else { return None };
    let (_, fields) = crate::VARIABLES.iter().find(|(known, _)| known == root)?;
    let known = fields.contains(&select.field.as_str());
    let any_type = ANY_TYPE.contains(&(root.as_str(), select.field.as_str()));
    (known && !any_type).then_some("a field of the event")
}
