import RecordStore

/// Record types that queries on one connection asked for, as long as nobody has written since.
final class KnownTypes {
    private struct Key: Hashable {
        var environment: EnvironmentID
        var name: String
    }

    private let dataVersion: HotStatement
    private var version: Int64 = -1
    private var types: [Key: QueryableType] = [:]

    /// A server of many containers must not keep them all.
    private static let typesMax = 1_000

    init(connection: OpaquePointer) throws(StorageFailure) {
        self.dataVersion = try HotStatement("PRAGMA data_version", on: connection)
    }

    /// The type in the snapshot that the connection has open; `nil`: there is none.
    func type(
        named name: String,
        in environment: EnvironmentID,
        _ read: () throws(StorageFailure) -> QueryableType?
    ) throws(StorageFailure) -> QueryableType? {
        // Changes with every commit of another connection, and this one writes nothing.
        _ = try self.dataVersion.step()
        let version = self.dataVersion.integer(0)
        self.dataVersion.reset()
        if version != self.version || self.types.count >= Self.typesMax {
            self.version = version
            self.types.removeAll(keepingCapacity: true)
        }
        let key = Key(environment: environment, name: name)
        if let known = self.types[key] { return known }
        guard let type = try read() else { return nil }
        self.types[key] = type
        return type
    }
}
