#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# venv.sh VENV: creates or updates an environment with the SDK and its tools, and prints the directory of its
# programs. PYTHON is the Python to use; defaults to python3.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: venv.sh VENV" >&2
    exit 64
fi
venv=$1
sdk=$(cd "$(dirname "$0")/.." && pwd)
mark=$venv/made-from.toml

if ! cmp -s "$sdk/pyproject.toml" "$mark"; then
    "${PYTHON:-python3}" -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "pip>=25.1" >&2
    (cd "$sdk" && "$venv/bin/pip" install --quiet --disable-pip-version-check --editable . --group dev >&2)
    cp "$sdk/pyproject.toml" "$mark"
fi
echo "$venv/bin"
