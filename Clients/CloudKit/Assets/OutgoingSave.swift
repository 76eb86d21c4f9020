internal import RecordModel
private import Synchronization

/// A save in flight, with the files that must reach the server first.
struct OutgoingSave: Sendable {
    let record: CKRecord
    private(set) var save: RecordSave
    private(set) var fields: [AssetField]
    /// The fields with uploaded files.
    private var given: [AssetField] = []
    /// Whether the server has said that it does not have the uploaded files.
    private(set) var isLost = false

    init(_ save: RecordSave, of record: CKRecord, fields: [AssetField]) {
        self.record = record
        self.save = save
        self.fields = fields
    }

    /// The assets of the fields, each once.
    var assets: [CKAsset] {
        var seen: Set<ObjectIdentifier> = []
        return self.fields.flatMap(\.assets).filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    /// Notes the contents of the files that the server has now.
    mutating func uploaded(_ contents: [ObjectIdentifier: Asset]) {
        let values = Dictionary(uniqueKeysWithValues: self.fields.map { ($0.key, $0.value(known: contents)) })
        var known = self.save
        known.changes = RecordBody(
            known.changes.fields.map { field in
                var field = field
                field.value = values[field.name] ?? field.value
                return field
            }
        )
        self.record.state.withLock { [save] in $0.saveIsKnown(save, as: known) }
        self.save = known
        self.given = self.fields
        self.fields = []
    }

    var needsUpload: Bool { !self.fields.isEmpty }

    /// Whether files were uploaded for the save.
    var hasUploads: Bool { !self.given.isEmpty }

    /// The same save, with its files to be uploaded once more.
    var lost: OutgoingSave {
        var lost = self
        lost.fields = self.given
        lost.given = []
        lost.isLost = true
        return lost
    }
}
