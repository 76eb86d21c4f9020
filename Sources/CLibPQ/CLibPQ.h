#pragma once

// The path of Debian's header, without pkg-config: SwiftPM would put the folder of libpq before those of the
// linker's flags, and programs for use would get SQLite from a shared library in place of the archive.
#include <postgresql/libpq-fe.h>
