package import RecordModel

/// Reads the query of a request in the form of CloudKit Web Services.
package enum WebQuery {
    package static func query(_ object: WebObject, own: String?) throws(WebInputError) -> Query {
        var query = Query(recordType: try object.requiredString("recordType"))
        var comparisons: [Predicate] = []
        for node in try object.array("filterBy") ?? [] {
            comparisons.append(.comparison(try self.comparison(node, own: own)))
        }
        if !comparisons.isEmpty { query.predicate = .and(comparisons) }
        for node in try object.array("sortBy") ?? [] { query.sort.append(try self.key(node)) }
        return query
    }

    private static func comparison(_ node: JSONNode, own: String?) throws(WebInputError) -> Comparison {
        let object = try WebObject(node, of: "a filter")
        let distance = try object["distance"].map { (node) throws(WebInputError) in
            guard case .number(let text) = node.value, let metres = Double(text), metres.isFinite else {
                throw node.webWrong("distance", "metres")
            }
            return metres
        }
        let name = try object.string("comparator")
        // An example of Apple's has a distance without a comparator.
        guard let comparator = name.map({ self.comparator($0) }) ?? (distance == nil ? nil : .near) else {
            throw WebInputError("a filter has an unknown comparator '\(name ?? "")'", at: node.position)
        }
        let isTokens = comparator == .containsAllTokens || comparator == .containsAnyTokens
        guard
            let field = try self.field(object) ?? (isTokens ? SystemField.allText.rawValue : nil)
        else { throw WebInputError("a filter has no 'fieldName'", at: node.position) }
        var operand = try WebFields.operand(try object.required("fieldValue"), of: field, own: own)
        // A user or a record may be named by a text alone.
        if case .string(let recordName) = operand, self.isReference(field) {
            operand = .reference(Reference(recordName: recordName, action: .none))
        }
        return Comparison(
            field: field,
            comparator: comparator,
            operand: operand,
            distanceMetres: distance ?? 0
        )
    }

    private static func key(_ node: JSONNode) throws(WebInputError) -> SortKey {
        let object = try WebObject(node, of: "a sort descriptor")
        guard let field = try self.field(object) else {
            throw WebInputError("a sort descriptor has no 'fieldName'", at: node.position)
        }
        var key = SortKey(field: field, isAscending: try object.bool("ascending") ?? true)
        if let point = object["relativeLocation"] { key.origin = try WebFields.point(point, of: field) }
        return key
    }

    /// The field that an object names, by its own name or as one of the system's.
    private static func field(_ object: WebObject) throws(WebInputError) -> String? {
        if let name = try object.string("systemFieldName") {
            guard let field = self.systemFields[name] else {
                throw WebInputError("there is no system field '\(name)'", at: object.position)
            }
            return field
        }
        let name = try object.string("fieldName")
        return name == "___recordId" ? SystemField.recordID.rawValue : name
    }

    private static func isReference(_ field: String) -> Bool {
        SystemField(rawValue: field)?.type == .reference || field == ShareRecord.referenceField
    }

    private static let systemFields: [String: String] = [
        "recordName": SystemField.recordID.rawValue,
        "share": ShareRecord.referenceField,
        "parent": SystemField.parent.rawValue,
        "createdUserRecordName": SystemField.createdBy.rawValue,
        "createdTimestamp": SystemField.createTime.rawValue,
        "modifiedTimestamp": SystemField.modTime.rawValue,
        "modifiedUserRecordName": SystemField.modifiedBy.rawValue,
    ]

    private static func comparator(_ name: String) -> Comparator? {
        switch name {
        case "EQUALS": .equals
        case "NOT_EQUALS": .notEquals
        case "LESS_THAN": .lessThan
        case "LESS_THAN_OR_EQUALS": .lessThanOrEquals
        case "GREATER_THAN": .greaterThan
        case "GREATER_THAN_OR_EQUALS": .greaterThanOrEquals
        case "NEAR": .near
        case "CONTAINS_ALL_TOKENS": .containsAllTokens
        case "CONTAINS_ANY_TOKENS": .containsAnyTokens
        case "IN": .in
        case "NOT_IN": .notIn
        case "BEGINS_WITH": .beginsWith
        case "NOT_BEGINS_WITH": .notBeginsWith
        case "LIST_CONTAINS": .listContains
        case "NOT_LIST_CONTAINS", "LIST_NOT_CONTAINS": .listNotContains
        case "LIST_CONTAINS_ANY": .listContainsAny
        case "NOT_LIST_CONTAINS_ANY", "LIST_NOT_CONTAINS_ANY": .listNotContainsAny
        case "LIST_CONTAINS_ALL": .listContainsAll
        case "NOT_LIST_CONTAINS_ALL": .notListContainsAll
        case "LIST_MEMBER_BEGINS_WITH": .listMemberBeginsWith
        case "NOT_LIST_MEMBER_BEGINS_WITH": .notListMemberBeginsWith
        default: nil
        }
    }
}
