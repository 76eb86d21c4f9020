extension CKContainer {
    /// Gives the body a container whose databases' methods use a configuration and a group.
    ///
    /// - Parameters:
    ///   - configuration: For what the body asks of the container it is given; `nil`: as this container.
    ///   - group: The group of what the body asks; `nil`: as this container.
    ///   - body: What to do.
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

    /// Gives the body a container whose databases' methods use a configuration and a group.
    ///
    /// - Parameters:
    ///   - configuration: For what the body asks of the container it is given; `nil`: as this container.
    ///   - group: The group of what the body asks; `nil`: as this container.
    ///   - body: What to do.
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
