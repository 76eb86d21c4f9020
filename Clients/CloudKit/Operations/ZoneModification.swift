internal import RecordModel
internal import WireProtocol

/// Zones to create and to delete in one request.
struct ZoneModification: BatchRequest {
    typealias ItemID = CKRecordZone.ID
    typealias Value = CKRecordZone

    static let partialFailureText = "Failed to modify some record zones"

    private let scope: DatabaseScopeModel
    private let saves: [CKRecordZone.ID]
    /// The saves as they are sent.
    private let models: [ZoneSave]
    private let deletes: [CKRecordZone.ID]

    /// - Throws: `invalidArguments` if a zone is named twice.
    init(
        saving zones: [CKRecordZone],
        deleting ids: [CKRecordZone.ID],
        scope: DatabaseScopeModel
    ) throws(CKError) {
        let all = zones.map(\.zoneID) + ids
        guard Set(all).count == all.count else {
            throw CKError.local(.invalidArguments, "You can't name the same record zone twice")
        }
        self.scope = scope
        self.saves = zones.map(\.zoneID)
        self.models = zones.map {
            ZoneSave(id: $0.zoneID.model, encryptionScope: EncryptionScope($0.encryptionScope))
        }
        self.deletes = ids
    }

    var itemCount: Int? { self.saves.count + self.deletes.count }
    var roles: RequestRoles<Self> { RequestRoles() }

    func operation(user: String) throws(CKError) -> RequestModel {
        .modifyZones(
            ModifyZones(scope: self.scope, zoneSaves: self.models, deletes: self.deletes.map(\.model))
        )
    }

    func result(of item: Item, user: String) -> ItemResult? {
        let index = Int(item.index)
        guard index < self.saves.count + self.deletes.count else { return nil }
        if index < self.saves.count {
            let id = self.saves[index]
            return .value(id, item.outcome.zone(user: user, ErrorSubject(zone: id, scope: self.scope)))
        }
        let id = self.deletes[index - self.saves.count]
        if case .deleted = item.outcome { return .deletion(id, .success(())) }
        let subject = ErrorSubject(zone: id, scope: self.scope)
        return .deletion(id, .failure(item.outcome.error(user: user, about: subject)))
    }
}

extension ItemOutcome {
    /// Returns the result of an item with a zone as its value.
    func zone(user: String, _ subject: ErrorSubject) -> Result<CKRecordZone, any Error> {
        if case .zone(let zone) = self { return .success(CKRecordZone(zone)) }
        return .failure(self.error(user: user, about: subject))
    }
}
