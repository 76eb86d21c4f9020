import RecordModel
import RecordStore
import StorageContract
import Testing

/// What a user is shown, compared with what they may see.
extension SharingWorld {
    func check(_ reader: Int) async throws {
        let requester = self.readers[reader].requester
        let all = Self.allNames
        let readable = Set(all.filter { self.permission(of: reader, on: $0) != nil })
        let hasAny = self.joined.values.contains { $0[reader] != nil }
        self.readers[reader].everReadable.formUnion(readable)
        let fetched = try await self.it.fetch(all.map { sharedID($0) }, by: requester)
        for (name, outcome) in zip(all, fetched) {
            self.checks += 1
            if readable.contains(name) {
                guard case .record(let record) = outcome else {
                    Issue.record("\(name) is hidden from \(reader): \(outcome)")
                    continue
                }
                self.expectParent(of: record, reader)
            } else {
                #expect(outcome == .failed(hasAny ? .recordMissing : .zoneMissing), "\(name) for \(reader)")
            }
        }
        guard hasAny else {
            self.readers[reader].known = [:]
            self.readers[reader].token = nil
            await #expect(throws: StoreError.zoneMissing) {
                try await self.it.all(of: aliceNotes, by: requester)
            }
            try await self.checkZones(reader, hasAny: false)
            return
        }
        try await self.checkQuery(readable, requester)
        try await self.follow(reader, readable, fetched)
        try await self.checkZones(reader, hasAny: true)
    }

    /// What is above a share is not named.
    private func expectParent(of record: Record, _ reader: Int) {
        self.checks += 1
        guard let parent = record.parent else { return }
        #expect(self.permission(of: reader, on: parent) != nil, "\(record.id.recordName) names \(parent)")
    }

    private func checkQuery(_ readable: Set<String>, _ requester: Requester) async throws {
        let records = readable.filter { self.parents[$0] != nil }
        // Of a type that nobody has saved there is nothing to ask.
        guard !self.parents.isEmpty else { return }
        var read = QueryRead(query: Query(recordType: "Note", predicate: .all), zone: aliceNotes)
        let found = try await self.it.query(read, by: requester).records.map(\.id.recordName)
        #expect(Set(found) == records)
        #expect(found.count == records.count)
        read.isCount = true
        #expect(try await self.it.query(read, by: requester).count == Int64(records.count))
        self.checks += Self.names.count + 1
    }

    /// Follows the feed and compares what it has told in all.
    private func follow(_ reader: Int, _ readable: Set<String>, _ fetched: [ReadOutcome]) async throws {
        var state = self.readers[reader]
        var read = FeedRead(
            zone: aliceNotes,
            token: state.token,
            order: Bool.random(using: &self.generator) ? .creation : .newestFirst,
            limit: Int.random(in: 1...5, using: &self.generator)
        )
        while true {
            let page: FeedItems
            do throws(StoreError) {
                page = try await self.it.changes(read, by: state.requester)
            } catch {
                guard error == .changeTokenExpired else { throw error }
                state.known = [:]
                read.token = nil
                continue
            }
            for item in page.items {
                switch item {
                case .record(let record):
                    #expect(readable.contains(record.id.recordName), "\(record.id.recordName) in a feed")
                    if let parent = record.parent {
                        #expect(state.known[parent] != nil, "\(record.id.recordName) before \(parent)")
                    }
                    state.known[record.id.recordName] = record.changeTag
                case .recordDeleted(let deleted):
                    let name = deleted.id.recordName
                    #expect(state.everReadable.contains(name), "\(name) was never there for \(reader)")
                    state.known[name] = nil
                case .zoneChanged, .zoneDeleted: Issue.record("\(item)")
                }
                self.checks += 1
            }
            read.token = page.token
            guard page.moreComing else { break }
        }
        state.token = read.token
        var tags: [String: String] = [:]
        for outcome in fetched {
            if case .record(let record) = outcome { tags[record.id.recordName] = record.changeTag }
        }
        #expect(state.known == tags, "\(reader) after:\n\(self.history.joined(separator: "\n"))")
        self.checks += Self.names.count
        self.readers[reader] = state
    }

    private func checkZones(_ reader: Int, hasAny: Bool) async throws {
        let requester = self.readers[reader].requester
        let zones = try await self.it.zones(by: requester)
        #expect(zones.count == (hasAny ? 1 : 0))
        let news = try await self.it.sharedZones(
            after: self.readers[reader].databaseToken,
            by: requester
        )
        for item in news.items { self.readers[reader].hasZone = item == "notes" }
        self.readers[reader].databaseToken = news.token
        #expect(self.readers[reader].hasZone == hasAny, "\(news.items)")
        self.checks += 2
    }
}
