#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Exit code 2 makes the agent continue; it reads standard error.
[ -f Makefile ] && make -n test >/dev/null 2>&1 || exit 0
output=$(make test 2>&1) && exit 0
printf 'the tests fail:\n%s\n' "$(printf '%s\n' "$output" | tail -n 40)" >&2
exit 2
