#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Runs the cases in TENTERHOOK_POLICY_TESTS (one file per line) with TENTERHOOK_POLICY (one file per line).
set -eu

set --
while IFS= read -r file; do
    [ -z "$file" ] || set -- "$@" "--policy=$file"
done <<LINES
${TENTERHOOK_POLICY:-}
LINES
set -- "$@" --
count=$#
while IFS= read -r file; do
    [ -z "$file" ] || set -- "$@" "$file"
done <<LINES
${TENTERHOOK_POLICY_TESTS:-}
LINES
if [ $# -eq "$count" ]; then
    echo "no rule tests"
    exit
fi
tenterhook policy test "$@"
