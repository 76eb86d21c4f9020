#ifndef UNUSED_BYTES_H
#define UNUSED_BYTES_H

/// The bytes between the header and the cells of a page, where SQLite leaves what it moved to other pages.
///
/// With `secure_delete` SQLite overwrites each cell that it deletes. When it splits or joins pages, the old places of
/// the cells stay as they were, and a deleted record could be read there.

enum { unused_bytes_page_max = 4096 };

/// Pages behind 64 GiB stay as they are. In a file of 128 GiB the first byte of other pages, the highest of a page's
/// number, begins to look like the kind of a page of a tree.
static const long long unused_bytes_offset_max = 64LL << 30;

/// Whether pages of a file may be cleaned, by its page 1.
int unused_bytes_may_clean(const void *bytes, int count);

/// Returns a page without what its unused bytes had: in `copy`, or the page itself if there was nothing to do.
const void *unused_bytes_cleaned(const void *bytes, int count, long long offset, unsigned char *copy);

#endif
