import GRDB
import RecordModel
import RecordStore

/// Schemas and roles in their tables.
///
/// As the directory does: reads on a connection of their own, nothing kept in memory, changes in a transaction of the writer. The
/// writer of another process notices them through `data_version`.
struct SQLiteSchemas: SchemaStore {
    let writer: WriteQueue
    let reader: DatabaseQueue

    func schema(
        ofContainer container: String,
        environment: Environment
    ) throws(SchemaStoreError) -> SchemaDocument {
        try self.read { database in
            try Self.schema(environment, of: Self.number(ofContainer: container, database), database).document
        }
    }

    func preview(
        _ change: SchemaChange,
        inContainer container: String
    ) throws(SchemaStoreError) -> SchemaDifference {
        try self.read { try Self.plan(change, inContainer: container, $0).plan.difference }
    }

    @discardableResult
    func apply(
        _ change: SchemaChange,
        inContainer container: String
    ) throws(SchemaStoreError) -> SchemaDifference {
        try self.write { transaction, database in
            let (plan, rows) = try Self.plan(change, inContainer: container, database)
            if plan.dropsData { try rows.dropData(transaction) }
            try rows.write(plan.new, transaction)
            return plan.difference
        }
    }

    /// What a change does to which rows.
    ///
    /// - Throws: `SchemaStoreError` when it may not be done.
    private static func plan(
        _ change: SchemaChange,
        inContainer container: String,
        _ database: Database
    ) throws -> (plan: SchemaPlan, rows: SchemaRows) {
        let container = try self.number(ofContainer: container, database)
        let development = try self.schema(.development, of: container, database)
        let production = try self.schema(.production, of: container, database)
        let plan = try SchemaRules.plan(
            change,
            development: development.document,
            production: production.document
        )
        let rows = plan.environment == .development ? development.rows : production.rows
        let inUse = try plan.losses.filter { try rows.hasRecords(ofType: $0.recordType) }
        guard inUse.isEmpty else { throw SchemaStoreError.inUse(inUse) }
        return (plan, rows)
    }

    private static func schema(
        _ environment: Environment,
        of container: Int64,
        _ database: Database
    ) throws -> (document: SchemaDocument, rows: SchemaRows) {
        let number = try self.number(of: environment, ofContainer: container, database)
        let rows = SchemaRows(environment: number, database: database)
        return (SchemaRules.completed(try rows.document(), from: SchemaDocument()), rows)
    }

    static func number(ofContainer identifier: String, _ database: Database) throws -> Int64 {
        let number = try Int64.fetchOne(
            database,
            sql: "SELECT number FROM container WHERE identifier = ?",
            arguments: [identifier]
        )
        guard let number else { throw SchemaStoreError.containerMissing }
        return number
    }

    static func number(
        of environment: Environment,
        ofContainer container: Int64,
        _ database: Database
    ) throws -> EnvironmentID {
        let number = try Int64.fetchOne(
            database,
            sql: "SELECT number FROM environment WHERE container = ? AND kind = ?",
            arguments: [container, Int64(environment.rawValue)]
        )
        guard let number else { throw SchemaStoreError.containerMissing }
        return EnvironmentID(rawValue: number)
    }

    func read<Value>(_ read: (Database) throws -> Value) throws(SchemaStoreError) -> Value {
        do {
            // One snapshot for all that is read.
            return try self.reader.read(read)
        } catch let error as SchemaStoreError {
            throw error
        } catch {
            throw .unavailable
        }
    }

    /// Runs in a transaction of the writer and waits until it is on disk.
    func write<Value: Sendable>(
        _ work: @escaping @Sendable (WriterTransaction, Database) throws -> Value
    ) throws(SchemaStoreError) -> Value {
        let outcome = Rendezvous<Result<Value, any Error>>()
        let value = Rendezvous<Value>()
        let job = WriteQueue.Administration {
            value.fill(try work($0, $1))
        } reply: { error in
            outcome.fill(error.map { .failure($0) } ?? .success(value.wait()))
        }
        guard case .admitted = self.writer.add(job) else { throw .unavailable }
        switch outcome.wait() {
        case .success(let value): return value
        case .failure(let error): throw error as? SchemaStoreError ?? .unavailable
        }
    }
}
