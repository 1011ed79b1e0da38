// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Downloads that are kept under the last part of their address.

use tenterhook_paths::Does::{Read, Write};
use tenterhook_programs::Role;

use super::super::Word;
use super::super::described_command::DescribedCommand;
use super::Touch;
use super::within;

/// Adds the files that a program writes because it keeps addresses under their names, and those it reads
/// because they are addressed as files.
pub(super) fn add_downloads(given: &DescribedCommand<'_>, touches: &mut Vec<Touch>) {
    let to = given.values(Role::Target).next_back().map(|(word, _)| word);
    for role in [Role::Url, Role::Download] {
        let options = given.values(role).map(|(word, _)| word);
        for url in given.operands(role).chain(options) {
            if let Some(path) = url.text.strip_prefix("file://") {
                touches.push(Touch::new(Read, &url.tail(url.text.len() - path.len())));
            } else if role == Role::Download {
                touches.extend(name_of(&url).map(|name| Touch::new(Write, &within(to.as_ref(), &name))));
            }
        }
    }
}

/// The name under which an address is kept.
fn name_of(url: &Word) -> Option<Word> {
    let path = url.text.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let (_, name) = path.rsplit_once('/')?;
    let name = if url.dynamic && name.is_empty() { "*" } else { name };
    (!name.is_empty()).then(|| Word { dynamic: url.dynamic, ..Word::literal(name) })
}
