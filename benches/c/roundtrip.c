// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The minimum cost of a hook: reads standard input, sends it over a Unix socket and prints the reply. Creates
// no ids, checks nothing and measures no time.
// `gcc -O2 -static -o roundtrip roundtrip.c`; `./roundtrip SOCKET`.

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char buffer[1 << 16];

int main(int argc, char **argv) {
    size_t used = 0;
    ssize_t count;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int header, fd, exit_code;
    if (argc < 2 || strlen(argv[1]) >= sizeof address.sun_path) return 3;
    while ((count = read(0, buffer + 256 + used, sizeof buffer - 256 - used)) > 0) used += (size_t)count;
    char line[256];
    header = snprintf(line, sizeof line,
                      "TH1 hook claude-code pre-tool-use 01ARZ3NDEKTSV4RRFFQ69G5FAV 55000 %zu\n\n", used);
    memcpy(buffer + 256 - header, line, (size_t)header);
    strcpy(address.sun_path, argv[1]);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0) return 3;
    if (write(fd, buffer + 256 - header, used + (size_t)header) < 0) return 3;
    count = read(fd, buffer, sizeof buffer);
    if (count <= 0 || sscanf(buffer, "TH1 reply %d", &exit_code) != 1) return 3;
    char *body = memchr(buffer, '\n', (size_t)count);
    if (!body) return 3;
    size_t left = (size_t)(buffer + count - body - 1);
    if (left && write(1, body + 1, left) < 0) return 3;
    return exit_code;
}
