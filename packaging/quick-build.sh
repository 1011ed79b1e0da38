#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# quick-build.sh TARGET_DIRECTORY
#
# Builds the program of `make run` (profile `quick`) and shows progress: an updated line on a terminal, else one
# line every 30 seconds. The dashboard is built while crates are downloaded.
set -u
cd "$(dirname "$0")/.." || exit 1
target=$1
cargo=${CARGO:-cargo}
make=${MAKE:-make}
report_seconds=${REPORT_SECONDS:-30}

dashboard() {
    if ! command -v npm >/dev/null 2>&1; then
        echo "npm is not installed: the dashboard is left out"
    elif ! output=$("$make" --no-print-directory web/dist/index.html 2>&1); then
        printf '%s\n' "$output"
        echo "the dashboard could not be built and is left out"
    fi
}

# The dashboard's build and `cargo tree` wait for the network most of the time, so they run in parallel.
# `cargo tree` names the crates to build and downloads missing ones. If no crate is missing, no network is
# needed.
dashboard >&2 &
crates=$("$cargo" tree --locked -p tenterhook -e normal,build --prefix none --no-dedupe | sed 's/ .*//' | tr - _ | sort -u)
wait $!

# Measured seconds of work for crates that take long. Every other crate counts as one second.
while read -r name seconds; do
    case $name in '' | '#'*) continue ;; esac
    eval "cost_$name=$seconds"
done < packaging/quick-build-costs.txt

total=0 # crates
work=0  # seconds of work, of all crates that are not built yet
for crate in $crates; do
    total=$((total + 1))
    eval "work=\$((work + \${cost_$crate:-1}))"
done

# Sets `crate` to a package's name without hyphens, as in the names of variables.
to_crate() {
    crate=$1
    while :; do
        case $crate in
            *-*) crate=${crate%%-*}_${crate#*-} ;;
            *) return ;;
        esac
    done
}

clear_line() {
    [ -t 2 ] && printf '\r%79s\r' '' >&2
}

# Estimates the time left from the remaining work and the speed so far.
show_progress() {
    now=$(date +%s)
    elapsed=$((now - began))
    if [ "$done_work" -eq 0 ] || [ $((done_work * 20)) -lt "$work" ] || [ "$elapsed" -lt 5 ]; then
        left="estimating time left"
    else
        seconds=$((elapsed * (work - done_work) / done_work))
        if [ "$seconds" -lt 55 ]; then left="less than a minute left"; else left="about $(((seconds + 30) / 60)) min left"; fi
    fi
    text="building $((built < total ? built + 1 : total)) of $total crates, $left:$running"
    if [ -t 2 ]; then
        printf '\r%-79.79s' "$text" >&2
    elif [ $((now - reported)) -ge "$report_seconds" ]; then
        reported=$now
        printf '%s\n' "$text" >&2
    fi
}

follow_build() {
    built=0 done_work=0 running=' ' finished=' ' code=1 began=$(date +%s) compiles=
    reported=$began
    while IFS= read -r line; do
        case $line in
            TICK)
                [ -n "$compiles" ] && show_progress
                ;;
            EXIT\ *)
                code=${line#EXIT }
                ;;
            '{"reason":"compiler-artifact"'*'"kind":["custom-build"]'*) ;;
            '{"reason":"compiler-artifact"'*)
                # The id has the form `source#name@version` or `directory/name#version`.
                crate=${line#*\"package_id\":\"}
                crate=${crate%%\"*}
                case ${crate##*#} in
                    *@*) crate=${crate##*#} ;;
                    *) crate=${crate%#*} crate=${crate##*/} ;;
                esac
                to_crate "${crate%%@*}"
                case $running in
                    *" $crate "*) running="${running%% "$crate" *} ${running#* "$crate" }" ;;
                esac
                # A crate may be built twice: in two versions, or once more for build scripts.
                case $finished in *" $crate "*) continue ;; esac
                finished="$finished$crate "
                eval "seconds=\${cost_$crate:-1}"
                case $line in
                    *'"fresh":true'*) work=$((work - seconds)) ;;
                    *) done_work=$((done_work + seconds)) ;;
                esac
                built=$((built + 1))
                ;;
            '{"reason":'*) ;;
            *' Compiling '*)
                compiles=yes
                line=${line#*Compiling }
                to_crate "${line%% *}"
                running=" $crate$running"
                ;;
            *' Finished '*) ;;
            *)
                clear_line
                printf '%s\n' "$line" >&2
                ;;
        esac
    done
    clear_line
    return "$code"
}

{
    (while sleep 1; do echo TICK; done) &
    ticker=$!
    CARGO_TERM_PROGRESS_WHEN=never CARGO_TERM_COLOR=never "$cargo" build --profile quick --locked -p tenterhook \
        --target-dir "$target" --message-format json-render-diagnostics
    code=$?
    kill "$ticker"
    wait "$ticker" 2>/dev/null
    echo "EXIT $code"
} 2>&1 | follow_build
