// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on one address a call would connect to.

use super::{Sense, Tell};
use crate::compile::Url;
use crate::facts::UrlFact;

impl Url {
    pub(super) fn check_all(&self, urls: &[UrlFact], sense: Sense, tell: Tell) -> Result<String, String> {
        match sense.pick(urls.iter(), |url| self.check(url, sense)) {
            Some(url) => Ok(format!("the address `{}`", url.text)),
            None => Err(tell.say(|| match (urls.first(), &self.host) {
                (None, _) => "it connects to nothing".to_owned(),
                (Some(_), Some(hosts)) => format!("no address is one of {}", hosts.names().list()),
                (Some(url), None) => format!("`{}` is another kind of address", url.text),
            })),
        }
    }

    fn check(&self, url: &UrlFact, sense: Sense) -> bool {
        let is = |wanted: Option<bool>, found: bool| wanted.is_none_or(|wanted| wanted == found);
        let host = |hosts: &crate::compile::glob::Hosts| {
            let unknown = url.dynamic && (url.host.contains('*') || url.host.is_empty());
            match (unknown, sense) {
                (false, _) => hosts.matches(&url.host),
                (true, Sense::Guards) => hosts.may_match(&url.host),
                (true, Sense::Vouches) => false,
            }
        };
        self.host.as_ref().is_none_or(host)
            && self.scheme.as_ref().is_none_or(|schemes| schemes.matches(&url.scheme))
            && (self.ports.is_empty() || port(url).is_some_and(|port| self.ports.contains(&port)))
            && is(self.user, url.user.is_some())
            && is(self.numeric, url.numeric)
            && is(self.loopback, url.loopback)
    }
}

/// The port that is written, or the scheme's own.
fn port(url: &UrlFact) -> Option<u16> {
    url.port.or(match url.scheme.as_str() {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        "ssh" | "sftp" | "scp" | "git+ssh" => Some(22),
        "ftp" => Some(21),
        "git" => Some(9418),
        _ => None,
    })
}
