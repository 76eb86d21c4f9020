import Foundation

// SAFETY: immutable.
/// Where a query goes on.
///
/// Opaque: it holds the query and its zone, sealed by the server. It is valid for the user, the environment and the database of the
/// query, across connections and restarts, for 24 hours; then `invalidArguments` tells to start again.
public final class CKQueryCursor: NSObject, NSCopying, NSSecureCoding {
    private static let dataKey = "CursorData"

    /// Always.
    public static var supportsSecureCoding: Bool { true }

    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads a cursor from an archive; `nil` when there is none.
    ///
    /// One of iCloud's is read too; the server refuses it with `invalidArguments`, which tells to start again.
    public init?(coder: NSCoder) {
        guard let bytes = coder.archivedBytes(Self.dataKey) else { return nil }
        self.bytes = bytes
    }

    /// Writes the cursor to an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(NSData(data: Data(self.bytes)), forKey: Self.dataKey)
    }

    /// The same object: a cursor never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Two cursors are equal when they hold the same bytes.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKQueryCursor)?.bytes == self.bytes
    }

    /// Agrees with `isEqual`.
    public override var hash: Int { self.bytes.hashValue }
}

// SAFETY: immutable.
extension CKQueryCursor: @unchecked Sendable {}
