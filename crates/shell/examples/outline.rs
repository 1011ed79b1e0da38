// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Prints the tree of the script on standard input: `outline [posix|bash|zsh]`.

use std::io::{Read as _, Write as _};

use tenterhook_shell::{Dialect, outline, parse};

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let dialect = match std::env::args().nth(1).as_deref() {
        Some("posix") => Dialect::Posix,
        Some("zsh") => Dialect::Zsh,
        _ => Dialect::Bash,
    };
    std::io::stdout().write_all(outline(&parse(&text, dialect)).as_bytes())
}
