// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Code → what it does, in a compact form.
//!
//! `?` behind an argument: not all of it is known. `#`: it is a pattern. `!` behind a deed: everything below, too.

mod awk;
mod described;
mod hostile;
mod javascript;
mod lua;
mod perl;
mod php;
mod python;
mod ruby;

use super::{Act, Argument, Language, read};

fn argument(argument: &Argument) -> String {
    let Argument { shape, known, pattern } = argument;
    format!("{shape}{}{}", if *known { "" } else { "?" }, if *pattern { "#" } else { "" })
}

fn compact(act: &Act) -> String {
    match act {
        Act::Shell(text) => format!("shell {}", argument(text)),
        Act::Start(words) => format!("start {}", words.iter().map(argument).collect::<Vec<_>>().join("|")),
        Act::File { does, path, recursive } => {
            let does = format!("{does:?}").to_lowercase();
            format!("{does}{} {}", if *recursive { "!" } else { "" }, argument(path))
        }
        Act::Connect(to) => format!("connect {}", argument(to)),
        Act::RunsFetched => "runs-fetched".into(),
        Act::ShellRunsFetched => "shell-runs-fetched".into(),
        Act::RunsInput => "runs-input".into(),
        Act::RunsUnknown => "runs-unknown".into(),
        Act::ReverseShell => "reverse-shell".into(),
        Act::Unread => "unread".into(),
    }
}

/// Checks every row; tells all that fail at once.
fn check(language: &str, table: &[(&str, &str)]) {
    check_language(Language::named(language).unwrap(), table);
}

fn check_language(language: Language, table: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (code, expected) in table {
        let found = read(language, code).iter().map(compact).collect::<Vec<_>>().join("; ");
        if found != *expected {
            wrong.push_str(&format!("\n{code}\n  wanted: {expected}\n  found:  {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
