import RecordClient
import RecordModel

/// Two zones with the same 100,000 records: one is as it was loaded, the other went through
/// 1,000,000 overwrites and deletions.
enum History: String, CaseIterable {
    case fresh
    case worn

    static let livingCount = 100_000 / Dataset.divisor
    /// A third of the worn zone's records is deleted.
    private static let createdCount = livingCount / 2 * 3
    private static let overwriteCount = 1_000_000 / Dataset.divisor - (createdCount - livingCount)
    static let recordCount = livingCount + createdCount

    var zone: ZoneID { ZoneID(zoneName: self.rawValue) }

    /// A record by its number; those of the fresh zone come first.
    static func record(_ number: Int) -> RecordSave {
        guard number >= self.livingCount else {
            return Items.save(self.fresh.id(3 * (number / 2) + number % 2))
        }
        return Items.save(self.worn.id(number - self.livingCount))
    }

    private func id(_ number: Int) -> RecordID {
        RecordID(zone: self.zone, recordName: Dataset.scatteredName(number))
    }

    /// Overwrites records at random over all clients, then deletes every third.
    static func wear(_ clients: [RecordClient]) async throws {
        try await Dataset.inParts(self.overwriteCount, clients) { part in
            // The step is coprime to the count, so no record comes twice.
            var generator = SplitMix64(seed: UInt64(part.lowerBound))
            let first = Int.random(in: 0..<self.createdCount, using: &generator)
            let step = 30 * Int.random(in: 0..<5_000, using: &generator) + 7
            return Dataset.save(
                part.indices.map { Items.save(self.worn.id((first + $0 * step) % self.createdCount)) }
            )
        }
        try await Dataset.inParts(self.createdCount - self.livingCount, clients) { part in
            .modifyRecords(
                ModifyRecords(scope: .private, saves: [], deletes: part.map { self.worn.id(3 * $0 + 2) })
            )
        }
    }

    func page(after token: [UInt8]) -> Operation {
        .fetchChanges(FetchChanges(scope: .private, zone: self.zone, token: token, limit: 1_000))
    }
}
