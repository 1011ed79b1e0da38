// SPDX-License-Identifier: Apache-2.0 OR MIT

#![doc = include_str!("../README.md")]

mod error;
mod limits;
mod lower;
mod result_type;
mod run;
mod stack;
mod words;

use cel::parser::Parser;
use tenterhook_event::Event;

pub use error::WhenError;
pub use limits::{BUDGET, MAX_DEPTH, MAX_ITEMS, MAX_LOOPS, MAX_TEXT};
pub use words::VARIABLES;

/// A condition over events, checked and ready to be asked.
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
    plan: lower::Plan,
}

impl When {
    /// Reads and checks a condition: everything that can be known to be wrong without an event is
    /// refused here.
    pub fn compile(text: &str) -> Result<Self, WhenError> {
        if text.len() > MAX_TEXT {
            return Err(WhenError::TooLong(text.len()));
        }
        let depth = u16::try_from(MAX_DEPTH).unwrap_or(u16::MAX);
        let plan = stack::with_room(stack::to_parse(text), || {
            let parser = Parser::new().max_recursion_depth(depth);
            let (parsed, source) =
                parser.parse_with_source_info(text).map_err(|errors| WhenError::from_parser(&errors))?;
            lower::lower(parsed, &source)
        })??;
        Ok(Self { text: text.to_owned(), plan })
    }

    /// Whether the condition holds for this event.
    ///
    /// An error is no answer. A caller with a rule takes it as "matched", a caller with a hook as a
    /// failure of the hook: neither may take it as "did not match".
    pub fn holds(&self, event: &Event) -> Result<bool, WhenError> {
        run::run(&self.plan, event)
    }

    /// The condition as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}
