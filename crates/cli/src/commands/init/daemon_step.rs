// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::json;
use tenterhook_daemon_control::service::InitSystem;

use super::step::{InitSite, InitStep, StepChoice, StepPlan, StepReport, UserChoice};
use crate::ask;
use crate::commands::daemon::serve::DaemonArgs;
use crate::commands::daemon::service::{service_path, start_service};
use crate::commands::daemon::start::launch_daemon;
use crate::error::CommandError;
use crate::terminal::GOOD;

const SERVICE: &str = "service";
const BACKGROUND: &str = "background";
const NO_DAEMON: &str = "none";

/// Starts the daemon.
pub(super) struct DaemonStep;

impl InitStep for DaemonStep {
    fn name(&self) -> &'static str {
        "daemon"
    }

    fn title(&self) -> &'static str {
        "start the daemon"
    }

    fn plan(&self, site: &InitSite<'_>) -> Result<StepPlan, CommandError> {
        let is_up = ask::is_up(site.home);
        if is_up {
            let line = format!("{GOOD}✓{GOOD:#} the daemon is running");
            return Ok(StepPlan { found: vec![line], is_finished: true, ..StepPlan::default() });
        }
        let has_manager = InitSystem::of_platform().is_available(&site.context.env);
        let mut choices = Vec::new();
        if has_manager {
            let note = format!("  {}", site.abbreviate_home(&service_path(site.context)?));
            let label = "as a service: at every login, restarted after a crash";
            choices.push(StepChoice { note, is_default: true, ..StepChoice::new(SERVICE, label) });
        }
        let label = "in the background, until the machine restarts";
        choices.push(StepChoice { is_default: !has_manager, ..StepChoice::new(BACKGROUND, label) });
        let label = "not at all: hooks evaluate the rules themselves";
        choices.push(StepChoice { is_done: true, ..StepChoice::new(NO_DAEMON, label) });
        let found = [
            "Hooks work without a daemon. With it they are faster, calls can wait for",
            "your approval, and there is a dashboard.",
        ];
        Ok(StepPlan {
            found: found.map(ToOwned::to_owned).into(),
            question: "How should it run?",
            choices,
            is_single: true,
            is_finished: false,
        })
    }

    fn apply(&self, site: &InitSite<'_>, chosen: &[UserChoice]) -> Result<StepReport, CommandError> {
        let how = chosen.first().map_or(NO_DAEMON, |item| item.id);
        let detail = json!({"how": how});
        match how {
            SERVICE => {
                let service = start_service(site.context)?;
                let line =
                    format!("{GOOD}✓{GOOD:#} the daemon is running: {}", site.abbreviate_home(&service.path));
                Ok(StepReport::line(line).with_detail(detail))
            }
            BACKGROUND => {
                launch_daemon(site.context, site.home, &DaemonArgs::default())?;
                Ok(StepReport::line(format!("{GOOD}✓{GOOD:#} the daemon is running")).with_detail(detail))
            }
            _ => Ok(StepReport::line("no daemon was started").with_detail(detail)),
        }
    }
}
