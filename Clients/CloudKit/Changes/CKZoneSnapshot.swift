internal import RecordModel
internal import WireProtocol

/// All that is in a zone, a page at a time, for a client that begins.
///
/// Beyond CloudKit, whose first fetch says neither how much there is nor comes in an order that is of use.
///
/// - Order: Records come in the order of their creation or newest first; in both a parent comes before its children. What changes
///   meanwhile comes after that, as changes and deletions, so that whoever has applied all pages has the zone as it is, and the last
///   page's token to follow on from.
/// - Progress: Every page says how many records and bytes there were when the snapshot began.
/// - Resuming: Every page has a state. Kept together with what the page brought, it goes on from there with
///   `CKDatabase.zoneSnapshot(resuming:)`, in another process too.
///
/// ```swift
/// for try await page in database.zoneSnapshot(of: zoneID, order: .newestFirst) {
///     store(page.records, deleting: page.deletions, state: page.state)
///     show(page.state.fractionCompleted)
/// }
/// ```
public struct CKZoneSnapshot: AsyncSequence, Sendable {
    /// What an iteration yields.
    public typealias Element = Page

    /// How the records that are there come.
    public enum Order: Int, Codable, Sendable {
        /// In the order of their creation.
        case creation = 0
        /// Those created last come first.
        case newestFirst = 1
    }

    /// A page: to be applied in one step.
    public struct Page: Sendable {
        /// Records that are in the zone, each after its parent.
        public let records: [CKRecord]
        /// Records that were deleted since the snapshot began; the client may never have had them.
        public let deletions: [CKDatabase.RecordZoneChange.Deletion]
        /// Where the snapshot is after this page.
        public let state: State
    }

    private let database: CKDatabase
    private let start: State

    init(_ database: CKDatabase, from start: State) {
        self.database = database
        self.start = start
    }

    /// Makes an iterator, which fetches each page when it is asked for it.
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
        /// - Returns: The page; `nil` when the client has all.
        /// - Throws: Why there is none: `changeTokenExpired` when the snapshot must begin anew, because its state is too old or the
        ///   zone was deleted. After a failure of the network the same call may be made again.
        public mutating func next() async throws -> Page? {
            guard !self.state.isComplete else { return nil }
            let state = self.state
            let results = try await self.database.results { state.request(scope: $0) }
            return try self.page(of: results)
        }

        /// Takes up a page that came.
        mutating func page(of results: BatchResults<ZoneChangesPage>) throws(CKError) -> Page {
            var records: [CKRecord] = []
            var deletions: [CKDatabase.RecordZoneChange.Deletion] = []
            for id in results.order {
                switch results.values[id] {
                case .success(.saved(let record)): if self.reported.isNew(record) { records.append(record) }
                case .success(.deleted(let type)): deletions.append(.init(recordID: id, recordType: type))
                // The page is asked for again, with what is left of its files.
                case .failure(let error): throw error as? CKError ?? .answerOfAnotherKind
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
    /// Fetches all that is in a zone, a page at a time, and the token to follow on from; see `CKZoneSnapshot`.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - order: How the records that are there come.
    ///   - desiredKeys: The fields to fetch: `nil` all, empty none.
    /// - Returns: The pages; nothing is fetched before the first is asked for.
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

    /// Goes on with a snapshot; see `CKZoneSnapshot`.
    ///
    /// - Parameter state: The state of the last page that the client has applied.
    /// - Returns: The pages after it; none when it is complete.
    public func zoneSnapshot(resuming state: CKZoneSnapshot.State) -> CKZoneSnapshot {
        CKZoneSnapshot(self, from: state)
    }
}
