// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Real servers, in a language of their own.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::Cancel;

const LIMITS: Limits = Limits { start: Duration::from_secs(20), call: Duration::from_secs(20) };
const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/mcp/tests/server.py");

/// A place for what a server notes.
struct Bench {
    dir: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn notes(&self) -> PathBuf {
        self.dir.path().join("notes")
    }

    fn noted(&self) -> Vec<String> {
        std::fs::read_to_string(self.notes()).unwrap_or_default().lines().map(ToOwned::to_owned).collect()
    }

    fn config(&self, servers: &[(&str, &str)]) -> Config {
        let notes = self.notes();
        let entry = |mode: &str| json!({"command": "python3", "args": [SERVER, mode, notes]});
        let servers: serde_json::Map<_, _> =
            servers.iter().map(|(name, mode)| ((*name).to_owned(), entry(mode))).collect();
        let text = json!({"mcpServers": servers}).to_string();
        #[expect(clippy::disallowed_methods, reason = "a test finds its interpreter where we do")]
        Config::read(&text, &|name| std::env::var(name).ok().filter(|_| name == "PATH")).unwrap()
    }

    async fn start(&self, mode: &str, limits: Limits) -> Result<Server, McpError> {
        let config = self.config(&[("test", mode)]);
        Server::start("test", &config.servers["test"], self.dir.path(), limits, &Cancel::new()).await
    }
}

async fn call(server: &Server, tool: &str, args: Value) -> Result<Told, McpError> {
    server.call(tool, &args, &Cancel::new()).await
}

/// Waits until there is no such process.
async fn gone(pid: &str) {
    let began = Instant::now();
    let runs = || {
        let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
        // What was killed and is not yet waited for does not run.
        !stat.is_empty() && !stat.contains(") Z ")
    };
    while runs() {
        assert!(began.elapsed() < Duration::from_secs(3), "{pid} is left behind");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn tools_are_listed_page_by_page_and_called_by_name() {
    let bench = Bench::new();
    let config = bench.config(&[("my files", "good"), ("other", "greets")]);
    let (servers, problems) = Servers::start(&config, bench.dir.path(), LIMITS, &Cancel::new()).await;
    assert_eq!(problems, []);
    let tools = servers.tools();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let own = ["echo", "fail", "parts", "die", "sleep", "env_all"];
    let expected =
        ["my_files", "other"].map(|server| own.map(|tool| format!("mcp__{server}__{tool}"))).concat();
    assert_eq!(names, expected);
    assert_eq!(tools[0].description, "Says it again.");
    assert_eq!(tools[0].schema["properties"], json!({"text": {"type": "string"}}));
    assert_eq!((tools[1].description.as_str(), &tools[1].schema), ("Fails", &json!({"type": "object"})));

    let call = async |tool: &str, args: Value| servers.call(tool, &args, &Cancel::new()).await.unwrap();
    let told = |content: &str, is_error| Told { content: content.to_owned(), is_error };
    assert_eq!(call("mcp__other__echo", json!({"text": "zwölf\nlines"})).await, told("zwölf\nlines", false));
    assert_eq!(call("mcp__my_files__fail", json!({})).await, told("it did not work", true));
    let parts = "one\n[image image/png]\ninside\n[resource file:///b]";
    assert_eq!(call("mcp__my_files__parts", json!({})).await, told(parts, false));
    let env = call("mcp__my_files__env_all", json!({})).await.content;
    assert!(env.contains("\"PATH\"") && !env.contains("CARGO"), "{env}");

    let error = servers.call("mcp__other__nothing", &json!({}), &Cancel::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "MCP server `other`: it has no tool `mcp__other__nothing`");
    servers.close().await;
    let noted = bench.noted();
    assert_eq!(noted.iter().filter(|line| *line == "end of input").count(), 2, "{noted:?}");
}

#[tokio::test]
async fn calls_side_by_side_get_their_own_answers() {
    let server = Bench::new().start("good", LIMITS).await.unwrap();
    let calls = (0..50).map(|n| {
        let server = &server;
        async move { call(server, "echo", json!({"text": format!("call {n}")})).await.unwrap().content }
    });
    let answers = futures_util::future::join_all(calls).await;
    let expected: Vec<_> = (0..50).map(|n| format!("call {n}")).collect();
    assert_eq!(answers, expected);
}

#[tokio::test]
async fn what_a_server_asks_us_is_answered() {
    let bench = Bench::new();
    let server = bench.start("asks", LIMITS).await.unwrap();
    server.close().await;
    let noted = bench.noted();
    assert_eq!(noted[1], r#"{"id":99,"jsonrpc":"2.0","result":{}}"#);
    assert!(noted[2].contains(r#""code":-32601"#) && noted[2].contains(r#""id":"x""#), "{}", noted[2]);
    assert!(noted[3].contains("notifications/initialized"), "{}", noted[3]);
}

#[tokio::test]
async fn a_server_that_cannot_be_used_says_why() {
    let bench = Bench::new();
    let short = Limits { start: Duration::from_millis(1500), ..LIMITS };
    let mut said = Vec::new();
    for mode in ["dies", "refuses", "old", "listless", "endless", "silent"] {
        said.push(bench.start(mode, short).await.unwrap_err().to_string());
    }
    let nothing = ServerSpec { command: "no-such-program".to_owned(), ..ServerSpec::default() };
    let nothing = Server::start("test", &nothing, bench.dir.path(), LIMITS, &Cancel::new()).await;
    said.push(nothing.unwrap_err().to_string());
    insta::assert_snapshot!(said.join("\n"), @"
    MCP server `test`: it ended (exit status: 3) before it answered `initialize`; its last words: no database
    MCP server `test`: it refused `initialize`: not today (code -32000)
    MCP server `test`: its answer to `initialize` cannot be used: version `1999-01-01` of the protocol is not known
    MCP server `test`: its answer to `tools/list` cannot be used: it has no list of `tools`
    MCP server `test`: its answer to `tools/list` cannot be used: the list of tools does not end
    MCP server `test`: no answer to `initialize` within 1.5s
    MCP server `test`: `no-such-program` could not be started: No such file or directory (os error 2)
    ");
    for pid in bench.noted().iter().filter(|line| line.parse::<u32>().is_ok()) {
        gone(pid).await;
    }
}

#[tokio::test]
async fn one_server_that_fails_keeps_no_other() {
    let bench = Bench::new();
    let config = bench.config(&[("bad", "dies"), ("good", "good")]);
    let (servers, problems) = Servers::start(&config, bench.dir.path(), LIMITS, &Cancel::new()).await;
    assert_eq!((servers.tools().len(), problems.len()), (6, 1));
    assert!(servers.has("mcp__good__echo") && !servers.has("mcp__bad__echo"));
}

#[tokio::test]
async fn a_server_that_dies_says_so_at_once_and_ever_after() {
    let server = Bench::new().start("noisy", LIMITS).await.unwrap();
    let error = call(&server, "die", json!({})).await.unwrap_err().to_string();
    let expected =
        "MCP server `test`: it ended (exit status: 7) before it answered `tools/call`; its last words: ";
    assert!(error.starts_with(expected) && error.ends_with("the end\nout of order"), "{error}");
    assert!(error.len() < 5000, "{}", error.len());
    let again = call(&server, "echo", json!({})).await.unwrap_err();
    assert!(matches!(again.why, Why::Died { .. }), "{again}");
}

#[tokio::test]
async fn a_slow_tool_is_called_off_at_its_limit_and_the_server_goes_on() {
    let bench = Bench::new();
    let server = bench.start("good", Limits { call: Duration::from_millis(300), ..LIMITS }).await.unwrap();
    let error = call(&server, "sleep", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "MCP server `test`: no answer to `tools/call` within 300ms");
    assert_eq!(call(&server, "echo", json!({"text": "still here"})).await.unwrap().content, "still here");

    let cancel = Cancel::new();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    };
    let args = json!({});
    let (error, ()) = tokio::join!(server.call("sleep", &args, &cancel), stop);
    assert_eq!(error.unwrap_err().why, Why::Cancelled);
    server.close().await;
    let called_off = |line: &&String| line.contains("notifications/cancelled");
    assert_eq!(bench.noted().iter().filter(called_off).count(), 2, "{:?}", bench.noted());
}

#[tokio::test]
async fn nothing_is_left_of_a_server_however_it_is_ended() {
    for (mode, close) in [("parent", false), ("parent", true), ("stays", false), ("stays", true)] {
        let bench = Bench::new();
        let server = bench.start(mode, LIMITS).await.unwrap();
        if close {
            server.close().await;
        } else {
            drop(server);
        }
        let pids = bench.noted();
        assert_eq!(
            pids.iter().filter(|pid| pid.parse::<u32>().is_ok()).count(),
            if mode == "parent" { 2 } else { 1 }
        );
        for pid in pids.iter().filter(|pid| pid.parse::<u32>().is_ok()) {
            gone(pid).await;
        }
    }
}
