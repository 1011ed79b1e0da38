// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_home::templates::{TEMPLATES, TemplateKind};
use tenterhook_package_source::hook_packages::PackageSource;

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, tame};

const EXAMPLES: &str = "\
Without `--from`, the built-in templates are searched.

Examples:
  tenterhook hooks search format
  tenterhook hooks search --from https://example.com/hooks.git
  tenterhook hooks search secrets --from ../our-hooks";

/// Search published hook packages
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Text in the name, title, description or tags; without it all are listed
    text: Option<String>,
    /// Directory, or URL of a git repository
    #[arg(long, value_name = "DIR|GIT-URL")]
    from: Option<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let word = args.text.as_deref().unwrap_or_default();
    let (commit, found, next): (_, Vec<PublishedHook>, _) = if let Some(from) = &args.from {
        let source = PackageSource::open(from, None)?;
        let matching = source.offers.iter().filter(|offer| offer.mentions(word)).cloned();
        let found = matching.map(|offer| (offer.name, offer.title, offer.about, offer.tags)).collect();
        (source.commit().map(ToOwned::to_owned), found, format!("tenterhook hooks add {} NAME", source.from))
    } else {
        let matching = TEMPLATES.iter().filter(|one| one.kind == TemplateKind::Hook && one.mentions(word));
        let found = matching.map(|one| (one.name.to_owned(), one.title(), one.about(), one.tags())).collect();
        (None, found, "tenterhook hooks new --from NAME".to_owned())
    };
    if context.terminal.json {
        let hooks: Vec<_> = found
            .iter()
            .map(|(name, title, about, tags)| json!({"name": name, "title": title, "about": about, "tags": tags}))
            .collect();
        context.terminal.print_json(&json!({"from": args.from, "commit": commit, "hooks": hooks}))?;
    } else if found.is_empty() {
        context.terminal.print("no matching hook package\n")?;
    } else {
        let mut text = String::new();
        for (name, title, about, tags) in &found {
            let _ = writeln!(text, "{BOLD}{:<26}{BOLD:#} {}", tame(name), tame(title));
            let _ = writeln!(text, "  {}\n  {DIM}{}{DIM:#}", tame(about), tame(&tags.join(", ")));
        }
        let _ = writeln!(text, "\nadd one with `{next}`");
        context.terminal.print(&text)?;
    }
    Ok(if found.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// A package's name, title, description and tags.
type PublishedHook = (String, String, String, Vec<String>);
