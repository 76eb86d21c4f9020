#include "CloudKitRuntime.h"

// A program may read an archive before it calls anything of CloudKit, and Swift runs nothing by itself when a module is loaded.
__attribute__((constructor)) static void register_at_load(void) {
    tidemark_register_archive_names();
}
