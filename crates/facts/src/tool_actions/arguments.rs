// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Collects from the arguments of a call what an operation is and what it acts on.

use serde_json::{Map, Value};

use super::super::tool_words::{
    AUDIENCE_KEYS, EVERYONE_VALUES, FORWARDING_KEYS, FULL_ROLES, PRODUCTION_WORDS, PROTECTING_KEYS,
    PROTECTIONS, REVEALING_KEYS, ROLE_KEYS, TEST_WORDS, split_words,
};
use super::fold;

/// Keys that name the operation of a tool that has several. Keys are folded.
const OPERATION_KEYS: &[&str] = &[
    "action",
    "actionname",
    "actiontype",
    "apiaction",
    "apicall",
    "apimethod",
    "apiname",
    "command",
    "macro",
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
    "toolslug",
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
/// Keys that say that something is deleted for ever. Keys are folded.
const PERMANENT_KEYS: &[&str] = &[
    "permanent",
    "permanently",
    "purge",
    "harddelete",
    "skiptrash",
    "bypasstrash",
    "forcedelete",
    "cascadedelete",
];
/// Keys that say that everyone may see something. Keys are folded.
const PUBLISHING_KEYS: &[&str] = &[
    "public",
    "ispublic",
    "publicaccess",
    "publishedtoweb",
    "publishtoweb",
    "linkaccess",
    "linksharing",
    "anonymousaccess",
];
/// Keys of the name of a setting whose value is in another argument. Keys are folded.
const SETTING_KEYS: &[&str] = &["setting", "settingname", "feature", "key", "name", "id", "option"];
/// Values that turn a setting off.
const OFF_VALUES: &[&str] = &["off", "false", "disabled", "disable", "none", "no", "0", "essentially_off"];
/// Maximum nesting depth of arguments that are looked at.
const MAX_ACTION_DEPTH: usize = 8;
/// Maximum length of a mutation that is read.
const MAX_MUTATION_LETTERS: usize = 4096;
/// Maximum length of an argument that names an operation or a target.
const MAX_NAME_BYTES: usize = 128;

/// The arguments of a call that say what an operation is and what it acts on.
#[derive(Debug, Default)]
pub(super) struct CallArguments {
    /// Names of operations.
    pub(super) operations: Vec<String>,
    /// Words for the kind of thing that the operation acts on.
    pub(super) objects: Vec<String>,
    /// Words in the keys of the arguments.
    pub(super) key_words: Vec<String>,
    /// Words in the resource path of an API request with the method `DELETE`, outer words first.
    pub(super) request_path: Option<Vec<String>>,
    pub(super) deletes_by_request: bool,
    pub(super) has_filter: bool,
    pub(super) has_empty_filter: bool,
    pub(super) drops_target: bool,
    /// Whether what is deleted is not kept in a trash.
    pub(super) is_permanent: bool,
    /// Whether the content is published on the web.
    pub(super) publishes_page: bool,
    /// Whether someone who is added may write.
    pub(super) may_write: bool,
    pub(super) forwards: bool,
    pub(super) has_address: bool,
    pub(super) has_name: bool,
    pub(super) force_pushes: bool,
    pub(super) has_full_output: bool,
    pub(super) scales_to_zero: bool,
    pub(super) decrypts: bool,
    pub(super) has_amount: bool,
    pub(super) has_wildcard: bool,
    pub(super) is_test: bool,
    pub(super) is_production: bool,
    pub(super) is_for_everyone: bool,
    pub(super) is_full_role: bool,
    pub(super) turns_protection_off: bool,
    pub(super) is_repository_file: bool,
    pub(super) sends_secret: bool,
}

impl CallArguments {
    pub(super) fn visit(&mut self, value: &Value, depth: usize) {
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
        self.turns_protection_off |= turns_setting_off(fields);
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
                && *value == Value::Bool(true)
                || folded == "$out";
            self.is_permanent |= PERMANENT_KEYS.contains(&folded.as_str()) && *value == Value::Bool(true);
            self.is_for_everyone |= PUBLISHING_KEYS.contains(&folded.as_str())
                && (*value == Value::Bool(true)
                    || value.as_str().is_some_and(|text| EVERYONE_VALUES.contains(&fold(text).as_str())));
            self.publishes_page |= folded == "publishedtoweb" && *value == Value::Bool(true);
            self.has_amount |= folded == "amount" || folded == "lamports";
            let text = value.as_str().filter(|text| text.len() <= MAX_NAME_BYTES).unwrap_or_default();
            if OPERATION_KEYS.contains(&folded.as_str()) {
                self.add_operation(&folded, value, text);
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
            self.forwards |= FORWARDING_KEYS.contains(&folded.as_str())
                && (text.contains('@') || value.as_array().is_some_and(|items| !items.is_empty()))
                || folded == "autoforwarding" && is_filled(value);
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
            self.may_write |=
                folded == "permission" && matches!(text, "push" | "write" | "maintain" | "triage");
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

    fn add_operation(&mut self, key: &str, value: &Value, text: &str) {
        // The name of a command may be the key of an object: `{"command": {"dropDatabase": 1}}`.
        let name = match value {
            Value::Object(fields) => fields.keys().next().map(String::as_str).unwrap_or_default(),
            _ => text,
        };
        // `s3api put-bucket-policy` names the service too. A command may be any text.
        let is_text = name.contains(char::is_whitespace)
            && (key.ends_with("command") || name.split_whitespace().count() > 2);
        if name.is_empty() || is_text || name.contains('/') {
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
            self.is_for_everyone |= is_audience && EVERYONE_VALUES.contains(&whole.as_str())
                || key.starts_with("source") && whole == "any";
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

/// Whether the fields turn a protection off by its name: `{"setting": "waf", "value": "off"}`.
fn turns_setting_off(fields: &Map<String, Value>) -> bool {
    let names_protection = |(key, value): (&String, &Value)| {
        SETTING_KEYS.contains(&fold(key).as_str())
            && value
                .as_str()
                .filter(|text| text.len() <= MAX_NAME_BYTES)
                .is_some_and(|text| split_words(text).iter().any(|word| PROTECTIONS.contains(&word.as_str())))
    };
    let is_off = |(key, value): (&String, &Value)| {
        matches!(fold(key).as_str(), "value" | "state" | "status" | "enabled" | "mode")
            && (*value == Value::Bool(false)
                || value
                    .as_str()
                    .is_some_and(|text| OFF_VALUES.contains(&text.to_ascii_lowercase().as_str())))
    };
    fields.iter().any(names_protection) && fields.iter().any(is_off)
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
