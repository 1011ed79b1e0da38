// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `rules from`: drafts a rule from a command or from a recorded call.

use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::json;
use tenterhook_event::{Decision, Event};
use tenterhook_guard::LedgerHandle;
use tenterhook_guard::rule_draft::similar_calls_rule;
use tenterhook_home::{append_rule, call_meta, make_private_dir, regular_file, write_atomic};
use tenterhook_paths::LinkMap;
use tenterhook_policy::{EvalEnvironment, RuleSet, RuleSource, SourceLayer, rule_yaml};
use tenterhook_records::id_reference::{find_record, is_latest};
use tenterhook_records::recorded::{JsonField as _, RecordedDecision};
use tenterhook_rulebook::command_event;

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::GOOD;

const EXAMPLES: &str = "\
Prints a rule that matches calls like this one: the program with its first words and options, the file, or the host. \
The call is the rule's example, and the rule is loaded and tested before it is printed. With --add, the rule is added \
to your policy.yaml.

Examples:
  tenterhook rules from 'git push --force origin main'
  tenterhook rules from 'terraform apply' --verdict ask --add
  tenterhook rules from last                  the latest call in the ledger
  tenterhook rules from 15                    a record, by number, id or short name";

/// Draft a rule from a command or a recorded call
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A command, or a record: `last`, its number, its id or the short name of a stopped call
    #[arg(value_name = "COMMAND|RECORD")]
    call: String,
    /// What the rule does
    #[arg(long, value_name = "VERDICT", default_value = "deny")]
    verdict: DraftVerdict,
    /// Add the rule to your policy.yaml
    #[arg(long)]
    add: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum DraftVerdict {
    /// Stop such calls
    Deny,
    /// Ask about such calls
    Ask,
}

/// A call from which a rule is drafted.
struct DraftSource {
    event: Event,
    /// Links at the time of a recorded call.
    seen: Option<LinkMap>,
    /// End of the rule's id.
    suffix: String,
}

/// Runs `rules from`.
pub fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let source = find_source(context, &args.call)?;
    let user_home = context.env.home.as_deref().and_then(std::path::Path::to_str);
    let environment =
        EvalEnvironment { home: user_home, seen: source.seen.as_ref(), ..EvalEnvironment::default() };
    let verdict = match args.verdict {
        DraftVerdict::Deny => Decision::Deny,
        DraftVerdict::Ask => Decision::Ask,
    };
    let rule = similar_calls_rule(&source.event, &environment, verdict, &source.suffix)?;
    let (id, yaml) = (rule.text("id").unwrap_or_default(), rule_yaml(&rule));
    // Loading a rule evaluates its examples.
    let fresh = append_rule("policy.yaml", "", &yaml, &id)?;
    let text = RuleSource { name: "policy.yaml", text: &fresh, layer: SourceLayer::User, trusted: true };
    if let Some(problem) = RuleSet::load(&[text]).problems.first() {
        return Err(CommandError::user(format!(
            "no rule can be drafted from this call: {}",
            problem.message
        ))
        .hint("write one: `tenterhook rules new ID`"));
    }
    if !args.add {
        if context.terminal.json {
            context.terminal.print_json(&json!({"id": id, "rule": rule, "yaml": yaml}))?;
        } else {
            context.terminal.print_raw(&yaml, "")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let home = context.home()?;
    let path = home.policy();
    let name = path.display().to_string();
    let before = regular_file(&path)?.unwrap_or_default();
    let after = append_rule(&name, &before, &yaml, &id)?;
    make_private_dir(&home.config)?;
    write_atomic(&path, after.as_bytes(), 0o600)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"id": id, "rule": rule, "yaml": yaml, "file": path}))?;
    } else {
        context.terminal.print(&format!("{GOOD}✓{GOOD:#} rule `{id}` added to `{name}`\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Finds the record that the text names; any other text is a command.
fn find_source(context: &Context, text: &str) -> Result<DraftSource, CommandError> {
    let is_number = text.trim_start_matches('#').parse::<u64>().is_ok();
    let is_one_word = !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric());
    let names_record = is_latest(text) || is_number;
    if names_record || is_one_word && text.chars().any(|letter| letter.is_ascii_digit()) {
        let ledger = LedgerHandle::of(context.home()?);
        let reader = match ledger.reader() {
            Err(failure) if names_record => return Err(failure),
            found => found.ok(),
        };
        let record = reader.map(|reader| find_record(&reader, text)).transpose()?.flatten();
        if let Some(record) = record {
            let RecordedDecision { event, seen, .. } = RecordedDecision::from_record(&record)?;
            return Ok(DraftSource { event, seen: Some(seen), suffix: record.seq.to_string() });
        }
        if names_record {
            return Err(CommandError::not_found(format!("no record `{text}` in the ledger"))
                .hint("`tenterhook ledger query` lists records with their numbers"));
        }
    }
    if text.trim().is_empty() {
        return Err(CommandError::user("the command is empty"));
    }
    let cwd = std::env::current_dir().ok();
    let event = command_event(text, cwd.as_deref().and_then(std::path::Path::to_str), call_meta::now());
    Ok(DraftSource { event, seen: None, suffix: String::new() })
}
