// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Determines what an MCP tool does on a service, from the words in its name and in its arguments.
//!
//! Servers name the same operation in many ways: `delete_repository`, `zones_delete`, `{"operation":
//! "TerminateInstances"}`, `{"action": "destroy"}`. The words are compared with the vocabulary in
//! [`tool_words`](super::tool_words): the verb shows what happens, and its object shows whether that matters.

use serde_json::{Map, Value};
use tenterhook_event::ToolCall;

use super::tool_words::{
    ACCESS_OBJECTS, AUDIENCE_KEYS, CHEAP_OBJECTS, DISABLING_VERBS, EVERYDAY_OBJECTS, EVERYONE_VALUES,
    FORWARDING_KEYS, FULL_ROLES, HOME_SERVERS, KEY_STORES, PAYMENT_EXCEPTIONS, PAYMENT_OBJECTS,
    PRODUCTION_WORDS, PROTECTING_KEYS, PROTECTIONS, PUBLISHED_OBJECTS, REVEALING_KEYS, ROLE_KEYS,
    SECRET_SERVERS, STORED_SECRET_EXCEPTIONS, STORED_SECRETS, TEST_WORDS, UNDOING_SERVERS, VALUABLE_OBJECTS,
    VerbKind, split_words, verb_kind,
};

/// Keys that name the operation of a tool that has several. Keys are folded.
pub(crate) const OPERATION_KEYS: &[&str] = &[
    "action",
    "actionname",
    "actiontype",
    "apiaction",
    "apicall",
    "apimethod",
    "apiname",
    "command",
    "method",
    "methodname",
    "mode",
    "op",
    "operation",
    "operationid",
    "operationname",
    "operationtype",
    "service",
    "subcommand",
    "tool",
    "toolname",
    "verb",
];
/// Keys that name the kind of thing that an operation acts on.
const OBJECT_KEYS: &[&str] = &[
    "entity",
    "entitytype",
    "kind",
    "object",
    "objecttype",
    "resource",
    "resourcekind",
    "resourcetype",
    "type",
];
/// Keys of conditions that restrict an operation to some entries.
const FILTER_KEYS: &[&str] = &["condition", "conditions", "filter", "filters", "query", "selector", "where"];
/// Keys of the path of an API request.
const REQUEST_PATH_KEYS: &[&str] = &["endpoint", "path", "route", "uri", "url"];
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
/// Maximum nesting depth of arguments that are looked at.
const MAX_ACTION_DEPTH: usize = 8;
/// Maximum length of a mutation that is read.
const MAX_MUTATION_LETTERS: usize = 4096;
/// Maximum length of an argument that names an operation or a target.
const MAX_NAME_BYTES: usize = 128;

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

/// The arguments of a call that say what an operation is and what it acts on.
#[derive(Debug, Default)]
struct CallArguments {
    /// Names of operations.
    operations: Vec<String>,
    /// Words for the kind of thing that the operation acts on.
    objects: Vec<String>,
    /// Words in the keys of the arguments.
    key_words: Vec<String>,
    /// Words in the resource path of an API request with the method `DELETE`, outer words first.
    request_path: Option<Vec<String>>,
    deletes_by_request: bool,
    has_filter: bool,
    has_empty_filter: bool,
    drops_target: bool,
    forwards: bool,
    has_address: bool,
    has_name: bool,
    force_pushes: bool,
    has_full_output: bool,
    scales_to_zero: bool,
    decrypts: bool,
    has_amount: bool,
    has_wildcard: bool,
    is_test: bool,
    is_production: bool,
    is_for_everyone: bool,
    is_full_role: bool,
    turns_protection_off: bool,
    is_repository_file: bool,
    sends_secret: bool,
}

impl CallArguments {
    fn visit(&mut self, value: &Value, depth: usize) {
        if depth >= MAX_ACTION_DEPTH {
            return;
        }
        match value {
            Value::Object(fields) => self.visit_fields(fields, depth),
            Value::Array(items) => items.iter().for_each(|item| {
                if let Value::String(text) = item {
                    self.add_target(text);
                }
                self.visit(item, depth + 1);
            }),
            Value::String(text)
                if depth > 0 && text.trim_start().starts_with('{') && text.len() < 16 * 1024 =>
            {
                if let Ok(inner) = serde_json::from_str::<Value>(text) {
                    self.visit(&inner, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn visit_fields(&mut self, fields: &Map<String, Value>, depth: usize) {
        let has = |names: &[&str]| names.iter().all(|name| fields.contains_key(*name));
        self.is_repository_file |= has(&["owner", "repo"]) || has(&["project_id", "branch"]);
        for (key, value) in fields {
            let folded = fold(key);
            if depth < 2 {
                // Keys that identify anything say nothing about the kind of thing.
                let words = split_words(key)
                    .into_iter()
                    .filter(|word| !matches!(word.as_str(), "key" | "token" | "all"));
                self.key_words.extend(words);
            }
            self.decrypts |= REVEALING_KEYS.contains(&folded.as_str()) && *value == Value::Bool(true);
            self.drops_target |= matches!(folded.as_str(), "droptarget" | "isdestroy" | "destroy")
                && *value == Value::Bool(true);
            self.has_amount |= folded == "amount" || folded == "lamports";
            let text = value.as_str().filter(|text| text.len() <= MAX_NAME_BYTES).unwrap_or_default();
            if OPERATION_KEYS.contains(&folded.as_str()) {
                self.add_operation(value, text);
            }
            if matches!(folded.as_str(), "query" | "mutation" | "document" | "graphql") {
                self.operations.extend(value.as_str().map(mutation_fields).unwrap_or_default());
            }
            if OBJECT_KEYS.contains(&folded.as_str()) && !text.contains(char::is_whitespace) {
                self.objects.extend(split_words(text.rsplit('/').next().unwrap_or(text)));
            }
            if REQUEST_PATH_KEYS.contains(&folded.as_str()) && !text.is_empty() {
                self.request_path = Some(split_words(text.split('?').next().unwrap_or(text)));
            }
            let is_mutation = value.as_str().is_some_and(|text| text.trim_start().starts_with("mutation"));
            let is_filter = FILTER_KEYS.contains(&folded.as_str()) && !is_mutation;
            self.has_filter |= is_filter && is_filled(value);
            self.has_empty_filter |= is_filter && !is_filled(value);
            self.forwards |= FORWARDING_KEYS.contains(&folded.as_str()) && text.contains('@');
            self.has_address |= matches!(folded.as_str(), "url" | "targeturl" | "webhookurl" | "endpoint")
                && text.starts_with("http")
                && !text.contains("localhost");
            self.has_name |= matches!(folded.as_str(), "name" | "resourcename") && is_filled(value);
            self.has_full_output |= matches!(text, "yaml" | "json");
            self.force_pushes |= folded.starts_with("force") && *value == Value::Bool(true);
            self.scales_to_zero |= matches!(
                folded.as_str(),
                "replicas" | "desiredcount" | "mincapacity" | "quantity" | "web" | "worker" | "instancecount"
            ) && (value.as_u64() == Some(0) || text == "0");
            self.is_test |= folded == "livemode" && *value == Value::Bool(false);
            self.is_production |= folded == "livemode" && *value == Value::Bool(true);
            self.add_audience(&folded, value);
            self.turns_protection_off |= PROTECTING_KEYS.contains(&folded.as_str())
                && (matches!(value, Value::Bool(false) | Value::Null) || text == "false")
                || folded == "allowforcepushes" && *value == Value::Bool(true)
                || folded.starts_with("bypass") && *value == Value::Bool(true)
                || folded == "backupretentionperiod" && value.as_u64() == Some(0);
            self.add_target(text);
            let has_secret = |text: &str| !tenterhook_secrets::find_secrets(text).is_empty();
            self.sends_secret |=
                matches!(folded.as_str(), "url" | "uri" | "body" | "payload" | "data" | "json")
                    && match value {
                        Value::String(text) => has_secret(text),
                        Value::Object(_) => has_secret(&value.to_string()),
                        _ => false,
                    };
            self.visit(value, depth + 1);
        }
    }

    fn add_operation(&mut self, value: &Value, text: &str) {
        // The name of a command may be the key of an object: `{"command": {"dropDatabase": 1}}`.
        let name = match value {
            Value::Object(fields) => fields.keys().next().map(String::as_str).unwrap_or_default(),
            _ => text,
        };
        if name.is_empty() || name.contains(char::is_whitespace) || name.contains('/') {
            return;
        }
        self.deletes_by_request |= name == "DELETE";
        self.operations.push(name.to_owned());
    }

    /// Records whether an argument gives everyone access, or gives someone all rights.
    fn add_audience(&mut self, key: &str, value: &Value) {
        let texts: Vec<&str> = match value {
            Value::String(text) => vec![text],
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let is_audience = AUDIENCE_KEYS.contains(&key);
        let is_role = ROLE_KEYS.contains(&key);
        for text in texts.into_iter().filter(|text| text.len() <= MAX_NAME_BYTES) {
            let whole = fold(text);
            let last = whole.rsplit(['/', ':']).next().unwrap_or(&whole);
            self.is_for_everyone |= is_audience && EVERYONE_VALUES.contains(&whole.as_str());
            self.is_full_role |=
                is_role && (FULL_ROLES.contains(&whole.as_str()) || FULL_ROLES.contains(&last));
        }
        // In GitLab, 40 is a maintainer and 50 an owner.
        self.is_full_role |= key == "accesslevel" && value.as_u64().is_some_and(|level| level >= 40);
        self.is_for_everyone |= key == "private" && *value == Value::Bool(false)
            || key == "publiclyaccessible" && *value == Value::Bool(true);
    }

    /// Records whether the name of a target says that it is for tests, or that it is in production.
    fn add_target(&mut self, text: &str) {
        if text.len() > MAX_NAME_BYTES || text.contains(char::is_whitespace) {
            return;
        }
        self.has_wildcard |= text.contains('*');
        for word in text.split(|letter: char| !letter.is_alphanumeric() && letter != '.') {
            let word = word.to_ascii_lowercase();
            let stem = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
            self.is_test |= TEST_WORDS.contains(&word.as_str()) || TEST_WORDS.contains(&stem);
            self.is_production |= PRODUCTION_WORDS.contains(&stem);
        }
    }
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
        if is_test && !is_production || can_undo {
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
        }
        let has_any = |list: &[&str]| objects.iter().any(|word| list.contains(word));
        // A tag of a repository marks a release.
        let is_git_tag = self.arguments.is_repository_file && has_any(&["tag"]);
        let is_of_little_value = has_any(CHEAP_OBJECTS) && !has_any(VALUABLE_OBJECTS) && !is_git_tag
            || has_any(EVERYDAY_OBJECTS) && !has_any(VALUABLE_OBJECTS) && !self.arguments.is_production;
        match kind {
            VerbKind::Deletes if self.arguments.has_filter && !has_any(&["all"]) => false,
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
                    || has_any(&["forwarding"])
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
            by_name
                || forwards
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
            let protects = |word: &&&str| PROTECTIONS.contains(*word);
            !is_read
                && words.iter().any(|word| DISABLING_VERBS.contains(word))
                && words.iter().any(|word| protects(&word))
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
                let moves = match kind {
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
        if is_store && gets_value {
            return true;
        }
        self.phrases.iter().any(|phrase| {
            let Some((verb, _)) = main_verb(phrase) else { return false };
            let by_name = phrase.iter().any(is_secret) || has_all(phrase, &["private", "key"]);
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
            if matches!(first, VerbKind::Creates | VerbKind::Changes)
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

/// Returns the fields that a GraphQL mutation calls: `mutation { deleteRepository(…) { … } }`.
fn mutation_fields(text: &str) -> Vec<String> {
    let Some(body) = text.trim_start().strip_prefix("mutation") else { return Vec::new() };
    let mut fields = Vec::new();
    let (mut braces, mut parentheses) = (0usize, 0usize);
    let mut word = String::new();
    for letter in body.chars().take(MAX_MUTATION_LETTERS) {
        if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
            continue;
        }
        // A name before a colon is an alias.
        if braces == 1 && parentheses == 0 && !word.is_empty() && letter != ':' {
            fields.push(std::mem::take(&mut word));
        }
        word.clear();
        match letter {
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            '(' => parentheses += 1,
            ')' => parentheses = parentheses.saturating_sub(1),
            _ => {}
        }
    }
    fields
}

/// Whether an argument has content: `{}`, `{"match_all": {}}`, `[]`, `""` and `null` have none.
fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Object(fields) => fields.values().any(is_filled),
        Value::Array(items) => !items.is_empty(),
        Value::String(text) => !matches!(text.trim(), "" | "{}" | "[]" | "1=1" | "true"),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Returns a text in lower case, without separators between words.
fn fold(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(act: Option<&str>, calls: &[(&str, Value)]) {
        for (name, args) in calls {
            let acts = tool_actions(&ToolCall::new(&format!("mcp__{name}"), args.clone()));
            let acts: Vec<_> = acts.into_iter().filter(|act| *act != "publish").collect();
            assert_eq!(acts.first().copied(), act, "{name} {args}: {acts:?}");
        }
    }

    #[test]
    fn destroying_verbs_are_found_in_names_and_operations() {
        check(
            Some("destroy"),
            &[
                ("github__delete_repository", json!({"owner": "acme", "repo": "app"})),
                ("cloudflare__zones_delete", json!({"zone_id": "0"})),
                ("k8s__deleteResource", json!({"kind": "Namespace", "name": "production"})),
                ("k8s__delete_resource", json!({"kind": "Pod", "name": "api-0", "namespace": "prod"})),
                ("aws__call_api", json!({"service": "ec2", "operation": "TerminateInstances"})),
                ("terraform__run", json!({"action": "destroy", "workspace": "production"})),
                ("docker__remove_volume", json!({"volume_name": "pgdata"})),
                ("docker__remove", json!({"volume": "pgdata"})),
                ("mongodb__delete_many", json!({"database": "prod", "collection": "orders", "filter": {}})),
                ("es__delete_by_query", json!({"index": "users", "query": {"match_all": {}}})),
                ("mongodb__runCommand", json!({"command": {"dropDatabase": 1}})),
                ("stripe__cancel_subscription", json!({"subscription": "sub_1", "livemode": true})),
                ("drive__delete_file", json!({"fileId": "x1"})),
                ("git__push", json!({"branch": "main", "force": true})),
                ("api__request", json!({"method": "DELETE", "url": "https://api.acme.io/v1/users/7"})),
                ("kms__schedule_key_deletion", json!({"key_id": "k"})),
                ("s3__emptyBucket", json!({"bucket": "b"})),
                ("k8s__scale_deployment", json!({"name": "api", "replicas": 0})),
                ("vault__revoke_token", json!({"accessor": "a"})),
            ],
        );
    }

    #[test]
    fn everyday_deletions_and_words_about_deletion_are_not_destructive() {
        check(
            None,
            &[
                ("github__delete_comment", json!({"id": 1})),
                ("github__remove_label_from_issue", json!({"label": "bug", "issue": 3})),
                ("linear__delete_issue_relation", json!({"id": 1})),
                ("gmail__delete_draft", json!({"id": "d"})),
                ("slack__remove_reaction", json!({"name": "eyes"})),
                ("cache__clear_cache", json!({})),
                ("ui__clear_filters", json!({})),
                ("browser__close_tab", json!({"index": 2})),
                ("playwright__browser_drop", json!({"ref": "e1"})),
                ("playwright__browser_drag", json!({"startRef": "e1", "endRef": "e2"})),
                ("memory__delete_entities", json!({"entityNames": ["x"]})),
                ("fs__delete", json!({"path": "/home/user/project/dist"})),
                ("fs__delete_file", json!({"path": "a.txt"})),
                ("editor__undo_delete", json!({})),
                ("docs__search", json!({"query": "delete repository"})),
                ("trash__list_deleted_items", json!({})),
                ("github__delete_branch", json!({"branch": "fix/login"})),
                ("mongodb__delete_many", json!({"collection": "t", "filter": {"status": "old"}})),
                ("mongodb__drop_collection", json!({"database": "app_test", "collection": "orders"})),
                ("aws__call_api", json!({"operation": "DescribeInstances"})),
                ("terraform__run", json!({"action": "plan"})),
                ("docker__stop_container", json!({"name": "web"})),
                ("git__push", json!({"branch": "x", "force": false})),
                ("api__request", json!({"method": "GET", "url": "https://api.acme.io/v1/users/7"})),
                ("api__request", json!({"method": "DELETE", "url": "http://localhost:3000/users/7"})),
                ("k8s__scale_deployment", json!({"name": "api", "replicas": 3})),
                ("ci__cancel_workflow_run", json!({"run_id": 1})),
            ],
        );
    }

    #[test]
    fn access_for_everyone_and_removed_protection_are_found() {
        check(
            Some("expose"),
            &[
                ("github__update_repository", json!({"owner": "a", "repo": "b", "visibility": "public"})),
                ("github__edit_repo", json!({"repo": "b", "private": false})),
                ("drive__share_file", json!({"fileId": "x", "role": "reader", "type": "anyone"})),
                ("s3__put_bucket_acl", json!({"bucket": "b", "acl": "public-read"})),
                ("storage__makePublic", json!({"bucket": "b"})),
                (
                    "gcp__add_iam_policy_binding",
                    json!({"member": "allUsers", "role": "roles/storage.objectViewer"}),
                ),
                (
                    "ec2__authorize_security_group_ingress",
                    json!({"group": "sg", "cidr": "0.0.0.0/0", "port": 22}),
                ),
                ("github__add_collaborator", json!({"username": "x", "permission": "admin"})),
                (
                    "iam__attach_user_policy",
                    json!({"user": "x", "policy_arn": "arn:aws:iam::aws:policy/AdministratorAccess"}),
                ),
                (
                    "s3__put_bucket_policy",
                    json!({"policy": "{\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\"}]}"}),
                ),
            ],
        );
        check(
            Some("unprotect"),
            &[
                ("github__update_branch_protection", json!({"branch": "main", "enforce_admins": null})),
                ("rds__modify_db_instance", json!({"id": "db", "deletion_protection": false})),
                ("okta__disable_mfa", json!({"login": "x"})),
                ("aws__call", json!({"operation": "StopLogging", "name": "trail"})),
            ],
        );
        check(
            None,
            &[
                ("github__list_repositories", json!({"visibility": "public"})),
                ("github__create_repository", json!({"name": "x", "private": true})),
                ("drive__share_file", json!({"fileId": "x", "role": "reader", "email": "a@acme.io"})),
                ("github__get_branch_protection", json!({"branch": "main"})),
                ("rds__modify_db_instance", json!({"id": "db", "deletion_protection": true})),
                ("github__update_pull_request", json!({"draft": false, "state": "open"})),
                ("sentry__update_issue", json!({"status": "resolved"})),
            ],
        );
    }

    #[test]
    fn access_for_others_is_found_in_numbers_keys_and_forwarding() {
        check(
            Some("expose"),
            &[
                ("gitlab__add_project_member", json!({"project_id": 1, "user_id": 2, "access_level": 50})),
                ("gmail__create_filter", json!({"action": {"forward": "x@x.io"}})),
                ("gmail__create_forwarding_address", json!({"email": "x@x.io"})),
                ("github__create_webhook", json!({"config": {"url": "https://x.io"}})),
                ("github__add_deploy_key", json!({"key": "ssh-ed25519 A"})),
                ("aws__iam_create_access_key", json!({"user_name": "x"})),
                ("wordpress__update_user", json!({"id": 1, "role": "administrator"})),
                ("slack__invite_external", json!({"channel": "c"})),
            ],
        );
        check(
            Some("unprotect"),
            &[
                ("gitlab__unprotect_branch", json!({"branch": "main"})),
                ("github__merge_pull_request", json!({"pull_number": 1, "bypass_rules": true})),
                ("homeassistant__call_service", json!({"domain": "lock", "service": "unlock"})),
                ("okta__reset_factors", json!({"id": "x"})),
            ],
        );
        check(
            None,
            &[
                ("gitlab__add_project_member", json!({"project_id": 1, "user_id": 2, "access_level": 20})),
                ("github__merge_pull_request", json!({"pull_number": 1})),
                ("homeassistant__call_service", json!({"domain": "light", "service": "turn_off"})),
                ("github__list_webhooks", json!({"owner": "a"})),
                ("gmail__create_filter", json!({"action": {"label": "x"}})),
            ],
        );
    }

    #[test]
    fn changes_of_everything_and_paused_services_destroy() {
        check(
            Some("destroy"),
            &[
                (
                    "mongodb__update-many",
                    json!({"collection": "u", "filter": {}, "update": {"$set": {"a": 1}}}),
                ),
                (
                    "mongodb__rename-collection",
                    json!({"collection": "u", "newName": "x", "dropTarget": true}),
                ),
                ("github__update_ref", json!({"ref": "heads/main", "force": true})),
                ("github__delete_tag", json!({"owner": "a", "repo": "b", "tag": "v1"})),
                ("prisma__migrate_reset", json!({})),
                ("supabase__pause_project", json!({"project_id": "x"})),
                ("slack__archive_channel", json!({"channel": "C1"})),
                ("gmail__delete_all", json!({"query": "in:inbox"})),
                ("vmware__power_off_vm", json!({"vm": "x"})),
                ("terraform__create_run", json!({"is_destroy": true})),
                ("github__graphql", json!({"query": "mutation { deleteRef(input: {refId: \"x\"}) { id } }"})),
                (
                    "shop__graphql",
                    json!({"query": "mutation A($i: ID!) { a: productDelete(id: $i) { id } }"}),
                ),
                (
                    "es__rest",
                    json!({"method": "POST", "path": "/u/_delete_by_query", "body": {"query": {"match_all": {}}}}),
                ),
            ],
        );
        check(
            None,
            &[
                (
                    "github__graphql",
                    json!({"query": "mutation { addComment(input: {body: \"delete\"}) { id } }"}),
                ),
                ("github__graphql", json!({"query": "query { deletedItems { id } }"})),
                ("github__api", json!({"method": "DELETE", "path": "/repos/a/b/issues/comments/1"})),
                ("mongodb__update-many", json!({"collection": "u", "filter": {"a": 2}, "update": {}})),
                ("trello__archive_card", json!({"id": "x"})),
                ("vmware__power_on_vm", json!({"vm": "x"})),
                ("gitlab__update_ref", json!({"ref": "heads/x"})),
            ],
        );
    }

    #[test]
    fn payments_and_stored_secrets_are_found() {
        check(
            Some("pay"),
            &[
                ("stripe__create_refund", json!({"payment_intent": "pi_1"})),
                ("paypal__send_payment", json!({"amount": 5})),
                ("bank__transfer_funds", json!({"amount": 5})),
                ("shop__purchase_domain", json!({"domain": "a.io"})),
                ("alpaca__place_order", json!({"symbol": "X", "qty": 1})),
                ("ethereum__send_transaction", json!({"to": "0x", "value": "1"})),
            ],
        );
        check(
            Some("reveal-secret"),
            &[
                ("kubernetes__get", json!({"kind": "Secret", "name": "db", "output": "yaml"})),
                ("aws__get_secret_value", json!({"secret_id": "x"})),
                ("vault__read_secret", json!({"path": "kv/db"})),
                ("gcp__accessSecretVersion", json!({"name": "x"})),
                ("onepassword__get_password", json!({"item": "x"})),
                ("vault__read", json!({"path": "secret/x"})),
                ("bitwarden__get_item", json!({"id": "x"})),
                ("vercel__get_env", json!({"project": "x", "decrypt": true})),
            ],
        );
        check(
            None,
            &[
                ("stripe__list_refunds", json!({})),
                ("stripe__create_payment_link", json!({"price": "p"})),
                ("stripe__create_refund", json!({"payment_intent": "pi_1", "livemode": false})),
                ("kubernetes__get", json!({"kind": "Deployment", "name": "api"})),
                ("kubernetes__list", json!({"kind": "Secret"})),
                ("github__get_secret_scanning_alert", json!({"id": 1})),
                ("aws__list_secrets", json!({})),
            ],
        );
    }

    #[test]
    fn tools_that_others_read_publish() {
        let publishes = |name: &str, args: Value| {
            tool_actions(&ToolCall::new(&format!("mcp__{name}"), args)).contains(&"publish")
        };
        for name in [
            "slack__post_message",
            "github__create_gist",
            "gmail__send_email",
            "notion__update_page",
            "github__add_issue_comment",
        ] {
            assert!(publishes(name, json!({})), "{name}");
        }
        for name in
            ["slack__list_messages", "fs__write_file", "github__create_secret", "vercel__add_env_variable"]
        {
            assert!(!publishes(name, json!({})), "{name}");
        }
        assert!(publishes("github__create_or_update_file", json!({"owner": "a", "repo": "b", "path": "x"})));
    }
}
