#ifndef ARCHIVE_NAMES_H
#define ARCHIVE_NAMES_H

/// Tells Foundation which classes Apple's names in archives mean; defined by the module CloudKit.
void tidemark_register_archive_names(void);

#endif
