// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests the client with real MCP servers that are written in Python.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tenterhook_test_support::assert_no_hang;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::CancelToken;

const TEST_TIMEOUTS: McpTimeouts =
    McpTimeouts { start: Duration::from_secs(20), call: Duration::from_secs(20) };
const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/mcp/tests/server.py");

/// A directory with a file to which the test servers write notes.
struct ServerFixture {
    dir: TempDir,
}

impl ServerFixture {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn notes_path(&self) -> PathBuf {
        self.dir.path().join("notes")
    }

    fn read_notes(&self) -> Vec<String> {
        std::fs::read_to_string(self.notes_path())
            .unwrap_or_default()
            .lines()
            .map(ToOwned::to_owned)
            .collect()
    }

    fn config(&self, servers: &[(&str, &str)]) -> McpConfig {
        let notes = self.notes_path();
        let entry = |mode: &str| json!({"command": "python3", "args": [SERVER, mode, notes]});
        let servers: serde_json::Map<_, _> =
            servers.iter().map(|(name, mode)| ((*name).to_owned(), entry(mode))).collect();
        let text = json!({"mcpServers": servers}).to_string();
        #[expect(clippy::disallowed_methods, reason = "tests look up the interpreter in PATH")]
        McpConfig::read(&text, &|name| std::env::var(name).ok().filter(|_| name == "PATH")).unwrap()
    }

    async fn start(&self, mode: &str, limits: McpTimeouts) -> Result<McpServer, McpError> {
        let config = self.config(&[("test", mode)]);
        McpServer::start("test", &config.servers["test"], self.dir.path(), limits, &CancelToken::new()).await
    }
}

async fn call(server: &McpServer, tool: &str, args: Value) -> Result<McpToolResult, McpError> {
    server.call(tool, &args, &CancelToken::new()).await
}

/// Waits until a process has exited.
async fn wait_process_exit(pid: &str) {
    let began = Instant::now();
    let runs = || {
        let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
        // A zombie process has already exited.
        !stat.is_empty() && !stat.contains(") Z ")
    };
    while runs() {
        assert_no_hang(began, &format!("{pid} is still running"));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn tools_are_listed_page_by_page_and_called_by_name() {
    let fixture = ServerFixture::new();
    let config = fixture.config(&[("my files", "good"), ("other", "greets")]);
    let (servers, problems) =
        McpServerSet::start(&config, fixture.dir.path(), TEST_TIMEOUTS, &CancelToken::new()).await;
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

    let call =
        async |tool: &str, args: Value| servers.call_tool(tool, &args, &CancelToken::new()).await.unwrap();
    let told = |content: &str, is_error| McpToolResult { content: content.to_owned(), is_error };
    assert_eq!(call("mcp__other__echo", json!({"text": "zwölf\nlines"})).await, told("zwölf\nlines", false));
    assert_eq!(call("mcp__my_files__fail", json!({})).await, told("it did not work", true));
    let parts = "one\n[image image/png]\ninside\n[resource file:///b]";
    assert_eq!(call("mcp__my_files__parts", json!({})).await, told(parts, false));
    let env = call("mcp__my_files__env_all", json!({})).await.content;
    assert!(env.contains("\"PATH\"") && !env.contains("CARGO"), "{env}");

    let error = servers.call_tool("mcp__other__nothing", &json!({}), &CancelToken::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "MCP server `other`: unknown tool `mcp__other__nothing`");
    servers.close().await;
    let noted = fixture.read_notes();
    assert_eq!(noted.iter().filter(|line| *line == "end of input").count(), 2, "{noted:?}");
}

#[tokio::test]
async fn calls_side_by_side_get_their_own_answers() {
    let server = ServerFixture::new().start("good", TEST_TIMEOUTS).await.unwrap();
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
    let fixture = ServerFixture::new();
    let server = fixture.start("asks", TEST_TIMEOUTS).await.unwrap();
    server.close().await;
    let noted = fixture.read_notes();
    assert_eq!(noted[1], r#"{"id":99,"jsonrpc":"2.0","result":{}}"#);
    assert!(noted[2].contains(r#""code":-32601"#) && noted[2].contains(r#""id":"x""#), "{}", noted[2]);
    assert!(noted[3].contains("notifications/initialized"), "{}", noted[3]);
}

#[tokio::test]
async fn an_unusable_server_is_reported_with_the_reason() {
    let fixture = ServerFixture::new();
    let short = McpTimeouts { start: Duration::from_millis(1500), ..TEST_TIMEOUTS };
    let mut messages = Vec::new();
    for mode in ["dies", "refuses", "old", "listless", "endless", "silent"] {
        messages.push(fixture.start(mode, short).await.unwrap_err().to_string());
    }
    let nothing = McpServerSpec { command: "no-such-program".to_owned(), ..McpServerSpec::default() };
    let nothing =
        McpServer::start("test", &nothing, fixture.dir.path(), TEST_TIMEOUTS, &CancelToken::new()).await;
    messages.push(nothing.unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"), @"
    MCP server `test`: server exited (exit status: 3) before it replied to `initialize`; error output: no database
    MCP server `test`: server refused `initialize`: not today (code -32000)
    MCP server `test`: invalid reply to `initialize`: unsupported protocol version `1999-01-01`
    MCP server `test`: invalid reply to `tools/list`: `tools` is not a list
    MCP server `test`: invalid reply to `tools/list`: too many pages of tools
    MCP server `test`: no reply to `initialize` within 1.5s
    MCP server `test`: cannot start `no-such-program`: No such file or directory (os error 2)
    ");
    for pid in fixture.read_notes().iter().filter(|line| line.parse::<u32>().is_ok()) {
        wait_process_exit(pid).await;
    }
}

#[tokio::test]
async fn one_server_that_fails_keeps_no_other() {
    let fixture = ServerFixture::new();
    let config = fixture.config(&[("bad", "dies"), ("good", "good")]);
    let (servers, problems) =
        McpServerSet::start(&config, fixture.dir.path(), TEST_TIMEOUTS, &CancelToken::new()).await;
    assert_eq!((servers.tools().len(), problems.len()), (6, 1));
    assert!(servers.has_tool("mcp__good__echo") && !servers.has_tool("mcp__bad__echo"));
}

#[tokio::test]
async fn a_dead_server_is_reported_at_once_and_at_every_later_call() {
    let server = ServerFixture::new().start("noisy", TEST_TIMEOUTS).await.unwrap();
    let error = call(&server, "die", json!({})).await.unwrap_err().to_string();
    let expected =
        "MCP server `test`: server exited (exit status: 7) before it replied to `tools/call`; error output: ";
    assert!(error.starts_with(expected) && error.ends_with("the end\nout of order"), "{error}");
    assert!(error.len() < 5000, "{}", error.len());
    let again = call(&server, "echo", json!({})).await.unwrap_err();
    assert!(matches!(again.kind, McpErrorKind::Died { .. }), "{again}");
}

#[tokio::test]
async fn a_slow_tool_is_called_off_at_its_limit_and_the_server_goes_on() {
    let fixture = ServerFixture::new();
    let server = fixture
        .start("good", McpTimeouts { call: Duration::from_millis(300), ..TEST_TIMEOUTS })
        .await
        .unwrap();
    let error = call(&server, "sleep", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "MCP server `test`: no reply to `tools/call` within 300ms");
    assert_eq!(call(&server, "echo", json!({"text": "still here"})).await.unwrap().content, "still here");

    let cancel = CancelToken::new();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    };
    let args = json!({});
    let (error, ()) = tokio::join!(server.call("sleep", &args, &cancel), stop);
    assert_eq!(error.unwrap_err().kind, McpErrorKind::Cancelled);
    server.close().await;
    let is_cancellation = |line: &&String| line.contains("notifications/cancelled");
    assert_eq!(fixture.read_notes().iter().filter(is_cancellation).count(), 2, "{:?}", fixture.read_notes());
}

#[tokio::test]
async fn nothing_is_left_of_a_server_however_it_is_ended() {
    for (mode, close) in [("parent", false), ("parent", true), ("stays", false), ("stays", true)] {
        let fixture = ServerFixture::new();
        let server = fixture.start(mode, TEST_TIMEOUTS).await.unwrap();
        if close {
            server.close().await;
        } else {
            drop(server);
        }
        let pids = fixture.read_notes();
        assert_eq!(
            pids.iter().filter(|pid| pid.parse::<u32>().is_ok()).count(),
            if mode == "parent" { 2 } else { 1 }
        );
        for pid in pids.iter().filter(|pid| pid.parse::<u32>().is_ok()) {
            wait_process_exit(pid).await;
        }
    }
}
