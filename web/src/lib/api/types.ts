// SPDX-License-Identifier: Apache-2.0 OR MIT

// Generated from docs/reference/openapi.json by scripts/api.mjs (`npm run generate`).

/** Decisions in a time range. */
export type Activity = { /** Duration of a bucket, in milliseconds. */ bucket_ms: number; /** The buckets, oldest first; buckets without decisions are left out. */ buckets: ActivityBucket[]; /** Decision time over the whole range; absent without decisions. */ decision_time: DecisionTime | null; /** Start of the first bucket. It is not before the first matching record. */ from: Timestamp; /** Harnesses, most frequent first. */ harnesses: NamedCounts[]; /** Rules that denied or asked, most frequent first. */ rules: NamedCounts[]; /** Whether the decision times come from a sample of the records. Counts are always exact. */ sampled: boolean; /** Tools, most frequent first. */ tools: NamedCounts[]; /** Counts for the whole range. */ total: DecisionCounts; /** End of the time range. */ until: Timestamp };

/** Decisions in one bucket of a time range. */
export type ActivityBucket = { /** Start of the bucket. */ at: Timestamp; /** Number of decisions. */ counts: DecisionCounts; /** Decision time; absent if it was not measured. */ decision_time?: DecisionTime | null };

/** The agent that caused an event: its model, its user account, and the subagent if there is one. */
export type Agent = { /** Id of the subagent. */ id?: string | null; /** Name of the model, as reported by the harness. */ model?: string | null; /** Id of the agent that started the subagent. */ parent?: string | null; /** How the agent's run is confined, if it is a sandboxed run that the daemon knows. Senders cannot set it. */ sandbox?: SandboxLevel | null; /** Type of the subagent. */ type?: string | null; /** User account that runs the agent. */ user?: string | null };

/** A call that waits for an approval. */
export type Approval = { /** All arguments of the call, as they would be executed. */ args?: unknown; /** Working directory of the agent. */ cwd?: string | null; /** SHA-256 of all other fields except the times and the short name. A request to approve the call must repeat it. */ digest: string; /** The harness's own name for the event. */ event: string; /** Id of the event. */ id: EventId; /** Short name of the call, derived from the id, which commands accept in its place. It is for users only. */ name: string; /** Rules and hooks that ask, each with its reason. */ reasons: Said[]; /** Id of the session. */ session?: string | null; /** When the call started to wait. */ since: Timestamp; /** Id of the harness. */ source: string; /** Name of the tool. */ tool?: string | null; /** Time at which the call is denied if no user has answered. */ until: Timestamp; /** The user whose account runs the agent. */ user?: string | null; /** Summary of the call in one line. */ wants: string };

/** A user's answer to a waiting call. */
export type ApprovalAnswer = { /** Whether to approve or deny. */ answer: ApprovalVerdict; /** The `digest` of the approval that was shown to the user. Required to approve. If it is present, it must match. */ digest?: string | null; /** What an approval covers. */ for?: ApprovalScope; /** A note to store in the record. */ note?: string | null; /** Proof that a user sends the request; required to approve. */ proof?: AuthorityProof };

/** List of calls that wait for an approval. */
export type ApprovalList = { /** The waiting calls. */ pending: Approval[] };

/** Response to an accepted answer. */
export type ApprovalResult = { /** The answer that was accepted. */ answer: ApprovalVerdict; /** What the approval covers; absent for a denial. */ for?: ApprovalScope | null; /** Id of the event. */ id: EventId; /** Id of the exception that was added to the policy; absent for a denial. */ rule?: string | null };

/** What an approval covers. */
export type ApprovalScope = "once" | "session" | "rule";

/** Whether the user approves or denies the call. */
export type ApprovalVerdict = "approve" | "deny";

/** Effect of an `ask`. */
export type AskEffect = "prompt" | "wait" | "never";

/** Permission for a privileged action. */
export type AuthorityGrant = { /** Name of the action. */ action: string; /** The accepted proof: `code`, `tty` (a terminal that the kernel confirmed), `unverified` (typed, on a platform
that cannot confirm terminals), `root` or `none`. */ proof: string };

/** The proof that a privileged action needs. */
export type AuthorityNeeds = { /** Name of the action. */ action: string; /** Whether the caller is, or may be, a process of a guarded agent. Such a caller needs a code. */ guarded: boolean; /** The required proof. */ needs: RequiredProof };

/** Proof that a user requests a privileged action. */
export type AuthorityProof = { /** A code from the user's authenticator app. */ code?: string | null; /** Whether the user typed the action's name on a terminal. */ tty?: boolean };

/** Request for permission to perform a privileged action. The caller performs the action itself. */
export type AuthorityRequest = { /** Name of the action. */ action: string; /** Details for the record. */ detail?: unknown; /** Proof that a user sends the request. */ proof?: AuthorityProof };

/** Decisions that the tested policy would change. */
export type BacktestReport = { /** Number of differences by rule. */ by_rule: { [key: string]: RuleEffect }; /** Decisions that would change, oldest first. */ differences: DecisionDifference[]; /** Number of events that could not be replayed, by reason. */ left_out: { [key: string]: number }; /** Number of events whose secrets were redacted before evaluation. */ redacted: number; /** Number of events that were evaluated. */ replayed: number; /** Number of events whose decision stays the same. */ same: number; /** Time that the replay took, in milliseconds. */ took_ms: number; /** Number of further differences that are not listed. */ unnamed: number };

/** Request to evaluate recorded events with a different policy. */
export type BacktestRequest = { /** Only events since this time: `15m`, `24h`, `7d`, `2026-11-15` or `2026-11-15T08:00:00Z`. */ since?: string | null; /** Policy text to use instead of the user's policy. */ text: string; /** Only events before this time. */ until?: string | null };

/** Result of an accepted bundle. */
export type BundleAccepted = { /** The bundle in force. */ bundle: FleetBundle; /** Whether the bundle was in force before. */ known: boolean; /** Version that was in force before. */ replaces: number | null; /** The changes that weaken protection. */ weakening: string[] };

/** Counts of a backtest of a bundle: how its rules would have decided the last calls of this machine. */
export type BundleCounts = { /** Calls that the bundle asks about. */ asked_after: number; /** Calls that the rules asked about when they were recorded. */ asked_before: number; /** Number of calls. */ calls: number; /** Calls that the bundle denies. */ denied_after: number; /** Calls that the rules denied when they were recorded. */ denied_before: number; /** Records that could not be replayed. */ left_out: number; /** Calls that the bundle denies and that were not denied. */ newly_denied: number; /** Version of the bundle. */ version: number };

/** A policy bundle that the daemon should verify. */
export type BundleRequest = { /** The bundle, in base 64. */ bundle: string; /** Start of the records that are replayed, for a backtest: `7d`, `24h` or a date. Default: seven days ago. */ since?: string | null };

/** A page of tool calls, newest first. */
export type CallPage = { /** Value of `before` that requests the next page. */ next: number | null; /** The rows of this page. */ rows: ToolCallRow[]; /** Total number of records in the ledger. */ size: number };

/** Which tool calls a list contains. */
export type CallSelection = "notable" | "all";

/** What a call would have lost, saved for `tenterhook undo`. */
export type CallSnapshot = { /** Bytes that the snapshot keeps in use. */ bytes: number; /** Number of files, links and directories. */ entries: number; /** Id of the call's event, which is also the id of its record; null if it is unknown. */ event: string | null; /** Id of the snapshot; `tenterhook undo ID` restores it. */ id: string; /** Number of paths that could not be saved. */ not_saved: number; /** Root directory of the project. */ project: string; /** Ids of the rules that matched, or `restore` if a restore saved what it replaced. */ reason: string; /** Number of git refs. */ refs: number; /** Whether the user would have been asked without the snapshot. */ replaced_question: boolean; /** The harness's id for the session; null if it is unknown. */ session: string | null; /** Time of the snapshot. */ taken: Timestamp };

/** List of snapshots. */
export type CallSnapshotList = { /** The snapshots, newest first. */ snapshots: CallSnapshot[] };

/** A file that a session changed. */
export type ChangedFile = { /** Number of lines added, as far as calls and results report them. */ added: number; /** How the file was changed outside the session; null if it was not changed or this is unknown. */ behind: OutsideChange | null; /** Number of changes. */ changes: number; /** Whether the last change deleted the file or moved it away. */ deleted: boolean; /** Time of the last change. */ last: Timestamp | null; /** Path of the file. */ path: string; /** Number of lines removed, as far as calls and results report them. */ removed: number; /** Path relative to the project. */ shown: string; /** Tools that changed the file. */ tools: string[] };

/** A new secret for an authenticator app. It is not active before its first code is typed in a terminal. */
export type CodeEnrolment = { /** The address as a QR code: rows of `1` for dark and `0` for light modules. */ qr: string[]; /** The secret, in base32. */ secret: string; /** The secret as an `otpauth://` address. */ uri: string };

/** The daemon's health. Callers that have no token or use another account receive only `ok` and `version`. */
export type DaemonHealth = { /** Number of hook calls answered. */ answered?: number; /** Identifier of the rules and hooks in force. */ generation?: string; /** Harnesses that have Tenterhook's hooks in their settings or sent an event within the last ten minutes. Absent
until the daemon's first check. */ guarded?: string[] | null; /** Versions of the hook programs that called this daemon. */ hook_versions?: HookVersionCount[]; /** Level of protection of the rules: `relaxed`, `standard`, `strict` or `paranoid`. */ level?: string; /** TCP address that the daemon listens on. */ listen?: string | null; /** Whether rules are enforced. */ mode?: EnforcementMode; /** When monitor mode ends by itself; absent without a time limit. */ mode_until?: Timestamp | null; /** Always true: a daemon that has failed does not answer. */ ok: boolean; /** Number of calls that wait for an approval. */ pending?: number; /** Process id of the daemon. */ pid?: number; /** Rules, hooks and settings that cannot be used. */ problems?: FileProblem[]; /** Sandboxed runs that have not ended, each with the level of its sandbox. */ runs?: SandboxedRun[]; /** Decisions made by hooks without the daemon. */ spool?: SpoolCounts; /** Files that changed and cannot be read. Their previous content stays in force. */ stale?: FileProblem[]; /** Calls since the daemon started whose answer did not reach the hook program. */ undelivered?: UndeliveredCalls; /** Harnesses on this machine that are not guarded. */ unguarded?: string[] | null; /** Harnesses whose settings no longer contain Tenterhook's hooks. */ unwired?: UnwiredHarness[]; /** Time since the daemon started, in milliseconds. */ uptime_ms?: number; /** Version of the daemon. */ version: string };

/** Result for a damaged ledger. */
export type DamagedLedger = { /** Number of the first damaged record. */ leaf: number | null; /** Description of the damage. */ problem: string; /** Always false in this variant. */ verified: boolean };

/** How long this browser has access. */
export type DashboardAccess = { /** When the access expires and a new link is needed. */ until: Timestamp };

/** Request to exchange a link for access. */
export type DashboardEntry = { /** The part of the link after `#link=`. */ link: string };

/** Key that a dashboard page sends with its requests. */
export type DashboardKey = { /** Value of the `tenterhook-page` header, which the page sends together with the cookie. */ key: string };

/** A link that gives one browser access, once. */
export type DashboardLink = { /** When the link expires. */ until: Timestamp; /** The link to open. */ url: string };

/** Number of records with one verdict on one day. */
export type DayCount = { /** Number of records. */ count: number; /** Start of the day. */ day: Timestamp; /** Verdict of the records. */ verdict: string };

/** Usage of a session on one day, by the timestamps in its transcript. */
export type DayUsage = { /** Cost according to the price table, in millionths of a US dollar. */ cost_microusd?: number; /** Days since 1970-01-01, in UTC. */ day?: number; /** Number of tokens of all kinds. */ tokens?: number; /** Number of tokens used by models that are missing from the price table. */ unpriced_tokens?: number };

/** A decision about a tool call, a prompt or another action. Variants are ordered by strictness; the strictest
decision of all findings applies. */
export type Decision = "none" | "allow" | "defer" | "ask" | "deny";

/** Number of decisions by verdict. */
export type DecisionCounts = { /** Number of all decisions. */ all: number; /** Number of calls that a user was asked about. */ asked: number; /** Number of denials. */ denied: number };

/** A decision that would change. */
export type DecisionDifference = { /** Id of the event. */ id: EventId; /** The new decision. */ now: Decision; /** Id of the rule behind the new decision. */ now_by?: string | null; /** Number of the record. */ seq: number; /** The recorded decision. */ was: Decision; /** Id of the rule behind the recorded decision. */ was_by?: string | null; /** The command, path or tool. */ what: string };

/** A one-line summary of a decision. */
export type DecisionLine = { /** What decided: a rule id or `hook:<id>`. */ by: string | null; /** Working directory of the agent. */ cwd: string | null; /** Kind of the event. */ event: EventKind; /** Identifier of the rules and hooks in force. */ generation: string; /** Id of the harness. */ harness: string; /** Id of the event. */ id: EventId; /** Name of the model. */ model: string | null; /** The harness's own name for the event. */ native_event: string; /** Text of the prompt. */ prompt: string | null; /** Run time of the tool, in milliseconds; only in events about the result of a call. */ ran_ms?: number | null; /** Reason shown to the model. */ reason: string | null; /** Whether the decision changed the arguments of the call. */ rewritten?: boolean; /** Id of the rule that decided. */ rule: string | null; /** Number of the record. */ seq: number; /** Id of the session. */ session: string | null; /** Time that the decision took, in microseconds. */ took_us: number; /** The tool call. */ tool: ToolGist | null; /** The harness's id for the tool call. */ tool_use_id?: string | null; /** Time of the event. */ ts: Timestamp; /** Verdict of the decision. */ verdict: Decision };

/** Decisions in one minute. */
export type DecisionMinute = { /** Start of the minute. */ at: Timestamp; /** Median decision time, in microseconds. */ p50_us: number; /** 95th percentile of the decision time, in microseconds. */ p95_us: number; /** 99th percentile of the decision time, in microseconds. */ p99_us: number; /** Number of decisions by verdict. */ verdicts: { [key: string]: number } };

/** Decisions in the last hour. */
export type DecisionRate = { /** Minutes that contain decisions, oldest first. */ minutes: DecisionMinute[] };

/** Percentiles of the decision time, in microseconds. */
export type DecisionTime = { /** Median of the decision time. */ p50_us: number; /** 95th percentile of the decision time. */ p95_us: number; /** 99th percentile of the decision time. */ p99_us: number };

/** Number of denials, by what the agent did next. */
export type DenialCounts = { /** Number of denials. */ all: number; /** Number of denials with a suggestion. */ nudged: number; /** Number of denials after which the agent repeated the call. */ repeated: number; /** Number of denials after which the agent followed the suggestion. */ taken: number };

/** A call that was denied, or that a user was asked about. */
export type DeniedCall = { /** The subagent that made the call. */ agent: string | null; /** Kind of the event. */ event: string; /** The command, path or URL, in one line. */ gist: string | null; /** Why content is missing. */ gone: MissingContent | null; /** What the agent did in its next call. */ hint: SuggestionResult; /** Suggestion shown to the model. */ nudge: string | null; /** Reason shown to the model. */ reason: string | null; /** What decided: a rule id or `hook:<id>`. */ rule: string | null; /** Number of the record. */ seq: number; /** Name of the tool. */ tool: string | null; /** Time of the call. */ ts: Timestamp };

/** Effect of a `deny`. */
export type DenyEffect = "prevents" | "feedback" | "impossible";

/** Content of an event besides its tool call. The kind of event determines which fields are present. Each description
starts with the kinds that have the field. */
export type Detail = { /** session-start, session-end, compaction, permission-denied: what caused the event. */ cause?: string | null; /** post-tool, tool-error: run time of the tool in milliseconds. */ duration_ms?: number | null; /** tool-error: the error message. */ error?: string | null; /** notification: the text of the notification; compaction: the instructions or the summary. */ message?: string | null; /** pre-model, post-model, tool-selection: the request to the model. */ model_request?: unknown; /** post-model: the model's response. */ model_response?: unknown; /** prompt, stop: the user's prompt. */ prompt?: string | null; /** stop, subagent-stop: the agent's last message. */ response?: string | null; /** stop, subagent-stop: whether a hook has already made the agent continue. */ stop_hook_active?: boolean | null; /** post-tool: output of the tool, in the harness's own format. */ tool_output?: unknown; /** Whether the harness has a tool that writes to running processes without firing a hook. */ unhooked_stdin?: boolean; /** Token counts and cost of the session so far, from the harness's transcript; absent if unchanged. */ usage?: TranscriptUsage | null };

/** Empty response body. */
export type EmptyResponse = { [key: string]: unknown };

/** Whether rules are enforced. */
export type EnforcementMode = "enforce" | "monitor";

/** Request to erase payloads. */
export type EraseRequest = { /** Number of the first record. */ from: number; /** Proof that a user sends the request. */ proof?: AuthorityProof; /** Reason to store in the record of the removal. */ reason: string; /** Number of the last record; `from` by default. */ to?: number | null };

/** What went wrong, and what to do next. */
export type ErrorDetail = { /** What to do next. */ hint?: string | null; /** What went wrong. */ message: string };

/** Body of every error response. */
export type ErrorResponse = { /** What went wrong. */ error: ErrorDetail; /** Problems in the policy, if it was rejected. */ problems?: FileProblem[] | null; /** Result of the policy check, if a policy was rejected. */ validation?: PolicyValidation | null };

/** One point in an agent's run, in a form common to all harnesses. */
export type Event = { /** The agent: its model, its user account, and the subagent if there is one. */ agent?: Agent; /** Working directory of the agent. */ cwd?: string | null; /** Further content, depending on the kind of event. */ detail?: Detail; /** Kind of the event. */ event: EventKind; /** Session id assigned by the harness. */ harness_session_id?: string | null; /** Unique id, generated when the call is received. */ id: EventId; /** The harness's own name for the event. */ native_event: string; /** Root directory of the agent's project. */ project?: string | null; /** When the event happened according to the sender's clock, if the sender reports it. `ts`, in contrast, is
always set by Tenterhook. */ sender_ts?: Timestamp | null; /** Result of comparing the session with the calling process. Absent if the session belongs to the caller or was
not checked. */ session_check?: SessionCheck | null; /** The harness that sent the event: `claude-code`, `codex`, … */ source: string; /** The tool call the event is about. */ tool?: ToolCall | null; /** Tool call id assigned by the harness. */ tool_use_id?: string | null; /** When the event was received. */ ts: Timestamp; /** Id, assigned by the harness, of the turn or prompt to which the event belongs. */ turn_id?: string | null; /** Version of the event format. */ v: number };

/** What hooks can do for one event of a harness. */
export type EventCoverage = { /** Effect of an `ask` for this event. */ ask: AskEffect; /** Whether a hook can add context for the model. */ context: boolean; /** Effect of a `deny` for this event. */ deny: DenyEffect; /** Kind of the event. */ event: EventKind; /** The harness's own name for the event. */ native: string; /** Whether the tool's input can be changed. */ rewrites: boolean; /** Why the event is not used. */ why: string | null; /** How Tenterhook uses the event. */ wired: EventWiring };

/** The id of an event: a ULID with 48 bits of time in milliseconds and 80 random bits. The text form has 26
characters and sorts by time. */
export type EventId = string;

/** A point in an agent's run at which hooks and rules apply. [`EventKind::ALL`] lists all of them. */
export type EventKind = "session-start" | "session-end" | "prompt" | "pre-model" | "post-model" | "tool-selection" | "pre-tool" | "post-tool" | "tool-error" | "permission-request" | "permission-granted" | "permission-denied" | "subagent-start" | "subagent-stop" | "pre-compact" | "post-compact" | "context-warning" | "notification" | "stop" | "other";

/** An event in the normalized form, which is the same for all harnesses. The daemon fills in missing fields. */
export type EventRequest = { /** The agent that acts. */ agent?: Agent; /** Working directory of the agent. */ cwd?: string | null; /** Further data about the event, in fields that are the same for all harnesses. */ detail?: Detail; /** Kind of the event. */ event: EventKind; /** The sender's id for the conversation. */ harness_session_id?: string | null; /** Unique id; generated by the daemon if it is missing. */ id?: EventId | null; /** The sender's own payload. Only SDKs and other programs use this field. Harnesses send their payload to
`/v1/hooks/<harness>/<event>` instead. */ native?: { [key: string]: unknown } | null; /** The sender's own name for the event. */ native_event?: string | null; /** Root of the project that the agent works on. */ project?: string | null; /** The program that sends the event. */ source: string; /** The tool call. */ tool?: EventToolRequest | null; /** The sender's id for the tool call. */ tool_use_id?: string | null; /** Time by the sender's clock; stored as `sender_ts`. */ ts?: Timestamp | null; /** The sender's id for the turn or prompt. */ turn_id?: string | null; /** Version of the normalized form. */ v?: number | null };

/** Tool call of an event. */
export type EventToolRequest = { /** Arguments of the tool. */ args?: unknown; /** Class of the tool. If it is missing, it is derived from the name of a common tool. */ class?: ToolClass | null; /** Server and tool name, if the tool belongs to an MCP server. */ mcp?: Mcp | null; /** Name of the tool. */ name: string };

/** How Tenterhook uses a harness's event. */
export type EventWiring = "guard" | "watch" | "left";

/** What to explain: exactly one of `event`, `command` and `tool`. */
export type ExplainRequest = { /** Whether to include rules that do not match. */ all?: boolean; /** A shell command. */ command?: string | null; /** Working directory of the call. */ cwd?: string | null; /** A complete event. */ event?: Event | null; /** A tool call. */ tool?: ExplainTool | null };

/** A tool call to explain. */
export type ExplainTool = { /** Arguments of the tool. */ args?: unknown; /** Name of the tool. */ name: string };

/** What the rules decide about an event, and why. */
export type Explanation = { /** Number of rules that were evaluated. */ considered: number; /** The event that was evaluated. */ event: Event; /** Facts about the call that the rules were evaluated on. */ facts: unknown; /** Identifier of the rules and hooks in force. */ generation: string; /** The complete outcome. */ outcome: Outcome; /** Reason shown to the model. */ reason: string | null; /** Id of the rule that decides. */ rule: string | null; /** Result for each rule. */ rules: RuleExplanation[]; /** Reason and suggestion, as a harness shows them. */ says: string | null; /** Combined verdict of all rules. */ verdict: Decision };

/** Format of an export. */
export type ExportFormat = "jsonl" | "csv";

/** One change to one file. */
export type FileChange = { /** Number of lines added. */ added: number | null; /** The subagent that made the call. */ agent: string | null; /** How the file was changed outside the session before this call. */ behind: OutsideChange | null; /** Why content is missing. */ gone: MissingContent | null; /** How the call changes the file. */ how: FileChangeKind; /** Path of the file. */ path: string; /** Number of lines removed. */ removed: number | null; /** Number of the call's record. */ seq: number; /** Path relative to the project. */ shown: string; /** Whether the call ran. */ state: FileChangeState; /** Name of the tool. */ tool: string; /** The harness's id for the call. */ tool_use_id: string | null; /** Time of the call. */ ts: Timestamp };

/** How a call changes a file. */
export type FileChangeKind = "write" | "edit" | "delete";

/** Whether a call that changes a file ran. */
export type FileChangeState = "asked" | "done" | "failed";

/** Number of files in a session by kind of access. Each file is counted once. */
export type FileCounts = { /** Number of files that were changed outside the session. */ behind: number; /** Number of files written or deleted. */ changed: number; /** Number of files deleted. */ deleted: number; /** Number of files that are not listed, plus the number of calls whose files are unknown. */ left_out: number; /** Number of files read. */ read: number; /** Number of files written. */ written: number };

/** One change to one file, with its diff. */
export type FileDiff = { /** Number of lines added. */ added: number | null; /** The subagent that made the call. */ agent: string | null; /** How the file was changed outside the session before this call. */ behind: OutsideChange | null; /** Diff lines with their `+` and `-` characters, without the file header. */ diff: string | null; /** Why content is missing. */ gone: MissingContent | null; /** How the call changes the file. */ how: FileChangeKind; /** Path of the file. */ path: string; /** Number of lines removed. */ removed: number | null; /** Number of the call's record. */ seq: number; /** Path relative to the project. */ shown: string; /** Whether the call ran. */ state: FileChangeState; /** Name of the tool. */ tool: string; /** The harness's id for the call. */ tool_use_id: string | null; /** Time of the call. */ ts: Timestamp; /** Why the diff is missing or incomplete. */ why: MissingDiff | null };

/** One problem in a file. The entry with the problem is ignored; the rest of the file is in force. */
export type FileProblem = { /** The entry with the problem, such as ``rule `x` ``. */ about?: string | null; /** Column, counted from 1. */ column?: number | null; /** How to fix the problem. */ hint?: string | null; /** Line, counted from 1. */ line?: number | null; /** Description of the problem. */ message: string; /** File with the problem. */ source: string };

/** A policy bundle of a fleet. */
export type FleetBundle = { /** Names of those who may answer approvals remotely. */ approvers: string[]; /** The git commit that its files come from. */ commit: string | null; /** Time after which the bundle is stale. */ not_after: Timestamp; /** SHA-256 of the bundle, in hexadecimal. */ sha256: string; /** Names of the signers that signed it. */ signed_by: string[]; /** Whether the bundle is stale. */ stale: boolean; /** Version of the bundle. */ version: number; /** What the machine does with a stale bundle: `keep`, `ask` or `deny`. */ when_stale: string };

/** The policy of the fleet on this machine. */
export type FleetPolicyView = { /** The bundle in force. */ bundle: FleetBundle | null; /** Whether the machine is part of a fleet that signs policy. */ enrolled: boolean; /** Name of the fleet. */ fleet: string | null; /** Bundles that were refused when they were read. */ problems: FileProblem[]; /** Ring of the machine. */ ring: string | null };

/** Whether the agent may continue after this event. */
export type Flow = "go" | ({ stop: { /** Reason shown to the user. */ reason?: string | null } });

/** Neighbouring records that are not tool calls. */
export type FoldedRecords = { /** Number of the records. */ count: number; /** Number of the records by kind of event, or by kind of record if a record has no event. */ events: { [key: string]: number }; /** Number of the oldest record. */ first: number };

/** A process that is no longer marked as a guarded agent. */
export type ForgottenAgent = { /** Name of the process. */ name: string; /** Id of the process. */ pid: number };

/** A change of the rules and hooks in force. */
export type GenerationChange = { /** Identifier of the rules and hooks now in force. */ generation: string; /** Rules, hooks and settings that cannot be used. */ problems: FileProblem[]; /** Files that changed and cannot be read; their previous content is in force. */ stale: FileProblem[] };

/** All known harnesses. */
export type HarnessList = { /** Harnesses with their state. */ harnesses: HarnessState[] };

/** A planned or completed change to a harness's settings. */
export type HarnessPlan = { /** Ways to run the harness without these hooks. */ bypasses: string[]; /** Whether files were changed. */ changed: boolean; /** The change as a diff. */ diff: string; /** All files that the plan changes. */ files: string[]; /** Id of the harness. */ harness: string; /** Path of the state directory. */ home?: string | null; /** Whether the harness uses the hooks now. */ in_force: boolean; /** The harness's last recorded event. */ last_heard: LastHarnessEvent | null; /** Notes on the change. */ notes: string[]; /** Steps that the user still has to take. */ pending: string[]; /** Path of the hook program. */ program?: string | null; /** Scope of the settings: `user`, `machine` or a project. */ scope: string; /** The settings file. */ settings: string | null };

/** Reply to a hook call, in the form of a process result. */
export type HarnessReply = { /** Exit code of the process. */ exit: number; /** Parts of the outcome that the harness does not support. */ lost: string[]; /** Text on standard error. */ stderr: string; /** Text on standard output. */ stdout: string };

/** State of a harness on this machine. */
export type HarnessState = { /** What hooks can do for each of the harness's events. */ coverage: EventCoverage[]; /** Directory with the harness's settings and data. */ directory: string | null; /** Whether the harness was found on this machine. */ found: boolean; /** Id of the harness. */ harness: string; /** The harness's last recorded event. */ last_heard: LastHarnessEvent | null; /** Notes, such as why the harness cannot be guarded. */ notes: string[]; /** Path of the harness's program. */ program: string | null; /** Versions that Tenterhook's hooks were tested with. */ proved_on: string[]; /** Scopes in which Tenterhook's hooks are installed. */ scopes: string[]; /** Display name of the harness. */ title: string; /** Version of the harness's program. */ version: string | null; /** Whether Tenterhook's hooks are in the harness's settings. */ wired: HarnessWiring };

/** Whether Tenterhook's hooks are in a harness's settings. */
export type HarnessWiring = "yes" | "no" | "lost" | "unheeded" | "impossible";

/** Statistics for every hook. */
export type HookAnalytics = { /** Statistics by hook id. */ hooks: { [key: string]: HookSummary }; /** Length of the recent period in minutes. */ minutes: number; /** Time of the response. */ now: Timestamp };

/** What happens if a hook fails. */
export type HookFailMode = "open" | "closed";

/** One failure of a hook. */
export type HookFailure = { /** Id of the event. */ id: EventId; /** Text of the error. */ message: string; /** Time of the event. */ ts: Timestamp };

/** The hooks in force, in execution order. */
export type HookList = { /** Identifier of the rules and hooks in force. */ generation: string; /** Hooks in execution order. */ hooks: RegisteredHook[] };

/** Statistics for one hook in one minute. */
export type HookMinute = { /** Number of calls that the hook denied. */ blocks: number; /** Number of calls. */ calls: number; /** Number of calls that failed. */ failures: number; /** Number of calls that the hook changed. */ modifications: number; /** Median run time, in microseconds. */ p50_us: number | null; /** 95th percentile of the run time, in microseconds. */ p95_us: number | null; /** 99th percentile of the run time, in microseconds. */ p99_us: number | null; /** Number of calls for which the hook was skipped. */ skipped: number; /** Number of calls that timed out. */ timeouts: number; /** Start of the minute. */ ts: Timestamp };

/** Call counts by result, and run time percentiles. */
export type HookNumbers = { /** Number of calls that the hook denied. */ blocks: number; /** Number of calls. */ calls: number; /** Number of calls that failed. */ failures: number; /** Number of calls that the hook changed. */ modifications: number; /** Median run time, in microseconds. */ p50_us: number | null; /** 95th percentile of the run time, in microseconds. */ p95_us: number | null; /** 99th percentile of the run time, in microseconds. */ p99_us: number | null; /** Number of calls for which the hook was skipped. */ skipped: number; /** Number of calls that timed out. */ timeouts: number };

/** A hook package. */
export type HookPackage = { /** Git commit that the hook package was installed from. */ commit: string | null; /** Contents of the package's files. */ files: { [key: string]: string }; /** Path of the package's directory. */ folder: string; /** Where the hook package came from: a template, a directory or a URL. */ from: string; /** The package's manifest; null if it cannot be read. */ manifest: HookPackageManifest | null; /** Name of the hook package and of its directory. */ name: string; /** SHA-256 of the package's files at the time they were trusted. */ sha256: string; /** Whether the package's hooks run. */ standing: HookPackageStatus; /** Whether the package's hooks may run. */ trusted: boolean; /** Why the package's hooks do not run. */ why: string | null };

/** Request to check a hook package's files. */
export type HookPackageFilesRequest = { /** Files in the hook package. */ files?: { [key: string]: string } };

/** All hook packages. */
export type HookPackageList = { /** The hook packages. */ kits: HookPackage[] };

/** A hook package's manifest (`hook.yaml`). */
export type HookPackageManifest = { /** What the package does, in a few sentences. */ about: string; /** The hooks, as in `tenterhook.yaml`. */ hooks: unknown[]; /** Programming language of the hooks. */ language: string; /** Programs that the hooks need. */ needs: string[]; /** Events to test the hooks with. */ samples: HookSample[]; /** Keywords for searching. */ tags: string[]; /** What the package does, in a few words. */ title: string };

/** Contents of a new hook package: exactly one of `files` and `template`. */
export type HookPackageRequest = { /** Files in the hook package. */ files?: { [key: string]: string } | null; /** Proof that a user sends the request. */ proof?: AuthorityProof; /** Name of the template to copy. */ template?: string | null };

/** Whether a hook package's hooks run. */
export type HookPackageStatus = "trusted" | "not trusted" | "changed";

/** Result of checking a hook package. */
export type HookPackageValidation = { /** Ids of the package's hooks. */ hooks: string[]; /** Whether the files are a usable hook package. */ ok: boolean; /** Why the files cannot be used. */ problem: string | null };

/** What is executed when a hook is called. */
export type HookRunner = { type: "in-process" } | { /** Name of the program. */ client: string; type: "sdk" } | ({ /** Command line that a shell runs. */ command?: string | null; /** Program and arguments, run without a shell. */ exec?: string[] | null; type: "command" }) | { type: "http"; /** URL of the endpoint. */ url: string };

/** An event to test a hook with, and the expected result. */
export type HookSample = { /** Working directory of the agent. */ cwd?: string | null; /** Further data about the event. */ detail?: unknown; /** Kind of the event. */ event: EventKind; /** The expected decision. */ expect?: Decision; /** Expected tool arguments after the hook has changed them. */ input?: unknown; /** Name of the model. */ model?: string | null; /** What the sample demonstrates. */ title?: string; /** The tool call. */ tool?: SampleTool | null };

/** Statistics for one hook. */
export type HookSummary = { /** Statistics since the daemon started. */ all: HookNumbers; /** Time of the last call. */ last_call: Timestamp | null; /** The last failure. */ last_error: HookFailure | null; /** Statistics by minute for the recent period, oldest first; minutes without calls are left out. */ minutes: HookMinute[]; /** Statistics for the recent period. */ recent: HookNumbers };

/** Result of enabling or disabling a hook. */
export type HookSwitched = { /** Whether the request changed the state. */ changed: boolean; /** Identifier of the rules and hooks in force. */ generation: string; /** The hook's state after the request. */ hook: RegisteredHook };

/** Event to test a hook with: exactly one of `sample` and `event`. */
export type HookTestRequest = { /** A complete event. */ event?: Event | null; /** A sample event, in the format used in hook packages. */ sample?: HookSample | null };

/** Result of testing a hook. */
export type HookTestResult = { /** Whether the hook runs for this event. */ applies: boolean; /** The event that the hook was tested with. */ event: Event; /** The outcome that the hook produced. */ outcome: Outcome; /** Why the hook does not run for this event. */ why: string | null };

/** Number of calls from hook programs of one version. */
export type HookVersionCount = { /** Number of calls. */ calls: number; /** Time of the last call. */ last: Timestamp; /** Version of the hook program. */ version: string };

/** Result for an intact ledger. */
export type IntactLedger = { /** Number of checkpoints. */ checkpoints: number; /** Number of erased payloads. */ erased: number; /** The public keys that signed the ledger's checkpoints. */ keys: string[]; /** Name of the ledger. */ origin: string; /** Number of pruned records. */ pruned: number; /** Root hash of the Merkle tree. */ root: string; /** Number of records. */ size: number; /** Whether the first key was accepted without comparing it with a key from the caller. */ trusted_on_first_use: boolean; /** Number of records not covered by any checkpoint. */ unpublished: number; /** Always true in this variant. */ verified: boolean };

/** Whether the private key is encrypted. */
export type KeySealState = { /** Whether the private key is encrypted under a passphrase. */ sealed: boolean };

/** A harness's last recorded event. */
export type LastHarnessEvent = { /** Number of the record. */ seq: number; /** Time of the event. */ ts: string };

/** The latest checkpoint. */
export type LedgerCheckpoint = { /** The public key that verifies the checkpoint. */ key: string | null; /** Total number of records in the ledger. */ leaves: number; /** The signed note (c2sp.org/tlog-checkpoint). */ note: string; /** Number of records that the checkpoint covers. */ size: number };

/** A one-line summary of a record. */
export type LedgerLine = { /** What decided: a rule id or `hook:<id>`. */ by: string | null; /** Kind of the event. */ event: string | null; /** Id of the harness. */ harness: string | null; /** Kind of the record. */ kind: string | null; /** Whether the record was pruned. */ pruned: boolean; /** Reason shown to the model. */ reason: string | null; /** Id of the rule that decided. */ rule: string | null; /** Text of the prompt, response, message or error. */ said: string | null; /** Number of the record. */ seq: number; /** Id of the session. */ session: string | null; /** Time that the decision took, in microseconds. */ took_us: number | null; /** The tool call. */ tool: ToolGist | null; /** Time of the event. */ ts: Timestamp | null; /** Verdict of the decision. */ verdict: string | null; /** Name of the change, in a record of kind `change`. */ what: string | null; /** Who made the change. */ who: string | null };

/** A page of one-line record summaries. */
export type LedgerLines = { /** The records, newest first. */ lines: LedgerLine[]; /** Value of `before` that requests the next page. */ next: number | null; /** Total number of records. */ size: number };

/** A page of records, newest first. */
export type LedgerPage = { /** The records on this page. */ leaves: LedgerRecord[]; /** Value of `before` that requests the next page. */ next: number | null };

/** One ledger record. */
export type LedgerRecord = { /** Whether the payload was erased. */ erased: boolean; /** The record's hash in the Merkle tree, in base64. */ hash: string; /** The record's envelope (docs/spec/leaf.schema.json); null if the record was pruned. */ leaf: unknown; /** Short name of a call that was denied or asked about, for users; absent for other records. */ name?: string | null; /** The event's content (arguments, prompts, outputs); null if it was removed. */ payload: unknown; /** Whether the record was pruned. */ pruned: boolean; /** Number of the record. */ seq: number; /** Whether this decision did not reach the harness, because the hook had timed out and decided without the daemon.
A later record of the same event contains the decision that the harness received. */ undelivered: boolean };

/** A record with its exact bytes and the reply sent to its harness. */
export type LedgerRecordDetails = { /** Whether the payload was erased. */ erased: boolean; /** The record's hash in the Merkle tree, in base64. */ hash: string; /** The record's envelope (docs/spec/leaf.schema.json); null if the record was pruned. */ leaf: unknown; /** Short name of a call that was denied or asked about, for users; absent for other records. */ name?: string | null; /** The event's content (arguments, prompts, outputs); null if it was removed. */ payload: unknown; /** Whether the record was pruned. */ pruned: boolean; /** The bytes that are hashed. */ raw: RawRecord; /** The reply that the harness receives for this decision. It is encoded again from the record. */ reply: HarnessReply | null; /** Number of the record. */ seq: number; /** Whether this decision did not reach the harness, because the hook had timed out and decided without the daemon.
A later record of the same event contains the decision that the harness received. */ undelivered: boolean };

/** Statistics for the matching records and for the whole ledger. */
export type LedgerStats = { /** Size of the ledger's files, in bytes. */ bytes_on_disk: number; /** Number of records by day and verdict. */ days: DayCount[]; /** Number of erased payloads. */ erased: number; /** Time of the first record. */ first: Timestamp | null; /** Number of records by harness. */ harnesses: { [key: string]: number }; /** Size of SQLite's journal in bytes. `bytes_on_disk` includes it. The journal is emptied while the ledger is
idle. */ journal_bytes: number; /** Number of records by kind. */ kinds: { [key: string]: number }; /** Time of the last record. */ last: Timestamp | null; /** Number of matching records. */ leaves: number; /** Size of the payloads, in bytes. */ payload_bytes: number; /** Number of payloads. */ payloads: number; /** Number of pruned records. */ pruned: number; /** Number of records by rule. */ rules: { [key: string]: number }; /** Number of sessions. */ sessions: number; /** Number of records covered by a checkpoint. */ signed: number; /** Total number of records in the ledger. */ size: number; /** Decisions made by hooks without the daemon. */ spool: SpoolCounts; /** Number of records by tool. */ tools: { [key: string]: number }; /** Number of records by verdict. */ verdicts: { [key: string]: number } };

/** Data of one event in the live stream. The event's name determines the type. */
export type LiveEvent = DecisionLine | SessionSummary | ApprovalList | GenerationChange | VerificationStatus | LiveWarning | LiveHello | MissedEvents;

/** First event in the live stream. */
export type LiveHello = { /** Identifier of the rules and hooks in force. */ generation: string; /** Version of the daemon. */ version: string };

/** A warning for the user. */
export type LiveWarning = { /** The call whose answer did not reach the hook program. */ call?: UndeliveredCall | null; /** The harness's own name for the event. */ event?: string | null; /** Id of the harness. */ harness?: string | null; /** Id of the hook. */ hook?: string | null; /** Files that changed and cannot be read; their previous content is in force. */ stale?: FileProblem[] | null; /** What happened, in one sentence. */ what: string; /** Why it happened. */ why?: string | null; /** The harness whose settings changed. */ wiring?: UnwiredHarness | null };

/** A process that is marked as a guarded agent. */
export type MarkedAgent = { /** Id of the boot during which the process was marked. */ boot?: string | null; /** Harness that the process identified itself as. */ harness: string; /** Name of the process. */ name: string; /** Pid namespace that `pid` belongs to. */ namespace?: number | null; /** Process id; 0 if the process is in a pid namespace that the daemon cannot see. */ pid: number; /** Start time in clock ticks since boot. */ start: number };

/** Processes that are marked as guarded agents. */
export type MarkedAgentList = { /** The marked processes. */ agents: MarkedAgent[] };

/** An MCP tool: its server, and the tool's name on that server. */
export type Mcp = { /** Other ways to split the harness's name for the tool; empty if server and tool are certain. */ also?: McpName[]; /** Name of the server, as configured in the harness; empty if the harness does not report it. */ server: string; /** Name of the tool, as the server defines it. */ tool: string };

/** One way to split a harness's name for an MCP tool. */
export type McpName = { /** Name of the server. */ server: string; /** Name of the tool. */ tool: string };

/** How a modification is combined with the existing value. */
export type Merge = "replace" | "shallow" | "deep";

/** Tells a slow reader how many events it missed. */
export type MissedEvents = { /** Number of missed events. */ missed: number };

/** Why content is missing. */
export type MissingContent = "erased" | "too-large";

/** Why a diff is missing or incomplete. */
export type MissingDiff = "erased" | "too-large" | "pruned" | "not-yet" | "unknown" | "before-unknown";

/** Request to set the enforcement mode. */
export type ModeRequest = { /** For `monitor`: seconds after which rules are enforced again. At most seven days. */ for_s?: number | null; /** The mode to set. */ mode: EnforcementMode; /** Proof that a user sends the request; required for `monitor`. */ proof?: AuthorityProof };

/** The enforcement mode. */
export type ModeState = { /** Whether the request changed the mode; absent if the request only read it. */ changed?: boolean | null; /** The current mode. */ mode: EnforcementMode; /** When monitor mode ends by itself; absent without a time limit. */ until?: Timestamp | null };

/** One modification. Modifications are applied in priority order, lower numbers first. If two change the same value,
the last one applies. */
export type Modification = { /** How `value` is combined with the requested arguments. */ merge: Merge; of: "tool-input"; /** The new arguments. */ value: unknown } | { of: "tool-output"; /** The new output. */ value: unknown } | { /** How `value` is combined with the request. */ merge: Merge; of: "model-request"; /** The new fields. */ value: unknown } | { /** How `value` is combined with the response, if there is one. */ merge: Merge; of: "model-response"; /** The new fields. */ value: unknown } | { /** Names of the tools that may be called; empty for no restriction by name. */ allowed: string[]; /** Whether the model may, must or must not call a tool. */ mode: SelectionMode; of: "tool-selection" };

/** Number of decisions for one rule, harness or tool. */
export type NamedCounts = { /** Number of decisions. */ counts: DecisionCounts; /** Name of the rule, harness or tool. */ name: string };

/** Where a finding comes from. */
export type Origin = string;

/** All findings about one event, combined into one answer. Each part names the hook or rule that produced it. */
export type Outcome = { /** Additional texts for the model. */ context?: Said[]; /** Decision about the tool call, prompt or other action. */ decision: Decision; /** Whether the agent may continue. */ flow: Flow; /** Messages for the user. */ messages?: Said[]; /** Modifications, in the order in which they are applied. */ modifications?: Said2[]; /** Suggestions of what the agent could do instead; present only if the action is denied. */ nudges?: Said[]; /** Reasons given by the findings whose decision applies. */ reasons?: Said[]; /** tool-error: delay in milliseconds after which the tool should be called again. */ retry_ms?: number | null; /** Whether the output is hidden from the user. */ suppress_output?: boolean; /** The tool input after all modifications; absent if it is unchanged. */ tool_input?: unknown; /** The hooks and rules that took part, and the result of each. */ trace?: Step[] };

/** How a file was changed outside the session, from least to most certain. */
export type OutsideChange = "command" | "person" | "unseen";

/** Request with the private key's passphrase. */
export type PassphraseRequest = { /** The private key's passphrase. */ passphrase: string; /** Proof that a user sends the request. */ proof?: AuthorityProof };

/** Result of a policy change. */
export type PolicyChanged = { /** Value to send in the `If-Match` header of the next change. */ etag: string; /** Identifier of the rules and hooks in force. */ generation: string; /** Result of checking the new text. */ validation: PolicyValidation };

/** A source of rules. */
export type PolicyLayer = { /** Who the rules come from. */ layer: RuleLayer; /** Name of the rule pack. */ pack: string | null; /** File that contains the rules. */ source: string; /** Whether the source is trusted, and if not, why. */ standing: string; /** Whether rules from this source may allow calls. */ trusted: boolean };

/** Request to replace the text of the user's policy. */
export type PolicyRequest = { /** Proof that a user sends the request. */ proof?: AuthorityProof; /** The complete new text, in YAML. */ text: string };

/** A policy file's text. */
export type PolicyText = { /** Value to send in the `If-Match` header of a change. */ etag: string; /** Path of the file. */ path: string; /** The text; null if the file does not exist. */ text: string | null };

/** Result of checking a policy. */
export type PolicyValidation = { /** Whether every entry of the policy can be used. */ ok: boolean; /** Rules that cannot be used. */ problems: FileProblem[]; /** Ids of the policy's rules. */ rules: string[]; /** Problems that do not prevent a rule from being used. */ warnings: FileProblem[] };

/** The rules in force. */
export type PolicyView = { /** Identifier of the rules and hooks in force. */ generation: string; /** Sources of rules. */ layers: PolicyLayer[]; /** The user's own policy. */ own: PolicyText; /** Rules, hooks and settings that cannot be used. */ problems: FileProblem[]; /** All rules, with their state. */ rules: RuleView[]; /** Files that changed and cannot be read; their previous content is in force. */ stale: FileProblem[]; /** Problems that do not prevent a rule from being used. */ warnings: FileProblem[] };

/** A program in a file with descriptions. */
export type ProgramDescription = { /** Number of examples, which were all tested. */ examples: number; /** Line of the description. */ line: number; /** Names of the program. */ names: string[]; /** Whether the description replaces the built-in one. */ replaces: boolean };

/** A file that describes programs. */
export type ProgramFile = { /** Who the file comes from. */ layer: RuleLayer; /** Programs that the file describes. */ programs: ProgramDescription[]; /** Path of the file. */ source: string };

/** The programs whose arguments rules understand. */
export type ProgramList = { /** Names of the programs with a built-in description. */ builtin: string[]; /** Files with descriptions of the user, the organisation or the project. */ files: ProgramFile[]; /** Problems in these files. */ problems: FileProblem[] };

/** Text of a prompt. */
export type PromptText = { /** Why the text is missing. */ gone: MissingContent | null; /** Text of the prompt. */ text: string | null };

/** A request that contains only a proof. */
export type ProofRequest = { /** Proof that a user sends the request. */ proof?: AuthorityProof };

/** Request to prune records: exactly one of `to` and `before`. */
export type PruneRequest = { /** Prunes the records older than this day or time. */ before?: string | null; /** Whether records that the fleet of this machine has not acknowledged may be removed. */ force?: boolean; /** Proof that a user sends the request. */ proof?: AuthorityProof; /** Reason to store in the record of the removal. */ reason: string; /** Number of the last record to prune. */ to?: number | null };

/** The hashed bytes of a record, as text. */
export type RawRecord = { /** The envelope as JSON text. */ leaf: string | null; /** The payload as JSON text. */ payload: string | null; /** Salt of the payload hash, in hexadecimal. */ salt: string | null };

/** Kind of a record. */
export type RecordKind = "start" | "decision" | "seen" | "change" | "erase" | "rotate" | "prune";

/** Number and time of a record. */
export type RecordPosition = { /** Number of the record. */ seq: number; /** Time of the event. */ ts: Timestamp };

/** A registered hook. Headers and environment variables are left out because they may contain secrets. */
export type RegisteredHook = { /** Whether the hook only observes. Calls do not wait for such a hook. */ async: boolean; /** Chain that the hook belongs to. Hooks in a chain run one after another. */ chain: string | null; /** Format of the hook's input and output. */ dialect: string | null; /** Whether the hook is enabled. */ enabled: boolean; /** What happens if the hook fails. */ fail: HookFailMode; /** Id of the hook. */ id: string; /** Events for which the hook runs. */ on: EventKind[]; /** Position in the order of hooks; lower numbers run first. */ priority: number; /** Why the hook cannot run, such as a script that does not exist. */ problem: FileProblem | null; /** What is executed when the hook is called. */ runs: HookRunner; /** Maximum run time, in milliseconds. */ timeout_ms: number; /** Condition that must be true for the hook to run. */ when: string | null };

/** Range of records whose content was removed. */
export type RemovedRecords = { /** Number of the first record. */ from: number; /** Number of the record that documents the removal. */ leaf: number | null; /** Number of the last record; null if nothing was removed. */ to: number | null };

/** Kind of proof that a caller needs. */
export type RequiredProof = "code" | "tty" | "nothing";

/** What a restore does with an item. */
export type RestoreItemAction = "create" | "replace" | "conflict" | "blocked";

/** What a restore of a snapshot would do. */
export type RestorePreview = { /** Number of items that were changed after the call. They are replaced only with `force`. */ conflicts: number; /** Paths and git refs that differ from the snapshot. At most 1000. */ items: RestoreStep[]; /** Number of further items, which are not listed. */ more_items: number; /** Number of items that a restore creates or replaces. */ restorable: number; /** Snapshot that would be restored. */ snapshot: CallSnapshot; /** Number of items that are as they were. */ unchanged: number };

/** Request to restore a snapshot. */
export type RestoreRequest = { /** Also replace items that were changed after the call. They are saved in another snapshot first. */ force?: boolean; /** Restore only these files and directories. Relative paths are relative to the project. */ paths?: string[]; /** Proof that a user sends the request; needed if `force` replaces something. */ proof?: AuthorityProof };

/** Result of a restore. */
export type RestoreResult = { /** Id of the snapshot. */ id: string; /** Items that were left as they are. At most 1000. */ left: RestoreStep[]; /** Number of further items that were left, which are not listed. */ more_left: number; /** Number of items that were created or replaced. */ restored: number; /** Id of the snapshot of the replaced items; null if nothing was replaced. Restoring it undoes the restore. */ saved: string | null };

/** What a restore does with one path or git ref. */
export type RestoreStep = { /** What a restore does. */ action: RestoreItemAction; /** Name of the git ref; null for files. */ git_ref: string | null; /** Absolute path of the file, or of the repository if this is a ref. Bytes that are not UTF-8 are replaced. */ path: string; /** Why the item is not restored, for `conflict` and `blocked`. */ reason: string | null };

/** New retention limits. A limit that is absent removes nothing. */
export type RetentionRequest = { /** Maximum age in days or weeks, such as `90d` or `12w`. */ max_age?: string | null; /** Maximum size, such as `500MB` or `2GB`. */ max_size?: string | null; /** Proof that a user sends the request; required if the new limits remove records earlier than before. */ proof?: AuthorityProof };

/** One removal of records by retention. */
export type RetentionRun = { /** When the removal ended. */ ended: Timestamp; /** Error that ended the removal early. */ error: string | null; /** Number of removed records. */ removed: number };

/** Retention limits. A limit that is null removes nothing. */
export type RetentionSetting = { /** Maximum age of records in days, such as `90d`. Older records are removed. */ max_age: string | null; /** Maximum size of the records' content, such as `2GB`. The oldest records are removed first. */ max_size: string | null };

/** How long records are kept. */
export type RetentionStatus = { /** The limits in effect: for each limit, the longer of the configured and the authorized value. */ applied: RetentionSetting; /** The limits that a user authorized last. */ authorized: RetentionSetting; /** The limits in the settings file. */ configured: RetentionSetting; /** The last removal; null if nothing has been removed since the daemon started. */ last_run: RetentionRun | null; /** Why the configured limits are not in effect. */ problem: string | null };

/** Result of a key rotation. */
export type RotatedKey = { /** The checkpoint signed by the old and the new key. */ checkpoint: string; /** The new public key, valid from now on. */ key: string };

/** A drafted rule, and the user's policy before and after adding it. */
export type RuleDraft = { /** The user's policy without the rule. */ before: string; /** Value to send in the `If-Match` header of the change. */ etag: string; /** Ids of the drafted rules. */ ids: string[]; /** The rule's fields; null if the rule was drafted from a template. */ rule: unknown; /** The user's policy with the rule; null if the rule cannot be used. */ text: string | null; /** Result of checking the policy with the rule. */ validation: PolicyValidation; /** The rule as a YAML list item. */ yaml: string };

/** What a rule should do with calls like a recorded one. */
export type RuleDraftGoal = "block" | "allow";

/** What to draft a rule from: `seq` and `want`, or `template`, or `rule`. */
export type RuleDraftRequest = { /** The rule's fields, as in a rule file. */ rule?: unknown; /** Number of the record of a decision. */ seq?: number | null; /** Name of the template. */ template?: string | null; /** What the rule should do with calls like the recorded one. */ want?: RuleDraftGoal | null };

/** Number of decisions that a rule would change. */
export type RuleEffect = { /** Number of decisions that become less strict. */ looser: number; /** Number of decisions that become stricter. */ stricter: number };

/** Result for one rule. */
export type RuleExplanation = { /** Whether the rule's verdict applies: the rule is enforced, has not expired and is not overridden. */ counts: boolean; /** Whether the rule matches. */ matched: boolean; /** Id of the rule. */ rule: string; /** The rule's verdict. */ verdict: Decision; /** What the rule matched on, or which condition failed first. If the verdict does not apply, also the reason for
that. */ why: string };

/** Who a rule comes from. */
export type RuleLayer = "baseline" | "organisation" | "user" | "project";

/** A rule pack. */
export type RulePack = { /** Where the rule pack was added from; null for a built-in rule pack. */ from: string | null; /** Name of the rule pack. */ name: string; /** Whether the rule pack is enabled. */ on: boolean; /** Number of rules in the rule pack; null for an added rule pack. */ rules: number | null; /** Purpose of the rule pack; null for an added rule pack. */ title: string | null };

/** All rule packs. */
export type RulePackList = { /** Names of the rule packs and ids of the rules that are disabled. */ disabled: string[]; /** The rule packs. */ packs: RulePack[] };

/** How bad it would be if the guarded action happened. */
export type RuleSeverity = "low" | "medium" | "high" | "critical";

/** Request to enable or disable a rule pack or rule. */
export type RuleSwitchRequest = { /** Name of the rule pack or id of the rule. */ name: string; /** Whether to enable it. */ on: boolean; /** Proof that a user sends the request; required to disable. */ proof?: AuthorityProof };

/** A rule with its state. */
export type RuleView = { /** Purpose of the rule. */ description: string; /** Whether the rule is disabled. */ disabled: boolean; /** Whether the rule has expired. */ expired: boolean; /** When the rule expires. */ expires: Timestamp | null; /** Id of the rule. */ id: string; /** Who the rule comes from. */ layer: RuleLayer; /** Line in the file. */ line: number; /** Whether the rule is locked: it cannot be disabled or overridden. */ locked: boolean; /** Whether the rule is enforced. */ mode: EnforcementMode; /** Suggestion shown to the model. */ nudge: string | null; /** Ids of the rules that this rule overrides. */ overrides: string[]; /** Reason shown to the model. */ reason: string | null; /** How bad it would be if the guarded action happened. */ severity: RuleSeverity; /** File that contains the rule. */ source: string; /** The rule's verdict. */ verdict: Decision };

/** A run that its supervisor registers. All processes of the run count as a guarded agent. */
export type RunRegistration = { /** The program of the run, for users. */ command: string; /** Working directory of the run. */ cwd?: string | null; /** Id of the harness, if the run is a known agent. */ harness?: string | null; /** Id of the run, chosen by the supervisor. Registering it again changes nothing. */ id: EventId; /** Process id of the run's first process, as the daemon sees it. It must descend from the caller. */ init_pid: number; /** How the run is confined. */ level: SandboxLevel; /** Root of the project. */ project?: string | null };

/** A value together with the hook or rule that produced it. */
export type Said = { /** The hook or rule that produced the value. */ by: Origin; /** The reason, suggestion, text or modification. */ said: string };

/** A value together with the hook or rule that produced it. */
export type Said2 = { /** The hook or rule that produced the value. */ by: Origin; /** The reason, suggestion, text or modification. */ said: Modification };

/** A sample's tool call. */
export type SampleTool = { /** Arguments of the tool. */ args?: unknown; /** Name of the tool. */ name: string };

/** How strongly a run of an agent is confined by the operating system. */
export type SandboxLevel = "hooks" | "landlock" | "namespaces-landlock";

/** A sandboxed run that has not ended. */
export type SandboxedRun = { /** The program of the run. */ command: string; /** Id of the harness, if the run is a known agent. */ harness: string | null; /** Id of the run. */ id: EventId; /** Process id of the run's first process. */ init_pid: number; /** How the run is confined. */ level: SandboxLevel; /** Id of the newest session whose hooks were called from inside the run. */ session: string | null; /** When the run was registered. */ since: Timestamp; /** Process id of the supervisor. */ supervisor_pid: number };

/** List of the sandboxed runs. */
export type SandboxedRunList = { /** The runs, oldest first. */ runs: SandboxedRun[] };

/** Whether the model may call tools. */
export type SelectionMode = "auto" | "any" | "none";

/** State of a session. */
export type SessionActivity = "active" | "waiting" | "idle" | "ended";

/** Result of comparing the session of an event with the process that sent it. */
export type SessionCheck = "unverified" | "resumed";

/** A session with all its details. */
export type SessionDetails = { /** Subagents of the session. */ agents: SubagentSummary[]; /** Calls that a user was asked about. */ asks: DeniedCall[]; /** Calls of all tools by result. */ calls: ToolCounts; /** All changed files, in the order of their first change. */ changed_files: ChangedFile[]; /** All file changes, oldest first. */ changes: FileChange[]; /** Working directory of the agent. */ cwd: string | null; /** Calls that were denied. */ denials: DeniedCall[]; /** Number of denials, by what the agent did next. */ denied: DenialCounts; /** Time between the first and the last event, in milliseconds. */ duration_ms: number; /** Why the session ended, in the harness's words. */ end_reason: string | null; /** When the session ended. */ ended: Timestamp | null; /** Number of events whose content is missing because it was erased or too large to be recorded. */ erased: number; /** Number of events. */ events: number; /** Number of files by kind of access. */ files: FileCounts; /** Id of the harness. */ harness: string; /** The harness's id for the session. */ id: string; /** Labels that rules set; absent if no daemon is running. */ labels?: string[] | null; /** Time of the last event. */ last: Timestamp; /** Kind of the last event. */ last_event: EventKind; /** The last prompt. */ last_prompt: string | null; /** Number of the latest record. */ last_seq: number; /** Name of the model. */ model: string | null; /** Root directory of the project. */ project: string | null; /** The last prompts. */ prompt_texts: SessionPrompt[]; /** Number of prompts. */ prompts: number; /** Snapshots of calls that can be undone, newest first. */ snapshots: SessionSnapshot[]; /** Time of the first event. */ started: Timestamp; /** State of the session. */ state: SessionActivity; /** Number of subagents. */ subagents: number; /** First line of the first prompt; null if there was no prompt or it was erased. */ title: string | null; /** The to-do list. */ todo_items: TodoItem[]; /** Progress of the to-do list. */ todos: TodoProgress; /** Number of calls by tool and result. */ tool_results: { [key: string]: ToolCounts }; /** Number of calls by tool. */ tools: { [key: string]: number }; /** All files that were read, written or deleted, sorted by path. */ touched: TouchedFile[]; /** The harness's id for the current turn. */ turn: string | null; /** Number of events whose sender could not be verified as a process of this session. */ unverified: number; /** Tokens and cost. */ usage: SessionUsage; /** The user whose account runs the agent. */ user: string | null; /** Number of events by verdict. */ verdicts: { [key: string]: number } };

/** A session's changes to one file. */
export type SessionDiff = { /** The changes, oldest first. */ changes: FileDiff[]; /** The file's path, as given in the request. */ path: string };

/** End of a session. */
export type SessionEnd = { /** Why the session ended, in the harness's words. */ reason: string | null };

/** Data of one event in a session stream. The event's name determines the type of the change. */
export type SessionEvent = { /** The record that the event comes from. */ at: RecordPosition; /** Id of the harness. */ harness: string; /** The harness's id for the session. */ session: string } & (FileChange | ToolProgress | DeniedCall | SuggestionProgress | SessionTodos | SubagentSummary | PromptText | SessionEnd | SessionUsage);

/** Files that a session changed. */
export type SessionFiles = { /** All changes, oldest first. */ changes: FileChange[]; /** All changed files, in the order of their first change. */ files: ChangedFile[]; /** Number of files that are not listed, plus the number of calls whose files are unknown. */ left_out: number };

/** A page of sessions, latest first. */
export type SessionList = { /** Number of matching sessions on all pages. */ all: number; /** Value of `after` that requests the next page. */ next: string | null; /** The sessions on this page. */ sessions: SessionSummary[] };

/** A prompt in a session. */
export type SessionPrompt = { /** Why the text is missing. */ gone?: MissingContent | null; /** Number of the record. */ seq: number; /** Text of the prompt. */ text: string | null; /** Time of the prompt. */ ts: Timestamp };

/** What a call would have lost, saved for `tenterhook undo`. */
export type SessionSnapshot = { /** Bytes that the snapshot keeps in use. */ bytes: number; /** Number of files, links and directories. */ entries: number; /** Id of the call's event; null if it is unknown. */ event: string | null; /** Id of the snapshot; `tenterhook undo ID` restores it. */ id: string; /** Ids of the rules that matched. */ reason: string; /** Time of the snapshot. */ taken: Timestamp };

/** A session's summary. */
export type SessionSummary = { /** Calls of all tools by result. */ calls: ToolCounts; /** Working directory of the agent. */ cwd: string | null; /** Number of denials, by what the agent did next. */ denied: DenialCounts; /** Time between the first and the last event, in milliseconds. */ duration_ms: number; /** Why the session ended, in the harness's words. */ end_reason: string | null; /** When the session ended. */ ended: Timestamp | null; /** Number of events whose content is missing because it was erased or too large to be recorded. */ erased: number; /** Number of events. */ events: number; /** Number of files by kind of access. */ files: FileCounts; /** Id of the harness. */ harness: string; /** The harness's id for the session. */ id: string; /** Time of the last event. */ last: Timestamp; /** Kind of the last event. */ last_event: EventKind; /** The last prompt. */ last_prompt: string | null; /** Number of the latest record. */ last_seq: number; /** Name of the model. */ model: string | null; /** Root directory of the project. */ project: string | null; /** Number of prompts. */ prompts: number; /** Time of the first event. */ started: Timestamp; /** State of the session. */ state: SessionActivity; /** Number of subagents. */ subagents: number; /** First line of the first prompt; null if there was no prompt or it was erased. */ title: string | null; /** Progress of the to-do list. */ todos: TodoProgress; /** Number of calls by tool. */ tools: { [key: string]: number }; /** The harness's id for the current turn. */ turn: string | null; /** Number of events whose sender could not be verified as a process of this session. */ unverified: number; /** Tokens and cost. */ usage: SessionUsage; /** The user whose account runs the agent. */ user: string | null; /** Number of events by verdict. */ verdicts: { [key: string]: number } };

/** A session's to-do list. */
export type SessionTodos = { /** Number of items. */ all: number; /** Number of completed items. */ completed: number; /** Number of items in progress. */ in_progress: number; /** The items; null if they are unknown. */ items: TodoItem[] | null; /** Number of all other items. */ pending: number; /** Completed items out of all items, such as `3/7`. */ progress: string };

/** Tokens and cost, read from payloads and transcripts. Nothing is estimated; unknown values are absent. */
export type SessionUsage = { /** Number of answers that reported their token counts. */ answers?: number; /** Number of tokens read from the cache. */ cache_read_tokens?: number; /** Number of tokens written to the cache. */ cache_write_tokens?: number; /** Maximum context size of the model, in tokens. */ context_limit?: number | null; /** Fraction of the context in use, from 0 to 1. */ context_share?: number | null; /** Size of the context at the model's last answer, in tokens. */ context_tokens?: number | null; /** Cost in US dollars of the answers from models with a known price. */ cost_usd?: number | null; /** Number of input tokens, without cached tokens. */ input_tokens?: number; /** Number of output tokens. */ output_tokens?: number; /** Number of answers from models without a known price. */ unpriced?: number };

/** An answer to an approval that an approver of the fleet signed. */
export type SignedApprovalAnswer = { /** Id of the approval. */ approval: string; /** Name of the approver's key. */ approver: string; /** The decision: `allow` or `deny`. */ decision: string; /** Digest of the call as it was shown to the approver, in hexadecimal. */ digest: string; /** The machine that asked. */ machine: string; /** Time after which the answer is not valid, in Unix seconds. */ not_after: number; /** Signature of the approver's key, in base 64. */ signature: string };

/** A checkpoint signed on request. */
export type SignedCheckpoint = { /** The signed note. */ checkpoint: string };

/** The key that signs the ledger. */
export type SigningKeyInfo = { /** Path of the private key file. */ file: string; /** Id of the key. */ id: string; /** The public key. */ key: string; /** Whether the private key is encrypted under a passphrase. */ sealed: boolean };

/** Counts of decisions made by hooks without the daemon. */
export type SpoolCounts = { /** Number of spool files that cannot be read. */ refused: number; /** Number of decisions that wait to be imported into the ledger. */ waiting: number };

/** Result of running one hook or evaluating one rule. */
export type Status = "ran" | "matched" | "monitored" | "overridden" | "expired" | "timed-out" | "failed" | "skipped" | "detached";

/** One hook or rule that took part in a decision. */
export type Step = { /** The hook or rule. */ by: Origin; /** Decision of the hook or rule; `none` if there is none. */ decision?: Decision; /** Details, such as an error, an exit code, or why the hook or rule was skipped. */ note?: string | null; /** Result of running the hook or evaluating the rule. */ status: Status; /** Run time in microseconds. */ took_us?: number };

/** A subagent in a session. */
export type SubagentSummary = { /** Number of tool calls that were denied. */ denied: number; /** When the subagent ended. */ ended?: Timestamp | null; /** Number of events. */ events: number; /** Number of tool calls that failed. */ failed: number; /** Id of the subagent. */ id: string; /** The agent that started this subagent; absent if the session's main agent started it. */ parent?: string | null; /** Time of the subagent's first event. */ started: Timestamp; /** Number of tokens that the harness reports when the subagent ends. */ tokens?: number | null; /** Number of tool calls. */ tools: number; /** Type of the subagent. */ type?: string | null };

/** What the agent did in its next call after a denial. */
export type SuggestionProgress = { /** Number of the denial's record. */ denied: number; /** What the agent did in its next call. */ hint: SuggestionResult };

/** What the agent did in its next call after a denial. */
export type SuggestionResult = "open" | "taken" | "other" | "repeated";

/** A hook package or a rule to start from. */
export type TemplateInfo = { /** What the template does, in a few sentences. */ about: string; /** Contents of the template's files. */ files: { [key: string]: string }; /** Whether the template creates a hook package or a rule. */ kind: TemplateKind; /** Programming language; `rules` for a rule. */ language: string; /** Name of the template. */ name: string; /** Programs that the hooks need; null for a rule. */ needs: string[] | null; /** Events to test the hooks with; null for a rule. */ samples: HookSample[] | null; /** Keywords for searching. */ tags: string[]; /** What the template does, in a few words. */ title: string };

/** What a template creates. */
export type TemplateKind = "hook" | "rule";

/** All available templates. */
export type TemplateList = { /** Templates with their files. */ templates: TemplateInfo[] };

/** A page of a session's steps, oldest first. */
export type Timeline = { /** Value of `before` that requests the next page. */ next: number | null; /** The steps on this page. */ steps: TimelineStep[] };

/** One record in a session. */
export type TimelineStep = { /** The agent that acted. */ agent: Agent | null; /** What decided: a rule id or `hook:<id>`. */ by: string | null; /** Whether the content was erased. */ erased: boolean; /** Kind of the event. */ event: string | null; /** Id of the event. */ id: string | null; /** The harness's own name for the event. */ native_event: string | null; /** Suggestion shown to the model. */ nudge: string | null; /** Whether the record was pruned. */ pruned: boolean; /** Run time of the tool, in milliseconds. */ ran_ms: number | null; /** Reason shown to the model. */ reason: string | null; /** Id of the rule that decided. */ rule: string | null; /** Text of the prompt, response, message or error. */ said: string | null; /** Number of the record. */ seq: number; /** Result of checking whether the calling process belongs to the session. */ session_check: SessionCheck | null; /** Time that the decision took, in microseconds. */ took_us: number | null; /** The tool call. */ tool: ToolGist | null; /** The harness's id for the tool call. */ tool_use_id: string | null; /** Time of the event. */ ts: Timestamp | null; /** The harness's id for the turn. */ turn: string | null; /** Whether this decision did not reach the harness, because the hook had timed out and decided without the daemon.
A later step of the same event contains the decision that the harness received. */ undelivered: boolean; /** Verdict of the decision. */ verdict: string | null };

/** A point in time with millisecond precision, written as `2026-11-15T08:00:00.000Z`. */
export type Timestamp = string;

/** An item of a to-do list. */
export type TodoItem = { /** Text shown while the item is in progress. */ active_form?: string | null; /** The harness's id for the item. */ id?: string | null; /** `pending`, `in_progress`, `completed`, `cancelled`, or the harness's own word. */ status: string; /** Text of the item. */ text: string };

/** Progress of a to-do list. */
export type TodoProgress = { /** Number of items. */ all: number; /** Number of completed items. */ completed: number; /** Number of items in progress. */ in_progress: number; /** Number of all other items. */ pending: number; /** Completed items out of all items, such as `3/7`. */ progress: string };

/** A tool call: the tool's native name, its class, and the arguments as the harness sent them. */
export type ToolCall = { /** The arguments, as the harness sent them. */ args: unknown; /** Class of the tool. */ class: ToolClass; /** Server and tool name, if the tool belongs to an MCP server. */ mcp?: Mcp | null; /** The harness's name for the tool. */ name: string };

/** A tool call, a prompt, or several other records. */
export type ToolCallRow = { /** What decided: a rule id or `hook:<id>`. */ by: string | null; /** Kind of the event. */ event: string | null; /** Records that are not tool calls; absent in the row of a call. */ folded?: FoldedRecords | null; /** Id of the harness. */ harness: string | null; /** Kind of the record. */ kind: string | null; /** Whether the record was pruned. */ pruned: boolean; /** Reason shown to the model. */ reason: string | null; /** Result of the call; absent if the call was denied or its result is not known. */ result?: ToolRunResult | null; /** Whether the decision changed the arguments of the call. */ rewritten?: boolean; /** Id of the rule that decided. */ rule: string | null; /** Text of the prompt, response, message or error. */ said: string | null; /** Number of the record. */ seq: number; /** Id of the session. */ session: string | null; /** Time that the decision took, in microseconds. */ took_us: number | null; /** The tool call. */ tool: ToolGist | null; /** The harness's id for the call. */ tool_use_id?: string | null; /** Time of the event. */ ts: Timestamp | null; /** Verdict of the decision. */ verdict: string | null; /** Name of the change, in a record of kind `change`. */ what: string | null; /** Who made the change. */ who: string | null };

/** State of a tool call. */
export type ToolCallState = "asked" | "done" | "failed" | "denied";

/** What a tool does, independent of its name in a harness. */
export type ToolClass = "shell" | "read" | "write" | "edit" | "patch" | "search" | "fetch" | "mcp" | "agent" | "todo" | "other";

/** Number of tool calls by result. */
export type ToolCounts = { /** Number of calls that a user was asked about. */ asked: number; /** Number of all calls, including denied ones. */ calls: number; /** Number of calls that were denied. */ denied: number; /** Number of calls that failed. */ failed: number; /** Number of calls that succeeded. */ ok: number };

/** A one-line summary of a tool call. */
export type ToolGist = { /** What the tool does. */ class: ToolClass; /** The command, path or URL; null if it is unknown. */ gist: string | null; /** Name of the tool. */ name: string };

/** State of a tool call. */
export type ToolProgress = { /** The subagent that made the call. */ agent: string | null; /** Why content is missing. */ gone: MissingContent | null; /** Run time of the tool, in milliseconds. */ ran_ms: number | null; /** State of the call. */ state: ToolCallState; /** The tool call, in one line. */ tool: ToolGist; /** The harness's id for the call. */ tool_use_id: string | null; /** The verdict on the call. */ verdict: Decision };

/** Result of a tool call. */
export type ToolRunResult = { /** The error of a call that failed. */ error: string | null; /** Whether the call failed. */ failed: boolean; /** Run time of the tool, in milliseconds. */ ran_ms: number | null; /** Number of the record of the result. */ seq: number };

/** A file that a session read, wrote or deleted. */
export type TouchedFile = { /** Number of deletions. */ deletes: number; /** Path of the file. */ path: string; /** Number of reads. */ reads: number; /** Number of writes. */ writes: number };

/** Token counts and cost of a session from its start up to the event. These are totals, not differences, so an event
that is lost or recorded twice does not make them wrong. */
export type TranscriptUsage = { /** Number of model responses so far. */ answers?: number; /** Tokens read from a prompt cache. */ cache_read_tokens?: number; /** Tokens written to a prompt cache. */ cache_write_tokens?: number; /** Prompt tokens of the latest model response. */ context_tokens?: number | null; /** Cost according to the price table, in millionths of a US dollar. */ cost_microusd?: number; /** Input tokens that are not cached. */ input_tokens?: number; /** Number of output tokens. */ output_tokens?: number; /** The part of the usage that belongs to the latest day. */ today?: DayUsage | null; /** Number of responses from models that are missing from the price table. */ unpriced_answers?: number; /** Number of tokens in these unpriced responses. */ unpriced_tokens?: number };

/** A call whose answer did not reach the hook program. */
export type UndeliveredCall = { /** The harness's own name for the event. */ event: string; /** Id of the harness. */ harness: string; /** Id of the event. */ id: EventId; /** Whether the tool ran anyway. */ ran: boolean; /** Id of the session. */ session: string | null; /** Name of the tool. */ tool: string | null; /** Time of the event. */ ts: Timestamp };

/** Calls since the daemon started whose answer did not reach the hook program. */
export type UndeliveredCalls = { /** Number of calls. */ count: number; /** Number of these calls whose tool ran anyway. */ ran: number; /** The last five such calls, newest first. */ recent: UndeliveredCall[] };

/** A harness whose settings no longer contain Tenterhook's hooks. */
export type UnwiredHarness = { /** Id of the harness. */ harness: string; /** Path of the settings file. */ settings: string };

/** Result of a verification. The value of `verified` selects the variant. */
export type VerificationResult = IntactLedger | DamagedLedger;

/** Progress or result of a verification. */
export type VerificationStatus = { /** Number of records checked so far. */ checked: number; /** When the verification ended. */ ended: Timestamp | null; /** Total number of records to check. */ of: number | null; /** Result of the verification. */ result: VerificationResult | null; /** Whether the verification is still running. */ running: boolean; /** When the verification started. */ started: Timestamp };

/** Expectations that a verification compares the ledger with. */
export type VerifyRequest = { /** A public key that must have signed the ledger. */ key?: string | null; /** An earlier checkpoint, which the ledger must extend. */ since?: string | null };

/** A rule as it is written in its file. */
export type WrittenRule = { /** What happens if a match is not certain, in Markdown. */ certainty: string[]; /** Calls that the rule denies or asks about, in Markdown. */ dangerous: string[]; /** Calls that the rule does not match, in Markdown. */ harmless: string[]; /** Id of the rule. */ id: string; /** Line in the file. */ line: number; /** What the rule matches, in Markdown: one line for each alternative. */ matches: string[]; /** File that contains the rule. */ source: string; /** The rule's lines in the file; null if the file has changed since it was loaded. */ yaml: string | null };

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
  /** Approves or denies a call that waits with an answer that an approver of the fleet signed. The keys of approvers are in the policy bundle in force. Needs the full id. */
  answerApprovalSigned: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: SignedApprovalAnswer;
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
  /** Creates a secret for an authenticator app. It is active after `tenterhook approvals totp verify CODE` in a terminal. Not for agents. */
  beginCodeEnrolment: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: CodeEnrolment;
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
  /** The signed policy of the fleet: its version, its ring, and bundles that were refused. */
  getFleetPolicy: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: FleetPolicyView;
  };
  /** Verifies a signed policy bundle and puts it in force. Its signatures are the proof: any caller may deliver it. */
  putFleetPolicy: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: BundleRequest;
    gives: BundleAccepted;
  };
  /** Replays the ledger with a signed policy bundle in place of the one in force, and returns counts only. Nothing is changed. */
  backtestFleetPolicy: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: BundleRequest;
    gives: BundleCounts;
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
  /** Decisions over time: counts by verdict, decision times, and the rules, harnesses and tools. */
  getActivity: {
    path: undefined;
    query: { buckets?: number; harness?: string; kind?: RecordKind; rule?: string; session?: string; since?: string; text?: string; tool?: string; until?: string; verdict?: Decision };
    headers: undefined;
    body: undefined;
    gives: Activity;
  };
  /** Tool calls that match, newest first, a page at a time: one row for a call, its decision and its result. */
  listCalls: {
    path: undefined;
    query: { before?: number; harness?: string; kind?: RecordKind; limit?: number; rule?: string; session?: string; show?: CallSelection; since?: string; text?: string; tool?: string; until?: string; verdict?: Decision };
    headers: undefined;
    body: undefined;
    gives: CallPage;
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
  /** The programs whose arguments rules understand: built-in ones, and the files that describe others. */
  listPrograms: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: ProgramList;
  };
  /** A rule as it is written in its file, and in words: what it matches, and its examples. */
  getRuleText: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: WrittenRule;
  };
  /** Checks a text as the user's policy and returns every problem with its position. Nothing is changed. */
  validatePolicy: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: string;
    gives: PolicyValidation;
  };
  /** The sandboxed runs that have not ended. */
  listRuns: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: SandboxedRunList;
  };
  /** Registers a sandboxed run that the caller supervises: its processes are a guarded agent from now on. Over the socket only, for the account of the daemon, and not for agents. */
  registerRun: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: RunRegistration;
    gives: SandboxedRun;
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
  /** What calls would have lost, saved before they ran: the newest first. */
  listSnapshots: {
    path: undefined;
    query: { limit?: number; session?: string };
    headers: undefined;
    body: undefined;
    gives: CallSnapshotList;
  };
  /** What a restore of a snapshot would do. The id is that of the snapshot or of the call's event, or `last`. */
  previewRestore: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: RestorePreview;
  };
  /** Restores a snapshot. What was changed after the call stays as it is, unless `force` is set; `force` then needs a proof of the user. */
  restoreSnapshot: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: RestoreRequest;
    gives: RestoreResult;
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
  answerApprovalSigned: ['POST', '/v1/approvals/{id}/signed'],
  getAuthority: ['GET', '/v1/authority'],
  passAuthority: ['POST', '/v1/authority'],
  listAgents: ['GET', '/v1/authority/agents'],
  forgetAgent: ['POST', '/v1/authority/agents/{pid}/forget'],
  beginCodeEnrolment: ['POST', '/v1/authority/codes'],
  getDashboard: ['GET', '/v1/dashboard'],
  openDashboard: ['POST', '/v1/dashboard'],
  leaveDashboard: ['POST', '/v1/dashboard/leave'],
  linkDashboard: ['POST', '/v1/dashboard/link'],
  judgeEvent: ['POST', '/v1/events'],
  getFleetPolicy: ['GET', '/v1/fleet/policy'],
  putFleetPolicy: ['POST', '/v1/fleet/policy'],
  backtestFleetPolicy: ['POST', '/v1/fleet/policy/backtest'],
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
  getActivity: ['GET', '/v1/ledger/activity'],
  listCalls: ['GET', '/v1/ledger/calls'],
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
  listPrograms: ['GET', '/v1/policy/programs'],
  getRuleText: ['GET', '/v1/policy/rules/{id}'],
  validatePolicy: ['POST', '/v1/policy/validate'],
  listRuns: ['GET', '/v1/runs'],
  registerRun: ['POST', '/v1/runs'],
  listSessions: ['GET', '/v1/sessions'],
  followSessions: ['GET', '/v1/sessions/stream'],
  getSession: ['GET', '/v1/sessions/{id}'],
  getSessionDiff: ['GET', '/v1/sessions/{id}/diff'],
  getSessionFiles: ['GET', '/v1/sessions/{id}/files'],
  followSession: ['GET', '/v1/sessions/{id}/stream'],
  getTimeline: ['GET', '/v1/sessions/{id}/timeline'],
  getSessionTodos: ['GET', '/v1/sessions/{id}/todos'],
  listSnapshots: ['GET', '/v1/snapshots'],
  previewRestore: ['GET', '/v1/snapshots/{id}'],
  restoreSnapshot: ['POST', '/v1/snapshots/{id}/restore'],
  stream: ['GET', '/v1/stream'],
  listTemplates: ['GET', '/v1/templates'],
};
