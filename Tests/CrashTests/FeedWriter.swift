import RecordClient
import RecordModel
import TestSupport
import WireProtocol

/// Saves, moves and deletes records of its own in all zones, hangs them below anybody's, and
/// deletes a zone now and then.
struct FeedWriter: Sendable {
    private let number: Int
    private let names: [String]
    private let client: SwitchedClient
    private let ledger: FeedLedger
    private var generator: SeededGenerator
    private var version: Int64 = 0

    init(number: Int, of count: Int, client: SwitchedClient, ledger: FeedLedger, seed: UInt64) {
        self.number = number
        self.names = FeedData.names(ofWriter: number, of: count)
        self.client = client
        self.ledger = ledger
        self.generator = SeededGenerator(seed: seed)
    }

    /// Writes until `answered`, which is told of each answer, says that it is enough.
    mutating func run(answered: @Sendable () -> Bool) async throws {
        repeat {
            if let zone = FeedData.passingZones.randomElement(using: &self.generator), self.isOneIn(50) {
                try await Self.delete(zone, self.client.current, self.ledger)
            } else if let zone = FeedData.zones.randomElement(using: &self.generator) {
                try await self.modify(zone)
            }
        } while answered()
    }

    // MARK: Zones

    /// Deletes a zone that may be gone already.
    static func delete(_ zone: ZoneID, _ client: RecordClient, _ ledger: FeedLedger) async throws {
        try await self.change(zone, isDeletion: true, client, ledger)
    }

    private static func change(
        _ zone: ZoneID,
        isDeletion: Bool,
        _ client: RecordClient,
        _ ledger: FeedLedger
    ) async throws {
        let modify = ModifyZones(
            scope: .private,
            saves: isDeletion ? [] : [zone],
            deletes: isDeletion ? [zone] : []
        )
        let number = ledger.sendZoneChange(zone, isDeletion: isDeletion)
        do {
            let outcome = try await client.perform(.modifyZones(modify), timeout: .seconds(60))[0]
            switch outcome {
            case .deleted, .zone: ledger.answered(zone, number, didHappen: true)
            default: throw FeedFlaw("changing a zone: \(String(describing: outcome))")
            }
        } catch {
            guard error.isEndOfServer else { throw error }
            // The server that it was sent to is dead: from now on it can't happen any more.
            ledger.answered(zone, number, didHappen: nil)
        }
    }

    // MARK: Records

    private mutating func modify(_ zone: ZoneID) async throws {
        let modify = self.nextRequest(in: zone)
        let ids = self.names.map { RecordID(zone: zone, recordName: $0) }
        let sent = self.ledger.open(ids)
        do {
            let client = self.client.current
            let outcomes = try await client.perform(.modifyRecords(modify), timeout: .seconds(60))
            let changes = try self.changes(by: modify, outcomes, in: zone, sent: sent)
            self.ledger.close(ids, changes, sent: sent)
            if outcomes.values.contains(where: { $0.failureCode == .zoneNotFound }) {
                try await Self.change(zone, isDeletion: false, self.client.current, self.ledger)
            }
        } catch {
            guard error.isEndOfServer else { throw error }
            let changes = try await self.changesFound(of: ids, after: modify, in: zone)
            self.ledger.close(ids, changes, sent: sent)
        }
    }

    private mutating func nextRequest(in zone: ZoneID) -> ModifyRecords {
        let chosen = self.names.shuffled(using: &self.generator)
        let present = self.ledger.contents(in: zone).keys.sorted()
        // Never the same record in both.
        let third = chosen.count / 3
        let saves = chosen.prefix(Int.random(in: 0...2 * third, using: &self.generator)).map { name in
            self.nextSave(RecordID(zone: zone, recordName: name), present: present)
        }
        let deletes = chosen.suffix(Int.random(in: (saves.isEmpty ? 1 : 0)...third, using: &self.generator))
        return ModifyRecords(
            scope: .private,
            saves: saves,
            deletes: deletes.map { RecordID(zone: zone, recordName: $0) },
            policy: .changedKeys,
            isAtomic: Bool.random(using: &self.generator)
        )
    }

    /// Says everything of the record, so that what it is afterwards follows from the save alone.
    private mutating func nextSave(_ id: RecordID, present: [String]) -> RecordSave {
        self.version += 1
        let filling = [UInt8](repeating: 0x78, count: Int.random(in: 0...200, using: &self.generator))
        var parent: String?
        if !self.isOneIn(3) {
            parent = (self.isOneIn(4) ? FeedData.names : present).randomElement(using: &self.generator)
        }
        let owner = self.isOneIn(6) ? self.names.randomElement(using: &self.generator) : nil
        return RecordSave(
            id: id,
            recordType: FeedData.recordType,
            changes: RecordBody([
                Field(name: "filling", value: .bytes(filling)),
                Field(
                    name: "owner",
                    value: owner.map { .reference(Reference(recordName: $0, action: .deleteSelf)) } ?? .clear
                ),
                Field(name: "version", value: .int64(self.version)),
            ]),
            parent: parent.map { .set(recordName: $0) } ?? .removed
        )
    }

    private mutating func isOneIn(_ count: Int) -> Bool {
        Int.random(in: 0..<count, using: &self.generator) == 0
    }

    // MARK: What became of a request

    private func changes(
        by modify: ModifyRecords,
        _ outcomes: [UInt32: ItemOutcome],
        in zone: ZoneID,
        sent: Int
    ) throws -> [RecordID: Content?] {
        var contents = self.ledger.contents(in: zone, named: self.names)
        var changes: [RecordID: Content?] = [:]
        for (index, save) in modify.saves.enumerated() {
            switch outcomes[UInt32(index)] {
            case .recordSaved(let saved):
                let content = try Content(
                    changeTag: saved.changeTag,
                    parent: save.parentName,
                    body: save.body
                )
                contents[save.id.recordName] = content
                changes[save.id] = .some(content)
            case .failure(let failure):
                // What it refers to may be absent, and a record must not be its own ancestor.
                let isReference = [.referenceViolation, .invalidArguments].contains(failure.code)
                if save.refersToOthers, isReference { continue }
                try self.checkRefusal(failure, of: modify, in: zone, sent: sent)
            case let outcome: throw FeedFlaw("\(save.id.recordName): \(String(describing: outcome))")
            }
        }
        for (index, id) in modify.deletes.enumerated() {
            switch outcomes[UInt32(modify.saves.count + index)] {
            case .deleted:
                for name in Self.gone(with: id.recordName, contents) {
                    contents[name] = nil
                    changes[RecordID(zone: zone, recordName: name)] = .some(nil)
                }
            case .failure(let failure):
                // It has children, or who goes with it has.
                if failure.code == .referenceViolation { continue }
                try self.checkRefusal(failure, of: modify, in: zone, sent: sent)
            case let outcome: throw FeedFlaw("\(id.recordName): \(String(describing: outcome))")
            }
        }
        return changes
    }

    private func checkRefusal(
        _ failure: Failure,
        of modify: ModifyRecords,
        in zone: ZoneID,
        sent: Int
    ) throws {
        switch failure.code {
        case .zoneNotFound where self.ledger.mayBeMissing(zone, at: sent): return
        case .batchRequestFailed where modify.isAtomic && !zone.isDefault: return
        default: throw FeedFlaw("writer \(self.number) in \(zone.zoneName): \(failure)")
        }
    }

    /// A record and all that are deleted with it.
    private static func gone(with name: String, _ contents: [String: Content]) -> Set<String> {
        var gone: Set<String> = [name]
        var count = 0
        while count < gone.count {
            count = gone.count
            for (name, content) in contents where content.owner.map({ gone.contains($0) }) ?? false {
                gone.insert(name)
            }
        }
        return gone
    }

    /// Nobody knows whether the request took effect: the server of then is dead, or its primary, and the new
    /// one knows.
    private func changesFound(
        of ids: [RecordID],
        after modify: ModifyRecords,
        in zone: ZoneID
    ) async throws -> [RecordID: Content?] {
        let fetch = FetchRecords(scope: .private, ids: ids)
        let outcomes = try await self.client.outcomes(of: .fetchRecords(fetch))
        let before = self.ledger.contents(in: zone, named: self.names)
        let gone = try Self.mayBeGone(after: modify, before)
        var changes: [RecordID: Content?] = [:]
        for (index, id) in ids.enumerated() {
            let found = try outcomes[UInt32(index)]?.record.map { try Content($0) }
            if found == before[id.recordName] { continue }
            let save = modify.saves.first { $0.id == id }
            let isSaved = found.map { $0.parent == save?.parentName && $0.body == save?.body }
            let isGone = gone.contains(id.recordName) || FeedData.passingZones.contains(zone)
            guard isSaved ?? isGone else {
                throw FeedFlaw("\(id.recordName) in \(zone.zoneName) is lost or invented after a kill")
            }
            changes[id] = .some(found)
        }
        try self.checkWhole(modify, changes, gone, in: zone)
        return changes
    }

    private static func mayBeGone(
        after modify: ModifyRecords,
        _ before: [String: Content]
    ) throws -> Set<String> {
        var after = before
        for save in modify.saves {
            after[save.id.recordName] = try Content(changeTag: "0", parent: nil, body: save.body)
        }
        return modify.deletes.reduce(into: []) { gone, id in
            gone.formUnion(self.gone(with: id.recordName, before))
            gone.formUnion(self.gone(with: id.recordName, after))
        }
    }

    /// An atomic request has taken effect as a whole or not at all.
    private func checkWhole(
        _ modify: ModifyRecords,
        _ changes: [RecordID: Content?],
        _ gone: Set<String>,
        in zone: ZoneID
    ) throws {
        guard modify.isAtomic, !zone.isDefault, FeedData.lastingZones.contains(zone) else { return }
        let saves = modify.saves.filter { !gone.contains($0.id.recordName) }
        let saved = saves.filter { changes[$0.id] != nil }.count
        guard saved == 0 || saved == saves.count else {
            throw FeedFlaw("\(saved) of \(saves.count) saves of an atomic request in \(zone.zoneName)")
        }
    }
}

extension RecordSave {
    fileprivate var parentName: String? {
        if case .set(let name) = self.parent { name } else { nil }
    }

    /// What a new record has after it.
    fileprivate var body: RecordBody { RecordBody.empty.merging(self.changes) }

    fileprivate var refersToOthers: Bool {
        self.parentName != nil
            || self.body.fields.contains { if case .reference = $0.value { true } else { false } }
    }
}

extension ItemOutcome {
    fileprivate var failureCode: ErrorCode? {
        if case .failure(let failure) = self { failure.code } else { nil }
    }

    var record: Record? {
        if case .record(let message) = self { try? message.record() } else { nil }
    }
}
