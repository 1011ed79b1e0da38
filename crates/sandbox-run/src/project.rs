// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The project of a run: the directory that the run may change.

use std::path::{Path, PathBuf};

use tenterhook_error::Failure;
use tenterhook_home::Home;

/// Returns the project of a working directory: the root of its repository, else the directory itself. Refuses a
/// directory that contains the home directory or is in Tenterhook's own directories.
pub(crate) fn find_project(
    working_directory: &Path,
    user_home: &Path,
    home: &Home,
) -> Result<PathBuf, Failure> {
    let directory = working_directory.canonicalize()?;
    let is_allowed = |path: &Path| !user_home.starts_with(path) && path.parent().is_some();
    let mut repositories = directory.ancestors().filter(|path| path.join(".git").symlink_metadata().is_ok());
    let project = repositories.find(|path| is_allowed(path)).unwrap_or(&directory);
    if !is_allowed(project) {
        let message =
            format!("`{}` contains the home directory, so it cannot be writable", project.display());
        return Err(Failure::user(message).hint("change to the directory of a project"));
    }
    let own = [&home.state, &home.config];
    if own.into_iter().filter_map(|own| own.canonicalize().ok()).any(|own| project.starts_with(own)) {
        return Err(Failure::user("the working directory belongs to Tenterhook")
            .hint("change to the directory of a project"));
    }
    Ok(project.to_owned())
}
