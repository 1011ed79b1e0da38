// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The least that a hook can do: read its input and end.

#include <unistd.h>

static char buffer[1 << 16];

int main(void) {
    while (read(0, buffer, sizeof buffer) > 0) {}
    return 0;
}
