/// The participants of a share and their permissions: the contents of a share record beside its own
/// fields.
///
/// A share is a record of the type `ShareRecord.type` in the owner's zone. It contains the record
/// `root` with everything that reaches it through parents, or the whole zone.
package struct Share: Hashable, Sendable {
    /// Name of the record that is shared with its descendants; the zone is shared if `nil`.
    package var root: String?
    /// The last part of the URL: who knows it may ask to join.
    package var token: String
    /// What everybody may do who knows the URL; `.none`: only who was invited gets in.
    package var publicPermission: SharePermission
    /// The owner first; a reader other than the owner gets the participants whom they may see.
    package var participants: [ShareParticipant]
    package var allowsAccessRequests: Bool
    /// Users who asked to join, oldest first; empty for readers who may not decide about it.
    package var requesters: [UserIdentity]
    /// Users who may not ask any more; empty for readers who may not decide about it.
    package var blocked: [UserIdentity]
    /// The participant who reads this; empty if the reader is none, and in what is stored.
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

/// Names of what belongs to the system in shared records.
package enum ShareRecord {
    /// Type of the records that are shares.
    package static let type = "cloudkit.share"
    /// Name of the share that covers a zone.
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

/// What a participant may do; the numbers are CloudKit's.
package enum SharePermission: UInt8, Hashable, Sendable {
    case unknown = 0
    case none = 1
    case readOnly = 2
    case readWrite = 3
}

/// What a participant is; the numbers are CloudKit's.
package enum ShareRole: UInt8, Hashable, Sendable {
    case unknown = 0
    case owner = 1
    case administrator = 2
    case privateUser = 3
    case publicUser = 4
}

/// Whether a participant has joined; the numbers are CloudKit's.
package enum ShareAcceptance: UInt8, Hashable, Sendable {
    case unknown = 0
    case pending = 1
    case accepted = 2
    case removed = 3
}

/// Somebody who was invited or has joined.
package struct ShareParticipant: Hashable, Sendable {
    /// Within its share: 1 to 64 printable ASCII characters.
    package var id: String
    package var identity: UserIdentity
    package var role: ShareRole
    package var permission: SharePermission
    package var acceptance: ShareAcceptance
    /// Whether the participant had asked to join.
    package var isApprovedRequester: Bool
    /// When the participant was invited or joined, milliseconds since 1970; 0 if not yet saved.
    package var addedMilliseconds: Int64
    /// The last part of a URL that one person can join with, once; empty: there is none.
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
    /// Empty: nobody knows who it is.
    package var userRecordName: String
    /// How the user was found or invited.
    package var lookup: IdentityLookup?

    package init(userRecordName: String = "", lookup: IdentityLookup? = nil) {
        self.userRecordName = userRecordName
        self.lookup = lookup
    }

    /// Whether both are the same person, as far as can be told.
    package func isSame(as other: UserIdentity) -> Bool {
        if !self.userRecordName.isEmpty, self.userRecordName == other.userRecordName { return true }
        return self.lookup != nil && self.lookup == other.lookup
    }
}

/// By what somebody is looked for.
package enum IdentityLookup: Hashable, Sendable {
    /// Compared without regard to case.
    case emailAddress(String)
    /// Compared by digits and a leading `+`.
    case phoneNumber(String)
    case userRecordName(String)
}

/// A share as somebody sees it who knows its URL.
package struct ShareMetadata: Hashable, Sendable {
    package var container: String
    package var share: Record
    /// Name of the root; the zone is shared if `nil`.
    package var rootRecordName: String?
    /// The root, if it was asked for and the requester may read it.
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
