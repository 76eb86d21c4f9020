package import RecordModel
import StorageContract

/// The meaning of `modify_zones` (`Protocol/README.md`, section 5.4).
///
/// Each zone is validated by itself.
struct ModifyZonesRule {
    let requester: Requester
    let operation: ModifyZones
    let bounds: Bounds
    let quotas: StorageQuotas
    let transaction: any WriteTransaction

    enum OnExecute {
        /// One outcome a zone, saves first.
        case finished(Result<[WriteOutcome], StoreError>)
        /// Some shares of the zones have ended; the rest is to be executed in other transactions.
        case unfinished
    }

    func execute() throws(StorageFailure) -> OnExecute {
        do {
            try Access.checkWriting(by: self.requester)
            try self.checkShape()
        } catch {
            return .finished(.failure(error))
        }
        if try self.endSomeShares() { return .unfinished }
        var outcomes: [WriteOutcome] = []
        var room: Int?
        let outcomeBytes = self.outcomeBytesMax
        for save in self.operation.saves {
            outcomes.append(try self.create(save, &room, outcomeBytes: outcomeBytes))
        }
        for zone in self.operation.deletes { outcomes.append(try self.delete(zone)) }
        return .finished(.success(outcomes))
    }

    private func endSomeShares() throws(StorageFailure) -> Bool {
        guard self.requester.scope == .private else { return false }
        var zones: [ZoneKey] = []
        for zone in self.operation.deletes where !zone.isDefault && Access.isOwn(zone, of: self.requester) {
            let key = try self.transaction.zone(named: zone.zoneName, in: self.requester.database)
            if let key { zones.append(key) }
        }
        return try self.transaction.endSomeShares(of: zones, max: self.bounds.sharesTurnMax)
    }

    /// The maximum bytes of the outcome, with the names of saved items.
    private var outcomeBytesMax: Int {
        let items = self.operation.saves.count + self.operation.deletes.count
        let names = self.operation.saves.reduce(0) { $0 + $1.id.zoneName.utf8.count }
        return RowBytes.outcome(items * RowBytes.outcomeItemMax + names)
    }

    /// The number of zones that the database can take.
    ///
    /// Zones that the same request deletes make no room yet, because saves come first.
    private func room() throws(StorageFailure) -> Int {
        let count = try self.transaction.countOfZones(
            in: self.requester.database,
            limit: self.bounds.zonesMax
        )
        return self.bounds.zonesMax - count
    }

    /// `room` is `nil` until the first zone is created: existing zones need no count.
    private func create(
        _ save: ZoneSave,
        _ room: inout Int?,
        outcomeBytes: Int
    ) throws(StorageFailure) -> WriteOutcome {
        let zone = save.id
        guard self.requester.scope == .private else { return .failed(.databaseNotAllowed) }
        guard !zone.isDefault else { return .failed(.zoneNotModifiable) }
        guard NameRules.isItemName(zone.zoneName) else { return .failed(.nameInvalid(.zone)) }
        guard Access.isOwn(zone, of: self.requester) else { return .failed(.permissionDenied(.create)) }
        let database = self.requester.database
        if let key = try self.transaction.zone(named: zone.zoneName, in: database) {
            let scope = try self.transaction.encryptionScope(of: key)
            guard scope == save.encryptionScope else { return .failed(.encryptionScopeFixed(scope)) }
        } else {
            let left = if let room { room } else { try self.room() }
            room = max(left - 1, 0)
            guard left > 0 else { return .failed(.tooManyZones) }
            let growth = RowBytes.zone(named: zone.zoneName) + outcomeBytes
            if let refusal = try self.transaction.refusal(
                ofGrowth: growth,
                in: database,
                under: self.quotas
            ) {
                return .failed(refusal)
            }
            let position = try self.transaction.takePosition(in: database)
            try self.create(save, at: position)
        }
        return .zoneSaved(
            Zone(id: zone, scope: self.requester.scope, encryptionScope: save.encryptionScope)
        )
    }

    private func create(_ save: ZoneSave, at position: Int64) throws(StorageFailure) {
        let database = self.requester.database
        let name = save.id.zoneName
        try self.transaction.createZone(named: name, in: database, at: position)
        guard save.encryptionScope != .perRecord else { return }
        var row = ZoneRow(database: database, name: name, number: position)
        row.position = position
        row.encryptionScope = save.encryptionScope
        try self.transaction.put(row)
    }

    private func delete(_ zone: ZoneID) throws(StorageFailure) -> WriteOutcome {
        guard !zone.isDefault else { return .failed(.zoneNotModifiable) }
        guard NameRules.isItemName(zone.zoneName) else { return .failed(.nameInvalid(.zone)) }
        let database = self.requester.database
        if self.requester.scope == .shared { return try self.leave(zone) }
        // A zone that can't be here at all is the caller's mistake, and not merely absent.
        guard Access.isOwn(zone, of: self.requester) else { return .failed(.zoneMissing) }
        guard let key = try self.transaction.zone(named: zone.zoneName, in: database) else { return .deleted }
        let position = try self.transaction.takePosition(in: database)
        try self.transaction.removeZone(key, named: zone.zoneName, at: position)
        return .deleted
    }

    /// Users who delete another user's zone leave all shares of it that they joined, and stay
    /// invited if they were.
    private func leave(_ zone: ZoneID) throws(StorageFailure) -> WriteOutcome {
        guard let name = Access.storedName(of: zone, for: self.requester) else {
            return .failed(.zoneMissing)
        }
        guard let key = try self.transaction.zone(named: name, in: self.requester.database) else {
            return .deleted
        }
        let access = try self.transaction.sharedAccess(to: key, of: self.requester.database)
        let rewriting = RecordRewriting(
            transaction: self.transaction,
            requester: self.requester,
            zone: key,
            zoneName: zone.zoneName
        )
        for grant in access.shares { try rewriting.leave(grant.share, staysInvited: true) }
        return .deleted
    }

    private func checkShape() throws(StoreError) {
        guard self.requester.scope != .public else { throw .databaseNotAllowed }
        let count = self.operation.saves.count + self.operation.deletes.count
        guard count <= self.bounds.requestItemsMax else { throw .tooManyItems(count) }
        let saved = Set(self.operation.saves.map(\.id.zoneName))
        guard saved.count == self.operation.saves.count else { throw .duplicateItem }
        let deleted = Set(self.operation.deletes.map(\.zoneName))
        guard deleted.count == self.operation.deletes.count else { throw .duplicateItem }
        guard saved.isDisjoint(with: deleted) else { throw .savedAndDeleted }
    }
}

extension Zone {
    /// A zone with what zones of its kind can do.
    package init(id: ZoneID, scope: DatabaseScope, encryptionScope: EncryptionScope = .perRecord) {
        var capabilities: ZoneCapabilities =
            switch scope {
            case .private where !id.isDefault: [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
            case .shared: [.fetchChanges, .atomic]
            case .private, .public: [.fetchChanges]
            }
        if encryptionScope == .perZone { capabilities.remove(.sharing) }
        self.init(id: id, capabilities: capabilities, encryptionScope: encryptionScope)
    }
}
