package import RecordModel
import SystemCrypto

/// Replaces values of records by noise of the same form, for a bug report.
///
/// Record types, field names, change tags and the schema are kept. So are types and lengths of
/// values, equality of values, references, the order of dates, and the sizes of assets.
///
/// Memory: some 150 bytes for each asset.
package struct Scrambler: Sendable {
    private static let pieceBytes = 1 << 20

    private let values: ScrambledValues
    private var assets: [Asset: Asset] = [:]

    package init(key: ScrambleKey) { self.values = ScrambledValues(key: key) }

    package func scrambled(_ description: BundleDescription) -> BundleDescription {
        var description = description
        description.isScrambled = true
        description.owner = description.owner.isEmpty ? "" : self.values.user(description.owner)
        for index in description.zones.indices {
            description.zones[index].name = self.values.zone(description.zones[index].name)
        }
        return description
    }

    package mutating func scrambled(_ record: Record) -> Record {
        let zone = self.values.zone(record.id.zone.zoneName)
        var system = record.system
        system.createdMilliseconds = self.values.milliseconds(system.createdMilliseconds)
        system.modifiedMilliseconds = self.values.milliseconds(system.modifiedMilliseconds)
        system.createdBy = system.createdBy.isEmpty ? "" : self.values.user(system.createdBy)
        system.modifiedBy = system.modifiedBy.isEmpty ? "" : self.values.user(system.modifiedBy)
        return Record(
            id: RecordID(zone: ZoneID(zoneName: zone), recordName: self.values.name(record.id.recordName)),
            recordType: record.recordType,
            changeTag: record.changeTag,
            system: system,
            parent: record.parent.map(self.values.name),
            body: self.scrambled(record.body)
        )
    }

    private mutating func scrambled(_ body: RecordBody) -> RecordBody {
        var fields = body.fields
        for index in fields.indices {
            if fields[index].name == ShareRecord.contentsField, case .bytes(let bytes) = fields[index].value,
                let share = try? Share(decoding: bytes)
            {
                fields[index].value = .bytes(self.scrambled(share).bytes)
            } else {
                fields[index].value = self.scrambled(fields[index].value)
            }
        }
        return RecordBody(fields)
    }

    private mutating func scrambled(_ value: FieldValue) -> FieldValue {
        switch value {
        case .string(let text): .string(self.values.text(text))
        case .int64(let number): .int64(self.values.integer(number))
        case .double(let number): .double(self.values.double(number))
        case .timestamp(let date): .timestamp(self.values.date(date))
        case .bytes(let bytes): .bytes(self.values.bytes(bytes))
        case .location(let location): .location(self.values.location(location))
        case .reference(let reference): .reference(self.scrambled(reference))
        case .asset(let asset): .asset(self.scrambled(asset))
        case .stringList(let texts): .stringList(texts.map(self.values.text))
        case .int64List(let numbers): .int64List(numbers.map(self.values.integer))
        case .doubleList(let numbers): .doubleList(numbers.map(self.values.double))
        case .timestampList(let dates): .timestampList(dates.map(self.values.date))
        case .bytesList(let list): .bytesList(list.map(self.values.bytes))
        case .locationList(let locations): .locationList(locations.map(self.values.location))
        case .referenceList(let references): .referenceList(references.map(self.scrambled))
        case .assetList(let assets): .assetList(assets.map { self.scrambled($0) })
        case .emptyList: .emptyList
        case .clear: .clear
        }
    }

    private func scrambled(_ reference: Reference) -> Reference {
        var reference = reference
        reference.recordName = self.values.name(reference.recordName)
        if let zone = reference.zone {
            reference.zone = ZoneID(
                zoneName: self.values.zone(zone.zoneName),
                ownerName: zone.ownerName.isEmpty ? "" : self.values.user(zone.ownerName)
            )
        }
        return reference
    }

    // MARK: Shares

    private func scrambled(_ share: Share) -> Share {
        var share = share
        share.root = share.root.map(self.values.name)
        share.token = self.values.text(share.token)
        for index in share.participants.indices {
            var participant = share.participants[index]
            participant.id = self.values.name(participant.id)
            participant.identity = self.scrambled(participant.identity)
            participant.oneTimeToken = self.values.text(participant.oneTimeToken)
            participant.addedMilliseconds = self.values.milliseconds(participant.addedMilliseconds)
            share.participants[index] = participant
        }
        share.requesters = share.requesters.map(self.scrambled)
        share.blocked = share.blocked.map(self.scrambled)
        return share
    }

    private func scrambled(_ identity: UserIdentity) -> UserIdentity {
        var identity = identity
        if !identity.userRecordName.isEmpty {
            identity.userRecordName = self.values.user(identity.userRecordName)
        }
        switch identity.lookup {
        case .emailAddress(let address): identity.lookup = .emailAddress(self.values.text(address))
        case .phoneNumber(let number): identity.lookup = .phoneNumber(self.values.text(number))
        case .userRecordName(let name): identity.lookup = .userRecordName(self.values.user(name))
        case nil: break
        }
        return identity
    }

    // MARK: Assets

    /// The asset with noise that replaces another one's bytes.
    package mutating func scrambled(_ asset: Asset) -> Asset {
        if let known = self.assets[asset] { return known }
        var hash = SHA256()
        self.forEachPiece(of: asset) { hash.add($0) }
        let scrambled = Asset(sha256: hash.value, size: asset.size)
        self.assets[asset] = scrambled
        return scrambled
    }

    /// Passes the noise in pieces.
    package func forEachPiece<Failure: Error>(
        of asset: Asset,
        _ body: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        let noise = self.values.noise(of: asset)
        var offset: Int64 = 0
        while offset < asset.size {
            let piece = noise.bytes(Int(min(asset.size - offset, Int64(Self.pieceBytes))), at: offset)
            try body(piece)
            offset += Int64(piece.count)
        }
    }
}
