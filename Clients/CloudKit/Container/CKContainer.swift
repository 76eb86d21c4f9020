public import Foundation

/// The data of one app: a public database for all users, and a private and a shared one for the
/// signed-in user.
///
/// A container connects at its first request. It uses the connection that it was given, else
/// `CKServerConnection.default`, else the environment's. All containers with the same identifier
/// and connection share one connection to the server.
///
/// - Source: Apple's `CKContainer`.
// SAFETY: its properties are constants, and refer to Sendable values; the queue may be used by
// several threads.
open class CKContainer: NSObject, @unchecked Sendable {
    private static let processDefault: CKContainer = {
        let identifier = ProcessInfo.processInfo.environment[CKServerConnection.Variable.container]
        return CKContainer(access: ServerAccess(identifier: identifier, connection: nil))
    }()

    let access: ServerAccess
    let settings: OperationSettings
    let group: CKOperationGroup?
    private let operations: OperationQueue
    private let databases: (public: CKDatabase, private: CKDatabase, shared: CKDatabase)

    /// The container that the environment names in `TIDEMARK_CONTAINER`; always the same object.
    ///
    /// Without that variable every request to it fails with `badContainer`.
    open class func `default`() -> CKContainer { self.processDefault }

    /// Makes a container with the connection of the process: `CKServerConnection.default`, or the
    /// environment's.
    ///
    /// - Parameter containerIdentifier: Letters, digits, `.`, `-` and `_`, with a letter first, at
    ///   most 255 bytes. With any other identifier every request fails with `badContainer`.
    public required init(identifier containerIdentifier: String) {
        let access = ServerAccess(identifier: containerIdentifier, connection: nil)
        self.access = access
        self.settings = OperationSettings()
        self.group = nil
        self.operations = OperationQueue()
        self.databases = Self.databases(access, OperationSettings(), nil, self.operations)
        super.init()
    }

    /// Makes a container with a connection of its own.
    ///
    /// Beyond Apple's API.
    ///
    /// - Parameters:
    ///   - containerIdentifier: As for `init(identifier:)`.
    ///   - connection: The address of the server, and the credential.
    public convenience init(identifier containerIdentifier: String, connection: CKServerConnection) {
        self.init(access: ServerAccess(identifier: containerIdentifier, connection: connection))
    }

    init(
        access: ServerAccess,
        settings: OperationSettings = OperationSettings(),
        group: CKOperationGroup? = nil
    ) {
        self.access = access
        self.settings = settings
        self.group = group
        self.operations = OperationQueue()
        self.databases = Self.databases(access, settings, group, self.operations)
        super.init()
    }

    private static func databases(
        _ access: ServerAccess,
        _ settings: OperationSettings,
        _ group: CKOperationGroup?,
        _ operations: OperationQueue
    ) -> (public: CKDatabase, private: CKDatabase, shared: CKDatabase) {
        func make(_ scope: CKDatabase.Scope) -> CKDatabase {
            CKDatabase(access: access, scope: scope, settings: settings, group: group, operations: operations)
        }
        return (make(.public), make(.private), make(.shared))
    }

    /// The identifier; `nil` for a default container that the environment does not name.
    open var containerIdentifier: String? { self.access.identifier }

    /// The database that all users can read, and signed-in users can write.
    open var publicCloudDatabase: CKDatabase { self.databases.public }

    /// The database of the signed-in user.
    open var privateCloudDatabase: CKDatabase { self.databases.private }

    /// The records that other users share with the signed-in user.
    open var sharedCloudDatabase: CKDatabase { self.databases.shared }

    /// The database of a scope: the same object as the property's.
    open func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
        switch databaseScope {
        case .public: self.databases.public
        case .private: self.databases.private
        case .shared: self.databases.shared
        }
    }

    /// Executes an operation in this container.
    ///
    /// A database operation uses the private database unless it has another.
    ///
    /// - Parameter operation: An operation that was not added before; the container holds it until
    ///   it has finished.
    open func add(_ operation: CKOperation) {
        operation.configuration.container = self
        self.operations.addOperation(operation)
    }

    // MARK: Account

    /// Finds out whether a user is signed in.
    ///
    /// It connects if there is no connection.
    ///
    /// - Parameter completionHandler: Called once, on a queue of its own, with the status, and with
    ///   the error if it is `couldNotDetermine`; see `accountStatus()`.
    @preconcurrency open func accountStatus(
        completionHandler: @escaping @Sendable (CKAccountStatus, (any Error)?) -> Void
    ) {
        let callbacks = CallbackQueue(name: "CKContainer.accountStatus")
        Task {
            let (status, error) = await self.determinedAccountStatus()
            callbacks.run { completionHandler(status, error) }
        }
    }

    /// Finds out whether a user is signed in.
    ///
    /// It connects if there is no connection.
    ///
    /// - Throws: `CKError` if the status can't be determined: `badContainer` if the container or a
    ///   setting is wrong (change what the text names); `networkFailure` or `networkUnavailable` if
    ///   no server responds for 10 seconds (repeat later).
    open nonisolated(nonsending) func accountStatus() async throws -> CKAccountStatus {
        let (status, error) = await self.determinedAccountStatus()
        if let error { throw error }
        return status
    }

    /// Fetches the ID of the signed-in user's record; see `userRecordID()`.
    ///
    /// - Parameter completionHandler: Called once, on a queue of its own, with the ID or the error.
    @preconcurrency open func fetchUserRecordID(
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        let callbacks = CallbackQueue(name: "CKContainer.fetchUserRecordID")
        Task {
            do {
                let id = try await self.userRecordID()
                callbacks.run { completionHandler(id, nil) }
            } catch {
                callbacks.run { completionHandler(nil, error) }
            }
        }
    }

    /// Returns the ID of the signed-in user's record.
    ///
    /// - Throws: `CKError`: `notAuthenticated` if no user is signed in; `badContainer` if the
    ///   container or a setting is wrong; `networkFailure` or `networkUnavailable` if no server
    ///   responds for 10 seconds (repeat later).
    open nonisolated(nonsending) func userRecordID() async throws -> CKRecord.ID {
        try await self.signedInUserRecordID()
    }

    // MARK: Long-lived operations

    /// Returns the operations that outlived their process: none in this version.
    ///
    /// - Parameter completionHandler: Called once, on a queue of its own, with an empty list and no
    ///   error.
    @preconcurrency open func fetchAllLongLivedOperationIDs(
        completionHandler: @escaping @Sendable ([CKOperation.ID]?, (any Error)?) -> Void
    ) {
        CallbackQueue(name: "CKContainer.fetchAllLongLivedOperationIDs").run { completionHandler([], nil) }
    }

    /// Returns an operation that outlived its process: none in this version.
    ///
    /// - Parameters:
    ///   - operationID: Has no effect.
    ///   - completionHandler: Called once, on a queue of its own, with `nil` and no error.
    @preconcurrency open func fetchLongLivedOperation(
        withID operationID: CKOperation.ID,
        completionHandler: @escaping @Sendable (CKOperation?, (any Error)?) -> Void
    ) {
        CallbackQueue(name: "CKContainer.fetchLongLivedOperation").run { completionHandler(nil, nil) }
    }

    /// Returns the operations that outlived their process: none in this version.
    ///
    /// - Returns: An empty list.
    /// - Throws: Never; the signature is Apple's.
    public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] { [] }

    /// Returns an operation that outlived its process: none in this version.
    ///
    /// - Parameter operationID: Has no effect.
    /// - Returns: `nil`.
    /// - Throws: Never; the signature is Apple's.
    public func longLivedOperation(for operationID: CKOperation.ID) async throws -> CKOperation? { nil }
}
