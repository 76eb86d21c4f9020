import RecordStore

/// Error texts for the directory's errors.
enum DirectoryAdvice {
    static func failure(_ error: DirectoryError, container: String, user: String?) -> CommandFailure {
        let user = user ?? ""
        switch error {
        case .containerExists:
            return CommandFailure(.data, "the container \(container) exists already.")
        case .containerMissing:
            return CommandFailure(
                .data,
                "there is no container \(container). Create it: tidemark container create \(container)"
            )
        case .containerNameInvalid:
            return CommandFailure(
                .usage,
                "'\(container)' cannot be a container's name: a letter, then letters, digits, '.', '-' and '_', "
                    + "at most 255 bytes."
            )
        case .userExists:
            return CommandFailure(
                .data,
                "the user \(user) exists already in \(container). "
                    + "For a new token: tidemark user renew \(user) --container \(container)"
            )
        case .userMissing:
            return CommandFailure(
                .data,
                "there is no user \(user) in \(container). "
                    + "List them: tidemark user list --container \(container)"
            )
        case .userNameInvalid:
            return CommandFailure(
                .usage,
                "'\(user)' cannot be a user's name: 1 to 255 printable ASCII characters, the first not '_'."
            )
        case .userRevoked, .userIsService, .keyExists, .keyMissing, .tooManyKeys:
            return self.credentialFailure(error, container: container, user: user)
        case .contactTaken:
            return CommandFailure(
                .data,
                "an address or number of these is another user's. "
                    + "Who has which: tidemark user list --container \(container)"
            )
        case .tokenUnknown, .tokenExpired:
            return CommandFailure(.data, "the access token is unknown or was revoked.")
        case .unavailable:
            return CommandFailure(
                .unavailable,
                "the store cannot be read or written now. Check for a full disk or wrong owners of its files, and try again."
            )
        }
    }

    /// Texts for errors of tokens and keys.
    private static func credentialFailure(
        _ error: DirectoryError,
        container: String,
        user: String
    ) -> CommandFailure {
        switch error {
        case .userRevoked:
            return CommandFailure(
                .data,
                "\(user) was revoked and has no token to rotate. "
                    + "To let the user in again: tidemark user renew \(user) --container \(container)"
            )
        case .userIsService:
            return CommandFailure(
                .data,
                "\(user) is a service, which has keys and no tokens: tidemark key --help"
            )
        case .keyExists:
            return CommandFailure(
                .data,
                "this key is or was registered in \(container) already. Make another."
            )
        case .keyMissing:
            return CommandFailure(
                .data,
                "\(user) has no such valid key. "
                    + "List them: tidemark key list --container \(container)"
            )
        case .tooManyKeys:
            return CommandFailure(
                .data,
                "\(user) has 16 keys, and no service may have more. "
                    + "Revoke one: tidemark key revoke \(user) --container \(container) --key-id ID"
            )
        default: return CommandFailure(.data, "\(error)")
        }
    }

    // MARK: Services

    static func failure(
        _ error: DirectoryError,
        service name: String,
        container: String
    ) -> CommandFailure {
        switch error {
        case .userExists:
            CommandFailure(
                .data,
                "\(name) is a user of \(container), and cannot be a service too. Choose another name."
            )
        case .userMissing:
            CommandFailure(
                .data,
                "there is no service \(name) in \(container). "
                    + "List them: tidemark key list --container \(container)"
            )
        default: self.failure(error, container: container, user: name)
        }
    }

    /// The failure for users of a key who are not all there.
    static func failure(missing users: [String], container: String) -> CommandFailure {
        CommandFailure(
            .data,
            (users.count == 1
                ? "\(users[0]) is not a user of \(container). "
                : "\(users.joined(separator: ", ")) are not all users of \(container). ")
                + "List them: tidemark user list --container \(container)"
        )
    }
}
