#include "LogEnd.h"

#include "SQLiteSetup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    header_bytes = 48,
    made_offset = 12,
    frames_offset = 16,
    sum_offset = 24,
    salts_offset = 32,
    copied_offset = 128,
    index_bytes = copied_offset + 4,
    tries_max = 100,
};

static int read_header(const volatile void *index, unsigned char header[header_bytes]) {
    unsigned char both[2 * header_bytes];
    for (int tries = 0; tries < tries_max; tries++) {
        memcpy(both, (const void *)index, sizeof both);
        __sync_synchronize();
        if (memcmp(both, both + header_bytes, header_bytes) != 0) continue;
        memcpy(header, both, header_bytes);
        return header[made_offset] != 0;
    }
    return 0;
}

int log_end_read(const volatile void *index, struct sqlite_setup_log_end *end) {
    unsigned char header[header_bytes];
    if (index == NULL || !read_header(index, header)) return 0;
    memcpy(&end->frames, header + frames_offset, sizeof end->frames);
    memcpy(end->sum, header + sum_offset, sizeof end->sum);
    memcpy(end->salts, header + salts_offset, sizeof end->salts);
    return 1;
}

static void put_number(unsigned char *bytes, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) *bytes++ = (unsigned char)(value >> shift);
}

/// Opens the note of a file; below 0 if there is none.
static int open_note(const char *database, size_t length) {
    char path[PATH_MAX];
    int count = snprintf(path, sizeof path, "%.*s%s", (int)length, database, sqlite_setup_synced_ending);
    if (count < 0 || (size_t)count >= sizeof path) return -1;
    return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

// The record: 8 bytes of magic, the salts, 4 bytes of frames, 4 of zero, and SQLite's sum of these.
void log_end_note_copied(const volatile void *index, const char *database) {
    unsigned char header[header_bytes], record[sqlite_setup_copied_bytes] = "tmCOPIED";
    uint32_t copied, first = 0, second = 0;
    if (index == NULL || database == NULL || !read_header(index, header)) return;
    memcpy(&copied, (const unsigned char *)index + copied_offset, sizeof copied);
    memcpy(record + 8, header + salts_offset, 8);
    put_number(record + 16, copied);
    sqlite_setup_add_log_sum(record, 24, 1, &first, &second);
    put_number(record + 24, first);
    put_number(record + 28, second);
    int note = open_note(database, strlen(database));
    if (note < 0) return;
    // Without it a later start refuses to go on, and says what it misses.
    ssize_t count = pwrite(note, record, sizeof record, sqlite_setup_copied_offset);
    (void)count;
    close(note);
}

void log_end_sync_note(const char *log) {
    static const char ending[] = "-wal";
    size_t length = strlen(log);
    if (length < sizeof ending || strcmp(log + length - (sizeof ending - 1), ending) != 0) return;
    int note = open_note(log, length - (sizeof ending - 1));
    if (note < 0) return;
    fdatasync(note);
    close(note);
}
