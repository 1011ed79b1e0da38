// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `make bench`: measures, compares with the limits, and keeps the raw runs.

#![expect(clippy::print_stdout, reason = "a report is what this program is for")]

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
mod sdk;
mod sessions;
mod spawn;

use std::path::PathBuf;
use std::process::ExitCode;

/// Something that measures.
type Suite = Box<dyn Fn() -> Result<Vec<measure::Measured>, cases::SetupError>>;

fn main() -> ExitCode {
    // `make bench` measures everything but what takes long; words choose: `policy`, `ledger`, `daemon`, `load` (the
    // daemon under load only), `backtest`, `sdk`, `sessions`, `beside FIRST SECOND`, two builds of the program; and what takes long: `10m`, the ledger with ten million leaves, and `million`, a daemon's memory over a million events.
    let asked = |word: &str| std::env::args().any(|argument| argument == word);
    let builds: Vec<PathBuf> =
        std::env::args_os().skip_while(|argument| argument != "beside").skip(1).map(PathBuf::from).collect();
    let chosen = ["policy", "ledger", "daemon", "load", "backtest", "sdk", "sessions", "million", "beside"]
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
    if wanted("ledger") {
        let ten_million = asked("10m");
        suites.push(Box::new(move || cases::call().and_then(|call| ledger::run(&call, ten_million))));
    }
    if !chosen {
        suites.push(Box::new(|| cases::call().and_then(|call| spawn::run(&call))));
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
    match builds.and_then(|builds| Ok(report::keep(&results, &builds)?)) {
        Ok(path) => println!("\nraw runs: {path}"),
        Err(error) => {
            println!("\nthe raw runs could not be kept: {error}");
            return ExitCode::FAILURE;
        }
    }
    if results.iter().all(measure::Measured::holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
