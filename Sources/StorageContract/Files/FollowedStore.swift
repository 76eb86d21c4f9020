/// A store that has its changes copied in sequence, while a server writes to it.
///
/// An engine brings it, if it can. Every call blocks; one thread makes them. After an error it
/// is closed, and another one resumes.
package protocol FollowedStore: AnyObject {
    /// Whether the files at the path are still those that are followed.
    var isCurrent: Bool { get }

    /// Copies the whole store as it is at one moment, and follows it from there on.
    ///
    /// The copy replaces what is at the path, and no engine serves it.
    ///
    /// - Durability: None.
    /// - Progress: It is called with the bytes since the last call.
    func copyAll(to path: String, progress: (Int) -> Void) throws(StoreCopyError) -> StoreMoment

    /// Follows the store from where an earlier process stopped.
    ///
    /// - Returns: `false` if the changes since then are unknown; then the whole store has to be
    ///   copied.
    func resume(after position: StorePosition) throws(StoreCopyError) -> Bool

    /// Writes to a file what has changed since the last copy.
    ///
    /// - Durability: The file is on disk, and all that it has was on the disk of the store before.
    func copyChanges(to path: String) throws(StoreCopyError) -> StoreChanges

    /// Releases the data that the store keeps for the next copy, as far as it is no longer needed.
    func release() throws(StoreCopyError)

    /// Lists complete assets in the order of their numbers, behind a number; at most `limit`.
    func assets(after number: AssetNumber?, limit: Int) throws(StoreCopyError) -> [StoredAsset]

    /// Whether the store has an asset, complete.
    func has(_ number: AssetNumber) throws(StoreCopyError) -> Bool

    func close()
}

/// The end of a copy of a store, in the engine's own words.
package struct StorePosition: RawRepresentable, Codable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }
}

/// The state of a store that a copy has.
package struct StoreMoment: Hashable, Sendable {
    /// Since 1970; all that is in the state was written before.
    package var milliseconds: Int64
    package var position: StorePosition

    package init(milliseconds: Int64, position: StorePosition) {
        self.milliseconds = milliseconds
        self.position = position
    }
}

/// Changes in a store since the last copy.
package enum StoreChanges: Hashable, Sendable {
    /// Nothing has, and nothing was written.
    case unchanged(StoreMoment)
    case copied(StoreMoment)
    /// It is not known: all is to be copied.
    case lost
}

/// How the changes of stores are copied, and put together again.
package protocol StoreFollowing: Sendable {
    /// Opens the store of a folder to be followed.
    ///
    /// - Throws: `isMissing`, `isBackup`.
    func follow(
        _ directory: String,
        clock: @escaping @Sendable () -> Int64
    ) throws(StoreCopyError) -> any FollowedStore

    /// Adds changes to a copy of a store, which has all that came before.
    ///
    /// - Durability: None.
    /// - Throws: `isDamaged`, `diskFull`, `failed`.
    func add(changes path: String, to copy: String) throws(StoreCopyError)
}
