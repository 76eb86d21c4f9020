/// Bytes that rows take on the disk besides those that users send.
///
/// Quotas count them, and `tidemark usage` shows them.
///
/// The figures were measured on an SQLite file with pages of 4,096 bytes and 20,000 rows of each
/// kind, and rounded up a little. Each is a row with its entries in the indexes of its table, and
/// the free space in their pages. They are within a factor of two of the size of the file, whatever
/// it contains.
///
/// A delete is never refused, because it leaves less than it removes. A record takes more than its
/// tombstone and the stored result of the request together. So do a zone and a subscription. A
/// history keeps what was deleted, and gives way to a quota (`PastKeeping`).
///
/// Files have counters in these units. A change of a figure needs a new file format, which counts
/// again.
package enum RowBytes {
    /// A record without its body: its row, two index entries, and its change.
    package static let recordBase = 110
    package static let tombstoneBase = 55
    package static let entryBase = 22
    package static let referenceBase = 25
    package static let zoneBase = 80
    package static let zoneTombstoneBase = 30
    package static let outcomeBase = 40
    package static let subscriptionBase = 80
    /// The acknowledged position of an installation in a subscription.
    package static let cursor = 46
    package static let shareBase = 70
    package static let shareTokenBase = 100
    package static let coverChangeBase = 30
    /// A reference from a record to an asset.
    package static let assetUse = 40
    /// A change in the history of a zone, without the record that it replaced.
    package static let pastBase = 100
    /// The row of an asset, without its file.
    package static let assetBase = 105
    /// The size of a file on the disk is a multiple of this.
    package static let fileBlock: Int64 = 4_096

    /// A name is in the file twice: in a table, and in an index of it.
    package static func record(named name: String) -> Int { self.recordBase + 2 * name.utf8.count }

    package static func tombstone(named name: String) -> Int { self.tombstoneBase + 2 * name.utf8.count }

    package static func entry(_ entry: IndexEntry) -> Int { self.entryBase + entry.value.count }

    package static func reference(of target: String, by referrer: String) -> Int {
        self.referenceBase + target.utf8.count + referrer.utf8.count
    }

    package static func zone(named name: String) -> Int { self.zoneBase + 2 * name.utf8.count }

    package static func zoneTombstone(named name: String) -> Int {
        self.zoneTombstoneBase + name.utf8.count
    }

    package static func outcome(_ count: Int) -> Int { self.outcomeBase + count }

    package static func subscription(_ subscription: StoredSubscription) -> Int {
        self.subscriptionBase + 2 * subscription.key.id.utf8.count + 2 * subscription.definition.count
            + (subscription.info?.count ?? 0)
    }

    package static func share(named name: String) -> Int { self.shareBase + 2 * name.utf8.count }

    package static func shareToken(of root: String) -> Int { self.shareTokenBase + 2 * root.utf8.count }

    package static func coverChange(named name: String) -> Int { self.coverChangeBase + name.utf8.count }

    /// An asset's row, and the free space in the last block of its file.
    package static func asset(_ bytes: Int64) -> Int {
        self.assetBase + Int((self.fileBlock - bytes % self.fileBlock) % self.fileBlock)
    }

    package static func past(_ row: PastRow) -> Int {
        self.pastBase + row.name.utf8.count + (row.parent?.utf8.count ?? 0) + row.body.count
    }

    /// Bound on the stored result of one saved item, unless the result contains names.
    package static let outcomeItemMax = 24
}
