#ifndef PAGE_SUM_H
#define PAGE_SUM_H

#include <stdint.h>

// The reserved bytes at the end of a page of a store, little endian:
//
//     4080 content | 8 checksum | 8 identity
//
// The identity is a number that the file drew when it was made; all its pages have it. The checksum is that of the
// content, of the page's number, and of the identity. So a page at another place, or of another file, is a wrong one.
//
// Pages in the log carry what the cache had in these bytes: SQLite computes the sums of its log before it writes, and
// nothing may change a page afterwards. The bytes count in the file alone.

enum { page_sum_page_bytes = 4096, page_sum_bytes = 16 };

/// The identity that a page says to have.
uint64_t page_sum_identity(const unsigned char *page);

/// Whether a page is the one of that number in the file of that identity.
int page_sum_is_right(const unsigned char *page, uint32_t number, uint64_t identity);

/// Writes the reserved bytes of a page.
void page_sum_write(unsigned char *page, uint32_t number, uint64_t identity);

#endif
