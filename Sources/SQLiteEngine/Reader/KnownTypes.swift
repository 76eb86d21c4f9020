import StorageContract

/// Record types that reads on one connection used, valid until the next commit.
final class KnownTypes {
    private struct Key: Hashable {
        var environment: EnvironmentID
        var name: String
    }

    private let dataVersion: HotStatement
    private var version: Int64 = -1
    private var types: [Key: StoredType] = [:]

    /// Bounds the memory of a server with many containers.
    private static let typesMax = 1_000

    init(connection: OpaquePointer) throws(StorageFailure) {
        self.dataVersion = try HotStatement("PRAGMA data_version", on: connection)
    }

    /// Returns types in the connection's open snapshot; `nil` for unknown ones.
    func types(
        named names: [String],
        in environment: EnvironmentID,
        from rows: some TableReader
    ) throws(StorageFailure) -> [StoredType?] {
        // Changes with every commit of another connection; this one writes nothing.
        _ = try self.dataVersion.step()
        let version = self.dataVersion.integer(0)
        self.dataVersion.reset()
        if version != self.version || self.types.count >= Self.typesMax {
            self.version = version
            self.types.removeAll(keepingCapacity: true)
        }
        var types: [StoredType?] = []
        types.reserveCapacity(names.count)
        for name in names {
            let key = Key(environment: environment, name: name)
            if let known = self.types[key] {
                types.append(known)
                continue
            }
            let type = try StoredType.types(named: [name], in: environment, from: rows)[0]
            self.types[key] = type
            types.append(type)
        }
        return types
    }
}
