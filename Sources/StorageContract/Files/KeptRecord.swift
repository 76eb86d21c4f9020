/// A record as an engine keeps it, with which the same record of a copy is compared.
package struct KeptRecord: Hashable, Sendable {
    /// The maximum number of faults listed of a store: a damaged one may have one for each row.
    package static let faultsMax = 10

    package var key: RecordKey
    package var name: String
    /// The position of its last change: if two copies have the same, they are equal.
    package var position: Int64
    /// Everything else but the body, in an order of the engine.
    package var columns: [Int64]
    package var parent: String?
    package var body: [UInt8]

    package init(
        key: RecordKey,
        name: String,
        position: Int64,
        columns: [Int64],
        parent: String?,
        body: [UInt8]
    ) {
        self.key = key
        self.name = name
        self.position = position
        self.columns = columns
        self.parent = parent
        self.body = body
    }
}
