package import RecordModel
import StorageContract

/// An index that is being filled with the records that were there before it.
package struct IndexBuild: Hashable, Sendable {
    package var recordType: String
    package var field: String
    /// Records with numbers below it are done; numbers are given in the order of creation, in the whole
    /// store.
    package var nextRecord: Int64
}

extension SchemaStore {
    /// The indexes of an environment that are not complete, by record type and field.
    ///
    /// - Throws: `containerMissing`, `unavailable`.
    package func indexBuilds(
        ofContainer container: String,
        environment: Environment
    ) throws(SchemaStoreError) -> [IndexBuild] {
        try self.read { rows in
            let schema = try ContainerSchemas(container: container, rows: rows).rows(of: environment)
            var builds: [Int64: IndexBuildRow] = [:]
            for row in try rows.rows(RowRange(IndexBuildRow.byKey)) { builds[row.index] = row }
            guard !builds.isEmpty else { return [] }
            var found: [IndexBuild] = []
            for type in try schema.types() {
                let fields = try schema.fields(ofType: type.number).values
                for field in fields.sorted(by: { $0.name < $1.name }) {
                    guard let build = field.index.flatMap({ builds[$0] }) else { continue }
                    found.append(
                        IndexBuild(
                            recordType: type.name,
                            field: field.name,
                            nextRecord: build.nextRecord
                        )
                    )
                }
            }
            return found
        }
    }
}
