#ifndef SQLITE_SETUP_H
#define SQLITE_SETUP_H

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

#endif
