public import Foundation
internal import RecordModel

/// Who may be let in, as an application tells the sharing dialogue of Apple's systems.
///
/// There is no such dialogue here: it holds what is set, and nothing looks at it.
///
/// Instances are not synchronised: use one from one task at a time.
open class CKAllowedSharingOptions: NSObject, NSSecureCoding, NSCopying {
    /// What participants may be allowed to do.
    open var allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption
    /// Who may take part.
    open var allowedParticipantAccessOptions: CKSharingParticipantAccessOption
    /// Whether participants may be allowed to invite others.
    open var allowsParticipantsToInviteOthers: Bool = false
    /// Whether people may be allowed to ask to be let in.
    open var allowsAccessRequests: Bool = false

    /// Holds what participants may be allowed to do, and who they may be.
    public init(
        allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption,
        allowedParticipantAccessOptions: CKSharingParticipantAccessOption
    ) {
        self.allowedParticipantPermissionOptions = allowedParticipantPermissionOptions
        self.allowedParticipantAccessOptions = allowedParticipantAccessOptions
        super.init()
    }

    /// Everything is allowed.
    open class var standard: CKAllowedSharingOptions {
        CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: .any,
            allowedParticipantAccessOptions: .any
        )
    }

    /// Reads archived options; `nil` when the archive has none.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), let permission = body.integer("permission"),
            let access = body.integer("access")
        else { return nil }
        self.allowedParticipantPermissionOptions = .init(rawValue: UInt(truncatingIfNeeded: permission))
        self.allowedParticipantAccessOptions = .init(rawValue: UInt(truncatingIfNeeded: access))
        self.allowsParticipantsToInviteOthers = body.integer("invite") == 1
        self.allowsAccessRequests = body.integer("requests") == 1
        super.init()
    }

    /// Writes the options into an archive, in one encoding for one content.
    open func encode(with coder: NSCoder) {
        let permission = self.allowedParticipantPermissionOptions.rawValue
        let access = self.allowedParticipantAccessOptions.rawValue
        coder.encodeBody([
            Field("access", .int64(Int64(truncatingIfNeeded: access))),
            Field("invite", .int64(self.allowsParticipantsToInviteOthers ? 1 : 0)),
            Field("permission", .int64(Int64(truncatingIfNeeded: permission))),
            Field("requests", .int64(self.allowsAccessRequests ? 1 : 0)),
        ])
    }

    /// Whether options may be read where secure coding is required: always.
    open class var supportsSecureCoding: Bool { true }

    /// Returns independent options with the same content.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: self.allowedParticipantPermissionOptions,
            allowedParticipantAccessOptions: self.allowedParticipantAccessOptions
        )
        copy.allowsParticipantsToInviteOthers = self.allowsParticipantsToInviteOthers
        copy.allowsAccessRequests = self.allowsAccessRequests
        return copy
    }
}

// SAFETY: as Apple's, the class leaves it to its user not to change it in two threads at once.
extension CKAllowedSharingOptions: @unchecked Sendable {}

/// Who may take part in what is shared.
public struct CKSharingParticipantAccessOption: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates options from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Who knows the URL.
    public static let anyoneWithLink = CKSharingParticipantAccessOption(rawValue: 1 << 0)
    /// Who was invited.
    public static let specifiedRecipientsOnly = CKSharingParticipantAccessOption(rawValue: 1 << 1)
    /// Either.
    public static let any: CKSharingParticipantAccessOption = [.anyoneWithLink, .specifiedRecipientsOnly]
}

/// What participants may do with what is shared.
public struct CKSharingParticipantPermissionOption: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates options from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Read.
    public static let readOnly = CKSharingParticipantPermissionOption(rawValue: 1 << 0)
    /// Read, and save and delete records.
    public static let readWrite = CKSharingParticipantPermissionOption(rawValue: 1 << 1)
    /// Either.
    public static let any: CKSharingParticipantPermissionOption = [.readOnly, .readWrite]
}
