package import RecordJSON
package import RecordModel
package import RecordStore
package import StorageContract

/// A database that a command works on, with the rights of its requester.
///
/// A call that meets a busy or building store is made again for half a minute. A write keeps its
/// request ID then, so it is executed once.
package struct AdministeredDatabase: Sendable {
    private static let timeout = Duration.seconds(30)

    package let store: Store
    package var requester: Requester
    package let folder: DataFolder
    /// The bounds of a request, by the settings.
    package let bounds: Bounds

    package init(store: Store, requester: Requester, folder: DataFolder, bounds: Bounds = .defaults) {
        self.store = store
        self.requester = requester
        self.folder = folder
        self.bounds = bounds
    }

    // MARK: Reading

    /// Reads a page of a query.
    package func page(_ read: QueryRead) async throws -> (records: [Record], end: QueryPageResult) {
        let gathered = GatheredRecords()
        let end = try await self.retrying {
            await withCheckedContinuation { continuation in
                self.store.query(read, for: self.requester, into: gathered) {
                    continuation.resume(returning: $0)
                }
            }
        }
        return (gathered.take().records, end)
    }

    /// Counts the records that a query finds.
    package func count(_ query: Query, in zone: ZoneID?) async throws -> Int64 {
        var read = QueryRead(query: query, zone: zone, isCount: true)
        var count: Int64 = 0
        repeat {
            let end = try await self.page(read).end
            count += end.count
            read.resume = end.resume
        } while read.resume != nil
        return count
    }

    /// Reads records by ID: one outcome for each, in order.
    ///
    /// More than fit into one response are read in parts.
    package func fetch(_ ids: [RecordID]) async throws -> [ReadOutcome] {
        guard !ids.isEmpty else { return [] }
        do {
            return try await self.retrying {
                await withCheckedContinuation { continuation in
                    self.store.fetchRecords(ids, desiredKeys: nil, for: self.requester) {
                        continuation.resume(returning: $0)
                    }
                }
            }
        } catch StoreError.responseTooLarge where ids.count > 1 {
            let half = ids.count / 2
            return try await self.fetch(Array(ids[..<half])) + self.fetch(Array(ids[half...]))
        }
    }

    /// Reads a page of a zone's feed.
    package func changes(_ read: FeedRead) async throws -> (page: FeedItems, end: FeedPageEnd) {
        let gathered = GatheredRecords()
        let end = try await self.changes(read, into: gathered)
        return (gathered.take(), end)
    }

    package func changes(_ read: FeedRead, into sink: some FeedSink) async throws -> FeedPageEnd {
        try await self.retrying {
            await withCheckedContinuation { continuation in
                self.store.changes(read, for: self.requester, into: sink) {
                    continuation.resume(returning: $0)
                }
            }
        }
    }

    /// All zones of the database, by name.
    package func zones() async throws -> [ZoneID] {
        let outcomes = try await self.retrying {
            await withCheckedContinuation { continuation in
                self.store.fetchZones(.all, for: self.requester) { continuation.resume(returning: $0) }
            }
        }
        return outcomes.compactMap { if case .zone(let zone) = $0 { zone.id } else { nil } }
    }

    /// Finds the files of assets that a record names.
    package func assets(_ hashes: [[UInt8]], of record: RecordID) async throws -> [StoredAsset] {
        try await self.retrying {
            await withCheckedContinuation { continuation in
                self.store.locateAssets(hashes, of: record, for: self.requester) {
                    continuation.resume(returning: $0)
                }
            }
        }
    }

    // MARK: Writing

    /// Executes a change: one outcome an item, saves first.
    ///
    /// `restored` is what an operator puts back; `nil` for a user's change.
    ///
    /// - Durability: returns when it is on disk.
    package func write(
        _ operation: WriteRequest.Operation,
        bytes: Int = 0,
        restored: UndoneRecords? = nil
    ) async throws -> [WriteOutcome] {
        var generator = SystemRandomNumberGenerator()
        var request = WriteRequest(
            requester: self.requester,
            requestID: RequestID(milliseconds: SystemTime.milliseconds(), using: &generator),
            operation: operation,
            bytes: bytes,
            deadlineMilliseconds: .max
        )
        request.restored = restored
        return try await self.retrying { [request] in
            await withCheckedContinuation { continuation in
                self.store.write(request) { continuation.resume(returning: $0) }
            }
        }
    }

    /// The ID of a record in a text: `zone` wins over the zone of the text.
    package func id(of draft: RecordDraft, in zone: ZoneID?) -> RecordID {
        RecordID(zone: self.canonical(zone ?? draft.zone ?? .default), recordName: draft.recordName)
    }

    /// In a public or private database every zone is its own, whoever owned it where a text is from.
    package var owners: ZoneOwners { self.requester.scope == .shared ? .count : .sayNothing }

    /// The requester's own zone has no owner, so that it has one ID.
    package func canonical(_ zone: ZoneID) -> ZoneID {
        zone.ownerName == self.requester.userRecordName ? ZoneID(zoneName: zone.zoneName) : zone
    }

    // MARK: Waiting

    /// Repeats a call as long as the store's error gives a time to retry.
    ///
    /// - Throws: `StoreError`.
    package func retrying<Value>(_ call: () async -> Result<Value, StoreError>) async throws -> Value {
        let end = ContinuousClock.now + Self.timeout
        while true {
            switch await call() {
            case .success(let value): return value
            case .failure(let error):
                guard case .after(let milliseconds) = error.row.retry, ContinuousClock.now < end else {
                    throw error
                }
                try await Task.sleep(for: .milliseconds(max(20, Int64(milliseconds))))
            }
        }
    }
}
