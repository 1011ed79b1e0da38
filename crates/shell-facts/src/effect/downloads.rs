// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Derives the files that downloads write, named after the last component of the URL.

use tenterhook_paths::FileOp::{Read, Write};
use tenterhook_programs::Role;

use super::super::ShellWord;
use super::super::described_command::DescribedCommand;
use super::OperandEffect;
use super::resolve_in;

/// Adds the files that a download program writes under the names in its URLs, and the local files that it reads
/// through `file://` URLs.
pub(super) fn add_downloads(command: &DescribedCommand<'_>, effects: &mut Vec<OperandEffect>) {
    let to = command.values(Role::Target).next_back().map(|(word, _)| word);
    for role in [Role::Url, Role::Download] {
        let options = command.values(role).map(|(word, _)| word);
        for url in command.operands(role).chain(options) {
            if let Some(path) = url.text.strip_prefix("file://") {
                effects.push(OperandEffect::new(Read, &url.skip_bytes(url.text.len() - path.len())));
            } else if role == Role::Download {
                effects.extend(
                    saved_name(&url).map(|name| OperandEffect::new(Write, &resolve_in(to.as_ref(), &name))),
                );
            }
        }
    }
}

/// Returns the file name under which the content of a URL is saved.
fn saved_name(url: &ShellWord) -> Option<ShellWord> {
    let path = url.text.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let (_, name) = path.rsplit_once('/')?;
    let name = if url.dynamic && name.is_empty() { "*" } else { name };
    (!name.is_empty()).then(|| ShellWord { dynamic: url.dynamic, ..ShellWord::literal(name) })
}
