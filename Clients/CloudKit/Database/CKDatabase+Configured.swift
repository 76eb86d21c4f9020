extension CKDatabase {
    /// Gives the body this database with a configuration and a group for its methods.
    ///
    /// - Parameters:
    ///   - configuration: For what the body asks of the database it is given; `nil`: as this database.
    ///   - group: The group of what the body asks; `nil`: as this database.
    ///   - body: What to do.
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

    /// Gives the body this database with a configuration and a group for its methods.
    ///
    /// - Parameters:
    ///   - configuration: For what the body asks of the database it is given; `nil`: as this database.
    ///   - group: The group of what the body asks; `nil`: as this database.
    ///   - body: What to do.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
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
