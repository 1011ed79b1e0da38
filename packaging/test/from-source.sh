#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# from-source.sh REPOSITORY CLAUDE MODEL_SERVER
#
# Does what a new user of the source does, in a temporary home directory: clone, `make run`, guard a real Claude Code,
# see a denial, remove everything. Prints a transcript with times and fails where a step does not do what it should.
#
#   REPOSITORY    repository to clone
#   CLAUDE        Claude Code, as `tests/e2e/install-client.sh claude-code pinned DIRECTORY` prints it
#   MODEL_SERVER  the scripted model (`cargo build -p tenterhook-model-server`); no request leaves this machine
#
# The download caches of cargo and npm, and the Rust toolchain, are those of the caller.
set -eu
if [ $# -ne 3 ]; then
    echo "usage: from-source.sh REPOSITORY CLAUDE MODEL_SERVER" >&2
    exit 64
fi
repository=$1 claude=$2 model_server=$3
cargo_home=${CARGO_HOME:-$HOME/.cargo} rustup_home=${RUSTUP_HOME:-$HOME/.rustup} npm_cache=${npm_config_cache:-$HOME/.npm}
root=$(mktemp -d)
server= model_url=
trap 'test -z "$server" || kill "$server" 2>/dev/null || true; rm -rf "$root"' EXIT
trap 'exit 130' INT TERM
home=$root/home
mkdir -p "$home/.claude" "$home/project"
printf '{\n  "model": "opus"\n}\n' > "$home/.claude/settings.json"
cp "$home/.claude/settings.json" "$root/settings-before.json"
echo keep > "$home/thesis.txt"
began=$(date +%s)

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# Shows a command and runs it in a clean environment, with its time.
step() {
    directory=$1
    shift
    step_began=$(date +%s)
    printf '\n$ %s\n' "$*"
    (cd "$directory" && run "$@") 2>&1
    printf '[%s s, %s s in all]\n' "$(($(date +%s) - step_began))" "$(($(date +%s) - began))"
}

# IS_SANDBOX lets root run Claude Code without permission prompts, so only Tenterhook stops calls.
run() {
    env -i PATH="$PATH" HOME="$home" TERM=xterm LANG=C.UTF-8 CARGO_HOME="$cargo_home" RUSTUP_HOME="$rustup_home" \
        npm_config_cache="$npm_cache" ANTHROPIC_BASE_URL="$model_url" ANTHROPIC_API_KEY=dummy DISABLE_TELEMETRY=1 \
        DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 IS_SANDBOX=1 sh -c "$*" </dev/null
}

step "$root" git clone --quiet "$repository" tenterhook
step "$root/tenterhook" make run
program=$root/tenterhook/target/quick/tenterhook
mkdir "$home/bin"
ln -s "$program" "$home/bin/tenterhook"
ln -s "$claude" "$home/bin/claude"
PATH=$home/bin:$PATH

# The model calls one command, and then repeats the result.
cat > "$root/script.json" <<'JSON'
{"turns": [
  {"text": "I clean up.", "tool_calls": [{"name": "Bash", "input": {"command": "rm -rf ~/", "description": "clean up"}}]},
  {"text": "That was denied; I stop here."}
]}
JSON
mkfifo "$root/hold"
"$model_server" "$root/script.json" < "$root/hold" > "$root/url" &
server=$!
exec 3> "$root/hold"
until [ -s "$root/url" ]; do sleep 0.1; done
model_url=$(cat "$root/url")

guard_began=$(date +%s)
step "$home/project" tenterhook install claude-code --yes
step "$home/project" claude -p "'clean up'" --permission-mode bypassPermissions
step "$home/project" tenterhook ledger query --verdict deny
test "$(cat "$home/thesis.txt" 2>/dev/null)" = keep || fail "the home directory was deleted"
run tenterhook ledger query --verdict deny | grep -q recursive-delete || fail "no denial is on record"

# Privileged actions are confirmed on a terminal: the user types the requested word.
printf '\n$ tenterhook uninstall --all\n'
(sleep 2; printf 'uninstall\n'; sleep 2) | env -i PATH="$PATH" HOME="$home" TERM=dumb \
    script -qec "tenterhook uninstall --all --yes" /dev/null
cmp "$home/.claude/settings.json" "$root/settings-before.json" || fail "the settings are not as before"
exec 3>&-
step "$home" rm -rf "$root/tenterhook" .local/state/tenterhook .config/tenterhook bin
left=$(find "$home" -iname '*tenterhook*' | head -n 5)
test -z "$left" || fail "left behind: $left"
if ps -eo args | grep -F "$root" | grep -v grep | grep -q tenterhook; then fail "a process is left"; fi
printf '\nGuarded, denied and removed in %s s after the build; %s s in all.\n' \
    "$(($(date +%s) - guard_began))" "$(($(date +%s) - began))"
