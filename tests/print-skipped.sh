#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# print-skipped.sh FILE: prints the tests that were skipped and why, as the last lines of `make test`.
set -eu

if [ ! -s "$1" ]; then
    echo "no test was skipped"
    exit 0
fi
sort -u "$1"
echo "$(sort -u "$1" | wc -l) tests or parts of tests were SKIPPED: they prove nothing on this machine" >&2
