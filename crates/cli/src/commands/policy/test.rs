// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_document::{Node, Value as Tree, parse, read};
use tenterhook_event::{Decision, Event, Timestamp, ToolCall};
use tenterhook_home::Place;
use tenterhook_policy::SessionState;

use super::explain::book;
use crate::context::Context;
use crate::error::CommandError;
use crate::ruling::{RuleArgs, Rulebook, about_to, about_to_run};
use crate::terminal::{BAD, BOLD, DIM, GOOD, count, tame};

/// The machine on which cases are played, as for the examples of rules: the same everywhere.
const HOME: &str = "/home/user";
const PROJECT: &str = "/home/user/project";

const EXAMPLES: &str = "\
A file holds cases:

  cases:
    - name: nobody deploys from here
      command: make deploy            # or `tool` and `args`, or a whole `event` in the normal form
      cwd: /home/user/project         # this is the default; the home is /home/user
      labels: [read-secret]           # what the session carries already
      expect: deny                    # deny, ask, allow or none
      rule: no-prod-deploy            # the rule that has to say so
      reason: ask the release team    # what the reason has to contain; `nudge` likewise

Without --policy the rules are those in force here. Exit codes: 0 all hold; 1 one does not; 2 a file
cannot be read.

Examples:
  tenterhook policy test rules.test.yaml
  tenterhook policy test rules.test.yaml --policy rules.yaml --no-baseline --junit > report.xml";

/// Try the rules on cases written in a file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Files of cases
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    rules: RuleArgs,
    /// Answer in JUnit's XML, which CI services read
    #[arg(long, conflicts_with = "json")]
    junit: bool,
}

/// One case as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: Option<String>,
    command: Option<String>,
    tool: Option<String>,
    #[serde(default)]
    args: Value,
    /// A whole event, or the kind of event that `tool` is about.
    event: Option<Value>,
    cwd: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
    expect: Expect,
    rule: Option<String>,
    reason: Option<String>,
    nudge: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expect {
    None,
    Allow,
    Ask,
    Deny,
}

/// What became of one case.
struct Played {
    file: String,
    line: usize,
    name: String,
    /// Everything that is not as expected.
    wrong: Vec<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let book = book(context, &args.rules, &Place::at(std::env::current_dir().ok()))?.at_home(HOME);
    let now = tenterhook_home::call_meta::now();
    let mut played = Vec::new();
    for path in &args.files {
        let text = fs_err::read_to_string(path).map_err(|error| CommandError::user(error.to_string()))?;
        let name = path.display().to_string();
        let tree = parse(&text).map_err(|(spot, message)| {
            CommandError::user(format!("{name}:{}:{}: {message}", spot.line, spot.column))
        })?;
        let Some(Tree::List(cases)) = tree.get("cases").map(|node| &node.value) else {
            return Err(CommandError::user(format!("{name}: there is no list `cases`"))
                .hint("see `tenterhook policy test --help` for what a file looks like"));
        };
        played.extend(cases.iter().map(|node| play(&book, &name, node, now)));
    }
    let failed = played.iter().filter(|case| !case.wrong.is_empty()).count();
    if args.junit {
        context.terminal.exactly(&junit(&played), "")?;
    } else if context.terminal.json {
        let cases: Vec<_> = played
            .iter()
            .map(|case| json!({"file": case.file, "line": case.line, "name": case.name, "failures": case.wrong}))
            .collect();
        context.terminal.print_json(&json!({"cases": cases, "failed": failed}))?;
    } else {
        context.terminal.say(&text(&played, failed))?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn play(book: &Rulebook, file: &str, node: &Node, now: Timestamp) -> Played {
    let (line, file) = (node.spot.line, file.to_owned());
    let case = match read::<Case>(node) {
        Ok(case) => case,
        Err(misfit) => {
            let name = node.get("name").and_then(Node::text).unwrap_or("case").to_owned();
            return Played { file, line: misfit.spot.line, name, wrong: vec![misfit.message] };
        }
    };
    let name = case.name.clone().or(case.command.clone()).or(case.tool.clone()).unwrap_or("case".to_owned());
    let wrong = match case.event(now) {
        Ok(event) => case.wrong(book, &event),
        Err(message) => vec![message],
    };
    Played { file, line, name, wrong }
}

// === impl Case ===

impl Case {
    fn event(&self, now: Timestamp) -> Result<Event, String> {
        let cwd = self.cwd.as_deref().or(Some(PROJECT));
        match (&self.command, &self.tool, &self.event) {
            (Some(command), None, None) => Ok(about_to_run(command, cwd, now)),
            (None, Some(tool), kind) => {
                let mut event = about_to(ToolCall::new(tool, self.args.clone()), cwd, now);
                if let Some(kind) = kind {
                    event.event = serde_json::from_value(kind.clone()).map_err(|error| error.to_string())?;
                }
                Ok(event)
            }
            (None, None, Some(event)) => {
                serde_json::from_value(event.clone()).map_err(|error| format!("`event` is no event: {error}"))
            }
            _ => Err("give one of `command`, `tool` (with `args`) and `event`".to_owned()),
        }
    }

    fn wrong(&self, book: &Rulebook, event: &Event) -> Vec<String> {
        let state = SessionState { labels: self.labels.iter().cloned().collect(), ..SessionState::default() };
        let ruling = book.strictest(event, &state);
        let expected = match self.expect {
            Expect::None => Decision::None,
            Expect::Allow => Decision::Allow,
            Expect::Ask => Decision::Ask,
            Expect::Deny => Decision::Deny,
        };
        let by = ruling.rule.as_deref().map_or_else(String::new, |rule| format!(" by `{rule}`"));
        let mut wrong = Vec::new();
        if ruling.verdict != expected {
            wrong.push(format!("expected {expected}, but it is {}{by}", ruling.verdict));
        }
        if let Some(rule) = &self.rule {
            // Several rules may say the same; any of them will do.
            let says = |other: &crate::ruling::Ruling| {
                other.rule.as_ref() == Some(rule) && other.verdict == ruling.verdict
            };
            if !book.rulings(event, &state).iter().any(says) {
                wrong.push(format!("expected the rule `{rule}`, but it is {}{by}", ruling.verdict));
            }
        }
        let parts = [("reason", &self.reason, &ruling.reason), ("nudge", &self.nudge, &ruling.nudge)];
        for (what, wanted, said) in parts {
            let Some(wanted) = wanted else { continue };
            let said = said.as_deref().unwrap_or_default();
            if !said.contains(wanted.as_str()) {
                wrong.push(format!("expected `{wanted}` in the {what}, but it is `{said}`"));
            }
        }
        wrong
    }
}

fn text(played: &[Played], failed: usize) -> String {
    let mut text = String::new();
    for case in played.iter().filter(|case| !case.wrong.is_empty()) {
        let Played { file, line, name, wrong } = case;
        let _ =
            writeln!(text, "{BAD}✗{BAD:#} {BOLD}{}{BOLD:#} {DIM}{}:{line}{DIM:#}", tame(name), tame(file));
        for wrong in wrong {
            let _ = writeln!(text, "    {}", tame(wrong));
        }
    }
    let all = count(played.len(), "case");
    let _ = match failed {
        0 => writeln!(text, "{GOOD}✓{GOOD:#} {all} as expected"),
        _ => writeln!(text, "{failed} of {all} not as expected"),
    };
    text
}

fn junit(played: &[Played]) -> String {
    let escape = |text: &str| {
        let plain: String = text.chars().filter(|c| !c.is_control()).collect();
        plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    };
    let failed = played.iter().filter(|case| !case.wrong.is_empty()).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tenterhook policy test\" tests=\"{}\" failures=\"{failed}\">\n",
        played.len()
    );
    for case in played {
        let head = format!(
            "classname=\"{}\" name=\"{}\" line=\"{}\"",
            escape(&case.file),
            escape(&case.name),
            case.line
        );
        let _ = if case.wrong.is_empty() {
            writeln!(text, "  <testcase {head}/>")
        } else {
            let message = escape(&case.wrong.join("; "));
            writeln!(text, "  <testcase {head}><failure message=\"{message}\"/></testcase>")
        };
    }
    text + "</testsuite>\n"
}
