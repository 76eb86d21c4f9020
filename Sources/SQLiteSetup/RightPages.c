#include "RightPages.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { right_seconds = 60 };

int right_pages_has(const struct right_pages *pages, uint32_t number) {
    return number / 8 < pages->bytes && pages->bits[number / 8] & 1 << number % 8;
}

void right_pages_add(struct right_pages *pages, uint32_t number) {
    uint32_t index = number / 8;
    if (index >= pages->bytes) {
        uint32_t count = index + index / 4 + 1024;
        unsigned char *bits = realloc(pages->bits, count);
        if (bits == NULL) return;
        memset(bits + pages->bytes, 0, count - pages->bytes);
        pages->bits = bits;
        pages->bytes = count;
    }
    pages->bits[index] |= (unsigned char)(1 << number % 8);
}

void right_pages_age(struct right_pages *pages) {
    struct timespec now;
    if (pages->bits == NULL || clock_gettime(CLOCK_MONOTONIC_COARSE, &now) != 0) return;
    if (now.tv_sec - pages->since_seconds < right_seconds) return;
    pages->since_seconds = now.tv_sec;
    right_pages_forget(pages);
}

void right_pages_forget(struct right_pages *pages) {
    if (pages->bits != NULL) memset(pages->bits, 0, pages->bytes);
}

void right_pages_end(struct right_pages *pages) {
    free(pages->bits);
    memset(pages, 0, sizeof *pages);
}
