package import RecordModel
package import RecordStore

extension AdministeredContainer {
    /// The schema in force in an environment.
    package func schema(of environment: Environment) throws(AdministrationError) -> SchemaDocument {
        try self.store.schemas(self.identifier) { (schemas) throws(SchemaStoreError) in
            try schemas.schema(ofContainer: self.identifier, environment: environment)
        }
    }

    /// Makes a change of the schemas, all of it or nothing, and returns what became different.
    @discardableResult
    package func change(_ change: SchemaChange) throws(AdministrationError) -> SchemaDifference {
        try self.store.schemas(self.identifier) { (schemas) throws(SchemaStoreError) in
            try schemas.apply(change, inContainer: self.identifier)
        }
    }

    /// Says what a change would do, without doing it.
    package func preview(_ change: SchemaChange) throws(AdministrationError) -> SchemaDifference {
        try self.store.schemas(self.identifier) { (schemas) throws(SchemaStoreError) in
            try schemas.preview(change, inContainer: self.identifier)
        }
    }

    /// The changes of a deploy: the difference of development's schema from production's.
    package func undeployed() throws(AdministrationError) -> SchemaDifference {
        SchemaDifference(
            from: try self.schema(of: .production),
            to: try self.schema(of: .development)
        )
    }

    /// The difference of a document from the schema of an environment.
    package func difference(
        of document: SchemaDocument,
        from environment: Environment
    ) throws(AdministrationError) -> SchemaDifference {
        let inForce = try self.schema(of: environment)
        return SchemaDifference(from: inForce, to: SchemaRules.completed(document, from: inForce))
    }
}
