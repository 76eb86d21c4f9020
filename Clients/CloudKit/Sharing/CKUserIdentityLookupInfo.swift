public import Foundation
internal import RecordModel

/// The address or ID by which a user is looked up: an e-mail address, a phone number or the ID of a
/// user record.
///
/// Equality and hash are by the value as written.
///
/// - Source: Apple's `CKUserIdentityLookupInfo`.
open class CKUserIdentityLookupInfo: NSObject, NSSecureCoding, NSCopying {
    let model: IdentityLookup

    init(_ model: IdentityLookup) {
        self.model = model
        super.init()
    }

    /// Makes the info for an e-mail address.
    ///
    /// - Parameter emailAddress: 1 to 255 bytes, else the lookup fails with `invalidArguments`.
    ///   Case does not matter.
    public required init(emailAddress: String) {
        self.model = .emailAddress(emailAddress)
        super.init()
    }

    /// Makes the info for a phone number.
    ///
    /// - Parameter phoneNumber: 1 to 255 bytes, else the lookup fails with `invalidArguments`. Its
    ///   digits and a leading `+` matter.
    public required init(phoneNumber: String) {
        self.model = .phoneNumber(phoneNumber)
        super.init()
    }

    /// Makes the info for a user record.
    ///
    /// - Parameter userRecordID: The ID of a user record in the default zone, as
    ///   `CKContainer.userRecordID()` returns.
    public required init(userRecordID: CKRecord.ID) {
        self.model = .userRecordName(userRecordID.recordName)
        super.init()
    }

    /// The e-mail address; `nil` if the info is of another kind.
    open var emailAddress: String? {
        if case .emailAddress(let address) = self.model { address } else { nil }
    }

    /// The phone number; `nil` if the info is of another kind.
    open var phoneNumber: String? {
        if case .phoneNumber(let number) = self.model { number } else { nil }
    }

    /// The ID of the user record; `nil` if the info is of another kind.
    open var userRecordID: CKRecord.ID? {
        if case .userRecordName(let name) = self.model { CKRecord.ID(recordName: name) } else { nil }
    }

    /// Returns an info for each e-mail address.
    open class func lookupInfos(withEmails emails: [String]) -> [CKUserIdentityLookupInfo] {
        emails.map { CKUserIdentityLookupInfo(emailAddress: $0) }
    }

    /// Returns an info for each phone number.
    open class func lookupInfos(withPhoneNumbers phoneNumbers: [String]) -> [CKUserIdentityLookupInfo] {
        phoneNumbers.map { CKUserIdentityLookupInfo(phoneNumber: $0) }
    }

    /// Returns an info for each user record.
    open class func lookupInfos(with recordIDs: [CKRecord.ID]) -> [CKUserIdentityLookupInfo] {
        recordIDs.map { CKUserIdentityLookupInfo(userRecordID: $0) }
    }

    /// Reads an archived info; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let bytes = coder.archivedBody()?.bytes("lookup"),
            let model = try? IdentityLookup(decoding: bytes)
        else { return nil }
        self.model = model
        super.init()
    }

    /// Writes the info into an archive; equal infos give equal bytes.
    open func encode(with coder: NSCoder) {
        coder.encodeBody([Field("lookup", .bytes(self.model.bytes))])
    }

    /// Always `true`: instances can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the object itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is the same info.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKUserIdentityLookupInfo)?.model == self.model
    }

    /// Agrees with `isEqual`.
    open override var hash: Int { self.model.hashValue }

    /// A description of the info for people.
    open override var description: String { "<CKUserIdentityLookupInfo: \(self.model)>" }
}

// SAFETY: every stored property is a constant value.
extension CKUserIdentityLookupInfo: @unchecked Sendable {}
