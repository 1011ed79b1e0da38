// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The vocabulary of tool names: what a call does, according to the words in the name of its tool or operation.
//!
//! Words are in lower case and singular. [`split_words`] brings names into this form.

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

/// Objects whose loss matters.
pub(crate) const VALUABLE_OBJECTS: &[&str] = &[
    "account",
    "address",
    "all",
    "app",
    "application",
    "backup",
    "blob",
    "bucket",
    "campaign",
    "certificate",
    "cluster",
    "collection",
    "contact",
    "customer",
    "data",
    "database",
    "dataset",
    "db",
    "deployment",
    "disk",
    "dns",
    "domain",
    "droplet",
    "email",
    "environment",
    "everything",
    "function",
    "index",
    "instance",
    "invoice",
    "key",
    "keyspace",
    "machine",
    "mailbox",
    "namespace",
    "order",
    "org",
    "organization",
    "package",
    "persistentvolume",
    "persistentvolumeclaim",
    "product",
    "project",
    "pvc",
    "queue",
    "registry",
    "release",
    "repo",
    "repository",
    "s3",
    "schema",
    "secret",
    "server",
    "service",
    "site",
    "snapshot",
    "stack",
    "statefulset",
    "storage",
    "stream",
    "table",
    "team",
    "tenant",
    "token",
    "topic",
    "user",
    "vault",
    "vm",
    "volume",
    "vpc",
    "workspace",
    "zone",
];

/// Objects that are deleted often and are easy to recreate.
pub(crate) const CHEAP_OBJECTS: &[&str] = &[
    "alert",
    "annotation",
    "artifact",
    "assignee",
    "attribute",
    "background",
    "banner",
    "block",
    "bookmark",
    "breakpoint",
    "browser",
    "bullet",
    "cache",
    "canvas",
    "cart",
    "cell",
    "class",
    "comment",
    "component",
    "connection",
    "console",
    "context",
    "cookie",
    "cursor",
    "draft",
    "duplicate",
    "element",
    "emoji",
    "entity",
    "favorite",
    "favourite",
    "filter",
    "fixture",
    "frame",
    "heading",
    "highlight",
    "import",
    "interception",
    "item",
    "keyword",
    "label",
    "layer",
    "like",
    "line",
    "link",
    "marker",
    "memo",
    "memory",
    "mock",
    "mouse",
    "note",
    "notification",
    "observation",
    "overlay",
    "paragraph",
    "pending",
    "pid",
    "pin",
    "placeholder",
    "process",
    "reaction",
    "relation",
    "relationship",
    "reminder",
    "reply",
    "review",
    "reviewer",
    "run",
    "scheduled",
    "selection",
    "session",
    "shape",
    "slide",
    "star",
    "stash",
    "sticker",
    "stub",
    "style",
    "subtask",
    "tab",
    "tag",
    "task",
    "text",
    "thought",
    "toast",
    "todo",
    "vote",
    "watch",
    "watcher",
    "whitespace",
    "widget",
    "window",
    "worktree",
];

/// Objects that are deleted often, unless they are in production.
pub(crate) const EVERYDAY_OBJECTS: &[&str] =
    &["branch", "container", "image", "job", "network", "pod", "replicaset"];

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

/// Verbs by what they do.
pub(crate) const VERB_ROWS: &[VerbRow] = &[
    VerbRow {
        verbs: &[
            "analyze", "browse", "check", "count", "describe", "diff", "download", "estimate", "explain",
            "export", "fetch", "find", "get", "has", "inspect", "is", "list", "lookup", "monitor", "plan",
            "preview", "query", "read", "recover", "restore", "resume", "retrieve", "search", "select",
            "show", "simulate", "tail", "undelete", "undo", "validate", "verify", "view", "wait", "watch",
            "drag", "access", "reveal", "decrypt",
        ],
        kind: VerbKind::Reads,
    },
    VerbRow {
        verbs: &[
            "add",
            "append",
            "attach",
            "clone",
            "comment",
            "copy",
            "create",
            "draft",
            "duplicate",
            "generate",
            "insert",
            "install",
            "invite",
            "issue",
            "new",
            "open",
            "place",
            "post",
            "register",
            "reply",
            "save",
            "schedule",
            "send",
            "start",
            "submit",
            "upload",
            "write",
        ],
        kind: VerbKind::Creates,
    },
    VerbRow {
        verbs: &[
            "allow",
            "apply",
            "assign",
            "authorize",
            "change",
            "configure",
            "deploy",
            "edit",
            "enable",
            "expose",
            "grant",
            "make",
            "manage",
            "merge",
            "modify",
            "move",
            "patch",
            "publish",
            "push",
            "put",
            "rename",
            "replace",
            "scale",
            "set",
            "share",
            "sync",
            "transfer",
            "update",
            "upsert",
        ],
        kind: VerbKind::Changes,
    },
    VerbRow {
        verbs: &[
            "destroy",
            "terminate",
            "purge",
            "wipe",
            "nuke",
            "obliterate",
            "decommission",
            "deprovision",
            "teardown",
            "truncate",
            "flushall",
            "flushdb",
            "expunge",
            "unpublish",
            "dropdatabase",
            "termination",
            "destruction",
        ],
        kind: VerbKind::Destroys,
    },
    VerbRow { verbs: &["delete", "del", "erase", "deletion"], kind: VerbKind::Deletes },
    VerbRow {
        verbs: &["drop"],
        kind: VerbKind::Removes(&[
            "all",
            "bucket",
            "collection",
            "data",
            "database",
            "dataset",
            "db",
            "everything",
            "keyspace",
            "measurement",
            "namespace",
            "partition",
            "publication",
            "role",
            "schema",
            "stream",
            "table",
            "tablespace",
            "topic",
            "user",
        ]),
    },
    VerbRow { verbs: &["remove", "rm", "removal", "uninstall"], kind: VerbKind::Removes(VALUABLE_OBJECTS) },
    VerbRow {
        verbs: &["clear", "empty", "flush", "prune"],
        kind: VerbKind::Removes(&[
            "all",
            "backup",
            "bin",
            "bucket",
            "calendar",
            "collection",
            "data",
            "database",
            "dataset",
            "db",
            "disk",
            "inbox",
            "index",
            "keyspace",
            "mailbox",
            "queue",
            "repository",
            "schema",
            "snapshot",
            "storage",
            "system",
            "table",
            "topic",
            "trash",
            "volume",
        ]),
    },
    VerbRow {
        verbs: &["reset", "reinitialize", "reinstall", "format"],
        kind: VerbKind::Removes(&[
            "account",
            "branch",
            "cluster",
            "data",
            "database",
            "db",
            "device",
            "disk",
            "environment",
            "factory",
            "machine",
            "migrate",
            "migration",
            "password",
            "pg",
            "project",
            "schema",
            "server",
            "volume",
            "workspace",
        ]),
    },
    VerbRow {
        verbs: &["revoke", "invalidate", "deactivate", "suspend", "disable", "ban", "block"],
        kind: VerbKind::Removes(&[
            "access",
            "account",
            "certificate",
            "credential",
            "grant",
            "key",
            "member",
            "membership",
            "permission",
            "service",
            "token",
            "user",
        ]),
    },
    VerbRow {
        verbs: &["cancel", "void", "close", "end"],
        kind: VerbKind::Removes(&[
            "account",
            "booking",
            "contract",
            "invoice",
            "membership",
            "order",
            "payment",
            "plan",
            "reservation",
            "subscription",
        ]),
    },
    VerbRow {
        verbs: &["kill", "stop", "shutdown", "halt", "poweroff", "drain", "reboot"],
        kind: VerbKind::Removes(&["cluster", "database", "droplet", "instance", "machine", "node", "vm"]),
    },
    VerbRow { verbs: &["leave"], kind: VerbKind::Removes(&["org", "organization", "workspace"]) },
    VerbRow {
        verbs: &["archive"],
        kind: VerbKind::Removes(&[
            "account",
            "channel",
            "contact",
            "customer",
            "database",
            "project",
            "repo",
            "repository",
            "team",
            "workspace",
        ]),
    },
    VerbRow {
        verbs: &["pause", "hibernate"],
        kind: VerbKind::Removes(&["cluster", "database", "project", "service"]),
    },
    VerbRow { verbs: &["kick", "evict"], kind: VerbKind::Removes(&["user", "member", "all"]) },
    VerbRow { verbs: &["yank"], kind: VerbKind::Removes(&["release", "version", "package"]) },
    VerbRow {
        verbs: &["refund", "withdraw", "payout", "purchase", "buy", "pay", "swap", "renew"],
        kind: VerbKind::Pays,
    },
];

/// Objects that move money when they are created or sent.
pub(crate) const PAYMENT_OBJECTS: &[&str] = &[
    "refund",
    "payout",
    "charge",
    "transfer",
    "payment",
    "withdrawal",
    "fund",
    "money",
    "crypto",
    "coin",
    "wire",
];
/// Words that make a payment object something else, such as a link on a web page.
pub(crate) const PAYMENT_EXCEPTIONS: &[&str] =
    &["link", "intent", "method", "page", "form", "schedule", "webhook", "template", "file", "stat"];

/// Objects that protect data or accounts.
pub(crate) const PROTECTIONS: &[&str] = &[
    "2fa",
    "antivirus",
    "audit",
    "backup",
    "cloudtrail",
    "encryption",
    "factor",
    "firewall",
    "guardduty",
    "logging",
    "mfa",
    "monitor",
    "protection",
    "rls",
    "ruleset",
    "scanning",
    "totp",
    "trail",
    "versioning",
    "waf",
];
/// Verbs that turn a protection off.
pub(crate) const DISABLING_VERBS: &[&str] = &[
    "bypass",
    "deactivate",
    "delete",
    "destroy",
    "disable",
    "dismiss",
    "mute",
    "remove",
    "reset",
    "stop",
    "suspend",
    "unprotect",
];
/// Settings that protect data or accounts; turning one off removes the protection. Keys are folded.
pub(crate) const PROTECTING_KEYS: &[&str] = &[
    "backupenabled",
    "blockpublicacls",
    "blockpublicpolicy",
    "deletionprotection",
    "deletionprotectionenabled",
    "disableapitermination",
    "enforceadmins",
    "ignorepublicacls",
    "mfaenabled",
    "requiredpullrequestreviews",
    "requiredstatuschecks",
    "requiremfa",
    "restrictpublicbuckets",
    "rlsenabled",
    "terminationprotection",
    "twofactorrequirement",
];

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
/// Objects that give access when they are created.
pub(crate) const ACCESS_OBJECTS: &[&str] = &[
    "access",
    "acl",
    "binding",
    "clusterrolebinding",
    "collaborator",
    "firewall",
    "grant",
    "iam",
    "ingress",
    "member",
    "permission",
    "policy",
    "role",
    "rolebinding",
    "share",
    "sharing",
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
    "superuser",
];

/// Words of secrets that a service stores.
pub(crate) const STORED_SECRETS: &[&str] = &["secret", "password", "credential", "passphrase"];
/// Words that, next to such a word, mean something other than a secret: alerts, settings, names.
pub(crate) const STORED_SECRET_EXCEPTIONS: &[&str] = &[
    "alert",
    "count",
    "doc",
    "health",
    "help",
    "id",
    "metadata",
    "name",
    "policy",
    "provider",
    "requirement",
    "rotation",
    "scan",
    "scanning",
    "schema",
    "status",
    "strength",
    "type",
];

/// Objects that other people see.
pub(crate) const PUBLISHED_OBJECTS: &[&str] = &[
    "article",
    "block",
    "card",
    "channel",
    "chat",
    "comment",
    "discussion",
    "dm",
    "doc",
    "document",
    "email",
    "event",
    "gist",
    "issue",
    "mail",
    "message",
    "page",
    "paste",
    "post",
    "pull",
    "reaction",
    "release",
    "reply",
    "request",
    "review",
    "sms",
    "snippet",
    "status",
    "story",
    "thread",
    "ticket",
    "tweet",
    "webhook",
    "wiki",
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
mod tests {
    use super::*;

    #[test]
    fn names_are_split_in_every_spelling() {
        for (name, expected) in [
            ("delete_many", "delete many"),
            ("zones_delete", "zone delete"),
            ("deleteResource", "delete resource"),
            ("TerminateInstances", "terminate instance"),
            ("DeleteDBInstance", "delete db instance"),
            ("remove-volume", "remove volume"),
            ("repositories.delete", "repository delete"),
            ("delete_branches", "delete branch"),
            ("get_s3_status", "get s3 status"),
            ("", ""),
        ] {
            assert_eq!(split_words(name).join(" "), expected, "{name}");
        }
    }
}
