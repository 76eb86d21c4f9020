package import RecordModel

/// Which assets a store has, and who names them.
///
/// `StorageEngine.assets` is one. It knows rows and no files; a file is named by the asset's number, which is used once. An asset has a row
/// before it has a file, and until its file is gone: so no crash leaves a file that no row knows of.
///
/// Replies come on a thread of the engine, each exactly once.
package protocol AssetRegistry: Sendable {
    /// Makes room for what a user wants to upload.
    ///
    /// Finds the row of each asset or makes one, of the user in a public database. Quotas are judged for all of them together, and nothing is
    /// made when one of them is refused. In a shared database `zone` says whose the bytes will be: the rows are of the owner's database and,
    /// until a record names them, of the user; what the owner has is not looked at.
    ///
    /// Every place that is `incomplete` is open from the transaction on, before the reply: its row does not become due, however long the
    /// upload takes, until `release` was called for it as often as it was opened.
    ///
    /// - Durability: replies when the rows are on disk.
    /// Replies with one place an asset, in order. Refused: `assetTooLarge`, `quotaExceeded`, `notSignedIn`, `zoneMissing`, `permissionDenied` and what a write
    /// refuses.
    func begin(
        _ assets: [Asset],
        in zone: ZoneID?,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[AssetPlace], StoreError>) -> Void
    )

    /// All bytes of an asset are in its file, agree with its hash, and are synced: from now on records may name it.
    ///
    /// - Durability: replies when this is on disk. Refused with `assetUploadExpired` when the row went meanwhile.
    func complete(_ number: AssetNumber, reply: @escaping @Sendable (Result<Void, StoreError>) -> Void)

    /// The bytes that came were not those of the hash: the row goes as one that is due, and its file with it.
    func abandon(_ number: AssetNumber)

    /// Nothing is done any more to the files of uploads that `begin` has opened; each number once for each time it was.
    func release(_ numbers: [AssetNumber])

    /// Bytes came for an upload: its grace time begins anew.
    ///
    /// Written behind, as listeners' cursors are. To be called once a minute at most.
    func touch(_ number: AssetNumber)

    /// Assets that nobody has named for the grace time, and uploads that are not open and got no byte for so long.
    ///
    /// They are marked in the transaction that finds that no record names them, and are not there any more for anybody else. Their files may
    /// go when the reply comes; the marks stay until `removed`, so that a crash between the two is made up for by the next call.
    ///
    /// Fewer than `limit` says that there are no more.
    func removals(limit: Int, reply: @escaping @Sendable (Result<[AssetNumber], StoreError>) -> Void)

    /// The files of marked assets are gone, durably: so are their rows.
    func removed(
        _ numbers: [AssetNumber],
        reply: @escaping @Sendable (Result<Void, StoreError>) -> Void
    )

    /// Assets whose bytes are complete, in the order of their numbers, a page at a time: to look at all files.
    ///
    /// Blocks: any thread but an event loop.
    func stored(after number: AssetNumber?, limit: Int) throws(StoreError) -> [StoredAsset]
}

/// The number of an asset of a store; never used again.
package struct AssetNumber: RawRepresentable, Hashable, Sendable, Comparable {
    /// From 1.
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: AssetNumber, right: AssetNumber) -> Bool { left.rawValue < right.rawValue }
}

/// Where an upload stands, as far as rows know.
package enum AssetPlace: Hashable, Sendable {
    /// The database has it: nothing is to be sent.
    case complete
    /// Bytes are missing; how many, its file knows.
    case incomplete(AssetNumber)

    package var number: AssetNumber? {
        guard case .incomplete(let number) = self else { return nil }
        return number
    }
}

/// An asset whose bytes are complete.
package struct StoredAsset: Hashable, Sendable {
    package var number: AssetNumber
    package var asset: Asset

    package init(number: AssetNumber, asset: Asset) {
        self.number = number
        self.asset = asset
    }
}
