// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs every command in the README, the guides and the SDKs' READMEs in the order of the page, with a temporary home
//! directory. `guides/pages.rs` describes what each page needs, and why a command is not run.

mod links;
mod markdown;
mod output;
mod pages;
mod reader;

use std::path::PathBuf;

use crate::context::repository;
use markdown::Step;
use pages::{NOT_RUN_ON_ANY_PAGE, PAGES, Page, Replacement};
use reader::Reader;

fn text_of(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Runs all commands of a page in order.
fn follow(page: &Page) {
    let mut reader = Reader::new();
    (page.setup)(&mut reader);
    let (mut problems, mut used, mut before) = (Vec::new(), Vec::new(), page.before.to_vec());
    for step in markdown::steps(&text_of(page.path), page.files) {
        match step {
            Step::File { path, text } => reader.write(&path, &text),
            Step::Command { line, text, output } => {
                if let Some(next) = before.iter().position(|(start, _)| text.starts_with(start)) {
                    before.remove(next).1(&mut reader);
                }
                let instead =
                    page.instead.iter().chain(NOT_RUN_ON_ANY_PAGE).find(|(start, _)| text.starts_with(start));
                used.extend(instead.map(|(start, _)| *start));
                let problem = run(&reader, page, &text, output.as_deref(), instead.map(|(_, how)| how));
                problems.extend(problem.map(|problem| format!("{}:{line}: `{text}`: {problem}", page.path)));
            }
        }
    }
    let unused = page.instead.iter().filter(|(start, _)| !used.contains(start));
    let unused = unused.map(|(start, _)| start).chain(before.iter().map(|(start, _)| start));
    problems.extend(unused.map(|start| format!("{}: no command starts with `{start}`", page.path)));
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n\n"));
}

/// Runs one command. Returns a description of the problem, if there is one.
fn run(
    reader: &Reader,
    page: &Page,
    text: &str,
    output: Option<&str>,
    instead: Option<&Replacement>,
) -> Option<String> {
    let (keys, exit) = match instead {
        Some(Replacement::NotRun(_) | Replacement::Test(_)) => return None,
        Some(Replacement::Keys(keys)) => (Some(*keys), None),
        Some(Replacement::Exit(code)) => (None, Some(*code)),
        None => (None, Some(0)),
    };
    let (mut text, mut output) = (text.to_owned(), output.map(ToOwned::to_owned));
    for (shown, value) in page.values {
        if !text.contains(shown) && !output.as_ref().is_some_and(|output| output.contains(shown)) {
            continue;
        }
        let value = value(reader);
        text = text.replace(shown, &value);
        output = output.map(|output| output.replace(shown, &value));
    }
    let ran = reader.run(&text, keys);
    if std::env::var_os("TENTERHOOK_SHOW_GUIDES").is_some() {
        eprintln!("$ {text}\n{}[{}]", ran.output, ran.exit);
    }
    if exit.is_some_and(|exit| exit != ran.exit) {
        return Some(format!("exit code {}\n{}", ran.exit, ran.output));
    }
    let shown = output?;
    (!output::matches(&shown, &ran.output))
        .then(|| format!("the page shows\n{shown}and it prints\n{}", ran.output))
}

/// The pages whose commands are run: the README, the guides, the release page and the SDKs' READMEs.
fn pages_with_commands() -> Vec<String> {
    let guides = std::fs::read_dir(repository().join("docs/guide")).unwrap();
    let guides = guides.map(|entry| format!("docs/guide/{}", entry.unwrap().file_name().to_str().unwrap()));
    let others = ["README.md", "docs/RELEASING.md", "sdk/python/README.md", "sdk/typescript/README.md"];
    let pages = guides.chain(others.map(ToOwned::to_owned));
    let has_commands = |path: &String| {
        markdown::blocks(&text_of(path)).iter().any(|block| ["sh", "console"].contains(&block.language))
    };
    pages.filter(has_commands).collect()
}

#[test]
fn every_page_with_commands_is_followed() {
    for path in pages_with_commands() {
        let rows = PAGES.iter().filter(|page| page.path == path).count();
        assert_eq!(
            rows, 1,
            "`{path}` shows commands: give it a row in tests/suite/guides/pages.rs, and a test"
        );
    }
    // Each page is a separate test, so that they run in parallel.
    let own = include_str!("guides.rs");
    for page in PAGES {
        assert!(own.contains(&format!("\"{}\" =>", page.path)), "`{}` has no test in guides.rs", page.path);
    }
}

#[test]
fn every_reason_not_to_run_a_command_is_given() {
    for (start, how) in PAGES.iter().flat_map(|page| page.instead).chain(NOT_RUN_ON_ANY_PAGE) {
        match how {
            Replacement::NotRun(reason) => assert!(reason.len() > 10, "{start}: {reason}"),
            Replacement::Test(test) => {
                let (path, name) = test.split_once("::").unwrap();
                let file: PathBuf = repository().join(path);
                let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}"));
                assert!(text.contains(name), "{start}: `{path}` has no `{name}`");
            }
            Replacement::Keys(_) | Replacement::Exit(_) => {}
        }
    }
}

macro_rules! follow {
    ($($path:literal => $name:ident,)*) => {
        $(#[test]
        fn $name() {
            follow(PAGES.iter().find(|page| page.path == $path).unwrap());
        })*
    };
}

follow! {
    "README.md" => readme,
    "docs/RELEASING.md" => releasing,
    "docs/guide/agent.md" => agent,
    "docs/guide/allow.md" => allow,
    "docs/guide/approvals.md" => approvals,
    "docs/guide/audit.md" => audit,
    "docs/guide/daemon.md" => daemon,
    "docs/guide/dashboard.md" => dashboard,
    "docs/guide/faq.md" => faq,
    "docs/guide/getting-started.md" => getting_started,
    "docs/guide/install.md" => install,
    "docs/guide/ledger.md" => ledger,
    "docs/guide/migrating.md" => migrating,
    "docs/guide/platforms.md" => platforms,
    "docs/guide/run.md" => guarded_run,
    "docs/guide/sandbox.md" => sandbox,
    "docs/guide/policy.md" => policy,
    "docs/guide/programs.md" => programs,
    "docs/guide/sdk-python.md" => sdk_python,
    "docs/guide/sdk-typescript.md" => sdk_typescript,
    "docs/guide/sessions.md" => sessions,
    "docs/guide/templates.md" => templates,
    "docs/guide/troubleshooting.md" => troubleshooting,
    "docs/guide/tui.md" => tui,
    "docs/guide/sandbox-network.md" => sandbox_network,
    "docs/guide/undo.md" => undo,
    "docs/guide/writing-hooks.md" => writing_hooks,
    "docs/guide/your-agent.md" => your_agent,
    "sdk/python/README.md" => sdk_python_readme,
}
