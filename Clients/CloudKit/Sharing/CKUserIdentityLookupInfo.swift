public import Foundation
internal import RecordModel

/// By what somebody is looked for: an e-mail address, a phone number or the ID of a user record.
///
/// Equality and hash are by value, as it is written.
open class CKUserIdentityLookupInfo: NSObject, NSSecureCoding, NSCopying {
    let model: IdentityLookup

    init(_ model: IdentityLookup) {
        self.model = model
        super.init()
    }

    /// Looks for who has an e-mail address; case does not matter.
    public init(emailAddress: String) {
        self.model = .emailAddress(emailAddress)
        super.init()
    }

    /// Looks for who has a phone number; its digits and a leading `+` matter.
    public init(phoneNumber: String) {
        self.model = .phoneNumber(phoneNumber)
        super.init()
    }

    /// Looks for the user of a user record.
    public init(userRecordID: CKRecord.ID) {
        self.model = .userRecordName(userRecordID.recordName)
        super.init()
    }

    /// The e-mail address; `nil` when something else is looked for.
    open var emailAddress: String? {
        if case .emailAddress(let address) = self.model { address } else { nil }
    }

    /// The phone number; `nil` when something else is looked for.
    open var phoneNumber: String? {
        if case .phoneNumber(let number) = self.model { number } else { nil }
    }

    /// The ID of the user record; `nil` when something else is looked for.
    open var userRecordID: CKRecord.ID? {
        if case .userRecordName(let name) = self.model { CKRecord.ID(recordName: name) } else { nil }
    }

    /// Returns one for each e-mail address.
    open class func lookupInfos(withEmails emails: [String]) -> [CKUserIdentityLookupInfo] {
        emails.map { CKUserIdentityLookupInfo(emailAddress: $0) }
    }

    /// Returns one for each phone number.
    open class func lookupInfos(withPhoneNumbers phoneNumbers: [String]) -> [CKUserIdentityLookupInfo] {
        phoneNumbers.map { CKUserIdentityLookupInfo(phoneNumber: $0) }
    }

    /// Returns one for each user record.
    open class func lookupInfos(with recordIDs: [CKRecord.ID]) -> [CKUserIdentityLookupInfo] {
        recordIDs.map { CKUserIdentityLookupInfo(userRecordID: $0) }
    }

    /// Reads an archived one; `nil` when the archive has none.
    public required init?(coder: NSCoder) {
        guard let bytes = coder.archivedBody()?.bytes("lookup"),
            let model = try? IdentityLookup(decoding: bytes)
        else { return nil }
        self.model = model
        super.init()
    }

    /// Writes it into an archive, in one encoding for one content.
    open func encode(with coder: NSCoder) {
        coder.encodeBody([Field("lookup", .bytes(self.model.bytes))])
    }

    /// Whether it may be read where secure coding is required: always.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the object itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object looks for the same.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKUserIdentityLookupInfo)?.model == self.model
    }

    /// Agrees with `isEqual`.
    open override var hash: Int { self.model.hashValue }

    /// What is looked for, for people to read.
    open override var description: String { "<CKUserIdentityLookupInfo: \(self.model)>" }
}

// SAFETY: every stored property is a constant value.
extension CKUserIdentityLookupInfo: @unchecked Sendable {}
