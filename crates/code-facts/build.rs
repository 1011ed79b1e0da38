// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compiles the descriptions of embedded languages (`src/languages/*.yaml`) into one blob.

#![expect(clippy::disallowed_methods, reason = "cargo passes the directories in the environment")]

use std::error::Error;
use std::path::Path;
use std::{env, fs};

/// The modules for language descriptions, shared with the library.
#[path = "src/language"]
mod language {
    #![expect(dead_code, reason = "the library uses the rest of them")]
    pub(crate) mod call;
    pub(crate) mod description;
    pub(crate) mod lexical;
    pub(crate) mod source;
}

const LANGUAGES: &str = "src/languages";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/language");
    println!("cargo::rerun-if-changed={LANGUAGES}");
    let paths = fs::read_dir(LANGUAGES)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<_> = paths.collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    let mut languages = Vec::new();
    for path in paths {
        let description =
            language::source::parse_file(&fs::read_to_string(&path)?).map_err(|(spot, message)| {
                format!("{}:{}:{}: {message}", path.display(), spot.line, spot.column)
            })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        languages.push((name, postcard::to_allocvec(&description)?));
    }
    let blob = Path::new(&env::var("OUT_DIR")?).join("languages.bin");
    fs::write(blob, postcard::to_allocvec(&languages)?)?;
    Ok(())
}
