// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::hook_packages::{self, PackageEntry, PackageList};
use tenterhook_home::templates::TemplateKind;
use tenterhook_home::write_atomic;

use super::package_environment;
use crate::commands::templates::{TemplateArgs, report_written};
use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
The hook is a directory: `hook.yaml` defines when it runs, and the other files are the programs it runs. It runs \
once you trust it, and no longer if one of its files changes.

Examples:
  tenterhook hooks new --list
  tenterhook hooks new --from env-guard               in hooks/ of your settings
  tenterhook hooks new --from env-guard --name keys   with another name
  tenterhook hooks new --from env-guard --output ./guard";

/// Create a hook from a template
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::commands) struct Args {
    #[command(flatten)]
    selection: TemplateArgs,
    /// Name of the hook [default: the template's name]
    #[arg(long)]
    name: Option<String>,
    /// Directory to write instead of one in your settings
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let Some(template) = args.selection.template(context, TemplateKind::Hook)? else {
        return Ok(ExitCode::SUCCESS);
    };
    let name = args.name.as_deref().unwrap_or(template.name);
    hook_packages::check_name(name)?;
    let files = template.package(name);
    let paths_in = |dir: &PathBuf| files.keys().map(|file| dir.join(file)).collect::<Vec<_>>();
    if let Some(dir) = &args.output {
        let dir = std::path::absolute(dir)?;
        paths_in(&dir).iter().try_for_each(|path| args.selection.require_writable(path))?;
        hook_packages::check(&dir, &files, &package_environment(context)?)?;
        fs_err::create_dir_all(&dir)?;
        for (file, text) in &files {
            write_atomic(&dir.join(file), text.as_bytes(), 0o644)?;
        }
        let next = [format!("edit it, then run `tenterhook hooks add {} {name}`", dir.display())];
        return report_written(
            context,
            template,
            &paths_in(&dir),
            &next,
            json!({"name": name, "trusted": false}),
        );
    }
    let home = context.home()?;
    let mut list = PackageList::read_for_update(home)?;
    let dir = home.hook_packages().join(name);
    // An untrusted hook must not overwrite a trusted hook, because that would disable the trusted hook.
    if list.find(name).is_some_and(|package| package.trusted) {
        return Err(CommandError::user(format!("a trusted hook `{name}` already exists"))
            .hint("choose another name with `--name NAME`, or remove it first: `tenterhook hooks remove`"));
    }
    paths_in(&dir).iter().try_for_each(|path| args.selection.require_writable(path))?;
    hook_packages::check(&dir, &files, &package_environment(context)?)?;
    let package = PackageEntry::new(name, &format!("template {}", template.name), None, &files);
    LedgerHandle::of(home).record_change(
        "hooks add",
        json!({"kit": package, "sha256": hook_packages::digest(&package.files)}),
    )?;
    hook_packages::write(home, name, &files)?;
    list.put(package);
    list.write(home)?;
    let next = [
        "edit it: `hook.yaml` defines when it runs, the other files what it does".to_owned(),
        format!("test it: `tenterhook hooks test {name}`"),
        format!("trust it: `tenterhook hooks trust {name}`"),
    ];
    report_written(context, template, &paths_in(&dir), &next, json!({"name": name, "trusted": false}))
}
