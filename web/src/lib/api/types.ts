// SPDX-License-Identifier: Apache-2.0 OR MIT

// Generated from docs/reference/openapi.json by scripts/api.mjs (`npm run generate`).

/** The agent behind an event: its model, its user, and the subagent if there is one. */
export type Agent = { /** Id of the subagent. */ id?: string | null; /** Name of the model, as reported by the harness. */ model?: string | null; /** Id of the agent that started the subagent. */ parent?: string | null; /** Type of the subagent. */ type?: string | null; /** User account that runs the agent. */ user?: string | null };

/** A call that waits for an approval. */
export type Approval = { /** All arguments, as they would run. */ args?: unknown; /** Working directory of the agent. */ cwd?: string | null; /** SHA-256 of all other fields except the times. An approval must repeat it. */ digest: string; /** The harness's own name of the event. */ event: string; /** Id of the event. */ id: EventId; /** Rules and hooks that ask, and why. */ reasons: Said[]; /** Id of the session. */ session?: string | null; /** Time since which it waits. */ since: Timestamp; /** Id of the harness. */ source: string; /** Name of the tool. */ tool?: string | null; /** Time at which it is denied. */ until: Timestamp; /** The user whose account runs the agent. */ user?: string | null; /** Summary of the call in one line. */ wants: string };

/** Answer to a call that waits. */
export type ApprovalAnswer = { /** Whether to approve or deny. */ answer: ApprovalVerdict; /** The `digest` of the approval that was shown to the user; required to approve, and compared if it is given. */ digest?: string | null; /** What an approval covers. */ for?: ApprovalScope; /** A note for the record. */ note?: string | null; /** Proof of the user; needed to approve. */ proof?: AuthorityProof };

/** Calls that wait for an approval. */
export type ApprovalList = { /** The calls that wait. */ pending: Approval[] };

/** An answer that was accepted. */
export type ApprovalResult = { /** The answer that was accepted. */ answer: ApprovalVerdict; /** What the approval covers; absent for a denial. */ for?: ApprovalScope | null; /** Id of the event. */ id: EventId; /** Id of the exception that was added to the policy; absent for a denial. */ rule?: string | null };

/** What an approval covers. */
export type ApprovalScope = "once" | "session" | "rule";

/** Answer of a user. */
export type ApprovalVerdict = "approve" | "deny";

/** Effect of an ask. */
export type AskEffect = "prompt" | "wait" | "never";

/** A privileged action that was permitted. */
export type AuthorityGrant = { /** Name of the action. */ action: string; /** The accepted proof: `code`, `tty` (a terminal that the kernel confirmed), `unverified` (typed, on a platform
that cannot confirm terminals), `root` or `none`. */ proof: string };

/** What a privileged action needs. */
export type AuthorityNeeds = { /** Name of the action. */ action: string; /** Whether the caller is, or may be, a process of a guarded agent. Then only a code is accepted. */ guarded: boolean; /** The required proof. */ needs: RequiredProof };

/** Proof of the user for a privileged action. */
export type AuthorityProof = { /** A code of the authenticator app. */ code?: string | null; /** Whether the name of the action was typed on a terminal. */ tty?: boolean };

/** Request for a privileged action that the caller then performs itself. */
export type AuthorityRequest = { /** Name of the action. */ action: string; /** Details for the record. */ detail?: unknown; /** Proof of the user. */ proof?: AuthorityProof };

/** Decisions that other rules would change. */
export type BacktestReport = { /** Differences by rule. */ by_rule: { [key: string]: RuleEffect }; /** Decisions that would change, oldest first. */ differences: DecisionDifference[]; /** Number of events that could not be replayed, by reason. */ left_out: { [key: string]: number }; /** Number of events that were evaluated without the secrets in them. */ redacted: number; /** Number of events that were evaluated. */ replayed: number; /** Number of events with the same decision. */ same: number; /** Time that the replay took. */ took_ms: number; /** Number of further differences, which are not listed. */ unnamed: number };

/** Rules to replay the ledger with. */
export type BacktestRequest = { /** Only events since then: `15m`, `24h`, `7d`, `2026-11-15` or `2026-11-15T08:00:00Z`. */ since?: string | null; /** Text in place of the user's policy. */ text: string; /** Only events before then. */ until?: string | null };

/** A file that a session changed. */
export type ChangedFile = { /** Lines added, as far as calls and results report them. */ added: number; /** How it was changed outside the session; null if it was not, or that is not known. */ behind: OutsideChange | null; /** Number of changes. */ changes: number; /** Whether the last change deleted it or moved it away. */ deleted: boolean; /** Time of the last change. */ last: Timestamp | null; /** Path of the file. */ path: string; /** Lines removed, as far as calls and results report them. */ removed: number; /** Its path relative to the project. */ shown: string; /** Tools that changed it. */ tools: string[] };

/** Whether the daemon runs. Callers without a token, or of another account, receive `ok` and `version` only. */
export type DaemonHealth = { /** Number of hook calls answered. */ answered?: number; /** Name of the rules and hooks in force. */ generation?: string; /** Harnesses with our hooks in their settings, and those that sent an event within ten minutes; absent until the
daemon's first check. */ guarded?: string[] | null; /** Versions of the hook programs that called this daemon. */ hook_versions?: HookVersionCount[]; /** TCP address that the daemon listens on. */ listen?: string | null; /** Whether rules are enforced. */ mode?: EnforcementMode; /** Always true: a daemon that fails does not answer. */ ok: boolean; /** Number of calls that wait for an approval. */ pending?: number; /** Id of the process. */ pid?: number; /** Rules, hooks and settings that cannot be used. */ problems?: FileProblem[]; /** Decisions that hooks made without the daemon. */ spool?: SpoolCounts; /** Files that changed and cannot be read; their previous content is in force. */ stale?: FileProblem[]; /** Calls whose answer did not reach the hook program, since the daemon started. */ undelivered?: UndeliveredCalls; /** Harnesses on this machine that are not guarded. */ unguarded?: string[] | null; /** Harnesses whose settings no longer contain our hooks. */ unwired?: UnwiredHarness[]; /** Time since the daemon started. */ uptime_ms?: number; /** Version of the daemon. */ version: string };

/** A damaged ledger. */
export type DamagedLedger = { /** Number of the first record that is wrong. */ leaf: number | null; /** What is wrong. */ problem: string; /** Always false here. */ verified: boolean };

/** Access of this browser. */
export type DashboardAccess = { /** Time at which a new link is needed. */ until: Timestamp };

/** A link that is used. */
export type DashboardEntry = { /** The part of the link after `#link=`. */ link: string };

/** Key of a page. */
export type DashboardKey = { /** Value of the header `tenterhook-page`, which the page sends beside the cookie. */ key: string };

/** A link that admits one browser, once. */
export type DashboardLink = { /** Time at which it expires. */ until: Timestamp; /** The link to open. */ url: string };

/** Records of one day with one verdict. */
export type DayCount = { /** Number of records. */ count: number; /** Start of the day. */ day: Timestamp; /** Verdict of the records. */ verdict: string };

/** Usage of a session on one day, by the timestamps in its transcript. */
export type DayUsage = { /** Cost by the price table, in millionths of a US dollar. */ cost_microusd?: number; /** Days since 1970-01-01, in UTC. */ day?: number; /** Tokens of all kinds. */ tokens?: number; /** Tokens of models that are missing from the price table. */ unpriced_tokens?: number };

/** A decision about a tool call, a prompt or another action. Variants are ordered by strictness; the strictest
decision of all findings applies. */
export type Decision = "none" | "allow" | "defer" | "ask" | "deny";

/** A decision that would change. */
export type DecisionDifference = { /** Id of the event. */ id: EventId; /** The new decision. */ now: Decision; /** Rule of the new decision. */ now_by?: string | null; /** Number of the record. */ seq: number; /** The decision on record. */ was: Decision; /** Rule of the decision on record. */ was_by?: string | null; /** The command, the path or the tool. */ what: string };

/** A decision in one line. */
export type DecisionLine = { /** Id of the rule, or `hook:<id>`. */ by: string | null; /** Working directory of the agent. */ cwd: string | null; /** Kind of the event. */ event: EventKind; /** Name of the rules and hooks in force. */ generation: string; /** Id of the harness. */ harness: string; /** Id of the event. */ id: EventId; /** Name of the model. */ model: string | null; /** The harness's own name of the event. */ native_event: string; /** Text of the prompt. */ prompt: string | null; /** Reason shown to the model. */ reason: string | null; /** Id of the rule that decided. */ rule: string | null; /** Number of the record. */ seq: number; /** Id of the session. */ session: string | null; /** Time that the decision took. */ took_us: number; /** The tool call. */ tool: ToolGist | null; /** Time of the event. */ ts: Timestamp; /** Verdict of the decision. */ verdict: Decision };

/** Decisions of one minute. */
export type DecisionMinute = { /** Start of the minute. */ at: Timestamp; /** Median time of a decision in microseconds. */ p50_us: number; /** 95th percentile in microseconds. */ p95_us: number; /** 99th percentile in microseconds. */ p99_us: number; /** Decisions by verdict. */ verdicts: { [key: string]: number } };

/** Decisions of the last hour. */
export type DecisionRate = { /** Minutes with decisions, oldest first. */ minutes: DecisionMinute[] };

/** Denials, and what the agent did next. */
export type DenialCounts = { /** Number of denials. */ all: number; /** Denials with a suggestion. */ nudged: number; /** Denials after which the agent repeated the call. */ repeated: number; /** Denials after which the agent followed the suggestion. */ taken: number };

/** A call that was denied, or that a user was asked about. */
export type DeniedCall = { /** The subagent that made the call. */ agent: string | null; /** Kind of the event. */ event: string; /** The command, path or URL, in one line. */ gist: string | null; /** Why content is missing. */ gone: MissingContent | null; /** What the agent's next call did with it. */ hint: SuggestionResult; /** Suggestion shown to the model. */ nudge: string | null; /** Reason shown to the model. */ reason: string | null; /** Id of the rule, or `hook:<id>`. */ rule: string | null; /** Number of the record. */ seq: number; /** Name of the tool. */ tool: string | null; /** Time of the call. */ ts: Timestamp };

/** Effect of a denial. */
export type DenyEffect = "prevents" | "feedback" | "impossible";

/** Content of an event besides its tool call. Which fields are present depends on the kind of event. */
export type Detail = { /** session-start, session-end, compaction, permission-denied: what caused the event. */ cause?: string | null; /** post-tool, tool-error: run time of the tool in milliseconds. */ duration_ms?: number | null; /** tool-error: the error message. */ error?: string | null; /** notification: the text; compaction: the instructions or the summary. */ message?: string | null; /** pre-model, post-model, tool-selection: the request to the model. */ model_request?: unknown; /** post-model: the response of the model. */ model_response?: unknown; /** prompt, stop: the prompt of the user. */ prompt?: string | null; /** stop, subagent-stop: the agent's last message. */ response?: string | null; /** stop, subagent-stop: whether a hook has already made the agent continue. */ stop_hook_active?: boolean | null; /** post-tool: output of the tool, in the harness's own format. */ tool_output?: unknown; /** Whether the harness has a tool that writes to running processes without firing a hook. */ unhooked_stdin?: boolean; /** Token counts and cost of the session so far, from the harness's transcript; absent if unchanged. */ usage?: TranscriptUsage | null };

/** Response without content. */
export type EmptyResponse = { [key: string]: unknown };

/** Whether rules are enforced. */
export type EnforcementMode = "enforce" | "monitor";

/** Payloads to erase. */
export type EraseRequest = { /** The first record. */ from: number; /** Proof of the user. */ proof?: AuthorityProof; /** Reason for the record. */ reason: string; /** The last record; `from` by default. */ to?: number | null };

/** What went wrong, and what to do next. */
export type ErrorDetail = { /** What to do next. */ hint?: string | null; /** What went wrong. */ message: string };

/** Body of every response that is not a success. */
export type ErrorResponse = { /** What went wrong. */ error: ErrorDetail; /** Problems of the policy, if one was rejected. */ problems?: FileProblem[] | null; /** Result of the check, if a policy was rejected. */ validation?: PolicyValidation | null };

/** One point in an agent's run, in the form that all harnesses share. */
export type Event = { /** The agent: its model, its user, and the subagent if there is one. */ agent?: Agent; /** Working directory of the agent. */ cwd?: string | null; /** Further content, depending on the kind of event. */ detail?: Detail; /** Kind of the event. */ event: EventKind; /** The harness's id of the session. */ harness_session_id?: string | null; /** Unique id, generated when the call is received. */ id: EventId; /** The harness's own name for the event. */ native_event: string; /** Root directory of the agent's project. */ project?: string | null; /** When the event happened by the sender's clock, if the sender reports it. `ts` never comes from the sender. */ sender_ts?: Timestamp | null; /** Result of comparing the session with the calling process; absent if the session belongs to the caller or
was not checked. */ session_check?: SessionCheck | null; /** The harness that sent the event: `claude-code`, `codex`, … */ source: string; /** The tool call the event is about. */ tool?: ToolCall | null; /** The harness's id of the tool call. */ tool_use_id?: string | null; /** When the event was received. */ ts: Timestamp; /** The harness's id of the turn or prompt the event belongs to. */ turn_id?: string | null; /** Version of the event format. */ v: number };

/** What hooks can do at one event of a harness. */
export type EventCoverage = { /** Effect of an ask. */ ask: AskEffect; /** Whether context can be given to the model. */ context: boolean; /** Effect of a denial. */ deny: DenyEffect; /** Kind of the event. */ event: EventKind; /** The harness's own name of the event. */ native: string; /** Whether the tool's input can be changed. */ rewrites: boolean; /** Why it is not used. */ why: string | null; /** How the event is used. */ wired: EventWiring };

/** The id of an event: a ULID with 48 bits of time in milliseconds and 80 random bits. Its text form has 26
characters and sorts by time. */
export type EventId = string;

/** A point in an agent's run at which hooks and rules apply. [`EventKind::ALL`] lists all of them. */
export type EventKind = "session-start" | "session-end" | "prompt" | "pre-model" | "post-model" | "tool-selection" | "pre-tool" | "post-tool" | "tool-error" | "permission-request" | "permission-granted" | "permission-denied" | "subagent-start" | "subagent-stop" | "pre-compact" | "post-compact" | "context-warning" | "notification" | "stop" | "other";

/** An event in the normal form. The daemon fills in missing fields. */
export type EventRequest = { /** Agent that acts. */ agent?: Agent; /** Working directory of the agent. */ cwd?: string | null; /** Further data of the event, by meaning. */ detail?: Detail; /** Kind of the event. */ event: EventKind; /** The sender's id of the conversation. */ harness_session_id?: string | null; /** Unique id; made by the daemon if it is missing. */ id?: EventId | null; /** The sender's own payload. Not for harnesses, which send theirs to `/v1/hooks/<harness>/<event>`. */ native?: { [key: string]: unknown } | null; /** The sender's own name of the event. */ native_event?: string | null; /** Root of the project that the agent works on. */ project?: string | null; /** The program that sends it. */ source: string; /** The tool call. */ tool?: EventToolRequest | null; /** The sender's id of the tool call. */ tool_use_id?: string | null; /** Time by the sender's clock; kept as `sender_ts`. */ ts?: Timestamp | null; /** The sender's id of the turn or prompt. */ turn_id?: string | null; /** Version of the normal form. */ v?: number | null };

/** Tool call of an event. */
export type EventToolRequest = { /** Arguments of the tool. */ args?: unknown; /** Class of the tool; derived from the name of common tools. */ class?: ToolClass | null; /** Server and tool, for a tool of an MCP server. */ mcp?: Mcp | null; /** Name of the tool. */ name: string };

/** How an event of a harness is used. */
export type EventWiring = "guard" | "watch" | "left";

/** What to explain: exactly one of `event`, `command` and `tool`. */
export type ExplainRequest = { /** Whether to list rules that do not match, too. */ all?: boolean; /** A shell command. */ command?: string | null; /** Where it would run. */ cwd?: string | null; /** A whole event. */ event?: Event | null; /** A tool call. */ tool?: ExplainTool | null };

/** A tool call to explain. */
export type ExplainTool = { /** Arguments of the tool. */ args?: unknown; /** Name of the tool. */ name: string };

/** What the rules decide about an event, and why. */
export type Explanation = { /** Number of rules that were evaluated. */ considered: number; /** The event that was evaluated. */ event: Event; /** Facts that the rules were evaluated on. */ facts: unknown; /** Name of the rules and hooks in force. */ generation: string; /** The whole outcome. */ outcome: Outcome; /** Reason shown to the model. */ reason: string | null; /** Id of the rule that decides. */ rule: string | null; /** Result of each rule. */ rules: RuleExplanation[]; /** Reason and suggestion, as a harness would show them. */ says: string | null; /** Verdict of all rules together. */ verdict: Decision };

/** Format of an export. */
export type ExportFormat = "jsonl" | "csv";

/** One change of one file. */
export type FileChange = { /** Number of lines added. */ added: number | null; /** The subagent that made the call. */ agent: string | null; /** How the file was changed outside the session before. */ behind: OutsideChange | null; /** Why content is missing. */ gone: MissingContent | null; /** What the call does. */ how: FileChangeKind; /** Path of the file. */ path: string; /** Number of lines removed. */ removed: number | null; /** Number of the call's record. */ seq: number; /** Path relative to the project. */ shown: string; /** Whether the call ran. */ state: FileChangeState; /** Name of the tool. */ tool: string; /** The harness's id of the call. */ tool_use_id: string | null; /** Time of the call. */ ts: Timestamp };

/** What a call does to a file. */
export type FileChangeKind = "write" | "edit" | "delete";

/** Whether a call that changes a file ran. */
export type FileChangeState = "asked" | "done" | "failed";

/** Files of a session; each file counts once. */
export type FileCounts = { /** Files that were changed outside the session. */ behind: number; /** Files that were written or deleted. */ changed: number; /** Files that were deleted. */ deleted: number; /** Files that are not listed, and calls whose files are not known. */ left_out: number; /** Files that were read. */ read: number; /** Files that were written. */ written: number };

/** One change of one file, with its diff. */
export type FileDiff = { /** Number of lines added. */ added: number | null; /** The subagent that made the call. */ agent: string | null; /** How the file was changed outside the session before. */ behind: OutsideChange | null; /** Changed lines with their signs, without file names. */ diff: string | null; /** Why content is missing. */ gone: MissingContent | null; /** What the call does. */ how: FileChangeKind; /** Path of the file. */ path: string; /** Number of lines removed. */ removed: number | null; /** Number of the call's record. */ seq: number; /** Path relative to the project. */ shown: string; /** Whether the call ran. */ state: FileChangeState; /** Name of the tool. */ tool: string; /** The harness's id of the call. */ tool_use_id: string | null; /** Time of the call. */ ts: Timestamp; /** Why there is no diff, or only a part of it. */ why: MissingDiff | null };

/** One problem in a file. The entry it names was rejected; everything else is in force. */
export type FileProblem = { /** The entry it is about, such as ``rule `x` ``. */ about?: string | null; /** Column, counted from 1. */ column?: number | null; /** How to fix it. */ hint?: string | null; /** Line, counted from 1. */ line?: number | null; /** What is wrong. */ message: string; /** File with the problem. */ source: string };

/** Whether the agent may continue after this event. */
export type Flow = "go" | ({ stop: { /** Reason shown to the user. */ reason?: string | null } });

/** A process whose mark was cleared. */
export type ForgottenAgent = { /** Name of the process. */ name: string; /** Id of the process. */ pid: number };

/** Rules and hooks that came into force. */
export type GenerationChange = { /** Name of the rules and hooks now in force. */ generation: string; /** Rules, hooks and settings that cannot be used. */ problems: FileProblem[]; /** Files that changed and cannot be read; their previous content is in force. */ stale: FileProblem[] };

/** All known harnesses. */
export type HarnessList = { /** Harnesses with their state. */ harnesses: HarnessState[] };

/** Change of a harness's settings: planned, or done. */
export type HarnessPlan = { /** Ways to run the harness without these hooks. */ bypasses: string[]; /** Whether files were changed. */ changed: boolean; /** The change as a diff. */ diff: string; /** All files that change. */ files: string[]; /** Id of the harness. */ harness: string; /** The state directory. */ home?: string | null; /** Whether the harness uses the hooks now. */ in_force: boolean; /** Its last event on record. */ last_heard: LastHarnessEvent | null; /** Notes on the change. */ notes: string[]; /** Steps that remain for the user. */ pending: string[]; /** The hook program. */ program?: string | null; /** Scope of the settings: `user`, `machine` or a project. */ scope: string; /** The settings file. */ settings: string | null };

/** Reply to a hook call, as a process would give it. */
export type HarnessReply = { /** Exit code of the process. */ exit: number; /** Parts of the outcome that the harness cannot receive. */ lost: string[]; /** Text on standard error. */ stderr: string; /** Text on standard output. */ stdout: string };

/** State of a harness on this machine. */
export type HarnessState = { /** What hooks can do at each of its events. */ coverage: EventCoverage[]; /** Directory of its settings and data. */ directory: string | null; /** Whether it was found. */ found: boolean; /** Id of the harness. */ harness: string; /** Its last event on record. */ last_heard: LastHarnessEvent | null; /** Notes, such as why it cannot be guarded. */ notes: string[]; /** Path of its program. */ program: string | null; /** Versions that our hooks were tested with. */ proved_on: string[]; /** Scopes that our hooks are installed in. */ scopes: string[]; /** Name of the harness. */ title: string; /** Version of the program. */ version: string | null; /** Whether our hooks are in its settings. */ wired: HarnessWiring };

/** Whether our hooks are in the settings of a harness. */
export type HarnessWiring = "yes" | "no" | "lost" | "unheeded" | "impossible";

/** Statistics of every hook. */
export type HookAnalytics = { /** Statistics by hook id. */ hooks: { [key: string]: HookSummary }; /** Length of the recent period in minutes. */ minutes: number; /** Time of the response. */ now: Timestamp };

/** What happens if a hook fails. */
export type HookFailMode = "open" | "closed";

/** A failure of a hook. */
export type HookFailure = { /** Id of the event. */ id: EventId; /** What went wrong. */ message: string; /** Time of the event. */ ts: Timestamp };

/** The hooks in force, in the order they run. */
export type HookList = { /** Name of the rules and hooks in force. */ generation: string; /** Hooks in the order they run. */ hooks: RegisteredHook[] };

/** Statistics of one hook in one minute. */
export type HookMinute = { /** Calls that the hook denied. */ blocks: number; /** Number of calls. */ calls: number; /** Calls that failed. */ failures: number; /** Calls that the hook changed. */ modifications: number; /** Median run time in microseconds. */ p50_us: number | null; /** 95th percentile in microseconds. */ p95_us: number | null; /** 99th percentile in microseconds. */ p99_us: number | null; /** Calls that skipped the hook. */ skipped: number; /** Calls that took too long. */ timeouts: number; /** Start of the minute. */ ts: Timestamp };

/** Number of calls and their results, and percentiles of the run time. */
export type HookNumbers = { /** Calls that the hook denied. */ blocks: number; /** Number of calls. */ calls: number; /** Calls that failed. */ failures: number; /** Calls that the hook changed. */ modifications: number; /** Median run time in microseconds. */ p50_us: number | null; /** 95th percentile in microseconds. */ p95_us: number | null; /** 99th percentile in microseconds. */ p99_us: number | null; /** Calls that skipped the hook. */ skipped: number; /** Calls that took too long. */ timeouts: number };

/** A hook package. */
export type HookPackage = { /** Commit it was taken from. */ commit: string | null; /** Content of its files. */ files: { [key: string]: string }; /** Path of its directory. */ folder: string; /** A template, a directory or an address. */ from: string; /** Its manifest; null if it cannot be read. */ manifest: HookPackageManifest | null; /** Its name, and that of its directory. */ name: string; /** SHA-256 over its files as they were trusted. */ sha256: string; /** Whether it runs. */ standing: HookPackageStatus; /** Whether its hooks may run. */ trusted: boolean; /** Why it does not run. */ why: string | null };

/** Files to check. */
export type HookPackageFilesRequest = { /** Files of the hook package. */ files?: { [key: string]: string } };

/** All hook packages. */
export type HookPackageList = { /** The hook packages. */ kits: HookPackage[] };

/** Manifest of a hook package (`hook.yaml`). */
export type HookPackageManifest = { /** What it does, in a few sentences. */ about: string; /** The hooks, as in `tenterhook.yaml`. */ hooks: unknown[]; /** Language it is written in. */ language: string; /** Programs that it needs. */ needs: string[]; /** Events to test it with. */ samples: HookSample[]; /** Words to find it by. */ tags: string[]; /** What it does, in a few words. */ title: string };

/** Content of a hook package: exactly one of `files` and `template`. */
export type HookPackageRequest = { /** Files of the hook package. */ files?: { [key: string]: string } | null; /** Proof of the user. */ proof?: AuthorityProof; /** Name of a template. */ template?: string | null };

/** Whether a hook package runs. */
export type HookPackageStatus = "trusted" | "not trusted" | "changed";

/** Result of a check. */
export type HookPackageValidation = { /** Ids of its hooks. */ hooks: string[]; /** Whether the files are a usable hook package. */ ok: boolean; /** What is wrong. */ problem: string | null };

/** What runs when a hook is called. */
export type HookRunner = { type: "in-process" } | { /** Name of the program. */ client: string; type: "sdk" } | ({ /** Command line for the shell. */ command?: string | null; /** Program and arguments, without a shell. */ exec?: string[] | null; type: "command" }) | { type: "http"; /** Address of the endpoint. */ url: string };

/** An event to test a hook with, and the expected result. */
export type HookSample = { /** Working directory of the agent. */ cwd?: string | null; /** Further data of the event. */ detail?: unknown; /** Kind of the event. */ event: EventKind; /** The expected decision. */ expect?: Decision; /** Arguments that the hook is expected to make of those of the tool call. */ input?: unknown; /** Name of the model. */ model?: string | null; /** What it shows. */ title?: string; /** The tool call. */ tool?: SampleTool | null };

/** Statistics of one hook. */
export type HookSummary = { /** Since the daemon started. */ all: HookNumbers; /** Time of the last call. */ last_call: Timestamp | null; /** The last failure. */ last_error: HookFailure | null; /** The recent period by minute, oldest first; minutes without calls are left out. */ minutes: HookMinute[]; /** In the recent period. */ recent: HookNumbers };

/** Result of switching a hook on or off. */
export type HookSwitched = { /** Whether anything changed. */ changed: boolean; /** Name of the rules and hooks in force. */ generation: string; /** State of the hook now. */ hook: RegisteredHook };

/** Event to test a hook with: exactly one of `sample` and `event`. */
export type HookTestRequest = { /** A whole event. */ event?: Event | null; /** A sample, as in a hook package. */ sample?: HookSample | null };

/** Result of a test. */
export type HookTestResult = { /** Whether the hook runs at such an event. */ applies: boolean; /** The event it was tested with. */ event: Event; /** What the hook decided. */ outcome: Outcome; /** Why it does not. */ why: string | null };

/** Calls of hook programs of one version. */
export type HookVersionCount = { /** Number of calls. */ calls: number; /** Time of the last call. */ last: Timestamp; /** Version of the hook program. */ version: string };

/** An intact ledger. */
export type IntactLedger = { /** Number of checkpoints. */ checkpoints: number; /** Number of erased payloads. */ erased: number; /** The public keys that signed. */ keys: string[]; /** Name of the ledger. */ origin: string; /** Number of pruned records. */ pruned: number; /** Root hash of the Merkle tree. */ root: string; /** Number of records. */ size: number; /** Whether the first key was not compared with a given one. */ trusted_on_first_use: boolean; /** Number of records that no checkpoint covers. */ unpublished: number; /** Always true here. */ verified: boolean };

/** Whether the private key is encrypted. */
export type KeySealState = { /** Whether it is encrypted under a passphrase. */ sealed: boolean };

/** Last event of a harness on record. */
export type LastHarnessEvent = { /** Number of the record. */ seq: number; /** Time of the event. */ ts: string };

/** The latest checkpoint. */
export type LedgerCheckpoint = { /** The public key that signs. */ key: string | null; /** Number of all records. */ leaves: number; /** The signed note (c2sp.org/tlog-checkpoint). */ note: string; /** Number of records that it covers. */ size: number };

/** A record in one line. */
export type LedgerLine = { /** Id of the rule, or `hook:<id>`. */ by: string | null; /** Kind of the event. */ event: string | null; /** Id of the harness. */ harness: string | null; /** Kind of the record. */ kind: string | null; /** Whether the record was pruned. */ pruned: boolean; /** Reason shown to the model. */ reason: string | null; /** Id of the rule that decided. */ rule: string | null; /** The prompt, response, message or error. */ said: string | null; /** Number of the record. */ seq: number; /** Id of the session. */ session: string | null; /** Time that the decision took. */ took_us: number | null; /** The tool call. */ tool: ToolGist | null; /** Time of the event. */ ts: Timestamp | null; /** Verdict of the decision. */ verdict: string | null; /** Name of the change. */ what: string | null; /** Who changed it. */ who: string | null };

/** A page of records, each in one line. */
export type LedgerLines = { /** The records, newest first. */ lines: LedgerLine[]; /** Value of `before` for the next page. */ next: number | null; /** Number of all records. */ size: number };

/** A page of records, newest first. */
export type LedgerPage = { /** Records of this page. */ leaves: LedgerRecord[]; /** Value of `before` for the next page. */ next: number | null };

/** One record of the ledger. */
export type LedgerRecord = { /** Whether the payload was erased. */ erased: boolean; /** Its hash in the Merkle tree, in base 64. */ hash: string; /** The envelope (docs/spec/leaf.schema.json); null if the record was pruned. */ leaf: unknown; /** Content of the event: arguments, prompts, outputs; null if it was removed. */ payload: unknown; /** Whether the record was pruned. */ pruned: boolean; /** Number of the record. */ seq: number; /** Whether the hook decided without the daemon; another record of the event counts. */ undelivered: boolean };

/** A record with its exact bytes and the reply of its harness. */
export type LedgerRecordDetails = { /** Whether the payload was erased. */ erased: boolean; /** Its hash in the Merkle tree, in base 64. */ hash: string; /** The envelope (docs/spec/leaf.schema.json); null if the record was pruned. */ leaf: unknown; /** Content of the event: arguments, prompts, outputs; null if it was removed. */ payload: unknown; /** Whether the record was pruned. */ pruned: boolean; /** The bytes that are hashed. */ raw: RawRecord; /** Reply that the harness receives for this decision, encoded again from the record. */ reply: HarnessReply | null; /** Number of the record. */ seq: number; /** Whether the hook decided without the daemon; another record of the event counts. */ undelivered: boolean };

/** Statistics of records, and of the ledger. */
export type LedgerStats = { /** Size of the ledger's files. */ bytes_on_disk: number; /** Records by day and verdict. */ days: DayCount[]; /** Number of erased payloads. */ erased: number; /** Time of the first record. */ first: Timestamp | null; /** Records by harness. */ harnesses: { [key: string]: number }; /** Size of SQLite's journal, which `bytes_on_disk` includes; it is emptied while the ledger is idle. */ journal_bytes: number; /** Records by kind. */ kinds: { [key: string]: number }; /** Time of the last record. */ last: Timestamp | null; /** Number of records that match. */ leaves: number; /** Size of the payloads. */ payload_bytes: number; /** Number of payloads. */ payloads: number; /** Number of pruned records. */ pruned: number; /** Records by rule. */ rules: { [key: string]: number }; /** Number of sessions. */ sessions: number; /** Number of records that a checkpoint covers. */ signed: number; /** Number of all records. */ size: number; /** Decisions that hooks made without the daemon. */ spool: SpoolCounts; /** Records by tool. */ tools: { [key: string]: number }; /** Records by verdict. */ verdicts: { [key: string]: number } };

/** Data of one event of the live stream. The event's name determines the type. */
export type LiveEvent = DecisionLine | SessionSummary | ApprovalList | GenerationChange | VerificationStatus | LiveWarning | LiveHello | MissedEvents;

/** First event of the live stream. */
export type LiveHello = { /** Name of the rules and hooks in force. */ generation: string; /** Version of the daemon. */ version: string };

/** A warning for the user. */
export type LiveWarning = { /** The call whose answer did not reach the hook program. */ call?: UndeliveredCall | null; /** The harness's own name of the event. */ event?: string | null; /** Id of the harness. */ harness?: string | null; /** Id of the hook. */ hook?: string | null; /** Files that changed and cannot be read; their previous content is in force. */ stale?: FileProblem[] | null; /** What happened, in one sentence. */ what: string; /** Cause of the warning. */ why?: string | null; /** The harness whose settings changed. */ wiring?: UnwiredHarness | null };

/** A process that is marked as a guarded agent. */
export type MarkedAgent = { /** Boot in which the mark was made. */ boot?: string | null; /** Harness that the process claims to be. */ harness: string; /** Name of the process. */ name: string; /** Pid namespace of the process id. */ namespace?: number | null; /** Process id; 0 for a process in a pid namespace that is not visible. */ pid: number; /** Start time in clock ticks since boot. */ start: number };

/** Processes that are marked as guarded agents. */
export type MarkedAgentList = { /** The marked processes. */ agents: MarkedAgent[] };

/** An MCP tool: its server, and the name that the server gives to the tool. */
export type Mcp = { /** Other ways to split the harness's name for the tool; empty if server and tool are certain. */ also?: McpName[]; /** Name of the server, as configured in the harness; empty if the harness does not report it. */ server: string; /** Name of the tool, as the server defines it. */ tool: string };

/** One way to split a harness's name for an MCP tool. */
export type McpName = { /** Name of the server. */ server: string; /** Name of the tool. */ tool: string };

/** How a modification is combined with the existing value. */
export type Merge = "replace" | "shallow" | "deep";

/** Events that a slow reader missed. */
export type MissedEvents = { /** Number of missed events. */ missed: number };

/** Why content is missing. */
export type MissingContent = "erased" | "too-large";

/** Why there is no diff, or only a part of it. */
export type MissingDiff = "erased" | "too-large" | "pruned" | "not-yet" | "unknown" | "before-unknown";

/** Mode to set. */
export type ModeRequest = { /** The mode to set. */ mode: EnforcementMode; /** Proof of the user; needed for `monitor`. */ proof?: AuthorityProof };

/** Mode of the rules. */
export type ModeState = { /** Whether the request changed it; absent if it was only read. */ changed?: boolean | null; /** The current mode. */ mode: EnforcementMode };

/** One modification. Modifications are applied in priority order, lower numbers first; the last one wins. */
export type Modification = { /** How `value` is combined with the requested arguments. */ merge: Merge; of: "tool-input"; /** The new arguments. */ value: unknown } | { of: "tool-output"; /** The new output. */ value: unknown } | { /** How `value` is combined with the request. */ merge: Merge; of: "model-request"; /** The new fields. */ value: unknown } | { /** How `value` is combined with the response, if there is one. */ merge: Merge; of: "model-response"; /** The new fields. */ value: unknown } | { /** Names of the tools that may be called; empty for no restriction by name. */ allowed: string[]; /** Whether the model may, must or must not call a tool. */ mode: SelectionMode; of: "tool-selection" };

/** Where a finding comes from. */
export type Origin = string;

/** All findings about one event, folded into one answer. Each part names the hook or rule it comes from. */
export type Outcome = { /** Additional texts for the model. */ context?: Said[]; /** Decision about the tool call, prompt or other action. */ decision: Decision; /** Whether the agent may continue. */ flow: Flow; /** Messages for the user. */ messages?: Said[]; /** Modifications, in the order in which they are applied. */ modifications?: Said2[]; /** Suggestions of what the agent could do instead; only with a deny. */ nudges?: Said[]; /** Reasons of all findings with the decision that applies. */ reasons?: Said[]; /** tool-error: delay in milliseconds after which the tool should be called again. */ retry_ms?: number | null; /** Whether the output is hidden from the user. */ suppress_output?: boolean; /** The tool input after all modifications; absent if it is unchanged. */ tool_input?: unknown; /** The hooks and rules that took part, and how each of them ended. */ trace?: Step[] };

/** How a file was changed outside the session. The order is that of certainty. */
export type OutsideChange = "command" | "person" | "unseen";

/** Passphrase of the private key. */
export type PassphraseRequest = { /** Passphrase of the key. */ passphrase: string; /** Proof of the user. */ proof?: AuthorityProof };

/** A policy that was changed. */
export type PolicyChanged = { /** Value of `If-Match` for the next change. */ etag: string; /** Name of the rules and hooks in force. */ generation: string; /** Result of the check. */ validation: PolicyValidation };

/** A source of rules. */
export type PolicyLayer = { /** Whose rules they are. */ layer: RuleLayer; /** The rule pack. */ pack: string | null; /** File of the rules. */ source: string; /** Whether it is trusted, and why not. */ standing: string; /** Whether it may allow. */ trusted: boolean };

/** New text of the user's policy. */
export type PolicyRequest = { /** Proof of the user. */ proof?: AuthorityProof; /** The whole text, in YAML. */ text: string };

/** Text of a policy. */
export type PolicyText = { /** Value of `If-Match` for a change. */ etag: string; /** Path of the file. */ path: string; /** The text; null if there is no file. */ text: string | null };

/** Result of checking a policy. */
export type PolicyValidation = { /** Whether all of it can be used. */ ok: boolean; /** Rules that cannot be used. */ problems: FileProblem[]; /** Ids of its rules. */ rules: string[]; /** Problems that do not keep a rule from being used. */ warnings: FileProblem[] };

/** The rules in force. */
export type PolicyView = { /** Name of the rules and hooks in force. */ generation: string; /** Sources of rules. */ layers: PolicyLayer[]; /** The user's own policy. */ own: PolicyText; /** Rules, hooks and settings that cannot be used. */ problems: FileProblem[]; /** All rules, with their state. */ rules: RuleView[]; /** Files that changed and cannot be read; their previous content is in force. */ stale: FileProblem[]; /** Problems that do not keep a rule from being used. */ warnings: FileProblem[] };

/** Text of a prompt. */
export type PromptText = { /** Why there is no text. */ gone: MissingContent | null; /** Text of the prompt. */ text: string | null };

/** A request that needs a proof and nothing else. */
export type ProofRequest = { /** Proof of the user. */ proof?: AuthorityProof };

/** Records to prune: exactly one of `to` and `before`. */
export type PruneRequest = { /** Prune records from before this day or time. */ before?: string | null; /** Proof of the user. */ proof?: AuthorityProof; /** Reason for the record. */ reason: string; /** The last record to prune. */ to?: number | null };

/** Bytes of a record, as text. */
export type RawRecord = { /** Envelope as JSON text. */ leaf: string | null; /** Payload as JSON text. */ payload: string | null; /** The salt of the payload's hash, in hexadecimal digits. */ salt: string | null };

/** Kind of a record. */
export type RecordKind = "start" | "decision" | "seen" | "change" | "erase" | "rotate" | "prune";

/** Number and time of a record. */
export type RecordPosition = { /** Number of the record. */ seq: number; /** Time of the event. */ ts: Timestamp };

/** A hook. Headers and variables may contain secrets and are left out. */
export type RegisteredHook = { /** Whether the hook only observes: calls do not wait for it. */ async: boolean; /** Chain it belongs to; hooks of a chain run one after another. */ chain: string | null; /** Dialect in which it is called. */ dialect: string | null; /** Whether it is switched on. */ enabled: boolean; /** What happens if it fails. */ fail: HookFailMode; /** Id of the hook. */ id: string; /** Events it runs at. */ on: EventKind[]; /** Hooks with a higher priority run first. */ priority: number; /** Why the hook cannot run, such as a script that does not exist. */ problem: FileProblem | null; /** What runs when it is called. */ runs: HookRunner; /** How long it may run. */ timeout_ms: number; /** Condition that must hold. */ when: string | null };

/** Records whose content was removed. */
export type RemovedRecords = { /** The first record. */ from: number; /** The record of the removal. */ leaf: number | null; /** The last record; null if there was nothing to remove. */ to: number | null };

/** Proof that a caller needs. */
export type RequiredProof = "code" | "tty" | "nothing";

/** New limits of retention. A limit that is absent removes nothing. */
export type RetentionRequest = { /** Days or weeks, such as `90d` or `12w`. */ max_age?: string | null; /** A size such as `500MB` or `2GB`. */ max_size?: string | null; /** Proof of the user; needed if records would be removed earlier than before. */ proof?: AuthorityProof };

/** One removal of records by retention. */
export type RetentionRun = { /** Time of its end. */ ended: Timestamp; /** Error that ended it early. */ error: string | null; /** Number of records that were removed. */ removed: number };

/** Limits of retention. A limit that is null removes nothing. */
export type RetentionSetting = { /** Records older than this are removed, in days (`90d`). */ max_age: string | null; /** The oldest records are removed when their content exceeds this (`2GB`). */ max_size: string | null };

/** How long records are kept. */
export type RetentionStatus = { /** Limits that records are removed by: for each, the longer one of both. */ applied: RetentionSetting; /** Limits that were authorized last. */ authorized: RetentionSetting; /** Limits in the settings file. */ configured: RetentionSetting; /** The last removal; null if there was none since the daemon started. */ last_run: RetentionRun | null; /** Reason why the configured limits are not applied as they are. */ problem: string | null };

/** A new key. */
export type RotatedKey = { /** A note that both keys signed. */ checkpoint: string; /** The public key that signs from now on. */ key: string };

/** A rule, and the user's policy with it. */
export type RuleDraft = { /** The user's policy. */ before: string; /** Value of `If-Match` for the change. */ etag: string; /** Ids of the rules. */ ids: string[]; /** The rule in its parts; null if it was made from a template. */ rule: unknown; /** The user's policy with the rule; null if the rule cannot be used. */ text: string | null; /** Result of the check. */ validation: PolicyValidation; /** The rule as an item of a list, in YAML. */ yaml: string };

/** What a rule should do with calls like a recorded one. */
export type RuleDraftGoal = "block" | "allow";

/** What a rule is made from: `seq` and `want`, or `template`, or `rule`. */
export type RuleDraftRequest = { /** A rule in its parts, as in a rule file. */ rule?: unknown; /** Number of a decision's record. */ seq?: number | null; /** Name of a template. */ template?: string | null; /** What the rule should do with such calls. */ want?: RuleDraftGoal | null };

/** Decisions that a rule would change. */
export type RuleEffect = { /** Decisions that become less strict. */ looser: number; /** Decisions that become stricter. */ stricter: number };

/** Result of one rule. */
export type RuleExplanation = { /** Whether it counts: it is enforced, not expired and not overridden. */ counts: boolean; /** Whether it matches. */ matched: boolean; /** Id of the rule. */ rule: string; /** Verdict of the rule. */ verdict: Decision; /** What it matches on, or which condition failed first; and why it does not count. */ why: string };

/** Whose rules they are. */
export type RuleLayer = "baseline" | "organisation" | "user" | "project";

/** A rule pack. */
export type RulePack = { /** Where it was added from; null for a rule pack of the program. */ from: string | null; /** Name of the rule pack. */ name: string; /** Whether it is on. */ on: boolean; /** Number of its rules; null for a rule pack that was added. */ rules: number | null; /** Purpose of the rule pack; null for a rule pack that was added. */ title: string | null };

/** All rule packs. */
export type RulePackList = { /** Rule packs and rules that are switched off. */ disabled: string[]; /** The rule packs. */ packs: RulePack[] };

/** How bad it would be if the action happened. */
export type RuleSeverity = "low" | "medium" | "high" | "critical";

/** A rule pack or rule to switch. */
export type RuleSwitchRequest = { /** Name of a rule pack, or id of a rule. */ name: string; /** Whether it should be on. */ on: boolean; /** Proof of the user; needed to switch off. */ proof?: AuthorityProof };

/** A rule, with its state. */
export type RuleView = { /** Purpose of the rule. */ description: string; /** Whether it is switched off. */ disabled: boolean; /** Whether it has expired. */ expired: boolean; /** Time at which it expires. */ expires: Timestamp | null; /** Id of the rule. */ id: string; /** Whose rule it is. */ layer: RuleLayer; /** Line in the file. */ line: number; /** Whether it cannot be switched off or overridden. */ locked: boolean; /** Whether it is enforced. */ mode: EnforcementMode; /** Suggestion shown to the model. */ nudge: string | null; /** Ids of rules that it overrides. */ overrides: string[]; /** Reason shown to the model. */ reason: string | null; /** How bad it would be if the action happened. */ severity: RuleSeverity; /** File of the rule. */ source: string; /** Verdict of the rule. */ verdict: Decision };

/** A value together with the hook or rule that it comes from. */
export type Said = { /** The hook or rule that the value comes from. */ by: Origin; /** The reason, suggestion, text or modification. */ said: string };

/** A value together with the hook or rule that it comes from. */
export type Said2 = { /** The hook or rule that the value comes from. */ by: Origin; /** The reason, suggestion, text or modification. */ said: Modification };

/** Tool call of a sample. */
export type SampleTool = { /** Arguments of the tool. */ args?: unknown; /** Name of the tool. */ name: string };

/** Whether the model may call tools. */
export type SelectionMode = "auto" | "any" | "none";

/** State of a session. */
export type SessionActivity = "active" | "waiting" | "idle" | "ended";

/** Result of comparing the session of an event with the process that sent it. */
export type SessionCheck = "unverified" | "resumed";

/** One session with all details. */
export type SessionDetails = { /** Subagents of the session. */ agents: SubagentSummary[]; /** Calls that a user was asked about. */ asks: DeniedCall[]; /** Calls of all tools. */ calls: ToolCounts; /** Every file that was changed, in the order of the first change. */ changed_files: ChangedFile[]; /** Every change of a file, in order. */ changes: FileChange[]; /** Working directory of the agent. */ cwd: string | null; /** Calls that were denied. */ denials: DeniedCall[]; /** Denials, and what the agent did next. */ denied: DenialCounts; /** Time between the first and the last event. */ duration_ms: number; /** Reason of the end, in the harness's words. */ end_reason: string | null; /** Time at which it ended. */ ended: Timestamp | null; /** Number of events without content: erased, or too large to be recorded. */ erased: number; /** Number of events. */ events: number; /** Number of files by kind of access. */ files: FileCounts; /** Id of the harness. */ harness: string; /** The harness's id of the session. */ id: string; /** Labels that rules set; absent where no daemon runs. */ labels?: string[] | null; /** Time of the last event. */ last: Timestamp; /** Kind of the last event. */ last_event: EventKind; /** The last prompt. */ last_prompt: string | null; /** Number of the latest record. */ last_seq: number; /** Name of the model. */ model: string | null; /** Root of the project. */ project: string | null; /** The last prompts. */ prompt_texts: SessionPrompt[]; /** Number of prompts. */ prompts: number; /** Time of the first event. */ started: Timestamp; /** State of the session. */ state: SessionActivity; /** Number of subagents. */ subagents: number; /** First line of the first prompt; null if there was none, or it was erased. */ title: string | null; /** The to-do list. */ todo_items: TodoItem[]; /** Progress of the to-do list. */ todos: TodoProgress; /** Results by tool. */ tool_results: { [key: string]: ToolCounts }; /** Number of calls by tool. */ tools: { [key: string]: number }; /** Every file that was read, written or deleted, by path. */ touched: TouchedFile[]; /** The harness's id of the current turn. */ turn: string | null; /** Number of events of callers that the session does not belong to. */ unverified: number; /** Tokens and cost. */ usage: SessionUsage; /** The user whose account runs the agent. */ user: string | null; /** Number of events by verdict. */ verdicts: { [key: string]: number } };

/** Changes of one file of a session. */
export type SessionDiff = { /** The changes, in order. */ changes: FileDiff[]; /** The file, as the request names it. */ path: string };

/** End of a session. */
export type SessionEnd = { /** Reason, in the harness's words. */ reason: string | null };

/** Data of one event of a session stream. The event's name determines the change. */
export type SessionEvent = { /** The record that it comes from. */ at: RecordPosition; /** Id of the harness. */ harness: string; /** The harness's id of the session. */ session: string } & (FileChange | ToolProgress | DeniedCall | SuggestionProgress | SessionTodos | SubagentSummary | PromptText | SessionEnd | SessionUsage);

/** Files that a session changed. */
export type SessionFiles = { /** Every change, in order. */ changes: FileChange[]; /** Every file, in the order of the first change. */ files: ChangedFile[]; /** Files that are not listed, and calls whose files are not known. */ left_out: number };

/** A page of sessions, the latest first. */
export type SessionList = { /** Number of sessions that match, on all pages. */ all: number; /** Value of `after` for the next page. */ next: string | null; /** Sessions of this page. */ sessions: SessionSummary[] };

/** A prompt of a session. */
export type SessionPrompt = { /** Why there is no text. */ gone?: MissingContent | null; /** Number of the record. */ seq: number; /** Text of the prompt. */ text: string | null; /** Time of the prompt. */ ts: Timestamp };

/** Summary of a session. */
export type SessionSummary = { /** Calls of all tools. */ calls: ToolCounts; /** Working directory of the agent. */ cwd: string | null; /** Denials, and what the agent did next. */ denied: DenialCounts; /** Time between the first and the last event. */ duration_ms: number; /** Reason of the end, in the harness's words. */ end_reason: string | null; /** Time at which it ended. */ ended: Timestamp | null; /** Number of events without content: erased, or too large to be recorded. */ erased: number; /** Number of events. */ events: number; /** Number of files by kind of access. */ files: FileCounts; /** Id of the harness. */ harness: string; /** The harness's id of the session. */ id: string; /** Time of the last event. */ last: Timestamp; /** Kind of the last event. */ last_event: EventKind; /** The last prompt. */ last_prompt: string | null; /** Number of the latest record. */ last_seq: number; /** Name of the model. */ model: string | null; /** Root of the project. */ project: string | null; /** Number of prompts. */ prompts: number; /** Time of the first event. */ started: Timestamp; /** State of the session. */ state: SessionActivity; /** Number of subagents. */ subagents: number; /** First line of the first prompt; null if there was none, or it was erased. */ title: string | null; /** Progress of the to-do list. */ todos: TodoProgress; /** Number of calls by tool. */ tools: { [key: string]: number }; /** The harness's id of the current turn. */ turn: string | null; /** Number of events of callers that the session does not belong to. */ unverified: number; /** Tokens and cost. */ usage: SessionUsage; /** The user whose account runs the agent. */ user: string | null; /** Number of events by verdict. */ verdicts: { [key: string]: number } };

/** To-do list of a session. */
export type SessionTodos = { /** Number of items. */ all: number; /** Number of completed items. */ completed: number; /** Items in progress. */ in_progress: number; /** The items; null if they are not known. */ items: TodoItem[] | null; /** All other items. */ pending: number; /** Completed and all items, such as `3/7`. */ progress: string };

/** Tokens and cost from payloads and transcripts. Nothing is estimated; unknown values are absent. */
export type SessionUsage = { /** Number of answers that reported their tokens. */ answers?: number; /** Tokens read from the cache. */ cache_read_tokens?: number; /** Tokens written to the cache. */ cache_write_tokens?: number; /** Largest context of the model. */ context_limit?: number | null; /** Used part of the context, from 0 to 1. */ context_share?: number | null; /** Size of the context at the model's last answer. */ context_tokens?: number | null; /** Cost of the answers whose model has a price. */ cost_usd?: number | null; /** Input tokens without cached ones. */ input_tokens?: number; /** Tokens of the model's output. */ output_tokens?: number; /** Number of answers of models without a price. */ unpriced?: number };

/** A checkpoint that was signed on request. */
export type SignedCheckpoint = { /** The signed note. */ checkpoint: string };

/** The key that signs the ledger. */
export type SigningKeyInfo = { /** File of the private key. */ file: string; /** Id of the key. */ id: string; /** The public key. */ key: string; /** Whether the private key is encrypted under a passphrase. */ sealed: boolean };

/** Decisions that hooks made without the daemon. */
export type SpoolCounts = { /** Files that cannot be read. */ refused: number; /** Decisions that wait to be imported into the ledger. */ waiting: number };

/** How one hook or rule ended. */
export type Status = "ran" | "matched" | "monitored" | "overridden" | "expired" | "timed-out" | "failed" | "skipped" | "detached";

/** One hook or rule that took part in a decision. */
export type Step = { /** The hook or rule. */ by: Origin; /** Its decision; `none` if it made none. */ decision?: Decision; /** Details such as an error, an exit code, or why it was skipped. */ note?: string | null; /** How it ended. */ status: Status; /** Run time in microseconds. */ took_us?: number };

/** A subagent of a session. */
export type SubagentSummary = { /** Number of tool calls that were denied. */ denied: number; /** Time at which it ended. */ ended?: Timestamp | null; /** Number of events. */ events: number; /** Number of tool calls that failed. */ failed: number; /** Id of the subagent. */ id: string; /** The agent that started it; absent if that is the session's own. */ parent?: string | null; /** Time of its first event. */ started: Timestamp; /** Tokens, as the harness reports them at the end. */ tokens?: number | null; /** Number of tool calls. */ tools: number; /** Type of the subagent. */ type?: string | null };

/** What the agent's next call did after a denial. */
export type SuggestionProgress = { /** Number of the denial's record. */ denied: number; /** What the next call did. */ hint: SuggestionResult };

/** What the agent's next call did after a denial. */
export type SuggestionResult = "open" | "taken" | "other" | "repeated";

/** A hook package or a rule to start from. */
export type TemplateInfo = { /** What it does, in a few sentences. */ about: string; /** Content of its files. */ files: { [key: string]: string }; /** What it makes. */ kind: TemplateKind; /** Language it is written in; `rules` for a rule. */ language: string; /** Name of the template. */ name: string; /** Programs that it needs; null for a rule. */ needs: string[] | null; /** Events to test it with; null for a rule. */ samples: HookSample[] | null; /** Words to find it by. */ tags: string[]; /** What it does, in a few words. */ title: string };

/** What a template makes. */
export type TemplateKind = "hook" | "rule";

/** All available templates. */
export type TemplateList = { /** Templates with their files. */ templates: TemplateInfo[] };

/** A page of a session's steps, oldest first. */
export type Timeline = { /** Value of `before` for the next page. */ next: number | null; /** Steps of this page. */ steps: TimelineStep[] };

/** One record of a session. */
export type TimelineStep = { /** Agent that acted. */ agent: Agent | null; /** Id of the rule, or `hook:<id>`. */ by: string | null; /** Whether the content was erased. */ erased: boolean; /** Kind of the event. */ event: string | null; /** Id of the event. */ id: string | null; /** The harness's own name of the event. */ native_event: string | null; /** Suggestion shown to the model. */ nudge: string | null; /** Whether the record was pruned. */ pruned: boolean; /** Time that the tool ran. */ ran_ms: number | null; /** Reason shown to the model. */ reason: string | null; /** Id of the rule that decided. */ rule: string | null; /** The prompt, response, message or error. */ said: string | null; /** Number of the record. */ seq: number; /** Result of comparing the session with the calling process. */ session_check: SessionCheck | null; /** Time that the decision took. */ took_us: number | null; /** The tool call. */ tool: ToolGist | null; /** The harness's id of the tool call. */ tool_use_id: string | null; /** Time of the event. */ ts: Timestamp | null; /** The harness's id of the turn. */ turn: string | null; /** Whether the hook decided without the daemon; another step of the event counts. */ undelivered: boolean; /** Verdict of the decision. */ verdict: string | null };

/** A point in time with millisecond precision, written as `2026-11-15T08:00:00.000Z`. */
export type Timestamp = string;

/** An item of a to-do list. */
export type TodoItem = { /** The text while it is in progress. */ active_form?: string | null; /** The harness's id of the item. */ id?: string | null; /** `pending`, `in_progress`, `completed`, `cancelled`, or the harness's own word. */ status: string; /** Text of the to-do. */ text: string };

/** Progress of a to-do list. */
export type TodoProgress = { /** Number of items. */ all: number; /** Number of completed items. */ completed: number; /** Items in progress. */ in_progress: number; /** All other items. */ pending: number; /** Completed and all items, such as `3/7`. */ progress: string };

/** A tool call: the tool's native name, its class, and the arguments as the harness sent them. */
export type ToolCall = { /** The arguments, as the harness sent them. */ args: unknown; /** Class of the tool. */ class: ToolClass; /** Server and tool name, if the tool belongs to an MCP server. */ mcp?: Mcp | null; /** The harness's name for the tool. */ name: string };

/** State of a tool call. */
export type ToolCallState = "asked" | "done" | "failed" | "denied";

/** What a tool does, independent of its name in a harness. */
export type ToolClass = "shell" | "read" | "write" | "edit" | "patch" | "search" | "fetch" | "mcp" | "agent" | "todo" | "other";

/** Calls of a tool by result. */
export type ToolCounts = { /** Calls that a user was asked about. */ asked: number; /** All calls, including denied ones. */ calls: number; /** Calls that were denied. */ denied: number; /** Calls that failed. */ failed: number; /** Calls that succeeded. */ ok: number };

/** A tool call in one line. */
export type ToolGist = { /** What the tool does. */ class: ToolClass; /** The command, path or URL; null if it is not known. */ gist: string | null; /** Name of the tool. */ name: string };

/** State of a tool call. */
export type ToolProgress = { /** The subagent that made the call. */ agent: string | null; /** Why content is missing. */ gone: MissingContent | null; /** Time that the tool ran. */ ran_ms: number | null; /** State of the call. */ state: ToolCallState; /** The tool call, in one line. */ tool: ToolGist; /** The harness's id of the call. */ tool_use_id: string | null; /** Verdict on the call. */ verdict: Decision };

/** A file that a session used. */
export type TouchedFile = { /** Number of deletions. */ deletes: number; /** Path of the file. */ path: string; /** Number of reads. */ reads: number; /** Number of writes. */ writes: number };

/** Token counts and cost of a session from its start to the event. These are totals, not differences, so an
event that is lost or recorded twice does not falsify them. */
export type TranscriptUsage = { /** Number of model responses. */ answers?: number; /** Tokens read from a prompt cache. */ cache_read_tokens?: number; /** Tokens written to a prompt cache. */ cache_write_tokens?: number; /** Prompt tokens of the latest model response. */ context_tokens?: number | null; /** Cost by the price table, in millionths of a US dollar. */ cost_microusd?: number; /** Input tokens, without cached ones. */ input_tokens?: number; /** Tokens in the reply. */ output_tokens?: number; /** The share of the latest day. */ today?: DayUsage | null; /** Responses of models that are missing from the price table. */ unpriced_answers?: number; /** Tokens of these unpriced responses. */ unpriced_tokens?: number };

/** A call whose answer did not reach the hook program. */
export type UndeliveredCall = { /** The harness's own name of the event. */ event: string; /** Id of the harness. */ harness: string; /** Id of the event. */ id: EventId; /** Whether the tool ran nevertheless. */ ran: boolean; /** Id of the session. */ session: string | null; /** Name of the tool. */ tool: string | null; /** Time of the event. */ ts: Timestamp };

/** Calls whose answer did not reach the hook program, since the daemon started. */
export type UndeliveredCalls = { /** Number of calls. */ count: number; /** Number of them whose tool ran nevertheless. */ ran: number; /** The last five, newest first. */ recent: UndeliveredCall[] };

/** A harness whose settings no longer contain our hooks. */
export type UnwiredHarness = { /** Id of the harness. */ harness: string; /** Its settings file. */ settings: string };

/** Result of a verification; distinguished by `verified`. */
export type VerificationResult = IntactLedger | DamagedLedger;

/** State of a verification. */
export type VerificationStatus = { /** Number of records that were checked. */ checked: number; /** Time at which it ended. */ ended: Timestamp | null; /** Number of records to check. */ of: number | null; /** Result of the verification. */ result: VerificationResult | null; /** Whether it runs. */ running: boolean; /** Time at which it started. */ started: Timestamp };

/** What the ledger is compared with. */
export type VerifyRequest = { /** A public key that must have signed the ledger. */ key?: string | null; /** An earlier checkpoint, which the ledger must extend. */ since?: string | null };

/** Every operation of the API: what it takes and gives. */
export interface Operations {
  /** The calls that wait for an approval. */
  listApprovals: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: ApprovalList;
  };
  /** The calls that wait for an approval, now and at every change. */
  streamApprovals: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: ApprovalList;
  };
  /** One call that waits for an approval. */
  getApproval: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Approval;
  };
  /** Approves or denies a call that waits. To approve takes a proof, the full id, and the digest of the call that was shown; to deny, the end of an id is enough. */
  answerApproval: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: ApprovalAnswer;
    gives: ApprovalResult;
  };
  /** Proof that the caller needs for a privileged action. */
  getAuthority: {
    path: undefined;
    query: { action?: string };
    headers: undefined;
    body: undefined;
    gives: AuthorityNeeds;
  };
  /** Permits a privileged action that the caller then performs itself. A refusal is recorded too. */
  passAuthority: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: AuthorityRequest;
    gives: AuthorityGrant;
  };
  /** Processes that are marked as guarded agents. They and their child processes need a code for privileged actions. */
  listAgents: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: MarkedAgentList;
  };
  /** Clears the mark of a process that is not an agent. Needs a proof of the user. A hook call of a harness marks its process again. */
  forgetAgent: {
    path: { pid: number };
    query: undefined;
    headers: undefined;
    body: ProofRequest;
    gives: ForgottenAgent;
  };
  /** Time until which this browser has access. */
  getDashboard: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: DashboardAccess;
  };
  /** Uses a one-time link: the response sets a cookie and contains the key that the page sends with it. */
  openDashboard: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: DashboardEntry;
    gives: DashboardKey;
  };
  /** Ends the access of this browser. */
  leaveDashboard: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: EmptyResponse;
  };
  /** A link that admits one browser, once, within a minute. Over the socket only, and not for agents; the request is recorded. */
  linkDashboard: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: DashboardLink;
  };
  /** One event in the normal form; its outcome is returned once it is recorded. `v`, `id`, `native_event` and `tool.class` are filled in if they are missing; `ts` is the daemon's, and one that is sent is kept as `sender_ts`. */
  judgeEvent: {
    path: undefined;
    query: { wait_ms?: number };
    headers: undefined;
    body: EventRequest;
    gives: Outcome;
  };
  /** Every harness: whether it is installed, whether our hooks are in its settings, its last event, and what hooks can do. */
  listHarnesses: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: HarnessList;
  };
  /** Installs or repairs our hooks in a harness, for the user. The settings are backed up and the change is recorded. */
  installHarness: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: HarnessPlan;
  };
  /** Shows as a diff what installing or repairing our hooks in a harness would change. Nothing is changed. */
  planHarness: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: HarnessPlan;
  };
  /** Whether the daemon runs. Callers without a token, or of another account, receive only `ok` and `version`. */
  getHealth: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: DaemonHealth;
  };
  /** The hooks in force, in the order they run. */
  listHooks: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: HookList;
  };
  /** Statistics of every hook since the daemon started and in the last minutes: calls, times, failures, denials. */
  getHookAnalytics: {
    path: undefined;
    query: { minutes?: number };
    headers: undefined;
    body: undefined;
    gives: HookAnalytics;
  };
  /** Answers one hook call of a harness. Request and response are in the harness's own format. The decision is recorded first. */
  answerHook: {
    path: { harness: string; event: string };
    query: undefined;
    headers: { "tenterhook-event"?: string; "tenterhook-project"?: string };
    body: unknown;
    gives: unknown;
  };
  /** Switches a hook off, overriding its settings. Needs a proof of the user. */
  disableHook: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: ProofRequest;
    gives: HookSwitched;
  };
  /** Switches a hook on, overriding its settings. Needs a proof of the user, because a hook may allow calls. */
  enableHook: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: ProofRequest;
    gives: HookSwitched;
  };
  /** Runs one hook with a sample event. Nothing is recorded, and no rule is evaluated. */
  testHook: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: HookTestRequest;
    gives: HookTestResult;
  };
  /** The hook packages, with their files, and whether they run. */
  listKits: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: HookPackageList;
  };
  /** Checks files as a hook package. Nothing is changed, and nothing is run. */
  validateKit: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: HookPackageFilesRequest;
    gives: HookPackageValidation;
  };
  /** Writes a hook package, from files or a template, and lets it run. Needs a proof of the user. */
  putKit: {
    path: { name: string };
    query: undefined;
    headers: undefined;
    body: HookPackageRequest;
    gives: HookPackageList;
  };
  /** Removes a hook package. Needs a proof of the user if it runs. */
  removeKit: {
    path: { name: string };
    query: undefined;
    headers: undefined;
    body: ProofRequest;
    gives: HookPackageList;
  };
  /** Lets a hook package run as it is now. Needs a proof of the user. */
  trustKit: {
    path: { name: string };
    query: undefined;
    headers: undefined;
    body: ProofRequest;
    gives: HookPackageList;
  };
  /** Records that match, newest first, a page at a time. */
  queryLedger: {
    path: undefined;
    query: { before?: number; harness?: string; kind?: RecordKind; limit?: number; rule?: string; session?: string; since?: string; text?: string; tool?: string; until?: string; verdict?: Decision };
    headers: undefined;
    body: undefined;
    gives: LedgerPage;
  };
  /** The latest signed checkpoint. A copy that is stored elsewhere reveals a later rollback. */
  getCheckpoint: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: LedgerCheckpoint;
  };
  /** Signs a checkpoint of all records, including decisions that hooks made without the daemon. */
  signCheckpoint: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: SignedCheckpoint;
  };
  /** Erases the payloads of records. The records stay, and the removal is recorded. Needs a proof of the user. */
  eraseLeaves: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: EraseRequest;
    gives: RemovedRecords;
  };
  /** The whole ledger as a file: `jsonl`, which `tenterhook ledger verify --file` checks, or `csv` for spreadsheets. */
  exportLedger: {
    path: undefined;
    query: { format?: ExportFormat };
    headers: undefined;
    body: undefined;
    gives: string;
  };
  /** The public key that signs, and whether the private key is sealed. */
  getKey: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: SigningKeyInfo;
  };
  /** Replaces the signing key. Both keys sign the record of the change. Needs a proof of the user. */
  rotateKey: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: ProofRequest;
    gives: RotatedKey;
  };
  /** Seals the private key with a passphrase, which is accepted over the Unix socket only. */
  sealKey: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: PassphraseRequest;
    gives: KeySealState;
  };
  /** Removes the passphrase of the private key. Needs a proof of the user, and the passphrase over the Unix socket. */
  unsealKey: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: PassphraseRequest;
    gives: KeySealState;
  };
  /** Records that match, each in one line, and the number of all records. */
  lineLedger: {
    path: undefined;
    query: { before?: number; harness?: string; kind?: RecordKind; limit?: number; rule?: string; session?: string; since?: string; text?: string; tool?: string; until?: string; verdict?: Decision };
    headers: undefined;
    body: undefined;
    gives: LedgerLines;
  };
  /** Removes old records. Their hashes stay, and the removal is recorded. Needs a proof of the user. */
  pruneLedger: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: PruneRequest;
    gives: RemovedRecords;
  };
  /** A report of a period or a session: one HTML file with charts and proofs. */
  getReport: {
    path: undefined;
    query: { session?: string; since?: string };
    headers: undefined;
    body: undefined;
    gives: string;
  };
  /** Retention of records: the limits that are configured, authorized and applied. */
  getRetention: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: RetentionStatus;
  };
  /** Sets how long records are kept. Limits that remove records earlier than before need a proof of the user. */
  setRetention: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: RetentionRequest;
    gives: RetentionStatus;
  };
  /** Statistics of the records that match, and of the ledger. */
  getLedgerStats: {
    path: undefined;
    query: { harness?: string; kind?: RecordKind; rule?: string; session?: string; since?: string; text?: string; tool?: string; until?: string; verdict?: Decision };
    headers: undefined;
    body: undefined;
    gives: LedgerStats;
  };
  /** Records as they are written, none left out: slow readers are caught up from the ledger. The id of each event is the number of the record, so that `Last-Event-ID` resumes a broken connection. */
  tailLedger: {
    path: undefined;
    query: { from?: number; harness?: string; kind?: RecordKind; rule?: string; session?: string; since?: string; text?: string; tool?: string; until?: string; verdict?: Decision };
    headers: { "Last-Event-ID"?: number };
    body: undefined;
    gives: LedgerRecord;
  };
  /** State or result of the last verification. */
  getVerification: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: VerificationStatus;
  };
  /** Starts a verification of the whole ledger, or returns the state of the one that runs. */
  verifyLedger: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: VerifyRequest;
    gives: VerificationStatus;
  };
  /** One record with its payload, by its number or its event's id; with its exact bytes, and the reply that its harness gets for it. */
  getLeaf: {
    path: { seq: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: LedgerRecordDetails;
  };
  /** The proof that a record is in the ledger, as text (c2sp.org/tlog-proof@v1). */
  getProof: {
    path: { seq: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: string;
  };
  /** Counters and times, for Prometheus. */
  getMetrics: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: string;
  };
  /** Whether rules are enforced. */
  getMode: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: ModeState;
  };
  /** Sets whether rules are enforced; `monitor` needs a proof of the user. */
  setMode: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: ModeRequest;
    gives: ModeState;
  };
  /** This document. */
  getOpenapi: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: unknown;
  };
  /** Decisions of each minute of the last hour since the daemon started, and how long they took. */
  getPace: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: DecisionRate;
  };
  /** The rule packs, built-in and added, and which of them are on. */
  listPacks: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: RulePackList;
  };
  /** Switches a rule pack or a single rule on or off. Off needs a proof of the user; locked rules stay on. */
  switchPack: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: RuleSwitchRequest;
    gives: RulePackList;
  };
  /** The rules in force by layer, their problems, and the text of the user's policy with its ETag. */
  getPolicy: {
    path: undefined;
    query: { cwd?: string };
    headers: undefined;
    body: undefined;
    gives: PolicyView;
  };
  /** Replaces the user's policy, unless a rule in it cannot be used. Needs a proof of the user. */
  putPolicy: {
    path: undefined;
    query: undefined;
    headers: { "If-Match"?: string };
    body: PolicyRequest;
    gives: PolicyChanged;
  };
  /** Replays the ledger with a text in place of the user's policy: which decisions would change. Nothing is changed. */
  backtestPolicy: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: BacktestRequest;
    gives: BacktestReport;
  };
  /** Drafts a rule from a decision, a template or its parts, and returns the user's policy with it. Nothing is changed. */
  draftRule: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: RuleDraftRequest;
    gives: RuleDraft;
  };
  /** Explains what the rules decide about an event or a command. Nothing is recorded, and no hook runs. */
  explainPolicy: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: ExplainRequest;
    gives: Explanation;
  };
  /** Checks a text as the user's policy and returns every problem with its position. Nothing is changed. */
  validatePolicy: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: string;
    gives: PolicyValidation;
  };
  /** Sessions of all agents, the latest first, a page at a time. */
  listSessions: {
    path: undefined;
    query: { after?: string; harness?: string; limit?: number; project?: string; since?: string; state?: SessionActivity };
    headers: undefined;
    body: undefined;
    gives: SessionList;
  };
  /** What happens in all sessions, live: `file-changed`, `todo-update`, `tool`, `prompt`, `denied`, `hint`, `usage`, `subagent` and `ended`; `lagged` has the number of missed events. */
  followSessions: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: SessionEvent;
  };
  /** One session with its files, to-do list, tools, denials, subagents and prompts. The id may be `<harness>:<id>`. */
  getSession: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: SessionDetails;
  };
  /** The changes of one file of a session, with diffs where calls and results report them. */
  getSessionDiff: {
    path: { id: string };
    query: { path?: string };
    headers: undefined;
    body: undefined;
    gives: SessionDiff;
  };
  /** The files that a session changed, in the order of the first change, and every change. */
  getSessionFiles: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: SessionFiles;
  };
  /** Live events of one session, as in /v1/sessions/stream. */
  followSession: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: SessionEvent;
  };
  /** The steps of a session, oldest first, a page at a time from the end. */
  getTimeline: {
    path: { id: string };
    query: { before?: number; limit?: number };
    headers: undefined;
    body: undefined;
    gives: Timeline;
  };
  /** The to-do list of a session. */
  getSessionTodos: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: SessionTodos;
  };
  /** Live events: `decided`, `session`, `approvals`, `generation`, `verify` and `warning`; `lagged` has the number of missed events. /v1/ledger/tail misses none. */
  stream: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: LiveEvent;
  };
  /** Hook packages and rules to start from, with all their files. */
  listTemplates: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: TemplateList;
  };
}

/** Where each operation is. */
export const OPERATIONS: { [Name in keyof Operations]: readonly [method: string, path: string] } = {
  listApprovals: ['GET', '/v1/approvals'],
  streamApprovals: ['GET', '/v1/approvals/stream'],
  getApproval: ['GET', '/v1/approvals/{id}'],
  answerApproval: ['POST', '/v1/approvals/{id}'],
  getAuthority: ['GET', '/v1/authority'],
  passAuthority: ['POST', '/v1/authority'],
  listAgents: ['GET', '/v1/authority/agents'],
  forgetAgent: ['POST', '/v1/authority/agents/{pid}/forget'],
  getDashboard: ['GET', '/v1/dashboard'],
  openDashboard: ['POST', '/v1/dashboard'],
  leaveDashboard: ['POST', '/v1/dashboard/leave'],
  linkDashboard: ['POST', '/v1/dashboard/link'],
  judgeEvent: ['POST', '/v1/events'],
  listHarnesses: ['GET', '/v1/harnesses'],
  installHarness: ['POST', '/v1/harnesses/{id}/install'],
  planHarness: ['POST', '/v1/harnesses/{id}/plan'],
  getHealth: ['GET', '/v1/health'],
  listHooks: ['GET', '/v1/hooks'],
  getHookAnalytics: ['GET', '/v1/hooks/analytics'],
  answerHook: ['POST', '/v1/hooks/{harness}/{event}'],
  disableHook: ['POST', '/v1/hooks/{id}/disable'],
  enableHook: ['POST', '/v1/hooks/{id}/enable'],
  testHook: ['POST', '/v1/hooks/{id}/test'],
  listKits: ['GET', '/v1/kits'],
  validateKit: ['POST', '/v1/kits/validate'],
  putKit: ['PUT', '/v1/kits/{name}'],
  removeKit: ['POST', '/v1/kits/{name}/remove'],
  trustKit: ['POST', '/v1/kits/{name}/trust'],
  queryLedger: ['GET', '/v1/ledger'],
  getCheckpoint: ['GET', '/v1/ledger/checkpoint'],
  signCheckpoint: ['POST', '/v1/ledger/checkpoint'],
  eraseLeaves: ['POST', '/v1/ledger/erase'],
  exportLedger: ['GET', '/v1/ledger/export'],
  getKey: ['GET', '/v1/ledger/key'],
  rotateKey: ['POST', '/v1/ledger/key/rotate'],
  sealKey: ['POST', '/v1/ledger/key/seal'],
  unsealKey: ['POST', '/v1/ledger/key/unseal'],
  lineLedger: ['GET', '/v1/ledger/lines'],
  pruneLedger: ['POST', '/v1/ledger/prune'],
  getReport: ['GET', '/v1/ledger/report'],
  getRetention: ['GET', '/v1/ledger/retention'],
  setRetention: ['PUT', '/v1/ledger/retention'],
  getLedgerStats: ['GET', '/v1/ledger/stats'],
  tailLedger: ['GET', '/v1/ledger/tail'],
  getVerification: ['GET', '/v1/ledger/verify'],
  verifyLedger: ['POST', '/v1/ledger/verify'],
  getLeaf: ['GET', '/v1/ledger/{seq}'],
  getProof: ['GET', '/v1/ledger/{seq}/proof'],
  getMetrics: ['GET', '/v1/metrics'],
  getMode: ['GET', '/v1/mode'],
  setMode: ['PUT', '/v1/mode'],
  getOpenapi: ['GET', '/v1/openapi.json'],
  getPace: ['GET', '/v1/pace'],
  listPacks: ['GET', '/v1/packs'],
  switchPack: ['POST', '/v1/packs/switch'],
  getPolicy: ['GET', '/v1/policy'],
  putPolicy: ['PUT', '/v1/policy'],
  backtestPolicy: ['POST', '/v1/policy/backtest'],
  draftRule: ['POST', '/v1/policy/draft'],
  explainPolicy: ['POST', '/v1/policy/explain'],
  validatePolicy: ['POST', '/v1/policy/validate'],
  listSessions: ['GET', '/v1/sessions'],
  followSessions: ['GET', '/v1/sessions/stream'],
  getSession: ['GET', '/v1/sessions/{id}'],
  getSessionDiff: ['GET', '/v1/sessions/{id}/diff'],
  getSessionFiles: ['GET', '/v1/sessions/{id}/files'],
  followSession: ['GET', '/v1/sessions/{id}/stream'],
  getTimeline: ['GET', '/v1/sessions/{id}/timeline'],
  getSessionTodos: ['GET', '/v1/sessions/{id}/todos'],
  stream: ['GET', '/v1/stream'],
  listTemplates: ['GET', '/v1/templates'],
};
