package import RecordJSON
package import RecordModel
import RecordStore

/// Writes the records of zones, one zone after the other.
package struct ExportRun {
    private let database: AdministeredDatabase
    private let type: String?
    private let assets: AssetsBeside?
    private let write: ([UInt8]) throws -> Void
    private let dates: DateForm
    private var progress: Progress
    package private(set) var records = 0

    /// Makes an export that has not begun.
    ///
    /// `type` is that of the records; `nil` for all. `write` gets each record as a line without its
    /// end, `showProgress` how many bytes of bodies are read, and how many there are about.
    package init(
        database: AdministeredDatabase,
        type: String?,
        assets: AssetsBeside?,
        dates: DateForm,
        showProgress: @escaping @Sendable (Int64, Int64) -> Void,
        write: @escaping ([UInt8]) throws -> Void
    ) {
        self.database = database
        self.type = type
        self.assets = assets
        self.progress = Progress(showProgress)
        self.write = write
        self.dates = dates
    }

    /// Writes the records of a zone, or of all.
    package mutating func run(_ zone: ZoneID?) async throws {
        if let zone { return try await self.write(zone) }
        for zone in try await self.database.zones() { try await self.write(zone) }
    }

    private mutating func write(_ zone: ZoneID) async throws {
        var read = FeedRead(zone: zone)
        var isFirst = true
        while true {
            let (page, end) = try await self.database.changes(read)
            if isFirst {
                let bytes = Int64(clamping: end.totals?.bytes ?? 0)
                self.progress.extend(to: self.progress.total + bytes)
            }
            isFirst = false
            for record in page.records { try await self.write(record) }
            guard end.moreComing else { return }
            read.token = end.token
        }
    }

    private mutating func write(_ record: Record) async throws {
        self.progress.add(record.body.bytes.count)
        guard self.type == nil || self.type == record.recordType else { return }
        // A record that has changed meanwhile comes again.
        if let assets, try await !assets.copyOut(record) { return }
        try self.write(RecordJSON.text(of: record, dates: self.dates))
        self.records += 1
    }
}
