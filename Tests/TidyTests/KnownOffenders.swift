/// Offences that were in the tree when their rule came, by target, or by file for documents.
///
/// This list only shrinks. A test fails if there are more offences than it says, and also if there are
/// fewer, so that a repair takes its row along. Nobody adds a row or raises a count.
enum KnownOffenders {
    struct Row {
        let rule: String
        let path: String
        let count: Int

        init(_ rule: String, _ path: String, _ count: Int) {
            self.rule = rule
            self.path = path
            self.count = count
        }
    }

    static let rows: [Row] = [
        Row("comment stumble", "Protocol/RecordModel", 10),
        Row("comment stumble", "Protocol/Transport", 9),
        Row("comment stumble", "Protocol/WireProtocol", 10),
        Row("comment stumble", "Sources/AccessTokens", 1),
        Row("comment stumble", "Sources/AssetStorage", 3),
        Row("comment stumble", "Sources/AssetStore", 4),
        Row("comment stumble", "Sources/Console", 59),
        Row("comment stumble", "Sources/EngineThreads", 12),
        Row("comment stumble", "Sources/FileIO", 1),
        Row("comment stumble", "Sources/MonitoringEndpoint", 3),
        Row("comment stumble", "Sources/PostgreSQLEngine", 79),
        Row("comment stumble", "Sources/RecordJSON", 6),
        Row("comment stumble", "Sources/RecordServer", 148),
        Row("comment stumble", "Sources/RecordStore", 308),
        Row("comment stumble", "Sources/SQLiteEngine", 94),
        Row("comment stumble", "Sources/ServerCertificates", 3),
        Row("comment stumble", "Sources/ZoneBundles", 7),
        Row("comment stumble", "Sources/tidemark", 65),
    ]
}
