// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `make bench`: measures, compares the results with the limits, and stores the raw runs.

#![expect(clippy::print_stdout, reason = "this program prints a report")]

mod agent_commands;
mod backtest;
mod beside;
mod cases;
mod cost;
mod daemon;
mod floor;
mod ledger;
mod load;
mod measure;
mod memory;
mod report;
mod rules;
mod runs;
mod sdk;
mod sessions;
mod spawn;
mod undo;

use std::path::PathBuf;
use std::process::ExitCode;

/// A function that measures.
type Suite = Box<dyn Fn() -> Result<Vec<measure::BenchResult>, cases::SetupError>>;

fn main() -> ExitCode {
    // `make bench` measures everything except slow cases. Arguments select what is measured: `policy`,
    // `ledger`, `daemon`, `load` (only the daemon under load), `backtest`, `sdk`, `sessions` or `undo`.
    // `beside FIRST SECOND` compares two builds of the program. Two cases are slow: `10m` measures the ledger with ten
    // million records, and `million` measures a daemon's memory over a million events. `tidy` measures
    // nothing: of the runs that other programs wrote, it keeps only the latest of each kind. `fill DIR` measures nothing
    // either: it writes a ledger with the million records of `sessions` into a directory.
    let asked = |word: &str| std::env::args().any(|argument| argument == word);
    if asked("tidy") {
        return tidy();
    }
    if asked("fill") {
        return fill(std::env::args_os().skip_while(|argument| argument != "fill").nth(1).map(PathBuf::from));
    }
    let builds: Vec<PathBuf> =
        std::env::args_os().skip_while(|argument| argument != "beside").skip(1).map(PathBuf::from).collect();
    let chosen =
        ["policy", "ledger", "daemon", "load", "backtest", "sdk", "sessions", "undo", "million", "beside"]
            .iter()
            .any(|word| asked(word));
    let wanted = |word: &str| !chosen || asked(word);
    let all = if chosen && !asked("policy") { Ok(Vec::new()) } else { cases::all() };
    let cases = match all {
        Ok(cases) => cases,
        Err(error) => {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{:<44} {:>10} {:>10} {:>10} {:>10}", "CASE", "MIN", "MEDIAN", "P95", "LIMIT");
    let mut results = Vec::new();
    for case in cases.into_iter().filter(|case| !chosen || case.name.starts_with("policy:")) {
        let result = measure::run(case, &results);
        println!("{}", report::line(&result));
        results.push(result);
    }
    let mut suites: Vec<Suite> = Vec::new();
    if wanted("policy") {
        suites.push(Box::new(agent_commands::run));
    }
    if wanted("ledger") {
        let ten_million = asked("10m");
        suites.push(Box::new(move || cases::call().and_then(|call| ledger::run(&call, ten_million))));
    }
    if !chosen {
        suites.push(Box::new(|| cases::call().and_then(|call| spawn::run(&call))));
    }
    if wanted("undo") {
        suites.push(Box::new(undo::run));
    }
    if wanted("daemon") {
        suites.push(Box::new(daemon::run));
    }
    if asked("load") {
        suites.push(Box::new(load::run));
    }
    if wanted("backtest") {
        suites.push(Box::new(|| cases::call().and_then(|call| backtest::run(&call))));
    }
    if wanted("sdk") {
        suites.push(Box::new(sdk::run));
    }
    if wanted("sessions") {
        suites.push(Box::new(sessions::run));
    }
    if asked("million") {
        suites.push(Box::new(memory::run));
    }
    if asked("beside") {
        let Some((first, second)) = builds.first().zip(builds.get(1)) else {
            println!("usage: tenterhook-benches beside FIRST SECOND");
            return ExitCode::FAILURE;
        };
        let (first, second) = (first.clone(), second.clone());
        suites.push(Box::new(move || beside::run([&first, &second])));
    }
    let measured = suites.iter().map(|suite| suite()).collect::<Result<Vec<_>, _>>();
    match measured {
        Ok(measured) => {
            for result in measured.into_iter().flatten() {
                println!("{}", report::line(&result));
                results.push(result);
            }
        }
        Err(error) => {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    }
    let builds: Result<Vec<_>, _> = builds.iter().take(2).map(|program| beside::describe(program)).collect();
    match builds.and_then(|builds| Ok(report::keep(&results, &run_kind(), &builds)?)) {
        Ok((path, replaced)) => {
            println!("\nraw runs: {path}");
            print_replaced(&replaced);
        }
        Err(error) => {
            println!("\nthe raw runs could not be kept: {error}");
            return ExitCode::FAILURE;
        }
    }
    if results.iter().all(measure::BenchResult::holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The kind in the names of runs: `all`, or the arguments.
fn run_kind() -> String {
    let words: Vec<String> = std::env::args().skip(1).take_while(|word| !word.contains(['/', '.'])).collect();
    if words.is_empty() { "all".to_owned() } else { words.join("-") }
}

/// Writes a ledger of a million records.
fn fill(dir: Option<PathBuf>) -> ExitCode {
    let Some(dir) = dir else {
        println!("usage: tenterhook-benches fill DIR");
        return ExitCode::FAILURE;
    };
    match sessions::fill(&dir) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn tidy() -> ExitCode {
    match runs::replace_older_runs(&runs::runs_dir()) {
        Ok(replaced) => {
            print_replaced(&replaced);
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("older runs could not be replaced: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print_replaced(replaced: &[String]) {
    for name in replaced {
        println!("now a line of benches/runs/summary.jsonl: {name}");
    }
}
