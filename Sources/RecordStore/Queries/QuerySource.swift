package import StorageContract

/// The source of a query's candidates.
///
/// Every source has one order. A page continues behind the last candidate of the page before.
package indirect enum QuerySource: Hashable, Sendable {
    /// Entries of one index, by value and then by record number.
    ///
    /// The ranges are ascending and disjoint.
    case ranges(IndexUse, [EntryRange])
    /// By record number.
    case numbers(NumberSource)
    /// One after the other. A record of several branches comes only with the first.
    case branches([Branch])

    package struct Branch: Hashable, Sendable {
        package var source: QuerySource
        /// The condition that the records of the branch meet.
        package var condition: CheckedPredicate
    }

    static let nothing = QuerySource.branches([])
}

/// Records with certain values, by number.
///
/// The entries of one value are in the order of record numbers. So lists of them can be merged and
/// intersected while they are read.
package indirect enum NumberSource: Hashable, Sendable {
    case value(IndexUse, [UInt8])
    case any([NumberSource])
    case all([NumberSource])

    /// Number of lists that are read in parallel.
    var listCount: Int {
        switch self {
        case .value: 1
        case .any(let parts), .all(let parts): parts.reduce(0) { $0 + $1.listCount }
        }
    }
}

extension QueryPlan {
    /// FNV-1a over the parts: the same for sources with the same order, in every process and
    /// forever.
    ///
    /// The order of sort keys does not depend on the source.
    var signature: Int64 {
        var hash = StableHash()
        switch self.order {
        case .source(let source): source.add(to: &hash)
        case .collected: hash.add(7, 0)
        case .index: hash.add(8, 0)
        }
        return hash.value
    }
}

extension QuerySource {

    fileprivate func add(to hash: inout StableHash) {
        switch self {
        case .ranges(let index, let ranges):
            hash.add(1, index.number)
            for range in ranges {
                hash.add(range.lower)
                hash.add(range.upper ?? [])
            }
        case .numbers(let source):
            hash.add(2, 0)
            source.add(to: &hash)
        case .branches(let branches):
            hash.add(3, Int64(branches.count))
            for branch in branches { branch.source.add(to: &hash) }
        }
    }
}

extension NumberSource {
    fileprivate func add(to hash: inout StableHash) {
        switch self {
        case .value(let index, let value):
            hash.add(4, index.number)
            hash.add(value)
        case .any(let parts):
            hash.add(5, Int64(parts.count))
            for part in parts { part.add(to: &hash) }
        case .all(let parts):
            hash.add(6, Int64(parts.count))
            for part in parts { part.add(to: &hash) }
        }
    }
}

private struct StableHash {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    var value: Int64 { Int64(bitPattern: self.state) }

    mutating func add(_ bytes: [UInt8]) {
        self.add(0, Int64(bytes.count))
        for byte in bytes { self.add(byte) }
    }

    mutating func add(_ kind: UInt8, _ integer: Int64) {
        self.add(kind)
        for shift in stride(from: Int64(0), to: 64, by: 8) {
            self.add(UInt8(truncatingIfNeeded: integer >> shift))
        }
    }

    private mutating func add(_ byte: UInt8) {
        self.state = (self.state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
}
