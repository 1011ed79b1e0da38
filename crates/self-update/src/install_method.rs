// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Detects how this program was installed, which determines how it is upgraded.

use std::path::Path;

use serde::Deserialize;
use tenterhook_home::Home;

use crate::shared_files;

/// File that every package writes into `<prefix>/share/tenterhook`.
const RECEIPT_FILE: &str = "receipt.json";

/// How the program was installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallMethod {
    /// Unpacked from a release archive, by hand or by `install.sh`.
    Archive,
    /// Installed from npm.
    Npm,
    /// Installed from PyPI, by pip or pipx.
    Pip,
    /// Installed by Homebrew.
    Homebrew,
    /// Installed from a Debian package.
    Deb,
    /// Part of a container image.
    Docker,
    /// Built from a checkout.
    Source,
    /// The copy in the state directory that hooks run.
    HookCopy,
    /// The method is unknown: there is no known receipt, and the path does not show it.
    Unknown,
}

#[derive(Deserialize)]
struct InstallReceipt {
    method: InstallMethod,
}

impl InstallMethod {
    /// Detects the method from the receipt next to the program. Without a receipt, the program's path determines it.
    pub fn detect(program: &Path, home: Option<&Home>) -> Self {
        if home.is_some_and(|home| {
            fs_err::canonicalize(home.bin()).is_ok_and(|bin| program.parent() == Some(bin.as_path()))
        }) {
            return Self::HookCopy;
        }
        let receipt = shared_files(program).and_then(|dir| fs_err::read(dir.join(RECEIPT_FILE)).ok());
        match receipt.and_then(|bytes| serde_json::from_slice::<InstallReceipt>(&bytes).ok()) {
            // Homebrew installs the unchanged release archive. If the receipt names an archive, the path is
            // checked too.
            Some(receipt) if receipt.method != Self::Archive => receipt.method,
            found => {
                let by_path = Self::from_path(program);
                if found.is_some() && by_path == Self::Unknown { Self::Archive } else { by_path }
            }
        }
    }

    fn from_path(program: &Path) -> Self {
        let has = |name: &str| program.components().any(|part| part.as_os_str() == name);
        if has("node_modules") {
            Self::Npm
        } else if has("Cellar") || has("linuxbrew") || has("homebrew") {
            Self::Homebrew
        } else if has("site-packages") || has("pipx") {
            Self::Pip
        } else if program.starts_with("/usr/bin") {
            Self::Deb
        } else if has("target") && (has("debug") || has("release") || has("dist")) {
            Self::Source
        } else {
            Self::Unknown
        }
    }

    /// Name in messages and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::Npm => "npm",
            Self::Pip => "pip",
            Self::Homebrew => "homebrew",
            Self::Deb => "deb",
            Self::Docker => "docker",
            Self::Source => "source",
            Self::HookCopy => "hook-copy",
            Self::Unknown => "unknown",
        }
    }

    /// Command that upgrades a program installed this way; `None` if `self update` can upgrade it.
    pub fn upgrade_command(self) -> Option<&'static str> {
        match self {
            Self::Npm => Some("npm install --global tenterhook@latest"),
            Self::Pip => Some("pip install --upgrade tenterhook"),
            Self::Homebrew => Some("brew upgrade tenterhook"),
            Self::Deb => Some("sudo apt install ./tenterhook_<version>_<architecture>.deb"),
            Self::Docker => Some("docker pull tenterhook"),
            Self::Source => Some("git pull && make build"),
            Self::HookCopy => Some("tenterhook self update, with the `tenterhook` on your PATH"),
            Self::Archive | Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program_in(prefix: &Path, receipt: Option<&str>) -> std::path::PathBuf {
        let shared = prefix.join("share/tenterhook");
        std::fs::create_dir_all(&shared).unwrap();
        std::fs::create_dir_all(prefix.join("bin")).unwrap();
        if let Some(receipt) = receipt {
            std::fs::write(shared.join(RECEIPT_FILE), receipt).unwrap();
        }
        prefix.join("bin/tenterhook")
    }

    #[test]
    fn a_receipt_beside_the_program_names_the_method() {
        for (receipt, method) in [
            (Some(r#"{"method": "archive"}"#), InstallMethod::Archive),
            (Some(r#"{"method": "npm", "more": 1}"#), InstallMethod::Npm),
            (Some(r#"{"method": "pip"}"#), InstallMethod::Pip),
            (Some(r#"{"method": "deb"}"#), InstallMethod::Deb),
            (Some(r#"{"method": "surprise"}"#), InstallMethod::Unknown),
            (Some("{"), InstallMethod::Unknown),
            (None, InstallMethod::Unknown),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let program = program_in(dir.path(), receipt);
            assert_eq!(InstallMethod::detect(&program, None), method, "{receipt:?}");
        }
    }

    #[test]
    fn homebrew_is_recognised_although_it_unpacks_the_archive() {
        let dir = tempfile::tempdir().unwrap();
        let program =
            program_in(&dir.path().join("Cellar/tenterhook/0.1.0"), Some(r#"{"method": "archive"}"#));
        assert_eq!(InstallMethod::detect(&program, None), InstallMethod::Homebrew);
    }

    #[test]
    fn without_a_receipt_the_path_decides() {
        for (path, method) in [
            ("/usr/lib/node_modules/@tenterhook/linux-x64/bin/tenterhook", InstallMethod::Npm),
            ("/home/a/.local/pipx/venvs/tenterhook/bin/tenterhook", InstallMethod::Pip),
            ("/home/linuxbrew/.linuxbrew/bin/tenterhook", InstallMethod::Homebrew),
            ("/opt/homebrew/bin/tenterhook", InstallMethod::Homebrew),
            ("/usr/bin/tenterhook", InstallMethod::Deb),
            ("/home/a/tenterhook/target/release/tenterhook", InstallMethod::Source),
            ("/home/a/.local/bin/tenterhook", InstallMethod::Unknown),
            ("/usr/local/bin/tenterhook", InstallMethod::Unknown),
        ] {
            assert_eq!(InstallMethod::detect(Path::new(path), None), method, "{path}");
        }
    }

    #[test]
    fn the_copy_that_hooks_run_is_not_an_install() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let program = program_in(&root, Some(r#"{"method": "archive"}"#));
        let home = Home::in_dir(root);
        assert_eq!(InstallMethod::detect(&program, Some(&home)), InstallMethod::HookCopy);
    }
}
