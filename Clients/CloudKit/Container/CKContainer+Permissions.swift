// Whether users of an app may find each other: Apple has given that up, and a Tidemark server never
// had it.
extension CKContainer {
    /// What an app could ask its user for.
    public struct ApplicationPermissions: OptionSet, Sendable {
        /// The options as bits.
        public let rawValue: UInt

        /// Creates permissions from bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Other users can find this one by an address.
        public static let userDiscoverability = ApplicationPermissions(rawValue: 1 << 0)
    }

    /// The user's response.
    public enum ApplicationPermissionStatus: Int, Sendable {
        /// The user was not asked yet.
        case initialState = 0
        /// The user could not be asked.
        case couldNotComplete = 1
        /// The user has denied the permission.
        case denied = 2
        /// The user has granted the permission.
        case granted = 3
    }

    /// Called with the user's response.
    public typealias ApplicationPermissionBlock = (ApplicationPermissionStatus, (any Error)?) -> Void

    /// Returns the permission of an app: always denied.
    ///
    /// - Parameters:
    ///   - applicationPermission: Has no effect.
    ///   - block: Called once, on a queue of its own, with `denied` and no error.
    @available(*, deprecated, message: "No longer supported. Will always return denied.")
    @preconcurrency public func status(
        forApplicationPermission applicationPermission: ApplicationPermissions,
        completionHandler block: @escaping @Sendable (ApplicationPermissionStatus, (any Error)?) -> Void
    ) {
        CallbackQueue(name: "CKContainer.status").run { block(.denied, nil) }
    }

    /// Asks the user for a permission: always denied.
    ///
    /// - Parameters:
    ///   - applicationPermission: Has no effect.
    ///   - block: Called once, on a queue of its own, with `denied` and no error.
    @available(*, deprecated, message: "No longer supported. Will always return denied.")
    @preconcurrency public func requestApplicationPermission(
        _ applicationPermission: ApplicationPermissions,
        completionHandler block: @escaping @Sendable (ApplicationPermissionStatus, (any Error)?) -> Void
    ) {
        CallbackQueue(name: "CKContainer.requestApplicationPermission").run { block(.denied, nil) }
    }

    /// Returns the permission of an app: always denied.
    ///
    /// - Parameter applicationPermission: Has no effect.
    /// - Returns: `denied`.
    /// - Throws: Never; the signature is Apple's.
    @available(*, deprecated, message: "No longer supported. Will always return denied.")
    public func applicationPermissionStatus(
        for applicationPermission: ApplicationPermissions
    ) async throws -> ApplicationPermissionStatus {
        .denied
    }

    /// Asks the user for a permission: always denied.
    ///
    /// - Parameter applicationPermission: Has no effect.
    /// - Returns: `denied`.
    /// - Throws: Never; the signature is Apple's.
    @available(*, deprecated, message: "No longer supported. Will always return denied.")
    public func requestApplicationPermission(
        _ applicationPermission: ApplicationPermissions
    ) async throws -> ApplicationPermissionStatus {
        .denied
    }

    /// The names of these types before Swift 4.2.
    public enum Application {
        /// See `CKContainer.ApplicationPermissions`.
        @available(*, deprecated, renamed: "CKContainer.ApplicationPermissions")
        public typealias Permissions = CKContainer.ApplicationPermissions
        /// See `CKContainer.ApplicationPermissionStatus`.
        @available(*, deprecated, renamed: "CKContainer.ApplicationPermissionStatus")
        public typealias PermissionStatus = CKContainer.ApplicationPermissionStatus
        /// See `CKContainer.ApplicationPermissionBlock`.
        @available(*, deprecated, renamed: "CKContainer.ApplicationPermissionBlock")
        public typealias PermissionBlock = CKContainer.ApplicationPermissionBlock
    }
}
