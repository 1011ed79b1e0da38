// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates a condition, and defines the internal names and functions that the rewritten expression uses.

use std::sync::{Arc, LazyLock};

use cel::common::types::{self, CelBool, CelInt, CelString, Type};
use cel::common::value::{CowVal, StaticVal, Val};
use cel::context::VariableResolver;
use cel::{Context, Env, ExecutionError, Value};
use regex::Regex;
use tenterhook_event::Event;

use crate::WhenError;
use crate::limits::{Budget, MAX_LOOP_ITEMS, cost_of, limit_error};
use crate::lower::CompiledCondition;
use crate::stack::{evaluation_stack_bytes, with_stack};

/// Prefix of a name whose value is the value of a path.
pub(crate) const VALUE_PREFIX: &str = "@fact";
/// Prefix of a name whose value says whether the event has a path.
pub(crate) const PRESENCE_PREFIX: &str = "@has";
/// Prefix of a name whose value is a compiled pattern.
pub(crate) const PATTERN_PREFIX: &str = "@pattern";
/// Name of the budget.
pub(crate) const BUDGET: &str = "@budget";
/// `@loop(range, nodes of the body, budget)` charges for a loop and returns its range.
pub(crate) const LOOP: &str = "@loop";
/// `@add(a, b, budget)` charges for an addition and returns the sum.
pub(crate) const ADD: &str = "@add";
/// `@matches(text, pattern, budget)` charges for a match and returns its result.
pub(crate) const MATCHES: &str = "@matches";

/// How many times more a regular expression costs than `contains`.
const PATTERN_FACTOR: usize = 4;

/// Standard library and internal functions. They are built once, because building them takes longer than most
/// evaluations.
static ENV: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut env = Env::stdlib();
    let three = || vec![types::DYN_TYPE, types::DYN_TYPE, types::DYN_TYPE];
    // The result is ignored: only a repeated name is rejected, and these names are unique. If a function were
    // missing, every call of it would be an error.
    let _ = env.add_overload(LOOP, LOOP, three(), enter_loop);
    let _ = env.add_overload(ADD, ADD, three(), add);
    let _ = env.add_overload(MATCHES, MATCHES, three(), matches);
    Arc::new(env)
});

/// Evaluates a condition for one event. Panics of the library become errors.
pub(crate) fn run(compiled: &CompiledCondition, event: &Event) -> Result<bool, WhenError> {
    let run = Evaluation { compiled, event, budget: Budget::new() };
    let answer = with_stack(evaluation_stack_bytes(compiled.depth), || {
        let mut context = Context::with_env(Arc::clone(&ENV));
        context.set_variable_resolver(&run);
        match Value::resolve_val(&compiled.expression, &context) {
            Ok(value) => match value.downcast_ref::<CelBool>() {
                Some(answer) => Ok(*answer.inner()),
                None => Err(WhenError::NotBoolean(value.get_type().name().to_owned())),
            },
            Err(error) => Err(run.explain(&error)),
        }
    })?;
    match run.budget.exceeded() {
        Some(limit) => Err(limit),
        None => answer,
    }
}

struct Evaluation<'r> {
    compiled: &'r CompiledCondition,
    event: &'r Event,
    budget: Budget,
}

impl Evaluation<'_> {
    fn explain(&self, error: &ExecutionError) -> WhenError {
        if let ExecutionError::UndeclaredReference(name) = error
            && let Some(path) =
                name.strip_prefix(VALUE_PREFIX).and_then(|index| by_index(&self.compiled.paths, index))
        {
            return WhenError::Missing(path.to_string());
        }
        WhenError::from_library(error)
    }
}

impl VariableResolver for Evaluation<'_> {
    fn resolve<'b>(&'b self, name: &str) -> Option<CowVal<'b, 'b>> {
        if let Some(index) = name.strip_prefix(VALUE_PREFIX) {
            let path = by_index(&self.compiled.paths, index)?;
            path.read(self.event, &self.budget).map(CowVal::Owned)
        } else if let Some(index) = name.strip_prefix(PRESENCE_PREFIX) {
            let path = by_index(&self.compiled.paths, index)?;
            Some(CowVal::owned(CelBool::from(path.is_in(self.event))))
        } else if let Some(index) = name.strip_prefix(PATTERN_PREFIX) {
            by_index(&self.compiled.patterns, index).map(|pattern| CowVal::Borrowed(pattern as &dyn Val))
        } else {
            (name == BUDGET).then_some(CowVal::Borrowed(&self.budget))
        }
    }
}

fn by_index<'a, T>(items: &'a [T], index: &str) -> Option<&'a T> {
    items.get(index.parse::<usize>().ok()?)
}

/// A compiled pattern as a value. It is borrowed and never cloned, because a cloned `Regex` has to build its caches
/// again.
#[derive(Debug)]
pub(crate) struct Pattern(pub(crate) Regex);

impl Val for Pattern {
    fn get_type(&self) -> &Type {
        Self::cel_type()
    }

    fn cel_type() -> &'static Type {
        &types::DYN_TYPE
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v>
    where
        Self: 'v,
    {
        Box::new(Self(self.0.clone()))
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }
}

impl StaticVal for Pattern {}

type Answer<'b, 'v> = Result<CowVal<'b, 'v>, ExecutionError>;

fn three_args<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Result<[CowVal<'b, 'v>; 3], ExecutionError> {
    <[_; 3]>::try_from(args).map_err(|args| ExecutionError::invalid_argument_count(3, args.len()))
}

fn pay(budget: &CowVal<'_, '_>, cost: usize) -> Result<(), ExecutionError> {
    budget.downcast_ref::<Budget>().and_then(|budget| budget.spend(cost)).ok_or_else(limit_error)
}

fn enter_loop<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Answer<'b, 'v> {
    let [range, body, budget] = three_args(args)?;
    let items = range.as_sizer().map_or(0, |sizer| usize::try_from(*sizer.size().inner()).unwrap_or(0));
    if items > MAX_LOOP_ITEMS {
        if let Some(budget) = budget.downcast_ref::<Budget>() {
            budget.too_many();
        }
        return Err(limit_error());
    }
    let body = body.downcast_ref::<CelInt>().and_then(|body| usize::try_from(*body.inner()).ok());
    pay(&budget, cost_of(range.as_ref()).saturating_mul(body.unwrap_or(usize::MAX)))?;
    Ok(range)
}

fn add<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Answer<'b, 'v> {
    let [left, right, budget] = three_args(args)?;
    pay(&budget, cost_of(left.as_ref()).saturating_add(cost_of(right.as_ref())))?;
    let types = || [&left, &right].map(|side| side.get_type().name().to_owned()).to_vec();
    let adder = left.as_adder().ok_or_else(|| ExecutionError::no_such_overload("_+_", types()))?;
    Ok(CowVal::Owned(adder.add(right.as_ref())?.into_owned()))
}

fn matches<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Answer<'b, 'v> {
    let [text, pattern, budget] = three_args(args)?;
    pay(&budget, cost_of(text.as_ref()).saturating_mul(PATTERN_FACTOR))?;
    match (text.downcast_ref::<CelString<'_>>(), pattern.downcast_ref::<Pattern>()) {
        (Some(text), Some(Pattern(pattern))) => {
            Ok(CowVal::owned(CelBool::from(pattern.is_match(text.inner()))))
        }
        _ => Err(ExecutionError::UnexpectedType {
            got: text.get_type().name().to_owned(),
            want: "string".to_owned(),
        }),
    }
}
