// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `kill -9` at random points: what was acknowledged is there, once, and the tree verifies.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tenterhook_ledger::{Durability, Ledger, Options};

use crate::common::{Test, clock, entry, key, options};

/// Rounds in `make test`; `TENTERHOOK_SOAK=500` asks for more.
const ROUNDS: u64 = 20;
const NUMBERS: u64 = 1_000_000;

/// Not a test: the process that is killed. It is told where to record, from which number on, and how.
#[test]
#[ignore = "the tests below start it"]
fn child() {
    let mut told = String::new();
    std::io::stdin().read_line(&mut told).unwrap();
    let words: Vec<&str> = told.split_whitespace().collect();
    let [dir, start, durability] = words[..] else { return };
    let start: u64 = start.parse().unwrap();
    if durability == "brief" {
        return briefly(dir.as_ref(), start);
    }
    let mut options = options();
    options.checkpoint_every.leaves = 50;
    options.durability = if durability == "relaxed" { Durability::Relaxed } else { Durability::Durable };
    let ledger = match Ledger::open(dir.as_ref(), options) {
        Ok(opened) => opened.ledger,
        Err(error) => return say(&format!("refused {error}")),
    };
    say("open");
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let ledger = ledger.clone();
            scope.spawn(move || {
                for number in (start..start + NUMBERS).skip(thread).step_by(3) {
                    match ledger.append(entry(number)) {
                        Ok(_) => say(&format!("acked {number}")),
                        Err(error) => return say(&format!("refused {error}")),
                    }
                }
            });
        }
    });
}

/// As hooks do without a daemon: open, record, close, again and again.
fn briefly(dir: &Path, start: u64) {
    for number in start..start + NUMBERS {
        let options = Options { key: Some(key(1)), ..Options::brief(clock) };
        let recorded = Ledger::open(dir, options).map_err(|error| error.to_string()).and_then(|opened| {
            if number == start {
                say("open");
            }
            let appended = opened.ledger.append(entry(number));
            opened.ledger.close().and(appended).map_err(|error| error.to_string())
        });
        match recorded {
            Ok(_) => say(&format!("acked {number}")),
            Err(error) => return say(&format!("refused {error}")),
        }
    }
}

/// Past the test harness, which would keep what is printed to itself.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Starts the child through `wrapper`, a shell text that ends in `exec "$@"`.
pub(crate) fn start(wrapper: &str, uid: Option<u32>, told: &str) -> Child {
    let mut command = Command::new("sh");
    command.arg("-c").arg(wrapper).arg("sh").arg(std::env::current_exe().unwrap());
    command.args(["--exact", "crash::child", "--ignored", "--nocapture"]);
    if let Some(uid) = uid {
        std::os::unix::process::CommandExt::uid(&mut command, uid);
    }
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{told}\n").as_bytes()).unwrap();
    child
}

/// What the child said, whole lines only.
pub(crate) fn heard(child: &mut Child) -> Vec<String> {
    whole_lines(&mut BufReader::new(child.stdout.take().unwrap()), |_| false)
}

/// Reads whole lines up to the one that is enough, or to the end.
fn whole_lines(out: &mut impl BufRead, enough: impl Fn(&str) -> bool) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    while out.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
        lines.push(line.trim_end().to_owned());
        if enough(line.trim_end()) {
            break;
        }
        line.clear();
    }
    lines
}

pub(crate) fn acked(lines: &[String]) -> Vec<u64> {
    lines.iter().filter_map(|line| line.split_once("acked ")?.1.parse().ok()).collect()
}

fn rounds() -> u64 {
    let asked = std::env::var("TENTERHOOK_SOAK");
    asked.ok().and_then(|asked| asked.parse().ok()).unwrap_or(ROUNDS)
}

/// Kills within so many milliseconds each time.
fn killed_again_and_again(durability: &str, rounds: u64, within: u64) {
    let test = Test::new();
    let mut seed = u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos());
    let mut all = Vec::new();
    for round in 0..rounds {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let told = format!("{} {} {durability}", test.dir.display(), 1 + round * NUMBERS);
        let mut child = start(r#"exec "$@""#, None, &told);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        // Most rounds die while recording, every fourth perhaps while opening.
        let mut lines = Vec::new();
        if round % 4 != 3 {
            lines = whole_lines(&mut out, |line| line == "open" || line.starts_with("refused"));
        }
        std::thread::sleep(Duration::from_micros((seed >> 33) % (within * 1000)));
        child.kill().unwrap();
        lines.extend(whole_lines(&mut out, |_| false));
        child.wait().unwrap();
        assert!(!lines.iter().any(|line| line.contains("refused")), "{lines:?}");
        all.extend(acked(&lines));
        let opened =
            Ledger::open(&test.dir, options()).unwrap_or_else(|error| panic!("round {round}: {error}"));
        let reader = test.reader();
        for number in &all {
            let id = crate::common::event(*number).id.to_string();
            let seq =
                reader.find(&id).unwrap().unwrap_or_else(|| panic!("{number} was acknowledged and is gone"));
            if round + 1 == rounds {
                assert_eq!(opened.ledger.append(entry(*number)).unwrap().seq(), seq, "it is there once");
            }
        }
        opened.ledger.close().unwrap();
        let verified = test.verify().unwrap_or_else(|problem| panic!("round {round}: {problem}"));
        assert_eq!(verified.unsigned, 0);
        assert!(verified.size > u64::try_from(all.len()).unwrap());
    }
    assert!(all.len() as u64 > 2 * rounds, "only {} leaves in {rounds} rounds", all.len());
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    killed_again_and_again("durable", rounds(), 80);
}

#[test]
fn what_was_acknowledged_survives_kill_9_when_durability_is_relaxed() {
    killed_again_and_again("relaxed", rounds().div_ceil(4), 80);
}

#[test]
fn what_was_acknowledged_survives_kill_9_when_the_ledger_is_opened_for_each() {
    killed_again_and_again("brief", rounds().div_ceil(4), 800);
}
