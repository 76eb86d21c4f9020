import Foundation

/// Why a file of an asset could not be read or written.
///
/// Nothing else is affected: what was durable before stays so.
package enum AssetStoreError: Error, Hashable, Sendable {
    /// No room on the disk, or more than a file may have; come back later.
    case diskFull
    /// The system refused, with its number of the error; come back later.
    case failed(errno: Int32)
    /// The file is not there, or shorter than it was: somebody else than this store has changed the folder, or the asset was removed.
    case missing

    init(errno: Int32) {
        switch errno {
        case ENOSPC, EDQUOT, EFBIG: self = .diskFull
        case ENOENT: self = .missing
        default: self = .failed(errno: errno)
        }
    }
}
