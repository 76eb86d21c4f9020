package import RecordModel
package import StorageContract

/// Records of one zone that are saved as another store had them.
package struct RestoredRecords: Sendable {
    /// Names, types, parents, bodies and system fields count; change tags do not.
    package var records: [Record]

    /// A share stands with its root, or is that of the whole zone.
    package init(_ records: [Record]) { self.records = records }

    fileprivate func operation(in scope: DatabaseScope) -> ModifyRecords {
        ModifyRecords(
            scope: scope,
            saves: self.records.map { record in
                RecordSave(
                    id: record.id,
                    recordType: record.recordType,
                    changes: record.body.withoutShareFields(
                        keepsContents: record.recordType == ShareRecord.type
                    ),
                    parent: record.parent.map { .set(recordName: $0) } ?? .unchanged
                )
            }
        )
    }
}

/// Why records were not restored; nothing of them was.
package struct RestoreRefusal: Error, Hashable, Sendable {
    /// The record at fault; `nil` if all are.
    package var recordName: String?
    package var error: StoreError
}

extension RestoredRecords {
    /// Saves all records, or none.
    ///
    /// The rules are those of a save, with two exceptions. System fields are given, and what a reference
    /// names may come later: the caller has checked that it comes. A parent is there already.
    ///
    /// - Throws: `RestoreRefusal`, `StorageFailure`.
    func execute(
        for requester: Requester,
        rules: WriteRules,
        in transaction: any WriteTransaction
    ) throws {
        let rule = ModifyRecordsRule(
            requester: requester,
            operation: self.operation(in: requester.scope),
            bounds: rules.bounds,
            quotas: rules.quotas,
            transaction: transaction,
            restoration: .copy(self.records.map(\.system))
        )
        guard case .finished(let result) = try rule.execute() else {
            // Only deletes take turns.
            throw StorageFailure.unexpected(code: 0)
        }
        switch result {
        case .failure(let error): throw RestoreRefusal(recordName: nil, error: error)
        case .success(let outcomes):
            var peer: RestoreRefusal?
            for (record, outcome) in zip(self.records, outcomes) {
                guard case .failed(let error) = outcome else { continue }
                let refusal = RestoreRefusal(recordName: record.id.recordName, error: error)
                guard case .atomicPeer = error else { throw refusal }
                peer = refusal
            }
            if let peer { throw peer }
        }
    }
}

extension Record {
    /// Whether a restore of the other record has made this one, and nothing has changed it since.
    ///
    /// The contents of a share do not count: they depend on who is a user here.
    func isCopy(of other: Record) -> Bool {
        self.recordType == other.recordType && ExactName.areSame(self.parent, other.parent)
            && self.system == other.system
            && self.body.withoutShareFields(keepsContents: false)
                == other.body.withoutShareFields(keepsContents: false)
    }
}

extension RecordBody {
    /// This body without what only the server writes: a root gets the name of its share anew.
    fileprivate func withoutShareFields(keepsContents: Bool) -> RecordBody {
        var kept: Set<String> = []
        var hasAny = false
        var cursor = FieldCursor(self.bytes)
        while let slice = cursor.nextTrusted() {
            let name = self.name(of: slice)
            let isDropped =
                ShareRecord.isField(name) && !(keepsContents && name == ShareRecord.contentsField)
            if isDropped { hasAny = true } else { kept.insert(name) }
        }
        return hasAny ? self.keeping(kept) : self
    }
}
