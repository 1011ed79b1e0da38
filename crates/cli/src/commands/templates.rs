// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Templates of hooks and rules, for `hooks new` and `rules new`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_api::TemplateList;
use tenterhook_home::templates::{TEMPLATES, Template, TemplateKind as Kind, find, kind_word};

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, GOOD};

/// Options that select a template.
#[derive(Debug, clap::Args)]
pub(super) struct TemplateArgs {
    /// Template; without it all are listed
    #[arg(long, value_name = "TEMPLATE")]
    pub(super) from: Option<String>,
    /// List the templates
    #[arg(long, conflicts_with = "from")]
    pub(super) list: bool,
    /// Overwrite existing files
    #[arg(long)]
    pub(super) force: bool,
}

impl TemplateArgs {
    /// Returns the named template; `None` if the templates were listed instead.
    pub(super) fn template(
        &self,
        context: &Context,
        kind: Kind,
    ) -> Result<Option<&'static Template>, CommandError> {
        match &self.from {
            Some(name) => find(kind, name).map(Some),
            None => list_templates(context, kind).map(|()| None),
        }
    }

    /// Fails if the file exists and `--force` is not given.
    pub(super) fn require_writable(&self, path: &Path) -> Result<(), CommandError> {
        if self.force || path.symlink_metadata().is_err() {
            return Ok(());
        }
        Err(CommandError::user(format!("`{}` already exists", path.display()))
            .hint("choose another path with `--output`, or overwrite it with `--force`"))
    }
}

fn list_templates(context: &Context, kind: Kind) -> Result<(), CommandError> {
    let all = TEMPLATES.iter().filter(|template| template.kind == kind);
    if context.terminal.json {
        let templates = all.map(Template::info).collect();
        return context.terminal.print_json(&TemplateList { templates });
    }
    let mut text = String::new();
    for template in all {
        let _ = writeln!(text, "{BOLD}{:<26}{BOLD:#} {}", template.name, template.title());
        let _ = writeln!(text, "{:<26} {DIM}{}{DIM:#}", "", template.tags().join(", "));
    }
    let _ = writeln!(text, "\ncreate one with `tenterhook {}s new --from TEMPLATE`", kind_word(kind));
    context.terminal.print(&text)
}

/// Reports the written files and the next steps.
pub(super) fn report_written(
    context: &Context,
    template: &Template,
    files: &[PathBuf],
    next: &[String],
    more: Value,
) -> Result<ExitCode, CommandError> {
    if context.terminal.json {
        let mut answer = json!({"kind": kind_word(template.kind), "template": template.name, "files": files, "next": next});
        if let (Some(answer), Value::Object(more)) = (answer.as_object_mut(), more) {
            answer.extend(more);
        }
        context.terminal.print_json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for file in files {
        let _ = writeln!(text, "{GOOD}✓{GOOD:#} wrote {}", file.display());
    }
    for step in next {
        let _ = writeln!(text, "  {DIM}→{DIM:#} {step}");
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}
