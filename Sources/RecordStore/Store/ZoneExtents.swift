package import RecordModel
package import StorageContract

/// The contents of a zone, in numbers.
package struct ZoneExtent: Hashable, Sendable {
    package var name: String
    package var records: Int64
    /// Encoded bodies.
    package var bytes: Int64
    /// The position of its last change: a record's, a deletion, its own creation.
    package var position: Int64
    /// The name of the share of the whole zone; `nil` if it is not shared so.
    package var share: String?
    package var encryptionScope: EncryptionScope
}

/// A page of the zones of a database.
package struct ZoneExtentPage: Hashable, Sendable {
    package var zones: [ZoneExtent]
    /// The start of the next page, or `nil` if there is none.
    package var next: Int64?
}

extension Store {
    /// Lists what the zones of the requester's database have in them, in the order of their last
    /// changes: those behind a position, at most `limit`.
    ///
    /// Not for the shared database, which has other users' zones.
    package func zoneExtents(
        after position: Int64?,
        limit: Int,
        for requester: Requester,
        reply: @escaping @Sendable (Result<ZoneExtentPage, StoreError>) -> Void
    ) {
        self.read(.long, for: requester, reply) { (snapshot) throws(StorageFailure) in
            let found = try snapshot.zones(of: requester.database, after: position ?? -1, limit: limit)
            let keys = found.map(\.key)
            let shares = try snapshot.zoneWideShares(of: keys)
            let encryptionScopes = try snapshot.encryptionScopes(of: keys)
            let zones = found.indices.map { index in
                ZoneExtent(
                    name: found[index].name,
                    records: found[index].recordCount,
                    bytes: found[index].byteCount,
                    position: found[index].position,
                    share: shares[index]?.name,
                    encryptionScope: encryptionScopes[index]
                )
            }
            return .success(
                ZoneExtentPage(zones: zones, next: found.count < limit ? nil : found.last?.position)
            )
        }
    }
}
