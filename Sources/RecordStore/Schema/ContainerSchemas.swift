import RecordModel
import StorageContract

/// Both schemas of a container, and the roles of its users.
struct ContainerSchemas {
    let container: Int64
    let rows: any IndexReader

    /// - Throws: `containerMissing`.
    init(container: String, rows: any IndexReader) throws {
        guard let row = try rows.row(ContainerRow.byIdentifier, container) else {
            throw SchemaStoreError.containerMissing
        }
        self.container = row.number
        self.rows = rows
    }

    func rows(of environment: Environment) throws -> SchemaRows {
        guard let row = try self.rows.row(EnvironmentRow.byContainer, self.container, environment) else {
            throw SchemaStoreError.containerMissing
        }
        return SchemaRows(environment: row.number, rows: self.rows)
    }

    /// The effect of a change.
    ///
    /// - Throws: `SchemaStoreError` if it may not be made.
    func plan(_ change: SchemaChange) throws -> SchemaPlan {
        let plan = try SchemaRules.plan(
            change,
            development: self.rows(of: .development).document(),
            production: self.rows(of: .production).document()
        )
        let schema = try self.rows(of: plan.environment)
        let inUse = try plan.losses.filter { try schema.hasRecords(ofType: $0.recordType) }
        guard inUse.isEmpty else { throw SchemaStoreError.inUse(inUse) }
        return plan
    }

    func user(named name: String) throws -> UserNumber {
        guard let row = try self.rows.row(UserRow.byName, self.container, name) else {
            throw SchemaStoreError.userMissing
        }
        return row.number
    }

    func role(named name: String, in environment: Environment) throws -> Int64 {
        let environment = try self.rows(of: environment).environment
        guard let row = try self.rows.row(RoleRow.byName, environment, name) else {
            throw SchemaStoreError.roleMissing
        }
        return row.number
    }

    /// The custom roles of a user in one environment, by name.
    func roles(of user: UserNumber, in environment: Environment) throws -> [String] {
        let environment = try self.rows(of: environment).environment
        return try self.rows.roles(of: user, in: environment)
            .sorted { ColumnValue.text($0) < .text($1) }
    }
}
