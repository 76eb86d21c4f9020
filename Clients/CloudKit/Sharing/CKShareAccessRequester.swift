public import Foundation
internal import RecordModel

/// Somebody who asked to be let into a share.
///
/// Equality and hash are by value.
open class CKShareAccessRequester: NSObject, NSSecureCoding, NSCopying {
    let model: UserIdentity

    init(_ model: UserIdentity) {
        self.model = model
        super.init()
    }

    /// Who it is.
    open var userIdentity: CKUserIdentity { CKUserIdentity(self.model) }

    /// What to look for him with, to make him a participant: see `CKFetchShareParticipantsOperation`.
    open var participantLookupInfo: CKUserIdentity.LookupInfo {
        let name = self.model.userRecordName
        let lookup = name.isEmpty ? self.model.lookup : .userRecordName(name)
        return CKUserIdentityLookupInfo(lookup ?? .userRecordName(name))
    }

    /// Reads an archived requester; `nil` when the archive has none.
    public required init?(coder: NSCoder) {
        guard let bytes = coder.archivedBody()?.bytes("identity"),
            let model = try? UserIdentity(decoding: bytes)
        else { return nil }
        self.model = model
        super.init()
    }

    /// Writes the requester into an archive, in one encoding for one content.
    open func encode(with coder: NSCoder) {
        coder.encodeBody([Field("identity", .bytes(self.model.bytes))])
    }

    /// Whether it may be read where secure coding is required: always.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the object itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is the same requester.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareAccessRequester)?.model == self.model
    }

    /// Agrees with `isEqual`.
    open override var hash: Int { self.model.hashValue }

    /// The requester for people to read.
    open override var description: String { "<CKShareAccessRequester: \(self.model)>" }
}

// SAFETY: every stored property is a constant value.
extension CKShareAccessRequester: @unchecked Sendable {}
