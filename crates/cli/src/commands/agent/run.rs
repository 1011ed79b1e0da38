// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tenterhook_agent::provider::{self, Key, MAKERS, Provider, ProviderError, Scripted, Usage};
use tenterhook_agent::tools::{SubagentKind, Toolbox};
use tenterhook_agent::{Agent, Ask, Cancel, Ended, NobodyAnswers, PermissionMode, Session, Settings, Watch};
use tenterhook_authority::OWN_AGENT;
use tenterhook_event::{EventId, Timestamp, Tokens};
use tenterhook_home::{Sources, call_meta};
use tenterhook_policy::{Money, Prices};
use tokio::signal::unix::{SignalKind, signal};

use super::guard::Guard;
use super::person::Person;
use super::stepwise::{SteppedPerson, SteppedProvider};
use super::transcript::{Lines, Transcript};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::Terminal;

/// How long an `ask` waits for somebody elsewhere when nobody sits at this terminal.
const WAIT: Duration = Duration::from_secs(50);
/// The exit code after Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;

const SYSTEM: &str = "You are a careful agent that works with files and commands in the working directory. \
     When a tool is refused, read why, and take the suggestion if there is one.";

const EXAMPLES: &str = "\
Everything the agent is about to do goes to the daemon first, or, while none runs, past the same rules and hooks
right here. Keys are read from ANTHROPIC_API_KEY, OPENAI_API_KEY and GEMINI_API_KEY.

Exit codes: 0 the agent finished; 1 it was stopped, or something failed; 130 you ended it.

Examples:
  tenterhook agent run -p 'tidy up' --provider scripted:session.yaml
  tenterhook agent run -p 'why does the build fail?' --provider anthropic --model claude-sonnet-4-5
  tenterhook agent run -p 'fix the typo' --provider openai --model gpt-5 --permission-mode acceptEdits
  tenterhook agent run -p 'what is in the issue?' --provider gemini --model gemini-2.5-pro --mcp-config mcp.json
  tenterhook agent run -p 'list the files' --provider scripted:session.yaml --json | jq .what";

/// Let the reference agent do something, guarded
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What it is to do
    #[arg(short, long, value_name = "TEXT")]
    prompt: String,
    /// Who answers: scripted:FILE, anthropic, openai or gemini
    #[arg(long, value_name = "PROVIDER")]
    provider: String,
    /// The model, as its maker names it
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// What it may do without asking: default, acceptEdits, plan, bypassPermissions, dontAsk
    #[arg(long, value_name = "MODE", default_value = "default")]
    permission_mode: String,
    /// Where it works [default: here]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// How often the model is asked at most
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    max_turns: u32,
    /// MCP servers whose tools it may use: a file with `mcpServers`
    #[arg(long, value_name = "FILE")]
    mcp_config: Option<PathBuf>,
    /// How many tokens fit; nearer to it there is a warning, then a summary
    #[arg(long, value_name = "TOKENS", default_value_t = 200_000)]
    context_window: u64,
    /// What the model is told before everything else
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,
    /// Wait for a line of input before each answer of the model
    #[arg(long, hide = true)]
    stepwise: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let (provider, model) = provider(context, &args.provider, args.model.as_deref())?;
    let mode = PermissionMode::from_name(&args.permission_mode).ok_or_else(|| {
        let known: Vec<_> = PermissionMode::names().collect();
        CommandError::user(format!("`{}` is no permission mode", args.permission_mode))
            .hint(format!("known: {}", known.join(", ")))
    })?;
    let here = std::env::current_dir()?;
    let cwd = args.cwd.as_ref().map_or_else(|| here.clone(), |dir| here.join(dir));
    if !cwd.is_dir() {
        return Err(CommandError::user(format!("`{}` is no directory", cwd.display())));
    }
    let mut settings = Settings::new(model, cwd.clone());
    settings.system = Some(args.system_prompt.clone().unwrap_or_else(|| SYSTEM.to_owned()));
    settings.mode = mode;
    settings.max_turns = args.max_turns;
    settings.context_window = args.context_window;
    settings.project = Some(cwd.display().to_string());
    let watch: Arc<dyn Watch> = if context.terminal.json {
        Arc::new(Lines { terminal: context.terminal })
    } else {
        Arc::new(Transcript::new(context.terminal, &cwd))
    };
    let provider: Arc<dyn Provider> = if args.stepwise {
        Arc::new(SteppedProvider { inner: provider, terminal: context.terminal })
    } else {
        provider
    };
    let person: Option<Arc<dyn Ask>> = if args.stepwise {
        Some(Arc::new(SteppedPerson { terminal: context.terminal }))
    } else if Terminal::is_interactive() {
        Some(Arc::new(Person { terminal: context.terminal }))
    } else {
        None
    };
    let plan = Plan { settings, provider, watch, mcp_config: args.mcp_config.clone(), person };
    until_ended(async |cancel| {
        let ended = plan.play(context, &args.prompt, cancel).await?;
        report(context, ended)
    })
}

/// Everything a session needs but the daemon.
struct Plan {
    settings: Settings,
    provider: Arc<dyn Provider>,
    watch: Arc<dyn Watch>,
    mcp_config: Option<PathBuf>,
    /// The person who answers questions, if there is one.
    person: Option<Arc<dyn Ask>>,
}

impl Plan {
    /// One prompt, from the session's first event to its last.
    async fn play(
        self,
        context: &Context,
        prompt: &str,
        cancel: &Cancel,
    ) -> Result<Result<String, Ended>, CommandError> {
        let Self { mut settings, provider, watch, mcp_config, person } = self;
        OWN_AGENT.clone_into(&mut settings.source);
        settings.user = Some(tenterhook_home::env::user());
        let wait = person.is_none().then_some(WAIT);
        let ask = person.unwrap_or_else(|| Arc::new(NobodyAnswers));
        let guard = Guard { home: context.home()?.clone(), env: context.env.clone(), wait };
        let mut tools = Toolbox::own();
        if let Some(file) = &mcp_config {
            super::mcp::add(&mut tools, context, file, &settings.cwd, cancel).await?;
        }
        let id = call_meta::mint()?.id.to_string();
        let prices = Sources::prices_of(context.home()?);
        let agent = Agent {
            fire: Arc::new(guard),
            provider,
            tools,
            subagents: vec![SubagentKind::general()],
            ask,
            watch,
            mint: Arc::new(mint),
            prices: Some(Arc::new(move |model: &str, used: &Usage| price(&prices, model, used))),
            settings,
        };
        let session = match Session::start(Arc::new(agent), id, "startup", cancel).await {
            Ok(session) => session,
            Err(ended) => return Ok(Err(ended)),
        };
        let ended = session.prompt(prompt, cancel).await;
        let reason = if ended == Err(Ended::Cancelled) { "interrupted" } else { "exit" };
        // What is recorded of the end is the last thing; why there is none was said already.
        let last = session.end(reason).await;
        Ok(ended.and_then(|text| last.map(|()| text)))
    }
}

/// Runs until it is done, or somebody says stop: the first time everything is ended in order.
pub(crate) fn until_ended<T>(
    work: impl AsyncFnOnce(&Cancel) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let cancel = Cancel::new();
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
                break Err(CommandError::internal("ended before everything was put in order"));
            }
            cancel.cancel();
        }
    });
    runtime.shutdown_background();
    result
}

/// Who answers, and the model's name.
fn provider(
    context: &Context,
    name: &str,
    model: Option<&str>,
) -> Result<(Arc<dyn Provider>, String), CommandError> {
    if let Some(file) = name.strip_prefix("scripted:") {
        let text = fs_err::read_to_string(file).map_err(|error| CommandError::user(error.to_string()))?;
        let script = Scripted::parse(file, &text).map_err(unusable)?;
        let model = model.unwrap_or_else(|| script.model()).to_owned();
        return Ok((Arc::new(script), model));
    }
    let variable = |name: &str| context.env.all.get(name).cloned();
    let maker = MAKERS.iter().find(|maker| maker.name == name);
    let settings = provider::Settings {
        key: maker.and_then(|maker| Key::new(&variable(maker.key_variable)?)),
        base_url: maker.and_then(|maker| variable(maker.base_url_variable)),
        ..provider::Settings::default()
    };
    let provider = provider::named(name, settings).map_err(unusable)?;
    let model = model.ok_or_else(|| {
        CommandError::user(format!("which model of {name}?"))
            .hint("say it with --model, as its maker names it")
    })?;
    Ok((provider.into(), model.to_owned()))
}

fn unusable(error: ProviderError) -> CommandError {
    let said = CommandError::user(error.message);
    error.hint.into_iter().fold(said, CommandError::hint)
}

fn report(context: &Context, ended: Result<String, Ended>) -> Result<ExitCode, CommandError> {
    if context.terminal.json {
        let end = match &ended {
            Ok(text) => json!({"what": "end", "finished": true, "text": text}),
            Err(ended) => json!({"what": "end", "finished": false, "why": ended.to_string()}),
        };
        context.terminal.exactly(&format!("{end}\n"), "")?;
    }
    match ended {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(Ended::Cancelled) => Ok(ExitCode::from(INTERRUPTED)),
        Err(Ended::Model(error)) => {
            let said = CommandError::internal(format!("the model did not answer: {}", error.message));
            Err(error.hint.into_iter().fold(said, CommandError::hint))
        }
        Err(ended) if context.terminal.json => {
            context.terminal.note(&format!("{ended}\n"))?;
            Ok(ExitCode::FAILURE)
        }
        Err(ended) => Err(CommandError::internal(ended.to_string())),
    }
}

/// What an answer cost, in dollars, where that is known.
fn price(prices: &Prices, model: &str, used: &Usage) -> Option<f64> {
    let Usage { input, output, cache_read, cache_write } = *used;
    let tokens = Tokens { input, output, cache_read, cache_write };
    prices.cost(model, &tokens).map(Money::as_dollars)
}

fn mint() -> (EventId, Timestamp) {
    // Without randomness the clock alone still tells events of one session apart, nearly always; an id
    // that is there already is refused by the ledger.
    call_meta::mint().map_or_else(
        |_| (EventId::from_parts(call_meta::now_ms(), 0), call_meta::now()),
        |door| (door.id, door.ts),
    )
}
