import ArgumentParser
import RecordModel
import RecordStore
import Synchronization

struct RecordsDamaged: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "damaged",
        abstract: "List records whose stored bytes cannot be read.",
        discussion: """
            A disk may give other bytes than it took. This reads every record of a \
            database, or of one zone, and prints the zone and the name of each whose \
            fields cannot be read. It exits with 65 if there are any. Changes that leave \
            a field readable are not found. To remove a record, use tidemark records \
            delete; a backup may have it whole. Works while the server runs.

              tidemark records damaged --container iCloud.org.example.app --as alice
              tidemark records damaged --container iCloud.org.example.app \\
                  --database public
            """
    )

    @OptionGroup var options: RecordsOptions<DatabaseName>
    @OptionGroup var zone: ZoneOptions

    @Flag(help: "Print a JSON object with the number of records and those that are damaged.")
    var json = false

    private struct Output: Encodable {
        struct Row: Encodable {
            var zone: String
            var owner: String
            var record: String
        }

        var records: Int
        var damaged: [Row]
    }

    func run() async throws {
        let (read, damaged) = try await self.options.open { database in
            do {
                var (read, damaged) = (0, [RecordID]())
                var zones: [ZoneID] = []
                if let zone = self.zone.id { zones = [zone] } else { zones = try await database.zones() }
                for zone in zones {
                    let found = try await Self.search(zone, of: database)
                    read += found.read
                    damaged += found.damaged
                    if !self.json { for id in found.damaged { Self.print(id) } }
                }
                return (read, damaged)
            } catch let error as StoreError {
                throw RecordAdvice.failure(error, doing: "the records cannot be read")
            }
        }
        if self.json {
            let rows = damaged.map {
                Output.Row(zone: $0.zone.zoneName, owner: $0.zone.ownerName, record: $0.recordName)
            }
            Terminal.write(try JSONText.of(Output(records: read, damaged: rows)))
        } else if damaged.isEmpty {
            Terminal.write("No record of \(read) is damaged.\n")
        }
        guard damaged.isEmpty else {
            throw CommandFailure(.data, "\(damaged.count) of \(read) records are damaged.")
        }
    }

    private static func print(_ id: RecordID) {
        let owner = id.zone.ownerName.isEmpty ? "" : " of \(id.zone.ownerName)"
        Terminal.write("zone \(id.zone.zoneName)\(owner), record \(id.recordName)\n")
    }

    private static func search(
        _ zone: ZoneID,
        of database: AdministeredDatabase
    ) async throws -> (read: Int, damaged: [RecordID]) {
        let search = DamageSearch(zone)
        var read = FeedRead(zone: zone)
        while true {
            let end = try await database.changes(read, into: search)
            search.finishPage()
            guard end.moreComing else { return search.result }
            read.token = end.token
        }
    }
}

/// Looks at the records of a zone as they are stored.
private final class DamageSearch: FeedSink {
    private struct Found {
        var read = 0
        var damaged: [RecordID] = []
    }

    private struct State {
        /// Of the pages before.
        var all = Found()
        /// A page may be read again from its beginning.
        var page = Found()
    }

    private let zone: ZoneID
    private let state = Mutex(State())

    init(_ zone: ZoneID) { self.zone = zone }

    /// Damaged records come like others.
    var readsFields: Bool { false }

    var result: (read: Int, damaged: [RecordID]) {
        self.state.withLock { ($0.all.read, $0.all.damaged) }
    }

    func finishPage() {
        self.state.withLock {
            $0.all.read += $0.page.read
            $0.all.damaged += $0.page.damaged
            $0.page = Found()
        }
    }

    func add(_ record: borrowing LentRecord) {
        let isIntact = record.isIntact
        let name = String(decoding: record.name, as: UTF8.self)
        self.state.withLock {
            $0.page.read += 1
            if !isIntact { $0.page.damaged.append(RecordID(zone: self.zone, recordName: name)) }
        }
    }

    func removeAll() { self.state.withLock { $0.page = Found() } }
    func enter(_ zone: ZoneID) {}
    func add(_ deleted: DeletedRecord) {}
    func add(changed zone: ZoneID) {}
    func add(deleted zone: ZoneID) {}
}
