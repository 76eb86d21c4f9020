#include "UnusedBytes.h"

#include <string.h>

// A page of a tree (https://www.sqlite.org/fileformat2.html#b_tree_pages):
//
//     header: 8 bytes of a leaf, 12 of another page      offsets of cells, 2 bytes each | unused | cells
//     0 kind  1 first free block  3 number of cells  5 start of the cells  7 ...
//
// Page 1 begins with 100 bytes about the file.

enum {
    page_bytes = 4096,
    file_header_bytes = 100,
    /// Offset in the header of the file: not 0 if some pages are maps of pages, which look like pages of trees.
    vacuum_offset = 52,
};

static int number(const unsigned char *bytes) { return bytes[0] << 8 | bytes[1]; }

/// The size of the header of a page of a tree; 0 for every other page.
static int header_bytes(unsigned char kind) {
    switch (kind) {
        case 2: case 5: return 12;
        case 10: case 13: return 8;
        default: return 0;
    }
}

/// Finds the unused bytes of a page; 0 if it has none, or is not a page of a tree.
static int find_unused(const unsigned char *page, int header, int *start) {
    int size = header_bytes(page[header]);
    if (size == 0) return 0;
    int cells = number(page + header + 3);
    int end = number(page + header + 5);
    *start = header + size + 2 * cells;
    if (end <= *start || end > page_bytes) return 0;
    for (const unsigned char *cell = page + header + size; cell < page + *start; cell += 2) {
        int offset = number(cell);
        if (offset < end || offset >= page_bytes) return 0;
    }
    return end - *start;
}

int unused_bytes_may_clean(const void *bytes, int count) {
    static const unsigned char none[4];
    return count == page_bytes && memcmp((const unsigned char *)bytes + vacuum_offset, none, sizeof none) == 0;
}

const void *unused_bytes_cleaned(const void *bytes, int count, long long offset, unsigned char *copy) {
    int start = 0;
    if (count != page_bytes || offset >= unused_bytes_offset_max) return bytes;
    int unused = find_unused(bytes, offset == 0 ? file_header_bytes : 0, &start);
    if (unused == 0) return bytes;
    memcpy(copy, bytes, page_bytes);
    memset(copy + start, 0, unused);
    return copy;
}
