import RecordModel
import RecordStore
import StorageContract

/// The zone that most tests work in.
let notes = ZoneID(zoneName: "notes")

func id(_ name: String, in zone: ZoneID = notes) -> RecordID {
    RecordID(zone: zone, recordName: name)
}

func save(
    _ name: String,
    in zone: ZoneID = notes,
    type: String = "Note",
    tag: String? = nil,
    _ fields: [String: FieldValue] = [:],
    parent: RecordSave.ParentChange = .unchanged
) -> RecordSave {
    RecordSave(
        id: id(name, in: zone),
        recordType: type,
        changeTag: tag,
        changes: RecordBody(fields.map { Field(name: $0.key, value: $0.value) }),
        parent: parent
    )
}

func reference(_ name: String, _ action: Reference.Action) -> FieldValue {
    .reference(Reference(recordName: name, action: action))
}

extension WriteOutcome {
    var tag: String? {
        guard case .recordSaved(let position, _) = self else { return nil }
        return ChangeTag.text(of: position)
    }

    var error: StoreError? {
        guard case .failed(let error) = self else { return nil }
        return error
    }

    var isSaved: Bool { self.tag != nil }
}

extension Record {
    subscript(_ field: String) -> FieldValue? {
        self.body.fields.first { $0.name == field }?.value
    }
}

extension [WriteOutcome] {
    var areSaved: Bool { self.allSatisfy { $0.isSaved } }
}
