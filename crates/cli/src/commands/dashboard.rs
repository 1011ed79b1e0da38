// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::Value;
use tenterhook_command::browser::{has_display, open_browser};

use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM};

const EXAMPLES: &str = "\
The link admits one browser, once, within a minute; its session lasts a day. The dashboard shows everything and can \
deny calls; actions that weaken protection need a code from your authenticator app (`tenterhook approvals totp enroll`).

Examples:
  tenterhook dashboard
  tenterhook dashboard --print
  tenterhook dashboard --json";

/// Open the dashboard in a browser with a one-time link
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print the link and do not open a browser
    #[arg(long)]
    print: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let (home, terminal) = (context.home()?, context.terminal);
    let Some(link) = ask::request(home, "POST", "/v1/dashboard/link", None)? else {
        let error = CommandError::not_found("no daemon is running, so there is no dashboard");
        return Err(error.hint("start one with `tenterhook start`"));
    };
    if terminal.json {
        terminal.print_json(&link)?;
        return Ok(ExitCode::SUCCESS);
    }
    let url = link.get("url").and_then(Value::as_str).unwrap_or_default();
    if !args.print && has_display(&context.env) && open_browser(url) {
        terminal.print("opening the dashboard in your browser\n")?;
    } else {
        terminal.print(&format!("{BOLD}{url}{BOLD:#}\n"))?;
        terminal.eprint(&format!("{DIM}valid once, within a minute{DIM:#}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
