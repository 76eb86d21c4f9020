#ifndef LOG_END_H
#define LOG_END_H

#include <stdint.h>

struct sqlite_setup_log_end;

// The index of a log, which SQLite's connections share in memory (https://www.sqlite.org/walformat.html):
//
//     0 header  48 the same once more  96 frames in the file  …  128 frames that a checkpoint began to copy
//     header: 12 is made  16 frames  24 sum of the last one  32 salts

/// Where the log ends, by its index; 0 if a commit is just being added.
int log_end_read(const volatile void *index, struct sqlite_setup_log_end *end);

/// Notes that a checkpoint has all frames in the file, and that they are on disk: see `sqlite_setup_synced_ending`.
///
/// `database` is the path of the file. Does nothing without a note.
void log_end_note_copied(const volatile void *index, const char *database);

/// Has the note on disk, before the log of a path is emptied or removed.
void log_end_sync_note(const char *log);

#endif
