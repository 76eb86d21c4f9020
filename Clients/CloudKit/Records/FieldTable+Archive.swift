import RecordModel

extension FieldTable {
    /// The parts of an archive that contain the fields.
    var archiveParts: [Field] {
        let entries = self.entries
        let values = entries.compactMap { key, entry -> Field? in
            guard case .success(let value) = entry.value else { return nil }
            return Field(name: key, value: value, isEncrypted: entry.isEncrypted)
        }
        var refusals = self.misuses
        for (key, entry) in entries {
            if case .failure(let refusal) = entry.value { refusals[key] = refusal }
        }
        let refused = refusals.sorted { $0.key < $1.key }
        return [
            Field("values", .bytes(RecordBody(values).bytes)),
            Field("changedKeys", .stringList(self.changedKeys(encrypted: false))),
            Field("changedEncryptedKeys", .stringList(self.changedKeys(encrypted: true))),
            Field("refusedKeys", .stringList(refused.map(\.key))),
            Field("refusalTexts", .stringList(refused.map(\.value.text))),
        ] + ArchivedAssets(self).parts
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
            in: zone,
            changedKeys: archive.texts("changedKeys"),
            changedEncryptedKeys: archive.texts("changedEncryptedKeys"),
            misuses: refused.mapValues { ValueRefusal($0) }
        )
        self.restore(ArchivedAssets(archive).objects)
    }
}
