import RecordClient
import RecordModel
import WireProtocol

/// One zone of 100,000 records, each saved once, and tokens at 2,000 positions in its feed.
enum Changes {
    static let recordCount = 100_000 / Dataset.divisor
    static let recordsPerPage = 200
    /// Records from one token to the next.
    private static let recordsPerToken = 50

    static let zone = ZoneID(zoneName: "changes")
    static func record(_ number: Int) -> RecordSave {
        Items.save(RecordID(zone: self.zone, recordName: Dataset.scatteredName(number)))
    }

    static func page(after token: [UInt8], limit: Int = recordsPerPage) -> Operation {
        .fetchChanges(FetchChanges(scope: .private, zone: self.zone, token: token, limit: UInt32(limit)))
    }

    // MARK: Tokens

    /// A record with the tokens, because a measurement runs in another process than the load.
    private static let tokensID = RecordID(
        zone: ZoneID(zoneName: "tokens"),
        recordName: "changes"
    )
    static var zones: [ZoneID] { [self.zone, self.tokensID.zone] }

    /// Reads the feed from its start to its end, and stores the tokens on the way.
    static func keepTokens(from start: [UInt8], _ client: RecordClient) async throws {
        // A whole page follows each token.
        let count = (self.recordCount - self.recordsPerPage) / self.recordsPerToken + 1
        var tokens = [start]
        while tokens.count < count {
            let end = try await client.end(
                of: self.page(after: tokens[tokens.count - 1], limit: self.recordsPerToken),
                timeout: .seconds(60)
            )
            tokens.append(end.token)
        }
        let field = Field(name: "tokens", value: .bytesList(tokens))
        let save = RecordSave(id: self.tokensID, recordType: "Tokens", changes: RecordBody([field]))
        try await Dataset.perform(Dataset.save([save]), client)
    }

    static func tokens(_ client: RecordClient) async throws -> [[UInt8]] {
        let fetch = Operation.fetchRecords(FetchRecords(scope: .private, ids: [self.tokensID]))
        if case .record(let message) = try await client.perform(fetch, timeout: .seconds(60))[0],
            case .bytesList(let tokens) = try message.record().body.fields.first?.value
        {
            return tokens
        }
        throw LoadFailure(
            .failed,
            "the tokens of the zone of changes are missing: use --prepare changes first"
        )
    }
}
