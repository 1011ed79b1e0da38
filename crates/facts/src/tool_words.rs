// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The vocabulary of tool names: what a call does, according to the words in the name of its tool or operation.
//!
//! Words are in lower case and singular. [`split_words`] brings names into this form.

mod objects;
mod verb_rows;

pub(crate) use objects::{
    ACCESS_OBJECTS, CHEAP_OBJECTS, DISABLING_VERBS, EVERYDAY_OBJECTS, PAYMENT_EXCEPTIONS, PAYMENT_OBJECTS,
    PROTECTING_KEYS, PROTECTIONS, PUBLISHED_OBJECTS, STORED_SECRET_EXCEPTIONS, STORED_SECRETS,
    VALUABLE_OBJECTS,
};
use verb_rows::VERB_ROWS;

/// Verbs of the same kind.
pub(crate) struct VerbRow {
    pub(crate) verbs: &'static [&'static str],
    pub(crate) kind: VerbKind,
}

/// What a call with this verb does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerbKind {
    /// Only reads, or undoes something.
    Reads,
    /// Adds something new.
    Creates,
    /// Changes something that exists.
    Changes,
    /// Destroys any object.
    Destroys,
    /// Destroys any object, except those that are known to be of little value.
    Deletes,
    /// Destroys only these objects.
    Removes(&'static [&'static str]),
    /// Moves money between accounts.
    Pays,
}

impl VerbKind {
    /// Whether something can be lost.
    pub(crate) fn loses_objects(self) -> bool {
        matches!(self, Self::Destroys | Self::Deletes | Self::Removes(_))
    }
}

/// Servers for design, editing and simulated devices, where everything can be undone or recreated.
pub(crate) const UNDOING_SERVERS: &[&str] = &[
    "android",
    "blender",
    "canva",
    "drawio",
    "emulator",
    "excalidraw",
    "figma",
    "godot",
    "ios",
    "memory",
    "miro",
    "penpot",
    "photoshop",
    "simulator",
    "tldraw",
    "unity",
    "unreal",
    "xcode",
];
/// Servers for caches, where single keys are deleted often.
pub(crate) const KEY_STORES: &[&str] = &["cache", "keydb", "memcached", "redi", "redis", "upstash", "valkey"];

/// Keys of a setting that says who may see something. Keys are folded.
pub(crate) const AUDIENCE_KEYS: &[&str] = &[
    "access",
    "accesslevel",
    "acl",
    "audience",
    "cannedacl",
    "cidr",
    "cidrip",
    "email",
    "generalaccess",
    "grantee",
    "ipranges",
    "member",
    "members",
    "principal",
    "principals",
    "privacy",
    "scope",
    "sharing",
    "source",
    "sourceip",
    "sourceranges",
    "type",
    "viewers",
    "visibility",
];
/// Values that mean everyone. Values are folded.
pub(crate) const EVERYONE_VALUES: &[&str] = &[
    "*",
    "0.0.0.0/0",
    "::/0",
    "allauthenticatedusers",
    "allusers",
    "anonymous",
    "anyone",
    "anyonewithlink",
    "anyonewiththelink",
    "everyone",
    "public",
    "publicread",
    "publicreadwrite",
    "world",
];
/// Keys of an address to which messages are forwarded. Keys are folded.
pub(crate) const FORWARDING_KEYS: &[&str] =
    &["forward", "forwardto", "forwardingaddress", "forwardingemail", "redirectto", "autoforwardto"];
/// Keys that ask for the stored value of a secret. Keys are folded.
pub(crate) const REVEALING_KEYS: &[&str] = &[
    "withdecryption",
    "decrypt",
    "reveal",
    "showsecrets",
    "includesecrets",
    "showvalues",
    "showvalue",
    "unmask",
];
/// Servers that store secrets and nothing else.
pub(crate) const SECRET_SERVERS: &[&str] = &[
    "vault",
    "onepassword",
    "1password",
    "bitwarden",
    "keeper",
    "lastpass",
    "dashlane",
    "infisical",
    "doppler",
];
/// Servers for devices of a home, where a lock or an alarm protects people.
pub(crate) const HOME_SERVERS: &[&str] =
    &["home", "homeassistant", "hass", "smartthings", "nest", "ring", "august"];
/// Keys of a role that is given to someone.
pub(crate) const ROLE_KEYS: &[&str] =
    &["permission", "permissions", "role", "roles", "policyarn", "accesslevel"];
/// Roles that may do everything. Values are folded.
pub(crate) const FULL_ROLES: &[&str] = &[
    "admin",
    "administrator",
    "administratoraccess",
    "clusteradmin",
    "owner",
    "roles/editor",
    "roles/owner",
    "superadmin",
    "superuser",
];

/// Words that say that a target is only for tests.
pub(crate) const TEST_WORDS: &[&str] = &[
    "127.0.0.1",
    "demo",
    "dummy",
    "e2e",
    "ephemeral",
    "fixture",
    "fixtures",
    "localhost",
    "localstack",
    "playground",
    "preview",
    "sandbox",
    "scratch",
    "temp",
    "test",
    "testdb",
    "testing",
    "tests",
    "throwaway",
    "tmp",
];
/// Words that say that a target is in production.
pub(crate) const PRODUCTION_WORDS: &[&str] =
    &["live", "main", "master", "prod", "production", "prd", "release"];

/// Splits a name into words in lower case and singular: `deleteResources`, `zones_delete`, `TerminateInstances`.
pub(crate) fn split_words(name: &str) -> Vec<String> {
    split_written_words(name).into_iter().map(to_singular).collect()
}

/// Splits a name into words in lower case.
pub(crate) fn split_written_words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut letters = name.chars().peekable();
    let mut last: Option<char> = None;
    while let Some(letter) = letters.next() {
        let starts_word = letter.is_uppercase()
            && (last.is_some_and(|last| last.is_lowercase() || last.is_ascii_digit())
                || last.is_some_and(char::is_uppercase)
                    && letters.peek().is_some_and(|next| next.is_lowercase()));
        if (starts_word || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        last = Some(letter);
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Returns the singular of an English noun.
fn to_singular(mut word: String) -> String {
    if matches!(
        word.as_str(),
        "dns" | "sms" | "address" | "access" | "process" | "class" | "status" | "rls" | "has" | "is"
    ) || word.len() <= 3
    {
        return word;
    }
    if word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if ["sses", "nches", "tches", "rches", "xes"].iter().any(|end| word.ends_with(end)) {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
    if word == "indice" {
        "index".clone_into(&mut word);
    }
    word
}

/// Returns what a verb does; `None` if the word is not a known verb.
pub(crate) fn verb_kind(word: &str) -> Option<VerbKind> {
    VERB_ROWS.iter().find(|row| row.verbs.contains(&word)).map(|row| row.kind)
}

#[cfg(test)]
mod tests;
