package import RecordModel
import RecordStore
import StorageContract

extension AdministeredDatabase {
    /// Finds which of some records can be deleted; one that is not there is a failure.
    package func deletable(
        _ ids: [RecordID]
    ) async throws -> (there: [RecordID], failures: ItemFailures) {
        var there: [RecordID] = []
        var failures = ItemFailures()
        for start in stride(from: 0, to: ids.count, by: Bounds.defaults.requestItemsMax) {
            let batch = Array(ids[start..<min(start + Bounds.defaults.requestItemsMax, ids.count)])
            for (id, outcome) in zip(batch, try await self.fetch(batch)) {
                switch outcome {
                // Without a right to read it the delete decides, and what is damaged can go.
                case .record, .failed(.permissionDenied), .failed(.recordDamaged): there.append(id)
                case .failed(let error): failures.add(ItemFailure(record: id.recordName, error: error))
                case .zone, .shareMetadata, .identity, .explanation: continue
                }
            }
        }
        return (there, failures)
    }

    /// Deletes the records of a query, one page after the other.
    ///
    /// The number of records that are found may be more or less than was counted.
    package func delete(
        _ query: Query,
        in zone: ZoneID?
    ) async throws -> (found: Int, failures: ItemFailures) {
        var read = QueryRead(query: query, zone: zone, desiredKeys: [])
        var found = 0
        var failures = ItemFailures()
        repeat {
            let page = try await self.page(read)
            found += page.records.count
            failures.add(try await self.delete(page.records.map(\.id)))
            read.resume = page.end.resume
        } while read.resume != nil
        return (found, failures)
    }

    /// Deletes records, as many at a time as a request takes, each independently of the others.
    package func delete(_ ids: [RecordID]) async throws -> ItemFailures {
        var failures = ItemFailures()
        var left = ids.unique[...]
        while !left.isEmpty {
            let batch = Array(left.prefix(self.bounds.requestItemsMax))
            left = left.dropFirst(batch.count)
            let operation = ModifyRecords(
                scope: self.requester.scope,
                saves: [],
                deletes: batch,
                isAtomic: false
            )
            for (id, outcome) in zip(batch, try await self.write(.modifyRecords(operation))) {
                guard case .failed(let error) = outcome else { continue }
                failures.add(ItemFailure(record: id.recordName, error: error))
            }
        }
        return failures
    }
}

extension [RecordID] {
    /// These IDs, each once.
    package var unique: [RecordID] {
        var seen: Set<RecordID> = []
        return self.filter { seen.insert($0).inserted }
    }
}
