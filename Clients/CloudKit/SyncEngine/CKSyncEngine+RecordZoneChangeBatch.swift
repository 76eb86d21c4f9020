private import RecordClient
private import RecordModel

extension CKSyncEngine {
    /// Changes of records that are sent in one request.
    public struct RecordZoneChangeBatch: Sendable {
        /// Records to save; each save fails if the server's record has changed meanwhile.
        public var recordsToSave: [CKRecord]
        /// IDs of records to delete.
        public var recordIDsToDelete: [CKRecord.ID]
        /// Whether all changes of a zone succeed or none.
        public var atomicByZone: Bool

        /// Creates a batch.
        ///
        /// - Shape: At most 400 items and 2 MiB, as any request. A larger batch is sent in halves.
        ///   Changes of one zone that must succeed together fail with `limitExceeded` instead.
        /// - Parameters:
        ///   - recordsToSave: Records to save.
        ///   - recordIDsToDelete: IDs of records to delete.
        ///   - atomicByZone: Whether all changes of a zone succeed or none.
        public init(
            recordsToSave: [CKRecord] = [],
            recordIDsToDelete: [CKRecord.ID] = [],
            atomicByZone: Bool = false
        ) {
            self.recordsToSave = recordsToSave
            self.recordIDsToDelete = recordIDsToDelete
            self.atomicByZone = atomicByZone
        }

        /// Creates a batch of as many changes, in order, as one request takes; `nil` if there are
        /// none.
        ///
        /// A share and its root are in one batch: the first of them waits if the other has no room.
        ///
        /// - Parameters:
        ///   - pendingChanges: The changes, from the engine's state.
        ///   - recordProvider: Returns the record to save; `nil` if it is to be left out. Its
        ///     change stays pending until it is removed from the state. A record with another ID is
        ///     left out too, with a warning in the log.
        public init?(
            pendingChanges: [PendingRecordZoneChange],
            recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
        ) async {
            self.init()
            // The request around its items.
            var bytes = 1_024
            var taken = 0
            taking: for change in pendingChanges {
                guard self.count < Bounds.defaults.requestItemsMax else { break }
                switch change {
                case .saveRecord(let id):
                    guard let record = await recordProvider(id), record.isProvided(for: id) else { break }
                    bytes += record.saveBytesEstimate
                    // A record that is too large by itself is refused by the server.
                    guard bytes <= Bounds.defaults.requestBytesMax || self.count == 0 else { break taking }
                    self.recordsToSave.append(record)
                case .deleteRecord(let id):
                    bytes += id.bytesEstimate
                    guard bytes <= Bounds.defaults.requestBytesMax else { break taking }
                    self.recordIDsToDelete.append(id)
                }
                taken += 1
            }
            self.keepSharesWhole(later: pendingChanges.dropFirst(taken))
            if self.count == 0 { return nil }
        }

        var count: Int { self.recordsToSave.count + self.recordIDsToDelete.count }
    }
}

extension CKSyncEngine.RecordZoneChangeBatch: CustomStringConvertible {
    /// The pending changes that the batch sends.
    var changes: [CKSyncEngine.PendingRecordZoneChange] {
        self.recordsToSave.map { .saveRecord($0.recordID) } + self.recordIDsToDelete.map { .deleteRecord($0) }
    }

    /// A description of the batch for people.
    public var description: String {
        let saves = self.recordsToSave.map(\.recordID.label).joined(separator: ", ")
        let deletes = self.recordIDsToDelete.map(\.label).joined(separator: ", ")
        return "save=[\(saves)], delete=[\(deletes)], atomicByZone=\(self.atomicByZone)"
    }
}

extension CKRecord {
    /// Whether it is the record of an ID, and not one that nothing pending asks for.
    fileprivate func isProvided(for id: CKRecord.ID) -> Bool {
        if self.recordID == id { return true }
        ClientLog.warning(
            "a record provider returned a record with another ID, which is not sent",
            ["asked": id.label, "returned": self.recordID.label]
        )
        return false
    }

    /// An estimate of the bytes that a save of the record adds to a request; rather too high than
    /// too low.
    package var saveBytesEstimate: Int {
        let state = self.snapshot
        // The parent, type and change tag, and their length prefixes.
        return state.table.changedBytesEstimate + self.recordID.bytesEstimate
            + self.recordType.utf8.count + (state.system.changeTag?.utf8.count ?? 0)
            + (state.parentName?.utf8.count ?? 0) + 32
    }
}

extension CKRecordID {
    /// An estimate of the bytes that a deletion of the record adds to a request.
    package var bytesEstimate: Int {
        self.recordName.utf8.count + self.zoneID.zoneName.utf8.count + self.zoneID.ownerName.utf8.count + 32
    }
}
