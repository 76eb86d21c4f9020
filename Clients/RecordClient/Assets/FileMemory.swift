// SAFETY: lent to files for the time of one call, by whoever owns it and knows its size; nobody keeps it.
package typealias FileMemory = UnsafeMutableRawBufferPointer

// SAFETY: as above, and only read.
package typealias FileBytes = UnsafeRawBufferPointer
