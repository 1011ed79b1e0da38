#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# venv.sh VENV: creates or updates an environment with Schemathesis. PYTHON is the Python to use.
set -eu
requirements="$(dirname "$0")/requirements.txt"
if ! cmp -s "$requirements" "$1/made-from.txt"; then
	"${PYTHON:-python3}" -m venv --clear "$1"
	"$1/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements" >&2
	cp "$requirements" "$1/made-from.txt"
fi
