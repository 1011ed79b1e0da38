// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Profiles: what a harness or a toolchain needs besides the project. They are the files in `profiles/`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tenterhook_document::{nearest, parse, read};

/// Maximum depth of `includes`.
const MAX_INCLUDE_DEPTH: usize = 8;

/// What a harness or a toolchain needs besides the project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a sandbox profile")]
pub struct SandboxProfile {
    /// Version of the format: 1.
    pub version: u32,
    /// Name of the profile, as in `--profile`.
    pub profile: String,
    /// What the profile is for, in a few words.
    pub title: String,
    /// Programs for which the profile is the default.
    pub programs: Vec<String>,
    /// Profiles whose entries are added to this profile.
    pub includes: Vec<String>,
    /// Network of the run. Default: `none`.
    pub network: Option<NetworkAccess>,
    /// Directories that are writable. A missing directory is created.
    pub write: Vec<String>,
    /// Files that are writable. A missing file is not created.
    pub write_files: Vec<String>,
    /// Paths below writable directories that are read-only, such as programs. A directory ends with `/`.
    pub read_only: Vec<String>,
    /// Directories of which the run has an empty one of its own, because other sessions run what is in them.
    pub private: Vec<String>,
    /// Paths that are readable although a rule protects them from being read.
    pub read: Vec<String>,
    /// Paths that are writable although a rule protects them, because the program itself keeps its state there. Changes
    /// to the settings in them are undone after the run.
    pub own: Vec<String>,
    /// Unix sockets that stay reachable: paths, or `$NAME` for the path in a variable.
    pub sockets: Vec<String>,
    /// Variables that are set for the run.
    pub variables: BTreeMap<String, String>,
}

/// Network of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", expecting = "`none`, `proxy` or `host`")]
pub enum NetworkAccess {
    /// No network except loopback.
    #[default]
    None,
    /// Loopback, and a proxy that evaluates each connection.
    Proxy,
    /// The network of the machine, without restrictions.
    Host,
}

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// There is no profile with this name.
    #[error("unknown profile `{name}`{}", hint.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Unknown {
        /// Name that was asked for.
        name: String,
        /// A similar name.
        hint: Option<String>,
    },
    /// The text of a profile is invalid.
    #[error("profile `{name}`, line {line}: {message}")]
    Invalid {
        /// Name of the profile.
        name: String,
        /// Line of the mistake.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// Profiles include each other.
    #[error("profile `{0}` includes itself")]
    Cycle(String),
}

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each profile that is compiled into the program.
        const BUILT_IN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../profiles/", $name, ".yaml")))),*];
    };
}

built_in! {
    "aider", "cargo", "claude-code", "cline", "codex", "copilot", "default", "gemini", "gh", "git", "go", "llxprt",
    "npm", "opencode", "pi", "pip", "pnpm", "qwen", "ssh",
}

/// Returns name and text of the profiles that are compiled into the program.
pub fn built_in_profiles() -> &'static [(&'static str, &'static str)] {
    BUILT_IN
}

impl SandboxProfile {
    /// Returns the name of the built-in profile for a program or a harness; `default` if there is none.
    pub fn name_for(program: &str) -> &'static str {
        let found = BUILT_IN.iter().find(|(name, text)| {
            *name == program
                || Self::parse(name, text)
                    .is_ok_and(|profile| profile.programs.iter().any(|own| own == program))
        });
        found.map_or("default", |(name, _)| name)
    }

    /// Loads a profile with everything that it includes. `own` returns the text of a profile that the user wrote, which
    /// takes precedence over a built-in profile.
    pub fn load(name: &str, own: &dyn Fn(&str) -> Option<String>) -> Result<Self, ProfileError> {
        Self::load_within(name, own, &mut BTreeSet::new(), 0)
    }

    fn load_within(
        name: &str,
        own: &dyn Fn(&str) -> Option<String>,
        open: &mut BTreeSet<String>,
        depth: usize,
    ) -> Result<Self, ProfileError> {
        if depth > MAX_INCLUDE_DEPTH || !open.insert(name.to_owned()) {
            return Err(ProfileError::Cycle(name.to_owned()));
        }
        let built_in =
            || BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
        let text = own(name).or_else(built_in).ok_or_else(|| ProfileError::Unknown {
            name: name.to_owned(),
            hint: nearest(name, BUILT_IN.iter().map(|(known, _)| *known)).map(ToOwned::to_owned),
        })?;
        let mut profile = Self::parse(name, &text)?;
        for included in profile.includes.clone() {
            profile.add(Self::load_within(&included, own, open, depth + 1)?);
        }
        open.remove(name);
        Ok(profile)
    }

    /// Parses the text of a profile.
    pub fn parse(name: &str, text: &str) -> Result<Self, ProfileError> {
        let invalid =
            |line: usize, message: String| ProfileError::Invalid { name: name.to_owned(), line, message };
        let tree = parse(text).map_err(|(spot, message)| invalid(spot.line, message))?;
        let profile: Self = read(&tree).map_err(|misfit| invalid(misfit.spot.line, misfit.message))?;
        if profile.version != 1 {
            return Err(invalid(1, format!("unsupported version {}", profile.version)));
        }
        let Self { write, write_files, read_only, private, read, own, .. } = &profile;
        for path in [write, write_files, read_only, private, read, own].into_iter().flatten() {
            if !(path.starts_with("~/") || path.starts_with('/')) || path.split('/').any(|part| part == "..")
            {
                return Err(invalid(1, format!("`{path}` must start with `~/` or `/`")));
            }
        }
        Ok(profile)
    }

    /// Adds the entries of an included profile. Its network and variables count only if this profile has none.
    fn add(&mut self, other: Self) {
        let Self { write, write_files, read_only, private, read, own, sockets, variables, network, .. } =
            other;
        self.write.extend(write);
        self.write_files.extend(write_files);
        self.read_only.extend(read_only);
        self.private.extend(private);
        self.read.extend(read);
        self.own.extend(own);
        self.sockets.extend(sockets);
        self.network = self.network.or(network);
        for (name, value) in variables {
            self.variables.entry(name).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_profile_is_valid_and_has_its_file_name() {
        for (name, text) in BUILT_IN {
            let profile = SandboxProfile::parse(name, text).unwrap();
            assert_eq!(profile.profile, *name);
            assert!(!profile.title.is_empty(), "{name}");
            SandboxProfile::load(name, &|_| None).unwrap();
        }
    }

    #[test]
    fn a_profile_of_the_user_takes_precedence_and_may_not_leave_its_directory() {
        let own = |name: &str| {
            (name == "mine")
                .then(|| "version: 1\nprofile: mine\nincludes: [cargo]\nwrite: [~/x]\n".to_owned())
        };
        let profile = SandboxProfile::load("mine", &own).unwrap();
        assert!(profile.write.iter().any(|path| path == "~/x"));
        assert!(profile.write.iter().any(|path| path.starts_with("~/.cargo")));
        for text in [
            "version: 1\nwrite: [x]\n",
            "version: 1\nwrite: [~/../x]\n",
            "version: 2\n",
            "version: 1\nwrit: []\n",
        ] {
            assert!(SandboxProfile::parse("x", text).is_err(), "{text}");
        }
    }

    #[test]
    fn profiles_that_include_each_other_are_refused() {
        let own =
            |name: &str| Some(format!("version: 1\nincludes: [{}]\n", if name == "a" { "b" } else { "a" }));
        assert!(matches!(SandboxProfile::load("a", &own), Err(ProfileError::Cycle(_))));
    }
}
