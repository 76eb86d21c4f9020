public import Foundation
internal import RecordModel

/// A user, as far as the current user may know them.
///
/// Equality and hash are by value.
///
/// - Source: Apple's `CKUserIdentity`.
open class CKUserIdentity: NSObject, NSSecureCoding, NSCopying {
    /// The address or ID by which a user is looked up.
    public typealias LookupInfo = CKUserIdentityLookupInfo

    let model: UserIdentity

    init(_ model: UserIdentity) {
        self.model = model
        super.init()
    }

    /// The ID of the user's record, with its real name also for the current user; `nil` if the user
    /// is not known.
    open var userRecordID: CKRecord.ID? {
        self.model.userRecordName.isEmpty ? nil : CKRecord.ID(recordName: self.model.userRecordName)
    }

    /// The address or ID by which the user was found or invited; `nil` if there is none.
    open var lookupInfo: LookupInfo? { self.model.lookup.map { CKUserIdentityLookupInfo($0) } }

    /// Always `nil`, because servers know users by their records only.
    open var nameComponents: PersonNameComponents? { nil }

    /// Whether the server has a user for the identity.
    open var hasiCloudAccount: Bool { !self.model.userRecordName.isEmpty }

    /// Always empty: there is no address book here.
    @available(*, deprecated, message: "There are no contacts here.")
    open var contactIdentifiers: [String] { [] }

    /// Reads an archived identity; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        let bytes = coder.archivedBody()?.bytes("identity")
        let identity = bytes.map { try? UserIdentity(decoding: $0) } ?? UserIdentity(apple: coder)
        guard let model = identity else { return nil }
        self.model = model
        super.init()
    }

    /// Writes the identity into an archive; equal contents give equal bytes.
    open func encode(with coder: NSCoder) {
        coder.encodeBody([Field("identity", .bytes(self.model.bytes))])
    }

    /// Always `true`: identities can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the identity itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is the same identity.
    open override func isEqual(_ object: Any?) -> Bool { (object as? CKUserIdentity)?.model == self.model }

    /// Agrees with `isEqual`.
    open override var hash: Int { self.model.hashValue }

    /// A description of the identity for people.
    open override var description: String { "<CKUserIdentity: \(self.model)>" }
}

// SAFETY: every stored property is a constant value.
extension CKUserIdentity: @unchecked Sendable {}
