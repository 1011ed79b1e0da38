// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the sandbox of a run refused: a count at the end, or a proposed profile.

use std::path::PathBuf;

use tenterhook_home::Home;
use tenterhook_sandbox::{ProfileProposal, RefusedAccess};
use tenterhook_sandbox_run::SandboxPlan;

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, WARN, tame};

/// Maximum number of paths that a list names.
const MAX_LISTED_PATHS: usize = 10;

/// What a proposal depends on.
pub(super) struct ProposalSite {
    profile: String,
    home: PathBuf,
}

impl ProposalSite {
    pub(super) fn of(plan: &SandboxPlan) -> Self {
        Self { profile: plan.profile.profile.clone(), home: plan.roots.home.clone() }
    }
}

/// Prints how many accesses were refused, and the first one.
pub(super) fn print_count(
    context: &Context,
    site: &ProposalSite,
    refused: &[RefusedAccess],
) -> Result<(), CommandError> {
    let Some(first) = refused.first() else { return Ok(()) };
    let path = tame(&short(&first.path, site));
    let by = first.protected_by.as_deref().map(|rule| format!(" (`{rule}`)")).unwrap_or_default();
    let (count, noun) = (refused.len(), if refused.len() == 1 { "access" } else { "accesses" });
    let text = format!(
        "the sandbox refused {count} {noun}, for example: {} `{path}`{by}\n\
         {DIM}list them with `tenterhook ledger query --tool SandboxRefusal`; `--learn` proposes a profile{DIM:#}",
        first.operation.name()
    );
    context.terminal.eprint(&format!("{WARN}note{WARN:#}: {text}\n"))
}

/// Prints a proposed profile as a diff, and what is not proposed.
pub(super) fn print_proposal(
    context: &Context,
    home: &Home,
    site: &ProposalSite,
    refused: &[RefusedAccess],
) -> Result<(), CommandError> {
    let proposal = ProfileProposal::derive(refused, &site.home);
    if context.terminal.json {
        // Standard output belongs to the command.
        let text = serde_json::to_string(&proposal).unwrap_or_default();
        return context.terminal.eprint(&(text + "\n"));
    }
    let mut text = String::new();
    if proposal.is_empty() {
        text += &format!("profile `{}` is enough for this run\n", site.profile);
    } else {
        let name = if site.profile == "default" { "mine" } else { site.profile.as_str() };
        let file = home.config.join("sandbox").join(format!("{name}-learned.yaml"));
        text += &format!("{BOLD}proposed profile{BOLD:#} ({})\n", tame(&short(&file, site)));
        for line in proposal.to_diff(&site.profile).lines() {
            text += &format!("{}\n", tame(line));
        }
        text += &format!(
            "{DIM}read each line before you save it: a run may write to everything that is listed; \
             use it with `--profile {name}-learned`{DIM:#}\n"
        );
    }
    let protected = proposal.protected.iter().map(|(path, rule)| format!("{} ({rule})", short(path, site)));
    text += &list("not proposed, because a rule protects it", protected.collect());
    let outside = proposal.outside.iter().map(|path| short(path, site));
    text += &list("not proposed, because it is outside the home directory", outside.collect());
    context.terminal.eprint(&text)
}

fn list(title: &str, paths: Vec<String>) -> String {
    if paths.is_empty() {
        return String::new();
    }
    let more = paths.len().saturating_sub(MAX_LISTED_PATHS);
    let mut text = format!("{title}:\n");
    for path in paths.into_iter().take(MAX_LISTED_PATHS) {
        text += &format!("  {}\n", tame(&path));
    }
    if more > 0 {
        text += &format!("  {DIM}and {more} more{DIM:#}\n");
    }
    text
}

fn short(path: &std::path::Path, site: &ProposalSite) -> String {
    match path.strip_prefix(&site.home) {
        Ok(rest) if !rest.as_os_str().is_empty() => format!("~/{}", rest.display()),
        _ => path.display().to_string(),
    }
}
