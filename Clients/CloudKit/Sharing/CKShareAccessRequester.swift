public import Foundation
internal import RecordModel

/// A person who requested access to a share.
///
/// Equality and hash are by value.
///
/// - Source: Apple's `CKShareAccessRequester`.
open class CKShareAccessRequester: NSObject, NSSecureCoding, NSCopying {
    let model: UserIdentity

    init(_ model: UserIdentity) {
        self.model = model
        super.init()
    }

    /// The identity of the person.
    open var userIdentity: CKUserIdentity { CKUserIdentity(self.model) }

    /// The lookup info with which the person can be made a participant; see
    /// `CKFetchShareParticipantsOperation`.
    open var participantLookupInfo: CKUserIdentity.LookupInfo {
        let name = self.model.userRecordName
        let lookup = name.isEmpty ? self.model.lookup : .userRecordName(name)
        return CKUserIdentityLookupInfo(lookup ?? .userRecordName(name))
    }

    /// Reads an archived requester; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let bytes = coder.archivedBody()?.bytes("identity"),
            let model = try? UserIdentity(decoding: bytes)
        else { return nil }
        self.model = model
        super.init()
    }

    /// Writes the requester into an archive; equal contents give equal bytes.
    open func encode(with coder: NSCoder) {
        coder.encodeBody([Field("identity", .bytes(self.model.bytes))])
    }

    /// Always `true`: instances can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the object itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is the same requester.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareAccessRequester)?.model == self.model
    }

    /// Agrees with `isEqual`.
    open override var hash: Int { self.model.hashValue }

    /// A description of the requester for people.
    open override var description: String { "<CKShareAccessRequester: \(self.model)>" }
}

// SAFETY: every stored property is a constant value.
extension CKShareAccessRequester: @unchecked Sendable {}
