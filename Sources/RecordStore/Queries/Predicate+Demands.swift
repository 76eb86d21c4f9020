package import RecordModel

/// A record has to have one of these values in a field, or as an element of it, if it is to meet a condition.
package struct DemandedValues: Hashable, Sendable {
    package var field: String
    package var values: [ComparableValue]
}

extension Predicate {
    /// Demands of more values than these are none.
    private static let demandedValuesMax = 8
    private static let demandsMax = 8

    /// Some of what the condition demands of every record, whatever is defined of its type.
    ///
    /// A value is found by its hash as it is compared: `ComparableValue` says which are equal. Dates of the server's clock are not among
    /// them: they are compared as the nearest that the clock can show.
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
            // Each of them is demanded; of none, only the field.
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
