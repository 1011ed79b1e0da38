// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Home directories of a machine's accounts. An installation for the whole machine also checks the settings of each
//! account.

use std::path::{Path, PathBuf};

/// Existing home directories of all accounts, read from `etc/passwd` and `Users` below `root`; `/` is left out.
pub(super) fn home_directories(root: &Path) -> Vec<PathBuf> {
    let accounts = fs_err::read_to_string(root.join("etc/passwd")).unwrap_or_default();
    let listed = accounts.lines().filter_map(|line| line.split(':').nth(5)).map(PathBuf::from);
    // macOS does not list its users in `/etc/passwd`.
    let users =
        fs_err::read_dir(root.join("Users")).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut homes: Vec<_> = listed.chain(users).filter(|home| home.is_absolute() && home.is_dir()).collect();
    homes.sort();
    homes.dedup();
    homes.retain(|home| home != Path::new("/"));
    homes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_home_that_exists_is_found_once() {
        let root = tempfile::tempdir().unwrap();
        let ada = root.path().join("home/ada");
        fs_err::create_dir_all(&ada).unwrap();
        fs_err::create_dir_all(root.path().join("etc")).unwrap();
        let line = |home: &Path| format!("x:x:1:1::{}:/bin/sh\n", home.display());
        let passwd =
            line(&ada) + &line(&ada) + &line(Path::new("/")) + &line(&root.path().join("gone")) + "broken\n";
        fs_err::write(root.path().join("etc/passwd"), passwd).unwrap();
        assert_eq!(home_directories(root.path()), [ada]);
    }
}
