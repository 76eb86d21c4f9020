#include "PageSum.h"

#include "SQLiteSetup.h"

#include <string.h>

// Eight lanes that multiply 64 by 64 bits and fold the product, as wyhash does: 87 ns for a page, where three streams
// of the processor's CRC-32C take 114, and need a table on a processor without the instruction. A page that differs
// has the same checksum with a chance of about 2^-64.

enum { lanes = 8, block_bytes = 16 * lanes, content_bytes = page_sum_page_bytes - page_sum_bytes };

static const uint64_t secrets[lanes] = {
    0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3,
    0x1d8e4e27c47d124f, 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93, 0xc2b2ae3d27d4eb4f,
};

static uint64_t little_endian(uint64_t value) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(value);
#else
    return value;
#endif
}

static inline uint64_t word(const unsigned char *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return little_endian(value);
}

static void put_word(unsigned char *bytes, uint64_t value) {
    value = little_endian(value);
    memcpy(bytes, &value, sizeof value);
}

static inline uint64_t mixed(uint64_t first, uint64_t second) {
    __uint128_t product = (__uint128_t)first * second;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline void add_block(uint64_t sums[lanes], const unsigned char *block) {
    for (int lane = 0; lane < lanes; lane++) {
        const unsigned char *words = block + 16 * lane;
        sums[lane] = mixed(word(words) ^ secrets[lanes - 1 - lane], word(words + 8) ^ sums[lane]);
    }
}

static uint64_t sum_of(const unsigned char *page, uint32_t number, uint64_t identity) {
    uint64_t seed = mixed(identity ^ secrets[0], number ^ secrets[1]);
    uint64_t sums[lanes];
    for (int lane = 0; lane < lanes; lane++) sums[lane] = seed ^ secrets[lane];
    const unsigned char *last = page + page_sum_page_bytes - block_bytes;
    for (const unsigned char *block = page; block < last; block += block_bytes) add_block(sums, block);
    unsigned char end[block_bytes] = {0};
    memcpy(end, last, block_bytes - page_sum_bytes);
    add_block(sums, end);
    uint64_t left = mixed(sums[0] ^ sums[1], sums[2] ^ sums[3]);
    uint64_t right = mixed(sums[4] ^ sums[5], sums[6] ^ sums[7]);
    return mixed(left ^ secrets[2], right ^ secrets[3]);
}

uint64_t page_sum_identity(const unsigned char *page) { return word(page + content_bytes + 8); }

int page_sum_is_right(const unsigned char *page, uint32_t number, uint64_t identity) {
    return page_sum_identity(page) == identity && word(page + content_bytes) == sum_of(page, number, identity);
}

void page_sum_write(unsigned char *page, uint32_t number, uint64_t identity) {
    put_word(page + content_bytes, sum_of(page, number, identity));
    put_word(page + content_bytes + 8, identity);
}

int sqlite_setup_read_identity(const void *page, uint64_t *identity) {
    *identity = page_sum_identity(page);
    return page_sum_is_right(page, 1, *identity);
}

void sqlite_setup_write_sum(void *page, uint32_t number, uint64_t identity) { page_sum_write(page, number, identity); }
