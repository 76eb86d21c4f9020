import GRDB

/// A record type whose name is empty, which earlier versions let the first save of a request declare.
///
/// No schema can be imported that has it, and nobody can save a record of it. With a name it is a
/// type like others.
enum NamelessType {
    /// What such a type is called from the next start on, in each environment.
    private static let name = "TypeWithoutName"

    /// Gives the type a name wherever it is; a number is added where another type is called so.
    ///
    /// One search of an index for each environment; nothing is written where there is no such type.
    static func rename(_ database: Database) throws {
        let types = try Int64.fetchAll(
            database,
            sql: """
                SELECT record_type.number FROM environment
                JOIN record_type ON record_type.environment = environment.number AND record_type.name = ''
                """
        )
        for type in types {
            try database.execute(
                sql: """
                    UPDATE record_type SET name = CASE WHEN EXISTS (
                        SELECT 1 FROM record_type AS other
                        WHERE other.environment = record_type.environment AND other.name = ?1
                    ) THEN ?1 || '_' || number ELSE ?1 END WHERE number = ?2
                    """,
                arguments: [self.name, type]
            )
        }
    }
}
