import Foundation
package import RecordModel

/// Reads untrusted fields of records in the form of CloudKit Web Services.
///
/// Milder than `FieldReading`, which reads files of operators: types may be missing, booleans are
/// numbers, and old names of types are known.
package struct WebFields {
    /// The field, for errors.
    private let name: String
    /// The user record name of who asks.
    private let own: String?
    /// Whether a reference needs no action, as in a query.
    private let isOperand: Bool

    /// The fields of a record to save, with their fault as those of a client's save.
    package static func body(
        of node: JSONNode?,
        own: String?
    ) throws(WebInputError) -> (body: RecordBody, error: BodyError?) {
        guard let node else { return (.empty, nil) }
        guard case .object(let members) = node.value else { throw node.webWrong("fields", "an object") }
        var fields: [Field] = []
        for member in members {
            let reading = WebFields(name: member.name, own: own, isOperand: false)
            fields.append(try reading.field(member.node))
        }
        do throws(BodyError) {
            return (try RecordBody(checking: RecordBody(fields).bytes, allowsClear: true), nil)
        } catch {
            return (.empty, error)
        }
    }

    /// The value with which a query compares; an untagged array is a list of one kind.
    package static func operand(
        _ node: JSONNode,
        of field: String,
        own: String?
    ) throws(WebInputError) -> FieldValue {
        let reading = WebFields(name: field, own: own, isOperand: true)
        // An example of Apple's has a location without `value` around it.
        if case .object(let members) = node.value, members.contains(where: { $0.name == "latitude" }) {
            return .location(try reading.location(node))
        }
        return try reading.field(node).value
    }

    /// The point of an order by distance.
    package static func point(_ node: JSONNode, of field: String) throws(WebInputError) -> Location {
        guard case .location(let location) = try self.operand(node, of: field, own: nil) else {
            throw node.webWrong(field, "a location")
        }
        return location
    }

    private func wrong(_ node: JSONNode, _ expected: String) -> WebInputError {
        WebInputError(
            "Invalid value for the field '\(self.name)', expected \(expected), and it is \(node.kind)",
            at: node.position
        )
    }

    // MARK: A field

    private func field(_ node: JSONNode) throws(WebInputError) -> Field {
        if node.value == .null { return Field(name: self.name, value: .clear) }
        let object = try WebObject(node, of: "the field '\(self.name)'")
        let tag = try object.string("type")
        let isEncrypted = try object.bool("isEncrypted") ?? (tag == "ENCRYPTED_BYTES")
        guard let value = object["value"] else { return Field(name: self.name, value: .clear) }
        let type =
            if let tag, tag != "LIST" { try self.type(tag, at: object.position) } else {
                try self.impliedType(of: value)
            }
        return Field(name: self.name, value: try self.value(value, type), isEncrypted: isEncrypted)
    }

    private func type(_ tag: String, at position: TextPosition) throws(WebInputError) -> FieldType {
        switch tag {
        case "ASSET": return .asset
        case "NUMBER_INT64": return .int64
        case "NUMBER_DOUBLE": return .double
        case "ENCRYPTED_BYTES": return .bytes
        default:
            guard let type = FieldType(jsonName: tag), type != .clear else {
                throw WebInputError("the field '\(self.name)' has an unknown type '\(tag)'", at: position)
            }
            return type
        }
    }

    private func impliedType(of node: JSONNode) throws(WebInputError) -> FieldType {
        switch node.value {
        case .null: return .clear
        case .bool: return .int64
        case .string: return .string
        case .number(let text): return Self.isWhole(text) ? .int64 : .double
        case .object(let members):
            let names = Set(members.map(\.name))
            if names.contains("recordName") { return .reference }
            if names.contains("latitude") { return .location }
            if names.contains("fileChecksum") || names.contains("receipt") { return .asset }
            throw self.wrong(node, "a reference, a location or an asset")
        case .array(let elements): return try self.impliedType(ofList: elements)
        }
    }

    private func impliedType(ofList elements: [JSONNode]) throws(WebInputError) -> FieldType {
        guard let first = elements.first else { return .emptyList }
        var type = try self.impliedType(of: first)
        // Numbers are doubles if one of them has a fraction.
        if type == .int64 {
            for element in elements { if try self.impliedType(of: element) == .double { type = .double } }
        }
        switch type {
        case .string: return .stringList
        case .int64: return .int64List
        case .double: return .doubleList
        case .reference: return .referenceList
        case .location: return .locationList
        case .asset: return .assetList
        default: throw self.wrong(first, "one value in each place of the list")
        }
    }

    private func value(_ node: JSONNode, _ type: FieldType) throws(WebInputError) -> FieldValue {
        switch type {
        case .string: return .string(try self.string(node))
        case .int64: return .int64(try self.int64(node))
        case .double: return .double(try self.double(node))
        case .timestamp: return .timestamp(try self.date(node))
        case .bytes: return .bytes(try self.bytes(node))
        case .location: return .location(try self.location(node))
        case .reference: return .reference(try self.reference(node))
        case .asset: return .asset(try self.asset(node))
        case .stringList: return .stringList(try self.list(node, self.string))
        case .int64List: return .int64List(try self.list(node, self.int64))
        case .doubleList: return .doubleList(try self.list(node, self.double))
        case .timestampList: return .timestampList(try self.list(node, self.date))
        case .bytesList: return .bytesList(try self.list(node, self.bytes))
        case .locationList: return .locationList(try self.list(node, self.location))
        case .referenceList: return .referenceList(try self.list(node, self.reference))
        case .assetList: return .assetList(try self.list(node, self.asset))
        case .emptyList:
            guard node.value == .array([]) else { throw self.wrong(node, "an empty array") }
            return .emptyList
        case .clear: return .clear
        }
    }

    private func list<Element>(
        _ node: JSONNode,
        _ element: (JSONNode) throws(WebInputError) -> Element
    ) throws(WebInputError) -> [Element] {
        guard case .array(let nodes) = node.value else { throw self.wrong(node, "an array") }
        var elements: [Element] = []
        elements.reserveCapacity(nodes.count)
        for node in nodes { elements.append(try element(node)) }
        return elements
    }
}

// MARK: - Single values

extension WebFields {
    private static func isWhole(_ text: String) -> Bool {
        !text.contains { $0 == "." || $0 == "e" || $0 == "E" }
    }

    private func string(_ node: JSONNode) throws(WebInputError) -> String {
        guard case .string(let text) = node.value else { throw self.wrong(node, "type STRING") }
        return text
    }

    private func int64(_ node: JSONNode) throws(WebInputError) -> Int64 {
        switch node.value {
        case .bool(let flag): return flag ? 1 : 0
        case .number(let text), .string(let text):
            guard let number = Int64(text), !text.hasPrefix("+") else {
                throw self.wrong(node, "a whole number of 64 bits")
            }
            return number
        default: throw self.wrong(node, "type INT64")
        }
    }

    private func double(_ node: JSONNode) throws(WebInputError) -> Double {
        switch node.value {
        case .number(let text):
            guard let number = Double(text), number.isFinite else {
                throw self.wrong(node, "a number that a double can hold")
            }
            return number
        // JSON has no numbers for these; the spelling is that of answers.
        case .string("NaN"): return .nan
        case .string("Infinity"): return .infinity
        case .string("-Infinity"): return -.infinity
        case .string(let text):
            guard let number = Double(text), number.isFinite else { throw self.wrong(node, "type DOUBLE") }
            return number
        default: throw self.wrong(node, "type DOUBLE")
        }
    }

    private func date(_ node: JSONNode) throws(WebInputError) -> Double {
        guard let seconds = WebDate.seconds(milliseconds: try self.int64(node)) else {
            throw self.wrong(node, "milliseconds since 1970")
        }
        return seconds
    }

    private func bytes(_ node: JSONNode) throws(WebInputError) -> [UInt8] {
        guard let data = Data(base64Encoded: try self.string(node)) else {
            throw self.wrong(node, "bytes in base64")
        }
        return Array(data)
    }

    private func location(_ node: JSONNode) throws(WebInputError) -> Location {
        let object = try WebObject(node, of: "the location '\(self.name)'")
        var location = Location(
            latitude: try self.double(try object.required("latitude")),
            longitude: try self.double(try object.required("longitude"))
        )
        for (name, path) in LocationNames.optional {
            if let member = object[name] { location[keyPath: path] = try self.double(member) }
        }
        if let member = object["timestamp"] { location.timestamp = try self.date(member) }
        return location
    }

    private func reference(_ node: JSONNode) throws(WebInputError) -> Reference {
        let object = try WebObject(node, of: "the reference '\(self.name)'")
        var reference = Reference(
            recordName: try object.requiredString("recordName"),
            zone: try object.zone("zoneID", own: self.own),
            action: .none
        )
        guard let action = try object.string("action") else {
            if self.isOperand { return reference }
            throw WebInputError("the reference '\(self.name)' has no 'action'", at: node.position)
        }
        guard let action = Reference.Action(jsonName: action) else {
            throw WebInputError(
                "the action of the reference '\(self.name)' has to be NONE, DELETE_SELF or VALIDATE",
                at: node.position
            )
        }
        reference.action = action
        return reference
    }

    private func asset(_ node: JSONNode) throws(WebInputError) -> Asset {
        let object = try WebObject(node, of: "the asset '\(self.name)'")
        let checksum = try object.required("fileChecksum")
        guard let hash = Data(base64Encoded: try self.string(checksum)), hash.count == Asset.hashBytes else {
            throw self.wrong(checksum, "the base64 of a SHA-256")
        }
        return Asset(sha256: Array(hash), size: try self.int64(try object.required("size")))
    }
}
