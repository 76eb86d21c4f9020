import Foundation

/// The first entry of a bundle, `bundle.json`.
package struct BundleDescription: Codable, Hashable, Sendable {
    /// Format 1 has zones of a private database; format 2 can name another.
    package static let formatsKnown = 1...2

    package struct Zone: Codable, Hashable, Sendable {
        package var name: String
        package var records: Int64
        /// Bytes of the records without their assets.
        package var bytes: Int64
        /// `perZone`; `nil` if each record has a key of its own.
        package private(set) var encryptionScope: String?

        package init(name: String, records: Int64, bytes: Int64, isPerZone: Bool = false) {
            self.name = name
            self.records = records
            self.bytes = bytes
            self.encryptionScope = isPerZone ? BundleDescription.perZone : nil
        }

        package var isPerZone: Bool { self.encryptionScope != nil }
    }

    package private(set) var format = 1
    /// The version that wrote the bundle.
    package var version: String
    package var container: String
    package var environment: String
    /// `public`; `nil` for a private database.
    package private(set) var database: String?
    /// User record name of the owner of the zones; empty in a public database.
    package var owner: String
    /// When the snapshot was taken, in milliseconds since 1970.
    package var exportedMilliseconds: Int64
    /// The database's epoch, to which change tags and tokens of the old server belong.
    package var epoch: Int64
    package var position: Int64
    /// Whether values were replaced by noise.
    package var isScrambled: Bool
    /// In the order of their records.
    package var zones: [Zone]

    package init(
        version: String,
        container: String,
        environment: String,
        owner: String,
        isPublic: Bool = false,
        exportedMilliseconds: Int64
    ) {
        self.format = isPublic ? 2 : 1
        self.database = isPublic ? Self.publicDatabase : nil
        self.version = version
        self.container = container
        self.environment = environment
        self.owner = owner
        self.exportedMilliseconds = exportedMilliseconds
        self.epoch = 0
        self.position = 0
        self.isScrambled = false
        self.zones = []
    }

    private static let publicDatabase = "public"
    private static let perZone = "perZone"

    package var isPublic: Bool { self.database != nil }

    /// Whether the database, and encryption scopes of its zones, are valid in this format.
    var isSound: Bool {
        let isKnown =
            self.format == 1
            ? self.database == nil : self.database == Self.publicDatabase && self.owner.isEmpty
        return isKnown && self.zones.allSatisfy { $0.encryptionScope ?? Self.perZone == Self.perZone }
    }
}

/// The last entry of a bundle, `totals.json`: totals of all earlier entries.
package struct BundleTotals: Codable, Hashable, Sendable {
    package var records: Int64 = 0
    /// Number of records that are shares.
    package var shares: Int64 = 0
    package var assets: Int64 = 0
    package var assetBytes: Int64 = 0
    /// All bytes of the stream before the header of this entry, and their SHA-256 in hexadecimal.
    package var bytes: Int64 = 0
    package var sha256 = ""

    package init() {}
}

/// JSON with a single spelling, so that a changed byte is detected.
enum CanonicalJSON {
    static func bytes(of value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try [UInt8](encoder.encode(value)) + [UInt8(ascii: "\n")]
    }

    /// The number of the format, regardless of other members.
    static func format(in bytes: [UInt8]) -> Int? {
        struct Format: Codable { var format: Int }
        return (try? JSONDecoder().decode(Format.self, from: Data(bytes)))?.format
    }

    /// Decodes a value; `nil` for any spelling other than that of `bytes`.
    static func value<Value: Codable>(_ type: Value.Type, in bytes: [UInt8]) -> Value? {
        guard let value = try? JSONDecoder().decode(type, from: Data(bytes)),
            let again = try? self.bytes(of: value), again == bytes
        else { return nil }
        return value
    }
}
