// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// The minimum cost of durable decisions under load. This server reads an HTTP request with a body, writes as
// many bytes as a record has to a file, and answers when the bytes are on the disk. Waiting requests share
// one write and one fdatasync. Nothing is parsed, decided, hashed or signed. The file has its full length
// from the start, like SQLite's journal, and is overwritten from the beginning when it is full.
// `cc -O2 -static -pthread -o groupcommit groupcommit.c`; `./groupcommit SOCKET FILE RECORD_BYTES`.

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FILE_BYTES (8L << 20)
#define QUEUE_BYTES (1 << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t committed = PTHREAD_COND_INITIALIZER;
static char queues[2][QUEUE_BYTES], *filling = queues[0];
static size_t queued, record_bytes;
static long next_commit = 1, last_commit, place;
static int file, is_committing;

// Puts a record into the queue and returns when it is on the disk. A thread that finds no commit in progress
// makes the next commit.
static void record(const char *bytes) {
    pthread_mutex_lock(&lock);
    memcpy(filling + queued, bytes, record_bytes);
    queued += record_bytes;
    long own = next_commit;
    while (last_commit < own) {
        if (is_committing) {
            pthread_cond_wait(&committed, &lock);
            continue;
        }
        char *taken = filling;
        size_t length = queued;
        long number = next_commit++;
        filling = filling == queues[0] ? queues[1] : queues[0];
        queued = 0;
        is_committing = 1;
        if (place + (long)length > FILE_BYTES) place = 0;
        pthread_mutex_unlock(&lock);
        if (pwrite(file, taken, length, place) != (ssize_t)length || fdatasync(file) < 0) exit(1);
        pthread_mutex_lock(&lock);
        place += (long)length;
        is_committing = 0;
        last_commit = number;
        pthread_cond_broadcast(&committed);
    }
    pthread_mutex_unlock(&lock);
}

static void *serve(void *argument) {
    int connection = (int)(long)argument;
    static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    static __thread char buffer[1 << 16];
    size_t used = 0;
    ssize_t count;
    while ((count = read(connection, buffer + used, sizeof buffer - used - 1)) > 0) {
        buffer[used += (size_t)count] = 0;
        char *body = strstr(buffer, "\r\n\r\n"), *length = strstr(buffer, "Content-Length: ");
        if (!body || !length) continue;
        if (used < (size_t)(body + 4 - buffer) + strtoul(length + 16, 0, 10)) continue;
        record(buffer);
        if (write(connection, reply, sizeof reply - 1) < 0) break;
        used = 0;
    }
    close(connection);
    return 0;
}

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (argc < 4 || strlen(argv[1]) >= sizeof address.sun_path) return 2;
    record_bytes = strtoul(argv[3], 0, 10);
    if (record_bytes == 0 || record_bytes > 4096) return 2;
    file = open(argv[2], O_CREAT | O_RDWR, 0600);
    for (long written = 0; written < FILE_BYTES; written += QUEUE_BYTES)
        if (pwrite(file, queues[0], QUEUE_BYTES, written) != QUEUE_BYTES) return 1;
    if (fsync(file) < 0) return 1;
    strcpy(address.sun_path, argv[1]);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 256) < 0) return 1;
    for (;;) {
        pthread_t thread;
        int connection = accept(listener, 0, 0);
        if (connection < 0) return 1;
        if (pthread_create(&thread, 0, serve, (void *)(long)connection)) return 1;
        pthread_detach(thread);
    }
}
