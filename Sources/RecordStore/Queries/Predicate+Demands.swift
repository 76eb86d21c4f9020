package import RecordModel

/// Values that meet a condition: a record must have one of them, in a field or as an element of it.
package struct DemandedValues: Hashable, Sendable {
    package var field: String
    package var values: [ComparableValue]
}

extension Predicate {
    /// A demand with more values is not reported.
    private static let demandedValuesMax = 8
    private static let demandsMax = 8

    /// Some of the values that the condition demands of every record, independent of its type's
    /// definition.
    ///
    /// Values are found by hash under the same equality as `ComparableValue`. Dates of the server's
    /// clock are left out: they are compared at the resolution of the clock.
    package var demands: [DemandedValues] {
        var demands: [DemandedValues] = []
        self.add(to: &demands)
        return demands
    }

    private func add(to demands: inout [DemandedValues]) {
        switch self {
        case .all, .nothing: break
        case .comparison(let comparison):
            guard let demanded = comparison.demanded, demanded.values.count <= Self.demandedValuesMax else {
                return
            }
            demands.append(demanded)
        case .and(let parts):
            for part in parts where demands.count < Self.demandsMax { part.add(to: &demands) }
        case .or(let parts):
            if parts.count == 1 { parts[0].add(to: &demands) }
        }
    }
}

extension Comparison {
    fileprivate var demanded: DemandedValues? {
        switch SystemField(rawValue: self.field) {
        case .none, .recordID, .createdBy, .modifiedBy, .parent: break
        case .createTime, .modTime, .etag, .allText: return nil
        }
        var values = ComparableValue.elements(of: self.operand)
        switch self.comparator {
        case .equals, .in, .listContains, .listContainsAny: break
        case .listContainsAll:
            // All of them are demanded, so one is enough. An empty list demands only the field.
            guard let first = values.first else { return nil }
            values = [first]
        case .notEquals, .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .near,
            .containsAllTokens, .containsAnyTokens, .notIn, .beginsWith, .notBeginsWith, .listNotContains,
            .listNotContainsAny, .notListContainsAll, .listMemberBeginsWith, .notListMemberBeginsWith:
            return nil
        }
        return DemandedValues(field: self.field, values: values)
    }
}
