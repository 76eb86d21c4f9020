extension CKDatabase {
    /// Calls the body with this database, with a configuration and a group for its methods.
    ///
    /// - Parameters:
    ///   - configuration: The settings for the requests of the body; `nil` if those of this
    ///     database.
    ///   - group: The group of these requests; `nil` if that of this database.
    ///   - body: Makes the requests.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: (_ configuredDatabase: CKDatabase) throws -> R
    ) rethrows -> R {
        try body(self.configured(configuration, group))
    }

    /// Calls the body with this database, with a configuration and a group for its methods.
    ///
    /// - Parameters:
    ///   - configuration: The settings for the requests of the body; `nil` if those of this
    ///     database.
    ///   - group: The group of these requests; `nil` if that of this database.
    ///   - body: Makes the requests.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    /// - Source: Apple's `CKDatabase.configuredWith(configuration:group:body:)`.
    @discardableResult
    @preconcurrency
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: @Sendable (_ configuredDatabase: CKDatabase) async throws -> R
    ) async rethrows -> R {
        try await body(self.configured(configuration, group))
    }
}
