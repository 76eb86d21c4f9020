/// The next step on a file, for tests that make it fail.
package enum FileStep: Hashable, Sendable {
    case open
    /// Bytes of an asset are written.
    case write(offset: Int64, bytes: Int)
    /// The bytes of an asset become durable.
    case sync
    /// The row of a chunk is written.
    case writeRow
    case syncRows
    case syncFolder
    case unlink
}

/// Decides whether a step fails.
///
/// Returns the number of `errno.h`, or 0 if it does not fail.
///
/// Called on threads of the store. Costs nothing in a store without faults.
package typealias FileFaults = @Sendable (FileStep) -> Int32
