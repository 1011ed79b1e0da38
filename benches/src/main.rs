// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `make bench`: measures, compares with the limits, and keeps the raw runs.

#![expect(clippy::print_stdout, reason = "a report is what this program is for")]

mod cases;
mod ledger;
mod measure;
mod report;
mod rules;
mod spawn;

use std::process::ExitCode;

fn main() -> ExitCode {
    // `make bench` measures everything; `… -- ledger [10m]` only the ledger.
    let only_ledger = std::env::args().any(|argument| argument == "ledger");
    let cases = match if only_ledger { Ok(Vec::new()) } else { cases::all() } {
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
    let ten_million = std::env::args().any(|argument| argument == "10m");
    let ledger = cases::call().and_then(|call| ledger::run(&call, ten_million));
    let spawned =
        match if only_ledger { Ok(Vec::new()) } else { cases::call().and_then(|call| spawn::run(&call)) } {
            Ok(spawned) => ledger.map(|ledger| ledger.into_iter().chain(spawned).collect::<Vec<_>>()),
            Err(error) => Err(error),
        };
    match spawned {
        Ok(spawned) => {
            for result in spawned {
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
