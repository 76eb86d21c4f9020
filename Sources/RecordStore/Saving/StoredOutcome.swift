import RecordModel
import StorageContract

/// The outcome of a request as it is kept for replays, 5 bytes for a record that was saved.
///
///     outcome = 0x01 now *item                now: milliseconds since 1970, as all integers in zigzag LEB128
///     item    = 0x00 position                 record created now, by the requester
///             | 0x01 position created         record updated that the requester created
///             | 0x02 position created text    … that another user created
///             | 0x03 text text                zone: name, owner
///             | 0x04                          deleted
///             | 0x05 number integers texts    failed: `StoreError.Parts`
///             | 0x06                          subscription: saved as the request says
///             | 0x07                          share: accepted; a replay accepts again, to no effect
///             | 0x08                          done
///
/// A failure that carries the server's record is kept without it: a replay gets the record as it is by then.
struct StoredOutcome {
    let request: WriteRequest
    let bounds: Bounds
    let transaction: any WriteTransaction

    private var user: String { self.request.requester.userRecordName ?? "" }

    func encode(_ outcomes: [WriteOutcome]) -> [UInt8] {
        var bytes = CompactBytes(reserving: 8 + 5 * outcomes.count)
        bytes.append(byte: 1)
        let now = self.transaction.nowMilliseconds
        let user = self.user
        bytes.append(now)
        for outcome in outcomes {
            switch outcome {
            case .recordSaved(let position, let system):
                let isOwn = system.createdBy == user
                if !isOwn {
                    bytes.append(byte: 2)
                } else {
                    bytes.append(byte: system.createdMilliseconds == now ? 0 : 1)
                }
                bytes.append(position)
                if !isOwn || system.createdMilliseconds != now {
                    bytes.append(system.createdMilliseconds)
                }
                if !isOwn { bytes.append(system.createdBy) }
            case .zoneSaved(let zone):
                bytes.append(byte: 3)
                bytes.append(zone.id.zoneName)
                bytes.append(zone.id.ownerName)
            case .subscriptionSaved: bytes.append(byte: 6)
            case .deleted: bytes.append(byte: 4)
            case .shareAccepted: bytes.append(byte: 7)
            case .done: bytes.append(byte: 8)
            case .failed(let error):
                let parts = error.row.parts
                bytes.append(byte: 5)
                bytes.append(byte: parts.number)
                bytes.append(parts.integers)
                bytes.append(parts.texts)
            }
        }
        return bytes.bytes
    }

    func decode(_ stored: [UInt8]) throws(StorageFailure) -> [WriteOutcome] {
        var bytes = CompactBytes(stored)
        guard bytes.nextByte() == 1, let now = bytes.nextInteger() else { throw .unexpected(code: 0) }
        let room = RecordRoom(self.bounds)
        var outcomes: [WriteOutcome] = []
        while let kind = bytes.nextByte() {
            guard let outcome = try self.outcome(kind, &bytes, now: now, index: outcomes.count, room) else {
                throw .unexpected(code: Int32(kind))
            }
            outcomes.append(outcome)
        }
        return outcomes
    }

    private func outcome(
        _ kind: UInt8,
        _ bytes: inout CompactBytes,
        now: Int64,
        index: Int,
        _ room: RecordRoom
    ) throws(StorageFailure) -> WriteOutcome? {
        switch kind {
        case 0, 1, 2:
            guard let position = bytes.nextInteger(), let created = kind == 0 ? now : bytes.nextInteger(),
                let creator = kind == 2 ? bytes.nextText() : self.user
            else { return nil }
            let system = SystemFields(
                createdMilliseconds: created,
                modifiedMilliseconds: now,
                createdBy: creator,
                modifiedBy: self.user
            )
            return .recordSaved(position: position, system: system)
        case 3:
            guard let name = bytes.nextText(), let owner = bytes.nextText() else { return nil }
            let id = ZoneID(zoneName: name, ownerName: owner)
            return .zoneSaved(
                Zone(
                    id: id,
                    scope: self.request.requester.scope,
                    encryptionScope: self.encryptionScope(index: index)
                )
            )
        case 4: return .deleted
        case 5:
            guard let number = bytes.nextByte(), let integers = bytes.nextIntegers(),
                let texts = bytes.nextTexts()
            else { return nil }
            let parts = StoreError.Parts(number: number, integers: integers, texts: texts)
            if parts.carriesRecord {
                return .failed(room.fitting(try self.conflict(parts, index: index)))
            }
            return StoreError(parts: parts).map { .failed($0) }
        case 6: return self.subscription(index: index)
        case 7: return try self.share(index: index, room)
        case 8: return .done
        default: return nil
        }
    }

    /// That of the request: no zone was saved with another than it has.
    private func encryptionScope(index: Int) -> EncryptionScope {
        guard case .modifyZones(let operation) = self.request.operation,
            operation.saves.indices.contains(index)
        else { return .perRecord }
        return operation.saves[index].encryptionScope
    }

    /// The share as it is now; users who have lost it since learn of that.
    private func share(index: Int, _ room: RecordRoom) throws(StorageFailure) -> WriteOutcome {
        guard case .acceptShares(let operation) = self.request.operation,
            operation.tokens.indices.contains(index)
        else { return .failed(.shareMissing) }
        let rule = JoinRule(
            requester: self.request.requester,
            bounds: self.bounds,
            // A replay stores nothing.
            quotas: .none,
            transaction: self.transaction
        )
        let outcome = try rule.joined(operation.tokens[index])
        guard case .shareAccepted(let share) = outcome, let full = room.take(share.body) else {
            return outcome
        }
        return .failed(full)
    }

    /// The subscription that a replay reports as saved; another request under the same ID never
    /// saved one.
    private func subscription(index: Int) -> WriteOutcome {
        guard case .modifySubscriptions(let operation) = self.request.operation,
            operation.saves.indices.contains(index)
        else { return .failed(.subscriptionMissing) }
        return .subscriptionSaved(operation.saves[index].canonical(for: self.request.requester))
    }

    /// The conflict of an item with the record as it is now.
    ///
    /// A record that has gone since has nothing to merge with.
    private func conflict(_ parts: StoreError.Parts, index: Int) throws(StorageFailure) -> StoreError {
        guard case .modifyRecords(let operation) = self.request.operation else { return .recordMissing }
        let ids = operation.saves.map(\.id) + operation.deletes
        guard ids.indices.contains(index) else { return .recordMissing }
        let id = ids[index]
        let requester = self.request.requester
        guard let name = Access.storedName(of: id.zone, for: requester),
            let zone = try self.transaction.zone(named: name, in: requester.database)
        else { return .zoneMissing }
        guard let record = try self.transaction.record(named: id.recordName, in: zone) else {
            return .recordMissing
        }
        if requester.scope == .shared {
            let access = try self.transaction.sharedAccess(to: zone, of: requester.database)
            let key = RecordKey(zone: zone, number: record.number)
            let share = try self.transaction.membership(of: key)?.share
            guard let grant = access.grant(coveredBy: share) else { return .recordMissing }
            if ExactName.areSame(grant.share.root, id.recordName) {
                return parts.conflict(with: record.asRoot.record(id: id))
            }
        }
        return parts.conflict(with: record.seen(by: self.user).record(id: id))
    }
}
