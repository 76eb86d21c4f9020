/// What is about to be done to files, for tests that make it fail.
package enum FileStep: Hashable, Sendable {
    case open
    /// Bytes of an asset.
    case write(offset: Int64, bytes: Int)
    /// The bytes of an asset become durable.
    case sync
    /// The row of a chunk.
    case writeRow
    case syncRows
    case syncFolder
    case unlink
}

/// Decides whether a step fails, and with which number of `errno.h`; 0: it does not.
///
/// Called on threads of the store. A store without one pays nothing.
package typealias FileFaults = @Sendable (FileStep) -> Int32
