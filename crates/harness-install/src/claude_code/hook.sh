#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# hook.sh guard|watch EVENT
#
# Passes a hook call of Claude Code to Tenterhook. The program is looked for on the PATH, in the environment of a
# Python installation and in node_modules. If it is missing, a call that rules would guard is refused (exit code 2),
# and other events are reported (exit code 1). Written by `tenterhook install claude-code --project`; do not edit.

missing=$1
event=$2
project=${CLAUDE_PROJECT_DIR:-.}

refuse() {
    echo "tenterhook: $1" >&2
    [ "$missing" = watch ] && exit 1
    exit 2
}

find_program() {
    command -v tenterhook && return
    for candidate in "$HOME/.local/bin/tenterhook" "$project/.venv/bin/tenterhook" \
        "$project/node_modules/.bin/tenterhook"; do
        if [ -x "$candidate" ]; then
            echo "$candidate"
            return
        fi
    done
    # pip may put programs into a directory that is not on the PATH.
    scripts=$(python3 -I -c 'import sysconfig; print(sysconfig.get_path("scripts"))' 2>/dev/null) || return 1
    [ -x "$scripts/tenterhook" ] && echo "$scripts/tenterhook"
}

program=$(find_program) || refuse "the program is not installed, so this call is refused; a user must install Tenterhook here"
"$program" hook claude-code "$event"
code=$?
# The shell reports a program that cannot be started, or that a signal ended, with a code from 126 on.
[ "$code" -lt 126 ] || refuse "$program could not be run (exit code $code)"
exit "$code"
