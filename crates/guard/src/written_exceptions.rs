// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Findings about written files that need no question, because such files have this purpose: a workflow publishes
//! packages, a setup script runs the installer of a language, an `.envrc` loads credentials into variables.
//!
//! The rules are evaluated again when the session runs the file.

use tenterhook_command_files::RunLocation;
use tenterhook_event::Origin;
use tenterhook_facts::{Facts, UrlFact};

/// Programs that send data to an address of the caller's choice.
const RAW_SENDERS: &[&str] = &["curl", "wget", "nc", "ncat", "netcat", "socat", "telnet", "scp", "rsync"];
/// Rules about data and services on other machines, which scripts for deployments and development change on purpose. A
/// script that the user or the session starts is evaluated when it starts.
const OPERATION_RULES: &[&str] = &["cluster-destroy", "remote-destroy", "sql-destroy"];
/// Rules about reading credentials.
const CREDENTIAL_RULES: &[&str] = &["credential-read", "credential-print", "secret-file-read"];
/// Addresses of installers that the documentation of their projects names. Only the project can change them.
const KNOWN_INSTALLERS: &[&str] = &[
    "https://apt.llvm.org/llvm.sh",
    "https://astral.sh/",
    "https://bun.sh/install",
    "https://claude.ai/install.sh",
    "https://deb.nodesource.com/setup_",
    "https://deno.land/install.sh",
    "https://fnm.vercel.app/install",
    "https://get.docker.com",
    "https://get.helm.sh/",
    "https://get.k3s.io",
    "https://get.pnpm.io/install.sh",
    "https://get.sdkman.io",
    "https://get.volta.sh",
    "https://install.python-poetry.org",
    "https://just.systems/install.sh",
    "https://mise.run",
    "https://raw.githubusercontent.com/Homebrew/install/",
    "https://raw.githubusercontent.com/golangci/golangci-lint/",
    "https://raw.githubusercontent.com/helm/helm/",
    "https://raw.githubusercontent.com/nvm-sh/nvm/",
    "https://raw.githubusercontent.com/ohmyzsh/ohmyzsh/",
    "https://rpm.nodesource.com/setup_",
    "https://sh.rustup.rs",
    "https://starship.rs/install.sh",
    "https://taskfile.dev/install.sh",
];

/// What is known about the commands of a written file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WrittenCommands {
    /// A build service runs them, and they send nothing to an address of their own.
    is_release: bool,
    /// Every address that they name belongs to a known installer.
    uses_known_installers: bool,
    /// They name no address and start no program that sends data.
    is_local: bool,
}

impl WrittenCommands {
    pub(crate) fn of(facts: &Facts, location: RunLocation) -> Self {
        let is_sender = |program: &str| RAW_SENDERS.contains(&program);
        let sends = facts.commands.iter().any(|command| is_sender(&command.program));
        Self {
            is_release: location == RunLocation::BuildMachine && !sends,
            uses_known_installers: !facts.urls.is_empty() && facts.urls.iter().all(is_known_installer),
            // `op://vault/item` names an entry of a password manager.
            is_local: facts.urls.iter().all(|url| url.scheme == "op") && !sends,
        }
    }

    /// Whether a finding about the commands needs no question. `is_automatic` says whether they run without a command of
    /// the user; `path` is the file.
    pub(crate) fn is_expected(self, by: &Origin, path: &str, is_automatic: bool) -> bool {
        let Origin::Rule(id) = by else { return false };
        let is_one_of = |rules: &[&str]| rules.contains(&&**id);
        self.is_release && &**id == "publish"
            || self.uses_known_installers && is_one_of(&["remote-code", "remote-code-unknown"])
            || !is_automatic && is_one_of(OPERATION_RULES)
            || self.is_local && path.ends_with("/.envrc") && is_one_of(CREDENTIAL_RULES)
    }
}

fn is_known_installer(url: &UrlFact) -> bool {
    !url.dynamic
        && url.user.is_none()
        && KNOWN_INSTALLERS.iter().any(|known| {
            let rest = url.text.strip_prefix(known);
            rest.is_some_and(|rest| {
                rest.is_empty() || known.ends_with(['/', '_']) || rest.starts_with(['/', '?', '#'])
            }) && !url.text.contains("..")
        })
}

#[cfg(test)]
mod tests {
    use tenterhook_facts::parse_url;

    use super::*;

    #[test]
    fn only_addresses_of_the_projects_are_known_installers() {
        let is_known = |text: &str| is_known_installer(&parse_url(text).unwrap());
        for text in [
            "https://sh.rustup.rs",
            "https://sh.rustup.rs/",
            "https://astral.sh/uv/install.sh",
            "https://deb.nodesource.com/setup_20.x",
            "https://raw.githubusercontent.com/nvm-sh/nvm/v0.40.0/install.sh",
        ] {
            assert!(is_known(text), "{text}");
        }
        for text in [
            "http://sh.rustup.rs",
            "https://sh.rustup.rs.evil.test/",
            "https://sh.rustup.rs@evil.test/",
            "https://raw.githubusercontent.com/x/y/main/install.sh",
            "https://raw.githubusercontent.com/nvm-sh/nvm/../../x/y/i.sh",
        ] {
            assert!(!is_known(text), "{text}");
        }
    }
}
