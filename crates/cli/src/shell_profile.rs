// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Files from which a shell reads its `PATH` and completions, and the lines to add to them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use fs_err::OpenOptions;
use tenterhook_command::env::Env;
use tenterhook_harness_install::quote;
use tenterhook_home::{regular_bytes, write_atomic};

use crate::error::CommandError;

/// Comment above the lines that `init` adds to a file of the user.
const INIT_COMMENT: &str = "# added by `tenterhook init`";

/// Comment above the line that `install --sandbox` adds.
const LAUNCHERS_COMMENT: &str = "# added by `tenterhook install --sandbox`";

/// Maximum size of a file that a shell reads at its start.
const MAX_PROFILE_BYTES: u64 = 16 << 20;

/// A shell whose files are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserShell {
    Bash,
    Zsh,
    Fish,
}

/// Text to add to a file of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProfileAddition {
    pub(crate) file: PathBuf,
    /// Lines to append; for a file of its own, the whole content.
    pub(crate) text: String,
    /// Comment above the lines.
    comment: &'static str,
    /// Whether the file belongs to Tenterhook alone.
    pub(crate) is_own_file: bool,
}

impl UserShell {
    pub(crate) const ALL: &[Self] = &[Self::Bash, Self::Zsh, Self::Fish];

    /// The login shell, according to `SHELL`.
    pub(crate) fn detect(env: &Env) -> Option<Self> {
        let shell = env.all.get("SHELL")?;
        match Path::new(shell).file_name()?.to_str()? {
            "bash" => Some(Self::Bash),
            "zsh" => Some(Self::Zsh),
            "fish" => Some(Self::Fish),
            _ => None,
        }
    }

    /// Name of the shell, as `self completions` takes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }

    /// The line that puts a directory on the `PATH`.
    pub(crate) fn path_addition(self, env: &Env, directory: &Path) -> Option<ProfileAddition> {
        let shown = shell_path(env, directory)?;
        Some(match self {
            Self::Fish => ProfileAddition {
                file: config_directory(env)?.join("fish/conf.d/tenterhook.fish"),
                text: format!("{INIT_COMMENT}\nfish_add_path --append {shown}\n"),
                comment: INIT_COMMENT,
                is_own_file: true,
            },
            Self::Bash | Self::Zsh => ProfileAddition {
                file: self.startup_file(env)?,
                text: format!("export PATH=\"$PATH\":{shown}\n"),
                comment: INIT_COMMENT,
                is_own_file: false,
            },
        })
    }

    /// The line that puts a directory before all others on the `PATH`.
    pub(crate) fn first_path_addition(self, env: &Env, directory: &Path) -> Option<ProfileAddition> {
        let shown = shell_path(env, directory)?;
        let comment = LAUNCHERS_COMMENT;
        Some(match self {
            Self::Fish => ProfileAddition {
                file: config_directory(env)?.join("fish/conf.d/tenterhook-sandbox.fish"),
                text: format!("{comment}\nfish_add_path --path --prepend --move {shown}\n"),
                comment,
                is_own_file: true,
            },
            Self::Bash | Self::Zsh => ProfileAddition {
                file: self.startup_file(env)?,
                text: format!("export PATH={shown}:\"$PATH\"\n"),
                comment,
                is_own_file: false,
            },
        })
    }

    /// What makes the shell complete Tenterhook's words. `script` is the completion script.
    pub(crate) fn completion_addition(self, env: &Env, script: &str) -> Option<ProfileAddition> {
        let own = |file| ProfileAddition {
            file,
            text: script.to_owned(),
            comment: INIT_COMMENT,
            is_own_file: true,
        };
        Some(match self {
            Self::Bash => own(data_directory(env)?.join("bash-completion/completions/tenterhook")),
            Self::Fish => own(config_directory(env)?.join("fish/completions/tenterhook.fish")),
            // zsh reads completions only from directories that were listed before `compinit` ran, and every
            // configuration runs it at another place.
            Self::Zsh => ProfileAddition {
                file: self.startup_file(env)?,
                text: "(( $+functions[compdef] && $+commands[tenterhook] )) && source <(tenterhook self completions zsh)\n"
                    .to_owned(),
                comment: INIT_COMMENT,
                is_own_file: false,
            },
        })
    }

    /// Files with completions that a package installed.
    pub(crate) fn packaged_completions(self) -> &'static [&'static str] {
        match self {
            Self::Bash => &["/usr/share/bash-completion/completions/tenterhook"],
            Self::Zsh => &[
                "/usr/share/zsh/vendor-completions/_tenterhook",
                "/usr/share/zsh/site-functions/_tenterhook",
                "/usr/local/share/zsh/site-functions/_tenterhook",
                "/opt/homebrew/share/zsh/site-functions/_tenterhook",
            ],
            Self::Fish => &[
                "/usr/share/fish/vendor_completions.d/tenterhook.fish",
                "/usr/local/share/fish/vendor_completions.d/tenterhook.fish",
                "/opt/homebrew/share/fish/vendor_completions.d/tenterhook.fish",
            ],
        }
    }

    fn startup_file(self, env: &Env) -> Option<PathBuf> {
        let home = env.home.as_deref()?;
        let zdotdir = env.all.get("ZDOTDIR").map(PathBuf::from).filter(|directory| directory.is_absolute());
        Some(match self {
            Self::Bash if cfg!(target_os = "macos") => home.join(".bash_profile"),
            Self::Bash => home.join(".bashrc"),
            Self::Zsh => zdotdir.unwrap_or_else(|| home.to_owned()).join(".zshrc"),
            Self::Fish => config_directory(env)?.join("fish/config.fish"),
        })
    }
}

impl ProfileAddition {
    /// Whether the file already has the text.
    pub(crate) fn is_present(&self) -> bool {
        let Ok(Some(bytes)) = regular_bytes(&self.file, MAX_PROFILE_BYTES) else { return false };
        let is_line = |line: &[u8]| line.trim_ascii() == self.text.trim().as_bytes();
        if self.is_own_file {
            bytes == self.text.as_bytes()
        } else {
            bytes.split(|byte| *byte == b'\n').any(is_line)
        }
    }

    /// Adds the text, unless the file already has it. The rest of the file, its mode and a link to it are kept.
    pub(crate) fn write(&self) -> Result<(), CommandError> {
        if self.is_present() {
            return Ok(());
        }
        if let Some(directory) = self.file.parent() {
            fs_err::create_dir_all(directory)?;
        }
        if self.is_own_file {
            return write_atomic(&self.file, self.text.as_bytes(), 0o644);
        }
        let before = regular_bytes(&self.file, MAX_PROFILE_BYTES)?.unwrap_or_default();
        let gap = if before.is_empty() || before.ends_with(b"\n") { "" } else { "\n" };
        let text = format!("{gap}\n{}\n{}", self.comment, self.text);
        // Appended and not replaced, because such files are often links into another directory.
        let mut file = OpenOptions::new().create(true).append(true).open(&self.file)?;
        Ok(file.write_all(text.as_bytes())?)
    }

    /// Removes the text with its comment, if the file has it. The rest of the file, its mode and a link to it are kept.
    pub(crate) fn remove(&self) -> Result<(), CommandError> {
        let Some(bytes) = regular_bytes(&self.file, MAX_PROFILE_BYTES)? else { return Ok(()) };
        if self.is_own_file {
            return if bytes == self.text.as_bytes() { Ok(fs_err::remove_file(&self.file)?) } else { Ok(()) };
        }
        let Ok(text) = String::from_utf8(bytes) else { return Ok(()) };
        let block = format!("{}\n{}", self.comment, self.text);
        // The empty line before the block was added with it.
        let with_gap = format!("\n{block}");
        let rest = if text.contains(&with_gap) {
            text.replacen(&with_gap, "", 1)
        } else {
            text.replacen(&block, "", 1)
        };
        if rest == text {
            return Ok(());
        }
        let mut file = OpenOptions::new().write(true).truncate(true).open(&self.file)?;
        Ok(file.write_all(rest.as_bytes())?)
    }
}

/// A directory as a word of the shell.
fn shell_path(env: &Env, directory: &Path) -> Option<String> {
    Some(match directory.strip_prefix(env.home.as_deref()?) {
        Ok(below) if is_plain(below) => format!("\"$HOME/{}\"", below.display()),
        _ => quote(directory.to_str()?),
    })
}

/// Whether the path can be written in double quotes without escapes.
fn is_plain(path: &Path) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+ ".contains(letter);
    path.to_str().is_some_and(|path| path.chars().all(is_plain))
}

fn config_directory(env: &Env) -> Option<PathBuf> {
    let given = env.xdg_config_home.clone().filter(|directory| directory.is_absolute());
    given.or_else(|| Some(env.home.as_deref()?.join(".config")))
}

fn data_directory(env: &Env) -> Option<PathBuf> {
    let given = env.all.get("XDG_DATA_HOME").map(PathBuf::from).filter(|directory| directory.is_absolute());
    given.or_else(|| Some(env.home.as_deref()?.join(".local/share")))
}
