// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Command → the addresses it would connect to.

use tenterhook_programs::{Location, Parsed, Program, Programs, Role, WordPart};
use tenterhook_shell_facts::describe_as;
use tenterhook_shell_facts::{ShellCommand, Word, expand_braces};

use super::arguments::Piece;
use super::read::{bare, place, readings};
use super::{UrlFact, git};

/// More addresses than a command names by hand.
const MOST: usize = 256;

/// The addresses a command would connect to, each once.
pub(crate) fn urls_of(command: &ShellCommand, programs: &Programs) -> Vec<UrlFact> {
    let mut found = Found::default();
    let mentions_address = || command.words.iter().any(|word| word.shape.contains("://"));
    match describe_as(programs, &command.program, command.description) {
        Some(program) if program.connects() || !program.ignores_addresses() && mentions_address() => {
            found.described(&command.words, &program);
        }
        None if mentions_address() => found.any(&command.words.iter().map(Piece::from).collect::<Vec<_>>()),
        _ => {}
    }
    for path in command.inputs.iter().chain(&command.outputs) {
        found.socket(path.resolved.as_deref().unwrap_or(&path.text), path.dynamic);
    }
    found.facts
}

/// The addresses found so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    facts: Vec<UrlFact>,
}

impl Found {
    fn push(&mut self, fact: UrlFact, piece: Piece<'_>) {
        let fact = UrlFact { text: piece.text.to_owned(), dynamic: piece.dynamic, ..fact };
        if self.facts.len() < MOST && !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
    }

    /// Whatever says by itself that it is an address, also as `--option=address` and `name @ address`.
    pub(super) fn any(&mut self, pieces: &[Piece<'_>]) {
        for piece in pieces {
            let inner = [piece.text.find('='), piece.text.find('@')].into_iter().flatten();
            let inner = inner.filter(|at| !piece.text.get(..*at).unwrap_or_default().contains("://"));
            for piece in inner.map(|at| piece.after(at + 1)).chain([*piece]) {
                if piece.shape.contains("://") && self.whole(piece) {
                    break;
                }
            }
        }
    }

    /// An address with its scheme; whether it is one.
    pub(super) fn whole(&mut self, piece: Piece<'_>) -> bool {
        let facts = readings(piece.shape);
        let found = !facts.is_empty();
        for fact in facts {
            self.push(fact, piece);
        }
        found
    }

    /// An address that may lack its scheme, or a host.
    pub(super) fn bare(&mut self, piece: Piece<'_>, scheme: &str) {
        let nowhere = ["file:", "data:"].iter().any(|start| piece.shape.starts_with(start));
        // A short number is the value of an option that nobody knows.
        let short = piece.shape.len() < 5
            && piece.shape != "0"
            && piece.shape.bytes().all(|byte| byte.is_ascii_digit());
        let written = ["://", "http:", "https:", "ftp:"].iter().any(|part| piece.shape.contains(part));
        if nowhere || short || written && self.whole(piece) {
            return;
        }
        // What an unknown start holds may be a whole address of its own.
        let shape = if piece.dynamic && piece.shape.starts_with('*') { "*" } else { piece.shape };
        if let Some(fact) = bare(shape, scheme) {
            self.push(fact, piece);
        }
    }

    /// `[user@]host:path`, or an address with its scheme.
    pub(super) fn place(&mut self, piece: Piece<'_>) -> bool {
        if piece.shape.contains("://") && self.whole(piece) {
            return true;
        }
        let fact = place(piece.shape);
        let found = fact.is_some();
        if let Some(fact) = fact {
            self.push(fact, piece);
        }
        found
    }

    fn host_and_port(&mut self, host: Piece<'_>, port: Option<Piece<'_>>) {
        if host.shape.contains("://") {
            self.whole(host);
        } else if let Some(fact) = bare(host.shape, "") {
            let port = fact.port.or_else(|| port?.text.parse().ok());
            self.push(UrlFact { port, ..fact }, host);
        }
    }

    /// What bash takes for a socket: `/dev/tcp/host/port`.
    fn socket(&mut self, path: &str, dynamic: bool) {
        let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"));
        let Some(rest) = rest else { return };
        let (host, port) = rest.split_once('/').unwrap_or((rest, ""));
        if let Some(fact) = bare(host, "") {
            let port = fact.port.or_else(|| port.parse().ok());
            self.push(UrlFact { port, ..fact }, Piece { text: path, shape: path, dynamic });
        }
    }

    /// What the words of a described program name.
    fn described(&mut self, words: &[Word], program: &Program<'_>) {
        let parsed = program.parse(words);
        let piece =
            |part: WordPart<'_>| words.get(part.word).map(|word| Piece::from(word).after(part.offset));
        if parsed.escape == "git" {
            git::add_settings(&parsed, piece, self);
        }
        let mut rest = Vec::new();
        for option in parsed.options.iter().filter(|option| !option.off) {
            let Some(value) = option.value.and_then(piece) else { continue };
            match option.role {
                Role::Host | Role::Proxy | Role::Url | Role::Download => {
                    let is_url = matches!(option.role, Role::Url | Role::Download);
                    let scheme = if is_url { "http" } else { "" };
                    let value = protocol_removed(value);
                    for shape in value.shape.split(',') {
                        self.bare(Piece { shape, ..value }, scheme);
                    }
                }
                Role::Route => self.route(value),
                Role::Image => self.image(value),
                Role::Place | Role::Repository => _ = self.place(value),
                Role::Lookup => self.lookup(value),
                _ => rest.push(value),
            }
        }
        self.operands(&parsed, piece, &mut rest);
        let here =
            parsed.inner.iter().filter(|command| command.location == Location::Here && !command.joined);
        for command in here {
            rest.extend(words.iter().take(command.end).skip(command.start).map(Piece::from));
        }
        if !program.ignores_addresses() {
            self.any(&rest);
        }
    }

    fn operands<'a>(
        &mut self,
        parsed: &Parsed<'_, '_>,
        piece: impl Fn(WordPart<'_>) -> Option<Piece<'a>>,
        rest: &mut Vec<Piece<'a>>,
    ) {
        let listens = parsed.has_role(Role::Listen);
        let port = parsed.parts_with_role(Role::Port).last().and_then(&piece);
        for operand in &parsed.operands {
            let Some(word) = piece(operand.part) else { continue };
            match operand.role {
                Role::Url | Role::Download => self.web(word),
                // `sftp me@a.test:/x`, `sftp a.test`
                Role::Host if word.shape.contains(":/") && self.place(word) => {}
                Role::Host if !listens => self.host_and_port(word, port),
                Role::Lookup => self.lookup(word),
                Role::Socket => self.socat(word),
                Role::Image => self.image(word),
                Role::Repository => self.repository(word),
                Role::Place | Role::Target if parsed.location != Location::Container => _ = self.place(word),
                Role::Host | Role::Port | Role::Method | Role::Pattern => {}
                _ => rest.push(word),
            }
        }
    }

    fn web(&mut self, operand: Piece<'_>) {
        // `:3000/x` is this machine.
        if let Some(rest) = operand.shape.strip_prefix(':') {
            let shape = format!("localhost:{rest}");
            return self.bare(Piece { shape: &shape, ..operand }, "http");
        }
        // curl has braces of its own.
        match expand_braces(operand.shape).filter(|_| operand.shape.contains('{')) {
            Some(each) => each.iter().for_each(|shape| self.bare(Piece { shape, ..operand }, "http")),
            None => self.bare(operand, "http"),
        }
    }

    /// Where curl really goes when it is told that a host is somewhere else: `HOST:PORT:ADDRESS[,ADDRESS]`.
    fn route(&mut self, value: Piece<'_>) {
        let place = value.shape.trim_start_matches('+').splitn(3, ':').nth(2);
        let addresses = place.into_iter().flat_map(|places| places.split(','));
        for shape in addresses.filter(|shape| !shape.starts_with(':')) {
            self.bare(Piece { shape, ..value }, "");
        }
    }

    /// A repository by its address. A name without a colon is one that is configured, or a directory.
    fn repository(&mut self, piece: Piece<'_>) {
        if !self.place(piece) && piece.dynamic && piece.shape.starts_with('*') {
            self.bare(piece, "");
        }
    }

    fn socat(&mut self, piece: Piece<'_>) {
        let (kind, rest) = piece.shape.split_once(':').unwrap_or((piece.shape, ""));
        let kind = kind.to_ascii_lowercase();
        let kinds = ["tcp", "udp", "openssl", "ssl", "sctp", "dccp", "socks", "proxy"];
        if kind.contains("listen")
            || kind.contains("-l")
            || !kinds.iter().any(|known| kind.starts_with(known))
        {
            return;
        }
        let rest = rest.split(',').next().unwrap_or_default();
        // A proxy first, then where it leads to.
        let (proxy, target) = match rest.split_once(':') {
            Some((proxy, target)) if kind.starts_with("socks") || kind.starts_with("proxy") => {
                (Some(proxy), target)
            }
            _ => (None, rest),
        };
        for shape in proxy.into_iter().chain([target]) {
            if let Some(fact) = bare(shape, "") {
                self.push(fact, piece);
            }
        }
    }

    fn lookup(&mut self, operand: Piece<'_>) {
        let shape = operand.shape.strip_prefix('@').unwrap_or(operand.shape);
        let is_type =
            shape.len() < 8 && shape.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let is_name = shape.contains(['.', ':', '*']) || shape == "localhost";
        if !operand.shape.starts_with('+') && !is_type && is_name {
            self.host_and_port(Piece { shape, ..operand }, None);
        }
    }

    /// An image, which may begin with the host of its registry.
    fn image(&mut self, image: Piece<'_>) {
        let first = image.shape.split_once('/').map_or("", |(first, _)| first);
        if image.shape.contains("://") {
            self.whole(image);
        } else if first.contains(['.', ':', '*']) || first == "localhost" {
            self.host_and_port(Piece { shape: first, ..image }, None);
        }
    }
}

/// `http:http://proxy.test`: a proxy for one protocol.
fn protocol_removed(value: Piece<'_>) -> Piece<'_> {
    let inner = value.text.split_once(':').filter(|(_, rest)| {
        rest.split_once("://")
            .is_some_and(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    });
    inner.map_or(value, |(protocol, _)| value.after(protocol.len() + 1))
}
