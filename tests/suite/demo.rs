// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The demo on a terminal, ended by whoever watches it.

use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal};

use crate::context::TestContext;
use crate::person::{terminal, until};

/// Every process that was started with this in its words.
fn started_with(text: &str) -> Vec<String> {
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
    // Ours too would keep the terminal open.
    drop(command);
    let mut text = String::new();
    until("the agent works", || {
        let mut room = [0; 4096];
        let count = master.read(&mut room).unwrap_or(0);
        text += &String::from_utf8_lossy(&room[..count]);
        text.contains("I read the issue first.").then_some(())
    });
    let tmp = tmp.to_str().unwrap();
    let at_work = started_with(tmp);
    for part in [" serve ", " agent run "] {
        assert!(at_work.iter().any(|line| line.contains(part)), "`{part}` is not in {at_work:?}");
    }
    rustix::process::kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    // Somebody has to read what it still says.
    let reader = std::thread::spawn(move || drop(master.read_to_end(&mut Vec::new())));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    reader.join().unwrap();
    assert_eq!(started_with(tmp), [""; 0], "nobody is left");
    assert_eq!(std::fs::read_dir(tmp).unwrap().count(), 0, "nothing is left");
    assert!(std::fs::read_dir(test.home()).unwrap().next().is_none(), "the home is untouched");
}
