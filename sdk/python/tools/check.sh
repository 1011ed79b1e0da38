#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# check.sh VENV: all checks of the Python SDK. VENV is the environment with its tools, which is created if missing.
# TENTERHOOK_BIN names the program whose daemon the tests use.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: check.sh VENV" >&2
    exit 64
fi
sdk=$(cd "$(dirname "$0")/.." && pwd)
bin=$(sh "$sdk/tools/venv.sh" "$1")
cd "$sdk"

"$bin/python" tools/generate.py --check
"$bin/ruff" format --quiet --check .
"$bin/ruff" check --quiet .
"$bin/mypy" --no-error-summary
"$bin/mypy" --no-error-summary examples/*.py
"$bin/mypy" --no-error-summary tools/*.py
"$bin/mypy" --no-error-summary bench/*.py
"$bin/python" -m pytest --ignore tests/e2e
sh tools/package.sh "$bin"
