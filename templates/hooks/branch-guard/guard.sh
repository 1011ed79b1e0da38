#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Runs in the agent's working directory. Prints nothing outside a repository.
branch=$(git symbolic-ref --quiet --short HEAD 2>/dev/null) || exit 0
case $branch in
main | master)
	echo '{"decision":"deny","reason":"this is the main branch","nudge":"git switch -c a-name-for-the-change"}'
	;;
esac
