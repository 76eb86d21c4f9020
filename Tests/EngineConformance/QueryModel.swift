import Foundation
import RecordModel
import RecordStore

/// Records in memory, and what a query over them gives: compared value by value, without an index
/// and without a plan.
struct QueryModel {
    struct Item {
        var zone: String
        var name: String
        var fields: [String: FieldValue]
        var parent: String?
        var system: SystemFields
        var changeTag: String

        /// `nil` if the record does not have it.
        subscript(_ field: String) -> FieldValue? {
            switch SystemField(rawValue: field) {
            case nil: self.fields[field]
            case .recordID: .reference(Reference(recordName: self.name, action: .none))
            case .createTime: .timestamp(Self.date(self.system.createdMilliseconds))
            case .modTime: .timestamp(Self.date(self.system.modifiedMilliseconds))
            case .createdBy: .reference(Reference(recordName: self.system.createdBy, action: .none))
            case .modifiedBy: .reference(Reference(recordName: self.system.modifiedBy, action: .none))
            case .etag: .string(self.changeTag)
            case .parent: self.parent.map { .reference(Reference(recordName: $0, action: .none)) }
            case .allText: nil
            }
        }

        private static func date(_ milliseconds: Int64) -> Double {
            (Double(milliseconds) - 978_307_200_000) / 1_000
        }
    }

    var items: [Item] = []

    /// The records of a query, in order if it has one.
    func answer(_ query: Query, in zone: String?) -> [Item] {
        let found = self.items.filter { item in
            (zone == nil || item.zone == zone) && Self.meets(item, query.predicate)
        }
        return query.sort.isEmpty ? found : found.sorted { Self.comesFirst($0, $1, query.sort) }
    }

    // MARK: Conditions

    private static func meets(_ item: Item, _ predicate: RecordModel.Predicate) -> Bool {
        switch predicate {
        case .all: true
        case .nothing: false
        case .comparison(let comparison): self.meets(item, comparison)
        case .and(let parts): !parts.contains { !self.meets(item, $0) }
        case .or(let parts): parts.contains { self.meets(item, $0) }
        }
    }

    private static func meets(_ item: Item, _ comparison: Comparison) -> Bool {
        switch comparison.comparator {
        case .containsAllTokens, .containsAnyTokens:
            let words = self.words(comparison.operand).filter { $0 != "the" && $0 != "and" }
            var there: Set<String> = []
            for (name, value) in item.fields
            where comparison.field == name || comparison.field == SystemField.allText.rawValue {
                if case .string = value { there.formUnion(self.words(value)) }
            }
            guard !words.isEmpty else { return false }
            return comparison.comparator == .containsAllTokens
                ? words.allSatisfy { there.contains($0) } : words.contains { there.contains($0) }
        default: break
        }
        guard let value = item[comparison.field] else { return comparison.comparator.isNegated }
        return self.meets(value, comparison)
    }

    private static func meets(_ value: FieldValue, _ comparison: Comparison) -> Bool {
        let operand = comparison.operand
        switch comparison.comparator {
        case .equals: return self.order(value, operand) == 0
        case .notEquals: return self.order(value, operand) != 0
        case .lessThan: return self.order(value, operand).map { $0 < 0 } ?? false
        case .lessThanOrEquals: return self.order(value, operand).map { $0 <= 0 } ?? false
        case .greaterThan: return self.order(value, operand).map { $0 > 0 } ?? false
        case .greaterThanOrEquals: return self.order(value, operand).map { $0 >= 0 } ?? false
        case .near: return self.metres(value, operand) <= comparison.distanceMetres
        case .in: return self.list(operand).contains { self.order(value, $0) == 0 }
        case .notIn: return !self.list(operand).contains { self.order(value, $0) == 0 }
        case .beginsWith: return self.begins(value, operand)
        case .notBeginsWith: return !self.begins(value, operand)
        case .listContains: return self.list(value).contains { self.order($0, operand) == 0 }
        case .listNotContains: return !self.list(value).contains { self.order($0, operand) == 0 }
        case .listContainsAny: return self.meet(value, operand)
        case .listNotContainsAny: return !self.meet(value, operand)
        case .listContainsAll: return self.covers(value, operand)
        case .notListContainsAll: return !self.covers(value, operand)
        case .listMemberBeginsWith: return self.list(value).contains { self.begins($0, operand) }
        case .notListMemberBeginsWith: return !self.list(value).contains { self.begins($0, operand) }
        case .containsAllTokens, .containsAnyTokens: return false
        }
    }

    private static func meet(_ value: FieldValue, _ operand: FieldValue) -> Bool {
        self.list(value).contains { one in self.list(operand).contains { self.order(one, $0) == 0 } }
    }

    private static func covers(_ value: FieldValue, _ operand: FieldValue) -> Bool {
        self.list(operand).allSatisfy { one in self.list(value).contains { self.order($0, one) == 0 } }
    }

    // MARK: Values

    /// Negative if the left one is less, `nil` if they cannot be compared.
    static func order(_ left: FieldValue, _ right: FieldValue) -> Int? {
        switch (left, right) {
        case (.string(let left), .string(let right)): self.order(Array(left.utf8), Array(right.utf8))
        case (.int64(let left), .int64(let right)): left < right ? -1 : left > right ? 1 : 0
        case (.int64(let left), .double(let right)): self.order(left, right)
        case (.double(let left), .int64(let right)): -self.order(right, left)
        case (.double(let left), .double(let right)), (.timestamp(let left), .timestamp(let right)):
            left < right ? -1 : left > right ? 1 : 0
        case (.bytes(let left), .bytes(let right)): self.order(left, right)
        case (.reference(let left), .reference(let right)):
            self.order(Array(left.recordName.utf8), Array(right.recordName.utf8))
        case (.location(let left), .location(let right)):
            left.latitude == right.latitude && left.longitude == right.longitude ? 0 : nil
        default: nil
        }
    }

    private static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
        for (one, other) in zip(left, right) where one != other { return one < other ? -1 : 1 }
        return left.count - right.count
    }

    /// Exactly: by whole numbers first, then by what is behind the point.
    private static func order(_ integer: Int64, _ double: Double) -> Int {
        if abs(double) >= 0x1p64 { return double > 0 ? -1 : 1 }
        let floor = double.rounded(.down)
        let whole = Int128(floor)
        if Int128(integer) != whole { return Int128(integer) < whole ? -1 : 1 }
        return double > floor ? -1 : 0
    }

    private static func begins(_ value: FieldValue, _ prefix: FieldValue) -> Bool {
        guard case .string(let text) = value, case .string(let start) = prefix else { return false }
        return Array(text.utf8).starts(with: Array(start.utf8))
    }

    private static func list(_ value: FieldValue) -> [FieldValue] {
        switch value {
        case .stringList(let list): list.map { .string($0) }
        case .int64List(let list): list.map { .int64($0) }
        case .doubleList(let list): list.map { .double($0) }
        case .timestampList(let list): list.map { .timestamp($0) }
        case .locationList(let list): list.map { .location($0) }
        case .referenceList(let list): list.map { .reference($0) }
        default: []
        }
    }

    private static func words(_ value: FieldValue) -> [String] {
        guard case .string(let text) = value else { return [] }
        let folded = text.lowercased().replacing("é", with: "e")
        return folded.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    /// Along a circle on a sphere, by the angle between two directions: within a per cent.
    static func metres(_ left: FieldValue, _ right: FieldValue) -> Double {
        guard case .location(let left) = left, case .location(let right) = right else { return .infinity }
        if left.latitude == right.latitude, left.longitude == right.longitude { return 0 }
        return acos(max(-1, min(1, self.cosine(left, right)))) * 6_371_000
    }

    private static func cosine(_ left: Location, _ right: Location) -> Double {
        let degree = Double.pi / 180
        let one = (left.latitude * degree, left.longitude * degree)
        let other = (right.latitude * degree, right.longitude * degree)
        return sin(one.0) * sin(other.0) + cos(one.0) * cos(other.0) * cos(one.1 - other.1)
    }

    // MARK: Order

    static func comesFirst(_ left: Item, _ right: Item, _ sort: [SortKey]) -> Bool {
        for key in sort {
            let order: Int
            switch (left[key.field], right[key.field]) {
            case (nil, nil): order = 0
            case (nil, _): return false
            case (_, nil): return true
            case (let one?, let other?):
                if let origin = key.origin {
                    let near = self.metres(one, .location(origin))
                    let far = self.metres(other, .location(origin))
                    order = near < far ? -1 : near > far ? 1 : 0
                } else {
                    let natural = self.order(self.cut(one), self.cut(other)) ?? 0
                    order = key.isAscending ? natural : -natural
                }
            }
            if order != 0 { return order < 0 }
        }
        return (left.name, left.zone) < (right.name, right.zone)
    }

    /// Only the first 1,000 bytes of a text count for an order.
    private static func cut(_ value: FieldValue) -> FieldValue {
        guard case .string(let text) = value else { return value }
        return .bytes(Array(text.utf8.prefix(1_000)))
    }
}
