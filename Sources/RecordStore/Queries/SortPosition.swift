import RecordModel
import StorageContract

/// The position of a record in the order of a query.
///
/// Values are those of the indexes, so that the order is the same with and without an index.
struct SortPosition: Hashable, Sendable {
    /// One per sort key; `nil` if the record lacks the field.
    var keys: [[UInt8]?]
    var name: String
    var zone: String
}

/// The end of a page in the order of a query: this record and all before it were read.
struct SortEnd: Hashable, Sendable {
    /// The values of the last record.
    ///
    /// If there are fewer than sort keys, all records that begin with them were read.
    var keys: [[UInt8]?]
    /// `nil` if all records with these values were read.
    var name: String?
    /// `nil` if all records with these values and this name were read.
    var zone: String?

    init(keys: [[UInt8]?], name: String? = nil, zone: String? = nil) {
        self.keys = keys
        self.name = name
        self.zone = zone
    }

    init(_ position: SortPosition) {
        self.init(keys: position.keys, name: position.name, zone: position.zone)
    }
}

/// The order of the sort keys.
///
/// Records without a field come last in both directions. Equal ones are ordered by name, then by
/// zone.
struct SortOrder: Sendable {
    private let keys: [CheckedSortKey]

    init(_ keys: [CheckedSortKey]) {
        self.keys = keys
    }

    func position(of values: RecordValues, in zone: String) -> SortPosition {
        SortPosition(
            keys: self.keys.map { key in
                guard let value = values.elements(of: key.field)?.first else { return nil }
                guard let origin = key.origin else {
                    return value.indexBytes(isNumber: key.index.isNumber)
                }
                return value.location.map { IndexValue.double(GreatCircle.metres(from: origin, to: $0)) }
            },
            name: values.record.name,
            zone: zone
        )
    }

    func precedes(_ left: SortPosition, _ right: SortPosition) -> Bool {
        for (key, sort) in self.keys.enumerated() {
            let order = Self.order(left.keys[key], right.keys[key], isAscending: sort.isAscending)
            if order != 0 { return order < 0 }
        }
        return (ExactName(left.name), left.zone) < (ExactName(right.name), right.zone)
    }

    /// Whether a record is still to be read.
    func isBehind(_ position: SortPosition, _ end: SortEnd) -> Bool {
        for (key, value) in end.keys.enumerated() {
            let order = Self.order(position.keys[key], value, isAscending: self.keys[key].isAscending)
            if order != 0 { return order > 0 }
        }
        guard let name = end.name.map(ExactName.init), ExactName(position.name) <= name else {
            return end.name != nil
        }
        guard ExactName(position.name) == name, let zone = end.zone else { return false }
        return position.zone > zone
    }

    private static func order(_ left: [UInt8]?, _ right: [UInt8]?, isAscending: Bool) -> Int {
        switch (left, right) {
        case (nil, nil): return 0
        case (nil, _): return 1
        case (_, nil): return -1
        case (let left?, let right?):
            if left == right { return 0 }
            return left.precedes(right) == isAscending ? -1 : 1
        }
    }
}

/// Keeps the first records of an order, out of any number.
struct FirstOfOrder {
    struct Candidate {
        var position: SortPosition
        var number: Int64
        /// `nil` if it is read again when it is needed.
        var record: NamedRecord?
    }

    private let order: SortOrder
    private let countMax: Int
    private var candidates: [Candidate] = []
    private var bytes = 0

    /// Bound on the bodies in memory.
    ///
    /// Others are read again.
    private static let bytesMax = 4 * 1024 * 1024

    init(_ order: SortOrder, countMax: Int) {
        self.order = order
        self.countMax = countMax
    }

    mutating func add(_ candidate: Candidate) {
        var candidate = candidate
        let size = candidate.record?.stored.body.bytes.count ?? 0
        if self.bytes + size > Self.bytesMax { candidate.record = nil } else { self.bytes += size }
        self.candidates.append(candidate)
        if self.candidates.count >= 2 * self.countMax + 16 { self.cut() }
    }

    /// In order; at most `countMax`.
    mutating func sorted() -> [Candidate] {
        self.cut()
        return self.candidates
    }

    private mutating func cut() {
        self.candidates.sort { self.order.precedes($0.position, $1.position) }
        self.candidates.removeLast(max(0, self.candidates.count - self.countMax))
        self.bytes = self.candidates.reduce(0) { $0 + ($1.record?.stored.body.bytes.count ?? 0) }
    }
}
