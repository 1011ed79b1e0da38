// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code signed in to an organisation. `anthropic-api.mjs` serves the API behind a proxy on loopback,
//! with a certificate that only this client trusts. The proxy is needed because the client requests
//! server-managed settings only from the real host name.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Stdio};

use anyhow::{Context as _, Result, ensure};
use fs_err as fs;
use serde_json::Value;
use tenterhook_model_server::{ConversationScript, ModelServer};

use crate::client::{Client, Session};
use crate::process;
use crate::world::World;

/// The API; its process ends when its standard input is closed.
struct AnthropicApi {
    child: Child,
    stdin: Option<ChildStdin>,
    proxy: String,
    certificate: PathBuf,
}

impl AnthropicApi {
    fn start(world: &World, model: &str, settings: Option<&Value>) -> Result<Self> {
        let directory = world.next_logs();
        fs::create_dir_all(&directory)?;
        let [certificate, key, file] =
            ["certificate.pem", "key.pem", "settings.json"].map(|name| directory.join(name));
        let mut command = world.command("openssl")?;
        command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
        command.args(["-days", "2", "-subj", "/CN=api.anthropic.com"]);
        command.args(["-addext", "subjectAltName=DNS:*.anthropic.com,DNS:*.claude.com,DNS:claude.ai"]);
        command.arg("-keyout").arg(&key).arg("-out").arg(&certificate);
        process::run(&mut command, &world.next_logs())?;
        if let Some(settings) = settings {
            fs::write(&file, settings.to_string())?;
        }
        let mut command = world.command("node")?;
        command.arg(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("anthropic-api.mjs"));
        command.arg(model).args([&certificate, &key, &file]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(fs::File::create(directory.join("requests"))?.into_file());
        let mut child = command.spawn()?;
        let (stdin, output) = (child.stdin.take(), child.stdout.take().context("no output")?);
        let mut api = Self { child, stdin, proxy: String::new(), certificate };
        BufReader::new(output).read_line(&mut api.proxy)?;
        api.proxy.truncate(api.proxy.trim_end().len());
        ensure!(api.proxy.starts_with("http://"), "the API did not start: {}", directory.display());
        Ok(api)
    }
}

impl Drop for AnthropicApi {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // The process may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Client {
    /// Runs Claude Code like [`Client::run_on_machine`], signed in to an organisation with these server-managed
    /// settings.
    pub fn run_in_organisation(
        &self,
        world: &World,
        script: ConversationScript,
        settings: Option<&Value>,
    ) -> Result<Session> {
        let model = ModelServer::start(script)?;
        let api = AnthropicApi::start(world, &model.url(), settings)?;
        let mut inner = (self.start)(world, &model.url(), "please go on")?;
        inner
            .env_remove("ANTHROPIC_BASE_URL")
            .env("ANTHROPIC_API_KEY", "sk-ant-dummy")
            .env("HTTPS_PROXY", &api.proxy)
            .env("NODE_EXTRA_CA_CERTS", &api.certificate);
        self.finish(&model, world.boxed(&inner)?, world)
    }
}
