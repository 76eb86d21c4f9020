import Foundation
import RecordModel

/// A position in the changes of a zone or of a database.
///
/// It is opaque: the server makes and signs it. It is valid across connections and restarts, for
/// the user, the environment and the zone or database that it was returned with. It expires when
/// the server forgets later deletions: after a year unless the operator says otherwise. It also
/// expires when its zone is deleted, or the server is restored from a backup. Then
/// `changeTokenExpired` asks the client to start again without a token.
///
/// - Source: Apple's `CKServerChangeToken`.
// SAFETY: immutable.
open class CKServerChangeToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    private static let dataKey = "ChangeTokenData"

    let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
        super.init()
    }

    /// Reads a token from an archive; `nil` if there is none.
    ///
    /// A token of iCloud is read too, and has expired for the server: `changeTokenExpired` asks the
    /// client to start again without a token.
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

    /// Always `true`: tokens can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the token itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is a token with the same bytes.
    ///
    /// Two tokens that are not equal may be the same position.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKServerChangeToken)?.bytes == self.bytes
    }

    /// Agrees with `isEqual`.
    open override var hash: Int { self.bytes.hashValue }
}
