// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_home::templates::TemplateKind;
use tenterhook_home::trust::sha256;
use tenterhook_home::{Sources, WorkDirs, make_private_dir, regular_file, write_atomic};
use tenterhook_policy::find_weakenings;

use crate::commands::templates::{TemplateArgs, report_written};
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
The rules are tested with their examples, and then appended to policy.yaml in your settings.

Examples:
  tenterhook rules new --list
  tenterhook rules new --from ask-before-deploy
  tenterhook rules new --from host-list --output hosts.yaml   a separate file";

/// Create a rule from a template
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::commands) struct TemplateRuleArgs {
    #[command(flatten)]
    selection: TemplateArgs,
    /// File to write instead of your policy
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(in crate::commands) fn run(context: &Context, args: &TemplateRuleArgs) -> Result<ExitCode, CommandError> {
    let Some(template) = args.selection.template(context, TemplateKind::Rule)? else {
        return Ok(ExitCode::SUCCESS);
    };
    let ids: Vec<String> = template.rule_items().into_iter().map(|(id, _)| id).collect();
    if let Some(path) = &args.output {
        args.selection.require_writable(path)?;
        let path = std::path::absolute(path)?;
        check_rules(context, template.rules())?;
        write_atomic(&path, template.rules().as_bytes(), 0o644)?;
        let next = [
            format!("edit it, then check it: `tenterhook check {}`", path.display()),
            format!("add its directory as a rule pack: `tenterhook rules add {}`", parent_text(&path)),
        ];
        return report_written(context, template, &[path], &next, json!({"rules": ids}));
    }
    let home = context.home()?;
    let path = home.policy();
    let before = regular_file(&path)?.unwrap_or_default();
    let name = path.display().to_string();
    let after =
        if args.selection.force { template.rules().to_owned() } else { template.add_to(&name, &before)? };
    let weakens = check_rules(context, &after)?;
    let replaced = args.selection.force && !before.trim().is_empty();
    if replaced || weakens {
        let detail = json!({"file": path, "template": template.name, "to": sha256(after.as_bytes())});
        confirm::require_confirmation(context, Action::PolicyChange, detail, &args.proof)?;
    }
    make_private_dir(&home.config)?;
    write_atomic(&path, after.as_bytes(), 0o600)?;
    let next = [
        format!("edit `{}`, then run `tenterhook check`", ids.join("`, `")),
        format!("replay the ledger with it: `tenterhook rules backtest {name}`"),
    ];
    report_written(context, template, &[path], &next, json!({"rules": ids}))
}

/// Loads YAML in place of the user's policy. Returns whether the change weakens protection.
fn check_rules(context: &Context, text: &str) -> Result<bool, CommandError> {
    let home = context.home()?;
    let mut sources = Sources::collect(home, &context.env, &WorkDirs::default());
    let name = home.policy().display().to_string();
    let before = sources.load().rules;
    sources.replace_policy(&home.policy(), text);
    let loaded = sources.load();
    if let Some(problem) = loaded.problems.iter().find(|problem| problem.source == name) {
        return Err(CommandError::user(format!("invalid rules: {problem}")));
    }
    let now = tenterhook_home::call_meta::now();
    Ok(!find_weakenings(&before, &loaded.rules, now).is_empty())
}

fn parent_text(path: &std::path::Path) -> String {
    path.parent().unwrap_or(path).display().to_string()
}
