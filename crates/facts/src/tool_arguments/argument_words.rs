// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Keys of arguments, and words in the names of servers and tools, that show what an argument means.

/// Keys of shell text, without separators and in lower case.
pub(super) const SHELL_KEYS: &[&str] =
    &["shellcommand", "shell", "bash", "sh", "run", "exec", "execute", "cmdline", "terminalcommand"];
/// Keys of shell text in nested arguments. At the top level, the event crate reads them.
pub(super) const NESTED_SHELL_KEYS: &[&str] = &["command", "cmd", "script", "commandline"];
/// Ends of other keys of shell text: `cli_command`, `build_cmd`.
pub(super) const SHELL_KEY_ENDS: &[&str] = &["command", "commandline", "cmd"];
/// Keys with such an end that do not contain shell text.
pub(super) const OTHER_COMMAND_KEYS: &[&str] =
    &["slashcommand", "subcommand", "voicecommand", "vimcommand", "editorcommand"];
/// Keys of text that is typed into a terminal.
pub(super) const TYPED_KEYS: &[&str] =
    &["text", "keys", "input", "data", "line", "lines", "stdin", "characters", "chars", "string", "value"];
/// Words in the names of servers and tools for terminals.
pub(super) const TERMINAL_WORDS: &[&str] = &[
    "bash", "console", "ghostty", "iterm", "iterm2", "kitty", "pty", "screen", "shell", "ssh", "stdin",
    "terminal", "tmux", "tty", "wezterm", "xterm", "zellij", "zsh",
];
/// Words in the names of servers and tools for web pages, where a console is not a shell.
pub(super) const PAGE_WORDS: &[&str] = &[
    "browser",
    "chrome",
    "chromium",
    "devtools",
    "firefox",
    "page",
    "playwright",
    "puppeteer",
    "selenium",
    "webdriver",
];
/// Verbs in the names of tools that only read what a terminal shows.
pub(super) const READING_WORDS: &[&str] =
    &["read", "get", "list", "capture", "search", "find", "show", "resize", "wait"];
/// Keys of code that a tool runs.
pub(super) const CODE_KEYS: &[&str] = &[
    "cell",
    "cellcontent",
    "cellsource",
    "codesnippet",
    "expression",
    "function",
    "pagefunction",
    "script",
    "snippet",
    "source",
    "sourcecode",
    "src",
];
/// Words in the names of servers and tools that run code.
pub(super) const CODE_WORDS: &[&str] = &[
    "bun",
    "cell",
    "code",
    "colab",
    "databricks",
    "deno",
    "eval",
    "evaluate",
    "interpreter",
    "ipython",
    "javascript",
    "js",
    "jupyter",
    "kernel",
    "node",
    "nodejs",
    "notebook",
    "php",
    "python",
    "repl",
    "ruby",
    "typescript",
    "ts",
];
/// Words in the names of servers whose cells may contain shell commands.
pub(super) const CELL_WORDS: &[&str] =
    &["cell", "colab", "databricks", "ipython", "jupyter", "jupyterlab", "kernel", "notebook", "python"];
/// Keys of a program whose arguments are in another key.
pub(super) const PROGRAM_KEYS: &[&str] = &["program", "executable", "binary", "command", "cmd"];
/// Keys of a program's arguments.
pub(super) const WORDS_KEYS: &[&str] = &["args", "arguments", "argv", "params", "parameters"];
/// Keys of SQL. Other text under these keys is recognised by its first word.
pub(super) const SQL_KEYS: &[&str] = &[
    "sql",
    "query",
    "statement",
    "statements",
    "queries",
    "sqlquery",
    "sqlstatement",
    "sqltext",
    "rawsql",
    "cql",
    "ddl",
    "dml",
    "q",
];
/// Words in the names of tools whose queries are questions, not statements.
pub(super) const SEARCH_WORDS: &[&str] =
    &["answer", "ask", "docs", "documentation", "find", "lookup", "search", "web"];
/// Words that begin an SQL statement.
pub(super) const SQL_VERBS: &[&str] = &[
    "drop", "truncate", "delete", "alter", "update", "insert", "create", "grant", "revoke", "with", "select",
    "copy", "exec", "execute", "replace", "merge", "load", "do",
];
/// Keys of a path that are used for other things too.
pub(super) const LOOSE_PATH_KEYS: &[&str] =
    &["target", "directory", "location", "item", "name", "resource", "uri", "from", "src", "sourcepath"];
/// Ends of other keys of a path: `body_file`, `attachments`.
pub(super) const PATH_KEY_ENDS: &[&str] =
    &["path", "paths", "file", "files", "filename", "attachment", "attachments"];
/// Keys of a directory to which the name of a file is relative.
pub(super) const BASE_KEYS: &[&str] = &[
    "basedir",
    "basedirectory",
    "basepath",
    "dir",
    "directory",
    "folder",
    "parent",
    "parentdir",
    "root",
    "rootdir",
    "rootdirectory",
    "targetdirectory",
];
/// Keys of the name of a file in a directory.
pub(super) const FILE_NAME_KEYS: &[&str] = &["name", "key", "entry", "filename", "relativename"];
/// Words in the names of tools that write files.
pub(super) const WRITING_WORDS: &[&str] =
    &["write", "create", "save", "edit", "update", "append", "put", "store", "dump", "overwrite", "upload"];
/// Words in the names of tools whose paths are not only read.
pub(super) const CHANGING_WORDS: &[&str] =
    &["delete", "remove", "move", "rename", "chmod", "chown", "permission", "trash", "unlink", "purge"];
/// Keys that name what a tool does with a path.
pub(super) const OPERATION_KEYS: &[&str] = &["operation", "action", "mode", "op", "method", "verb"];
/// Words in the names of tools that run a command.
pub(super) const RUNNING_WORDS: &[&str] =
    &["run", "exec", "execute", "shell", "terminal", "bash", "command", "cmd", "process", "spawn"];
/// Command-line programs that tools wrap, with the words in the names of their servers and tools. The arguments of
/// such a tool continue the name of the program.
pub(super) const WRAPPED_PROGRAMS: &[(&str, &[&str])] = &[
    ("kubectl", &["kubectl", "kubernetes", "k8s"]),
    ("helm", &["helm"]),
    ("terraform", &["terraform"]),
    ("tofu", &["tofu", "opentofu"]),
    ("docker", &["docker"]),
    ("podman", &["podman"]),
    ("git", &["git"]),
    ("gh", &["gh"]),
    ("aws", &["aws", "awscli", "awslabs"]),
    ("gcloud", &["gcloud", "gcp"]),
    ("gsutil", &["gsutil"]),
    ("az", &["az", "azcli", "azure"]),
    ("psql", &["psql"]),
    ("mysql", &["mysql"]),
    ("redis-cli", &["redis", "valkey", "rediscli"]),
    ("npm", &["npm"]),
    ("pip", &["pip", "pypi"]),
    ("pnpm", &["pnpm"]),
    ("pulumi", &["pulumi"]),
    ("flyctl", &["flyctl", "fly"]),
    ("heroku", &["heroku"]),
    ("vercel", &["vercel"]),
    ("supabase", &["supabase"]),
    ("systemctl", &["systemctl", "systemd"]),
    ("rclone", &["rclone"]),
    ("rsync", &["rsync"]),
    ("wrangler", &["wrangler"]),
    ("doctl", &["doctl"]),
    ("ansible", &["ansible"]),
    ("brew", &["brew", "homebrew"]),
    ("wp", &["wp", "wpcli"]),
    ("firebase", &["firebase"]),
    ("netlify", &["netlify"]),
    ("railway", &["railway"]),
    ("argocd", &["argocd"]),
    ("nomad", &["nomad"]),
    ("eksctl", &["eksctl"]),
    ("restic", &["restic"]),
];
/// Programs whose subcommand may be the tool's name or an argument, with options in other arguments:
/// `git_push {"force": true}`, `{"action": "destroy", "auto_approve": true}`.
pub(super) const SUBCOMMAND_PROGRAMS: &[&str] =
    &["git", "terraform", "tofu", "helm", "pulumi", "docker", "npm", "pip"];
/// Keys of operands of such a subcommand.
pub(super) const SUBCOMMAND_OPERANDS: &[&str] =
    &["package", "packages", "url", "key", "value", "repository-url", "remote-url"];
/// Words in the names of servers for Redis, whose scripts are Lua.
pub(super) const KEY_STORE_WORDS: &[&str] = &["redis", "valkey", "keydb", "upstash"];
/// Words in the names of servers for MongoDB, whose commands are JavaScript.
pub(super) const MONGO_WORDS: &[&str] = &["mongo", "mongodb", "mongosh"];
