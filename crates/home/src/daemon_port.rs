// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The TCP port of the daemon, and a rule that keeps agents from it.
//!
//! The rule `guard-files` names the default port. A daemon that listens on another one writes it to
//! `<state>/port`, and rules that are read from then on name that port as well. The file stays when the daemon
//! ends: otherwise snapshots of the rules would be stale whenever no daemon runs.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::ErrorKind;

use tenterhook_policy::SourceLayer;

use crate::sources::Text;
use crate::trust::Standing;
use crate::{Home, read_file, write_whole};
use tenterhook_error::Failure;

/// Where a daemon listens unless it is told otherwise.
pub const DEFAULT_PORT: u16 = 7878;
/// The name of the generated rule file, and the id of its rule.
const NAME: &str = "daemon-port";

/// Writes down where the daemon listens, for the rules.
pub fn record(home: &Home, port: Option<u16>) -> Result<(), Failure> {
    let other = port.filter(|port| *port != DEFAULT_PORT);
    if read(home) == other {
        // The file keeps its times: a snapshot of the rules looks at them.
        return Ok(());
    }
    match other {
        Some(port) => write_whole(&home.port(), format!("{port}\n").as_bytes(), 0o600),
        None => match fs_err::remove_file(home.port()) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        },
    }
}

/// The port, if it is not the default.
fn read(home: &Home) -> Option<u16> {
    read_file::state_file(&home.port()).ok()??.trim().parse().ok()
}

/// A rule for the port of this home's daemon, if it is not the one that `guard-files` names.
pub(crate) fn rule(home: &Home) -> Option<Text> {
    let port = read(home)?;
    let mut yaml = format!("version: 1\npack: {NAME}\nrules:\n  - id: {NAME}\n");
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
    Some(Text { name: NAME.to_owned(), yaml: Cow::Owned(yaml), layer, standing, pack: Some(NAME.to_owned()) })
}

#[cfg(test)]
mod tests {
    use tenterhook_policy::RuleSet;

    use super::*;

    #[test]
    fn another_port_than_the_default_has_a_rule_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::whole(dir.path().to_owned());
        home.make().unwrap();
        record(&home, Some(DEFAULT_PORT)).unwrap();
        assert!(rule(&home).is_none() && !home.port().exists());
        record(&home, Some(40123)).unwrap();
        let text = rule(&home).unwrap();
        let loaded = RuleSet::load(&[text.source()]);
        assert_eq!(loaded.problems, []);
        assert!(loaded.rules.rule("daemon-port").is_some_and(tenterhook_policy::Rule::locked));
        assert!(text.yaml.contains("port: [40123]"), "{}", text.yaml);
        record(&home, None).unwrap();
        assert!(rule(&home).is_none());
    }
}
