package import StorageContract

/// The progress that one page of a zone's feed shows of its client.
package struct FeedProgress: Hashable, Sendable {
    /// The zone of the records.
    package var zone: ZoneKey
    /// The position up to which the client has everything, by the token that it presented.
    package var position: Int64
    /// The position up to which it has everything when the page arrives.
    package var sent: Int64
    package var skipped: Int64
}
