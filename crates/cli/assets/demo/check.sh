# SPDX-License-Identifier: Apache-2.0 OR MIT
. src/cart.sh
got=$(printf '5 2\n1 1\n' | total)
if [ "$got" = 11 ]; then
  echo "ok: two at 5 and one at 1 are 11"
else
  echo "wrong: two at 5 and one at 1 are $got"
  exit 1
fi
