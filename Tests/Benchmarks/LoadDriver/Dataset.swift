import RecordClient
import RecordModel
import WireProtocol

/// What is in the database before a measurement; `PostgreSQL/schema.sql` makes the same.
///
/// One zone of 100,000 records with scattered names, and 16 zones of 6,250 records whose names ascend.
enum Dataset {
    static let sharedRecords = 100_000
    static let ownZones = 16
    static let ownRecords = 6_250

    static let sharedZone = ZoneID(zoneName: "shared")

    static func ownZone(_ number: Int) -> ZoneID { ZoneID(zoneName: "own\(number)") }

    static func scattered(_ number: Int) -> RecordID {
        let hash = UInt64(number) * 2_654_435_761 & 0xFFFF_FFFF
        return RecordID(
            zone: self.sharedZone,
            recordName: self.padded(String(hash, radix: 16), 8) + "-0000-4000-8000-"
                + self.padded(String(number, radix: 16), 12)
        )
    }

    static func owned(_ number: Int, zone: Int) -> RecordID {
        RecordID(zone: self.ownZone(zone), recordName: "r" + self.padded(String(number), 35))
    }

    private static func padded(_ digits: String, _ length: Int) -> String {
        String(repeating: "0", count: length - digits.utf8.count) + digits
    }

    static let bodyBytes = 500

    /// Encoded once: the peer's driver does not make its bodies anew either.
    static let body: RecordBody = {
        func body(payloadBytes: Int) -> RecordBody {
            RecordBody([
                Field(name: "title", value: .string("The quick brown fox jumps over the lazy dog")),
                Field(name: "count", value: .int64(1_234_567)),
                Field(name: "price", value: .double(12.5)),
                Field(name: "when", value: .timestamp(780_000_000)),
                Field(name: "tags", value: .stringList(["red", "green", "blue"])),
                Field(name: "payload", value: .bytes([UInt8](repeating: 0x78, count: payloadBytes))),
            ])
        }
        // 300 bytes of payload are long enough for the lengths of the lengths to be those of the result.
        let body = body(payloadBytes: 300 + Dataset.bodyBytes - body(payloadBytes: 300).bytes.count)
        precondition(body.bytes.count == Dataset.bodyBytes)
        return body
    }()

    static func save(_ ids: [RecordID]) -> Operation {
        let saves = ids.map { RecordSave(id: $0, recordType: "Item", changes: self.body) }
        return .modifyRecords(ModifyRecords(scope: .private, saves: saves, policy: .changedKeys))
    }

    /// Creates the zones and fills them, in parts of what a request may hold, over all clients.
    static func load(_ clients: [RecordClient]) async throws {
        let zones = [self.sharedZone] + (0..<self.ownZones).map { self.ownZone($0) }
        try await self.perform(.modifyZones(ModifyZones(scope: .private, saves: zones)), clients[0])
        let own = (0..<self.ownZones).flatMap { zone in
            (0..<self.ownRecords).map { self.owned($0, zone: zone) }
        }
        let ids = (0..<self.sharedRecords).map { self.scattered($0) } + own
        let parts = stride(from: 0, to: ids.count, by: Workload.load.recordsPerRequest).map {
            ids[$0..<min($0 + Workload.load.recordsPerRequest, ids.count)]
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, client) in clients.enumerated() {
                let share = stride(from: number, to: parts.count, by: clients.count).map { parts[$0] }
                group.addTask {
                    for part in share { try await self.perform(self.save(Array(part)), client) }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func perform(_ operation: Operation, _ client: RecordClient) async throws {
        for outcome in try await client.perform(operation, timeout: .seconds(60)).values {
            if case .failure(let failure) = outcome { throw failure }
        }
    }
}
