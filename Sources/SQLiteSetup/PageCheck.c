#include "PageCheck.h"

#include "PageSum.h"
#include "SQLiteSetup.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    page_bytes = page_sum_page_bytes,
    /// Offset in the header of the file: bytes that SQLite leaves at the end of each page.
    reserve_offset = 20,
    /// A loss of power in a checkpoint tears the pages that it was writing; it does not tear all of these.
    identity_pages_max = 64,
    right_seconds = 60,
};

static const char magic[16] = "SQLite format 3";

static _Thread_local uint32_t damaged_page;
static atomic_ullong damaged_reads;

uint32_t sqlite_setup_damaged_page(void) { return damaged_page; }

uint64_t sqlite_setup_damaged_reads(void) { return atomic_load_explicit(&damaged_reads, memory_order_relaxed); }

int page_check_damage(uint32_t number) {
    damaged_page = number;
    atomic_fetch_add_explicit(&damaged_reads, 1, memory_order_relaxed);
    return sqlite_setup_damaged;
}

static uint32_t number_at(sqlite3_int64 offset) { return (uint32_t)(offset / page_bytes) + 1; }

/// Finds the identity that pages of the file agree with; `SQLITE_NOTFOUND` if the file has no page.
static int find_identity(struct page_check *check, struct page_source source) {
    static const unsigned char blank[page_bytes];
    unsigned char page[page_bytes];
    int is_blank = 1;
    if (check->is_identity_known) return SQLITE_OK;
    for (uint32_t number = 1; number <= identity_pages_max; number++) {
        int code = source.methods->xRead(source.file, page, page_bytes, (sqlite3_int64)(number - 1) * page_bytes);
        // SQLite makes a file that it maps longer before it writes its first page.
        if (code == SQLITE_IOERR_SHORT_READ) return is_blank ? SQLITE_NOTFOUND : page_check_damage(1);
        if (code != SQLITE_OK) return code;
        is_blank = is_blank && memcmp(page, blank, page_bytes) == 0;
        uint64_t identity = page_sum_identity(page);
        if (!page_sum_is_right(page, number, identity)) continue;
        check->identity = identity;
        check->is_identity_known = 1;
        return SQLITE_OK;
    }
    return page_check_damage(1);
}

/// Whether page 1 is one of a file without checksums, and not one with a damaged header.
static int is_without_sums(unsigned char *page) {
    if (page[reserve_offset] != 0) return 0;
    page[reserve_offset] = page_sum_bytes;
    return !page_sum_is_right(page, 1, page_sum_identity(page));
}

int page_check_begin(struct page_check *check, struct page_source source, int *state) {
    unsigned char page[page_bytes];
    check->is_on = 1;
    *state = sqlite_setup_sums_used;
    int code = source.methods->xRead(source.file, page, page_bytes, 0);
    if (code == SQLITE_IOERR_SHORT_READ) return SQLITE_OK;
    if (code != SQLITE_OK) return code;
    if (memcmp(page, magic, sizeof magic) == 0 && is_without_sums(page)) *state = sqlite_setup_sums_missing;
    return SQLITE_OK;
}

static int compare(struct page_check *check, struct page_source source, const void *page, sqlite3_int64 offset) {
    int code = find_identity(check, source);
    if (code == SQLITE_NOTFOUND) return page_check_damage(number_at(offset));
    if (code != SQLITE_OK) return code;
    return page_sum_is_right(page, number_at(offset), check->identity) ? SQLITE_OK
                                                                       : page_check_damage(number_at(offset));
}

int page_check_read(
    struct page_check *check, struct page_source source, const void *bytes, int count, sqlite3_int64 offset, int code
) {
    // The header alone is read before its page is.
    if (!check->is_on || count != page_bytes || offset % page_bytes != 0) return code;
    // SQLite says of what is no database at all that it is none.
    if (offset == 0 && memcmp(bytes, magic, sizeof magic) != 0) return code;
    if (code == SQLITE_IOERR_SHORT_READ) return page_check_damage(number_at(offset));
    return code == SQLITE_OK ? compare(check, source, bytes, offset) : code;
}

/// Makes room for the bit of a page.
static int has_room(struct page_check *check, uint32_t index) {
    if (index < check->right_bytes) return 1;
    uint32_t count = index + index / 4 + 1024;
    unsigned char *right = realloc(check->right, count);
    if (right == NULL) return 0;
    memset(right + check->right_bytes, 0, count - check->right_bytes);
    check->right = right;
    check->right_bytes = count;
    return 1;
}

int page_check_mapped(struct page_check *check, struct page_source source, const void *page, sqlite3_int64 offset) {
    uint32_t number = number_at(offset);
    uint32_t index = number / 8;
    unsigned char bit = (unsigned char)(1 << number % 8);
    int has_bit = has_room(check, index);
    if (has_bit && check->right[index] & bit) return SQLITE_OK;
    int code = compare(check, source, page, offset);
    if (code == SQLITE_OK && has_bit) check->right[index] |= bit;
    return code;
}

void page_check_age(struct page_check *check) {
    struct timespec now;
    if (check->right == NULL || clock_gettime(CLOCK_MONOTONIC_COARSE, &now) != 0) return;
    if (now.tv_sec - check->right_since_seconds < right_seconds) return;
    check->right_since_seconds = now.tv_sec;
    memset(check->right, 0, check->right_bytes);
}

int page_check_write(struct page_check *check, struct page_source source, unsigned char *page, sqlite3_int64 offset) {
    int code = find_identity(check, source);
    if (code == SQLITE_NOTFOUND) {
        sqlite3_randomness(sizeof check->identity, &check->identity);
        check->is_identity_known = 1;
    } else if (code != SQLITE_OK) {
        return code;
    }
    page_sum_write(page, number_at(offset), check->identity);
    return SQLITE_OK;
}

void page_check_end(struct page_check *check) {
    free(check->right);
    memset(check, 0, sizeof *check);
}
