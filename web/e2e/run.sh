#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Drives the dashboard in a browser against a real daemon: run.sh PROGRAM smoke|all|shots
set -eu
cd "$(dirname "$0")"

if ! chromium="$(sh install-chromium.sh)"; then
    echo "SKIPPED: the dashboard in a browser: needs Chromium" | tee -a "${TENTERHOOK_SKIPPED_TESTS:-/dev/null}" >&2
    # Tests requested by name must run; the smoke test may be skipped, because it is part of `make test`.
    [ "$2" = smoke ] && exit 0
    exit 1
fi
case "$2" in
    smoke) tests="smoke.test.mjs readme-picture.test.mjs" ;;
    shots) tests="shots.mjs fleet.test.mjs" ;;
    *) tests="$(echo ./*.test.mjs) shots.mjs" ;;
esac
# shellcheck disable=SC2086 # several files
CHROMIUM="$chromium" TENTERHOOK_BIN="$1" exec node --test --test-concurrency=1 --test-reporter=spec $tests
