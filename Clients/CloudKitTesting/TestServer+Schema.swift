import RecordStore

extension TestServer {
    /// Replaces the schema of development, as `tidemark schema import` does.
    ///
    /// The container is created if it is new.
    ///
    /// - Parameters:
    ///   - schema: The schema, in the CloudKit Schema Language.
    ///   - identifier: The identifier of the container.
    /// - Throws: If the text has a fault, with line and column, or if data would be lost.
    public func importSchema(
        _ schema: String,
        identifier: String = TestServer.defaultContainerIdentifier
    ) async throws {
        let document = try SchemaParser.parse(schema)
        try await self.change(.replaceDevelopment(document), identifier: identifier)
    }

    /// Deploys the schema of development to production, as `tidemark schema deploy` does.
    ///
    /// The container is created if it is new.
    ///
    /// - Parameter identifier: The identifier of the container.
    /// - Throws: If data of production would be lost.
    public func deploySchema(identifier: String = TestServer.defaultContainerIdentifier) async throws {
        try await self.change(.deploy, identifier: identifier)
    }

    private func change(_ change: SchemaChange, identifier: String) async throws {
        _ = try await self.connection(for: nil, identifier: identifier)
        let schemas = try self.store().schemas
        try await TestAccounts.onThread { try schemas.apply(change, inContainer: identifier) }
    }
}
