// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The minimum that a hook can do: read its input and exit.

#include <unistd.h>

static char buffer[1 << 16];

int main(void) {
    while (read(0, buffer, sizeof buffer) > 0) {}
    return 0;
}
