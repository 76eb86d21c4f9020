package import RecordModel

/// Why a text is not what CloudKit Web Services expects, and where.
package struct WebInputError: Error, Hashable, Sendable {
    package let position: TextPosition
    /// For people.
    package let text: String

    package init(_ text: String, at position: TextPosition) {
        self.position = position
        self.text = text
    }

    package init(_ error: RecordJSONError) { self.init(error.text, at: error.position) }

    /// One line, even if names contain line breaks.
    package var description: String { PrintedText.line("\(self.text) (\(self.position))") }
}

/// An object of a request.
///
/// Members that no endpoint reads are ignored, and `null` is as good as absent: clients of many authors
/// send both.
package struct WebObject: Sendable {
    private let members: [JSONNode.Member]
    package let position: TextPosition
    private let what: String

    /// - Parameters:
    ///   - node: The object.
    ///   - what: A word for the object, for errors.
    /// - Throws: The error of what is no object.
    package init(_ node: JSONNode, of what: String) throws(WebInputError) {
        guard case .object(let members) = node.value else {
            throw WebInputError("\(what) has to be an object, and is \(node.kind)", at: node.position)
        }
        self.members = members
        self.position = node.position
        self.what = what
    }

    package subscript(_ name: String) -> JSONNode? {
        guard let node = self.members.first(where: { $0.name == name })?.node, node.value != .null else {
            return nil
        }
        return node
    }

    /// Whether the member is there and is `null`.
    package func isNull(_ name: String) -> Bool {
        self.members.contains { $0.name == name && $0.node.value == .null }
    }

    package func required(_ name: String) throws(WebInputError) -> JSONNode {
        guard let node = self[name] else {
            throw WebInputError("\(self.what) has no '\(name)'", at: self.position)
        }
        return node
    }

    package func string(_ name: String) throws(WebInputError) -> String? {
        guard let node = self[name] else { return nil }
        return try node.webString(name)
    }

    package func requiredString(_ name: String) throws(WebInputError) -> String {
        try self.required(name).webString(name)
    }

    package func bool(_ name: String) throws(WebInputError) -> Bool? {
        guard let node = self[name] else { return nil }
        switch node.value {
        case .bool(let flag): return flag
        case .number("0"): return false
        case .number("1"): return true
        default: throw node.webWrong(name, "true or false")
        }
    }

    /// A whole number from 1.
    package func count(_ name: String) throws(WebInputError) -> Int? {
        guard let node = self[name] else { return nil }
        guard case .number(let text) = node.value, let count = Int(text), count > 0 else {
            throw node.webWrong(name, "a whole number from 1")
        }
        return count
    }

    package func array(_ name: String) throws(WebInputError) -> [JSONNode]? {
        guard let node = self[name] else { return nil }
        guard case .array(let elements) = node.value else { throw node.webWrong(name, "an array") }
        return elements
    }

    package func strings(_ name: String) throws(WebInputError) -> [String]? {
        try self.array(name)?.map { (node) throws(WebInputError) in try node.webString(name) }
    }

    package func object(_ name: String) throws(WebInputError) -> WebObject? {
        guard let node = self[name] else { return nil }
        return try WebObject(node, of: "'\(name)'")
    }

    package func zone(_ name: String, own: String?) throws(WebInputError) -> ZoneID? {
        guard let node = self[name] else { return nil }
        return try WebObject(node, of: "'\(name)'").zone(own: own)
    }

    /// The zone that this object names.
    ///
    /// - Parameter own: The user record name of who asks; `__defaultOwner__` means the same.
    /// - Returns: The zone, without an owner if it is one of who asks.
    /// - Throws: The error of an object that names no zone.
    package func zone(own: String?) throws(WebInputError) -> ZoneID {
        let owner = try self.string("ownerRecordName") ?? ""
        let isOwn = owner == "__defaultOwner__" || owner == "_defaultOwner" || owner == own
        return ZoneID(zoneName: try self.requiredString("zoneName"), ownerName: isOwn ? "" : owner)
    }
}

extension JSONNode {
    package func webString(_ name: String) throws(WebInputError) -> String {
        guard case .string(let text) = self.value else { throw self.webWrong(name, "a text") }
        return text
    }

    package func webWrong(_ name: String, _ expected: String) -> WebInputError {
        WebInputError("'\(name)' has to be \(expected), and is \(self.kind)", at: self.position)
    }
}
