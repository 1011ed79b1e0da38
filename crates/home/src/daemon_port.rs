// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The TCP port of the daemon, and a rule that keeps agents away from it.
//!
//! The built-in rule `guard-files` protects the default port. A daemon that listens on a different port writes the
//! port to `<state>/port`, and rules loaded afterwards include a rule for that port. The file stays when the daemon
//! ends. If it were removed, snapshots of the rules would be outdated whenever no daemon runs.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::ErrorKind;

use tenterhook_policy::SourceLayer;

use crate::sources::SourceFile;
use crate::trust::Standing;
use crate::{Home, read_file, write_atomic};
use tenterhook_error::Failure;

/// Default TCP port of the daemon.
pub const DEFAULT_PORT: u16 = 7878;
/// Name of the generated rule file, and id of its rule.
const RULE_NAME: &str = "daemon-port";

/// Stores the daemon's port, so that the rules can protect it. The file is removed if `port` is the default or `None`.
pub fn store_port(home: &Home, port: Option<u16>) -> Result<(), Failure> {
    let other = port.filter(|port| *port != DEFAULT_PORT);
    if read_port(home) == other {
        // An unchanged file is not written again: new timestamps would make snapshots of the rules outdated.
        return Ok(());
    }
    match other {
        Some(port) => write_atomic(&home.port(), format!("{port}\n").as_bytes(), 0o600),
        None => match fs_err::remove_file(home.port()) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        },
    }
}

/// The stored port, if it is not the default.
fn read_port(home: &Home) -> Option<u16> {
    read_file::state_file(&home.port()).ok()??.trim().parse().ok()
}

/// Creates a rule that protects the port of this home's daemon. `None` for the default port, which `guard-files`
/// protects.
pub(crate) fn protection_rule(home: &Home) -> Option<SourceFile> {
    let port = read_port(home)?;
    let mut yaml = format!("version: 1\npack: {RULE_NAME}\nrules:\n  - id: {RULE_NAME}\n");
    let _ = write!(
        yaml,
        "    description: Calls the API of Tenterhook, or closes its port\n    severity: critical\n    locked: true\n    \
         match:\n      any:\n        \
         - url: {{loopback: true, port: [{port}]}}\n        \
         - shell: {{program: [\"{{curl,wget,http,https,xh}}\"], words: [\"*{{127.0.0.1,localhost,[::1]}}:{port}/*\"]}}\n        \
         - shell: {{program: [iptables, ip6tables, nft, pfctl, ufw], words: [\"{{{port},*:{port},*/{port},{port}/*}}\"]}}\n    \
         verdict: deny\n    \
         reason: This would change or bypass Tenterhook, which protects this session; only the user may do that.\n    \
         nudge: tell the user what you want to do and which rule prevents it (`tenterhook explain` shows it)\n"
    );
    let (layer, standing) = (SourceLayer::Baseline, Standing::Trusted);
    Some(SourceFile {
        name: RULE_NAME.to_owned(),
        yaml: Cow::Owned(yaml),
        layer,
        standing,
        pack: Some(RULE_NAME.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use tenterhook_policy::RuleSet;

    use super::*;

    #[test]
    fn another_port_than_the_default_has_a_rule_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        home.create().unwrap();
        store_port(&home, Some(DEFAULT_PORT)).unwrap();
        assert!(protection_rule(&home).is_none() && !home.port().exists());
        store_port(&home, Some(40123)).unwrap();
        let text = protection_rule(&home).unwrap();
        let loaded = RuleSet::load(&[text.source()]);
        assert_eq!(loaded.problems, []);
        assert!(loaded.rules.rule("daemon-port").is_some_and(tenterhook_policy::Rule::locked));
        assert!(text.yaml.contains("port: [40123]"), "{}", text.yaml);
        store_port(&home, None).unwrap();
        assert!(protection_rule(&home).is_none());
    }
}
