import RecordModel
import StorageContract

/// Changes a record on behalf of the system: it takes a position, and feeds and listeners learn of it.
struct RecordRewriting {
    let transaction: any WriteTransaction
    let requester: Requester
    let zone: ZoneKey
    let zoneName: String

    /// Takes the requester out of a share that they have joined; their own database follows from the outbox.
    ///
    /// `staysInvited` says whether a participant who was invited may come back by the URL.
    func leave(_ share: StoredShare, staysInvited: Bool = false) throws(StorageFailure) {
        let user = self.requester.userRecordName ?? ""
        try self.transaction.removeReader(self.requester.database, of: share)
        guard let record = try self.transaction.record(named: share.name, in: self.zone),
            var contents = record.body.share,
            let index = contents.participants.firstIndex(where: { $0.identity.userRecordName == user })
        else { return }
        if staysInvited, contents.participants[index].role != .publicUser {
            contents.participants[index].acceptance = .pending
        } else {
            contents.participants.remove(at: index)
        }
        try self.rewrite(record, named: share.name, with: record.body.with(contents))
        try self.transaction.noteChange(of: share.number)
    }

    @discardableResult
    func rewrite(
        _ record: StoredRecord,
        named name: String,
        with body: RecordBody
    ) throws(StorageFailure) -> StoredRecord {
        var system = record.system
        system.modifiedMilliseconds = self.transaction.nowMilliseconds
        system.modifiedBy = self.requester.userRecordName ?? ""
        let rewritten = StoredRecord(
            number: record.number,
            recordType: record.recordType,
            position: try self.transaction.takePosition(in: self.zone.database),
            system: system,
            parent: record.parent,
            body: body
        )
        let definitions = try self.transaction.fields(
            ofType: record.recordType,
            in: self.requester.environment
        )
        var writes = RecordWrites()
        writes.saves = [
            RecordWrites.Save(
                name: name,
                record: rewritten,
                existing: record,
                // Its date of change and who changed it may have entries.
                entries: IndexChanges(from: record, to: rewritten, named: name, definitions: definitions)
            )
        ]
        try self.transaction.change(self.zone, by: writes, of: self.requester, under: .none)
        guard self.transaction.isWatched(self.zone.database) else { return rewritten }
        let change = CommittedRecord(
            zone: self.zoneName,
            name: name,
            before: record,
            after: rewritten,
            definitions: definitions
        )
        self.transaction.note(.record(change), at: rewritten.position, in: self.zone.database)
        return rewritten
    }
}
