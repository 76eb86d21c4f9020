#include "LogSum.h"

#include "PageCheck.h"
#include "SQLiteSetup.h"

#include <string.h>

static uint32_t swapped(uint32_t value) { return __builtin_bswap32(value); }

static uint32_t big_endian(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

void sqlite_setup_add_log_sum(
    const void *bytes, size_t count, int is_big_endian, uint32_t *first_sum, uint32_t *second_sum
) {
    uint32_t first = *first_sum, second = *second_sum, words[2];
    const unsigned char *end = (const unsigned char *)bytes + count / 8 * 8;
    int is_swapped = is_big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    for (const unsigned char *at = bytes; at < end; at += 8) {
        memcpy(words, at, sizeof words);
        if (is_swapped) words[0] = swapped(words[0]), words[1] = swapped(words[1]);
        first += words[0] + second;
        second += words[1] + first;
    }
    *first_sum = first;
    *second_sum = second;
}

int log_sum_check(
    const sqlite3_io_methods *methods, sqlite3_file *log, const unsigned char *page, sqlite3_int64 offset
) {
    unsigned char magic[4], before[8], header[log_sum_frame_bytes];
    sqlite3_int64 start = offset - log_sum_frame_bytes;
    // The sum so far is at the end of the log's header, or two thirds into the header of the frame before.
    sqlite3_int64 so_far = start - (start == log_sum_header_bytes ? 8 : log_sum_page_bytes + 8);
    int code = methods->xRead(log, magic, sizeof magic, 0);
    if (code == SQLITE_OK) code = methods->xRead(log, before, sizeof before, so_far);
    if (code == SQLITE_OK) code = methods->xRead(log, header, sizeof header, start);
    if (code != SQLITE_OK) return code;
    uint32_t first = big_endian(before), second = big_endian(before + 4);
    int is_big_endian = magic[3] & 1;
    sqlite_setup_add_log_sum(header, 8, is_big_endian, &first, &second);
    sqlite_setup_add_log_sum(page, log_sum_page_bytes, is_big_endian, &first, &second);
    if (first == big_endian(header + 16) && second == big_endian(header + 20)) return SQLITE_OK;
    return page_check_damage(big_endian(header));
}
