public import Foundation
internal import RecordModel

/// The sharing options that an app passes to the sharing dialogue of Apple's systems.
///
/// There is no such dialogue here: this stores what is set, and nothing reads it.
///
/// Instances are not synchronised: use one from one task at a time.
///
/// - Source: Apple's `CKAllowedSharingOptions`.
open class CKAllowedSharingOptions: NSObject, NSSecureCoding, NSCopying {
    /// The permissions that participants may be given.
    open var allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption
    /// The people who may take part.
    open var allowedParticipantAccessOptions: CKSharingParticipantAccessOption
    /// Whether participants may be allowed to invite others.
    open var allowsParticipantsToInviteOthers: Bool = false
    /// Whether people may be allowed to request access.
    open var allowsAccessRequests: Bool = false

    /// Stores options, which nothing reads here.
    ///
    /// - Parameters:
    ///   - allowedParticipantPermissionOptions: The permissions that participants may be given.
    ///   - allowedParticipantAccessOptions: The people who may take part.
    public init(
        allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption,
        allowedParticipantAccessOptions: CKSharingParticipantAccessOption
    ) {
        self.allowedParticipantPermissionOptions = allowedParticipantPermissionOptions
        self.allowedParticipantAccessOptions = allowedParticipantAccessOptions
        super.init()
    }

    /// Options that allow everything.
    open class var standard: CKAllowedSharingOptions {
        CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: .any,
            allowedParticipantAccessOptions: .any
        )
    }

    /// Reads archived options; `nil` if the archive has none.
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

    /// Writes the options into an archive; equal contents give equal bytes.
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

    /// Always `true`: options can be read where secure coding is required.
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

// SAFETY: as in Apple's class, callers must not change an instance from two threads at once.
extension CKAllowedSharingOptions: @unchecked Sendable {}

/// The people who may take part in a share.
///
/// - Source: Apple's `CKSharingParticipantAccessOption`.
public struct CKSharingParticipantAccessOption: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt

    /// Creates options from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// All users who know the URL.
    public static let anyoneWithLink = CKSharingParticipantAccessOption(rawValue: 1 << 0)
    /// Invited people.
    public static let specifiedRecipientsOnly = CKSharingParticipantAccessOption(rawValue: 1 << 1)
    /// Either.
    public static let any: CKSharingParticipantAccessOption = [.anyoneWithLink, .specifiedRecipientsOnly]
}

/// The permissions that participants may have.
///
/// - Source: Apple's `CKSharingParticipantPermissionOption`.
public struct CKSharingParticipantPermissionOption: OptionSet, Sendable {
    /// The options as bits.
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
