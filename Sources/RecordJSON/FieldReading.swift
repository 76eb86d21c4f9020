import Foundation
import RecordModel

/// Reads untrusted values of fields.
struct FieldReading {
    /// The field, for errors.
    private let field: String
    private let owners: ZoneOwners

    private init(field: String, owners: ZoneOwners = .count) {
        self.field = field
        self.owners = owners
    }

    /// Reads the member `fields` of a record.
    static func body(
        of node: JSONNode?,
        owners: ZoneOwners,
        at position: TextPosition
    ) throws(RecordJSONError) -> RecordBody {
        guard let node else { return .empty }
        guard case .object(let members) = node.value else {
            throw RecordJSONError(
                .wrongValue(expected: "an object", found: node.kind),
                at: node.position,
                field: "fields"
            )
        }
        var fields: [Field] = []
        var positions: [String: TextPosition] = [:]
        for member in members {
            fields.append(try FieldReading(field: member.name, owners: owners).field(member.node))
            positions[member.name] = member.node.position
        }
        return try self.checked(fields, positions: positions, at: position)
    }

    /// Encodes fields, and checks them as those of a client's save.
    static func checked(
        _ fields: [Field],
        positions: [String: TextPosition],
        at position: TextPosition
    ) throws(RecordJSONError) -> RecordBody {
        do throws(BodyError) {
            return try RecordBody(checking: RecordBody(fields).bytes, allowsClear: true)
        } catch {
            throw RecordJSONError(error, positions: positions, at: position)
        }
    }

    private func field(_ node: JSONNode) throws(RecordJSONError) -> Field {
        var object = try JSONObject(node, of: "a field", field: self.field)
        let value = try object.required("value")
        let type = object.take("type")
        let isEncrypted: Bool
        switch object.take("isEncrypted") {
        case nil: isEncrypted = false
        case let flag?:
            guard case .bool(let set) = flag.value else {
                throw flag.wrong("true or false", field: self.field)
            }
            isEncrypted = set
        }
        try object.finish()
        return Field(
            name: self.field,
            value: try self.value(value, type: try self.type(type, of: value)),
            isEncrypted: isEncrypted
        )
    }

    private func type(_ node: JSONNode?, of value: JSONNode) throws(RecordJSONError) -> FieldType {
        if value.value == .null { return .clear }
        guard let node else { return try self.impliedType(of: value) }
        let name = try node.string(field: self.field)
        guard let type = FieldType(jsonName: name), type != .clear else {
            throw RecordJSONError(.unknownType(name), at: node.position, field: self.field)
        }
        return type
    }

    /// The type of a value that names none: texts, numbers, and lists of them.
    private func impliedType(of node: JSONNode) throws(RecordJSONError) -> FieldType {
        func isWhole(_ text: String) -> Bool { !text.contains { $0 == "." || $0 == "e" || $0 == "E" } }
        switch node.value {
        case .string: return .string
        case .number(let text): return isWhole(text) ? .int64 : .double
        case .array(let elements):
            guard let first = elements.first else { return .emptyList }
            if case .string = first.value { return .stringList }
            var areWhole = true
            for element in elements {
                guard case .number(let text) = element.value else {
                    throw RecordJSONError(.missing(name: "type"), at: node.position, field: self.field)
                }
                areWhole = areWhole && isWhole(text)
            }
            return areWhole ? .int64List : .doubleList
        case .object, .bool, .null:
            throw RecordJSONError(.missing(name: "type"), at: node.position, field: self.field)
        }
    }

    private func value(_ node: JSONNode, type: FieldType) throws(RecordJSONError) -> FieldValue {
        switch type {
        case .string: return .string(try node.string(field: self.field))
        case .int64: return .int64(try self.int64(node))
        case .double: return .double(try self.double(node))
        case .timestamp: return .timestamp(try self.date(node))
        case .bytes: return .bytes(try self.bytes(node))
        case .location: return .location(try self.location(node))
        case .reference: return .reference(try self.reference(node))
        case .asset: return .asset(try self.asset(node))
        case .stringList:
            return .stringList(
                try self.list(node) { (node) throws(RecordJSONError) in
                    try node.string(field: self.field)
                }
            )
        case .int64List: return .int64List(try self.list(node, self.int64))
        case .doubleList: return .doubleList(try self.list(node, self.double))
        case .timestampList: return .timestampList(try self.list(node, self.date))
        case .bytesList: return .bytesList(try self.list(node, self.bytes))
        case .locationList: return .locationList(try self.list(node, self.location))
        case .referenceList: return .referenceList(try self.list(node, self.reference))
        case .assetList: return .assetList(try self.list(node, self.asset))
        case .emptyList:
            guard node.value == .array([]) else { throw node.wrong("an empty array", field: self.field) }
            return .emptyList
        case .clear: return .clear
        }
    }

    private func list<Element>(
        _ node: JSONNode,
        _ element: (JSONNode) throws(RecordJSONError) -> Element
    ) throws(RecordJSONError) -> [Element] {
        guard case .array(let nodes) = node.value else { throw node.wrong("an array", field: self.field) }
        var elements: [Element] = []
        elements.reserveCapacity(nodes.count)
        for node in nodes { elements.append(try element(node)) }
        return elements
    }

    // MARK: Single values

    private func number(_ node: JSONNode) throws(RecordJSONError) -> String {
        guard case .number(let text) = node.value else { throw node.wrong("a number", field: self.field) }
        return text
    }

    private func int64(_ node: JSONNode) throws(RecordJSONError) -> Int64 {
        let text = try self.number(node)
        guard let number = Int64(text) else {
            throw RecordJSONError(
                .wrongValue(expected: "a whole number of 64 bits", found: text),
                at: node.position,
                field: self.field
            )
        }
        return number
    }

    private func double(_ node: JSONNode) throws(RecordJSONError) -> Double {
        let text = try self.number(node)
        guard let number = Double(text), number.isFinite else {
            throw RecordJSONError(
                .wrongValue(expected: "a number that a double can hold", found: text),
                at: node.position,
                field: self.field
            )
        }
        return number
    }

    private func date(_ node: JSONNode) throws(RecordJSONError) -> Double {
        if case .object = node.value {
            var object = try JSONObject(node, of: "a date", field: self.field)
            let seconds = try self.double(try object.required(JSONDate.secondsName))
            try object.finish()
            return seconds
        }
        let (seconds, text): (Double?, String)
        switch node.value {
        case .string(let string): (seconds, text) = (ISODate.seconds(string), "another text")
        case .number(let number): (seconds, text) = (JSONDate.seconds(milliseconds: number), number)
        default: throw node.wrong(ISODate.expected, field: self.field)
        }
        guard let seconds, seconds.isFinite else {
            throw RecordJSONError(
                .wrongValue(expected: ISODate.expected, found: text),
                at: node.position,
                field: self.field
            )
        }
        return seconds
    }

    private func bytes(_ node: JSONNode) throws(RecordJSONError) -> [UInt8] {
        guard let data = Data(base64Encoded: try node.string(field: self.field)) else {
            throw RecordJSONError(
                .wrongValue(expected: "bytes in base64", found: "another text"),
                at: node.position,
                field: self.field
            )
        }
        return Array(data)
    }

    private func location(_ node: JSONNode) throws(RecordJSONError) -> Location {
        var object = try JSONObject(node, of: "a location", field: self.field)
        var location = Location(
            latitude: try self.double(try object.required("latitude")),
            longitude: try self.double(try object.required("longitude"))
        )
        for (name, path) in LocationNames.optional {
            if let member = object.take(name) { location[keyPath: path] = try self.double(member) }
        }
        if let member = object.take("timestamp") { location.timestamp = try self.date(member) }
        try object.finish()
        return location
    }

    private func reference(_ node: JSONNode) throws(RecordJSONError) -> Reference {
        var object = try JSONObject(node, of: "a reference", field: self.field)
        var reference = Reference(
            recordName: try object.required("recordName").string(field: self.field),
            zone: try object.take("zoneID")?.zone(self.owners, field: self.field),
            action: .none
        )
        if let member = object.take("action") {
            let name = try member.string(field: self.field)
            guard let action = Reference.Action(jsonName: name) else {
                throw RecordJSONError(
                    .wrongValue(expected: "NONE, DELETE_SELF or VALIDATE", found: "'\(name)'"),
                    at: member.position,
                    field: self.field
                )
            }
            reference.action = action
        }
        try object.finish()
        return reference
    }

    private func asset(_ node: JSONNode) throws(RecordJSONError) -> Asset {
        var object = try JSONObject(node, of: "an asset", field: self.field)
        let checksum = try object.required("fileChecksum")
        guard let hash = Self.hash(try checksum.string(field: self.field)) else {
            throw RecordJSONError(
                .wrongValue(expected: "a SHA-256 of 64 hexadecimal digits", found: "another text"),
                at: checksum.position,
                field: self.field
            )
        }
        let asset = Asset(sha256: hash, size: try self.int64(try object.required("size")))
        object.ignore(["downloadURL"])
        try object.finish()
        return asset
    }

    private static func hash(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 2 * Asset.hashBytes else { return nil }
        var hash: [UInt8] = []
        for offset in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[offset...(offset + 1)], as: UTF8.self), radix: 16),
                digits[offset] != UInt8(ascii: "+"), digits[offset] != UInt8(ascii: "-")
            else { return nil }
            hash.append(byte)
        }
        return hash
    }
}

extension FieldReading {
    /// Reads the value of one field from JSON: for a cell of a table.
    static func value(
        of field: String,
        _ node: JSONNode,
        type: FieldType
    ) throws(RecordJSONError) -> FieldValue {
        try FieldReading(field: field).value(node, type: type)
    }
}

extension RecordJSONError {
    /// The error for fields that no client may save.
    fileprivate init(_ error: BodyError, positions: [String: TextPosition], at position: TextPosition) {
        func wrong(_ field: String, _ expected: String, _ found: String) -> RecordJSONError {
            RecordJSONError(
                .wrongValue(expected: expected, found: found),
                at: positions[field] ?? position,
                field: field
            )
        }
        switch error {
        case .malformed, .clearNotAllowed:
            self = RecordJSONError(.syntax(expected: "the fields of a record"), at: position)
        case .fieldOrder(let name):
            self = RecordJSONError(.duplicate(name: name), at: positions[name] ?? position)
        case .fieldNameInvalid(let name):
            self = wrong(name, "named with a letter, then letters, digits and '_'", "another name")
        case .valueInvalid(let field):
            self = wrong(field, "a value that its type permits", "outside its bounds")
        case .recordNameInvalid(let field, let name):
            self = wrong(field, "another name (\(NameRules.recordNameRule))", NameRules.quoted(name))
        case .tooManyFields: self = RecordJSONError(.tooManyFields, at: position)
        case .tooManyElements(let field):
            self = RecordJSONError(.tooManyElements, at: positions[field] ?? position, field: field)
        }
    }
}
