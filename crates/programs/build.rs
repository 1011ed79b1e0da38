// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compiles the descriptions in `programs/` into one blob.

#![expect(clippy::disallowed_methods, reason = "cargo passes the directories in the environment")]
#![expect(
    dead_code,
    unreachable_pub,
    reason = "the modules are those of the library, which uses all of them"
)]

use std::error::Error;
use std::path::Path;
use std::{env, fs};

#[path = "src/format/mod.rs"]
mod format;

fn main() -> Result<(), Box<dyn Error>> {
    let data = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../programs");
    println!("cargo::rerun-if-changed={}", data.display());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/format");
    let mut paths: Vec<_> =
        fs::read_dir(&data)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    let mut programs = Vec::new();
    let mut wrong = Vec::new();
    for path in &paths {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.display();
        let text = fs::read_to_string(path)?;
        let root = match tenterhook_document::parse(&text) {
            Ok(root) => root,
            Err((spot, message)) => {
                wrong.push(format!("{name}:{}:{}: {message}", spot.line, spot.column));
                continue;
            }
        };
        let (found, mistakes) = format::source::read_file(&root);
        let found_mistakes = mistakes.into_iter().chain(format::encode::encode_programs(&found).err());
        for (spot, message) in found_mistakes {
            wrong.push(format!("{name}:{}:{}: {message}", spot.line, spot.column));
        }
        programs.extend(found);
    }
    if !wrong.is_empty() {
        return Err(wrong.join("\n").into());
    }
    let table = format::encode::encode_programs(&programs).map_err(|(_, message)| message)?;
    let out = Path::new(&env::var("OUT_DIR")?).join("programs.bin");
    let bytes = table.to_bytes()?;
    // The library has no way to report an unreadable table.
    postcard::from_bytes::<format::record::NameTable<'_>>(&bytes)?;
    fs::write(out, bytes)?;
    Ok(())
}
