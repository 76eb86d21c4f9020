internal import RecordClient
internal import RecordModel
internal import WireProtocol

/// What an error is about: the server says only that something is missing or not permitted, its client knows what was asked for and where.
struct ErrorSubject: Sendable {
    /// A record or a subscription; `nil` if the zone or the whole database is meant.
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

    /// The server's text, with what it is about.
    fileprivate func completing(_ message: String, of code: ErrorCode) -> String {
        switch code {
        case .zoneNotFound: "\(message): \(self.place)"
        case .unknownItem, .permissionFailure:
            self.item.map { "\(message): '\($0)' in \(self.place)" } ?? message
        default: message
        }
    }

    private var place: String {
        guard let zone else { return "the \(self.scope) database" }
        let isOwn = zone.ownerName == CKCurrentUserDefaultName
        let owner = isOwn ? "" : " of \(zone.ownerName)"
        return "zone '\(zone.zoneName)'\(owner) of the \(self.scope) database"
    }
}

extension Failure {
    /// The failure with a text that names what it is about; `nil` if nothing is known of that.
    func about(_ subject: ErrorSubject?) -> Failure {
        guard let subject else { return self }
        var failure = self
        failure.message = subject.completing(self.message, of: self.code)
        return failure
    }
}

extension ClientError {
    /// The same, of a request that was refused as a whole.
    func about(_ subject: ErrorSubject?) -> ClientError {
        guard case .refused(let failure) = self else { return self }
        return .refused(failure.about(subject))
    }
}
