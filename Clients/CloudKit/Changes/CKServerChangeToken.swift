import Foundation
import RecordModel

/// A place in the changes of a zone or of a database.
///
/// Opaque: the server makes it and seals it. It is valid for the user, the environment and the zone or database whose changes it was
/// returned with, across connections and restarts, until what was deleted after it is forgotten (a year unless the
/// operator says otherwise); then, and after the zone was deleted or the server restored from a backup, `changeTokenExpired` tells to begin
/// without one.
// SAFETY: immutable.
open class CKServerChangeToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    private static let dataKey = "ChangeTokenData"

    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
        super.init()
    }

    /// Reads a token from an archive; `nil` when there is none.
    ///
    /// One of iCloud's is read too, and to the server it has expired: `changeTokenExpired` tells to begin without one.
    public required init?(coder: NSCoder) {
        guard let bytes = coder.archivedBytes(Self.dataKey), (1...Bounds.tokenBytesMax).contains(bytes.count)
        else { return nil }
        self.bytes = bytes
        super.init()
    }

    /// Writes the token to an archive.
    open func encode(with coder: NSCoder) {
        coder.encodeBytes(self.bytes, length: self.bytes.count, forKey: Self.dataKey)
    }

    /// Whether tokens may be read where secure coding is required: always.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the token itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is a token of the same bytes.
    ///
    /// Two tokens that are not equal may well be the same place.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKServerChangeToken)?.bytes == self.bytes
    }

    /// Agrees with `isEqual`.
    open override var hash: Int { self.bytes.hashValue }
}
