#ifndef PAGE_CHECK_H
#define PAGE_CHECK_H

#include <sqlite3.h>
#include <stdint.h>

/// How one connection checks the pages that it reads from a file, and writes their checksums.
///
/// A connection asks for it (`sqlite_setup_control_sums`): no byte of the file can turn it off, and other files of the
/// process stay as they are.
struct page_check {
    int is_on;
    int is_identity_known;
    uint64_t identity;
    /// Mapped pages that were right within the last minute, a bit for each.
    unsigned char *right;
    uint32_t right_bytes;
    int64_t right_since_seconds;
};

/// A file, and its own calls.
struct page_source {
    const sqlite3_io_methods *methods;
    sqlite3_file *file;
};

/// Turns it on. Sets `state` to one of `sqlite_setup_sums_…`.
int page_check_begin(struct page_check *check, struct page_source source, int *state);

/// The result of a read: `code`, or damage.
int page_check_read(
    struct page_check *check, struct page_source source, const void *bytes, int count, sqlite3_int64 offset, int code
);

/// Whether a page that is mapped is right: `SQLITE_OK`, or damage.
int page_check_mapped(struct page_check *check, struct page_source source, const void *page, sqlite3_int64 offset);

/// Has mapped pages compared again that were compared a minute ago: the kernel may have read them from the disk since.
void page_check_age(struct page_check *check);

/// Puts the checksum into a page that is about to be written.
int page_check_write(struct page_check *check, struct page_source source, unsigned char *page, sqlite3_int64 offset);

void page_check_end(struct page_check *check);

/// Remembers a damaged page for `sqlite_setup_damaged_page`, and returns the code.
int page_check_damage(uint32_t number);

#endif
