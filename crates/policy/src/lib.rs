// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compiles and evaluates rules about the actions of agents.
//!
//! Rule files are compiled to a [`RuleSet`], `tenterhook-facts` derives [`Facts`] from an event, and [`judge`]
//! evaluates the rules on the facts. Nothing in this crate reads a file, a clock or the environment: callers pass
//! those values in.
//!
//! ```
//! use tenterhook_event::{Decision, Event, EventId, EventKind, Timestamp, ToolCall};
//! use tenterhook_policy::{RuleSet, SessionState, EvalEnvironment, facts, judge};
//!
//! let loaded = RuleSet::baseline();
//! assert!(loaded.problems.is_empty());
//!
//! let (id, now) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
//! let mut event = Event::new(id, now, "claude-code", EventKind::PreTool, "PreToolUse");
//! event.cwd = Some("/home/ada/engine".into());
//! event.tool = Some(ToolCall::new("Bash", serde_json::json!({"command": "cd .. && sudo rm -fr ."})));
//!
//! let facts = facts(&event, &EvalEnvironment { home: Some("/home/ada"), ..EvalEnvironment::default() });
//! let judgement = judge(&event, &facts, &SessionState::default(), &loaded.rules);
//! assert_eq!(judgement.findings[0].by.to_string(), "rule:recursive-delete");
//! assert_eq!(judgement.findings[0].decision, Decision::Deny);
//! ```
//!
//! A rule that cannot be used is reported as a [`Problem`] with its place in the file; the other rules stay active.
//! Shell commands are parsed, not searched as text: see [`tenterhook_facts::ShellCommand`] for the parsed form and
//! [`tenterhook_facts::UnreadText`] for text that could not be parsed.

mod budget;
mod compile;
mod compiled;
mod conditions;
mod error;
mod examples;
mod fnv;
mod index;
mod judge;
mod load;
mod page;
mod path_rule;
mod prices;
mod rule;
#[cfg(feature = "schema")]
mod schema;
mod source;
mod state;
mod weakening;
mod write;

pub use budget::{DailySpend, ReportedUsage, SpendTotals};
pub use compile::{LoadMode, LoadedRules, RuleSet, compile_packs};
pub use compiled::{CompiledRules, RuleBytes};
pub use judge::{PolicyJudgement, RuleNote, SHELL_ENVIRONMENT_LABEL, explain, judge};
pub use page::{RulePage, rule_pages};
pub use path_rule::{PathRule, RuleAboutPaths};
pub use prices::{ModelPrice, Money, PriceTable};
pub use rule::{Rule, RuleMode, Severity};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use source::{BuiltInPack, RuleSettings, RuleSource, SourceLayer};
pub use state::{
    FileOrigin, FlaggedFile, MAX_COUNTED_MATCHES, MAX_LABELS, SessionFileChange, SessionState,
    ShellStatement, StateDelta, TreeOrigin,
};
pub use tenterhook_document::Problem;
pub use tenterhook_facts::{EvalEnvironment, Facts, FileOp, PathLocation, facts};
pub use tenterhook_programs::{CommandSummary, Programs, UserProgram, UserProgramFile};
pub use weakening::{WeakenedSubject, Weakening, WeakeningKind, find_weakenings};
pub use write::rule_yaml;

#[cfg(test)]
mod tests;
