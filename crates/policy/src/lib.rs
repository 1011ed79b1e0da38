// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rules on what an agent is about to do.
//!
//! Rule files become a [`RuleSet`], `tenterhook-facts` makes [`Facts`] of an event, and [`judge`] puts the two
//! together. Nothing here reads a file, a clock or the environment: whoever calls passes it in.
//!
//! ```
//! use tenterhook_event::{Decision, Event, EventId, EventKind, Timestamp, ToolCall};
//! use tenterhook_policy::{RuleSet, SessionState, Surroundings, facts, judge};
//!
//! let loaded = RuleSet::baseline();
//! assert!(loaded.problems.is_empty());
//!
//! let (id, now) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
//! let mut event = Event::new(id, now, "claude-code", EventKind::PreTool, "PreToolUse");
//! event.cwd = Some("/home/ada/engine".into());
//! event.tool = Some(ToolCall::new("Bash", serde_json::json!({"command": "cd .. && sudo rm -fr ."})));
//!
//! let facts = facts(&event, &Surroundings { home: Some("/home/ada"), ..Surroundings::default() });
//! let judgement = judge(&event, &facts, &SessionState::default(), &loaded.rules);
//! assert_eq!(judgement.findings[0].by.to_string(), "rule:recursive-delete");
//! assert_eq!(judgement.findings[0].decision, Decision::Deny);
//! ```
//!
//! A rule that cannot be used is refused alone, as a [`Problem`] with its place in the file.
//! Shell is parsed, not searched: see [`tenterhook_facts::ShellCommand`] for what is made of it, and
//! [`tenterhook_facts::Unread`] for what happens to a text that is not understood.

mod budget;
mod compile;
mod compiled;
mod conditions;
mod examples;
mod fnv;
mod index;
mod judge;
mod load;
mod prices;
mod rule;
#[cfg(feature = "schema")]
mod schema;
mod source;
mod state;
mod write;

pub use budget::{Reported, Spending, Spent};
pub use compile::{LoadMode, Loaded, RuleSet, compile_packs};
pub use compiled::{CompiledRules, RuleBytes};
pub use judge::{Judgement, RuleNote, explain, judge};
pub use prices::{Money, Price, Prices};
pub use rule::{Mode, Rule, Severity};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use source::{Choices, Layer, Pack, Source};
pub use state::{MOST_LABELS, MOST_STAMPS, SessionState, StateDelta};
pub use tenterhook_document::Problem;
pub use tenterhook_facts::{Facts, Surroundings, facts};
pub use tenterhook_programs::{CommandSummary, OwnFile, OwnProgram, Programs};
pub use write::rule_yaml;

#[cfg(test)]
mod tests;
