// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Command → the addresses it would connect to.

use super::arguments::{Arguments, Piece};
use super::programs::{How, Program, TEXT_ONLY, program_of};
use super::read::{bare, place, readings};
use super::{UrlFact, git};
use crate::facts::{ShellCommand, expand_braces};

/// More addresses than a command names by hand.
const MOST: usize = 256;

/// The addresses a command would connect to, each once.
pub(crate) fn urls_of(command: &ShellCommand) -> Vec<UrlFact> {
    let mut found = Found::default();
    if command.program == "git" {
        git::urls(&command.words, &mut found);
    } else if let Some(program) = program_of(&command.program) {
        found.program(command, program);
    } else if command.words.iter().any(|word| word.shape.contains("://"))
        && !TEXT_ONLY.split(' ').any(|name| name == command.program)
    {
        found.any(&command.words.iter().map(Piece::from).collect::<Vec<_>>());
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

    fn program(&mut self, command: &ShellCommand, program: &Program) {
        let given = Arguments::read(&command.words, program.letters, program.values);
        let scheme = if matches!(program.how, How::Web | How::Request) { "http" } else { "" };
        for value in given.values(program.hosts) {
            for part in value.shape.split(',') {
                self.bare(Piece { shape: part, ..value }, "");
            }
        }
        match program.how {
            How::Web => self.web(&command.program, &given, scheme),
            How::Request => self.request(&given),
            How::HostPort => {
                let listens = given.has(&["l", "listen", "U"]);
                let host = given.operands.first().filter(|_| !listens);
                if let Some(host) = host {
                    self.host_and_port(*host, given.operands.get(1).copied());
                }
            }
            How::Hosts => {
                for operand in &given.operands {
                    self.host_and_port(*operand, None);
                }
            }
            How::Shell => self.shell(&given),
            How::Copy => {
                for operand in &given.operands {
                    let found = self.place(*operand);
                    if !found && command.program == "sftp" {
                        self.host_and_port(*operand, None);
                    }
                }
            }
            How::Socat => {
                for operand in &given.operands {
                    self.socat(*operand);
                }
            }
            How::Lookup => self.lookup(&given),
            How::Images => self.images(&given),
            How::Options => self.any(&given.operands),
        }
    }

    fn web(&mut self, program: &str, given: &Arguments<'_>, scheme: &str) {
        for operand in &given.operands {
            // curl has braces of its own.
            let each =
                expand_braces(operand.shape).filter(|_| program == "curl" && operand.shape.contains('{'));
            match each {
                Some(each) => each.iter().for_each(|shape| self.bare(Piece { shape, ..*operand }, scheme)),
                None => self.bare(*operand, scheme),
            }
        }
        // Where curl really goes when it is told that a host is somewhere else.
        for value in given.values(&["resolve"]) {
            let place = value.shape.trim_start_matches('+').splitn(3, ':').nth(2);
            for shape in place.into_iter().flat_map(|places| places.split(',')) {
                self.bare(Piece { shape, ..value }, "");
            }
        }
        for value in given.values(&["connect-to"]) {
            if let Some(shape) = value.shape.splitn(3, ':').nth(2).filter(|rest| !rest.starts_with(':')) {
                self.bare(Piece { shape, ..value }, "");
            }
        }
        // `wget -e https_proxy=host:port`, `wget -i https://…/list`
        for value in given.values(&["e", "execute"]) {
            if let Some(proxy) = value.value().filter(|_| value.text.contains("proxy")) {
                self.bare(proxy, "");
            }
        }
        let lists: Vec<_> = given.values(&["i", "input-file"]).collect();
        self.any(&lists);
    }

    fn request(&mut self, given: &Arguments<'_>) {
        let method = |piece: &&Piece<'_>| piece.text.bytes().all(|byte| byte.is_ascii_uppercase());
        let Some(target) = given.operands.iter().find(|piece| !method(piece)) else { return };
        // `:3000/x` is this machine.
        match target.shape.strip_prefix(':') {
            Some(rest) => {
                let shape = format!("localhost:{rest}");
                self.bare(Piece { shape: &shape, ..*target }, "http");
            }
            None => self.bare(*target, "http"),
        }
        let proxies: Vec<_> = given
            .values(&["proxy"])
            .map(|value| value.after(value.text.find(':').map_or(0, |at| at + 1)))
            .collect();
        self.any(&proxies);
    }

    fn shell(&mut self, given: &Arguments<'_>) {
        let port = given.values(&["p"]).last();
        for setting in given.values(&["o"]) {
            let name = setting.text.split(['=', ' ']).next().unwrap_or_default().to_ascii_lowercase();
            if matches!(name.as_str(), "hostname" | "proxyjump") {
                self.bare(setting.after(name.len() + 1), "");
            }
        }
        if let Some(host) = given.operands.first() {
            self.host_and_port(*host, port);
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

    fn lookup(&mut self, given: &Arguments<'_>) {
        for operand in &given.operands {
            let shape = operand.shape.strip_prefix('@').unwrap_or(operand.shape);
            let is_type = shape.len() < 8
                && shape.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
            let is_name = shape.contains(['.', ':', '*']) || shape == "localhost";
            if !operand.shape.starts_with('+') && !is_type && is_name {
                self.host_and_port(Piece { shape, ..*operand }, None);
            }
        }
    }

    fn images(&mut self, given: &Arguments<'_>) {
        let mut operands =
            given.operands.iter().filter(|piece| piece.text != "image" && piece.text != "container");
        let verb = operands.next().map_or("", |piece| piece.text);
        match verb {
            "pull" | "push" | "run" | "create" | "from" => {
                let Some(image) = operands.next() else { return };
                let first = image.shape.split_once('/').map_or("", |(first, _)| first);
                if image.shape.contains("://") {
                    self.whole(*image);
                } else if first.contains(['.', ':', '*']) || first == "localhost" {
                    self.host_and_port(Piece { shape: first, ..*image }, None);
                }
            }
            "login" => {
                if let Some(host) = operands.next() {
                    self.bare(*host, "");
                }
            }
            "exec" => {}
            _ => self.any(&operands.copied().collect::<Vec<_>>()),
        }
    }
}
