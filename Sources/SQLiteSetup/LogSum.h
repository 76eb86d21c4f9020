#ifndef LOG_SUM_H
#define LOG_SUM_H

#include <sqlite3.h>

// SQLite's log: 32 bytes of header, then frames of 24 bytes of header and a page. The running sum is the last eight
// bytes of each header. SQLite compares it when it recovers the log, and at no other time.

enum { log_sum_header_bytes = 32, log_sum_frame_bytes = 24, log_sum_page_bytes = 4096 };

/// Compares a page, read from the log at an offset, with the sum of its frame: `SQLITE_OK`, or damage.
int log_sum_check(
    const sqlite3_io_methods *methods, sqlite3_file *log, const unsigned char *page, sqlite3_int64 offset
);

#endif
