public import Foundation
internal import RecordModel

/// Somebody who may not ask to be let into a share.
///
/// Equality and hash are by value.
open class CKShareBlockedIdentity: NSObject, NSSecureCoding, NSCopying {
    let model: UserIdentity

    init(_ model: UserIdentity) {
        self.model = model
        super.init()
    }

    /// Who it is.
    open var userIdentity: CKUserIdentity { CKUserIdentity(self.model) }

    /// Reads an archived blocked identity; `nil` when the archive has none.
    public required init?(coder: NSCoder) {
        guard let bytes = coder.archivedBody()?.bytes("identity"),
            let model = try? UserIdentity(decoding: bytes)
        else { return nil }
        self.model = model
        super.init()
    }

    /// Writes the blocked identity into an archive, in one encoding for one content.
    open func encode(with coder: NSCoder) {
        coder.encodeBody([Field("identity", .bytes(self.model.bytes))])
    }

    /// Whether it may be read where secure coding is required: always.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the object itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is the same blocked identity.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareBlockedIdentity)?.model == self.model
    }

    /// Agrees with `isEqual`.
    open override var hash: Int { self.model.hashValue }

    /// The blocked identity for people to read.
    open override var description: String { "<CKShareBlockedIdentity: \(self.model)>" }
}

// SAFETY: every stored property is a constant value.
extension CKShareBlockedIdentity: @unchecked Sendable {}
