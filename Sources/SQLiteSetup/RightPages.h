#ifndef RIGHT_PAGES_H
#define RIGHT_PAGES_H

#include <stdint.h>

/// Pages, or frames of a log, that were right within the last minute: a bit for each.
struct right_pages {
    unsigned char *bits;
    uint32_t bytes;
    int64_t since_seconds;
};

int right_pages_has(const struct right_pages *pages, uint32_t number);

/// Without memory for it, it is compared again.
void right_pages_add(struct right_pages *pages, uint32_t number);

/// Forgets all that is a minute old: the kernel may have read it from the disk again.
void right_pages_age(struct right_pages *pages);

void right_pages_forget(struct right_pages *pages);

void right_pages_end(struct right_pages *pages);

#endif
