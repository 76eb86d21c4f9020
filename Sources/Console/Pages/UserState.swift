import RecordStore

/// Whether a user gets in, and whether their requests are executed.
enum UserState {
    /// A word in a table.
    static func markup(of user: DirectoryUser) -> Markup {
        self.isGood(user) ? self.words(user) : "<span class=\"deleted\">\(self.words(user))</span>"
    }

    /// The same on the page of the user.
    static func badge(of user: DirectoryUser) -> Markup {
        "<span class=\"state \(self.isGood(user) ? "good" : "bad")\">\(self.words(user))</span>"
    }

    private static func isGood(_ user: DirectoryUser) -> Bool { !user.isRevoked && !user.isRestricted }

    private static func words(_ user: DirectoryUser) -> Markup {
        switch (user.isRevoked, user.isRestricted) {
        case (false, false): "admitted"
        case (false, true): "restricted"
        case (true, false): "revoked"
        case (true, true): "revoked, restricted"
        }
    }
}
