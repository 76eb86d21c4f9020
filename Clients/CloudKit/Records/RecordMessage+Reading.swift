internal import RecordModel
internal import WireProtocol

extension RecordMessage {
    /// Reads the record, or makes the error of one with unreadable fields.
    ///
    /// - Parameters:
    ///   - name: Returns the ID under which the record is known here; `nil` if it is not.
    ///   - user: The record name of the user who asked.
    /// - Returns: The record's ID here, and the record or its error.
    /// - Throws: The server's fault, if the message is malformed.
    func fetched(
        as name: (RecordID) -> CKRecord.ID?,
        user: String
    ) throws(WireError) -> (id: CKRecord.ID, result: Result<CKRecord, any Error>) {
        let (record, isDamaged) = try self.reading()
        let id = name(record.id) ?? SharedZoneID().recordID(record.id)
        guard !isDamaged else { return (id, .failure(CKError.damaged(id, record.recordType))) }
        return (id, .success(.made(of: record, as: id, currentUser: user)))
    }
}

extension CKError {
    /// Makes the error of a record that the server's disk has damaged.
    static func damaged(_ id: CKRecord.ID, _ recordType: CKRecord.RecordType) -> CKError {
        var userInfo = self.userInfo(
            code: .internalError,
            message: """
                The record '\(id.recordName)' of zone '\(id.zoneID.zoneName)' is damaged on the server's disk: \
                its fields can't be read
                """
        )
        userInfo[self.damagedTypeKey] = recordType
        return CKError(.internalError, userInfo: userInfo)
    }

    /// The type of the record, if the error is that of a damaged one.
    var damagedRecordType: CKRecord.RecordType? { self.userInfo[Self.damagedTypeKey] as? CKRecord.RecordType }

    private static let damagedTypeKey = "TidemarkDamagedRecordType"
}
