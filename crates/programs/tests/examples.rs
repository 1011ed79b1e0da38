// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every example in the data files is parsed to the result that it states.

use std::fs;
use std::path::Path;

use tenterhook_programs::{Programs, check_example, read_examples};

#[test]
fn every_example_in_a_data_file_is_parsed_as_stated() {
    let programs = Programs::builtin();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let examples = read_examples(&fs::read_to_string(&path).unwrap());
        if examples.is_empty() {
            wrong.push(format!("{}: no examples", path.display()));
        }
        for example in examples {
            count += 1;
            if let Err(message) = check_example(&programs, &example) {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                wrong.push(format!("{name}:{}: {message}", example.spot.line));
            }
        }
    }
    assert!(count > 100, "{count} examples");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
