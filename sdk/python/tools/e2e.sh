#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# e2e.sh VENV: the tests that run the real Claude Agent SDK, in a clean environment.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: e2e.sh VENV" >&2
    exit 64
fi
sdk=$(cd "$(dirname "$0")/.." && pwd)
bin=$(sh "$sdk/tools/venv.sh" "$1")
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$sdk"
env -i PATH="$PATH" HOME="$home" TENTERHOOK_BIN="$TENTERHOOK_BIN" TENTERHOOK_E2E_CLAUDE="$TENTERHOOK_E2E_CLAUDE" \
    TENTERHOOK_E2E_MODEL_SERVER="$TENTERHOOK_E2E_MODEL_SERVER" "$bin/python" -m pytest -p no:cacheprovider tests/e2e
