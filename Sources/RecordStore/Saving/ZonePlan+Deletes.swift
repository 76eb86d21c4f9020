import RecordModel

extension ZonePlan {
    /// A record that will be deleted, with those that go with it.
    struct PlannedDelete {
        let index: Int
        let name: String
        /// Whether there is something to be deleted.
        let isThere: Bool
        /// The record itself and what refers to it with `deleteSelf`, and so on; the farthest last.
        ///
        /// What goes with a delete before is left out. Empty until all deletes are validated.
        var cascade: [String] = []
        /// The share that the requester leaves instead.
        var left: StoredShare?
    }

    /// Validates a delete by itself; `refused`: why an earlier turn of the request refused it.
    mutating func validate(delete id: RecordID, index: Int, refused: StoreError?) throws(StorageFailure) {
        let name = id.recordName
        self.deleteIndexes[name] = index
        if let refused {
            self.failures[index] = refused
            return
        }
        do {
            try SaveRules.checkName(of: id)
        } catch {
            self.failures[index] = error
            return
        }
        guard let record = try self.stored(name), try self.isThere(record) else {
            self.deletes.append(PlannedDelete(index: index, name: name, isThere: false))
            return
        }
        if self.shared != nil, let share = self.shares.first(where: { $0.name == name }) {
            self.deletes.append(PlannedDelete(index: index, name: name, isThere: false, left: share))
            return
        }
        guard try self.mayDelete(record, named: name) else {
            self.failures[index] = .permissionDenied(.write)
            return
        }
        self.deletes.append(PlannedDelete(index: index, name: name, isThere: true))
    }

    mutating func mayDelete(_ record: StoredRecord, named name: String) throws(StorageFailure) -> Bool {
        guard record.recordType != UserRecord.type, !self.isForeignRoot(name) else { return false }
        return try self.access(to: record, ofType: record.recordType).mayWrite(record)
    }
}
