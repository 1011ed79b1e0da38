// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the addresses that a command would connect to.

use tenterhook_programs::{Location, ParsedArgs, Program, Programs, Role, WordSlice};
use tenterhook_shell_facts::find_description;
use tenterhook_shell_facts::{ShellCommand, ShellWord, expand_braces};

use super::parse::{parse_bare, parse_location, parse_readings};
use super::word_fragment::WordFragment;
use super::{UrlFact, git};

/// Maximum number of addresses collected from one command.
const MAX_URLS_PER_COMMAND: usize = 256;

/// Returns the addresses that a command would connect to, without duplicates.
pub(crate) fn urls_of_command(command: &ShellCommand, programs: &Programs) -> Vec<UrlFact> {
    let mut found = UrlCollector::default();
    let mentions_address = || command.words.iter().any(|word| word.shape.contains("://"));
    match find_description(programs, &command.program, command.description) {
        Some(program) if program.connects() || !program.ignores_addresses() && mentions_address() => {
            found.add_described(&command.words, &program);
        }
        None if mentions_address() => {
            found.add_any(&command.words.iter().map(WordFragment::from).collect::<Vec<_>>());
        }
        _ => {}
    }
    for path in command.inputs.iter().chain(&command.outputs).chain(&command.error_outputs) {
        found.add_socket(path.resolved.as_deref().unwrap_or(&path.text), path.dynamic);
    }
    found.facts
}

/// Collects the addresses of one command.
#[derive(Debug, Default)]
pub(super) struct UrlCollector {
    facts: Vec<UrlFact>,
}

impl UrlCollector {
    fn add(&mut self, fact: UrlFact, fragment: WordFragment<'_>) {
        let fact = UrlFact { text: fragment.text.to_owned(), dynamic: fragment.dynamic, ..fact };
        if self.facts.len() < MAX_URLS_PER_COMMAND && !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
    }

    /// Adds words that contain a full address, also as `--option=address` and `name @ address`.
    pub(super) fn add_any(&mut self, fragments: &[WordFragment<'_>]) {
        for fragment in fragments {
            let inner = [fragment.text.find('='), fragment.text.find('@')].into_iter().flatten();
            let inner = inner.filter(|at| !fragment.text.get(..*at).unwrap_or_default().contains("://"));
            for fragment in inner.map(|at| fragment.skip_bytes(at + 1)).chain([*fragment]) {
                if fragment.shape.contains("://") && self.add_url(fragment) {
                    break;
                }
            }
        }
    }

    /// Adds an address with a scheme. Returns false if the fragment is not one.
    pub(super) fn add_url(&mut self, fragment: WordFragment<'_>) -> bool {
        let facts = parse_readings(fragment.shape);
        let found = !facts.is_empty();
        for fact in facts {
            self.add(fact, fragment);
        }
        found
    }

    /// Adds an address that may lack its scheme, or a host.
    pub(super) fn add_host_or_url(&mut self, fragment: WordFragment<'_>, scheme: &str) {
        let nowhere = ["file:", "data:"].iter().any(|start| fragment.shape.starts_with(start));
        // A short number is more likely the value of an unknown option.
        let short = fragment.shape.len() < 5
            && fragment.shape != "0"
            && fragment.shape.bytes().all(|byte| byte.is_ascii_digit());
        let written = ["://", "http:", "https:", "ftp:"].iter().any(|part| fragment.shape.contains(part));
        if nowhere || short || written && self.add_url(fragment) {
            return;
        }
        // An unknown beginning may itself contain a whole address.
        let shape = if fragment.dynamic && fragment.shape.starts_with('*') { "*" } else { fragment.shape };
        if let Some(fact) = parse_bare(shape, scheme) {
            self.add(fact, fragment);
        }
    }

    /// Adds `[user@]host:path`, or an address with a scheme. Returns false if the fragment is neither.
    pub(super) fn add_location(&mut self, fragment: WordFragment<'_>) -> bool {
        if fragment.shape.contains("://") && self.add_url(fragment) {
            return true;
        }
        let fact = parse_location(fragment.shape);
        let found = fact.is_some();
        if let Some(fact) = fact {
            self.add(fact, fragment);
        }
        found
    }

    fn add_host_and_port(&mut self, host: WordFragment<'_>, port: Option<WordFragment<'_>>) {
        if host.shape.contains("://") {
            self.add_url(host);
        } else if let Some(fact) = parse_bare(host.shape, "") {
            let port = fact.port.or_else(|| port?.text.parse().ok());
            self.add(UrlFact { port, ..fact }, host);
        }
    }

    /// Adds a path that bash treats as a socket: `/dev/tcp/host/port`.
    fn add_socket(&mut self, path: &str, dynamic: bool) {
        let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"));
        let Some(rest) = rest else { return };
        let (host, port) = rest.split_once('/').unwrap_or((rest, ""));
        if let Some(fact) = parse_bare(host, "") {
            let port = fact.port.or_else(|| port.parse().ok());
            self.add(UrlFact { port, ..fact }, WordFragment { text: path, shape: path, dynamic });
        }
    }

    /// Adds the addresses in the words of a described program.
    fn add_described(&mut self, words: &[ShellWord], program: &Program<'_>) {
        let parsed = program.parse(words);
        let fragment = |part: WordSlice<'_>| {
            words.get(part.word).map(|word| WordFragment::from(word).skip_bytes(part.offset))
        };
        if parsed.escape == "git" {
            git::add_settings(&parsed, fragment, self);
        }
        let mut rest = Vec::new();
        for option in parsed.options.iter().filter(|option| !option.off) {
            let Some(value) = option.value.and_then(fragment) else { continue };
            match option.role {
                Role::Host | Role::Proxy | Role::Url | Role::Download => {
                    let is_url = matches!(option.role, Role::Url | Role::Download);
                    let scheme = if is_url { "http" } else { "" };
                    let value = strip_proxy_protocol(value);
                    for shape in value.shape.split(',') {
                        self.add_host_or_url(WordFragment { shape, ..value }, scheme);
                    }
                }
                Role::Route => self.add_route(value),
                Role::Image => self.add_image(value),
                Role::Place | Role::Repository => _ = self.add_location(value),
                Role::Lookup => self.add_lookup(value),
                _ => rest.push(value),
            }
        }
        self.add_operands(&parsed, fragment, &mut rest);
        let here =
            parsed.inner.iter().filter(|command| command.location == Location::Here && !command.joined);
        for command in here {
            rest.extend(words.iter().take(command.end).skip(command.start).map(WordFragment::from));
        }
        if !program.ignores_addresses() {
            self.add_any(&rest);
        }
    }

    fn add_operands<'a>(
        &mut self,
        parsed: &ParsedArgs<'_, '_>,
        fragment: impl Fn(WordSlice<'_>) -> Option<WordFragment<'a>>,
        rest: &mut Vec<WordFragment<'a>>,
    ) {
        let listens = parsed.has_role(Role::Listen);
        let port = parsed.parts_with_role(Role::Port).last().and_then(&fragment);
        for operand in &parsed.operands {
            let Some(word) = fragment(operand.part) else { continue };
            match operand.role {
                Role::Url | Role::Download => self.add_web_operand(word),
                // `sftp me@a.test:/x`, `sftp a.test`
                Role::Host if word.shape.contains(":/") && self.add_location(word) => {}
                Role::Host if !listens => self.add_host_and_port(word, port),
                Role::Lookup => self.add_lookup(word),
                Role::Socket => self.add_socat_address(word),
                Role::Image => self.add_image(word),
                Role::Repository => self.add_repository(word),
                Role::Place | Role::Target if parsed.location != Location::Container => {
                    self.add_location(word);
                }
                Role::Host | Role::Port | Role::Method | Role::Pattern => {}
                _ => rest.push(word),
            }
        }
    }

    fn add_web_operand(&mut self, operand: WordFragment<'_>) {
        // `:3000/x` is this machine.
        if let Some(rest) = operand.shape.strip_prefix(':') {
            let shape = format!("localhost:{rest}");
            return self.add_host_or_url(WordFragment { shape: &shape, ..operand }, "http");
        }
        // curl expands braces itself.
        match expand_braces(operand.shape).filter(|_| operand.shape.contains('{')) {
            Some(each) => {
                for shape in &each {
                    self.add_host_or_url(WordFragment { shape, ..operand }, "http");
                }
            }
            None => self.add_host_or_url(operand, "http"),
        }
    }

    /// Adds the addresses to which `curl --connect-to` and similar options redirect a host:
    /// `HOST:PORT:ADDRESS[,ADDRESS]`.
    fn add_route(&mut self, value: WordFragment<'_>) {
        let place = value.shape.trim_start_matches('+').splitn(3, ':').nth(2);
        let addresses = place.into_iter().flat_map(|places| places.split(','));
        for shape in addresses.filter(|shape| !shape.starts_with(':')) {
            self.add_host_or_url(WordFragment { shape, ..value }, "");
        }
    }

    /// Adds a repository by its address. A name without a colon is a configured remote or a directory.
    fn add_repository(&mut self, fragment: WordFragment<'_>) {
        if !self.add_location(fragment) && fragment.dynamic && fragment.shape.starts_with('*') {
            self.add_host_or_url(fragment, "");
        }
    }

    fn add_socat_address(&mut self, fragment: WordFragment<'_>) {
        let (kind, rest) = fragment.shape.split_once(':').unwrap_or((fragment.shape, ""));
        let kind = kind.to_ascii_lowercase();
        let kinds = ["tcp", "udp", "openssl", "ssl", "sctp", "dccp", "socks", "proxy"];
        if kind.contains("listen")
            || kind.contains("-l")
            || !kinds.iter().any(|known| kind.starts_with(known))
        {
            return;
        }
        let rest = rest.split(',').next().unwrap_or_default();
        // The proxy comes first, then its target.
        let (proxy, target) = match rest.split_once(':') {
            Some((proxy, target)) if kind.starts_with("socks") || kind.starts_with("proxy") => {
                (Some(proxy), target)
            }
            _ => (None, rest),
        };
        for shape in proxy.into_iter().chain([target]) {
            if let Some(fact) = parse_bare(shape, "") {
                self.add(fact, fragment);
            }
        }
    }

    fn add_lookup(&mut self, operand: WordFragment<'_>) {
        let shape = operand.shape.strip_prefix('@').unwrap_or(operand.shape);
        let is_type =
            shape.len() < 8 && shape.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let is_name = shape.contains(['.', ':', '*']) || shape == "localhost";
        if !operand.shape.starts_with('+') && !is_type && is_name {
            self.add_host_and_port(WordFragment { shape, ..operand }, None);
        }
    }

    /// Adds the registry of an image, if the image name begins with a host.
    fn add_image(&mut self, image: WordFragment<'_>) {
        let first = image.shape.split_once('/').map_or("", |(first, _)| first);
        if image.shape.contains("://") {
            self.add_url(image);
        } else if first.contains(['.', ':', '*']) || first == "localhost" {
            self.add_host_and_port(WordFragment { shape: first, ..image }, None);
        }
    }
}

/// Removes the protocol that a proxy is for: `http:http://proxy.test`.
fn strip_proxy_protocol(value: WordFragment<'_>) -> WordFragment<'_> {
    let inner = value.text.split_once(':').filter(|(_, rest)| {
        rest.split_once("://")
            .is_some_and(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    });
    inner.map_or(value, |(protocol, _)| value.skip_bytes(protocol.len() + 1))
}
