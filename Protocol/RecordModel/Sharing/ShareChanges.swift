/// The changes of a share's participants that come with a save of its record.
///
/// Absent parts stay as they are.
package struct ShareChanges: Hashable, Sendable {
    /// The root of a new share, or `nil` for the share of a zone.
    ///
    /// Ignored if the share exists.
    package var root: String?
    package var publicPermission: SharePermission?
    package var allowsAccessRequests: Bool?
    /// Invited participants, and participants with a role or permission that changes, by ID.
    package var participants: [ShareParticipant]
    /// IDs of participants.
    package var removed: [String]
    /// User record names of users with a request to join that is declined.
    package var denied: [String]
    /// User record names of users who must not ask again.
    package var blocked: [String]
    /// User record names of users who may ask again.
    package var unblocked: [String]

    package init(root: String? = nil) {
        self.root = root
        self.participants = []
        self.removed = []
        self.denied = []
        self.blocked = []
        self.unblocked = []
    }
}

/// Whether the saved record is a share, and the changes of its participants.
///
/// One word in size, because few records are shares.
package enum ShareSave: Hashable, Sendable {
    case none
    indirect case changes(ShareChanges)
}

/// Joins shares by the tokens of their URLs.
///
/// Items are numbered as `tokens`.
package struct AcceptShares: Hashable, Sendable {
    package var tokens: [String]

    package init(tokens: [String]) { self.tokens = tokens }
}

/// Fetches the metadata of shares by their URLs.
///
/// Items are numbered as `tokens`.
package struct FetchShareMetadata: Hashable, Sendable {
    package var tokens: [String]
    /// Whether the response includes the root records.
    package var wantsRootRecords: Bool
    /// Fields of the roots; `nil` for all fields, an empty list for none.
    package var desiredKeys: [String]?

    package init(tokens: [String], wantsRootRecords: Bool = false, desiredKeys: [String]? = nil) {
        self.tokens = tokens
        self.wantsRootRecords = wantsRootRecords
        self.desiredKeys = desiredKeys
    }
}

/// Finds users to invite.
///
/// Items are numbered as `lookups`.
package struct FetchShareParticipants: Hashable, Sendable {
    package var lookups: [IdentityLookup]

    package init(lookups: [IdentityLookup]) { self.lookups = lookups }
}

/// Asks the owners of shares for access.
///
/// Items are numbered as `tokens`.
package struct RequestShareAccess: Hashable, Sendable {
    package var tokens: [String]

    package init(tokens: [String]) { self.tokens = tokens }
}
