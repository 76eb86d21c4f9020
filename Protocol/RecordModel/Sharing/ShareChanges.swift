/// What the save of a share record changes of who takes part; what is absent stays as it is.
package struct ShareChanges: Hashable, Sendable {
    /// The root of a share that is made; `nil` for the share of a zone, and of no account when the
    /// share is there.
    package var root: String?
    package var publicPermission: SharePermission?
    package var allowsAccessRequests: Bool?
    /// Participants who are invited, and those whose role or permission changes, by ID.
    package var participants: [ShareParticipant]
    /// IDs of participants.
    package var removed: [String]
    /// User record names of those who asked and get no answer.
    package var denied: [String]
    /// The same, who may not ask again.
    package var blocked: [String]
    /// Those who may ask again.
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

/// Whether the save of a record is that of a share.
///
/// One word, because few records are.
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

/// Asks what the URLs of shares lead to.
///
/// Items are numbered as `tokens`.
package struct FetchShareMetadata: Hashable, Sendable {
    package var tokens: [String]
    /// Whether roots are wanted too.
    package var wantsRootRecords: Bool
    /// For the roots: all fields if `nil`, none if empty.
    package var desiredKeys: [String]?

    package init(tokens: [String], wantsRootRecords: Bool = false, desiredKeys: [String]? = nil) {
        self.tokens = tokens
        self.wantsRootRecords = wantsRootRecords
        self.desiredKeys = desiredKeys
    }
}

/// Looks for people to invite.
///
/// Items are numbered as `lookups`.
package struct FetchShareParticipants: Hashable, Sendable {
    package var lookups: [IdentityLookup]

    package init(lookups: [IdentityLookup]) { self.lookups = lookups }
}

/// Asks the owners of shares to be let in.
///
/// Items are numbered as `tokens`.
package struct RequestShareAccess: Hashable, Sendable {
    package var tokens: [String]

    package init(tokens: [String]) { self.tokens = tokens }
}
