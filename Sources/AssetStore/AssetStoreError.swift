import FileIO
import Foundation

/// Why a file of an asset could not be read or written.
///
/// Nothing else is affected: bytes that were durable before stay so.
package enum AssetStoreError: Error, Hashable, Sendable {
    /// The disk is full, or the file would be larger than permitted; try later.
    case diskFull
    /// A system call failed with this error; try later.
    case failed(errno: Int32)
    /// The file is missing, or shorter than it was. Another process has changed the folder, or the
    /// asset was removed.
    case missing

    init(errno: Int32) {
        switch errno {
        case ENOSPC, EDQUOT, EFBIG: self = .diskFull
        case ENOENT: self = .missing
        default: self = .failed(errno: errno)
        }
    }

    init(_ error: FileError) { self.init(errno: error.errno) }
}

/// Makes calls on files; a failure becomes an error of the store.
func onFile<Value>(_ calls: () throws(FileError) -> Value) throws(AssetStoreError) -> Value {
    do throws(FileError) {
        return try calls()
    } catch {
        throw AssetStoreError(error)
    }
}
