import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import RecordStore

/// Tokens as bytes.
struct ChangeTokenTests {
    private static let phases: [ChangeToken.Phase] = [
        .snapshot(.init(order: .creation, position: 0, last: nil, totals: nil)),
        .snapshot(
            .init(
                order: .newestFirst,
                position: .max,
                last: .min,
                totals: SnapshotTotals(records: 5, bytes: UInt64(Int64.max))
            )
        ),
        .feed(after: 0, known: ChangeToken.nothing), .feed(after: .max, known: .min),
    ]

    private static func token(_ phase: ChangeToken.Phase, zone: Int64?) -> ChangeToken {
        ChangeToken(database: DatabaseID(rawValue: .max), epoch: .min, zone: zone, phase: phase)
    }

    @Test(arguments: phases, [nil, 0, Int64.max])
    func `a token comes back as it was`(phase: ChangeToken.Phase, zone: Int64?) throws {
        var token = Self.token(phase, zone: zone)
        for position: Int64 in [7, 3, 1_000_000] { token.ahead.insert(position) }
        let back = try ChangeToken(token.bytes)
        #expect(back.bytes == token.bytes)
        #expect((back.database, back.epoch, back.zone) == (token.database, token.epoch, zone))
        #expect(back.phase == phase)
        for position: Int64 in [7, 3, 1_000_000] { #expect(back.ahead.contains(position)) }
        #expect(!back.ahead.contains(8))
    }

    @Test(arguments: phases)
    func `a token has room for itself however much was sent ahead`(phase: ChangeToken.Phase) throws {
        var token = Self.token(phase, zone: .max)
        for number in 0..<2_000 { token.ahead.insert(number.isMultiple(of: 2) ? .max - Int64(number) : .min) }
        for number in 0..<2_000 { token.ahead.insert(.max / 2_000 * Int64(number)) }
        #expect(token.bytes.count <= ChangeToken.bytesMax)
        let back = try ChangeToken(token.bytes)
        // Those that were sent last are remembered, at least 50 of them.
        for number in 1_950..<2_000 { #expect(back.ahead.contains(.max / 2_000 * Int64(number))) }
        #expect(!back.ahead.contains(.max))
    }

    @Test func `a token for now says what it passed over, and another token is as it was before`() throws {
        var token = Self.token(.feed(after: 9, known: 9), zone: 1)
        let plain = token.bytes
        token.skipped = 7
        #expect(try ChangeToken(token.bytes).skipped == 7)
        #expect(try ChangeToken(token.bytes).phase == token.phase)
        #expect(try ChangeToken(plain).skipped == 0)
        var forged = token
        forged.skipped = .max
        #expect(forged.bytes.count <= ChangeToken.bytesMax)
    }

    @Test func `what had its turn is not remembered`() {
        var ahead = SentAhead()
        for position: Int64 in 1...5 { ahead.insert(position) }
        let removals = [ahead.remove(2), ahead.remove(2)]
        #expect(removals == [true, false])
        ahead.removeAll(through: 3)
        #expect(ahead.gaps == [4, 1])
    }

    @Test func `cut and longer tokens, and those with a byte too many, have expired`() {
        for phase in Self.phases {
            let bytes = Self.token(phase, zone: 1).bytes
            for count in bytes.indices {
                #expect(throws: StoreError.changeTokenExpired) { try ChangeToken(Array(bytes.prefix(count))) }
            }
            #expect(throws: StoreError.changeTokenExpired) { try ChangeToken(bytes + [0]) }
        }
        let long = [UInt8](repeating: 1, count: ChangeToken.bytesMax + 1)
        #expect(throws: StoreError.changeTokenExpired) { try ChangeToken(long) }
    }
}
