internal import RecordModel
internal import WireProtocol

/// Everything in a zone, one page at a time, for a client that starts.
///
/// Beyond CloudKit: its first fetch states no size and has no useful order.
///
/// - Order: Records come in the order of their creation, or newest first. In both a parent comes
///   before its children. Changes and deletions of the meantime come after that. A client that has
///   applied all pages has the zone as it is, and a token to continue from.
/// - Progress: Every page states how many records and bytes there were when the snapshot began.
/// - Resuming: Every page has a state. Store it with the page's records:
///   `CKDatabase.zoneSnapshot(resuming:)` continues from it, in another process too.
///
/// ```swift
/// for try await page in database.zoneSnapshot(of: zoneID, order: .newestFirst) {
///     store(page.records, deleting: page.deletions, state: page.state)
///     show(page.state.fractionCompleted)
/// }
/// ```
///
/// - Source: beyond Apple.
public struct CKZoneSnapshot: AsyncSequence, Sendable {
    /// What an iteration yields.
    public typealias Element = Page

    /// The order of the records.
    public enum Order: Int, Codable, Sendable {
        /// The oldest records come first.
        case creation = 0
        /// The newest records come first.
        case newestFirst = 1
    }

    /// A page, to be applied in one step.
    public struct Page: Sendable {
        /// Records that are in the zone, each after its parent.
        public let records: [CKRecord]
        /// Records that were deleted since the snapshot began; the client may never have had them.
        public let deletions: [CKDatabase.RecordZoneChange.Deletion]
        /// The position after this page.
        public let state: State
    }

    private let database: CKDatabase
    private let start: State

    init(_ database: CKDatabase, from start: State) {
        self.database = database
        self.start = start
    }

    /// Makes an iterator, which fetches each page on demand.
    public func makeAsyncIterator() -> Iterator { Iterator(self.database, state: self.start) }

    /// Fetches the pages.
    public struct Iterator: AsyncIteratorProtocol {
        private let database: CKDatabase
        private var state: State
        private var reported = ReportedParents()

        init(_ database: CKDatabase, state: State) {
            self.database = database
            self.state = state
        }

        /// Fetches a page.
        ///
        /// - Returns: The page; `nil` if the client has everything.
        /// - Throws: `CKError`: `changeTokenExpired` if the state is too old or the zone was
        ///   deleted (start a new snapshot); `zoneNotFound` if the zone does not exist. After a
        ///   network error, call it again.
        public nonisolated(nonsending) mutating func next() async throws -> Page? {
            guard !self.state.isComplete else { return nil }
            let state = self.state
            let results = try await self.database.results { state.request(scope: $0) }
            return try self.page(of: results)
        }

        /// Advances past the page of a response.
        mutating func page(of results: BatchResults<ZoneChangesPage>) throws(CKError) -> Page {
            var records: [CKRecord] = []
            var deletions: [CKDatabase.RecordZoneChange.Deletion] = []
            for id in results.order {
                switch results.values[id] {
                case .success(.saved(let record)): if self.reported.isNew(record) { records.append(record) }
                case .success(.deleted(let type)): deletions.append(.init(recordID: id, recordType: type))
                // It comes with a later change, or as a deletion.
                case .failure(let error as CKError) where error.damagedRecordType != nil: break
                // The next call fetches the page again, with the files that are missing.
                case .failure(let error): throw error as? CKError ?? .resultOfAnotherKind
                case nil: break
                }
            }
            try self.state.advance(to: results.end, records: records.count, isEmpty: results.order.isEmpty)
            self.reported.pageEnded()
            return Page(records: records, deletions: deletions, state: self.state)
        }
    }
}

// Beyond Apple's surface.
extension CKDatabase {
    /// Fetches everything in a zone, one page at a time, and the token to continue from; see
    /// `CKZoneSnapshot`.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - order: The order of the records.
    ///   - desiredKeys: The fields to fetch. If `nil`, all; if empty, none.
    /// - Returns: The pages; the first is fetched on demand.
    public func zoneSnapshot(
        of zoneID: CKRecordZone.ID,
        order: CKZoneSnapshot.Order = .creation,
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) -> CKZoneSnapshot {
        CKZoneSnapshot(
            self,
            from: CKZoneSnapshot.State(zoneID: zoneID, order: order, desiredKeys: desiredKeys)
        )
    }

    /// Continues a snapshot; see `CKZoneSnapshot`.
    ///
    /// - Parameter state: The state of the last page that the client has applied.
    /// - Returns: The pages after it; none if the snapshot is complete.
    public func zoneSnapshot(resuming state: CKZoneSnapshot.State) -> CKZoneSnapshot {
        CKZoneSnapshot(self, from: state)
    }
}
