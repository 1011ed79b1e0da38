// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `make bench`: measures, compares with the limits, and keeps the raw runs.

#![expect(clippy::print_stdout, reason = "a report is what this program is for")]

mod cases;
mod daemon;
mod floor;
mod ledger;
mod load;
mod measure;
mod report;
mod rules;
mod spawn;

use std::process::ExitCode;

/// Something that measures.
type Suite = Box<dyn Fn() -> Result<Vec<measure::Measured>, cases::SetupError>>;

fn main() -> ExitCode {
    // `make bench` measures everything; `… -- ledger [10m]` only the ledger, `… -- daemon` only hooks and daemon.
    let asked = |word: &str| std::env::args().any(|argument| argument == word);
    let (only_ledger, only_daemon) = (asked("ledger"), asked("daemon"));
    let cases = match if only_ledger || only_daemon { Ok(Vec::new()) } else { cases::all() } {
        Ok(cases) => cases,
        Err(error) => {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{:<44} {:>10} {:>10} {:>10} {:>10}", "CASE", "MIN", "MEDIAN", "P95", "LIMIT");
    let mut results = Vec::new();
    for case in cases {
        let result = measure::run(case, &results);
        println!("{}", report::line(&result));
        results.push(result);
    }
    let mut suites: Vec<Suite> = Vec::new();
    if !only_daemon {
        let ten_million = asked("10m");
        suites.push(Box::new(move || cases::call().and_then(|call| ledger::run(&call, ten_million))));
    }
    if !only_ledger && !only_daemon {
        suites.push(Box::new(|| cases::call().and_then(|call| spawn::run(&call))));
    }
    if !only_ledger {
        suites.push(Box::new(daemon::run));
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
    match report::keep(&results) {
        Ok(path) => println!("\nraw runs: {path}"),
        Err(error) => {
            println!("\nthe raw runs could not be kept: {error}");
            return ExitCode::FAILURE;
        }
    }
    if results.iter().all(measure::Measured::holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
