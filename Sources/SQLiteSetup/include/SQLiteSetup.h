#ifndef SQLITE_SETUP_H
#define SQLITE_SETUP_H

/// Turns off SQLite's statistics of memory, which take a mutex around each of its allocations.
///
/// In C because `sqlite3_config` has a variable number of arguments, which Swift cannot call. Has an effect only before
/// the first connection of the process; returns SQLite's result code.
int sqlite_setup_without_memory_statistics(void);

#endif
