/// A record that is not the acknowledged one.
struct Violation: Codable, Hashable, Sendable {
    enum Kind: String, Codable, Sendable {
        /// An acknowledged save is missing.
        case lost
        /// An earlier state than the acknowledged one.
        case stale
        /// A record exists that was deleted, or never saved.
        case unexpected
        /// The same name came twice where it must come once.
        case doubled
        /// The content is not what was saved.
        case spoilt
        /// A notification or its change did not arrive.
        case undelivered
        /// A follower came to the end of a feed without an acknowledged change.
        case unseen
        /// A token expired, and with it all that the client had.
        case expired
    }

    var kind: Kind
    var zone: String
    var recordName: String
    /// The permitted versions.
    ///
    /// They count a record's saves; 0 is absent.
    var expected: String
    var found: String
    /// The kind of reading.
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

    /// A token that expired, though only a restore has clients fetch everything anew.
    init(expiredTokenIn zone: String, reading: String) {
        self.init(
            kind: .expired,
            zone: zone,
            recordName: "all records",
            expected: "a token that stays good",
            found: "an expired token",
            reading: reading
        )
    }

    static func text(_ version: UInt64) -> String { version == 0 ? "absent" : "version \(version)" }

    var line: String {
        "\(self.kind.rawValue): \(self.recordName) in \(self.zone), by \(self.reading): "
            + "expected \(self.expected), found \(self.found)"
    }
}

/// All violations, counted; the first few are kept.
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
