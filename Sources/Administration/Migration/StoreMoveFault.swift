package import StorageContract

/// Why the rows of a store were not copied, or not all of them.
package enum StoreMoveFault: Error, Hashable, Sendable {
    /// A table of the source cannot be read.
    case cannotRead(String, StorageFailure)
    /// Rows of a table cannot be written to the target, or read there.
    case cannotCopy(String, StorageFailure)
    /// A row of a table, with this key, is another one in the target.
    case differs(String, key: String)

    /// Reads rows of the source.
    package static func reading<Value>(
        _ table: Table,
        _ body: () throws(StorageFailure) -> Value
    ) throws(StoreMoveFault) -> Value {
        do throws(StorageFailure) { return try body() } catch { throw .cannotRead(table.name, error) }
    }

    /// Reads or writes rows of the target.
    static func writing<Value>(
        _ table: Table,
        _ body: () throws(StorageFailure) -> Value
    ) throws(StoreMoveFault) -> Value {
        do throws(StorageFailure) { return try body() } catch { throw .cannotCopy(table.name, error) }
    }
}
