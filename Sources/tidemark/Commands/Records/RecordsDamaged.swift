import Administration
import ArgumentParser
import RecordModel
import StorageContract

struct RecordsDamaged: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "damaged",
        abstract: "List records with stored bytes that cannot be read.",
        discussion: """
            A disk may give other bytes than it took. This reads every record of a \
            database, or of one zone, and prints the zone and the name of each with fields \
            that cannot be read. It exits with 65 if there are any. To check all \
            databases, pages and indexes as well, use tidemark verify. To remove a \
            record, use tidemark records delete; a backup may have it whole. Works while \
            the server runs.

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
                    let found = try await database.damagedRecords(in: zone)
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
}
