#include "LogEnd.h"
#include "LogSum.h"
#include "PageCheck.h"
#include "SQLiteSetup.h"
#include "UnusedBytes.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// A file system for SQLite that is its own, but for the log: frames of one transaction are gathered, and written with one
// call. SQLite calls twice for each, once for the 24 bytes of its header and once for its page.
//
// What is gathered is in the file before SQLite shows it to anybody:
//
// - the last frame of a commit has the size of the file in its header, and its page writes everything;
// - whatever asks for the log (a read, a sync, its size, a truncation) writes everything first;
// - when the lock on writing is given back, frames of a transaction that was taken back are forgotten.
//
// So no byte is held while somebody else may write, and a disk that is full fails the commit, as without this file.
//
// A quota, or a bound on the size of files, is want of room as well. SQLite calls it an I/O error, which here is left for
// a disk that fails.
//
// Pages of a database are written without what they had in unused bytes. Pages of a store have a checksum, which is
// compared when they are read, and a checkpoint compares the frames that it copies.

enum {
    header_bytes = 24,
    /// Offset in the header of a frame, big endian: pages of the file after a commit; 0 in every other frame.
    commit_offset = 4,
    /// 31 frames with pages of 4 KiB: SQLite writes less than 128 KiB with one call.
    gathered_bytes_max = 31 * (header_bytes + 4096),
    /// SQLite's WAL_WRITE_LOCK.
    write_lock = 0,
};

/// What stands behind SQLite's own part of a file that has methods of ours.
struct part {
    const sqlite3_io_methods *sqlites;
    sqlite3_io_methods methods;
    /// Of a database: its log, while that is open.
    sqlite3_file *log;
    /// Of a log: its database.
    sqlite3_file *database;
    unsigned char *gathered;
    int count;
    /// Where the gathered bytes belong.
    sqlite3_int64 start;
    /// Behind the last byte that SQLite has written; below 0 when that is not known.
    sqlite3_int64 next;
    /// The page that follows ends a commit.
    int is_commit;
    /// Of a database: pages may be cleaned, as far as page 1 has been seen.
    int may_clean;
    /// Of a database: its path, while it is open.
    const char *name;
    /// Of a database: the index of its log, while that is mapped.
    const volatile void *index;
    struct page_check check;
    /// Of a log: its frames are being copied to the database.
    int is_copied;
};

static sqlite3_vfs *sqlites;
static sqlite3_vfs ours;
static int part_offset;

static struct part *part_of(sqlite3_file *file) { return (struct part *)((char *)file + part_offset); }

static int is_shortage(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

/// What a write came to: want of room has the code of a full disk, whatever the reason.
static int with_shortage(const struct part *part, sqlite3_file *file, int code) {
    int error = 0;
    if (code != SQLITE_IOERR_WRITE) return code;
    part->sqlites->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
    return is_shortage(error) ? SQLITE_FULL : code;
}

static int write_plainly(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct part *part = part_of(file);
    return with_shortage(part, file, part->sqlites->xWrite(file, bytes, count, offset));
}

static struct page_source source_of(sqlite3_file *file) {
    return (struct page_source){.methods = part_of(file)->sqlites, .file = file};
}

static int map_memory(sqlite3_file *file, int index, int bytes, int is_writer, void volatile **address) {
    int code = part_of(file)->sqlites->xShmMap(file, index, bytes, is_writer, address);
    if (index == 0) part_of(file)->index = code == SQLITE_OK ? *address : NULL;
    return code == SQLITE_IOERR_SHMSIZE && is_shortage(errno) ? SQLITE_FULL : code;
}

static int unmap_memory(sqlite3_file *file, int removes) {
    part_of(file)->index = NULL;
    return part_of(file)->sqlites->xShmUnmap(file, removes);
}

static void forget(struct part *part) {
    if (part->count > 0) part->next = -1;
    part->count = 0;
    part->is_commit = 0;
}

static int write_gathered(sqlite3_file *file) {
    struct part *part = part_of(file);
    if (part->count == 0) return SQLITE_OK;
    int count = part->count;
    part->count = 0;
    int code = write_plainly(file, part->gathered, count, part->start);
    if (code != SQLITE_OK) part->next = -1;
    return code;
}

/// Whether bytes of a frame say that a commit ends with its page.
static int ends_commit(const unsigned char *bytes, int count) {
    static const unsigned char none[4];
    return count == header_bytes && memcmp(bytes + commit_offset, none, sizeof none) != 0;
}

static int write_through(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct part *part = part_of(file);
    int code = write_gathered(file);
    if (code != SQLITE_OK) return code;
    code = write_plainly(file, bytes, count, offset);
    part->next = code == SQLITE_OK ? offset + count : -1;
    part->is_commit = ends_commit(bytes, count);
    return code;
}

static int write_log(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct part *part = part_of(file);
    if (part->gathered == NULL) part->gathered = malloc(gathered_bytes_max);
    // Frames that SQLite writes anew, in the middle of the log, are rare.
    if (part->gathered == NULL || offset != part->next || count > gathered_bytes_max) {
        return write_through(file, bytes, count, offset);
    }
    if (count > gathered_bytes_max - part->count) {
        int code = write_gathered(file);
        if (code != SQLITE_OK) return code;
    }
    if (part->count == 0) part->start = offset;
    memcpy(part->gathered + part->count, bytes, count);
    part->count += count;
    part->next = offset + count;
    int was_commit = part->is_commit;
    part->is_commit = ends_commit(bytes, count);
    return was_commit ? write_gathered(file) : SQLITE_OK;
}

static int read_log(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    struct part *part = part_of(file);
    int code = write_gathered(file);
    if (code == SQLITE_OK) code = part->sqlites->xRead(file, bytes, count, offset);
    // A checkpoint gives each page that it copies a checksum, so it must copy no wrong page.
    int is_compared = code == SQLITE_OK && part->is_copied && count == log_sum_page_bytes;
    return is_compared ? log_sum_check(part->sqlites, file, bytes, offset) : code;
}

static int truncate_log(sqlite3_file *file, sqlite3_int64 size) {
    struct part *part = part_of(file);
    int code = write_gathered(file);
    if (code == SQLITE_OK && size == 0) log_end_sync_note(part->name);
    return code == SQLITE_OK ? part->sqlites->xTruncate(file, size) : code;
}

static int sync_log(sqlite3_file *file, int flags) {
    int code = write_gathered(file);
    return code == SQLITE_OK ? part_of(file)->sqlites->xSync(file, flags) : code;
}

static int size_of_log(sqlite3_file *file, sqlite3_int64 *size) {
    int code = write_gathered(file);
    return code == SQLITE_OK ? part_of(file)->sqlites->xFileSize(file, size) : code;
}

static int close_log(sqlite3_file *file) {
    struct part *part = part_of(file);
    if (part->database != NULL) part_of(part->database)->log = NULL;
    free(part->gathered);
    return part->sqlites->xClose(file);
}

static int write_database(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct part *part = part_of(file);
    unsigned char copy[unused_bytes_page_max];
    if (offset == 0) part->may_clean = unused_bytes_may_clean(bytes, count);
    if (part->may_clean) bytes = unused_bytes_cleaned(bytes, count, offset, copy);
    if (part->check.is_on && count == (int)sizeof copy && offset % (int)sizeof copy == 0) {
        if (bytes != copy) memcpy(copy, bytes, sizeof copy);
        int code = page_check_write(&part->check, source_of(file), copy, offset);
        if (code != SQLITE_OK) return code;
        bytes = copy;
    }
    return write_plainly(file, bytes, count, offset);
}

static int read_database(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    struct part *part = part_of(file);
    int code = part->sqlites->xRead(file, bytes, count, offset);
    return page_check_read(&part->check, source_of(file), bytes, count, offset, code);
}

static int fetch_page(sqlite3_file *file, sqlite3_int64 offset, int count, void **page) {
    struct part *part = part_of(file);
    int code = part->sqlites->xFetch(file, offset, count, page);
    if (code != SQLITE_OK || *page == NULL || !part->check.is_on) return code;
    code = page_check_mapped(&part->check, source_of(file), *page, offset);
    if (code == SQLITE_OK) return code;
    part->sqlites->xUnfetch(file, offset, *page);
    *page = NULL;
    return code;
}

/// Without a log nothing is noted: a database that is its own journal has none.
static int sync_database(sqlite3_file *file, int flags) {
    struct part *part = part_of(file);
    int code = part->sqlites->xSync(file, flags);
    if (code == SQLITE_OK && part->check.is_on) log_end_note_copied(part->index, part->name);
    return code;
}

static int control_database(sqlite3_file *file, int operation, void *argument) {
    struct part *part = part_of(file);
    switch (operation) {
        case sqlite_setup_control_sums: return page_check_begin(&part->check, source_of(file), argument);
        case sqlite_setup_control_log_end:
            return log_end_read(part->index, argument) ? SQLITE_OK : SQLITE_NOTFOUND;
        case SQLITE_FCNTL_CKPT_START: case SQLITE_FCNTL_CKPT_DONE:
            if (part->log != NULL) part_of(part->log)->is_copied = operation == SQLITE_FCNTL_CKPT_START;
            break;
        default: break;
    }
    return part->sqlites->xFileControl(file, operation, argument);
}

static int close_database(sqlite3_file *file) {
    page_check_end(&part_of(file)->check);
    return part_of(file)->sqlites->xClose(file);
}

/// A file that is new has no page 1 yet: it is one of ours, whose pages may be cleaned.
static int may_clean(sqlite3_file *file, const sqlite3_io_methods *methods) {
    unsigned char page[unused_bytes_page_max];
    int code = methods->xRead(file, page, sizeof page, 0);
    return code == SQLITE_IOERR_SHORT_READ || (code == SQLITE_OK && unused_bytes_may_clean(page, sizeof page));
}

static int lock_database(sqlite3_file *file, int first, int count, int flags) {
    struct part *part = part_of(file);
    int is_given_back = (flags & SQLITE_SHM_UNLOCK) && (flags & SQLITE_SHM_EXCLUSIVE) && first == write_lock;
    if (is_given_back && part->log != NULL) forget(part_of(part->log));
    if (flags & SQLITE_SHM_LOCK) page_check_age(&part->check);
    return part->sqlites->xShmLock(file, first, count, flags);
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out) {
    (void)vfs;
    int code = sqlites->xOpen(sqlites, name, file, flags, flags_out);
    int is_log = (flags & SQLITE_OPEN_WAL) != 0;
    if (code != SQLITE_OK || file->pMethods == NULL || !(is_log || (flags & SQLITE_OPEN_MAIN_DB))) return code;
    struct part *part = part_of(file);
    memset(part, 0, sizeof *part);
    part->sqlites = file->pMethods;
    part->methods = *file->pMethods;
    part->next = -1;
    part->name = name;
    file->pMethods = &part->methods;
    if (!is_log) {
        part->may_clean = may_clean(file, part->sqlites);
        part->methods.xRead = read_database;
        part->methods.xWrite = write_database;
        part->methods.xSync = sync_database;
        part->methods.xFileControl = control_database;
        part->methods.xClose = close_database;
        if (part->methods.iVersion >= 2) {
            part->methods.xShmLock = lock_database;
            part->methods.xShmMap = map_memory;
            part->methods.xShmUnmap = unmap_memory;
        }
        if (part->methods.iVersion >= 3) part->methods.xFetch = fetch_page;
        return SQLITE_OK;
    }
    part->database = sqlite3_database_file_object(name);
    // A database that another file system has opened: nobody would say that the lock is given back.
    if (part->database == NULL || part->database->pMethods != &part_of(part->database)->methods) {
        part->database = NULL;
        file->pMethods = part->sqlites;
        return SQLITE_OK;
    }
    part_of(part->database)->log = file;
    part->methods.xWrite = write_log;
    part->methods.xRead = read_log;
    part->methods.xTruncate = truncate_log;
    part->methods.xSync = sync_log;
    part->methods.xFileSize = size_of_log;
    part->methods.xClose = close_log;
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    log_end_sync_note(name);
    return sqlites->xDelete(sqlites, name, sync);
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
    (void)vfs;
    return sqlites->xAccess(sqlites, name, flags, result);
}

static int full_name(sqlite3_vfs *vfs, const char *name, int count, char *result) {
    (void)vfs;
    return sqlites->xFullPathname(sqlites, name, count, result);
}

static int random_bytes(sqlite3_vfs *vfs, int count, char *bytes) {
    (void)vfs;
    return sqlites->xRandomness(sqlites, count, bytes);
}

static int sleep_for(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return sqlites->xSleep(sqlites, microseconds);
}

static int now(sqlite3_vfs *vfs, double *days) {
    (void)vfs;
    return sqlites->xCurrentTime(sqlites, days);
}

static int last_error(sqlite3_vfs *vfs, int count, char *text) {
    (void)vfs;
    return sqlites->xGetLastError(sqlites, count, text);
}

static int now_in_milliseconds(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
    (void)vfs;
    return sqlites->xCurrentTimeInt64(sqlites, milliseconds);
}

int sqlite_setup_log_file(void) {
    sqlites = sqlite3_vfs_find(NULL);
    if (sqlites == NULL || sqlites->iVersion < 2) return SQLITE_ERROR;
    part_offset = (sqlites->szOsFile + 15) / 16 * 16;
    ours = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = part_offset + (int)sizeof(struct part),
        .mxPathname = sqlites->mxPathname,
        .zName = "tidemark",
        // Without methods for extensions, which no connection of ours may load.
        .xOpen = open_file,
        .xDelete = delete_file,
        .xAccess = access_file,
        .xFullPathname = full_name,
        .xRandomness = random_bytes,
        .xSleep = sleep_for,
        .xCurrentTime = now,
        .xGetLastError = last_error,
        .xCurrentTimeInt64 = now_in_milliseconds,
    };
    return sqlite3_vfs_register(&ours, 1);
}
