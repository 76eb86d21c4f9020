import Foundation
import RecordClient
import RecordModel
import WireProtocol

/// Two zones of the same records: one is shared as a whole with 99 other users, and one is not.
enum SharedZones {
    static let recordsPerZone = 5_000
    static let recordCount = 2 * recordsPerZone
    static let zones = [ZoneID(zoneName: "with-others"), ZoneID(zoneName: "alone")]

    static func id(_ number: Int, isShared: Bool) -> RecordID {
        RecordID(zone: Self.zones[isShared ? 0 : 1], recordName: Dataset.scatteredName(number))
    }

    static func record(_ number: Int) -> RecordSave {
        let (zone, record) = number.quotientAndRemainder(dividingBy: self.recordsPerZone)
        return Items.save(self.id(record, isShared: zone == 0))
    }

    /// Shares the zone, and lets each user join that has a token in a file, one per line.
    static func share(
        by owner: RecordClient,
        withTokensIn file: String,
        _ connect: (String) -> RecordClient
    ) async throws {
        let id = RecordID(zone: self.zones[0], recordName: ShareRecord.zoneWideName)
        var save = RecordSave(id: id, recordType: ShareRecord.type, changes: .empty)
        var changes = ShareChanges()
        changes.publicPermission = .readWrite
        save.share = .changes(changes)
        try await Dataset.perform(Dataset.save([save]), owner)
        let fetched = try await owner.perform(
            .fetchRecords(FetchRecords(scope: .private, ids: [id])),
            timeout: .seconds(10)
        )
        guard case .record(let message)? = fetched[0],
            case .bytes(let bytes)? = try message.record().body.fields
                .first(where: { $0.name == ShareRecord.contentsField })?.value
        else { throw LoadFailure(.failed, "the zone was shared, but its share is missing") }
        let token = try Share(decoding: bytes).token
        for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
            let client = connect(String(line))
            try await Dataset.perform(.acceptShares(AcceptShares(tokens: [token])), client)
            await client.shutdown()
        }
    }
}
