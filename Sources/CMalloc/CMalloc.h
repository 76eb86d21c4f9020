#pragma once

// `mallopt` is not in Swift's module of the C library.
#include <malloc.h>
