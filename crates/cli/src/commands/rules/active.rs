// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_home::{RuleOverview, SourceFile, Sources, WorkDirs, trust::Standing};
use tenterhook_policy::{Programs, Rule};

use super::list::fleet_policy_text;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, BOLD, DIM, WARN, style_of, tame};

const EXAMPLES: &str = "\
Rules are shown with the layer and the file they come from. Marks: `monitored` (monitor mode: only recorded), \
`locked` (no lower layer can turn it off), `off` (you disabled it), `expired`, `can be overridden by …`.

Examples:
  tenterhook rules list --active
  tenterhook rules show recursive-delete
  tenterhook rules list --active --json";

/// Show the active rules, layer by layer
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::commands) struct Args {
    /// Only this rule, in full
    #[arg(value_name = "RULE")]
    rule: Option<String>,
}

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let sources =
        Sources::collect(context.home()?, &context.env, &WorkDirs::at(std::env::current_dir().ok()));
    let view = RuleOverview::new(&sources, tenterhook_home::call_meta::now());
    if let Some(id) = &args.rule {
        let Some(rule) = view.all.rule(id) else {
            return Err(CommandError::user(format!("unknown rule `{id}`"))
                .hint("run `tenterhook rules list --active` or `tenterhook rules search`"));
        };
        let text = sources.texts.iter().find(|text| text.name == rule.source());
        if context.terminal.json {
            context.terminal.print_json(&view.rule_view(rule))?;
        } else {
            context.terminal.print(&rule_text(&view, rule, text))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if context.terminal.json {
        let (layers, rules, warnings) = (view.layers(), view.rules(), view.warnings());
        let mut all =
            json!({"layers": layers, "rules": rules, "problems": view.problems, "warnings": warnings});
        let programs = view.in_force.programs().map(Programs::user_files).unwrap_or_default();
        if let Some(all) = all.as_object_mut().filter(|_| !programs.is_empty()) {
            all.insert("programs".to_owned(), json!(programs));
        }
        context.terminal.print_json(&all)?;
    } else {
        let policy = fleet_policy_text(context, view.sources)?;
        context.terminal.print(&(all_rules_text(&view) + &policy))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn all_rules_text(view: &RuleOverview<'_>) -> String {
    let mut text = String::new();
    for part in &view.sources.texts {
        let _ = write!(text, "{BOLD}{}{BOLD:#} {DIM}{}{DIM:#}", part.layer, tame(&part.name));
        if let Some(pack) = &part.pack {
            let _ = write!(text, " {DIM}(pack {pack}){DIM:#}");
        }
        match part.standing {
            Standing::Trusted => {}
            standing => {
                let _ = write!(text, " {BAD}{}{BAD:#}: only its denies and asks count", standing.word());
            }
        }
        text.push('\n');
        for rule in view.all.rules().filter(|rule| rule.source() == part.name) {
            let style = style_of(rule.verdict());
            let _ = write!(
                text,
                "  {style}{:<5}{style:#} {:<34} {DIM}{:<8} :{}{DIM:#}",
                rule.verdict(),
                rule.id(),
                rule.severity(),
                rule.line()
            );
            let marks = view.marks(rule);
            let _ = if marks.is_empty() {
                writeln!(text)
            } else {
                writeln!(text, "  {WARN}{}{WARN:#}", marks.join("; "))
            };
        }
    }
    for file in view.in_force.programs().map(Programs::user_files).unwrap_or_default() {
        let layer = view.sources.programs.iter().find(|text| text.name == file.source);
        let layer = layer.map_or("user", |text| text.layer.name());
        let names: Vec<_> = file.programs.iter().map(|program| program.names.join(", ")).collect();
        let _ = writeln!(text, "{BOLD}{layer}{BOLD:#} {DIM}{}{DIM:#}", tame(&file.source));
        let _ = writeln!(text, "  describes {}", tame(&names.join("; ")));
    }
    let (rules, problems) = (view.in_force.rules().count(), view.problems);
    let _ = writeln!(text, "\n{rules} rules active");
    if problems > 0 {
        let _ = writeln!(text, "{BAD}{problems} problems{BAD:#}: run `tenterhook check`");
    }
    text
}

/// Formats one rule with its YAML.
fn rule_text(view: &RuleOverview<'_>, rule: &Rule, part: Option<&SourceFile>) -> String {
    let style = style_of(rule.verdict());
    let mut text = format!(
        "{BOLD}{}{BOLD:#}  {style}{}{style:#} {DIM}{} · {} · {} · {}:{}{DIM:#}\n",
        rule.id(),
        rule.verdict(),
        rule.severity(),
        rule.mode(),
        rule.layer(),
        tame(rule.source()),
        rule.line()
    );
    for mark in view.marks(rule) {
        let _ = writeln!(text, "  {WARN}{mark}{WARN:#}");
    }
    for line in part.map(|part| part.rule_lines(rule.line())).unwrap_or_default() {
        let _ = writeln!(text, "  {DIM}│{DIM:#} {}", tame(line));
    }
    text
}
