import RecordStore

extension TestServer {
    /// Puts a schema in place of development's, as `tidemark schema import` does.
    ///
    /// The container is created when it is new.
    ///
    /// - Parameters:
    ///   - schema: In the CloudKit Schema Language.
    ///   - identifier: Of which container.
    /// - Throws: What is wrong with the text, with line and column; or that data would be lost.
    public func importSchema(
        _ schema: String,
        identifier: String = TestServer.defaultContainerIdentifier
    ) async throws {
        let document = try SchemaParser.parse(schema)
        try await self.change(.replaceDevelopment(document), identifier: identifier)
    }

    /// Gives production the schema of development, as `tidemark schema deploy` does.
    ///
    /// The container is created when it is new.
    ///
    /// - Parameter identifier: Of which container.
    /// - Throws: That something of production would be lost.
    public func deploySchema(identifier: String = TestServer.defaultContainerIdentifier) async throws {
        try await self.change(.deploy, identifier: identifier)
    }

    private func change(_ change: SchemaChange, identifier: String) async throws {
        _ = try await self.connection(for: nil, identifier: identifier)
        let schemas = try self.store().schemas
        try await TestAccounts.onThread { try schemas.apply(change, inContainer: identifier) }
    }
}
