// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Asks the user at the terminal for permissions.

use std::io::BufRead;

use futures_util::future::BoxFuture;
use tenterhook_agent::{PermissionAnswer, PermissionPrompt, PermissionQuestion};
use tenterhook_event::ToolCall;

use crate::terminal::{BOLD, DIM, Terminal, WARN, tame};

/// Permission prompt on the terminal.
pub(super) struct TerminalUser {
    pub(super) terminal: Terminal,
}

impl PermissionPrompt for TerminalUser {
    fn ask<'a>(&'a self, question: &'a PermissionQuestion) -> BoxFuture<'a, PermissionAnswer> {
        let text = question_text(question);
        let terminal = self.terminal;
        Box::pin(async move {
            // The read cannot be cancelled, and the process does not wait for it when it ends.
            let read = tokio::task::spawn_blocking(move || {
                terminal.eprint(&text).ok()?;
                let mut line = String::new();
                std::io::stdin().lock().read_line(&mut line).ok().filter(|read| *read > 0)?;
                Some(line)
            });
            read.await.ok().flatten().map_or(PermissionAnswer::Unavailable, |line| parse_answer(&line))
        })
    }
}

pub(super) fn question_text(question: &PermissionQuestion) -> String {
    let gist = match &question.args {
        serde_json::Value::Null => String::new(),
        args => tame(&ToolCall::new(&question.tool, args.clone()).gist()),
    };
    let why =
        question.reason.as_ref().map(|why| format!("  {WARN}{}{WARN:#}\n", tame(why))).unwrap_or_default();
    let tool = tame(&question.tool);
    format!("{WARN}?{WARN:#} {BOLD}{tool}{BOLD:#} {gist}\n{why}  {DIM}y: allow; n, or a reason: deny{DIM:#} ")
}

pub(super) fn parse_answer(line: &str) -> PermissionAnswer {
    match line.trim() {
        "y" | "Y" | "yes" => PermissionAnswer::Yes,
        "" | "n" | "N" | "no" => PermissionAnswer::No { reason: None },
        why => PermissionAnswer::No { reason: Some(why.to_owned()) },
    }
}
