// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The demo on a terminal: its pages, its keys, and what remains when it ends.

use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal};

use crate::context::TestContext;
use crate::terminal_user::{terminal, until};
use crate::tui_screen::Screen;

const NEXT_PAGE: &str = "any key: next page";
const QUESTION: &str = "y: allow";
const LAST_PAGE: &str = "q: end";

/// Every process whose command line contains this text.
fn processes_with(text: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let words = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).ok();
    let lines = all.filter_map(words).map(|words| String::from_utf8_lossy(&words).replace('\0', " "));
    lines.filter(|line| line.contains(text)).collect()
}

#[test]
fn ctrl_c_ends_the_demo_with_its_daemon_and_leaves_nothing() {
    let test = TestContext::new();
    let tmp = test.path("tmp");
    std::fs::create_dir(&tmp).unwrap();
    let (mut master, slave) = terminal();
    let mut command = test.command(Path::new(env!("CARGO_BIN_EXE_tenterhook")), &["demo"]);
    command.env("TMPDIR", &tmp).stdin(Stdio::null()).stdout(slave).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // The command holds the terminal's other end open, so it is dropped before the test reads to the end.
    drop(command);
    let mut text = String::new();
    until("the agent works", || {
        let mut room = [0; 4096];
        let count = master.read(&mut room).unwrap_or(0);
        text += &String::from_utf8_lossy(&room[..count]);
        text.contains("First I read the issue.").then_some(())
    });
    let tmp = tmp.to_str().unwrap();
    let at_work = processes_with(tmp);
    for part in [" serve ", " agent run "] {
        assert!(at_work.iter().any(|line| line.contains(part)), "`{part}` is not in {at_work:?}");
    }
    rustix::process::kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    // The remaining output must be read, or the program blocks.
    let reader = std::thread::spawn(move || drop(master.read_to_end(&mut Vec::new())));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    reader.join().unwrap();
    assert_eq!(processes_with(tmp), [""; 0], "no process is left");
    assert_eq!(std::fs::read_dir(tmp).unwrap().count(), 0, "no file is left");
    assert!(std::fs::read_dir(test.home()).unwrap().next().is_none(), "the home is untouched");
}

/// A directory for the demo's files, which must be empty afterwards.
fn temporary_directory(test: &TestContext) -> String {
    let tmp = test.path("tmp");
    std::fs::create_dir(&tmp).unwrap();
    tmp.to_str().unwrap().to_owned()
}

fn assert_nothing_is_left(test: &TestContext, tmp: &str) {
    assert_eq!(processes_with(tmp), [""; 0], "no process is left");
    assert_eq!(std::fs::read_dir(tmp).unwrap().count(), 0, "no file is left");
    assert!(std::fs::read_dir(test.home()).unwrap().next().is_none(), "the state directory is untouched");
}

/// Pages written to the terminal, without colours, each up to the point where the cursor returns to the top.
fn pages(screen: &Screen) -> Vec<String> {
    let written = String::from_utf8_lossy(&screen.written_bytes()).replace("\r\n", "\n");
    let pages = written.split("\u{1b}[H").skip(1);
    pages.map(|page| anstream::adapter::strip_str(page).to_string().trim_end().to_owned()).collect()
}

/// Links on the screen, each on its own line.
fn links(screen: &Screen) -> Vec<String> {
    let seen = screen.content();
    seen.lines().filter(|line| line.starts_with("http://")).map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn each_page_fits_on_a_small_terminal_and_a_new_link_is_made_when_asked_for() {
    let test = TestContext::new();
    let tmp = temporary_directory(&test);
    let variables = [("TMPDIR", tmp.as_str()), ("NO_COLOR", "1")];
    let Some(screen) = Screen::start(&test, &["demo"], &variables) else { return };
    let mut asked = false;
    loop {
        screen.wait_until("a page ends", |seen| {
            [NEXT_PAGE, LAST_PAGE].iter().any(|end| seen.contains(end)) || (!asked && seen.contains(QUESTION))
        });
        let seen = screen.content();
        if seen.contains(LAST_PAGE) {
            break;
        }
        if seen.contains(NEXT_PAGE) {
            screen.press(&["Space"]);
            screen.wait_until("the page is turned", |now| now.lines().next() != seen.lines().next());
        } else {
            asked = true;
            screen.type_text("y");
            screen.press(&["Enter"]);
        }
    }
    let pages = pages(&screen);
    assert!((4..=8).contains(&pages.len()), "{} pages", pages.len());
    for page in &pages {
        let lines: Vec<&str> = page.trim_end_matches('\n').split('\n').collect();
        assert!(lines.len() <= 24, "{} lines:\n{page}", lines.len());
        for line in lines {
            // The line with the prompt is overwritten with blanks.
            let shown = line.rsplit('\r').next().unwrap_or_default();
            assert!(shown.chars().count() <= 80, "`{shown}` wraps");
        }
    }
    let all = pages.concat();
    for part in [
        "✗ denied [recursive-delete]",
        "✗ denied [git-force-push-shared]",
        "✗ denied [credential-read]",
        "deployed to staging",
        "≡ compacted",
        "records match the signature",
        "explain --command 'rm -rf ~/'",
    ] {
        assert!(all.contains(part), "`{part}` is not in\n{all}");
    }
    assert!(!String::from_utf8_lossy(&screen.written_bytes()).contains("\u{1b}[1m"), "NO_COLOR is set");
    for number in 1..=2 {
        screen.press(&["d"]);
        screen.wait_until("a link", |_| links(&screen).len() == number);
    }
    let links = links(&screen);
    assert_ne!(links[0], links[1]);
    assert!(links.iter().all(|link| link.len() <= 80 && link.split_once("/#link=").unwrap().1.len() == 43));
    screen.press(&["q"]);
    screen.shows("ended 0");
    assert_nothing_is_left(&test, &tmp);
}

#[test]
fn ctrl_c_on_a_page_ends_the_demo_and_restores_the_terminal() {
    let test = TestContext::new();
    let tmp = temporary_directory(&test);
    let Some(screen) = Screen::start(&test, &["demo"], &[("TMPDIR", tmp.as_str())]) else { return };
    screen.shows(NEXT_PAGE);
    screen.press(&["C-c"]);
    screen.shows("ended 130");
    screen.wait_until("lines are read again", |seen| seen.contains(" icanon") && seen.contains(" echo "));
    assert_nothing_is_left(&test, &tmp);
}
