// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tenterhook_agent::provider::{
    self, ApiKey, ModelUsage, PROVIDERS, Provider, ProviderError, ScriptedProvider,
};
use tenterhook_agent::tools::{SubagentKind, Toolbox};
use tenterhook_agent::{
    ActivityObserver, AgentRuntime, AgentSession, AgentSettings, CancelToken, NoPermissionPrompt,
    PermissionMode, PermissionPrompt, TurnError,
};
use tenterhook_agent_transcript::{JsonTranscript, TextTranscript};
use tenterhook_authority::OWN_AGENT;
use tenterhook_event::{EventId, Timestamp, TokenCounts};
use tenterhook_home::{Sources, call_meta};
use tenterhook_policy::{Money, PriceTable};
use tokio::signal::unix::{SignalKind, signal};

use super::agent_guard::AgentGuard;
use super::stepwise::{SteppedProvider, SteppedUser};
use super::terminal_user::TerminalUser;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::Terminal;

/// Maximum time that an `ask` waits for an approval from another place if no user is at this terminal.
const APPROVAL_WAIT: Duration = Duration::from_secs(50);
/// Exit code after Ctrl-C, as in shells.
const INTERRUPTED_EXIT_CODE: u8 = 130;

const DEFAULT_SYSTEM_PROMPT: &str = "You are a careful agent that works with files and commands in the working directory. \
     When a tool call is denied, read the reason, and follow the suggestion if there is one.";

const EXAMPLES: &str = "\
Before every step the agent asks the daemon, or without a daemon evaluates the same rules and hooks in-process. \
Keys are read from ANTHROPIC_API_KEY, OPENAI_API_KEY and GEMINI_API_KEY.

Exit codes: 0 the agent finished; 1 it was stopped, or an error occurred; 130 you interrupted it.

Examples:
  tenterhook agent run -p 'tidy up' --provider scripted:session.yaml
  tenterhook agent run -p 'why does the build fail?' \\
    --provider anthropic --model claude-sonnet-4-5
  tenterhook agent run -p 'fix the typo' --provider openai \\
    --model gpt-5 --permission-mode acceptEdits
  tenterhook agent run -p 'what is in the issue?' --provider gemini \\
    --model gemini-2.5-pro --mcp-config mcp.json
  tenterhook agent run -p 'list the files' \\
    --provider scripted:session.yaml --json | jq .what";

/// Run the reference agent, guarded
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Task for the agent
    #[arg(short, long, value_name = "TEXT")]
    prompt: String,
    /// Model provider: scripted:FILE, anthropic, openai or gemini
    #[arg(long, value_name = "PROVIDER")]
    provider: String,
    /// Model; use the provider's name for it
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// What the agent may do without asking: default, acceptEdits, plan, bypassPermissions, dontAsk
    #[arg(long, value_name = "MODE", default_value = "default")]
    permission_mode: String,
    /// Working directory [default: the current directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Maximum number of model requests
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    max_turns: u32,
    /// File with `mcpServers`, whose tools the agent may use
    #[arg(long, value_name = "FILE")]
    mcp_config: Option<PathBuf>,
    /// Size of the context in tokens; near the limit the agent warns, then summarizes
    #[arg(long, value_name = "TOKENS", default_value_t = 200_000)]
    context_window: u64,
    /// System prompt for the model
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,
    /// Wait for a line of input before each reply of the model
    #[arg(long, hide = true)]
    stepwise: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let (provider, model) = find_provider(context, &args.provider, args.model.as_deref())?;
    let mode = PermissionMode::from_name(&args.permission_mode).ok_or_else(|| {
        let known: Vec<_> = PermissionMode::names().collect();
        CommandError::user(format!("unknown permission mode `{}`", args.permission_mode))
            .hint(format!("known: {}", known.join(", ")))
    })?;
    let here = std::env::current_dir()?;
    let cwd = args.cwd.as_ref().map_or_else(|| here.clone(), |dir| here.join(dir));
    if !cwd.is_dir() {
        return Err(CommandError::user(format!("`{}` is not a directory", cwd.display())));
    }
    let mut settings = AgentSettings::new(model, cwd.clone());
    settings.system = Some(args.system_prompt.clone().unwrap_or_else(|| DEFAULT_SYSTEM_PROMPT.to_owned()));
    settings.mode = mode;
    settings.max_turns = args.max_turns;
    settings.context_window = args.context_window;
    settings.project = Some(cwd.display().to_string());
    let terminal = context.terminal;
    let observer: Arc<dyn ActivityObserver> = if context.terminal.json {
        Arc::new(JsonTranscript::new(Box::new(move |line| drop(terminal.print_raw(line, "")))))
    } else {
        Arc::new(TextTranscript::new(
            Box::new(move |text| drop(terminal.print(text))),
            Terminal::width(),
            &cwd,
        ))
    };
    let provider: Arc<dyn Provider> = if args.stepwise {
        Arc::new(SteppedProvider { inner: provider, terminal: context.terminal })
    } else {
        provider
    };
    let user_prompt: Option<Arc<dyn PermissionPrompt>> = if args.stepwise {
        Some(Arc::new(SteppedUser { terminal: context.terminal }))
    } else if Terminal::is_interactive() {
        Some(Arc::new(TerminalUser { terminal: context.terminal }))
    } else {
        None
    };
    let plan = AgentRun { settings, provider, observer, mcp_config: args.mcp_config.clone(), user_prompt };
    run_until_cancelled(async |cancel| {
        let ended = plan.run_prompt(context, &args.prompt, cancel).await?;
        report_end(context, ended)
    })
}

/// Everything that a session needs, apart from the daemon.
struct AgentRun {
    settings: AgentSettings,
    provider: Arc<dyn Provider>,
    observer: Arc<dyn ActivityObserver>,
    mcp_config: Option<PathBuf>,
    /// Asks the user for permissions; `None` if no user is present.
    user_prompt: Option<Arc<dyn PermissionPrompt>>,
}

impl AgentRun {
    /// Runs one prompt, from the session's first event to its last.
    async fn run_prompt(
        self,
        context: &Context,
        prompt: &str,
        cancel: &CancelToken,
    ) -> Result<Result<String, TurnError>, CommandError> {
        let Self { mut settings, provider, observer, mcp_config, user_prompt } = self;
        OWN_AGENT.clone_into(&mut settings.source);
        settings.user = Some(tenterhook_home::env::current_user());
        let wait = user_prompt.is_none().then_some(APPROVAL_WAIT);
        let permission_prompt = user_prompt.unwrap_or_else(|| Arc::new(NoPermissionPrompt));
        let guard = AgentGuard { home: context.home()?.clone(), env: context.env.clone(), wait };
        let mut tools = Toolbox::builtin();
        if let Some(file) = &mcp_config {
            super::mcp::add_servers(&mut tools, context, file, &settings.cwd, cancel).await?;
        }
        let id = call_meta::mint()?.id.to_string();
        let prices = Sources::load_prices(context.home()?);
        let agent = AgentRuntime {
            dispatcher: Arc::new(guard),
            provider,
            tools,
            subagents: vec![SubagentKind::general()],
            permission_prompt,
            observer,
            event_ids: Arc::new(new_event_id),
            prices: Some(Arc::new(move |model: &str, used: &ModelUsage| reply_cost(&prices, model, used))),
            settings,
        };
        let session = match AgentSession::start(Arc::new(agent), id, "startup", cancel).await {
            Ok(session) => session,
            Err(ended) => return Ok(Err(ended)),
        };
        let ended = session.prompt(prompt, cancel).await;
        let reason = if ended == Err(TurnError::Cancelled) { "interrupted" } else { "exit" };
        // The error of a failed prompt takes precedence over an error of the session's last event.
        let last = session.end(reason).await;
        Ok(ended.and_then(|text| last.map(|()| text)))
    }
}

/// Runs work until it is done. The first signal cancels the work and lets it clean up; the second ends it at once.
pub(crate) fn run_until_cancelled<T>(
    work: impl AsyncFnOnce(&CancelToken) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let cancel = CancelToken::new();
    let result = runtime.block_on(async {
        let signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [Ok(mut int), Ok(mut term), Ok(mut hup)] = signals.map(signal) else {
            return work(&cancel).await;
        };
        let work = work(&cancel);
        tokio::pin!(work);
        loop {
            tokio::select! {
                result = &mut work => break result,
                _ = int.recv() => {}
                _ = term.recv() => {}
                _ = hup.recv() => {}
            }
            if cancel.is_cancelled() {
                break Err(CommandError::internal("ended before cleanup was complete"));
            }
            cancel.cancel();
        }
    });
    runtime.shutdown_background();
    result
}

/// Finds the provider and the model's name.
fn find_provider(
    context: &Context,
    name: &str,
    model: Option<&str>,
) -> Result<(Arc<dyn Provider>, String), CommandError> {
    if let Some(file) = name.strip_prefix("scripted:") {
        let text = fs_err::read_to_string(file).map_err(|error| CommandError::user(error.to_string()))?;
        let script = ScriptedProvider::parse(file, &text).map_err(provider_error)?;
        let model = model.unwrap_or_else(|| script.model()).to_owned();
        return Ok((Arc::new(script), model));
    }
    let variable = |name: &str| context.env.all.get(name).cloned();
    let known = PROVIDERS.iter().find(|known| known.name == name);
    let settings = provider::ProviderSettings {
        key: known.and_then(|known| ApiKey::new(&variable(known.key_variable)?)),
        base_url: known.and_then(|known| variable(known.base_url_variable)),
        ..provider::ProviderSettings::default()
    };
    let provider = provider::provider_by_name(name, settings).map_err(provider_error)?;
    let model = model.ok_or_else(|| {
        CommandError::user(format!("no model given for provider `{name}`"))
            .hint("use `--model` with the provider's name of the model")
    })?;
    Ok((provider.into(), model.to_owned()))
}

fn provider_error(error: ProviderError) -> CommandError {
    let said = CommandError::user(error.message);
    error.hint.into_iter().fold(said, CommandError::hint)
}

fn report_end(context: &Context, ended: Result<String, TurnError>) -> Result<ExitCode, CommandError> {
    if context.terminal.json {
        let end = match &ended {
            Ok(text) => json!({"what": "end", "finished": true, "text": text}),
            Err(ended) => json!({"what": "end", "finished": false, "why": ended.to_string()}),
        };
        context.terminal.print_raw(&format!("{end}\n"), "")?;
    }
    match ended {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(TurnError::Cancelled) => Ok(ExitCode::from(INTERRUPTED_EXIT_CODE)),
        Err(TurnError::Model(error)) => {
            let said = CommandError::internal(format!("no reply from the model: {}", error.message));
            Err(error.hint.into_iter().fold(said, CommandError::hint))
        }
        Err(ended) if context.terminal.json => {
            context.terminal.eprint(&format!("{ended}\n"))?;
            Ok(ExitCode::FAILURE)
        }
        Err(ended) => Err(CommandError::internal(ended.to_string())),
    }
}

/// Returns the cost of a reply in dollars, if the price is known.
fn reply_cost(prices: &PriceTable, model: &str, used: &ModelUsage) -> Option<f64> {
    let ModelUsage { input, output, cache_read, cache_write } = *used;
    let tokens = TokenCounts { input, output, cache_read, cache_write };
    prices.cost(model, &tokens).map(Money::as_dollars)
}

fn new_event_id() -> (EventId, Timestamp) {
    // Without randomness, the clock alone nearly always makes the ids of one session unique; the ledger refuses a
    // duplicate id.
    call_meta::mint().map_or_else(
        |_| (EventId::from_parts(call_meta::now_ms(), 0), call_meta::now()),
        |meta| (meta.id, meta.ts),
    )
}
