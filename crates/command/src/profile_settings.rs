// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses the `--settings` arguments of commands that fire events under a profile.

use std::path::PathBuf;

use tenterhook_profile::{SettingsLayer, SettingsSource};
use tenterhook_profile_run::ProfileStage;

use crate::env::Env;
use crate::error::CommandError;

/// A `--settings` argument, written as `FILE` or `SOURCE=FILE`.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    source: SettingsSource,
    path: PathBuf,
}

impl SettingsFile {
    /// Creates an argument for the project's settings file.
    pub fn of_project(path: PathBuf) -> Self {
        Self { source: SettingsSource::Project, path }
    }
}

impl std::str::FromStr for SettingsFile {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (source, path) = match text.split_once('=') {
            Some(("user", path)) => (SettingsSource::User, path),
            Some(("project", path)) => (SettingsSource::Project, path),
            Some(("local", path)) => (SettingsSource::Local, path),
            Some(("system", path)) => (SettingsSource::System, path),
            Some(("extension", path)) => (SettingsSource::Extensions, path),
            _ => (SettingsSource::Project, text),
        };
        Ok(Self { source, path: path.into() })
    }
}

/// Reads the settings files and prepares the profile to fire events.
pub fn open_profile(name: &str, files: &[SettingsFile], env: &Env) -> Result<ProfileStage, CommandError> {
    tenterhook_profile_run::find_profile(name)?;
    let mut texts = Vec::with_capacity(files.len());
    for file in files {
        let path = file.path.display().to_string();
        let text = tenterhook_home::regular_file(&file.path)
            .map_err(|error| CommandError::user(error.to_string()))?;
        let text = text.ok_or_else(|| CommandError::user(format!("file `{path}` does not exist")))?;
        texts.push((file.source, path, text));
    }
    let layers: Vec<_> =
        texts.iter().map(|(source, name, text)| SettingsLayer { source: *source, name, text }).collect();
    ProfileStage::new(name, &layers, env.home.as_deref(), env.all.clone())
}
