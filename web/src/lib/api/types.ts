// SPDX-License-Identifier: Apache-2.0 OR MIT

// Generated from docs/reference/openapi.json by scripts/api.mjs (`npm run generate`).

/** Who acts: the model, the person it acts for, and the subagent if there is one. */
export type Agent = { /** The subagent's id. */ id?: string | null; /** The model, as the harness names it. */ model?: string | null; /** The id of the agent that started it. */ parent?: string | null; /** The subagent's type. */ type?: string | null; /** The person whose account runs the agent. */ user?: string | null };

/** JSON of any shape. */
export type Anything = unknown;

export type Approval = { /** all the arguments */ args?: unknown; cwd?: string; /** SHA-256 of everything below but the times: what an approval has to name */ digest: string; event: string; id: string; reasons?: { [key: string]: unknown }[]; session?: string; since: string; source: string; tool?: string; /** then it is denied */ until: string; user?: string; wants: string };

export type ApprovalRequest = { answer: "approve" | "deny"; /** the `digest` of the approval that was shown to the user; required to approve, compared whenever it is given */ digest?: string; for?: "once" | "session" | "rule"; note?: string; proof?: Proof };

export type Approvals = { pending: Approval[] };

export type Approved = { answer: "approve" | "deny"; for?: string; id: string; /** the exception that was written */ rule?: string | null };

export type AuthorityGranted = { action: string; /** by what they passed: code, tty (a terminal that the kernel confirmed), unverified (typed, where the platform confirms no terminals), root or none */ proof: string };

export type AuthorityNeeds = { action: string; /** the caller comes from a guarded agent, or cannot be told from one: only a code counts */ guarded: boolean; needs: "code" | "tty" | "nothing" };

export type AuthorityRequest = { action: string; /** what the leaf says about it */ detail?: unknown; proof?: Proof };

export type Backtest = { by_rule: { [key: string]: { looser: number; stricter: number } }; /** decisions that would be different, oldest first */ differences: { id: string; now: string; now_by?: string; seq: number; was: string; was_by?: string; /** the command, the path, the tool */ what: string }[]; /** what could not be replayed, by the reason */ left_out: { [key: string]: number }; /** events that were judged without the secrets in them */ redacted: number; /** events that were judged */ replayed: number; /** events about which the rules say the same */ same: number; took_ms: number; /** differences that are only counted, because there are too many */ unnamed: number };

export type BacktestRequest = { /** events from then on: 15m, 24h, 7d, 2026-11-15 or 2026-11-15T08:00:00Z */ since?: string; /** the rules that would take the place of the person's own */ text: string; /** events before then */ until?: string };

/** who changed the file behind the agent's back: nobody we heard of, a person in the harness's own dialog, or perhaps a command of the agent; null when nobody did, or nobody can know */
export type Behind = "unseen" | "person" | "command" | null;

export type ChangedFile = { /** lines, as far as calls and results tell */ added: number; behind?: Behind; changes: number; /** the last change deleted it or moved it away */ deleted: boolean; last?: string | null; path: string; removed: number; /** the path from the project */ shown: string; tools: string[] };

export type Checkpoint = { /** the public key that signs */ key?: string | null; /** leaves that there are by now */ leaves: number; /** the signed note (c2sp.org/tlog-checkpoint) */ note: string; /** leaves that it covers */ size: number };

export type Coverage = { ask: "prompt" | "wait" | "never"; context: boolean; deny: "prevents" | "feedback" | "impossible"; event: string; native: string; rewrites: boolean; why?: string | null; wired: "guard" | "watch" | "left" };

export type Dashboard = { /** then another link is needed */ until: string };

export type DashboardEntry = { /** what stands behind `#link=` */ link: string };

export type DashboardKey = { /** what the page shows in `tenterhook-page`, beside the cookie */ key: string };

export type DashboardLink = { until: string; /** opens the dashboard in one browser, once */ url: string };

/** What a session used on one day, by the timestamps in its transcript. */
export type DayUsage = { /** Cost by the price table, in millionths of a US dollar. */ cost_microusd?: number; /** Days since 1970-01-01, in UTC. */ day?: number; /** Tokens of all kinds. */ tokens?: number; /** Tokens of models without a price. */ unpriced_tokens?: number };

export type Decided = { /** who decided: the id of a rule, or `hook:<id>` */ by?: string | null; cwd?: string | null; event: string; generation?: string; harness: string; id: string; model?: string | null; native_event?: string; prompt?: string | null; reason?: string | null; rule?: string | null; seq: number; session?: string | null; took_us: number; tool?: ShownTool; ts: string; verdict: string };

/** A decision about the thing itself. The order is the precedence: the greatest found stands. */
export type Decision = "none" | "allow" | "defer" | "ask" | "deny";

export type Denial = { agent?: string | null; event: string; gist?: string | null; gone?: Gone; /** what the agent's next call did with it */ hint: "open" | "taken" | "other" | "repeated"; nudge?: string | null; reason?: string | null; rule?: string | null; seq: number; tool?: string | null; ts: string };

/** What an event carries beside its tool call. A field is there when the kind has a use for it. */
export type Detail = { /** session-start, session-end, compaction, permission-denied: what brought it about. */ cause?: string | null; /** post-tool, tool-error: how long the tool ran. */ duration_ms?: number | null; /** tool-error: what went wrong. */ error?: string | null; /** notification: the text; compaction: the instructions or the summary. */ message?: string | null; /** pre-model, post-model, tool-selection: the request. */ model_request?: unknown; /** post-model: the answer. */ model_response?: unknown; /** prompt, stop: what the person asked. */ prompt?: string | null; /** stop, subagent-stop: what the agent said last. */ response?: string | null; /** stop, subagent-stop: the agent is already going on because of a hook. */ stop_hook_active?: boolean | null; /** post-tool: what the tool returned, as the harness shapes it. */ tool_output?: unknown; /** The harness has a tool that types into running processes and fires no hook. */ unhooked_stdin?: boolean; /** Tokens and cost of the session so far, from the client's transcript; absent if nothing changed. */ usage?: TranscriptUsage | null };

export type Draft = { /** the person's policy */ before: string; etag: string; ids: string[]; /** the rule in its parts */ rule: { [key: string]: unknown } | null; /** the same with the rule in it; nothing if the rule cannot be used */ text: string | null; validation: Validation; /** the rule as an item of a list */ yaml: string };

export type DraftRequest = { /** a rule in its parts, as in a file of rules */ rule?: { [key: string]: unknown }; /** the leaf of a decision */ seq?: number; template?: string; want?: "block" | "allow" };

export type EraseRequest = { /** the first leaf */ from: number; proof?: Proof; /** why; it is recorded */ reason: string; /** the last one, if there are more */ to?: number };

export type Error = { error: { /** what to do next */ hint?: string; /** what went wrong */ message: string } };

/** The normal form: one event, whatever the harness. */
export type Event = { /** Who acts. */ agent?: Agent; /** Where the agent works. */ cwd?: string | null; /** What else the event carries, by meaning. */ detail?: Detail; /** What kind of event it is. */ event: EventKind; /** The harness's id of the conversation. */ harness_session_id?: string | null; /** Unique id, minted at the door. */ id: EventId; /** The harness's own name for it. */ native_event: string; /** Root of the project the agent works on. */ project?: string | null; /** When it happened by the sender's clock, where the sender says so. `ts` is never the sender's. */ sender_ts?: Timestamp | null; /** What the daemon found when it compared the session with the calling process; absent: the session is the
caller's own, or nothing was compared. */ session_check?: SessionCheck | null; /** The harness it came from: `claude-code`, `codex`, … */ source: string; /** The tool call the event is about. */ tool?: ToolCall | null; /** The harness's id of the tool call. */ tool_use_id?: string | null; /** When the event reached us. */ ts: Timestamp; /** The harness's id of the turn or prompt the event belongs to. */ turn_id?: string | null; /** Version of this form. */ v: number };

/** A ULID: 48 bits of milliseconds, 80 bits of randomness, 26 characters that sort by time. */
export type EventId = string;

/** One point of an agent's life. [`EventKind::ALL`] is the whole table. */
export type EventKind = "session-start" | "session-end" | "prompt" | "pre-model" | "post-model" | "tool-selection" | "pre-tool" | "post-tool" | "tool-error" | "permission-request" | "permission-granted" | "permission-denied" | "subagent-start" | "subagent-stop" | "pre-compact" | "post-compact" | "context-warning" | "notification" | "stop" | "other";

/** one of `event`, `command` and `tool` */
export type ExplainRequest = { /** also rules that do not match, and why not */ all?: boolean; /** a shell command */ command?: string; /** where it would run */ cwd?: string; event?: Event; tool?: { args?: { [key: string]: unknown }; name: string } };

export type Explanation = { /** rules that were looked at */ considered: number; event: Event; facts: { [key: string]: unknown }; generation: string; outcome: Outcome; reason?: string | null; rule?: string | null; rules: { counts: boolean; matched: boolean; rule: string; verdict: string; why: string }[]; /** what a harness would show */ says?: string | null; verdict: string };

export type FileChange = { added?: number | null; /** the subagent that did it */ agent?: string | null; behind?: Behind; gone?: Gone; how: "write" | "edit" | "delete"; path: string; removed?: number | null; /** the leaf of the call */ seq: number; /** the path from the project */ shown: string; /** asked: let through, and nobody said yet what came of it */ state: "asked" | "done" | "failed"; tool: string; tool_use_id?: string | null; ts: string };

/** Whether the agent goes on. */
export type Flow = "go" | ({ stop: { /** What the person is told. */ reason?: string | null } });

export type ForgottenAgent = { name: string; pid: number };

/** why a content is not there; null when it is */
export type Gone = "erased" | "too-large" | null;

export type HarnessPlan = { changed: boolean; diff: string; files?: string[]; harness: string; in_force?: boolean; notes: string[]; pending: string[]; scope?: string; settings?: string | null };

export type HarnessState = { coverage: Coverage[]; directory?: string | null; found: boolean; harness: string; last_heard?: { seq: number; ts: string } | null; notes: string[]; program?: string | null; proved_on: string[]; scopes: string[]; title: string; version?: string | null; wired: "yes" | "no" | "lost" | "unheeded" | "impossible" };

export type Harnesses = { harnesses: HarnessState[] };

export type Health = { answered?: number; generation?: string; /** harnesses with our hooks in their settings, and those that sent an event within ten minutes */ guarded?: string[]; /** versions of the hook programs that called this daemon */ hook_versions?: { calls: number; last: string; version: string }[]; listen?: string | null; mode?: string; ok: boolean; /** calls that wait for a person */ pending?: number; pid?: number; problems?: Problem[]; spool?: Spool; stale?: Problem[]; undelivered?: Undelivered; /** harnesses that were found on this machine and are not guarded */ unguarded?: string[]; /** harnesses whose settings no longer have our hooks in them */ unwired?: { harness?: string; settings?: string }[]; uptime_ms?: number; version: string };

export type Hook = { async: boolean; chain?: string | null; dialect?: string | null; enabled: boolean; fail: "open" | "closed"; id: string; on: string[]; priority: number; /** why the hook cannot run, such as a script that does not exist */ problem?: Problem | null; runs: { command?: string; exec?: string[]; type: "in-process" | "command" | "http"; url?: string }; timeout_ms: number; when?: string | null };

export type HookAnalytics = { hooks: { [key: string]: HookSummary }; minutes: number; now: string };

export type HookNumbers = { /** how often it denied */ blocks: number; calls: number; failures: number; modifications: number; p50_us?: number | null; p95_us?: number | null; p99_us?: number | null; skipped: number; timeouts: number };

export type HookSummary = { all: HookNumbers; last_call: string | null; last_error: { id: string; message: string; ts: string } | null; /** oldest first; minutes in which nothing happened are left out */ minutes: (HookNumbers & { ts: string })[]; recent: HookNumbers };

export type HookTestRequest = { event?: Event; sample?: Sample };

export type HookTested = { /** whether the hook is for such an event */ applies: boolean; event: Event; outcome: Outcome; /** why it is not */ why: string | null };

export type Hooks = { generation: string; hooks: Hook[] };

export type Key = { file: string; id: string; /** the public key that signs */ key: string; sealed: boolean };

export type Kit = { commit?: string | null; files: { [key: string]: string }; folder: string; from: string; manifest?: KitManifest | null; name: string; sha256: string; standing: "trusted" | "not trusted" | "changed"; trusted: boolean; why?: string | null };

export type KitFiles = { files: { [key: string]: string } };

export type KitManifest = { about: string; hooks: { [key: string]: unknown }[]; language: string; needs: string[]; samples: Sample[]; tags: string[]; title: string };

export type KitRequest = { files?: { [key: string]: string }; proof?: Proof; template?: string };

export type KitValidation = { hooks: string[]; ok: boolean; problem: string | null };

export type Kits = { kits: Kit[] };

export type Leaf = Record & ({ /** what is hashed, to the byte */ raw: { leaf: string | null; payload: string | null; /** in hexadecimal digits */ salt: string | null }; /** what the harness is told for such a decision, made anew from the record */ reply: { exit: number; /** what it cannot be told */ lost: string[]; stderr: string; stdout: string } | null });

export type Leaves = { leaves: Record[]; /** `before` of the next page */ next: number | null };

export type Line = { /** who decided: the id of a rule, or `hook:<id>` */ by?: string | null; event?: string | null; harness?: string | null; kind?: string | null; pruned: boolean; reason?: string | null; rule?: string | null; /** the prompt, the answer, the message or the error */ said?: string | null; seq: number; session?: string | null; took_us?: number | null; tool?: ShownTool; ts?: string | null; verdict?: string | null; /** what changed */ what?: string | null; /** who changed it */ who?: string | null };

export type Lines = { lines: Line[]; /** `before` of the next page */ next: number | null; /** leaves in all, whether they fit or not */ size: number };

export type MarkedAgent = { boot?: string; harness: string; name: string; /** the pid namespace in which the number counts */ namespace?: number; /** 0: a process in a pid namespace that is not visible */ pid: number; /** in clock ticks since the machine started */ start: number };

export type MarkedAgents = { agents: MarkedAgent[] };

/** An MCP tool: the server and its own name for the tool. */
export type Mcp = { /** Other readings of the harness's name for the tool; empty if server and tool are certain. */ also?: McpName[]; /** The server, as configured in the harness; empty if the harness does not say. */ server: string; /** The tool, as the server names it. */ tool: string };

/** One reading of a harness's name for an MCP tool. */
export type McpName = { /** The server. */ server: string; /** The tool. */ tool: string };

/** How a change meets what is there. */
export type Merge = "replace" | "shallow" | "deep";

export type Mode = { changed?: boolean; mode: "enforce" | "monitor" };

export type ModeRequest = { mode: "enforce" | "monitor"; proof?: Proof };

/** One change. Lower priority numbers apply first; a later write wins. */
export type Modification = { /** How it meets the arguments that were asked for. */ merge: Merge; of: "tool-input"; /** The new arguments. */ value: unknown } | { of: "tool-output"; /** The new output. */ value: unknown } | { /** How it meets the request. */ merge: Merge; of: "model-request"; /** The new parts. */ value: unknown } | { /** How it meets the answer, if there is one. */ merge: Merge; of: "model-response"; /** The new parts. */ value: unknown } | { /** The names it may call; empty: no restriction by name. */ allowed: string[]; /** Whether it may, must or must not call one. */ mode: SelectionMode; of: "tool-selection" };

/** by the name of the event: `decided` is the first of these, `session` the second, the others are objects of their own */
export type News = Decided | SessionSummary | Anything;

/** Who said something. */
export type Origin = string;

/** The fold of all findings. Every part carries who said it. */
export type Outcome = { /** What the model should know. */ context?: Said[]; /** About the thing itself. */ decision: Decision; /** About the agent going on. */ flow: Flow; /** What the person should know. */ messages?: Said[]; /** All that should be different, in the order it applies. */ modifications?: Said2[]; /** What the agent could do instead; only beside a deny. */ nudges?: Said[]; /** Why, from everyone whose decision is the one that stands. */ reasons?: Said[]; /** tool-error: the tool should be tried again, this many milliseconds later. */ retry_ms?: number | null; /** Keep the output from the person's eyes. */ suppress_output?: boolean; /** The tool input after all modifications, when it is not the one that was asked for. */ tool_input?: unknown; /** Which hooks and rules ran, and what became of each. */ trace?: Step[] };

export type Pace = { /** minutes in which something was decided, oldest first */ minutes: { at: string; p50_us: number; p95_us: number; p99_us: number; verdicts: { [key: string]: number } }[] };

export type PackSwitchRequest = { /** a pack or a rule */ name: string; on: boolean; proof?: Proof };

export type Packs = { /** packs and rules that somebody turned off */ disabled: string[]; packs: ({ /** where it is from, if somebody added it */ from: string | null; name: string; on: boolean; rules: number | null; title: string | null })[] };

export type Policy = { generation: string; layers: ({ layer: string; pack?: string | null; source: string; standing: string; trusted: boolean })[]; own: { /** what `If-Match` of a change has to be */ etag: string; path: string; text?: string | null }; problems: Problem[]; rules: Rule[]; /** files that changed and cannot be read: what they said before is in force */ stale: Problem[]; warnings: Problem[] };

export type PolicyChanged = { etag: string; generation: string; validation: Validation };

export type PolicyRequest = { proof?: Proof; /** the whole new text, in YAML */ text: string };

export type Problem = { /** the entry it is about */ about?: string; column?: number; hint?: string; line?: number; message: string; /** the file */ source: string };

/** what a person shows */
export type Proof = { /** a code of the authenticator app */ code?: string; /** the name of the action was typed on a terminal */ tty?: boolean };

export type PruneRequest = { /** or: what was recorded before this day or moment goes */ before?: string; proof?: Proof; /** why; it is recorded */ reason: string; /** the last leaf that goes */ to?: number };

export type Record = { erased: boolean; /** the leaf's hash in the tree, in base 64 */ hash: string; /** the envelope; docs/spec/leaf.schema.json */ leaf: { [key: string]: unknown } | null; /** what the agent and the person said and did; null when there is none any more */ payload: unknown; pruned: boolean; seq: number; /** the hook decided by itself; another leaf of the event counts */ undelivered?: boolean };

export type Removed = { from: number; /** the leaf that says so */ leaf: number | null; /** null if there was nothing to remove */ to: number | null };

export type RotateRequest = { proof?: Proof };

export type Rotated = { /** a note that both keys signed */ checkpoint: string; /** the public key that signs from here on */ key: string };

export type Rule = { description?: string; disabled: boolean; expired: boolean; expires?: string | null; id: string; layer: "baseline" | "organisation" | "user" | "project"; line: number; locked: boolean; mode: "enforce" | "monitor"; nudge?: string | null; overrides: string[]; reason?: string | null; severity: string; source: string; verdict: string };

/** Something said, and who said it. */
export type Said = { /** Who said it. */ by: Origin; /** What was said. */ said: string };

/** Something said, and who said it. */
export type Said2 = { /** Who said it. */ by: Origin; /** What was said. */ said: Modification };

export type Sample = { cwd?: string; detail?: { [key: string]: unknown }; /** the kind of event */ event: string; /** what the hook should decide */ expect?: string; /** the arguments it should make of them */ input?: unknown; model?: string; title?: string; tool?: { /** its arguments */ args?: unknown; name: string } };

export type SealRequest = { passphrase: string; proof?: Proof };

export type Sealed = { sealed: boolean };

/** Which tools the model may choose from. */
export type SelectionMode = "auto" | "any" | "none";

export type Session = SessionSummary & ({ agents: Subagent[]; /** calls that a person was asked about */ asks: Denial[]; /** each once, in the order of the first change */ changed_files: ChangedFile[]; /** every change, in order */ changes: FileChange[]; denials: Denial[]; /** what rules noted about it */ labels: string[]; prompt_texts: ({ gone?: Gone; seq: number; text: string | null; ts: string })[]; todo_items: Todo[]; tool_results: { [key: string]: ToolCounts }; touched: { deletes: number; path: string; reads: number; writes: number }[] });

/** Whose session an event names, as far as the daemon can tell. */
export type SessionCheck = "unverified" | "resumed";

export type SessionDiff = { changes: (FileChange & ({ /** lines with their signs, without file names */ diff: string | null; /** why there is no diff, or not all of it: `unknown` for what a command did, `before-unknown` when nobody says what was there before */ why: "erased" | "too-large" | "pruned" | "not-yet" | "unknown" | "before-unknown" | null }))[]; path: string };

export type SessionFiles = { changes: FileChange[]; files: ChangedFile[]; left_out: number };

/** by the name of the event: `file-changed` is a FileChange, `todo-update` a SessionTodos, `denied` a Denial, `usage` a SessionUsage, `subagent` a Subagent; `tool` has tool, state (asked, done, failed, denied), verdict and ran_ms; `prompt` has text, `hint` has denied (a leaf) and hint, `ended` has reason. Each has session, harness and at (seq and ts) besides */
export type SessionNews = FileChange | SessionTodos | Denial | SessionUsage | Subagent | Anything;

export type SessionSummary = { calls: ToolCounts; cwd?: string | null; denied: { all: number; /** with a suggestion what to do instead */ nudged: number; /** the agent's next call was the same once more */ repeated: number; /** the agent's next call did what was suggested */ taken: number }; /** from the first event to the last */ duration_ms?: number; /** as the harness says it */ end_reason?: string | null; ended?: string | null; /** events of which the content is not there: erased, or too large to be recorded */ erased?: number; events: number; files: { /** changed behind the agent's back */ behind: number; /** written or deleted, each file once */ changed: number; deleted: number; /** files that are not listed, and calls whose files are not known */ left_out: number; read: number; written: number }; harness: string; id: string; last: string; last_event?: string; last_prompt?: string | null; /** its latest leaf */ last_seq?: number; model?: string | null; project?: string | null; prompts?: number; started: string; state: "active" | "waiting" | "idle" | "ended"; subagents?: number; /** the first line of the first prompt; null when there was none, or it was erased */ title?: string | null; todos: { all: number; completed: number; in_progress: number; /** all others */ pending: number; /** such as `3/7` */ progress: string }; /** calls by tool */ tools: { [key: string]: number }; turn?: string | null; /** events of callers that the session does not belong to */ unverified?: number; usage: SessionUsage; user?: string | null; verdicts: { [key: string]: number } };

export type SessionTodos = { all: number; completed: number; in_progress: number; items: Todo[]; pending: number; progress: string };

/** what payloads and transcripts say; nothing is estimated, and what is not known is absent */
export type SessionUsage = { /** answers that told their tokens */ answers?: number; cache_read_tokens?: number; cache_write_tokens?: number; context_limit?: number; /** the one by the other, from 0 to 1 */ context_share?: number; /** how full the context was at the model's last answer */ context_tokens?: number; /** by the price table, of the answers whose model has a price */ cost_usd?: number; /** without what a cache had */ input_tokens?: number; output_tokens?: number; /** answers of models without a price */ unpriced?: number };

export type Sessions = { /** how many fit, shown or not */ all: number; /** `after` of the next page */ next: string | null; sessions: SessionSummary[] };

export type ShownTool = { class: string; /** the command, path or URL it is about, in one line */ gist: string; name: string } | null;

export type Signed = { /** the signed note */ checkpoint: string };

export type Spool = { /** files that cannot be read */ refused: number; /** decisions that wait to be taken in */ waiting: number };

export type Stats = { bytes_on_disk: number; days: { count: number; day: string; verdict: string }[]; erased?: number; first?: string | null; harnesses: { [key: string]: number }; /** the part of `bytes_on_disk` that is SQLite's journal; it is emptied when the ledger is idle */ journal_bytes: number; kinds: { [key: string]: number }; last?: string | null; leaves: number; payload_bytes?: number; payloads?: number; pruned?: number; rules: { [key: string]: number }; sessions: number; /** leaves that a checkpoint covers */ signed: number; /** leaves in all */ size: number; spool: Spool; tools: { [key: string]: number }; verdicts: { [key: string]: number } };

/** What became of one hook or rule. */
export type Status = "ran" | "matched" | "monitored" | "overridden" | "expired" | "timed-out" | "failed" | "skipped" | "detached";

/** One hook or rule that took part. */
export type Step = { /** Who. */ by: Origin; /** What it decided, if it did. */ decision?: Decision; /** What there is to say about it: an error, an exit code, why it was skipped. */ note?: string | null; /** What became of it. */ status: Status; /** How long it took, in microseconds. */ took_us?: number };

export type Subagent = { denied: number; ended?: string; events: number; failed: number; id: string; /** the agent that started it; absent for the session's own */ parent?: string; started: string; /** as the harness tells it at the end */ tokens?: number; tools: number; type?: string };

export type SwitchRequest = { proof?: Proof };

export type Switched = { changed: boolean; generation: string; hook: Hook };

export type Template = { about: string; files: { [key: string]: string }; kind: "hook" | "rule"; language: string; name: string; /** programs that have to be there */ needs?: string[] | null; samples?: Sample[] | null; tags: string[]; title: string };

export type Templates = { templates: Template[] };

export type Timeline = { /** `before` of the next page */ next: number | null; steps: TimelineStep[] };

export type TimelineStep = { agent?: { [key: string]: unknown } | null; /** who decided: the id of a rule, or `hook:<id>` */ by?: string | null; erased?: boolean; event?: string | null; id?: string | null; native_event?: string | null; nudge?: string | null; pruned: boolean; /** how long the tool ran */ ran_ms?: number | null; reason?: string | null; rule?: string | null; /** the prompt, the answer, the message or the error */ said?: string | null; seq: number; /** `unverified`: the session belongs to another process, or the caller is not known; `resumed`: the process that used it before has ended */ session_check?: "unverified" | "resumed" | null; /** how long the decision took */ took_us?: number | null; tool?: ShownTool; tool_use_id?: string | null; ts?: string | null; turn?: string | null; /** the hook decided by itself; another step of the event counts */ undelivered?: boolean; verdict?: string | null };

/** Milliseconds since the Unix epoch; written `2026-11-15T08:00:00.000Z`. */
export type Timestamp = string;

export type Todo = { /** how it is called while it is being done */ active_form?: string; id?: string; /** pending, in_progress, completed, cancelled, or as the harness says it */ status: string; text: string };

/** A tool call: the native name, our class for it, and the arguments as the harness gave them. */
export type ToolCall = { /** The arguments. */ args: unknown; /** What the tool does. */ class: ToolClass; /** The server and its own name for the tool, when an MCP server provides it. */ mcp?: Mcp | null; /** The harness's name for the tool. */ name: string };

/** What a tool does, whatever the harness calls it. */
export type ToolClass = "shell" | "read" | "write" | "edit" | "patch" | "search" | "fetch" | "mcp" | "agent" | "todo" | "other";

export type ToolCounts = { /** calls that a person was asked about */ asked: number; /** denied ones too */ calls: number; denied: number; failed: number; ok: number };

/** Tokens and cost of a session from its beginning to the event. Totals, not differences: an event that is
lost or recorded twice changes nothing. */
export type TranscriptUsage = { /** Answers of models. */ answers?: number; /** Tokens read from a prompt cache. */ cache_read_tokens?: number; /** Tokens written into a prompt cache. */ cache_write_tokens?: number; /** Tokens of the prompt of the latest answer. */ context_tokens?: number | null; /** Cost by the price table, in millionths of a US dollar. */ cost_microusd?: number; /** Tokens read by the model, without cached ones. */ input_tokens?: number; /** Tokens written by the model. */ output_tokens?: number; /** The part that was used on the latest day. */ today?: DayUsage | null; /** Answers of models without a price. */ unpriced_answers?: number; /** Tokens of those answers. */ unpriced_tokens?: number };

/** calls before which the hook program ended without the daemon's answer, since the daemon started */
export type Undelivered = { count: number; /** how many of their tools ran nevertheless */ ran: number; /** the newest five */ recent: ({ event: string; harness: string; id: string; ran: boolean; session?: string | null; tool?: string | null; ts: string })[] };

export type Validation = { ok: boolean; problems: Problem[]; rules: string[]; warnings: Problem[] };

export type Verification = { checked: number; ended?: string | null; of?: number | null; result?: { checkpoints?: number; erased?: number; keys?: string[]; /** where the first thing is wrong */ leaf?: number | null; origin?: string; problem?: string; pruned?: number; root?: string; size?: number; trusted_on_first_use?: boolean; unpublished?: number; verified: boolean } | null; running: boolean; started: string };

export type VerifyRequest = { /** a public key that the log must have had */ key?: string; /** a checkpoint from before, which the log must extend */ since?: string };

/** Every operation of the API: what it takes and gives. */
export interface Operations {
  /** The calls that wait for a person's answer. */
  listApprovals: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Approvals;
  };
  /** The calls that wait, now and whenever that changes. */
  streamApprovals: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Approvals;
  };
  /** One call that waits for a person's answer. */
  getApproval: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Approval;
  };
  /** A person's answer to a call that waits. To approve takes a proof, the full id, and the digest of the call that was shown; to deny, the end of an id is enough. */
  answerApproval: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: ApprovalRequest;
    gives: Approved;
  };
  /** What whoever asks would have to show to do something that loosens protection. */
  getAuthority: {
    path: undefined;
    query: { action?: string };
    headers: undefined;
    body: undefined;
    gives: AuthorityNeeds;
  };
  /** Passes the gate for something that whoever asks then does themselves; a leaf says so either way. */
  passAuthority: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: AuthorityRequest;
    gives: AuthorityGranted;
  };
  /** The processes that are marked as guarded agents: they and what they start pass the gate with a code only. */
  listAgents: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: MarkedAgents;
  };
  /** Clears the mark of a process that is not an agent; needs a proof. A hook call of a harness marks its process again. */
  forgetAgent: {
    path: { pid: string };
    query: undefined;
    headers: undefined;
    body: SwitchRequest;
    gives: ForgottenAgent;
  };
  /** Until when this browser may look. */
  getDashboard: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Dashboard;
  };
  /** Uses a one-time link up: the answer sets a cookie and has the key that the page shows with it. */
  openDashboard: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: DashboardEntry;
    gives: DashboardKey;
  };
  /** This browser may not look any more. */
  leaveDashboard: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Anything;
  };
  /** A link that lets one browser in, once, within a minute. Over the socket only, and not for agents; a leaf says who asked. */
  linkDashboard: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: DashboardLink;
  };
  /** One event in the normal form; its outcome comes back, once it is recorded. `v`, `id`, `native_event` and `tool.class` are filled in where they are missing; `ts` is the daemon's, and one that is sent is kept as `sender_ts`. */
  judgeEvent: {
    path: undefined;
    query: { wait_ms?: number };
    headers: undefined;
    body: Event;
    gives: Outcome;
  };
  /** Every harness: whether it is here, whether our hooks are in it, when it was last heard of, and what it covers. */
  listHarnesses: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Harnesses;
  };
  /** Installs or repairs our hooks in a harness, for the person. The original is backed up, and a leaf says so. */
  installHarness: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: HarnessPlan;
  };
  /** What installing or repairing our hooks in a harness would change, as a diff. Nothing is changed. */
  planHarness: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: HarnessPlan;
  };
  /** Whether the daemon is well. Whoever has no token, or another account, learns no more than that. */
  getHealth: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Health;
  };
  /** The hooks in force, in the order they run. */
  listHooks: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Hooks;
  };
  /** How every hook did since the daemon began and in the last minutes: calls, times, failures, blocks. */
  getHookAnalytics: {
    path: undefined;
    query: { minutes?: number };
    headers: undefined;
    body: undefined;
    gives: HookAnalytics;
  };
  /** One hook call of a harness: its own payload comes in, its own reply goes out, and a leaf before it. */
  answerHook: {
    path: { harness: string; event: string };
    query: undefined;
    headers: { "tenterhook-event"?: string; "tenterhook-project"?: string };
    body: Anything;
    gives: Anything;
  };
  /** Switches a hook off, beside what its settings say. Needs a person's proof. */
  disableHook: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: SwitchRequest;
    gives: Switched;
  };
  /** Switches a hook on, beside what its settings say. Needs a person's proof: a hook may allow. */
  enableHook: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: SwitchRequest;
    gives: Switched;
  };
  /** Runs one hook with a sample event. Nothing is recorded, and no rule is asked. */
  testHook: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: HookTestRequest;
    gives: HookTested;
  };
  /** The kits of hooks, with their files, and whether they run. */
  listKits: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Kits;
  };
  /** Whether files could be a kit of hooks. Nothing is changed, and nothing is run. */
  validateKit: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: KitFiles;
    gives: KitValidation;
  };
  /** Writes a kit, from files or a template, and lets it run. Needs a person's proof. */
  putKit: {
    path: { name: string };
    query: undefined;
    headers: undefined;
    body: KitRequest;
    gives: Kits;
  };
  /** Removes a kit. Needs a person's proof if it runs. */
  removeKit: {
    path: { name: string };
    query: undefined;
    headers: undefined;
    body: SwitchRequest;
    gives: Kits;
  };
  /** Lets a kit run as it is now. Needs a person's proof. */
  trustKit: {
    path: { name: string };
    query: undefined;
    headers: undefined;
    body: SwitchRequest;
    gives: Kits;
  };
  /** Leaves that fit, newest first, a page at a time. */
  queryLedger: {
    path: undefined;
    query: { session?: string; harness?: string; tool?: string; verdict?: string; rule?: string; kind?: string; since?: string; until?: string; text?: string; limit?: number; before?: number };
    headers: undefined;
    body: undefined;
    gives: Leaves;
  };
  /** The latest signed checkpoint. Kept elsewhere, it proves that nothing was taken away since. */
  getCheckpoint: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Checkpoint;
  };
  /** Signs all that is recorded, with what hooks decided by themselves. */
  signCheckpoint: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Signed;
  };
  /** Erases the payloads of leaves; the leaves stay, and one says so. Needs a person's proof. */
  eraseLeaves: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: EraseRequest;
    gives: Removed;
  };
  /** All of the ledger as a file: `jsonl`, which `tenterhook ledger verify --file` checks, or `csv`, for people. */
  exportLedger: {
    path: undefined;
    query: { format?: string };
    headers: undefined;
    body: undefined;
    gives: string;
  };
  /** Who signs, and whether the key is sealed. */
  getKey: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Key;
  };
  /** A new key signs from here on; both keys sign the leaf that says so. Needs a person's proof. */
  rotateKey: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: RotateRequest;
    gives: Rotated;
  };
  /** Seals the key under a passphrase, which is taken over the socket only. */
  sealKey: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: SealRequest;
    gives: Sealed;
  };
  /** Lets the key lie open again. Needs a person's proof, and the passphrase over the socket. */
  unsealKey: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: SealRequest;
    gives: Sealed;
  };
  /** The same, each leaf as one short line, and how many leaves there are in all. */
  lineLedger: {
    path: undefined;
    query: { session?: string; harness?: string; tool?: string; verdict?: string; rule?: string; kind?: string; since?: string; until?: string; text?: string; limit?: number; before?: number };
    headers: undefined;
    body: undefined;
    gives: Lines;
  };
  /** Removes old leaves; their hashes stay, and a leaf says so. Needs a person's proof. */
  pruneLedger: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: PruneRequest;
    gives: Removed;
  };
  /** A report of a period or a session: one HTML file with charts and proofs, to save and hand on. */
  getReport: {
    path: undefined;
    query: { since?: string; session?: string };
    headers: undefined;
    body: undefined;
    gives: string;
  };
  /** The leaves that fit, in numbers; and how the ledger itself stands. */
  getLedgerStats: {
    path: undefined;
    query: { session?: string; harness?: string; tool?: string; verdict?: string; rule?: string; kind?: string; since?: string; until?: string; text?: string };
    headers: undefined;
    body: undefined;
    gives: Stats;
  };
  /** Leaves as they are recorded, none left out: whoever reads slowly is caught up from the ledger. The id of each event is the leaf's number, so that `Last-Event-ID` goes on where a connection broke. */
  tailLedger: {
    path: undefined;
    query: { session?: string; harness?: string; tool?: string; verdict?: string; rule?: string; kind?: string; since?: string; until?: string; text?: string; from?: number };
    headers: { "Last-Event-ID"?: number };
    body: undefined;
    gives: Record;
  };
  /** How the last check stands, or how it ended. */
  getVerification: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Verification;
  };
  /** Begins to check all of the ledger, or says how the check under way stands. */
  verifyLedger: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: VerifyRequest;
    gives: Verification;
  };
  /** One leaf with its payload, by its number or its event's id; as it stands in the ledger, to the byte, and with the reply that its harness gets for it. */
  getLeaf: {
    path: { seq: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Leaf;
  };
  /** The proof that a leaf is in the ledger, as a text of its own (c2sp.org/tlog-proof@v1). */
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
  /** Whether the rules hold, or only watch. */
  getMode: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Mode;
  };
  /** Makes the rules hold, or only watch; to watch only needs a person's proof. */
  setMode: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: ModeRequest;
    gives: Mode;
  };
  /** This document. */
  getOpenapi: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Anything;
  };
  /** What was decided in each minute of the last hour, as far as this daemon was there, and how fast. */
  getPace: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Pace;
  };
  /** The packs of rules that are compiled in or were added, and which of them are on. */
  listPacks: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Packs;
  };
  /** Turns a pack or a single rule on or off. Off needs a person's proof; what is locked stays on. */
  switchPack: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: PackSwitchRequest;
    gives: Packs;
  };
  /** The rules in force, layer by layer, what cannot be used, and the person's own text with its ETag. */
  getPolicy: {
    path: undefined;
    query: { cwd?: string };
    headers: undefined;
    body: undefined;
    gives: Policy;
  };
  /** Replaces the person's own policy, if all of it can be used. Needs a person's proof. */
  putPolicy: {
    path: undefined;
    query: undefined;
    headers: { "If-Match"?: string };
    body: PolicyRequest;
    gives: PolicyChanged;
  };
  /** Replays the ledger through a text in place of the person's policy: which decisions would differ. Nothing is changed. */
  backtestPolicy: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: BacktestRequest;
    gives: Backtest;
  };
  /** The person's policy with a rule more: from a decision, a template or its parts. Nothing is changed. */
  draftRule: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: DraftRequest;
    gives: Draft;
  };
  /** What the rules say about an event or a command, and why. Nothing is recorded, no hook runs. */
  explainPolicy: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: ExplainRequest;
    gives: Explanation;
  };
  /** Whether a text could be the person's policy: every problem with its place. Nothing is changed. */
  validatePolicy: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: string;
    gives: Validation;
  };
  /** Sessions of all agents, the latest first, a page at a time. */
  listSessions: {
    path: undefined;
    query: { harness?: string; state?: string; project?: string; since?: string; after?: string; limit?: number };
    headers: undefined;
    body: undefined;
    gives: Sessions;
  };
  /** What happens in all sessions, live: `file-changed`, `todo-update`, `tool`, `prompt`, `denied`, `hint`, `usage`, `subagent` and `ended`; `lagged` says how many were missed. */
  followSessions: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: SessionNews;
  };
  /** One session, whole: files, todos, tools, denials, subagents, prompts, counts. The id may be `<harness>:<id>`. */
  getSession: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Session;
  };
  /** The changes of one file of a session, with diffs where calls and results tell them. */
  getSessionDiff: {
    path: { id: string };
    query: { path?: string };
    headers: undefined;
    body: undefined;
    gives: SessionDiff;
  };
  /** The files that a session changed: each once in the order of its first change, and every change. */
  getSessionFiles: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: SessionFiles;
  };
  /** What happens in one session, live; the events are those of /v1/sessions/stream. */
  followSession: {
    path: { id: string };
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: SessionNews;
  };
  /** What happened in a session, oldest first, a page at a time from the end. */
  getTimeline: {
    path: { id: string };
    query: { limit?: number; before?: number };
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
  /** Everything live: `decided`, `session`, `approvals`, `generation`, `verify` and `warning` events; `lagged` says how many were missed. What must not be missed is at /v1/ledger/tail. */
  stream: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: News;
  };
  /** Hooks and rules to begin with, with all their files. */
  listTemplates: {
    path: undefined;
    query: undefined;
    headers: undefined;
    body: undefined;
    gives: Templates;
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
