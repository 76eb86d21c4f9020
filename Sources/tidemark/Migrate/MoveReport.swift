/// The result of `tidemark migrate`.
struct MoveReport: Encodable, Hashable {
    /// Without passwords.
    var from: String
    var to: String
    var rows: Int
    /// Hashes are missing from a dry run.
    var tables: [Table]
    /// Files that the store names, which did not move.
    var assets: Int
    var assetBytes: Int64
    /// The location at which the moved store is kept.
    var kept: String?
    /// The command that serves the store.
    var serve: String?

    struct Table: Encodable, Hashable {
        var table: String
        var rows: Int
        var sha256: String?
    }

    func text(isDryRun: Bool) -> String {
        let filled = self.tables.filter { $0.rows > 0 }
        let table = Terminal.table(
            header: ["TABLE", "ROWS", "SHA-256"],
            rows: filled.map { [$0.table, "\($0.rows)", $0.sha256.map { String($0.prefix(16)) } ?? "-"] }
        )
        guard !isDryRun else {
            return table
                + "\(self.rows) rows would move from \(self.from) to \(self.to). Nothing was changed.\n"
        }
        var lines = ["Moved \(self.rows) rows from \(self.from) to \(self.to), and compared each."]
        if self.assets > 0 {
            lines.append(
                "The store names \(self.assets) assets of \(self.assetBytes) bytes. Check their files: "
                    + "tidemark assets verify"
            )
        }
        if let kept { lines.append("What has moved is kept: \(kept)") }
        if let serve { lines.append("Start the server with: \(serve)") }
        return table + lines.joined(separator: "\n") + "\n"
    }
}
