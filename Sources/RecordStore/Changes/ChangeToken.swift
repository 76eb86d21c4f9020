import RecordModel
import StorageContract

/// Where a reader of a feed is: all that the server must know to go on, kept by the client.
///
///     token    = version kind database epoch [ zone ] phase      integers as in `CompactBytes`
///     kind     = 1 (zone) / 2 (database)
///     phase    = 1 order position [ last ] [ totals ] ahead      snapshot
///              / 2 after known ahead                             feed
///              / 3 after known skipped ahead                     feed that began with a token for now
///
/// Sealed by the server before a client sees it; what comes back is trusted no more than any other bytes.
struct ChangeToken: Hashable, Sendable {
    /// The records that existed when the snapshot began.
    struct Snapshot: Hashable, Sendable {
        var order: FetchChanges.SnapshotOrder
        /// The position of the database when the snapshot began: later changes are left to the
        /// feed.
        var position: Int64
        /// The number of the record that was read last; `nil` if there is none yet.
        var last: Int64?
        var totals: SnapshotTotals?
    }

    enum Phase: Hashable, Sendable {
        case snapshot(Snapshot)
        /// The changes behind a position.
        ///
        /// The client has had each living record that was created at or before `known`.
        case feed(after: Int64, known: Int64)
    }

    /// The `known` position of a client that has no complete state yet.
    static let nothing: Int64 = -1

    var database: DatabaseID
    /// The epoch of the database: another one after it was restored from a backup.
    var epoch: Int64
    /// The zone of the feed; `nil` if it is the database's own feed.
    var zone: Int64?
    var phase: Phase
    var ahead = SentAhead()
    /// Everything up to here was passed over by a token for now; 0 if nothing was.
    ///
    /// Only of a feed. No page depends on it: it tells which changes the client never got.
    var skipped: Int64 = 0

    private static let version: UInt8 = 1
    /// Encoded: leaves the seal and the name of the user room in `Bounds.tokenBytesMax`.
    static let bytesMax = 660

    /// Changes at or before this position have been sent, or need not be.
    ///
    /// Deletions behind it must still be known.
    var position: Int64 {
        switch self.phase {
        case .snapshot(let snapshot): snapshot.position
        case .feed(let after, _): after
        }
    }

    /// The position behind which a page reads changes first; `nil` if it reads existing records.
    var positionOfChanges: Int64? {
        guard case .feed(let after, _) = self.phase else { return nil }
        return after
    }

    var bytes: [UInt8] {
        var bytes = CompactBytes()
        bytes.append(byte: Self.version)
        bytes.append(byte: self.zone == nil ? 2 : 1)
        bytes.append(self.database.rawValue)
        bytes.append(self.epoch)
        if let zone { bytes.append(zone) }
        switch self.phase {
        case .snapshot(let snapshot):
            bytes.append(byte: 1)
            bytes.append(byte: snapshot.order.rawValue)
            bytes.append(snapshot.position)
            bytes.append(snapshot.last.map { [$0] } ?? [])
            bytes.append(
                snapshot.totals.map { [Int64(clamping: $0.records), Int64(clamping: $0.bytes)] } ?? []
            )
        case .feed(let after, let known):
            bytes.append(byte: self.skipped > 0 ? 3 : 2)
            bytes.append(after)
            bytes.append(known)
            if self.skipped > 0 { bytes.append(self.skipped) }
        }
        bytes.append(self.ahead.gaps)
        return bytes.bytes
    }

    init(database: DatabaseID, epoch: Int64, zone: Int64?, phase: Phase) {
        self.database = database
        self.epoch = epoch
        self.zone = zone
        self.phase = phase
    }

    /// Reads any bytes.
    init(_ encoded: [UInt8]) throws(StoreError) {
        var bytes = CompactBytes(encoded)
        guard encoded.count <= Self.bytesMax, bytes.nextByte() == Self.version, let kind = bytes.nextByte(),
            kind == 1 || kind == 2, let database = bytes.nextInteger(), let epoch = bytes.nextInteger()
        else { throw .changeTokenExpired }
        self.database = DatabaseID(rawValue: database)
        self.epoch = epoch
        if kind == 1 {
            guard let zone = bytes.nextInteger() else { throw .changeTokenExpired }
            self.zone = zone
        }
        (self.phase, self.skipped) = try Self.phase(&bytes)
        guard let gaps = bytes.nextIntegers(), bytes.nextByte() == nil else { throw .changeTokenExpired }
        self.ahead = SentAhead(gaps: gaps)
    }

    private static func phase(
        _ bytes: inout CompactBytes
    ) throws(StoreError) -> (phase: Phase, skipped: Int64) {
        let kind = bytes.nextByte()
        switch kind {
        case 1:
            guard let order = bytes.nextByte().flatMap(FetchChanges.SnapshotOrder.init(rawValue:)),
                let position = bytes.nextInteger(), let last = bytes.nextIntegers(), last.count <= 1,
                let totals = bytes.nextIntegers(), totals.isEmpty || totals.count == 2
            else { throw .changeTokenExpired }
            let snapshot = Snapshot(
                order: order,
                position: position,
                last: last.first,
                totals: totals.isEmpty
                    ? nil
                    : SnapshotTotals(
                        records: UInt64(clamping: totals[0]),
                        bytes: UInt64(clamping: totals[1])
                    )
            )
            return (.snapshot(snapshot), 0)
        case 2, 3:
            guard let after = bytes.nextInteger(), let known = bytes.nextInteger() else {
                throw .changeTokenExpired
            }
            guard kind == 3 else { return (.feed(after: after, known: known), 0) }
            guard let skipped = bytes.nextInteger(), skipped > 0 else { throw .changeTokenExpired }
            return (.feed(after: after, known: known), skipped)
        default: throw .changeTokenExpired
        }
    }
}
