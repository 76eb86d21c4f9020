/// A record that is not what was acknowledged.
struct Violation: Codable, Hashable, Sendable {
    enum Kind: String, Codable, Sendable {
        /// An acknowledged save is not there.
        case lost
        /// An earlier state than the acknowledged one.
        case stale
        /// A record that was deleted, or never saved, is there.
        case unexpected
        /// The same name twice where it must come once.
        case doubled
        /// Other contents than those that were saved.
        case spoilt
        /// Nobody was told, or did not get it.
        case undelivered
    }

    var kind: Kind
    var zone: String
    var recordName: String
    /// What must have been found; versions count a record's saves, 0 is absent.
    var expected: String
    var found: String
    /// What was read.
    var reading: String
}

extension Violation {
    /// A version that was read and not permitted.
    init(_ name: String, zone: String, permitted: [UInt64], found: UInt64, reading: String) {
        let acknowledged = permitted.first ?? 0
        let kind: Kind =
            if found == 0 { .lost } else if acknowledged == 0 || found > acknowledged { .unexpected } else {
                .stale
            }
        self.init(
            kind: kind,
            zone: zone,
            recordName: name,
            expected: permitted.map(Self.text).joined(separator: " or "),
            found: Self.text(found),
            reading: reading
        )
    }

    static func text(_ version: UInt64) -> String { version == 0 ? "absent" : "version \(version)" }

    var line: String {
        "\(self.kind.rawValue): \(self.recordName) in \(self.zone), by \(self.reading): "
            + "expected \(self.expected), found \(self.found)"
    }
}

/// What was found wrong, all of it counted and the first few kept.
struct Violations: Codable, Sendable {
    static let keptMax = 1_000

    private(set) var count = 0
    private(set) var first: [Violation] = []

    mutating func add(_ violation: Violation) {
        self.count += 1
        if self.first.count < Self.keptMax { self.first.append(violation) }
    }

    mutating func add(_ other: Violations) {
        self.count += other.count
        self.first += other.first.prefix(Self.keptMax - self.first.count)
    }
}
