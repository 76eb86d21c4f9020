/// The participants of a share and their permissions: the contents of a share record beside its own
/// fields.
///
/// A share is a record of the type `ShareRecord.type` in the owner's zone. Its members are the
/// record `root` and all its descendants by parent, or the whole zone.
package struct Share: Hashable, Sendable {
    /// Name of the record that is shared with its descendants, or `nil` if the zone is shared.
    package var root: String?
    /// The last part of the URL.
    ///
    /// Users who know it may ask to join.
    package var token: String
    /// The permission of users who know the URL.
    ///
    /// With `.none`, only invited users may join.
    package var publicPermission: SharePermission
    /// The owner comes first.
    ///
    /// For other requesters, the participants that they may see.
    package var participants: [ShareParticipant]
    package var allowsAccessRequests: Bool
    /// Users who asked to join, oldest first.
    ///
    /// Empty for requesters who may not decide about it.
    package var requesters: [UserIdentity]
    /// Users who may not ask again.
    ///
    /// Empty for requesters who may not decide about it.
    package var blocked: [UserIdentity]
    /// The participant who reads this.
    ///
    /// Empty for other readers, and in a stored share.
    package var currentParticipantID: String

    package init(
        root: String?,
        token: String = "",
        publicPermission: SharePermission = .none,
        participants: [ShareParticipant] = []
    ) {
        self.root = root
        self.token = token
        self.publicPermission = publicPermission
        self.participants = participants
        self.allowsAccessRequests = false
        self.requesters = []
        self.blocked = []
        self.currentParticipantID = ""
    }
}

/// Names that belong to the system in shared records.
package enum ShareRecord {
    /// Type of share records.
    package static let type = "cloudkit.share"
    /// Name of the share of a whole zone.
    package static let zoneWideName = "cloudkit.zoneshare"
    /// Field of a root: a reference to its share.
    package static let referenceField = "___share"
    /// Field of a share: an encoded `Share`.
    package static let contentsField = "___sharing"

    /// Whether only the server writes a field of this name.
    package static func isField(_ name: String) -> Bool {
        name == self.referenceField || name == self.contentsField
    }
}

/// The permission of a participant.
///
/// The numbers are CloudKit's.
package enum SharePermission: UInt8, Hashable, Sendable {
    case unknown = 0
    case none = 1
    case readOnly = 2
    case readWrite = 3
}

/// The role of a participant.
///
/// The numbers are CloudKit's.
package enum ShareRole: UInt8, Hashable, Sendable {
    case unknown = 0
    case owner = 1
    case administrator = 2
    case privateUser = 3
    case publicUser = 4
}

/// Whether a participant has joined.
///
/// The numbers are CloudKit's.
package enum ShareAcceptance: UInt8, Hashable, Sendable {
    case unknown = 0
    case pending = 1
    case accepted = 2
    case removed = 3
}

/// A user who was invited or has joined.
package struct ShareParticipant: Hashable, Sendable {
    /// Within its share: 1 to 64 printable ASCII characters.
    package var id: String
    package var identity: UserIdentity
    package var role: ShareRole
    package var permission: SharePermission
    package var acceptance: ShareAcceptance
    /// Whether they had asked to join.
    package var isApprovedRequester: Bool
    /// When they were invited or joined, in milliseconds since 1970; 0 if not saved yet.
    package var addedMilliseconds: Int64
    /// The last part of a URL with which one person can join, once.
    ///
    /// Empty if there is none.
    package var oneTimeToken: String

    package init(
        id: String,
        identity: UserIdentity,
        role: ShareRole = .privateUser,
        permission: SharePermission = .readOnly,
        acceptance: ShareAcceptance = .pending
    ) {
        self.id = id
        self.identity = identity
        self.role = role
        self.permission = permission
        self.acceptance = acceptance
        self.isApprovedRequester = false
        self.addedMilliseconds = 0
        self.oneTimeToken = ""
    }
}

/// A user, as far as the requester may know them.
package struct UserIdentity: Hashable, Sendable {
    /// Empty if unknown.
    package var userRecordName: String
    /// The address or name by which they were found or invited.
    package var lookup: IdentityLookup?

    package init(userRecordName: String = "", lookup: IdentityLookup? = nil) {
        self.userRecordName = userRecordName
        self.lookup = lookup
    }

    /// Whether both are known to be the same person.
    package func isSame(as other: UserIdentity) -> Bool {
        if !self.userRecordName.isEmpty, self.userRecordName == other.userRecordName { return true }
        return self.lookup != nil && self.lookup == other.lookup
    }
}

/// A key for finding a user.
package enum IdentityLookup: Hashable, Sendable {
    /// Case-insensitive.
    case emailAddress(String)
    /// Compared by digits and a leading `+`.
    case phoneNumber(String)
    case userRecordName(String)
}

/// A share as shown to users who know its URL.
package struct ShareMetadata: Hashable, Sendable {
    package var container: String
    package var share: Record
    /// Name of the root, or `nil` if the zone is shared.
    package var rootRecordName: String?
    /// The root, if it was asked for and the user may read it.
    package var rootRecord: Record?
    package var role: ShareRole
    package var acceptance: ShareAcceptance
    package var permission: SharePermission
    package var owner: UserIdentity

    package init(
        container: String,
        share: Record,
        rootRecordName: String?,
        rootRecord: Record? = nil,
        role: ShareRole,
        acceptance: ShareAcceptance,
        permission: SharePermission,
        owner: UserIdentity
    ) {
        self.container = container
        self.share = share
        self.rootRecordName = rootRecordName
        self.rootRecord = rootRecord
        self.role = role
        self.acceptance = acceptance
        self.permission = permission
        self.owner = owner
    }
}
