// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Determines what an MCP tool does on a service, from the words in its name and in its arguments.
//!
//! Servers name the same operation in many ways: `delete_repository`, `zones_delete`, `{"operation":
//! "TerminateInstances"}`, `{"action": "destroy"}`. The words are compared with the vocabulary in
//! [`tool_words`](super::tool_words): the verb shows what happens, and its object shows whether that matters.

mod arguments;

use tenterhook_event::ToolCall;

use super::tool_words::{
    ACCESS_OBJECTS, CHEAP_OBJECTS, DISABLING_VERBS, EVERYDAY_OBJECTS, HOME_SERVERS, KEY_STORES,
    PAYMENT_EXCEPTIONS, PAYMENT_OBJECTS, PROTECTIONS, PUBLISHED_OBJECTS, SECRET_SERVERS,
    STORED_SECRET_EXCEPTIONS, STORED_SECRETS, UNDOING_SERVERS, VALUABLE_OBJECTS, VerbKind, split_words,
    verb_kind,
};
use arguments::CallArguments;

/// Words between an operation's object and what contains it: `remove_label_from_issue`.
const PREPOSITIONS: &[&str] = &["from", "in", "of", "on", "for", "by", "with", "to"];
/// Objects in the names of tools that act on any kind of thing.
const GENERIC_OBJECTS: &[&str] =
    &["resource", "object", "thing", "one", "many", "bulk", "batch", "force", "record", "id"];
/// Objects in the names of tools that act on files of this machine.
const FILE_OBJECTS: &[&str] = &["file", "directory", "folder", "dir", "path"];
/// Words in the names of tools that run any operation.
const RUNNING_WORDS: &[&str] = &[
    "api",
    "call",
    "command",
    "do",
    "exec",
    "execute",
    "invoke",
    "operation",
    "perform",
    "request",
    "run",
    "tool",
];
/// Names of secrets that consist of several words.
const SECRET_PHRASES: &[&[&str]] = &[
    &["private", "key"],
    &["service", "role", "key"],
    &["signing", "key"],
    &["master", "key"],
    &["connection", "string"],
];
/// Servers that hold money.
const MONEY_SERVERS: &[&str] = &[
    "wallet", "coinbase", "binance", "kraken", "metamask", "ethereum", "solana", "bitcoin", "bank", "wise",
    "revolut", "venmo", "alpaca", "broker",
];
/// Servers whose vague operations, such as `reset`, act on a database.
const DATABASE_TOOLS: &[&str] = &["prisma", "drizzle", "database", "db", "migrate", "migration"];

/// Returns what the call does on the tool's service: `destroy`, `expose`, `unprotect`, `pay`, `reveal-secret`,
/// `publish`.
pub(crate) fn tool_actions(tool: &ToolCall) -> Vec<&'static str> {
    let mut arguments = CallArguments::default();
    arguments.visit(&tool.args, 0);
    // The path of an API request names what its method acts on.
    let mut requests = Vec::new();
    if let Some(path) = &arguments.request_path {
        for operation in &arguments.operations {
            let verb = match operation.as_str() {
                "POST" => "create",
                "PUT" | "PATCH" => "update",
                _ => continue,
            };
            requests.push(std::iter::once(verb.to_owned()).chain(path.iter().cloned()).collect::<Vec<_>>());
        }
        arguments.operations.retain(|operation| operation != "DELETE");
    }
    let name = split_words(tool.unprefixed_name());
    let mut phrases = vec![name.clone()];
    phrases.extend(arguments.operations.iter().map(|operation| {
        let mut words = split_words(operation);
        // A bare `delete` acts on the object in the tool's name.
        if words.len() == 1 {
            words.extend(
                name.iter()
                    .filter(|word| verb_kind(word).is_none() && !RUNNING_WORDS.contains(&word.as_str()))
                    .cloned(),
            );
        }
        words
    }));
    phrases.extend(requests);
    let server = tool.mcp.as_ref().map(|mcp| split_words(&mcp.server)).unwrap_or_default();
    let call = ToolPhrases {
        name,
        phrases,
        arguments,
        server,
        has_path: !tool.paths().is_empty(),
        lists_secrets: tool.unprefixed_name().to_ascii_lowercase().ends_with("secrets"),
    };
    let acts = [
        ("destroy", call.destroys()),
        ("expose", call.exposes()),
        ("unprotect", call.unprotects()),
        ("pay", call.pays()),
        ("reveal-secret", call.reveals_secret()),
        ("publish", call.publishes()),
    ];
    acts.into_iter().filter(|(_, is_done)| *is_done).map(|(act, _)| act).collect()
}

/// The operations of one call as words, with its arguments.
struct ToolPhrases {
    /// Words of the tool's name.
    name: Vec<String>,
    /// The tool's name and every operation in its arguments.
    phrases: Vec<Vec<String>>,
    arguments: CallArguments,
    /// Words of the server's name.
    server: Vec<String>,
    has_path: bool,
    /// Whether the tool's name contains the plural `secrets`, as in `get_secrets`.
    lists_secrets: bool,
}

impl ToolPhrases {
    fn destroys(&self) -> bool {
        let CallArguments { is_test, is_production, .. } = self.arguments;
        let can_undo = self.server.iter().any(|word| UNDOING_SERVERS.contains(&word.as_str()));
        let is_everything = has_all(&self.name, &["delete", "all"]);
        if is_test && !is_production || can_undo && !is_everything {
            return false;
        }
        let deletes_key = self.server.iter().any(|word| KEY_STORES.contains(&word.as_str()))
            && matches!(
                self.name.last().map(String::as_str),
                Some("del" | "delete" | "unlink" | "key" | "remove")
            );
        if deletes_key && !self.arguments.has_wildcard {
            return false;
        }
        let pushes_by_force = self.arguments.force_pushes
            && self.name.iter().any(|word| matches!(word.as_str(), "push" | "ref"))
            || has_all(&self.name, &["force", "push"]);
        let changes_all = self.arguments.has_empty_filter
            && self.name.iter().any(|word| word == "update" || word == "replace")
            && self.name.iter().any(|word| matches!(word.as_str(), "many" | "all" | "document" | "record"));
        let scales_down =
            self.arguments.scales_to_zero && self.name.iter().any(|word| word == "scale" || word == "update");
        let deletes_by_query = self
            .arguments
            .request_path
            .as_ref()
            .is_some_and(|path| has_all(path, &["delete", "by", "query"]) && !self.arguments.has_filter);
        pushes_by_force
            || deletes_by_query
            || scales_down
            || changes_all
            || self.arguments.drops_target
            || has_all(&self.name, &["power", "off"])
            || self.deletes_by_request()
            || self.phrases.iter().any(|phrase| self.phrase_destroys(phrase))
    }

    fn phrase_destroys(&self, phrase: &[String]) -> bool {
        let Some((verb, kind)) = main_verb(phrase) else { return false };
        let mut objects: Vec<&str> = phrase
            .iter()
            .map(String::as_str)
            .filter(|word| *word != verb)
            .take_while(|word| !PREPOSITIONS.contains(word))
            .collect();
        let is_specific = |word: &&str| {
            VALUABLE_OBJECTS.contains(word) || CHEAP_OBJECTS.contains(word) || EVERYDAY_OBJECTS.contains(word)
        };
        let is_named = objects.iter().any(is_specific);
        if !is_named {
            objects.extend(self.arguments.objects.iter().map(String::as_str));
        }
        // The keys name the object if nothing else does: `{"volume": "x"}`.
        let is_generic =
            |word: &&str| GENERIC_OBJECTS.contains(word) || self.server.iter().any(|name| name == word);
        let is_vague = !is_named && objects.iter().all(is_generic);
        if is_vague {
            objects.extend(self.arguments.key_words.iter().map(String::as_str));
            objects
                .extend(self.server.iter().map(String::as_str).filter(|word| DATABASE_TOOLS.contains(word)));
        }
        let has_any = |list: &[&str]| objects.iter().any(|word| list.contains(word));
        // A tag of a repository marks a release.
        let is_git_tag = self.arguments.is_repository_file && has_any(&["tag"]);
        let is_store = self.server.iter().any(|word| SECRET_SERVERS.contains(&word.as_str()));
        if self.arguments.is_permanent && kind.loses_objects() || is_store && kind == VerbKind::Deletes {
            return true;
        }
        let is_of_little_value = has_any(CHEAP_OBJECTS) && !has_any(VALUABLE_OBJECTS) && !is_git_tag
            || has_any(EVERYDAY_OBJECTS) && !has_any(VALUABLE_OBJECTS) && !self.arguments.is_production;
        match kind {
            VerbKind::Deletes if self.arguments.has_filter && !has_any(&["all", "batch"]) => false,
            // The rules about files decide about files on this machine.
            VerbKind::Deletes if self.has_path => {
                !is_vague && !has_any(FILE_OBJECTS) && has_any(VALUABLE_OBJECTS)
            }
            VerbKind::Destroys | VerbKind::Deletes => !is_of_little_value,
            VerbKind::Removes(valuable) => !self.has_path && has_any(valuable) && !has_any(CHEAP_OBJECTS),
            VerbKind::Reads | VerbKind::Creates | VerbKind::Changes | VerbKind::Pays => false,
        }
    }

    /// Whether the call is an API request that deletes a resource. The last known word of the path is the resource.
    fn deletes_by_request(&self) -> bool {
        let Some(path) = self.arguments.request_path.as_ref().filter(|_| self.arguments.deletes_by_request)
        else {
            return false;
        };
        // The tool may only store or show the request, as an API client with a collection of requests does.
        if main_verb(&self.name).is_some_and(|(_, kind)| matches!(kind, VerbKind::Reads | VerbKind::Creates))
        {
            return false;
        }
        let known = path.iter().rev().map(String::as_str).find_map(|word| {
            let is_cheap = CHEAP_OBJECTS.contains(&word) || EVERYDAY_OBJECTS.contains(&word);
            (is_cheap || VALUABLE_OBJECTS.contains(&word)).then_some(!is_cheap)
        });
        known.unwrap_or(false)
    }

    fn exposes(&self) -> bool {
        self.phrases.iter().any(|phrase| {
            let Some((verb, kind)) = main_verb(phrase) else { return false };
            let has_any = |list: &[&str]| phrase.iter().any(|word| list.contains(&word.as_str()));
            let gives_access = has_any(ACCESS_OBJECTS) || phrase.iter().any(|word| word == "security");
            let creates = matches!(kind, VerbKind::Creates | VerbKind::Changes);
            // Messages, events or a login for someone else.
            let forwards = creates
                && (self.arguments.forwards
                    || has_any(&["forwarding", "delegate"])
                    || has_any(&["webhook"]) && kind == VerbKind::Creates && self.arguments.has_address
                    || verb == "invite" && has_any(&["external", "guest"]));
            let creates_key = kind == VerbKind::Creates
                && (has_all(phrase, &["access", "key"])
                    || has_all(phrase, &["deploy", "key"])
                    || has_all(phrase, &["access", "token"])
                    || has_all(phrase, &["fine", "grained"]));
            let changes = kind == VerbKind::Changes || kind == VerbKind::Creates && gives_access;
            let by_name = kind == VerbKind::Changes && verb != "update" && has_any(&["public", "publicly"]);
            let is_outbound = has_any(&["egress", "outbound"]);
            let makes_admin =
                matches!(verb, "set" | "make" | "promote") && has_any(&["admin", "owner", "superuser"]);
            let adds_writer =
                kind == VerbKind::Creates && has_any(&["collaborator"]) && self.arguments.may_write;
            by_name
                || forwards
                || adds_writer
                || makes_admin && phrase.len() > 2
                || creates && self.arguments.publishes_page
                || creates_key
                || creates && self.arguments.is_full_role && has_any(&["user", "member"])
                || changes && self.arguments.is_for_everyone && !is_outbound
                || changes
                    && self.arguments.is_full_role
                    && (gives_access || matches!(verb, "grant" | "invite"))
                || verb == "transfer" && has_any(&["ownership", "repository", "repo", "domain", "project"])
        })
    }

    fn unprotects(&self) -> bool {
        let disables = self.phrases.iter().any(|phrase| {
            let words: Vec<&str> = phrase.iter().map(String::as_str).collect();
            let is_read = main_verb(phrase).is_some_and(|(_, kind)| kind == VerbKind::Reads);
            let is_home = self.server.iter().any(|word| HOME_SERVERS.contains(&word.as_str()));
            if words.contains(&"unprotect")
                || is_home && (words.contains(&"unlock") || words.contains(&"disarm"))
            {
                return true;
            }
            if is_home && has_all(phrase, &["open", "cover"]) {
                return true;
            }
            let disabling = words.iter().position(|word| DISABLING_VERBS.contains(word));
            // `mute_monitor`: the object may also be a verb.
            let is_first = disabling == Some(0);
            (!is_read || is_first)
                && disabling.is_some()
                && words.iter().any(|word| PROTECTIONS.contains(word))
        });
        let changes = || {
            self.phrases
                .iter()
                .filter_map(|phrase| main_verb(phrase))
                .any(|(_, kind)| kind == VerbKind::Changes)
        };
        !self.is_only_test() && (disables || self.arguments.turns_protection_off && changes())
    }

    fn pays(&self) -> bool {
        !self.is_only_test()
            && self.phrases.iter().any(|phrase| {
                let Some((verb, kind)) = main_verb(phrase) else { return false };
                let has_any =
                    |list: &[&str]| phrase.iter().any(|word| word != verb && list.contains(&word.as_str()));
                let holds_money = self.server.iter().any(|word| MONEY_SERVERS.contains(&word.as_str()));
                let is_sent =
                    phrase.iter().any(|word| matches!(word.as_str(), "send" | "transfer" | "trade" | "sell"));
                let moves = match kind {
                    VerbKind::Creates | VerbKind::Changes if holds_money && is_sent => true,
                    VerbKind::Pays => true,
                    VerbKind::Creates => {
                        has_any(PAYMENT_OBJECTS)
                            || verb == "send" && self.arguments.has_amount
                            || matches!(verb, "place" | "issue" | "send" | "submit")
                                && has_any(&["order", "transaction", "trade"])
                            || verb == "issue" && has_any(&["card"])
                    }
                    VerbKind::Changes => {
                        matches!(verb, "make" | "transfer") && has_any(PAYMENT_OBJECTS)
                            || verb == "transfer" && self.arguments.has_amount
                    }
                    _ => false,
                };
                moves && !has_any(PAYMENT_EXCEPTIONS)
            })
    }

    fn reveals_secret(&self) -> bool {
        let reads = |verb: &str| {
            matches!(
                verb,
                "get"
                    | "read"
                    | "access"
                    | "retrieve"
                    | "reveal"
                    | "decrypt"
                    | "fetch"
                    | "show"
                    | "view"
                    | "export"
                    | "download"
            )
        };
        let is_secret = |word: &String| STORED_SECRETS.contains(&word.as_str());
        let CallArguments { has_name, has_full_output, objects, .. } = &self.arguments;
        // A list of secrets contains only their names.
        let by_kind = objects.iter().any(is_secret) && (*has_name || *has_full_output);
        if self.arguments.decrypts {
            return true;
        }
        if self.lists_secrets && !by_kind {
            return false;
        }
        let is_store = self.server.iter().any(|word| SECRET_SERVERS.contains(&word.as_str()));
        let is_value = |word: &String| matches!(word.as_str(), "item" | "login" | "kv" | "value" | "data");
        let gets_value = self.name.iter().any(|word| word == "read" || word == "get")
            && (self.name.len() == 1 || self.name.iter().any(is_value))
            && !self.name.iter().any(|word| word == "list");
        if is_store && (gets_value || self.name.iter().any(|word| word == "export")) {
            return true;
        }
        self.phrases.iter().any(|phrase| {
            let Some((verb, _)) = main_verb(phrase) else { return false };
            let by_name =
                phrase.iter().any(is_secret) || SECRET_PHRASES.iter().any(|words| has_all(phrase, words));
            let is_other = phrase.iter().any(|word| STORED_SECRET_EXCEPTIONS.contains(&word.as_str()));
            (reads(verb) || verb == "describe" && by_kind) && (by_name || by_kind) && !is_other
        })
    }

    fn publishes(&self) -> bool {
        let writes = self.phrases.iter().any(|phrase| {
            let creates = main_verb(phrase)
                .is_some_and(|(_, kind)| matches!(kind, VerbKind::Creates | VerbKind::Changes));
            let mut words = phrase.iter().map(String::as_str);
            creates
                && (words.any(|word| PUBLISHED_OBJECTS.contains(&word)) || self.arguments.is_repository_file)
                && !phrase.iter().any(|word| {
                    matches!(
                        word.as_str(),
                        "secret"
                            | "env"
                            | "environment"
                            | "variable"
                            | "parameter"
                            | "credential"
                            | "token"
                            | "key"
                    )
                })
        });
        writes || self.arguments.sends_secret
    }

    fn is_only_test(&self) -> bool {
        self.arguments.is_test && !self.arguments.is_production
    }
}

/// Returns the verb that says what an operation does. The first verb is used, because reading about a deletion is not a
/// deletion. A name may also end with its verb (`zones_delete`).
fn main_verb(phrase: &[String]) -> Option<(&str, VerbKind)> {
    let find = |word: &String| verb_kind(word).map(|kind| (word.clone(), kind));
    let (at, first) = phrase.iter().enumerate().find_map(|(at, word)| Some((at, find(word)?.1)))?;
    let first_word = phrase.get(at)?.as_str();
    let last_word = phrase.last()?.as_str();
    let ends_in_verb = match verb_kind(last_word) {
        Some(kind @ (VerbKind::Destroys | VerbKind::Deletes | VerbKind::Removes(_) | VerbKind::Pays))
            // Blocks are also parts of pages: `append_blocks`.
            if matches!(first, VerbKind::Creates | VerbKind::Changes)
                && last_word != "block"
                && !phrase.iter().any(|word| word == "auto") =>
        {
            Some((last_word, kind))
        }
        _ => None,
    };
    Some(ends_in_verb.unwrap_or((first_word, first)))
}

fn has_all(words: &[String], wanted: &[&str]) -> bool {
    wanted.iter().all(|wanted| words.iter().any(|word| word == wanted))
}

/// Returns a text in lower case, without separators between words.
fn fold(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests;
