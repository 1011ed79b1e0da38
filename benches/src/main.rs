// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `make bench`: measures, compares with the limits, and keeps the raw runs.

#![expect(clippy::print_stdout, reason = "a report is what this program is for")]

mod cases;
mod measure;
mod report;
mod rules;
mod spawn;

use std::process::ExitCode;

fn main() -> ExitCode {
    let cases = match cases::all() {
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
    match cases::call().and_then(|call| spawn::run(&call)) {
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
