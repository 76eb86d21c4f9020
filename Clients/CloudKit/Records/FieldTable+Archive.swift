import RecordModel

extension FieldTable {
    /// The parts of an archive that contain the fields.
    var archiveParts: [Field] {
        var fields: [Field] = []
        var refusals = self.misuses
        for (key, entry) in self.entries {
            switch entry.value {
            case .success(let value):
                fields.append(Field(name: key, value: value, isEncrypted: entry.isEncrypted))
            case .failure(let refusal): refusals[key] = refusal
            }
        }
        let values = fields.filter { NameRules.isIdentifier($0.name.utf8) }
        let refused = refusals.sorted { $0.key < $1.key }
        return [
            Field("values", .bytes(RecordBody(values).bytes)),
            Field("changedKeys", .stringList(self.changedKeys(encrypted: false))),
            Field("changedEncryptedKeys", .stringList(self.changedKeys(encrypted: true))),
            Field("refusedKeys", .stringList(refused.map(\.key))),
            Field("refusalTexts", .stringList(refused.map(\.value.text))),
        ] + Self.oddParts(fields.filter { !NameRules.isIdentifier($0.name.utf8) })
            + ArchivedAssets(self).parts
    }

    /// The parts with fields that no record body can have: the names, and the values under
    /// others.
    private static func oddParts(_ fields: [Field]) -> [Field] {
        guard !fields.isEmpty else { return [] }
        let values = fields.enumerated().map { index, field in
            Field(name: self.oddName(index), value: field.value, isEncrypted: field.isEncrypted)
        }
        return [
            Field("oddKeys", .stringList(fields.map(\.name))),
            Field("oddValues", .bytes(RecordBody(values).bytes)),
        ]
    }

    private static func oddName(_ index: Int) -> String { "value\(index)" }

    private static func oddFields(_ archive: ArchivedBody) -> [Field] {
        guard let bytes = archive.bytes("oddValues"),
            let body = try? RecordBody(checking: bytes, allowsClear: false)
        else { return [] }
        let values = Dictionary(body.fields.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return archive.texts("oddKeys").enumerated().compactMap { index, key in
            values[self.oddName(index)].map { Field(name: key, value: $0.value, isEncrypted: $0.isEncrypted) }
        }
    }

    /// Reads the fields of an archive, none if it has system fields only; `nil` if they are
    /// malformed.
    init?(_ archive: ArchivedBody, in zone: CKRecordZoneID) {
        var body = RecordBody.empty
        if let bytes = archive.bytes("values") {
            guard let checked = try? RecordBody(checking: bytes, allowsClear: false) else { return nil }
            body = checked
        }
        let refused = Dictionary(
            zip(archive.texts("refusedKeys"), archive.texts("refusalTexts")),
            uniquingKeysWith: { first, _ in first }
        )
        self.init(
            body,
            oddFields: Self.oddFields(archive),
            in: zone,
            changes: archive.texts("changedKeys").map { ($0, false) }
                + archive.texts("changedEncryptedKeys").map { ($0, true) },
            misuses: refused.mapValues { ValueRefusal($0) }
        )
        self.restore(ArchivedAssets(archive).objects, in: zone)
    }
}
