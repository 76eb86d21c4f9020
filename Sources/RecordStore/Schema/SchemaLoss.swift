import RecordModel

/// Something that a change of a schema would take away.
package enum SchemaLoss: Hashable, Sendable {
    case recordType(String)
    case field(String, recordType: String)
    case fieldType(String, recordType: String, old: String, new: String)

    package var recordType: String {
        switch self {
        case .recordType(let name): name
        case .field(_, let recordType): recordType
        case .fieldType(_, let recordType, _, _): recordType
        }
    }
}

extension SchemaLoss: CustomStringConvertible {
    package var description: String {
        switch self {
        case .recordType(let name): "the record type \(name) would be removed"
        case .field(let field, let recordType): "the field \(recordType).\(field) would be removed"
        case .fieldType(let field, let recordType, let old, let new):
            "the field \(recordType).\(field) would change from \(old) to \(new)"
        }
    }
}

/// What a program needs of a schema and does not find.
package struct SchemaShortfall: Error, Hashable, Sendable {
    package enum Missing: Hashable, Sendable {
        case recordType(String)
        case field(String, recordType: String, type: String)
        case fieldType(String, recordType: String, required: String, found: String)
        case index(IndexKinds, field: String, recordType: String)
    }

    package var missing: [Missing]

    package init(missing: [Missing]) {
        self.missing = missing
    }

    /// One text that names everything, as far as the bytes go; then it says how much is left.
    package func text(bytesMax: Int = Bounds.messageBytesMax) -> String {
        let introduction = "the schema of the server lacks: "
        var text = introduction
        for (index, item) in self.missing.enumerated() {
            let separator = index == 0 ? "" : "; "
            let left = self.missing.count - index
            let rest = "\(separator)and \(left) more"
            let isLast = left == 1
            let bytes = text.utf8.count + separator.utf8.count + item.description.utf8.count
            // Behind every item but the last there must be room to say that others were left out.
            guard bytes + (isLast ? 0 : rest.utf8.count) <= bytesMax else { return text + rest }
            text += separator + item.description
        }
        return text
    }
}

extension SchemaShortfall.Missing: CustomStringConvertible {
    package var description: String {
        switch self {
        case .recordType(let name): "record type \(name)"
        case .field(let field, let recordType, let type): "field \(recordType).\(field) \(type)"
        case .fieldType(let field, let recordType, let required, let found):
            "field \(recordType).\(field) as \(required) (it is \(found))"
        case .index(let indexes, let field, let recordType): "\(indexes.text) on \(recordType).\(field)"
        }
    }
}
