#ifndef CLOUDKIT_RUNTIME_H
#define CLOUDKIT_RUNTIME_H

#include <stdint.h>

/// Tells Foundation which classes Apple's names in archives mean; defined by the module CloudKit.
void tidemark_register_archive_names(void);

/// Calls the `init()` of a subclass of Foundation's `NSObject`.
///
/// Takes the class, and returns its instance with one reference that belongs to the caller.
void *_Nonnull tidemark_make_by_default(uintptr_t class_metadata);

#endif
