// Finding users by an address: Apple has ended it, and a Tidemark server never had it. It is
// declared for published code that names it.
@available(*, deprecated, message: "No longer supported. Will always fail.")
extension CKContainer {
    /// Finds the users in the address book: always fails with `permissionFailure`.
    ///
    /// - Parameter completionHandler: Called once, on a queue of its own, with `permissionFailure`.
    @preconcurrency public func discoverAllIdentities(
        completionHandler: @escaping @Sendable ([CKUserIdentity]?, (any Error)?) -> Void
    ) {
        self.refuse(completionHandler)
    }

    /// Finds the users in the address book, which no server has.
    ///
    /// - Throws: `CKError`: always `permissionFailure`.
    public func allUserIdentitiesFromContacts() async throws -> [CKUserIdentity] {
        throw CKError.notDiscoverable
    }

    /// Finds a user by an e-mail address: always fails with `permissionFailure`.
    ///
    /// - Parameters:
    ///   - email: Has no effect.
    ///   - completionHandler: Called once, on a queue of its own, with `permissionFailure`.
    @preconcurrency public func discoverUserIdentity(
        withEmailAddress email: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        self.refuse(completionHandler)
    }

    /// Finds a user by a phone number: always fails with `permissionFailure`.
    ///
    /// - Parameters:
    ///   - phoneNumber: Has no effect.
    ///   - completionHandler: Called once, on a queue of its own, with `permissionFailure`.
    @preconcurrency public func discoverUserIdentity(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        self.refuse(completionHandler)
    }

    /// Finds a user by a user record: always fails with `permissionFailure`.
    ///
    /// - Parameters:
    ///   - userRecordID: Has no effect.
    ///   - completionHandler: Called once, on a queue of its own, with `permissionFailure`.
    @preconcurrency public func discoverUserIdentity(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        self.refuse(completionHandler)
    }

    /// Finds a user by an e-mail address, which no server does.
    ///
    /// - Parameter email: Has no effect.
    /// - Returns: Nothing: it always throws.
    /// - Throws: `CKError`: always `permissionFailure`.
    public func userIdentity(forEmailAddress email: String) async throws -> CKUserIdentity? {
        throw CKError.notDiscoverable
    }

    /// Finds a user by a phone number, which no server does.
    ///
    /// - Parameter phoneNumber: Has no effect.
    /// - Returns: Nothing: it always throws.
    /// - Throws: `CKError`: always `permissionFailure`.
    public func userIdentity(forPhoneNumber phoneNumber: String) async throws -> CKUserIdentity? {
        throw CKError.notDiscoverable
    }

    /// Finds a user by a user record, which no server does.
    ///
    /// - Parameter userRecordID: Has no effect.
    /// - Returns: Nothing: it always throws.
    /// - Throws: `CKError`: always `permissionFailure`.
    public func userIdentity(forUserRecordID userRecordID: CKRecord.ID) async throws -> CKUserIdentity? {
        throw CKError.notDiscoverable
    }

    /// Finds users by e-mail addresses: always fails with `permissionFailure`.
    ///
    /// - Parameters:
    ///   - emails: Has no effect.
    ///   - completionHandler: Called once, on a queue of its own, with `permissionFailure`.
    @preconcurrency public func discoverUserIdentities(
        forEmailAddresses emails: [String],
        completionHandler: @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
    ) {
        self.refuse(completionHandler)
    }

    /// Finds users by phone numbers: always fails with `permissionFailure`.
    ///
    /// - Parameters:
    ///   - phoneNumbers: Has no effect.
    ///   - completionHandler: Called once, on a queue of its own, with `permissionFailure`.
    @preconcurrency public func discoverUserIdentities(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler: @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
    ) {
        self.refuse(completionHandler)
    }

    /// Finds users by user records: always fails with `permissionFailure`.
    ///
    /// - Parameters:
    ///   - userRecordIDs: Has no effect.
    ///   - completionHandler: Called once, on a queue of its own, with `permissionFailure`.
    @preconcurrency public func discoverUserIdentities(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler: @escaping @Sendable (Result<[CKRecord.ID: CKUserIdentity], any Error>) -> Void
    ) {
        self.refuse(completionHandler)
    }

    /// Finds users by e-mail addresses, which no server does.
    ///
    /// - Parameter emails: Has no effect.
    /// - Returns: Nothing: it always throws.
    /// - Throws: `CKError`: always `permissionFailure`.
    public func userIdentities(forEmailAddresses emails: [String]) async throws -> [String: CKUserIdentity] {
        throw CKError.notDiscoverable
    }

    /// Finds users by phone numbers, which no server does.
    ///
    /// - Parameter phoneNumbers: Has no effect.
    /// - Returns: Nothing: it always throws.
    /// - Throws: `CKError`: always `permissionFailure`.
    public func userIdentities(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: CKUserIdentity] {
        throw CKError.notDiscoverable
    }

    /// Finds users by user records, which no server does.
    ///
    /// - Parameter userRecordIDs: Has no effect.
    /// - Returns: Nothing: it always throws.
    /// - Throws: `CKError`: always `permissionFailure`.
    public func userIdentities(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: CKUserIdentity] {
        throw CKError.notDiscoverable
    }
}

extension CKContainer {
    private func refuse<Value>(_ handler: @escaping @Sendable (Value?, (any Error)?) -> Void) {
        CallbackQueue(name: "CKContainer.discovery").run { handler(nil, CKError.notDiscoverable) }
    }

    private func refuse<Value>(_ handler: @escaping @Sendable (Result<Value, any Error>) -> Void) {
        CallbackQueue(name: "CKContainer.discovery").run { handler(.failure(CKError.notDiscoverable)) }
    }
}

extension CKError {
    /// The error is the same as for the permission, which is always denied.
    static var notDiscoverable: CKError {
        .local(
            .permissionFailure,
            "Users can't be discovered: look up people to invite with CKFetchShareParticipantsOperation"
        )
    }
}
