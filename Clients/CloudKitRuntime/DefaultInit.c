#include "CloudKitRuntime.h"

// The descriptors of NSObject and of NSObject.init() as the compiler emits them, and the runtime's function that finds a
// class's own version of a method. Compiled Swift calls methods of classes of resilient modules in the same way.
extern const char object_class __asm__("$s10Foundation8NSObjectCMn");
extern const char object_init __asm__("$s10Foundation8NSObjectCACycfCTq");
extern void *swift_lookUpClassMethod(const void *metadata, const void *method, const void *description);

typedef __attribute__((swiftcall)) void *allocating_init(__attribute__((swift_context)) const void *metadata);

void *tidemark_make_by_default(uintptr_t class_metadata) {
    const void *metadata = (const void *)class_metadata;
    return ((allocating_init *)swift_lookUpClassMethod(metadata, &object_init, &object_class))(metadata);
}
