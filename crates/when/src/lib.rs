// SPDX-License-Identifier: Apache-2.0 OR MIT

#![doc = include_str!("../README.md")]

mod error;
mod limits;
mod lower;
mod result_type;
mod run;
mod stack;
mod variables;

use cel::parser::Parser;
use tenterhook_event::Event;

pub use error::WhenError;
pub use limits::{BUDGET, MAX_CONDITION_BYTES, MAX_DEPTH, MAX_LOOP_DEPTH, MAX_LOOP_ITEMS};
pub use variables::VARIABLES;

/// A checked condition over events.
///
/// ```
/// # use tenterhook_event::{Event, EventId, EventKind, Timestamp};
/// # use tenterhook_when::When;
/// # let event = Event::new(
/// #     EventId::from_parts(0, 0),
/// #     Timestamp::from_unix_ms(0),
/// #     "claude-code",
/// #     EventKind::PreTool,
/// #     "PreToolUse",
/// # );
/// let when = When::compile(r#"event.kind == "pre-tool" && event.source.startsWith("claude")"#)?;
/// assert!(when.holds(&event)?);
/// # Ok::<(), tenterhook_when::WhenError>(())
/// ```
#[derive(Debug)]
pub struct When {
    text: String,
    compiled: lower::CompiledCondition,
}

impl When {
    /// Parses and checks a condition. Everything that is invalid regardless of the event is rejected here.
    pub fn compile(text: &str) -> Result<Self, WhenError> {
        if text.len() > MAX_CONDITION_BYTES {
            return Err(WhenError::TooLong(text.len()));
        }
        let depth = u16::try_from(MAX_DEPTH).unwrap_or(u16::MAX);
        let compiled = stack::with_stack(stack::parse_stack_bytes(text), || {
            let parser = Parser::new().max_recursion_depth(depth);
            let (parsed, source) =
                parser.parse_with_source_info(text).map_err(|errors| WhenError::from_parser(&errors))?;
            lower::lower(parsed, &source)
        })??;
        Ok(Self { text: text.to_owned(), compiled })
    }

    /// Whether the condition is true for this event.
    ///
    /// An error does not mean "no match". For a rule, the caller treats an error as a match; for a hook, as a failure
    /// of the hook.
    pub fn holds(&self, event: &Event) -> Result<bool, WhenError> {
        run::run(&self.compiled, event)
    }

    /// Returns the text of the condition.
    pub fn text(&self) -> &str {
        &self.text
    }
}
