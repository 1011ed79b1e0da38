# SPDX-License-Identifier: Apache-2.0 OR MIT
# Prints the total of a cart: one `price quantity` on each line.
total() {
  local sum=0 price quantity
  while read -r price quantity; do
    sum=$((sum + price))
  done
  echo "$sum"
}
