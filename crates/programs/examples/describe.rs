// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Prints every option that takes a value, one per line, and how long lookups take.

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::hint::black_box;
use std::time::Instant;

use tenterhook_programs::{Arity, Programs};

const ROUNDS: u32 = 200_000;

fn main() {
    let programs = Programs::builtin();
    let mut count = 0;
    for name in programs.names() {
        let Some(program) = programs.find(name) else { continue };
        for described in program.options() {
            count += usize::from(name == program.name());
            let takes = !matches!(described.option.arity, Arity::None);
            println!("{name}\t{}\t{takes}\t{}", described.path.join(" "), described.option.names);
        }
    }
    let begin = Instant::now();
    for _ in 0..ROUNDS {
        black_box(programs.find(black_box("curl")));
    }
    println!("# {count} options; lookup {:?}", begin.elapsed() / ROUNDS);
    for (name, words) in [
        ("curl", vec!["-sSL", "-o", "out", "--max-time", "5", "https://a.test"]),
        ("git", vec!["commit", "-am", "message"]),
        ("rm", vec!["-rf", "x"]),
        ("docker", vec!["run", "--rm", "-v", "/:/x", "alpine", "ls"]),
    ] {
        let begin = Instant::now();
        for _ in 0..ROUNDS {
            if let Some(program) = programs.find(black_box(name)) {
                black_box(program.parse(black_box(&words)));
            }
        }
        println!("# {name} {words:?}: lookup and parse {:?}", begin.elapsed() / ROUNDS);
    }
}
