// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Shows the agent's session page by page. The agent waits while the page is read.

use std::process::Stdio;
use std::time::Duration;

use tenterhook_agent::CancelToken;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::pager::Pager;
use super::stage::{DemoStage, SCRIPT, check_exit, stop_agent};
use crate::commands::agent::stepwise::{QUESTION_END, STEP_END};
use crate::error::CommandError;

/// Pause between two steps on one page.
const STEP_PAUSE: Duration = Duration::from_secs(1);

/// Runs the agent until it ends or `cancel` is triggered.
pub(super) async fn run_session(
    stage: &DemoStage,
    pager: &mut Pager<'_>,
    cancel: &CancelToken,
) -> Result<(), CommandError> {
    let mut command = stage.agent_command(SCRIPT)?;
    command.arg("--stepwise").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = command.spawn()?;
    let (Some(mut input), Some(output)) = (agent.stdin.take(), agent.stdout.take()) else {
        return Err(CommandError::internal("the demo's agent has no standard input or output"));
    };
    let mut lines = BufReader::new(output).lines();
    let mut block = String::new();
    while let Some(line) = cancel.or(lines.next_line()).await.transpose()?.flatten() {
        let reply = match line.as_str() {
            STEP_END => {
                pager.show(&std::mem::take(&mut block)).await?;
                cancel.or(tokio::time::sleep(STEP_PAUSE)).await;
                "\n".to_owned()
            }
            QUESTION_END => {
                let question = std::mem::take(&mut block);
                pager.ask(question.trim_end_matches('\n')).await?.unwrap_or_else(|| "\n".to_owned())
            }
            _ => {
                block += &line;
                block.push('\n');
                continue;
            }
        };
        if cancel.is_cancelled() {
            break;
        }
        input.write_all(reply.as_bytes()).await?;
    }
    if cancel.is_cancelled() {
        stop_agent(&mut agent).await;
        return Ok(());
    }
    pager.show(&block).await?;
    check_exit(agent.wait().await?)
}
