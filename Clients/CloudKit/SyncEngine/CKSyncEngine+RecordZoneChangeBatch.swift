private import RecordModel

extension CKSyncEngine {
    /// Changes of records to be sent in one request.
    public struct RecordZoneChangeBatch: Sendable {
        /// Records to save, unless the server's have changed.
        public var recordsToSave: [CKRecord]
        /// Records to delete.
        public var recordIDsToDelete: [CKRecord.ID]
        /// Whether all changes of a zone succeed or none.
        public var atomicByZone: Bool

        /// Creates a batch.
        ///
        /// - Shape: As a request's, at most 400 items and 2 MiB. A larger one is sent in halves; changes of one zone that are to succeed together fail
        ///   with `limitExceeded` instead.
        public init(
            recordsToSave: [CKRecord] = [],
            recordIDsToDelete: [CKRecord.ID] = [],
            atomicByZone: Bool = false
        ) {
            self.recordsToSave = recordsToSave
            self.recordIDsToDelete = recordIDsToDelete
            self.atomicByZone = atomicByZone
        }

        /// Creates a batch of as many changes, from the first on, as one request takes; `nil` when there are none.
        ///
        /// - Parameters:
        ///   - pendingChanges: The changes, as the engine's state has them.
        ///   - recordProvider: Gives the record that is to be saved; `nil`: leave it out. It stays pending until it is removed from the state.
        public init?(
            pendingChanges: [PendingRecordZoneChange],
            recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
        ) async {
            self.init()
            // What surrounds the items of a request.
            var bytes = 1_024
            for change in pendingChanges {
                guard self.count < Bounds.defaults.requestItemsMax else { break }
                switch change {
                case .saveRecord(let id):
                    guard let record = await recordProvider(id) else { continue }
                    bytes += record.saveBytesEstimate
                    // A record that is too large by itself is the server's to refuse.
                    guard bytes <= Bounds.defaults.requestBytesMax || self.count == 0 else { return }
                    self.recordsToSave.append(record)
                case .deleteRecord(let id):
                    bytes += id.bytesEstimate
                    guard bytes <= Bounds.defaults.requestBytesMax else { return }
                    self.recordIDsToDelete.append(id)
                }
            }
            if self.count == 0 { return nil }
        }

        var count: Int { self.recordsToSave.count + self.recordIDsToDelete.count }
    }
}

extension CKSyncEngine.RecordZoneChangeBatch: CustomStringConvertible {
    /// The changes of the pending list that the batch sends.
    var changes: [CKSyncEngine.PendingRecordZoneChange] {
        self.recordsToSave.map { .saveRecord($0.recordID) } + self.recordIDsToDelete.map { .deleteRecord($0) }
    }

    /// The batch for people to read.
    public var description: String {
        let saves = self.recordsToSave.map(\.recordID.label).joined(separator: ", ")
        let deletes = self.recordIDsToDelete.map(\.label).joined(separator: ", ")
        return "save=[\(saves)], delete=[\(deletes)], atomicByZone=\(self.atomicByZone)"
    }
}

extension CKRecord {
    /// About how many bytes a save of the record adds to a request, rather too many than too few.
    fileprivate var saveBytesEstimate: Int {
        let state = self.snapshot
        let fields = state.table.changes.keys.sorted().map { key -> Field in
            let value = (try? state.table.entries[key]?.value.get()) ?? .clear
            return Field(name: key, value: value)
        }
        // Each field's flag, the parent, type and change tag, and the lengths in front of them.
        return RecordBody(fields).bytes.count + 4 * fields.count + self.recordID.bytesEstimate
            + self.recordType.utf8.count + (state.system.changeTag?.utf8.count ?? 0)
            + (state.parent?.reference.recordID.recordName.utf8.count ?? 0) + 32
    }
}

extension CKRecordID {
    fileprivate var bytesEstimate: Int {
        self.recordName.utf8.count + self.zoneID.zoneName.utf8.count + self.zoneID.ownerName.utf8.count + 32
    }
}
