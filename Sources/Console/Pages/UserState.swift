import RecordStore

/// Whether a user gets in, and whether their requests are executed.
enum UserState {
    /// A word in a table.
    static func markup(of user: DirectoryUser) -> Markup {
        switch (user.isRevoked, user.isRestricted) {
        case (false, false): "admitted"
        case (false, true): "<span class=\"deleted\">restricted</span>"
        case (true, false): "<span class=\"deleted\">revoked</span>"
        case (true, true): "<span class=\"deleted\">revoked, restricted</span>"
        }
    }

    /// The same on the page of the user.
    static func badge(of user: DirectoryUser) -> Markup {
        user.isRevoked || user.isRestricted
            ? "<span class=\"state bad\">\(Self.markup(of: user))</span>"
            : "<span class=\"state good\">admitted</span>"
    }
}
