#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Scans TENTERHOOK_PATHS (one per line) with TENTERHOOK_POLICY (one per line), writes TENTERHOOK_SARIF_FILE, and fails
# on the verdict TENTERHOOK_FAIL_ON.
set -eu

# A policy is given as one word (`--policy=FILE`), and all paths follow `--`, so that no line is read as an option.
set --
while IFS= read -r file; do
    [ -z "$file" ] || set -- "$@" "--policy=$file"
done <<LINES
${TENTERHOOK_POLICY:-}
LINES
set -- "$@" --
count=$#
while IFS= read -r path; do
    [ -z "$path" ] || set -- "$@" "$path"
done <<LINES
${TENTERHOOK_PATHS:-}
LINES
if [ $# -eq "$count" ]; then
    echo "no paths to scan"
    exit
fi
if [ -n "${TENTERHOOK_SARIF_FILE:-}" ]; then
    tenterhook scan --sarif --fail-on never "$@" >"$TENTERHOOK_SARIF_FILE"
fi
tenterhook scan --fail-on "${TENTERHOOK_FAIL_ON:-deny}" "$@"
