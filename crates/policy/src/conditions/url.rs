// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on one address that a call would connect to.

use serde::{Deserialize, Serialize};
use tenterhook_facts::{UnreadText, UrlFact};

use super::glob::{HostGlobs, NameGlobs};
use super::match_mode::{Explain, MatchFailure, MatchMode};
use super::non_empty::MayBeEmpty;
use super::one_or_more::{OneOrMore, values};
use crate::error::RuleMatcherError;
use crate::index::{IndexTerm, NeedList, Rarity};

/// Conditions on one address that a call would connect to.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions on an address")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Url"))]
pub(crate) struct UrlCondition {
    /// Globs on the host, without scheme and port; `*.x.org` is any host below `x.org`, and `!` excludes hosts.
    pub(crate) host: Option<HostGlobs>,
    /// The scheme: any of these, such as `http`. An empty string matches an address without a scheme (`host:port`).
    pub(crate) scheme: Option<NameGlobs>,
    /// The port: any of these. An address without a port has the default port of its scheme.
    pub(crate) port: Option<OneOrMore<u16>>,
    /// Whether the address contains a user name (before `@`).
    pub(crate) user: Option<bool>,
    /// Whether the host is an IP address.
    pub(crate) numeric: Option<bool>,
    /// Whether the address certainly refers to this machine.
    pub(crate) loopback: Option<bool>,
}

impl MayBeEmpty for UrlCondition {
    fn is_empty(&self) -> bool {
        let Self { host, scheme, port, user, numeric, loopback } = self;
        let flags = [user, numeric, loopback];
        host.is_none() && scheme.is_none() && port.is_none() && flags.iter().all(|flag| flag.is_none())
    }
}

impl UrlCondition {
    /// Merges the short form `host` into the condition.
    pub(super) fn with_host(
        url: Option<Self>,
        host: Option<HostGlobs>,
    ) -> Result<Option<Self>, RuleMatcherError> {
        let Some(host) = host else { return Ok(url) };
        let url = url.unwrap_or_default();
        if url.host.is_some() {
            return Err(RuleMatcherError::HostTwice);
        }
        Ok(Some(Self { host: Some(host), ..url }))
    }

    pub(super) fn add_needs(&self, to: &mut NeedList) {
        let Self { host, scheme: _, port: _, user: _, numeric: _, loopback: _ } = self;
        to.add_hosts(host.as_ref());
        to.add_words(Rarity::Seldom, &[IndexTerm::SomeUrl]);
    }

    pub(super) fn check_all(
        &self,
        urls: &[UrlFact],
        mode: MatchMode,
        explain: Explain,
    ) -> Result<String, MatchFailure> {
        match mode.pick(urls.iter(), |url| self.check(url, mode)) {
            Some(url) => Ok(format!("the address `{}`", url.text)),
            None => Err(explain.failure(|| match (urls.first(), &self.host) {
                (None, _) => "it connects to no address".to_owned(),
                (Some(_), Some(hosts)) => format!("no address matches {}", hosts.names().display_list()),
                (Some(url), None) => format!("the address `{}` does not match", url.text),
            })),
        }
    }

    fn check(&self, url: &UrlFact, mode: MatchMode) -> bool {
        let Self { host, scheme, port, user, numeric, loopback } = self;
        let is = |wanted: Option<bool>, found: bool| wanted.is_none_or(|wanted| wanted == found);
        let host_fits = |hosts: &HostGlobs| {
            let unknown = url.dynamic && (url.host.contains('*') || url.host.is_empty());
            match (unknown, mode) {
                (false, _) => hosts.matches(&url.host),
                (true, MatchMode::Any) => hosts.may_match(&url.host),
                (true, MatchMode::All) => false,
            }
        };
        let ports = values(port.as_ref());
        host.as_ref().is_none_or(host_fits)
            && scheme.as_ref().is_none_or(|schemes| schemes.matches(&url.scheme))
            && (ports.is_empty() || effective_port(url).is_some_and(|port| ports.contains(&port)))
            && is(*user, url.user.is_some())
            && is(*numeric, url.numeric)
            && is(*loopback, url.loopback)
    }

    /// Returns the part of an unparsed text that this condition looks for.
    pub(super) fn match_unparsed(&self, text: &UnreadText) -> Option<String> {
        let Self { host, scheme: _, port: _, user: _, numeric: _, loopback: _ } = self;
        if text.is_opaque {
            return Some("more than can be analysed".to_owned());
        }
        let hosts = host.as_ref()?;
        if let Some(host) = hosts.names().find_mentioned(|part| text.contains(part)) {
            return Some(format!("`{host}`"));
        }
        (hosts.is_any() && text.contains("://")).then(|| "an address".to_owned())
    }
}

/// Returns the port in the address, or the default port of its scheme.
fn effective_port(url: &UrlFact) -> Option<u16> {
    url.port.or(match url.scheme.as_str() {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        "ssh" | "sftp" | "scp" | "git+ssh" => Some(22),
        "ftp" => Some(21),
        "git" => Some(9418),
        _ => None,
    })
}
