internal import RecordClient
internal import RecordModel
internal import WireProtocol

/// The subject of an error: the server says that something is missing or not permitted, and only
/// the client knows what it asked for.
struct ErrorSubject: Sendable {
    /// A record or a subscription; `nil` if the error is about the zone or the whole database.
    var item: String?
    /// `nil` if no zone was named.
    var zone: CKRecordZone.ID?
    var scope: DatabaseScopeModel

    init(item: String? = nil, zone: CKRecordZone.ID? = nil, scope: DatabaseScopeModel) {
        self.item = item
        self.zone = zone
        self.scope = scope
    }

    init(_ id: CKRecord.ID, scope: DatabaseScopeModel) {
        self.init(item: id.recordName, zone: id.zoneID, scope: scope)
    }

    /// Returns the server's text, completed by the subject.
    fileprivate func completing(_ message: String, of code: ErrorCode) -> String {
        switch code {
        case .zoneNotFound: "\(message): \(self.zoneText)"
        case .unknownItem, .permissionFailure:
            self.item.map { "\(message): '\($0)' in \(self.zoneText)" } ?? message
        default: message
        }
    }

    private var zoneText: String {
        guard let zone else { return "the \(self.scope) database" }
        let isOwn = zone.ownerName == CKCurrentUserDefaultName
        let owner = isOwn ? "" : " of \(zone.ownerName)"
        return "zone '\(zone.zoneName)'\(owner) of the \(self.scope) database"
    }
}

extension Failure {
    /// Returns the failure with a text that names the subject; `nil` if the subject is unknown.
    func about(_ subject: ErrorSubject?) -> Failure {
        guard let subject else { return self }
        var failure = self
        failure.message = subject.completing(self.message, of: self.code)
        return failure
    }
}

extension ClientError {
    /// Returns the same for a request that was refused as a whole.
    func about(_ subject: ErrorSubject?) -> ClientError {
        guard case .refused(let failure) = self else { return self }
        return .refused(failure.about(subject))
    }
}
