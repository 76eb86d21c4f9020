#include "SQLiteSetup.h"

#include <sqlite3.h>

int sqlite_setup_without_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
