/// Why the bytes of an asset could not be read or written.
///
/// Nothing else is affected: bytes that were durable before stay so.
package enum AssetStoreError: Error, Hashable, Sendable {
    /// There is no room, or the asset would be larger than permitted; try later.
    case full
    /// A step failed with this code of the conformer, such as a number of `errno.h` or the status
    /// of a response; try later.
    case failed(code: Int32)
    /// The process has reached its limit of open files; try later.
    case tooManyOpenFiles
    /// The bytes are missing, or fewer than before. Another process has changed them, or the asset
    /// was removed.
    case missing
    /// Another server is writing the bytes; try later.
    case busy
    /// The upload was closed, or an earlier step on this asset failed; begin another upload.
    case ended
}
