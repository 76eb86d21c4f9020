#include "SQLiteSetup.h"

#include <sqlite3.h>
#include <stdlib.h>

/// A cache of one file.
struct page_cache {
    sqlite3_pcache *cache;
    /// No page above it is in the cache, but `lent`.
    unsigned highest;
    /// A number above `highest` that a page has for the time of a swap; 0: none.
    unsigned lent;
};

static sqlite3_pcache_methods2 sqlites;
static int is_used;

static struct page_cache *ours(sqlite3_pcache *cache) { return (struct page_cache *)cache; }

static int start(void *argument) {
    (void)argument;
    is_used = 1;
    return sqlites.xInit(sqlites.pArg);
}

static void stop(void *argument) {
    (void)argument;
    if (sqlites.xShutdown) sqlites.xShutdown(sqlites.pArg);
}

static sqlite3_pcache *create(int page_bytes, int extra_bytes, int is_purgeable) {
    struct page_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL) return NULL;
    cache->cache = sqlites.xCreate(page_bytes, extra_bytes, is_purgeable);
    if (cache->cache == NULL) {
        free(cache);
        return NULL;
    }
    return (sqlite3_pcache *)cache;
}

static void destroy(sqlite3_pcache *cache) {
    sqlites.xDestroy(ours(cache)->cache);
    free(cache);
}

static void set_size(sqlite3_pcache *cache, int pages) { sqlites.xCachesize(ours(cache)->cache, pages); }

static int count(sqlite3_pcache *cache) { return sqlites.xPagecount(ours(cache)->cache); }

static void shrink(sqlite3_pcache *cache) { sqlites.xShrink(ours(cache)->cache); }

static sqlite3_pcache_page *fetch(sqlite3_pcache *cache, unsigned number, int create) {
    sqlite3_pcache_page *page = sqlites.xFetch(ours(cache)->cache, number, create);
    if (page != NULL && number > ours(cache)->highest) ours(cache)->highest = number;
    return page;
}

static void unpin(sqlite3_pcache *cache, sqlite3_pcache_page *page, int discard) {
    sqlites.xUnpin(ours(cache)->cache, page, discard);
}

static void renumber(sqlite3_pcache *cache, sqlite3_pcache_page *page, unsigned old, unsigned new) {
    sqlites.xRekey(ours(cache)->cache, page, old, new);
    if (old == ours(cache)->lent) ours(cache)->lent = 0;
    if (new <= ours(cache)->highest) return;
    if (ours(cache)->lent == 0) {
        ours(cache)->lent = new;
    } else {
        ours(cache)->highest = new;
    }
}

/// Removes the pages from a number on.
static void truncate_from(sqlite3_pcache *cache, unsigned first) {
    if (ours(cache)->highest < first && ours(cache)->lent < first) return;
    sqlites.xTruncate(ours(cache)->cache, first);
    if (ours(cache)->highest >= first) ours(cache)->highest = first == 0 ? 0 : first - 1;
    if (ours(cache)->lent >= first) ours(cache)->lent = 0;
}

int sqlite_setup_page_cache(void) {
    int code = sqlite3_config(SQLITE_CONFIG_GETPCACHE2, &sqlites);
    if (code != SQLITE_OK) return code;
    sqlite3_pcache_methods2 methods = {
        .iVersion = 1,
        .xInit = start,
        .xShutdown = stop,
        .xCreate = create,
        .xCachesize = set_size,
        .xPagecount = count,
        .xFetch = fetch,
        .xUnpin = unpin,
        .xRekey = renumber,
        .xTruncate = truncate_from,
        .xDestroy = destroy,
        .xShrink = shrink,
    };
    return sqlite3_config(SQLITE_CONFIG_PCACHE2, &methods);
}

int sqlite_setup_page_cache_is_used(void) { return is_used; }
