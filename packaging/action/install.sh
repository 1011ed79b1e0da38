#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Puts the program on the PATH of the job, unless it is there already. Reads TENTERHOOK_INSTALL_FROM,
# TENTERHOOK_VERSION and TENTERHOOK_ACTION_PATH.
set -eu

if command -v tenterhook >/dev/null; then
    tenterhook --version
    exit
fi
case ${TENTERHOOK_INSTALL_FROM:-checkout} in
npm)
    npm install --global "tenterhook@${TENTERHOOK_VERSION:?the input version is required}"
    ;;
pypi)
    python3 -m pip install "tenterhook==${TENTERHOOK_VERSION:?the input version is required}"
    ;;
checkout)
    root=${RUNNER_TEMP:-/tmp}/tenterhook
    cargo install --locked --path "$TENTERHOOK_ACTION_PATH/crates/cli" --root "$root"
    PATH=$root/bin:$PATH
    # Later steps of the job read the PATH from this file.
    echo "$root/bin" >>"${GITHUB_PATH:-/dev/null}"
    ;;
*)
    echo "install-from must be npm, pypi or checkout, not \`$TENTERHOOK_INSTALL_FROM\`" >&2
    exit 2
    ;;
esac
tenterhook --version
