// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `tenterhook-fuzz [SECONDS] [TARGET] [SEED]`: reads mutated texts until the time is up.
//! `tenterhook-fuzz show TARGET FILE…`: says what becomes of these.
//!
//! The work is done in a child, so that a stack that overflows or a text that is never done with
//! is found as well as a panic. Everything found is kept in `fuzz/regressions`.

#![expect(clippy::print_stdout, reason = "it is a tool for the terminal")]

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Resource, Rlimit, setrlimit};
use tenterhook_fuzz::chance::Chance;
use tenterhook_fuzz::check::{Wrong, check};
use tenterhook_fuzz::mutate::mutate;
use tenterhook_fuzz::seeds::repository;
use tenterhook_fuzz::targets::{self, TARGETS, Target};

/// A text that takes this long on the clock is never done with.
const HANG: Duration = Duration::from_mins(2);
/// How long a text is made smaller.
const SMALLER: Duration = Duration::from_secs(10);
/// Texts kept for each target because they were something new, and how long they are together.
const MOST_KEPT: usize = 20_000;
const MOST_BYTES: usize = 64 << 20;
/// A worker that wants more memory than this dies.
const MOST_MEMORY: u64 = 4 << 30;
/// What a thread of a server has.
const STACK: usize = 2 << 20;
/// A target is not left before so many texts, nor after this time.
const TURN: Duration = Duration::from_secs(10);

fn main() -> Result<ExitCode> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    if let [worker, seconds, target, seed, current] = words.as_slice()
        && worker == "--worker"
    {
        let target = target.clone();
        let (seconds, seed, current) = (seconds.parse()?, seed.parse()?, PathBuf::from(current));
        let limit = Rlimit { current: Some(MOST_MEMORY), maximum: Some(MOST_MEMORY) };
        setrlimit(Resource::As, limit).context("the memory could not be bounded")?;
        let work = move || work(Duration::from_secs(seconds), &target, seed, &current);
        let thread = thread::Builder::new().stack_size(STACK).spawn(work)?;
        return thread.join().unwrap_or_else(|_| anyhow::bail!("the fuzzer itself panicked"));
    }
    if let [show, target, files @ ..] = words.as_slice()
        && show == "show"
    {
        return self::show(target, files);
    }
    let seconds: u64 = words.first().map_or(Ok(300), |word| word.parse()).context("SECONDS is a number")?;
    let target = words.get(1).map_or("all", String::as_str);
    let seed: u64 = words.get(2).map_or(Ok(1), |word| word.parse()).context("SEED is a number")?;
    supervise(Duration::from_secs(seconds), target, seed)
}

fn show(target: &str, files: &[String]) -> Result<ExitCode> {
    let target = TARGETS.iter().find(|row| row.name == target).context("there is no such target")?;
    let mut wrong = false;
    for file in files {
        let text = fs::read_to_string(file)?;
        let start = Instant::now();
        let checked = check(target, &text);
        println!("{file}: {checked:?} {:?}", start.elapsed());
        if target.name == "shell" {
            let start = Instant::now();
            let facts = targets::shell_facts(&text);
            println!("facts alone: {:?}, {} texts not read", start.elapsed(), facts.unread.len());
            if text.len() < 2000 {
                println!("{}", serde_json::to_string_pretty(&facts)?);
            }
        }
        wrong |= checked.is_err();
    }
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Starts workers until the time is up; one that dies has found something.
fn supervise(time: Duration, target: &str, mut seed: u64) -> Result<ExitCode> {
    let start = Instant::now();
    let dir = tempfile::tempdir()?;
    let current = dir.path().join("current");
    let mut found = false;
    while let Some(left) = time.checked_sub(start.elapsed()).filter(|left| left.as_secs() > 0) {
        let seconds = left.as_secs().to_string();
        // What an earlier worker left there says nothing about this one.
        fs::write(&current, "")?;
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--worker", &seconds, target, &seed.to_string()])
            .arg(&current)
            .stderr(Stdio::piped())
            .spawn()?;
        seed = seed.wrapping_add(1);
        let ended = watch(&mut child, &current)?;
        let mut told = String::new();
        if let Some(mut stderr) = child.stderr.take() {
            stderr.read_to_string(&mut told)?;
        }
        let word = match ended {
            Ended::Well(any) => {
                found |= any;
                continue;
            }
            Ended::Hanging => "hang",
            Ended::Died if told.contains("memory allocation") => "memory",
            Ended::Died => "abort",
        };
        found = true;
        println!("a worker died: {}", told.trim());
        let whole = fs::read_to_string(&current).unwrap_or_default();
        let (name, text) = whole.split_once('\n').unwrap_or(("shell", &whole));
        keep(name, word, text)?;
    }
    Ok(if found { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

enum Ended {
    Well(bool),
    Died,
    Hanging,
}

fn watch(child: &mut Child, current: &Path) -> Result<Ended> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(match status.code() {
                Some(0) => Ended::Well(false),
                Some(1) => Ended::Well(true),
                _ => Ended::Died,
            });
        }
        let since =
            fs::metadata(current).and_then(|file| file.modified()).ok().and_then(|then| then.elapsed().ok());
        if since.is_some_and(|since| since > HANG) {
            child.kill()?;
            child.wait()?;
            return Ok(Ended::Hanging);
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// One target, what it has kept, and what it has seen.
struct Field {
    target: &'static Target,
    texts: Vec<String>,
    /// How long the texts are that were kept.
    bytes: usize,
    seen: BTreeSet<u64>,
    read: usize,
    wrong: BTreeSet<String>,
}

fn work(time: Duration, only: &str, seed: u64, current: &Path) -> Result<ExitCode> {
    // A panic is caught and told once.
    std::panic::set_hook(Box::new(|_| {}));
    let start = Instant::now();
    let mut chance = Chance::new(seed);
    let mut fields: Vec<_> = TARGETS
        .iter()
        .filter(|target| only == "all" || only == target.name)
        .map(|target| Field {
            target,
            texts: (target.seeds)(),
            bytes: 0,
            seen: BTreeSet::new(),
            read: 0,
            wrong: BTreeSet::new(),
        })
        .collect();
    anyhow::ensure!(!fields.is_empty(), "there is no target `{only}`");
    for field in &mut fields {
        anyhow::ensure!(!field.texts.is_empty(), "`{}` has nothing to start from", field.target.name);
        for at in 0..field.texts.len() {
            let text = field.texts.get(at).cloned().unwrap_or_default();
            field.read(text, current)?;
        }
    }
    while start.elapsed() < time {
        for field in &mut fields {
            let turn = Instant::now();
            while turn.elapsed() < TURN && start.elapsed() < time {
                let (at, other) = (chance.below(field.texts.len()), chance.below(field.texts.len()));
                let [Some(text), Some(other)] = [at, other].map(|at| field.texts.get(at)) else { break };
                let mutant = mutate(text, other, &mut chance);
                field.read(mutant, current)?;
            }
        }
    }
    for field in &fields {
        println!(
            "{:8} {:9} texts, {:6} kept, {} found",
            field.target.name,
            field.read,
            field.texts.len(),
            field.wrong.len()
        );
    }
    let found = fields.iter().any(|field| !field.wrong.is_empty());
    Ok(if found { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl Field {
    fn read(&mut self, text: String, current: &Path) -> Result<()> {
        fs::write(current, format!("{}\n{text}", self.target.name))?;
        self.read += 1;
        match check(self.target, &text) {
            Ok(said) => {
                let mut hasher = DefaultHasher::new();
                said.hash(&mut hasher);
                let room = self.texts.len() < MOST_KEPT && self.bytes + text.len() < MOST_BYTES;
                if self.seen.insert(hasher.finish()) && room {
                    self.bytes += text.len();
                    self.texts.push(text);
                }
            }
            Err(wrong) => {
                let (Wrong::Panic(why) | Wrong::Property(why) | Wrong::Slow(why) | Wrong::Large(why)) =
                    &wrong;
                // The same message again is the same thing again, whatever numbers are in it.
                let kind: String = why.chars().filter(|c| !c.is_ascii_digit()).take(80).collect();
                if self.wrong.insert(format!("{}{kind}", wrong.word())) && self.wrong.len() <= 50 {
                    let small = smaller(self.target, &text, &wrong);
                    println!("{} {}: {why}", self.target.name, wrong.word());
                    keep(self.target.name, wrong.word(), &small)?;
                }
            }
        }
        Ok(())
    }
}

/// Takes away what is not needed for it to go wrong.
fn smaller(target: &Target, text: &str, wrong: &Wrong) -> String {
    let start = Instant::now();
    let mut letters: Vec<char> = text.chars().collect();
    let mut size = letters.len() / 2;
    while size > 0 && start.elapsed() < SMALLER {
        let mut at = 0;
        while at < letters.len() && start.elapsed() < SMALLER {
            let less: Vec<char> =
                letters.iter().take(at).chain(letters.iter().skip(at + size)).copied().collect();
            let same =
                check(target, &less.iter().collect::<String>()).is_err_and(|now| now.word() == wrong.word());
            if same {
                letters = less;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    letters.into_iter().collect()
}

fn keep(target: &str, word: &str, text: &str) -> Result<()> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let dir = repository().join("fuzz/regressions").join(target);
    fs::create_dir_all(&dir)?;
    let path = dir.join(format!("{word}-{:08x}.txt", hasher.finish() >> 32));
    fs::write(&path, text)?;
    println!("kept {}", path.display());
    Ok(())
}
