#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Exit code 2 means: not finished yet. What stands on standard error is for the agent.
[ -f Makefile ] && make -n test >/dev/null 2>&1 || exit 0
said=$(make test 2>&1) && exit 0
printf 'the tests fail:\n%s\n' "$(printf '%s\n' "$said" | tail -n 40)" >&2
exit 2
