// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_home::{append_rule, make_private_dir, write_atomic};
use tenterhook_policy::{RuleSet, RuleSource, SourceLayer};

use super::from_template;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::GOOD;

const EXAMPLES: &str = "\
With an id, writes a commented rule to policy.yaml in your settings. It matches nothing until you edit it. With \
--from, adds the rules of a template; without an id and a template, lists the templates.

Examples:
  tenterhook rules new no-prod-deploy
  tenterhook rules new no-prod-deploy --print
  tenterhook rules new --list
  tenterhook rules new --from ask-before-deploy
  tenterhook rules new --from host-list --output hosts.yaml   a separate file";

/// Write a commented rule to start from, or rules of a template
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Id of the rule: lower-case letters, digits, `-`, `.`, `_`, `/`
    #[arg(conflicts_with_all = ["from", "list", "force", "output"])]
    id: Option<String>,
    /// Print the rule without writing it
    #[arg(long, requires = "id")]
    print: bool,
    #[command(flatten)]
    template: from_template::TemplateRuleArgs,
}

/// Template for a rule; `ID` is replaced.
const RULE_TEMPLATE: &str = "\
- id: ID
  description: What this rule is for, in one sentence
  severity: medium                 # low, medium, high, critical
  # mode: monitor                  # to only record its verdicts at first
  match:
    # All conditions must hold. More: effect, path, url, package, regex, any, not (docs/guide/policy.md).
    tool: shell
    shell:
      program: [example-program]   # the program, however it is wrapped or called
      words: [deploy]              # these words, in this order
  verdict: deny                    # deny, ask, allow
  reason: Reason, for the agent and the user.
  nudge: what the agent could do instead
  examples:                        # tested whenever the rule is loaded; a rule that fails one is refused
    deny:
      - example-program deploy
      - sudo example-program --fast deploy
    allow:
      - example-program status
";

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let Some(id) = &args.id else { return from_template::run(context, &args.template) };
    let rule = RULE_TEMPLATE.replace("ID", id);
    let fresh = append_rule("policy.yaml", "", &rule, id)?;
    let loaded = RuleSet::load(&[source("policy.yaml", &fresh)]);
    if let Some(problem) = loaded.problems.first() {
        return Err(CommandError::user(&problem.message));
    }
    if args.print {
        context.terminal.print_raw(&fresh, "")?;
        return Ok(ExitCode::SUCCESS);
    }
    let home = context.home()?;
    let path = home.policy();
    let name = path.display().to_string();
    let before = tenterhook_home::regular_file(&path)?.unwrap_or_default();
    let after = append_rule(&name, &before, &rule, id)
        .map_err(|failure| failure.hint(format!("add it by hand: `tenterhook rules new {id} --print`")))?;
    make_private_dir(&home.config)?;
    write_atomic(&path, after.as_bytes(), 0o600)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"id": id, "file": path}))?;
    } else {
        context.terminal.print(&format!(
            "{GOOD}✓{GOOD:#} rule `{id}` added to `{name}`; edit it, then run `tenterhook check`\n"
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn source<'a>(name: &'a str, text: &'a str) -> RuleSource<'a> {
    RuleSource { name, text, layer: SourceLayer::User, trusted: true }
}
