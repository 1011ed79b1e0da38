// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds credential files by their names, and evaluates whether the active rules stop an agent that reads them.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use tenterhook_event::{Decision, Timestamp, ToolCall};
use tenterhook_guard::Configuration;
use tenterhook_home::Mode;
use tenterhook_home::packs::PackList;
use tenterhook_rulebook::{Rulebook, command_event, tool_call_event};
use tenterhook_setup::Setup;

use crate::{PostureFinding, PostureLevel, PostureTopic, count};

/// The rule pack about credential files.
const CREDENTIALS_PACK: &str = "credentials";
/// Maximum number of files that are examined in one directory.
const MAX_NAMES: usize = 2000;

/// Where credentials are stored: a directory below the home directory, and the names in it. `*` at the start or the end
/// of a name matches anything.
const HOME_STORES: &[(&str, &[&str])] = &[
    (".ssh", &["id_*", "*.pem", "*.key", "*_rsa", "*_ed25519", "*_ecdsa"]),
    (".aws", &["credentials"]),
    (".azure", &["accessTokens.json", "msal_token_cache.*", "service_principal_entries.*"]),
    (".config/gcloud", &["credentials.db", "application_default_credentials.json", "access_tokens.db"]),
    (".config/gh", &["hosts.yml"]),
    (".config/glab-cli", &["config.yml"]),
    (".config/git", &["credentials"]),
    (".config/rclone", &["rclone.conf"]),
    (".config/containers", &["auth.json"]),
    (".config/sops/age", &["keys.txt"]),
    (".config/doctl", &["config.yaml"]),
    (".config/hcloud", &["cli.toml"]),
    (".config/stripe", &["config.toml"]),
    (".config/pypoetry", &["auth.toml"]),
    (".config/solana", &["id.json"]),
    (".kube", &["config"]),
    (".docker", &["config.json"]),
    (".cargo", &["credentials", "credentials.toml"]),
    (".gem", &["credentials"]),
    (".m2", &["settings.xml"]),
    (".gradle", &["gradle.properties"]),
    (".terraform.d", &["credentials.tfrc.json"]),
    (".fly", &["config.yml"]),
    (".oci", &["config", "*.pem"]),
    (".cache/huggingface", &["token"]),
    (".kaggle", &["kaggle.json"]),
    (".composer", &["auth.json"]),
    (".claude", &[".credentials.json"]),
    (".codex", &["auth.json"]),
    (".gemini", &["oauth_creds.json"]),
    (".local/share/opencode", &["auth.json"]),
    (".gnupg/private-keys-v1.d", &["*.key"]),
    (".local/share/keyrings", &["*.keyring"]),
    (
        "",
        &[
            ".netrc",
            ".pgpass",
            ".npmrc",
            ".pypirc",
            ".git-credentials",
            ".vault-token",
            ".my.cnf",
            ".boto",
            ".s3cfg",
            ".databrickscfg",
            ".msmtprc",
            "*.kdbx",
            "*.p12",
            "*.pfx",
        ],
    ),
];

/// Names of files with credentials in a project.
const PROJECT_NAMES: &[&str] = &[".env*", "*.env", "*.p12", "*.pfx", "terraform.tfstate", "credentials.json"];
/// Names of files that only show the form of such a file.
const SAMPLE_NAMES: &[&str] = &["*.pub", "*.example", "*.sample", "*.template", "*.dist", ".envrc"];

/// A credential file.
struct CredentialFile {
    path: PathBuf,
    /// Name for users, with `~` for the home directory.
    shown: String,
}

/// Checks each credential file. Files that rules guard are counted in one line.
pub(crate) fn check_credentials(
    setup: &Setup<'_>,
    configuration: Configuration,
    now: Timestamp,
) -> Vec<PostureFinding> {
    let files = find_credential_files(setup);
    let cwd = setup.working_directory.as_deref().and_then(Path::to_str).map(ToOwned::to_owned);
    let is_enforced = configuration.mode == Mode::Enforce;
    let rulebook = Rulebook::new(configuration.rules, Vec::new(), setup.env.home.as_deref());
    // An unreadable list is a finding about rules.
    let is_off = PackList::read(setup.home).is_ok_and(|list| list.is_disabled(CREDENTIALS_PACK));
    let (mut findings, mut guarded) = (Vec::new(), 0);
    for file in &files {
        match weakest_verdict(&rulebook, &file.path, cwd.as_deref(), now) {
            Some(Decision::Deny | Decision::Ask) if is_enforced => guarded += 1,
            // The mode itself is a finding about rules.
            Some(Decision::Deny | Decision::Ask) => findings.push(PostureFinding::bad(
                PostureTopic::Credentials,
                PostureLevel::Open,
                &file.shown,
                "agents may read it: its rule is only monitored",
                "`tenterhook mode enforce`",
            )),
            _ => findings.push(PostureFinding::bad(
                PostureTopic::Credentials,
                PostureLevel::Open,
                &file.shown,
                "agents may read it: no active rule stops that",
                if is_off {
                    "`tenterhook rules enable credentials`".to_owned()
                } else {
                    format!("deny reading `{}` with a rule: `tenterhook rules new ID`", file.shown)
                },
            )),
        }
        if let Some(mode) = mode_for_others(&file.path) {
            findings.push(PostureFinding::bad(
                PostureTopic::Credentials,
                PostureLevel::Warning,
                &file.shown,
                format!("other accounts may read it (mode {mode:03o})"),
                format!("chmod 600 {}", quote(&file.path)),
            ));
        }
    }
    if guarded > 0 || files.is_empty() {
        let state = match files.len() {
            0 => "no known credential file found".to_owned(),
            _ => format!("{} guarded by rules", count(guarded, "file")),
        };
        findings.insert(0, PostureFinding::good(PostureTopic::Credentials, "credentials", state));
    }
    findings
}

/// Returns the weaker verdict on reading the file with a tool and with a command. An agent can choose either.
fn weakest_verdict(rulebook: &Rulebook, path: &Path, cwd: Option<&str>, now: Timestamp) -> Option<Decision> {
    let text = path.to_str()?;
    let read = tool_call_event(ToolCall::new("Read", json!({"file_path": text})), cwd, now);
    let shell = command_event(&format!("cat {}", quote(path)), cwd, now);
    let verdict = |event| rulebook.strictest_ruling(event).verdict;
    Some(verdict(&read).min(verdict(&shell)))
}

fn find_credential_files(setup: &Setup<'_>) -> Vec<CredentialFile> {
    let mut files = Vec::new();
    let home = setup.env.home.as_deref();
    if let Some(home) = home {
        for (directory, names) in HOME_STORES {
            let show = |name: &str| match *directory {
                "" => format!("~/{name}"),
                directory => format!("~/{directory}/{name}"),
            };
            files.extend(list_matching(&home.join(directory), names, show));
        }
    }
    let project = setup.working_directory.as_deref().filter(|directory| Some(*directory) != home);
    if let Some(project) = project {
        files.extend(list_matching(project, PROJECT_NAMES, |name| format!("./{name}")));
    }
    files
}

/// Lists the files of a directory whose names match. Opens no file.
fn list_matching(directory: &Path, names: &[&str], show: impl Fn(&str) -> String) -> Vec<CredentialFile> {
    let Ok(entries) = fs_err::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<CredentialFile> = entries
        .take(MAX_NAMES)
        .filter_map(Result::ok)
        .filter(|entry| fs_err::metadata(entry.path()).is_ok_and(|found| found.is_file()))
        .filter_map(|entry| {
            let name = entry.file_name().to_str()?.to_owned();
            let is_credential = matches_any(&name, names) && !matches_any(&name, SAMPLE_NAMES);
            is_credential.then(|| CredentialFile { shown: show(&name), path: entry.path() })
        })
        .collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

fn matches_any(name: &str, patterns: &[&str]) -> bool {
    patterns.iter().any(|pattern| match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == *pattern,
    })
}

/// Returns the mode of a file that other accounts can read; `None` if the file or a directory above it prevents that.
fn mode_for_others(path: &Path) -> Option<u32> {
    let path = fs_err::canonicalize(path).ok()?;
    let mode = fs_err::metadata(&path).ok()?.permissions().mode() & 0o777;
    let is_open = |directory: &Path| fs_err::metadata(directory).is_ok_and(|found| found.mode() & 0o001 != 0);
    (mode & 0o004 != 0 && path.ancestors().skip(1).all(is_open)).then_some(mode)
}

/// Quotes a path for a shell.
fn quote(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-~+@".contains(letter));
    if is_plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_at_the_start_the_end_or_entirely() {
        assert!(matches_any("id_rsa", &["id_*"]) && matches_any("x.pem", &["*.pem"]));
        assert!(matches_any("config", &["config"]) && !matches_any("config2", &["config"]));
        assert!(matches_any(".env.local", PROJECT_NAMES) && matches_any(".env.example", SAMPLE_NAMES));
        assert!(matches_any("id_rsa.pub", SAMPLE_NAMES));
    }

    #[test]
    fn a_file_below_a_private_directory_is_not_open_to_others() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a b'c");
        fs_err::write(&file, "").unwrap();
        let set =
            |path: &Path, mode| fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        set(&file, 0o644);
        set(directory.path(), 0o700);
        assert_eq!(mode_for_others(&file), None);
        set(directory.path(), 0o755);
        assert_eq!(mode_for_others(&file), Some(0o644));
        set(&file, 0o640);
        assert_eq!(mode_for_others(&file), None);
        assert!(quote(&file).ends_with(r"/a b'\''c'"));
    }
}
