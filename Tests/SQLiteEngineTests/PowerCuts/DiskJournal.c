// A library that stands before libc in a process, and notes what the process writes to some files, and when it syncs
// them. The test reads the journal, and makes of it what a disk may have after a loss of power.
//
// A record, in the byte order of the machine:
//
//     4 kind | 4 bytes of the name | 8 offset or size | 8 bytes | 8 end of the journal when a sync began | name | bytes

#define _GNU_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kind_write = 1, kind_truncate = 2, kind_sync = 3, kind_unlink = 4, path_bytes_max = 4096 };

struct record {
    uint32_t kind, name_bytes;
    int64_t offset;
    uint64_t bytes, since;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;
static char prefix[path_bytes_max];

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("DISK_JOURNAL"), *files = getenv("DISK_JOURNAL_PREFIX");
    if (path == NULL || files == NULL) return;
    snprintf(prefix, sizeof prefix, "%s", files);
    journal = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/// The name of a file behind the prefix; `NULL` for a file that is not noted.
static const char *noted(const char *path) {
    size_t length = strlen(prefix), count = strlen(path);
    if (journal < 0 || strncmp(path, prefix, length) != 0) return NULL;
    // Shared memory is no part of the disk.
    if (count >= 4 && strcmp(path + count - 4, "-shm") == 0) return NULL;
    return path + length;
}

static const char *noted_file(int file, char path[path_bytes_max]) {
    char link[64];
    if (journal < 0 || file == journal) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t count = readlink(link, path, path_bytes_max - 1);
    if (count <= 0) return NULL;
    path[count] = 0;
    return noted(path);
}

static void add(uint32_t kind, const char *name, int64_t offset, const void *bytes, size_t count, uint64_t since) {
    struct record record = {kind, (uint32_t)strlen(name), offset, count, since};
    struct iovec parts[3] = {
        {&record, sizeof record}, {(void *)name, strlen(name)}, {(void *)bytes, count},
    };
    ssize_t (*put)(int, const struct iovec *, int) = next("writev");
    if (put(journal, parts, 3) != (ssize_t)(sizeof record + strlen(name) + count)) abort();
}

static ssize_t note_write(const char *name, ssize_t count, const void *bytes, int64_t offset) {
    if (count > 0) add(kind_write, name, offset, bytes, (size_t)count, 0);
    return count;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = next("pwrite64");
    char path[path_bytes_max];
    const char *name = noted_file(file, path);
    if (name == NULL) return real(file, bytes, count, offset);
    pthread_mutex_lock(&lock);
    ssize_t written = note_write(name, real(file, bytes, count, offset), bytes, offset);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) { return pwrite64(file, bytes, count, offset); }

ssize_t write(int file, const void *bytes, size_t count) {
    ssize_t (*real)(int, const void *, size_t) = next("write");
    char path[path_bytes_max];
    const char *name = noted_file(file, path);
    if (name == NULL) return real(file, bytes, count);
    pthread_mutex_lock(&lock);
    off_t offset = lseek(file, 0, SEEK_CUR);
    ssize_t written = note_write(name, real(file, bytes, count), bytes, offset);
    pthread_mutex_unlock(&lock);
    return written;
}

int ftruncate64(int file, off64_t size) {
    int (*real)(int, off64_t) = next("ftruncate64");
    char path[path_bytes_max];
    const char *name = noted_file(file, path);
    if (name == NULL) return real(file, size);
    pthread_mutex_lock(&lock);
    int code = real(file, size);
    if (code == 0) add(kind_truncate, name, size, "", 0, 0);
    pthread_mutex_unlock(&lock);
    return code;
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

/// What was written before a sync began is on the disk when it ends.
static int synced(int file, int (*real)(int)) {
    char path[path_bytes_max];
    const char *name = noted_file(file, path);
    if (name == NULL) return real(file);
    pthread_mutex_lock(&lock);
    uint64_t since = (uint64_t)lseek(journal, 0, SEEK_END);
    pthread_mutex_unlock(&lock);
    int code = real(file);
    pthread_mutex_lock(&lock);
    if (code == 0) add(kind_sync, name, 0, "", 0, since);
    pthread_mutex_unlock(&lock);
    return code;
}

int fdatasync(int file) { return synced(file, next("fdatasync")); }

int fsync(int file) { return synced(file, next("fsync")); }

int unlink(const char *path) {
    int (*real)(const char *) = next("unlink");
    const char *name = noted(path);
    if (name == NULL) return real(path);
    pthread_mutex_lock(&lock);
    int code = real(path);
    if (code == 0) add(kind_unlink, name, 0, "", 0, 0);
    pthread_mutex_unlock(&lock);
    return code;
}
