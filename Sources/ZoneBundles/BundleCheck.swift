package import RecordModel

/// Checks a bundle's records and assets against each other.
///
/// Memory: a word for each record of a zone, and some 60 bytes for each asset.
package struct BundleCheck {
    private let zones: [String]
    private let isPublic: Bool
    /// The index of the current zone.
    private var zone = -1
    /// Names as hashes with a seed of this process, since names may be long.
    private var names: Set<Int> = []
    /// Targets of references with an action that have not been read yet.
    private var targets: Set<Int> = []
    private var last: String?
    /// Referenced assets that have not been read yet.
    private var assets: Set<Asset> = []

    /// - Throws: `zoneUnexpected` for a duplicate zone.
    package init(_ description: BundleDescription) throws(BundleError) {
        self.zones = description.zones.map(\.name)
        self.isPublic = description.isPublic
        var seen: Set<String> = []
        for zone in self.zones where !seen.insert(zone).inserted { throw .zoneUnexpected(zone) }
    }

    package mutating func add(_ record: Record) throws(BundleError) {
        try self.enter(record.id.zone.zoneName)
        let name = record.id.recordName
        guard self.names.insert(ExactName(name).hashValue).inserted else { throw .recordTwice(name) }
        self.targets.remove(ExactName(name).hashValue)
        guard Self.isSound(record.system) else { throw .systemFieldsInvalid(name) }
        if let parent = record.parent,
            ExactName.areSame(parent, name) || !self.names.contains(ExactName(parent).hashValue)
        {
            throw .parentMissing(parent, of: name)
        }
        if record.recordType == ShareRecord.type {
            guard let share = record.body.shareContents, ExactName.areSame(share.root, self.last),
                !self.isPublic
            else {
                throw .shareWithoutRoot(name)
            }
        }
        self.last = name
        self.addValues(of: record.body)
    }

    /// Whether a server could have set these values.
    private static func isSound(_ system: SystemFields) -> Bool {
        let dates = 0...253_402_300_799_999 as ClosedRange<Int64>
        return dates.contains(system.createdMilliseconds) && dates.contains(system.modifiedMilliseconds)
            && [system.createdBy, system.modifiedBy].allSatisfy {
                $0.isEmpty || NameRules.isUserRecordName($0)
            }
    }

    private mutating func enter(_ zone: String) throws(BundleError) {
        guard self.zone < 0 || self.zones[self.zone] != zone else { return }
        try self.endZone()
        guard let next = self.zones[(self.zone + 1)...].firstIndex(of: zone) else {
            throw .zoneUnexpected(zone)
        }
        self.zone = next
    }

    private mutating func endZone() throws(BundleError) {
        guard self.targets.isEmpty else { throw .targetMissing(zone: self.zones[self.zone]) }
        self.names = []
        self.last = nil
    }

    private mutating func addValues(of body: RecordBody) {
        var cursor = FieldCursor(body.bytes)
        while let slice = cursor.nextTrusted() {
            switch slice.type {
            case .reference, .referenceList, .asset, .assetList: self.add(body.value(of: slice))
            default: continue
            }
        }
    }

    private mutating func add(_ value: FieldValue) {
        switch value {
        case .reference(let reference): self.add(reference)
        case .referenceList(let references): for reference in references { self.add(reference) }
        case .asset(let asset): self.assets.insert(asset)
        case .assetList(let assets): self.assets.formUnion(assets)
        default: break
        }
    }

    private mutating func add(_ reference: Reference) {
        let target = ExactName(reference.recordName).hashValue
        guard reference.action != .none, !self.names.contains(target) else { return }
        self.targets.insert(target)
    }

    package mutating func add(_ asset: Asset) throws(BundleError) {
        guard self.assets.remove(asset) != nil else { throw .assetUnnamed(asset.hexadecimal) }
    }

    package mutating func finish() throws(BundleError) {
        if self.zone >= 0 { try self.endZone() }
        guard self.assets.isEmpty else { throw .assetsIncomplete(missing: self.assets.count) }
    }
}

extension RecordBody {
    /// The contents of a share; `nil` if the record has none.
    var shareContents: Share? {
        var cursor = FieldCursor(self.bytes)
        while let slice = cursor.nextTrusted() {
            guard self.name(of: slice) == ShareRecord.contentsField,
                case .bytes(let bytes) = self.value(of: slice)
            else { continue }
            return try? Share(decoding: bytes)
        }
        return nil
    }

    /// This body with another share.
    func with(contents share: Share) -> RecordBody {
        self.merging(RecordBody([Field(name: ShareRecord.contentsField, value: .bytes(share.bytes))]))
    }
}
