/// What things take on the disk besides the bytes that their users send: what quotas count, and `tidemark usage` shows.
///
/// The numbers are those of a file of SQLite with pages of 4,096 bytes, measured with 20,000 rows of each kind and rounded up a
/// little: a row with its places in the indexes of its table, and what is left free in their pages. They are within a factor of two
/// of what the file takes, whatever it has.
///
/// A delete is never refused, and what stays of it takes less than what goes: a record takes more than its tombstone and the outcome of the
/// request together, and so do a zone and a subscription.
///
/// Files have counters in these numbers: another number needs another format, which counts anew.
package enum RowBytes {
    /// A record without its body: its row, two places in indexes, and its change.
    package static let recordBase = 110
    package static let tombstoneBase = 55
    package static let entryBase = 22
    package static let holdBase = 25
    package static let zoneBase = 80
    package static let zoneTombstoneBase = 30
    package static let outcomeBase = 40
    package static let subscriptionBase = 80
    /// What an installation has acknowledged of a subscription.
    package static let cursor = 46
    package static let shareBase = 70
    package static let shareTokenBase = 100
    package static let coverChangeBase = 30
    /// The asset that a record names.
    package static let assetUse = 40
    /// Without its file.
    package static let assetBase = 105
    /// What a file takes of the disk is a multiple of it.
    package static let fileBlock: Int64 = 4_096

    /// Names are twice in the file: in a table, and in an index of it.
    package static func record(named name: String) -> Int { self.recordBase + 2 * name.utf8.count }

    package static func tombstone(named name: String) -> Int { self.tombstoneBase + 2 * name.utf8.count }

    package static func entry(_ entry: IndexEntry) -> Int { self.entryBase + entry.value.count }

    package static func hold(of target: String, by holder: String) -> Int {
        self.holdBase + target.utf8.count + holder.utf8.count
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

    /// An asset of so many bytes without them: its row, and what its file leaves free in its last block.
    package static func asset(_ bytes: Int64) -> Int {
        self.assetBase + Int((self.fileBlock - bytes % self.fileBlock) % self.fileBlock)
    }

    /// What the outcome of a request takes at most for an item that takes effect, unless it has names in it.
    package static let outcomeItemMax = 24
}
