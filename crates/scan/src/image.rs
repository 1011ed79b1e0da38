// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates commands that run while a container image is built. Most of their effects on the image are intended: `rm
//! -rf /var/lib/apt/lists/*` is usual in images, but `rm -rf /etc` is not.

use tenterhook_event::Event;
use tenterhook_facts::{Facts, FileOp, PathFact};
use tenterhook_policy::SessionState;

use tenterhook_rulebook::{Rulebook, Ruling, command_event};

/// Commands that are usual in image builds but dangerous on the user's machine. A rule that matches one of them
/// applies to an image build only if the command harms the image or the host.
const USUAL_IMAGE_COMMANDS: &str = "\
rm -rf /var/lib/apt/lists/* /usr/share/doc \"$CACHE\"
useradd app && echo 'app ALL=(ALL) NOPASSWD:ALL' >> /etc/sudoers && echo x >> /etc/passwd
chown -R app /etc/app /usr/lib/app && chmod -R 777 /srv && echo x > /etc/app.conf && mv x /usr/bin/x
rm ~/.bashrc && echo x >> ~/.bashrc && echo x >> /etc/profile && systemctl enable app && crontab x";

/// Directories without which an image does not work.
const ESSENTIAL_DIRECTORIES: &[&str] = &[
    "/",
    "/bin",
    "/boot",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/sbin",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/sbin",
    "/var",
    "/var/lib",
];
/// Directories that belong to the host: devices and kernel interfaces.
const HOST_DIRECTORIES: &[&str] = &["/dev", "/proc", "/sys"];

/// Returns the rulings on a script that also apply in an image build.
pub(crate) fn harmful_rulings(book: &Rulebook, event: &Event, rulings: Vec<Ruling>) -> Vec<Ruling> {
    if rulings.is_empty() {
        return rulings;
    }
    let usual =
        book.rulings_without_state(&command_event(USUAL_IMAGE_COMMANDS, event.cwd.as_deref(), event.ts));
    let is_usual = |ruling: &Ruling| usual.iter().any(|other| other.rule == ruling.rule);
    if !rulings.iter().any(is_usual) {
        return rulings;
    }
    let facts = keep_harmful(book.facts(event));
    let still = book.rulings_from_facts(event, &facts, &SessionState::default());
    let stands = |ruling: &Ruling| !is_usual(ruling) || still.iter().any(|other| other.rule == ruling.rule);
    rulings.into_iter().filter(stands).collect()
}

/// Keeps only the facts that are harmful even in an image build.
fn keep_harmful(facts: Facts) -> Facts {
    let mut facts = Facts { unparsed: false, unread: Vec::new(), ..facts };
    facts.effects.retain(|effect| {
        let takes = effect.recursive || matches!(effect.does, FileOp::Delete | FileOp::Move);
        effect.does != FileOp::Read && is_host_path(&effect.path) || takes && is_essential(&effect.path)
    });
    facts.commands.retain(|command| {
        command.operands.iter().any(|path| is_host_path(path) || is_essential(path))
            || command.outputs.iter().any(is_host_path)
    });
    facts
}

fn is_host_path(path: &PathFact) -> bool {
    let within = |directory: &&str| {
        let rest = path.resolved.as_deref().and_then(|path| path.strip_prefix(*directory));
        rest.is_some_and(|rest| rest.starts_with('/') && !rest.starts_with("/shm"))
    };
    // Writing to `/dev/null` and the like has no effect.
    let nothing = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];
    HOST_DIRECTORIES.iter().any(within)
        && !path.resolved.as_deref().is_some_and(|path| nothing.contains(&path))
}

fn is_essential(path: &PathFact) -> bool {
    let Some(whole) = path.resolved.as_deref().filter(|_| !path.dynamic) else { return false };
    let whole = whole.strip_suffix("/*").filter(|_| path.pattern).unwrap_or(whole);
    ESSENTIAL_DIRECTORIES.contains(&whole) || whole.is_empty()
}
