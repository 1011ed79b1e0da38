// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks a parsed expression and rewrites it for evaluation.
//!
//! Names, functions, depth, loops and patterns are checked. A path such as `tool.args.command` becomes one name that
//! is read directly from the event, so no map of the event has to be built. The pattern of `matches` is compiled
//! here, once. Loops and `+` are rewritten to charge their cost to the budget. Names that begin with `@` are
//! internal: no expression written by a user can contain them.

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SelectExpr, SourceInfo, operators,
};
use cel::common::types::{CelInt, CelString};
use regex::RegexBuilder;

use crate::WhenError;
use crate::error::{one_line, too_many_loops};
use crate::limits::{MAX_DEPTH, MAX_LOOP_DEPTH};
use crate::result_type::never_boolean;
use crate::run::{ADD, BUDGET, LOOP, MATCHES, PATTERN_PREFIX, PRESENCE_PREFIX, Pattern, VALUE_PREFIX};
use crate::variables::{EventPath, VARIABLES};

/// Functions that a condition may call. Operators and macros are not listed, because the parser handles them.
const FUNCTIONS: &[&str] = &[
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "size",
    "int",
    "uint",
    "double",
    "string",
    "bool",
    "bytes",
    "type",
    "dyn",
];
/// Names of types, for comparisons such as `type(x) == string`.
const TYPE_NAMES: &[&str] =
    &["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];
/// Maximum size of a compiled pattern.
const MAX_PATTERN_BYTES: usize = 256 * 1024;

/// A checked expression with its paths and patterns.
#[derive(Debug)]
pub(crate) struct CompiledCondition {
    pub(crate) expression: IdedExpr,
    pub(crate) paths: Vec<EventPath>,
    pub(crate) patterns: Vec<Pattern>,
    /// Nesting depth of the expression.
    pub(crate) depth: usize,
}

/// Checks and rewrites `parsed`.
pub(crate) fn lower(parsed: IdedExpr, source: &SourceInfo) -> Result<CompiledCondition, WhenError> {
    let mut lowering =
        Lowering { source, paths: Vec::new(), patterns: Vec::new(), bound: Vec::new(), loops: 0, depth: 0 };
    let not_boolean = never_boolean(&parsed).map(|what| {
        let message = format!("the condition is {what}, never true or false; compare it with something");
        lowering.refuse(parsed.id, message)
    });
    let expression = lowering.expr(parsed, 0)?;
    if let Some(error) = not_boolean {
        return Err(error);
    }
    let Lowering { paths, patterns, depth, .. } = lowering;
    Ok(CompiledCondition { expression, paths, patterns, depth })
}

struct Lowering<'s> {
    source: &'s SourceInfo,
    paths: Vec<EventPath>,
    patterns: Vec<Pattern>,
    /// Variables of the enclosing loops.
    bound: Vec<String>,
    loops: usize,
    /// The greatest nesting depth found so far.
    depth: usize,
}

impl Lowering<'_> {
    fn expr(&mut self, node: IdedExpr, depth: usize) -> Result<IdedExpr, WhenError> {
        if depth >= MAX_DEPTH {
            return Err(WhenError::TooDeep);
        }
        let depth = depth + 1;
        self.depth = self.depth.max(depth);
        let id = node.id;
        let expr = match node.expr {
            Expr::Literal(literal) => Expr::Literal(literal),
            Expr::Ident(name) if self.is_bound(&name) || TYPE_NAMES.contains(&name.as_str()) => {
                Expr::Ident(name)
            }
            Expr::Ident(name) => self.path(id, &name, Vec::new(), VALUE_PREFIX)?,
            Expr::Select(select) => self.select(select, depth)?,
            Expr::Call(call) => self.call(id, call, depth)?,
            Expr::Comprehension(comprehension) => {
                Expr::Comprehension(Box::new(self.comprehension(id, *comprehension, depth)?))
            }
            Expr::List(mut list) => {
                list.elements = self.exprs(list.elements, depth)?;
                Expr::List(list)
            }
            Expr::Map(mut map) => {
                for entry in &mut map.entries {
                    let EntryExpr::MapEntry(pair) = &mut entry.expr else {
                        return Err(self.refuse(id, "a map is written {key: value}".to_owned()));
                    };
                    pair.key = self.expr(std::mem::take(&mut pair.key), depth)?;
                    pair.value = self.expr(std::mem::take(&mut pair.value), depth)?;
                }
                Expr::Map(map)
            }
            Expr::Struct(literal) => {
                return Err(self.refuse(id, format!("unknown type `{}`", literal.type_name)));
            }
            Expr::Unspecified => return Err(self.refuse(id, "not an expression".to_owned())),
        };
        Ok(IdedExpr { id, expr })
    }

    fn exprs(&mut self, nodes: Vec<IdedExpr>, depth: usize) -> Result<Vec<IdedExpr>, WhenError> {
        nodes.into_iter().map(|node| self.expr(node, depth)).collect()
    }

    fn is_bound(&self, name: &str) -> bool {
        self.bound.iter().any(|bound| bound == name)
    }

    /// Replaces `a.b.c` or `has(a.b.c)` by one name, if `a` is a variable.
    fn select(&mut self, select: SelectExpr, depth: usize) -> Result<Expr, WhenError> {
        let prefix = if select.test { PRESENCE_PREFIX } else { VALUE_PREFIX };
        match select_chain(&select) {
            Some((at, root, names)) if !self.is_bound(root) => {
                self.path(at, root, names.into_iter().map(str::to_owned).collect(), prefix)
            }
            _ => {
                let operand = Box::new(self.expr(*select.operand, depth)?);
                Ok(Expr::Select(SelectExpr { operand, ..select }))
            }
        }
    }

    fn path(&mut self, id: u64, root: &str, names: Vec<String>, prefix: &str) -> Result<Expr, WhenError> {
        let Some(path) = EventPath::new(root, names) else {
            let known: Vec<_> = VARIABLES.iter().map(|(name, _)| *name).collect();
            let message = format!("unknown variable `{}`; known: {}", one_line(root), known.join(", "));
            return Err(self.refuse(id, message));
        };
        if let Some((field, known)) = path.unknown_field() {
            let message = format!("`{root}` has no field `{}`; it has {}", one_line(field), known.join(", "));
            return Err(self.refuse(id, message));
        }
        let index = self.paths.iter().position(|known| *known == path).unwrap_or_else(|| {
            self.paths.push(path);
            self.paths.len() - 1
        });
        Ok(Expr::Ident(format!("{prefix}{index}")))
    }

    fn call(&mut self, id: u64, mut call: CallExpr, depth: usize) -> Result<Expr, WhenError> {
        let name = call.func_name.as_str();
        if name == "matches" {
            return self.matches(id, call, depth);
        }
        if !FUNCTIONS.contains(&name) && name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            let message = format!("unknown function `{}`; known: {}", one_line(name), FUNCTIONS.join(", "));
            return Err(self.refuse(id, message));
        }
        // The library recognises its own `@result + [x]` and appends in place, so this addition is left unchanged.
        let appends = matches!(call.args.first(), Some(IdedExpr { expr: Expr::Ident(name), .. }) if name.starts_with('@'));
        if let Some(target) = call.target.take() {
            call.target = Some(Box::new(self.expr(*target, depth)?));
        }
        call.args = self.exprs(call.args, depth)?;
        if call.func_name == operators::ADD && !appends {
            ADD.clone_into(&mut call.func_name);
            call.args.push(budget_argument(id));
        }
        Ok(Expr::Call(call))
    }

    /// Compiles the pattern once. The library would compile it in every call, without a size limit.
    fn matches(&mut self, id: u64, call: CallExpr, depth: usize) -> Result<Expr, WhenError> {
        let mut args: Vec<_> = call.target.map(|target| *target).into_iter().chain(call.args).collect();
        let (Some(pattern), Some(text), true) = (args.pop(), args.pop(), args.is_empty()) else {
            return Err(self.refuse(id, "`matches` takes a text and a pattern".to_owned()));
        };
        let Expr::Literal(LiteralValue::String(pattern)) = &pattern.expr else {
            return Err(self.refuse(id, "the pattern of `matches` must be a literal".to_owned()));
        };
        let compiled = RegexBuilder::new(pattern.inner())
            .size_limit(MAX_PATTERN_BYTES)
            .dfa_size_limit(MAX_PATTERN_BYTES)
            .build()
            // The message has several lines; the last one contains the cause.
            .map_err(|error| {
                self.refuse(id, one_line(error.to_string().lines().last().unwrap_or_default()))
            })?;
        let index = self.patterns.len();
        self.patterns.push(Pattern(compiled));
        let text = self.expr(text, depth)?;
        let pattern = IdedExpr { id, expr: Expr::Ident(format!("{PATTERN_PREFIX}{index}")) };
        let args = vec![text, pattern, budget_argument(id)];
        Ok(Expr::Call(CallExpr { func_name: MATCHES.to_owned(), target: None, args }))
    }

    fn comprehension(
        &mut self,
        id: u64,
        loops: ComprehensionExpr,
        depth: usize,
    ) -> Result<ComprehensionExpr, WhenError> {
        if self.loops == MAX_LOOP_DEPTH {
            return Err(self.refuse(id, too_many_loops()));
        }
        let ComprehensionExpr { iter_range, iter_var, iter_var2, accu_var, accu_init, .. } = loops;
        let range = self.expr(iter_range, depth)?;
        let accu_init = self.expr(accu_init, depth)?;

        let outside = self.bound.len();
        self.bound.extend([iter_var.clone(), accu_var.clone()]);
        self.bound.extend(iter_var2.clone());
        self.loops += 1;
        let loop_cond = self.expr(loops.loop_cond, depth)?;
        let loop_step = self.expr(loops.loop_step, depth)?;
        let result = self.expr(loops.result, depth)?;
        self.loops -= 1;
        self.bound.truncate(outside);

        // The cost of a loop is charged in advance: the number of elements times the number of nodes in the body.
        let body = count_nodes(&loop_cond).saturating_add(count_nodes(&loop_step));
        let body = Expr::Literal(LiteralValue::Int(CelInt::from(i64::try_from(body).unwrap_or(i64::MAX))));
        let args = vec![range, IdedExpr { id, expr: body }, budget_argument(id)];
        let expr = Expr::Call(CallExpr { func_name: LOOP.to_owned(), target: None, args });
        let iter_range = IdedExpr { id, expr };
        Ok(ComprehensionExpr {
            iter_range,
            iter_var,
            iter_var2,
            accu_var,
            accu_init,
            loop_cond,
            loop_step,
            result,
        })
    }

    fn refuse(&self, id: u64, message: String) -> WhenError {
        let start = self.source.offset_for(id).and_then(|(start, _)| usize::try_from(start).ok());
        let before = start.and_then(|start| self.source.source.get(..start));
        WhenError::Refused { column: before.map_or(0, |text| text.chars().count()) + 1, message }
    }
}

/// Returns the root of a chain of selections, its position, and the names of the fields.
fn select_chain(select: &SelectExpr) -> Option<(u64, &str, Vec<&str>)> {
    let mut names = vec![select.field.as_str()];
    let mut operand = &select.operand;
    loop {
        match &operand.expr {
            Expr::Ident(root) => {
                names.reverse();
                return Some((operand.id, root, names));
            }
            Expr::Select(inner) if !inner.test && names.len() < MAX_DEPTH => {
                names.push(&inner.field);
                operand = &inner.operand;
            }
            _ => return None,
        }
    }
}

fn budget_argument(id: u64) -> IdedExpr {
    IdedExpr { id, expr: Expr::Ident(BUDGET.to_owned()) }
}

/// Returns the number of nodes of a checked expression. A string literal has a cost that depends on its length.
fn count_nodes(node: &IdedExpr) -> usize {
    let all = |nodes_of: &[IdedExpr]| nodes_of.iter().map(count_nodes).sum::<usize>();
    1 + match &node.expr {
        Expr::Call(call) => call.target.as_deref().map_or(0, count_nodes) + all(&call.args),
        Expr::Comprehension(inner) => {
            count_nodes(&inner.iter_range) + count_nodes(&inner.accu_init) + count_nodes(&inner.result)
        }
        Expr::List(list) => all(&list.elements),
        Expr::Map(map) => map.entries.iter().fold(0, |sum, entry| match &entry.expr {
            EntryExpr::MapEntry(pair) => sum + count_nodes(&pair.key) + count_nodes(&pair.value),
            EntryExpr::StructField(field) => sum + count_nodes(&field.value),
        }),
        Expr::Select(select) => count_nodes(&select.operand),
        Expr::Literal(LiteralValue::String(text)) => literal_cost(text),
        _ => 0,
    }
}

fn literal_cost(text: &CelString<'_>) -> usize {
    text.inner().len() / 64
}
