package import RecordModel
package import StorageContract

/// The schemas of containers, and the roles of their users: rules over the rows of an engine.
///
/// Calls block, as those of `Directory`: they are the command line's and the tests', never for an
/// event loop. A server that serves the same files minds a change with its next transaction.
package struct SchemaStore: Sendable {
    private let engine: any StorageEngine

    package init(engine: any StorageEngine) { self.engine = engine }

    /// The schema in force, user records included.
    ///
    /// - Throws: `containerMissing`, `unavailable`.
    package func schema(
        ofContainer container: String,
        environment: Environment
    ) throws(SchemaStoreError) -> SchemaDocument {
        try self.read { rows in
            try ContainerSchemas(container: container, rows: rows).rows(of: environment).document()
        }
    }

    /// Reports the effects of a change, without making it.
    ///
    /// - Throws: The error that `apply` would throw.
    package func preview(
        _ change: SchemaChange,
        inContainer container: String
    ) throws(SchemaStoreError) -> SchemaDifference {
        try self.read { rows in
            try ContainerSchemas(container: container, rows: rows).plan(change).difference
        }
    }

    /// Makes a change, all of it or nothing, and returns what became different.
    ///
    /// - Order: saves before it were validated by the old schema, saves after it by the new one.
    /// - Durability: returns after the commit is on disk. Contents that a reset drops can't be seen any
    ///   more; their space is given back later, in pieces. An index on a field that records have is
    ///   complete some time later.
    /// - Throws: `contradictsProduction`, `beyondLimits`, `inUse`, `containerMissing`, `unavailable`.
    @discardableResult
    package func apply(
        _ change: SchemaChange,
        inContainer container: String
    ) throws(SchemaStoreError) -> SchemaDifference {
        try self.write { transaction in
            let schemas = try ContainerSchemas(container: container, rows: transaction)
            let plan = try schemas.plan(change)
            let environment = try schemas.rows(of: plan.environment).environment
            if plan.dropsData {
                try SchemaReset(environment: environment, transaction: transaction).dropData()
            }
            try SchemaWriting(environment: environment, rows: transaction).write(plan.new)
            return plan.difference
        }
    }

    /// Gives a user a custom role, or takes it away, in one environment.
    ///
    /// It counts from the next request on, on connections that are open as well. Doing it twice
    /// does nothing.
    ///
    /// - Throws: `containerMissing`, `userMissing`, `roleMissing`, `unavailable`.
    package func setRole(
        _ role: String,
        ofUser user: String,
        isGiven: Bool,
        inContainer container: String,
        environment: Environment
    ) throws(SchemaStoreError) {
        try self.write { transaction in
            let schemas = try ContainerSchemas(container: container, rows: transaction)
            let row = UserRoleRow(
                user: try schemas.user(named: user),
                role: try schemas.role(named: role, in: environment)
            )
            if isGiven { try transaction.put(row) } else { try transaction.delete(row) }
        }
    }

    /// The custom roles of a user, by name.
    ///
    /// - Throws: `containerMissing`, `userMissing`, `unavailable`.
    package func roles(
        ofUser user: String,
        inContainer container: String,
        environment: Environment
    ) throws(SchemaStoreError) -> [String] {
        try self.read { rows in
            let schemas = try ContainerSchemas(container: container, rows: rows)
            return try schemas.roles(of: schemas.user(named: user), in: environment)
        }
    }

    func read<Value>(_ read: (any IndexReader) throws -> Value) throws(SchemaStoreError) -> Value {
        do {
            return try self.engine.readTables(read)
        } catch let error as SchemaStoreError {
            throw error
        } catch {
            throw .unavailable
        }
    }

    /// Runs in a transaction of its own, and waits until that is on disk.
    private func write<Value: Sendable>(
        _ work: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) throws(SchemaStoreError) -> Value {
        do {
            return try self.engine.administer(work)
        } catch let error as SchemaStoreError {
            throw error
        } catch {
            throw .unavailable
        }
    }
}

package enum SchemaStoreError: Error, Hashable, Sendable {
    case containerMissing
    case userMissing
    /// The schema of the environment has no such role.
    case roleMissing
    /// Data of production would be lost.
    case contradictsProduction([SchemaLoss])
    /// An import or a deploy would make more of something than there may be.
    case beyondLimits([SchemaExcess])
    /// Data of development would be lost: there are records of these types.
    case inUse([SchemaLoss])
    /// The database cannot be read or written now.
    case unavailable
}
