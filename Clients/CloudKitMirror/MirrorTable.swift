/// A record type that a mirror keeps as a table, with the fields that are columns.
///
/// ```swift
/// let orders = MirrorTable(
///     "Order",
///     columns: [.init("customer", .string, isIndexed: true), .init("total", .double)]
/// )
/// ```
///
/// - Shape: Names as in a schema: an ASCII letter, then letters, digits and `_`. SQLite does not
///   distinguish cases, so two names of one table must differ in more. At most 1,000 columns.
public struct MirrorTable: Hashable, Codable, Sendable {
    /// A field that is a column.
    public struct Column: Hashable, Codable, Sendable {
        /// The type of a field, and of its column.
        public enum Kind: String, Hashable, Codable, Sendable, CaseIterable {
            /// A text; TEXT.
            case string
            /// An integer; INTEGER.
            case int64
            /// A number; REAL.
            case double
            /// A time; REAL, in seconds since 1970.
            case date
            /// Bytes; BLOB.
            case bytes
            /// A reference; TEXT, the name of a record in the same zone.
            case reference
        }

        /// The name of the field, and of the column.
        public var name: String
        /// The type.
        public var kind: Kind
        /// Whether the column has an index; a reference always has one.
        public var isIndexed: Bool
        /// Whether the field is one of `CKRecord.encryptedValues`; a reference can't be.
        public var isEncrypted: Bool
        /// Of a reference: whether the record is deleted with the one that it refers to.
        public var deletesSelf: Bool

        /// Declares a column.
        ///
        /// - Parameters:
        ///   - name: The name of the field.
        ///   - kind: The type.
        ///   - isIndexed: Whether the column has an index.
        ///   - isEncrypted: Whether the field is one of `CKRecord.encryptedValues`.
        ///   - deletesSelf: Of a reference: whether the record is deleted with its target.
        public init(
            _ name: String,
            _ kind: Kind,
            isIndexed: Bool = false,
            isEncrypted: Bool = false,
            deletesSelf: Bool = false
        ) {
            self.name = name
            self.kind = kind
            self.isIndexed = isIndexed
            self.isEncrypted = isEncrypted
            self.deletesSelf = deletesSelf
        }
    }

    /// The record type, and the name of the table.
    public var recordType: String
    /// The columns, besides those that every table has.
    public var columns: [Column]

    /// Declares a table.
    ///
    /// - Parameters:
    ///   - recordType: The record type.
    ///   - columns: The fields that are columns.
    public init(_ recordType: String, columns: [Column]) {
        self.recordType = recordType
        self.columns = columns
    }
}

extension MirrorTable {
    /// SQLite's own bound is 2,000.
    private static let columnsMax = 1_000

    /// Why the declaration can't be a table; `nil` if it can.
    var fault: String? {
        if let fault = Self.fault(ofName: self.recordType) { return fault }
        if self.columns.count > Self.columnsMax { return "it has more than \(Self.columnsMax) columns" }
        var names: Set<String> = []
        for column in self.columns {
            if let fault = Self.fault(ofName: column.name) { return fault }
            guard names.insert(column.name.lowercased()).inserted else {
                return "it has two columns '\(column.name)'; SQLite does not distinguish cases"
            }
            if column.kind == .reference, column.isEncrypted {
                return "the reference '\(column.name)' can't be encrypted"
            }
        }
        return nil
    }

    private static func fault(ofName name: String) -> String? {
        let isName =
            name.utf8.count <= 255 && name.utf8.first.map { $0.isASCIILetter } == true
            && name.utf8.allSatisfy { $0.isASCIILetter || $0 == UInt8(ascii: "_") || (48...57).contains($0) }
        guard isName else {
            return "'\(name)' is not a name: use an ASCII letter, then letters, digits and _"
        }
        let isReserved = ["tidemark_", "sqlite_"].contains { name.lowercased().hasPrefix($0) }
        return isReserved ? "the name '\(name)' is reserved" : nil
    }
}

extension UInt8 {
    fileprivate var isASCIILetter: Bool { (97...122).contains(self | 0x20) }
}
