package import RecordModel

/// A record to save, as written by a user.
package struct RecordDraft: Hashable, Sendable {
    package var recordName: String
    /// Empty if unknown, for a deleted record.
    package var recordType: String
    /// Whether the text marks the record as deleted, so that it is not saved.
    package var isDeletion = false
    /// `nil` if the text names none.
    package var zone: ZoneID?
    package var changeTag: String?
    package var parent: RecordSave.ParentChange
    /// Checked, in the encoding of saves.
    package var changes: RecordBody
    /// The position of the record in the text.
    package var position: TextPosition

    /// Reads a record from JSON.
    ///
    /// - Throws: The first error, with its position and field.
    package init(_ node: JSONNode, owners: ZoneOwners = .count) throws(RecordJSONError) {
        var object = try JSONObject(node, of: "a record")
        self.position = node.position
        self.recordName = try object.required("recordName").string()
        self.isDeletion = try object.take("deleted")?.bool() ?? false
        // CloudKit Web Services does not report the type of a deleted record.
        self.recordType =
            self.isDeletion
            ? try object.take("recordType")?.string() ?? "" : try object.required("recordType").string()
        self.changeTag = try object.take("recordChangeTag")?.string()
        self.zone = try object.take("zoneID")?.zone(owners)
        self.parent = .unchanged
        if let parent = object.take("parent") {
            if parent.value == .null {
                self.parent = .removed
            } else {
                var target = try JSONObject(parent, of: "the parent")
                self.parent = .set(recordName: try target.required("recordName").string())
                target.ignore(["zoneID", "action"])
                try target.finish()
            }
        }
        let fields = object.take("fields")
        // Fields that a server adds to a record, and that cannot be saved.
        object.ignore(["created", "modified", "pluginFields", "share", "shortGUID"])
        try object.finish()
        self.changes = try FieldReading.body(of: fields, owners: owners, at: node.position)
    }

    package init(
        recordName: String,
        recordType: String,
        changeTag: String?,
        changes: RecordBody,
        position: TextPosition
    ) {
        self.recordName = recordName
        self.recordType = recordType
        self.zone = nil
        self.changeTag = changeTag
        self.parent = .unchanged
        self.changes = changes
        self.position = position
    }
}

/// The members of an object that were not read yet.
struct JSONObject {
    private var members: [JSONNode.Member]
    private let node: JSONNode
    private let field: String?

    init(_ node: JSONNode, of what: String, field: String? = nil) throws(RecordJSONError) {
        guard case .object(let members) = node.value else {
            throw RecordJSONError(
                .wrongValue(expected: field == nil ? "\(what) as an object" : "an object", found: node.kind),
                at: node.position,
                field: field
            )
        }
        self.members = members
        self.node = node
        self.field = field
    }

    mutating func take(_ name: String) -> JSONNode? {
        guard let offset = self.members.firstIndex(where: { $0.name == name }) else { return nil }
        return self.members.remove(at: offset).node
    }

    mutating func required(_ name: String) throws(RecordJSONError) -> JSONNode {
        guard let node = self.take(name) else {
            throw RecordJSONError(.missing(name: name), at: self.node.position, field: self.field)
        }
        return node
    }

    mutating func ignore(_ names: Set<String>) { self.members.removeAll { names.contains($0.name) } }

    /// Refuses unused members: a misspelt name would otherwise be ignored.
    func finish() throws(RecordJSONError) {
        guard let member = self.members.first else { return }
        throw RecordJSONError(.unknown(name: member.name), at: member.position, field: self.field)
    }
}

/// The meaning of the owners of zones in a text.
package enum ZoneOwners: Sendable {
    /// The zone belongs to its owner.
    case count
    /// All zones belong to one database, and the text may come from another server.
    case sayNothing

    /// CloudKit's name for the requesting user.
    fileprivate static let own = "__defaultOwner__"
}

extension JSONNode {
    func wrong(_ expected: String, field: String? = nil) -> RecordJSONError {
        RecordJSONError(.wrongValue(expected: expected, found: self.kind), at: self.position, field: field)
    }

    func string(field: String? = nil) throws(RecordJSONError) -> String {
        guard case .string(let text) = self.value else { throw self.wrong("a text", field: field) }
        return text
    }

    func bool() throws(RecordJSONError) -> Bool {
        guard case .bool(let flag) = self.value else { throw self.wrong("true or false") }
        return flag
    }

    func zone(_ owners: ZoneOwners, field: String? = nil) throws(RecordJSONError) -> ZoneID {
        var object = try JSONObject(self, of: "a zone", field: field)
        let name = try object.required("zoneName").string(field: field)
        let owner = try object.take("ownerRecordName")?.string(field: field) ?? ""
        object.ignore(["zoneType"])
        try object.finish()
        let isOwn = owners == .sayNothing || owner == ZoneOwners.own
        return ZoneID(zoneName: name, ownerName: isOwn ? "" : owner)
    }
}
