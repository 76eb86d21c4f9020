extension CKContainer {
    /// Calls the body with a container with a configuration and a group for its databases.
    ///
    /// - Parameters:
    ///   - configuration: The settings for the requests of the body; `nil` if those of this
    ///     container.
    ///   - group: The group of these requests; `nil` if that of this container.
    ///   - body: Makes the requests.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: (_ configuredContainer: CKContainer) throws -> R
    ) rethrows -> R {
        try body(self.configured(configuration, group))
    }

    /// Calls the body with a container with a configuration and a group for its databases.
    ///
    /// - Parameters:
    ///   - configuration: The settings for the requests of the body; `nil` if those of this
    ///     container.
    ///   - group: The group of these requests; `nil` if that of this container.
    ///   - body: Makes the requests.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    @discardableResult
    @preconcurrency
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil,
        body: @Sendable (_ configuredContainer: CKContainer) async throws -> R
    ) async rethrows -> R {
        try await body(self.configured(configuration, group))
    }

    private func configured(
        _ configuration: CKOperation.Configuration?,
        _ group: CKOperationGroup?
    ) -> CKContainer {
        CKContainer(
            access: self.access,
            settings: (configuration?.settings ?? OperationSettings()).over(self.settings),
            group: group ?? self.group
        )
    }
}
