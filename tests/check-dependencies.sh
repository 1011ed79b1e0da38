#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Checks the dependencies: bans, licences, sources, and known vulnerabilities if the advisory
# database can be reached. A check that could not run prints a warning and does not fail.
set -eu
cargo="${CARGO:-cargo}"

if ! "$cargo" deny --version >/dev/null 2>&1; then
	echo "warning: cargo-deny is not installed, dependencies were not checked (\`make tools\` installs it)" >&2
	exit 0
fi
"$cargo" deny --log-level error check bans licenses sources
if timeout 60 "$cargo" deny --log-level off fetch db >/dev/null 2>&1; then
	"$cargo" deny --log-level error check --disable-fetch advisories
else
	echo "warning: the advisory database cannot be reached, known vulnerabilities were not checked" >&2
fi
