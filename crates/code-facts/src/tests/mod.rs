// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests of effects in a compact notation.
//!
//! `?` after an argument: it is partly unknown. `#`: it is a pattern. `!` after an operation: it includes everything
//! below.

mod awk;
mod described;
mod hostile;
mod javascript;
mod literals;
mod lua;
mod other_languages;
mod perl;
mod php;
mod python;
mod ruby;

use super::{CallArgument, CodeEffect, CodeLanguage, read_code};

fn argument(argument: &CallArgument) -> String {
    let CallArgument { shape, known, pattern } = argument;
    format!("{shape}{}{}", if *known { "" } else { "?" }, if *pattern { "#" } else { "" })
}

fn compact(act: &CodeEffect) -> String {
    match act {
        CodeEffect::Shell(text) => format!("shell {}", argument(text)),
        CodeEffect::Start(words) => {
            format!("start {}", words.iter().map(argument).collect::<Vec<_>>().join("|"))
        }
        CodeEffect::File { does, path, recursive } => {
            let does = format!("{does:?}").to_lowercase();
            format!("{does}{} {}", if *recursive { "!" } else { "" }, argument(path))
        }
        CodeEffect::Connect(to) => format!("connect {}", argument(to)),
        CodeEffect::RunsFetched => "runs-fetched".into(),
        CodeEffect::ShellRunsFetched => "shell-runs-fetched".into(),
        CodeEffect::RunsInput => "runs-input".into(),
        CodeEffect::RunsUnknown => "runs-unknown".into(),
        CodeEffect::ReverseShell => "reverse-shell".into(),
        CodeEffect::Unread => "unread".into(),
    }
}

/// Checks all rows and reports all failures together.
fn check(language: &str, table: &[(&str, &str)]) {
    check_language(CodeLanguage::from_name(language).unwrap(), table);
}

fn check_language(language: CodeLanguage, table: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (code, expected) in table {
        let found = read_code(language, code).iter().map(compact).collect::<Vec<_>>().join("; ");
        if found != *expected {
            wrong.push_str(&format!("\n{code}\n  wanted: {expected}\n  found:  {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
