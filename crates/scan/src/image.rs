// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a command does to an image that is being built is its builder's own business, command by
//! command: `rm -rf /var/lib/apt/lists/*` is how images are made, `rm -rf /etc` is not.

use tenterhook_event::Event;
use tenterhook_facts::{Does, Facts, PathFact};
use tenterhook_policy::SessionState;

use tenterhook_rulebook::{Rulebook, Ruling, about_to_run};

/// What images are made of, and nobody should do to their own machine. A rule that has nothing against
/// any of it has its reasons in an image, too.
const USUAL: &str = "\
rm -rf /var/lib/apt/lists/* /usr/share/doc \"$CACHE\"
useradd app && echo 'app ALL=(ALL) NOPASSWD:ALL' >> /etc/sudoers && echo x >> /etc/passwd
chown -R app /etc/app /usr/lib/app && chmod -R 777 /srv && echo x > /etc/app.conf && mv x /usr/bin/x
echo x >> ~/.bashrc && echo x >> /etc/profile && systemctl enable app && crontab x";

/// Directories without which there is no image.
const NEEDED: &[&str] = &[
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
/// What is not the image's own: devices and the kernel, which the machine lends.
const LENT: &[&str] = &["/dev", "/proc", "/sys"];

/// Which of the rulings on a text stand if it runs in an image.
pub(crate) fn objections(book: &Rulebook, event: &Event, rulings: Vec<Ruling>) -> Vec<Ruling> {
    if rulings.is_empty() {
        return rulings;
    }
    let usual = book.rulings_on(&about_to_run(USUAL, event.cwd.as_deref(), event.ts));
    let is_usual = |ruling: &Ruling| usual.iter().any(|other| other.rule == ruling.rule);
    if !rulings.iter().any(is_usual) {
        return rulings;
    }
    let facts = unusual(book.facts(event));
    let still = book.rulings_by(event, &facts, &SessionState::default());
    let stands = |ruling: &Ruling| !is_usual(ruling) || still.iter().any(|other| other.rule == ruling.rule);
    rulings.into_iter().filter(stands).collect()
}

/// Only what harms even an image.
fn unusual(facts: Facts) -> Facts {
    let mut facts = Facts { unparsed: false, unread: Vec::new(), ..facts };
    facts.effects.retain(|effect| {
        let takes = effect.recursive || matches!(effect.does, Does::Delete | Does::Move);
        effect.does != Does::Read && is_lent(&effect.path) || takes && is_needed(&effect.path)
    });
    facts.commands.retain(|command| {
        command.operands.iter().any(|path| is_lent(path) || is_needed(path))
            || command.outputs.iter().any(is_lent)
    });
    facts
}

fn is_lent(path: &PathFact) -> bool {
    let within = |directory: &&str| {
        let rest = path.resolved.as_deref().and_then(|path| path.strip_prefix(*directory));
        rest.is_some_and(|rest| rest.starts_with('/') && !rest.starts_with("/shm"))
    };
    // What is written to `/dev/null` is gone, and that is all.
    let nothing = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];
    LENT.iter().any(within) && !path.resolved.as_deref().is_some_and(|path| nothing.contains(&path))
}

fn is_needed(path: &PathFact) -> bool {
    let Some(whole) = path.resolved.as_deref().filter(|_| !path.dynamic) else { return false };
    let whole = whole.strip_suffix("/*").filter(|_| path.pattern).unwrap_or(whole);
    NEEDED.contains(&whole) || whole.is_empty()
}
