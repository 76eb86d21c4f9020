internal import RecordModel
private import Synchronization
internal import WireProtocol

/// The objects and texts that the records of one response share, each made once.
final class PageObjects: Sendable {
    private struct State {
        var texts = SharedTexts()
        var zone: (model: ZoneID, id: CKRecordZoneID)?

        /// Returns the object of a zone: that of earlier records, or `wanted` if it is the same
        /// zone's.
        mutating func zoneID(_ model: ZoneID, _ wanted: CKRecordZoneID?) -> CKRecordZoneID {
            if let zone, zone.model == model { return zone.id }
            let id = wanted.flatMap { $0.model == model ? $0 : nil } ?? CKRecordZoneID(model)
            self.zone = (model, id)
            return id
        }
    }

    private let state = Mutex(State())

    /// Returns the ID of a record.
    func recordID(_ id: RecordID) -> CKRecordID {
        let zoneID = self.state.withLock { $0.zoneID(id.zone, nil) }
        return CKRecordID(storing: id.recordName, zoneID: zoneID)
    }

    /// Reads a record, or makes the error of one with unreadable fields.
    ///
    /// - Parameters:
    ///   - message: The record.
    ///   - asked: The ID under which it was asked for; `nil` if under none.
    ///   - user: The record name of the user who asked.
    /// - Returns: The record's ID here, and the record or its error.
    /// - Throws: The server's fault, if the message is malformed.
    func record(
        _ message: RecordMessage,
        askedAs asked: CKRecordID? = nil,
        user: String
    ) throws(WireError) -> (id: CKRecordID, result: Result<CKRecord, any Error>) {
        let (record, contents, zoneID) = try self.state.withLock { state throws(WireError) in
            let (record, contents) = try message.reading(&state.texts)
            return (record, contents, state.zoneID(record.id.zone, asked?.zoneID))
        }
        let name = record.id.recordName
        let id =
            asked.flatMap { $0.ifSame(as: name, in: zoneID) }
            ?? CKRecordID(storing: name, zoneID: zoneID)
        guard let contents else { return (id, .failure(CKError.damaged(id, record.recordType))) }
        return (id, .success(.made(of: record, contents, as: id, currentUser: user)))
    }
}

extension CKError {
    /// Makes the error of a record that the server's disk has damaged.
    fileprivate static func damaged(_ id: CKRecord.ID, _ recordType: CKRecord.RecordType) -> CKError {
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
