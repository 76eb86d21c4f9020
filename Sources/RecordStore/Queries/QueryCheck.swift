package import RecordModel
package import StorageContract

/// Validates a query against the definitions of its type.
package struct QueryCheck {
    private let type: QueryableType

    /// The retry time of a client for an index that is being built.
    private static let buildingRetryMilliseconds: UInt32 = 1_000

    package init(_ type: QueryableType) {
        self.type = type
    }

    /// Names of the fields that full text over all fields searches.
    private var searchable: [String] {
        self.type.fields
            .filter { $0.value.indexes.contains(.searchable) && SystemField(rawValue: $0.key) == nil }
            .keys.sorted()
    }

    /// Fails if clients must not query records of the type.
    package static func checkIsOpen(_ recordType: String) throws(StoreError) {
        guard recordType != UserRecord.type, !recordType.hasPrefix("cloudkit.") else {
            throw .systemTypeQuery
        }
    }

    /// Validates a query; `type` is `nil` if it does not exist.
    package static func check(_ query: Query, type: QueryableType?) throws(StoreError) -> CheckedQuery {
        try self.checkIsOpen(query.recordType)
        guard let type, let listing = type.listing, let index = listing.index else {
            throw .recordTypeUnknown(query.recordType)
        }
        let check = QueryCheck(type)
        // As in CloudKit, a query for all records is one for their names.
        if query.predicate.isUnconditional, !listing.indexes.contains(.queryable) {
            throw .fieldNotQueryable(field: Self.printed(SystemField.recordID.rawValue))
        }
        if listing.isBuilding { throw check.building(SystemField.recordID.rawValue) }
        return CheckedQuery(
            recordType: query.recordType,
            predicate: try check.checked(query.predicate).simplified,
            sort: try query.sort.map { (key) throws(StoreError) in try check.checked(key) },
            listing: IndexUse(number: index, field: SystemField.recordID.rawValue, isMany: false)
        )
    }

    /// Validates a condition by itself, as a subscription has it.
    package static func check(
        _ predicate: Predicate,
        type: QueryableType
    ) throws(StoreError)
        -> CheckedPredicate
    {
        try QueryCheck(type).condition(predicate)
    }

    /// Validates one of many conditions on one type.
    package func condition(_ predicate: Predicate) throws(StoreError) -> CheckedPredicate {
        try self.checked(predicate).simplified
    }

    private func checked(_ predicate: Predicate) throws(StoreError) -> CheckedPredicate {
        switch predicate {
        case .all: .all
        case .nothing: .nothing
        case .comparison(let comparison): try self.checked(comparison)
        case .and(let parts):
            .and(try parts.map { (part) throws(StoreError) in try self.checked(part) })
        case .or(let parts):
            .or(try parts.map { (part) throws(StoreError) in try self.checked(part) })
        }
    }

    // MARK: Sort keys

    private func checked(_ key: SortKey) throws(StoreError) -> CheckedSortKey {
        let field = try self.field(key.field)
        let system = SystemField(rawValue: key.field)
        let needed: IndexKinds = system == .recordID ? .queryable : .sortable
        let type = field.type
        guard !type.isList, !field.isEncrypted, system != .allText,
            field.indexes.contains(needed), let index = field.index
        else { throw .fieldNotSortable(field: Self.printed(key.field)) }
        if let origin = key.origin {
            guard type == .location else {
                throw .operandTypeMismatch(field: Self.printed(key.field), given: .location, defined: type)
            }
            guard key.isAscending, origin.latitude.isFinite, origin.longitude.isFinite else {
                throw .fieldNotSortable(field: Self.printed(key.field))
            }
        } else if type == .location {
            throw .fieldNotSortable(field: Self.printed(key.field))
        }
        if field.isBuilding { throw self.building(key.field) }
        return CheckedSortKey(
            field: key.field,
            index: IndexUse(number: index, field: key.field, isMany: false, isNumber: field.isNumber),
            isAscending: key.isAscending,
            origin: key.origin,
            isAlwaysPresent: system?.isAlwaysPresent ?? false
        )
    }

    // MARK: Comparisons

    private func checked(_ comparison: Comparison) throws(StoreError) -> CheckedPredicate {
        switch comparison.comparator {
        case .containsAllTokens, .containsAnyTokens: return try self.search(comparison)
        case .equals, .notEquals, .in, .notIn, .beginsWith, .notBeginsWith, .lessThan, .lessThanOrEquals,
            .greaterThan, .greaterThanOrEquals, .near, .listContains, .listNotContains, .listContainsAny,
            .listNotContainsAny, .listContainsAll, .notListContainsAll, .listMemberBeginsWith,
            .notListMemberBeginsWith:
            break
        }
        let field = try self.field(comparison.field)
        let printed = Self.printed(comparison.field)
        let type = field.type
        guard !field.isEncrypted, comparison.field != SystemField.allText.rawValue,
            !field.indexes.isDisjoint(with: comparison.comparator.needs)
        else { throw .fieldNotQueryable(field: printed) }
        guard comparison.comparator.applies(to: type) else {
            throw .comparatorMismatch(field: printed, comparator: comparison.comparator, defined: type)
        }
        let operands = Operands(
            field: printed,
            type: type,
            isNumber: field.isNumber,
            comparison: comparison.inServerTime
        )
        let condition = try operands.condition
        if field.isBuilding { throw self.building(comparison.field) }
        let isNegated = comparison.comparator.isNegated
        guard let condition else { return isNegated ? .all : .nothing }
        return .test(
            FieldTest(
                fields: [comparison.field],
                index: field.index.map {
                    IndexUse(
                        number: $0,
                        field: comparison.field,
                        isMany: type.isList,
                        isNumber: field.isNumber
                    )
                },
                condition: condition,
                isNegated: isNegated
            )
        )
    }

    private func search(_ comparison: Comparison) throws(StoreError) -> CheckedPredicate {
        let all = SystemField.allText.rawValue
        let printed = Self.printed(comparison.field)
        var fields = self.searchable
        if comparison.field != all {
            let field = try self.field(comparison.field)
            guard field.type == .string || field.type == .stringList else {
                throw .comparatorMismatch(
                    field: printed,
                    comparator: comparison.comparator,
                    defined: field.type
                )
            }
            guard field.indexes.contains(.searchable), !field.isEncrypted else {
                throw .fieldNotSearchable(field: printed)
            }
            fields = [comparison.field]
        }
        guard !fields.isEmpty, let text = self.type.fields[all], let index = text.index else {
            throw .fieldNotSearchable(field: printed)
        }
        guard case .string(let words) = comparison.operand else {
            throw .operandTypeMismatch(
                field: printed,
                given: comparison.operand.type,
                defined: .string
            )
        }
        if text.isBuilding { throw self.building(all) }
        let tokens = SearchTokens.tokens(ofSearch: words)
        guard !tokens.isEmpty else { return .nothing }
        let wantsAll = comparison.comparator == .containsAllTokens
        return .test(
            FieldTest(
                fields: fields,
                index: IndexUse(number: index, field: all, isMany: true, sources: fields),
                condition: wantsAll ? .allTokens(tokens) : .anyToken(tokens),
                isNegated: false,
                isWholeText: fields.count == self.searchable.count
            )
        )
    }

    // MARK: Words

    private func field(_ name: String) throws(StoreError) -> QueryableField {
        if var field = self.type.fields[name] {
            // A schema cannot name the parent. It has no marks, and may always be queried.
            if name == SystemField.parent.rawValue, field.index != nil { field.indexes.insert(.queryable) }
            return field
        }
        // A system field without a row has no index.
        guard let system = SystemField(rawValue: name) else { throw .fieldUnknown(field: name) }
        return QueryableField(type: system.type, indexes: [], index: nil)
    }

    private func building(_ field: String) -> StoreError {
        .indexBuilding(
            field: Self.printed(field),
            retryAfterMilliseconds: Self.buildingRetryMilliseconds
        )
    }

    /// The name in CloudKit's messages, which use an old one for the record ID.
    private static func printed(_ field: String) -> String {
        field == SystemField.recordID.rawValue ? "recordName" : field
    }
}

extension Predicate {
    /// Whether every record meets it.
    var isUnconditional: Bool {
        switch self {
        case .all: true
        case .nothing, .comparison, .or: false
        case .and(let parts): parts.allSatisfy(\.isUnconditional)
        }
    }
}

extension Comparison {
    /// The comparison at the resolution of the server's clock.
    ///
    /// Dates that were converted through other units on their way are off by less than a
    /// microsecond.
    fileprivate var inServerTime: Comparison {
        guard SystemField(rawValue: self.field)?.type == .timestamp else { return self }
        var comparison = self
        switch self.operand {
        case .timestamp(let seconds):
            comparison.operand = .timestamp(ServerDate.nearest(toSeconds: seconds))
        case .timestampList(let list):
            comparison.operand = .timestampList(list.map { ServerDate.nearest(toSeconds: $0) })
        default: break
        }
        return comparison
    }
}

extension SystemField {
    fileprivate var isAlwaysPresent: Bool {
        switch self {
        case .recordID, .createTime, .modTime, .etag: true
        case .createdBy, .modifiedBy, .parent, .allText: false
        }
    }
}

extension Comparator {
    /// The kinds of index; a field must have at least one of them.
    fileprivate var needs: IndexKinds {
        switch self {
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals: [.queryable, .sortable]
        case .containsAllTokens, .containsAnyTokens: .searchable
        case .equals, .notEquals, .in, .notIn, .beginsWith, .notBeginsWith, .near, .listContains,
            .listNotContains, .listContainsAny, .listNotContainsAny, .listContainsAll, .notListContainsAll,
            .listMemberBeginsWith, .notListMemberBeginsWith:
            .queryable
        }
    }

    fileprivate func applies(to type: FieldType) -> Bool {
        switch self {
        case .equals, .notEquals, .in, .notIn: !type.isList
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals:
            switch type {
            case .string, .int64, .double, .timestamp, .bytes: true
            case .location, .reference, .stringList, .int64List, .doubleList, .timestampList, .bytesList,
                .locationList, .referenceList, .asset, .assetList, .emptyList, .clear:
                false
            }
        case .near: type == .location
        case .containsAllTokens, .containsAnyTokens: false
        case .beginsWith, .notBeginsWith: type == .string
        case .listContains, .listNotContains, .listContainsAny, .listNotContainsAny, .listContainsAll,
            .notListContainsAll:
            type.isList
        case .listMemberBeginsWith, .notListMemberBeginsWith: type == .stringList
        }
    }
}
