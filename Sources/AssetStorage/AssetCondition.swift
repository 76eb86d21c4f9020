/// The result of a check of an asset's bytes.
package enum AssetCondition: Hashable, Sendable {
    case intact
    case missing
    /// The number of bytes differs.
    case wrongSize(Int64)
    /// The hash of the bytes differs.
    case differs
    /// The bytes could not be read, with this code of `AssetStoreError.failed`.
    case unreadable(code: Int32)
}
