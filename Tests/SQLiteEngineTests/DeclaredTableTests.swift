import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// The tables that the store declares, as they stand in a file of SQLite.
struct DeclaredTableTests {
    @Test(arguments: Table.all.map(\.name))
    func `a declared table has the columns and indexes of the file`(name: String) async throws {
        let it = try EngineUnderTest(.sqlite)
        let other = OtherProcess(folder: it.folder)
        let table = try #require(Table.all.first { $0.name == name })
        let columns = try await other.execute(
            """
            SELECT name || ' ' || type || CASE WHEN "notnull" OR pk THEN '' ELSE ' optional' END
            FROM pragma_table_info('\(name)') ORDER BY cid
            """
        )
        #expect(Set(columns) == Set(table.columns.map(\.declaration)))
        let key = try await other.execute(
            "SELECT name FROM pragma_table_info('\(name)') WHERE pk ORDER BY pk"
        )
        #expect(key == table.key.columns.map { table.columns[$0].name })
        let indexes = try await other.execute(
            """
            SELECT "unique" || ' ' || (SELECT group_concat(name, ', ') FROM (
                SELECT name FROM pragma_index_info(list.name) ORDER BY seqno))
            FROM pragma_index_list('\(name)') AS list
            """
        )
        for index in table.indexes.dropFirst() {
            let names = index.columns.map { table.columns[$0].name }.joined(separator: ", ")
            #expect(indexes.contains("\(index.isUnique ? 1 : 0) \(names)"))
        }
        await it.store.shutdown()
    }
}

extension Table.Column {
    /// The column as the test's query shows it.
    fileprivate var declaration: String {
        let type =
            switch self.kind {
            case .integer: "INTEGER"
            case .text: "TEXT"
            case .bytes: "BLOB"
            }
        return "\(self.name) \(type)\(self.isOptional ? " optional" : "")"
    }
}
