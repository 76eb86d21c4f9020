import CloudKit

/// Loads ISO 3166, countries and their subdivisions, into a private database.
///
/// The codes come from Debian's package `iso-codes`. The program uses CloudKit alone, so it runs on
/// Apple's systems and on Linux. On Linux the server and the account come from `TIDEMARK_URL`,
/// `TIDEMARK_TOKEN` and `TIDEMARK_CA`.
@main
struct ISOCodesService {
    static let containerIdentifier = "iCloud.org.example.iso-codes"

    private let database: CKDatabase
    private let zone = CKRecordZone(zoneName: "ISO3166")

    static func main() async {
        do {
            let container = CKContainer(identifier: Self.containerIdentifier)
            guard try await container.accountStatus() == .available else {
                throw Failure("Not signed in. Set TIDEMARK_TOKEN to a user's access token.")
            }
            let service = ISOCodesService(database: container.privateCloudDatabase)
            let arguments = CommandLine.arguments.dropFirst()
            if let code = arguments.last, arguments.count == 2, arguments.first == "visit" {
                try await Visit(database: service.database).run(to: service.recordID(code))
            } else if let path = arguments.last, arguments.count == 2, arguments.first == "file" {
                try await FileDemonstration(database: service.database).run(on: path)
            } else if arguments.isEmpty {
                try await service.run()
            } else {
                throw Failure("usage: iso-codes-service [visit CODE | file PATH]")
            }
        } catch let error as Failure {
            Self.fail(error.description)
        } catch {
            Self.fail("\(error)")
        }
    }

    private init(database: CKDatabase) {
        self.database = database
    }

    private func run() async throws {
        let codes = try ISOCodes.load()
        _ = try await self.database.modifyRecordZones(saving: [self.zone], deleting: [])
        try await self.save(codes.countryRecords(in: self.zone.zoneID), title: "Countries   ")
        // Subdivisions come after countries: a parent must exist, or be in the same request.
        try await self.save(codes.subdivisionRecords(in: self.zone.zoneID), title: "Subdivisions")
        try await self.showSome()
        try await QueryDemonstration(database: self.database, zoneID: self.zone.zoneID).run()
        try await ConflictDemonstration(database: self.database).run(on: self.recordID("FR"))
        try await self.deleteOne()
    }

    private func save(_ records: [CKRecord], title: String) async throws {
        let progress = ProgressBar(title: title, total: records.count)
        let saver = BatchSaver(database: self.database)
        for start in stride(from: 0, to: records.count, by: BatchSaver.batchRecordsMax) {
            let end = min(start + BatchSaver.batchRecordsMax, records.count)
            try await saver.save(Array(records[start..<end])) { progress.advance(by: $0) }
        }
        progress.finish()
    }

    /// Fetches a few records, with only the fields that are shown.
    private func showSome() async throws {
        let recordIDs = ["FR", "DE-BY", "JP-13", "BR-SP"].map(self.recordID)
        let results = try await self.database.records(for: recordIDs, desiredKeys: ["name", "kind"])
        print("Fetched back, with the fields name and kind:")
        for recordID in recordIDs {
            guard let record = try results[recordID]?.get() else { continue }
            let name = record["name"] as? String ?? "?"
            let kind = record["kind"] as? String ?? "?"
            print("  \(recordID.recordName)  \(name) (\(kind)), fields \(record.allKeys().sorted())")
        }
    }

    private func deleteOne() async throws {
        let recordID = self.recordID("AQ")
        _ = try await self.database.deleteRecord(withID: recordID)
        do {
            _ = try await self.database.record(for: recordID)
            throw Failure("Antarctica was deleted and is still there.")
        } catch let error as CKError where error.code == .unknownItem {
            print("Deleted AQ, Antarctica: fetching it answers unknownItem.")
        }
    }

    private func recordID(_ code: String) -> CKRecord.ID {
        CKRecord.ID(recordName: code, zoneID: self.zone.zoneID)
    }

    private static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data("iso-codes-service: \(message)\n".utf8))
        exit(1)
    }
}

/// The error with which the service gives up, for its user.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
