#ifndef SQLITE_SETUP_H
#define SQLITE_SETUP_H

#include <stddef.h>
#include <stdint.h>

/// How SQLite is set up for the process, in C because `sqlite3_config` has a variable number of arguments, which Swift
/// cannot call. Most have an effect only before the first connection of the process, and return SQLite's result code.

/// Turns off SQLite's statistics of memory, which take a mutex around each of its allocations.
int sqlite_setup_without_memory_statistics(void);

/// Puts a page cache in front of SQLite's own that forwards everything but truncations that would remove nothing.
///
/// When a page of a tree is split, SQLite gives a page for a moment the number of the page at 1 GiB, which no file uses.
/// Its cache takes that for the highest page that it holds, and as each commit truncates it to the size of the file, it
/// looks through all its pages at each commit of a file under 1 GiB: half a millisecond with 60,000 pages.
int sqlite_setup_page_cache(void);

/// Puts a file system in front of SQLite's own that writes the log of a transaction with few calls.
///
/// SQLite writes each frame of its log with two calls. A transaction of 200 scattered records has 500 frames, and the
/// calls took a third of its time. It also writes pages of a database without what SQLite left in their unused bytes.
/// Connections that are open already keep the file system that they have. SQLite's other
/// settings have no effect any more after this one.
int sqlite_setup_log_file(void);

/// Whether SQLite was started with that cache: not in a process that had a connection before.
int sqlite_setup_page_cache_is_used(void);

/// Bytes that pages of a store have at their end for a checksum: `PageSum.h` has their layout.
enum { sqlite_setup_reserve_bytes = 16 };

/// Calls of `sqlite3_file_control`.
enum {
    /// Has a connection compare each page that it reads from the file with its checksum, and write checksums.
    ///
    /// The argument is an `int`, set to one of `sqlite_setup_sums_…`. Belongs before the first read.
    sqlite_setup_control_sums = 20001,
    /// Tells where the log ends. The argument is a `sqlite_setup_log_end`.
    ///
    /// `SQLITE_NOTFOUND` if there is no log, or another process is adding to it.
    sqlite_setup_control_log_end = 20002,
};

enum {
    /// The file has checksums, or no pages yet.
    sqlite_setup_sums_used = 0,
    /// The file was made without.
    sqlite_setup_sums_missing = 1,
};

/// SQLite's code for a page that is not the one that was written: an extended `SQLITE_CORRUPT`, since SQLite takes back
/// the whole transaction after an I/O error.
enum { sqlite_setup_damaged = 11 | 77 << 8 };

/// The page that the last such code on this thread was for.
uint32_t sqlite_setup_damaged_page(void);

/// How often a page was found damaged since the process began.
uint64_t sqlite_setup_damaged_reads(void);

/// Reads the identity of a file from its page 1; 0 if the page is damaged.
int sqlite_setup_read_identity(const void *page, uint64_t *identity);

/// Writes the checksum of a page that is written without SQLite.
void sqlite_setup_write_sum(void *page, uint32_t number, uint64_t identity);

/// The last frame of a log.
struct sqlite_setup_log_end {
    uint32_t frames;
    uint32_t sum[2];
    unsigned char salts[8];
};

/// Adds bytes, a multiple of eight, to the running sum of a log.
void sqlite_setup_add_log_sum(const void *bytes, size_t count, int is_big_endian, uint32_t *first, uint32_t *second);

/// Beside a store: what its log had when it was last synced, and what of it a checkpoint has in the file since.
#define sqlite_setup_synced_ending "-synced"

/// Where that file has the second, and how long it is.
enum { sqlite_setup_copied_offset = 512, sqlite_setup_copied_bytes = 32 };

#endif
