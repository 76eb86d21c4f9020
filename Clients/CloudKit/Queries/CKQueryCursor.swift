import Foundation

// SAFETY: immutable.
/// A position from which a query continues.
///
/// It is opaque: it contains the query and its zone, signed by the server. It is valid across
/// connections and restarts, for 24 hours, for the user, the environment and the database of the
/// query. After that `invalidArguments` asks the client to start again.
///
/// - Source: Apple's `CKQueryCursor`.
public final class CKQueryCursor: NSObject, NSCopying, NSSecureCoding {
    private static let dataKey = "CursorData"

    /// Always `true`.
    public static var supportsSecureCoding: Bool { true }

    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads a cursor from an archive; `nil` if there is none.
    ///
    /// A cursor of iCloud is read too. The server refuses it with `invalidArguments`, which asks
    /// the client to start again.
    public init?(coder: NSCoder) {
        guard let bytes = coder.archivedBytes(Self.dataKey) else { return nil }
        self.bytes = bytes
    }

    /// Writes the cursor to an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(NSData(data: Data(self.bytes)), forKey: Self.dataKey)
    }

    /// Returns the cursor itself, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is a cursor with the same bytes.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKQueryCursor)?.bytes == self.bytes
    }

    /// Agrees with `isEqual`.
    public override var hash: Int { self.bytes.hashValue }
}

// SAFETY: immutable.
extension CKQueryCursor: @unchecked Sendable {}
