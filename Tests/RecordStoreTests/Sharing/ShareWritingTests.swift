import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// The rows of shares and of their URLs, in memory.
struct ShareWritingTests {
    private let it: SharingRows
    private var transaction: SharingTestTransaction { self.it.transaction }

    init() throws { self.it = try SharingRows() }

    private func token(_ root: String?, for participant: String = "") throws -> String {
        try self.transaction.token(of: root, participant: participant, in: SharingRows.notes)
    }

    private func target(ofToken token: String) throws -> ShareTarget? {
        let transaction = self.transaction
        return try transaction.target(ofToken: token) { (zone) throws(StorageFailure) in
            try transaction.rememberedShares(in: zone)
        }
    }

    private var bytes: Int { self.transaction.zoneBytes[SharingRows.notes] ?? 0 }

    @Test func `a root has one URL for everybody and one for each participant, whenever asked`() throws {
        let share = try self.it.share("root")
        let bytes = self.bytes
        let tokens = [try self.token("root"), try self.token("root", for: "p"), try self.token(nil)]
        #expect(Set(tokens).count == 3 && tokens.allSatisfy { $0.count == 22 })
        #expect(tokens == [try self.token("root"), try self.token("root", for: "p"), try self.token(nil)])
        #expect(
            self.bytes - bytes == 2 * RowBytes.shareToken(of: "root") + RowBytes.shareToken(of: "")
        )
        let place = try #require(try self.target(ofToken: tokens[1]))
        #expect(place.share == share && place.participant == "p" && place.zone == SharingRows.notes)
        #expect(place.zoneName == "notes" && place.ownerName == SharingRows.alice)
        #expect(place.environment == SharingRows.environment)
        #expect(try self.target(ofToken: tokens[2])?.share == nil)
        #expect(try self.target(ofToken: "none") == nil)
    }

    @Test func `one-time URLs go with the share, and the others with the root`() throws {
        let share = try self.it.share("root")
        let everybodys = try self.token("root")
        let oneTime = try self.token("root", for: "p")
        let others = try self.token("root2")
        try self.transaction.deleteShare(share)
        #expect(try self.target(ofToken: oneTime) == nil)
        #expect(try self.target(ofToken: everybodys)?.share == nil)
        #expect(try self.token("root") == everybodys)
        try self.transaction.forgetTokens(of: "root", in: SharingRows.notes)
        #expect(try self.target(ofToken: everybodys) == nil)
        #expect(try self.target(ofToken: others) != nil)
        #expect(self.bytes == RowBytes.shareToken(of: "root2"))
    }

    @Test func `shares of zones end a few at a time, readers counted`() throws {
        let zone = SharingRows.notes
        for number in 0..<5 { try self.it.share("root\(number)") }
        try self.it.join(self.transaction.rememberedShares(in: zone).all[0])
        // Five shares and a reader.
        #expect(try !self.transaction.endSomeShares(of: [zone], max: 6))
        #expect(try self.transaction.endSomeShares(of: [zone, SharingRows.other], max: 3))
        #expect(try self.transaction.rememberedShares(in: zone).all.count == 3)
        #expect(try !self.transaction.endSomeShares(of: [zone], max: 3))
    }

    @Test func `a zone without shares and URLs is read once`() throws {
        let zone = SharingRows.notes
        #expect(try self.transaction.rememberedShares(in: zone).all == [])
        try self.transaction.forgetTokens(of: "a", in: zone)
        let reads = self.transaction.readsCount
        #expect(try self.transaction.rememberedShares(in: zone).all == [])
        try self.transaction.forgetTokens(of: "b", in: zone)
        #expect(self.transaction.readsCount == reads)
        let share = try self.it.share("root")
        #expect(try self.transaction.rememberedShares(in: zone).all == [share])
        let token = try self.token("root")
        try self.transaction.forgetTokens(of: "root", in: zone)
        #expect(try self.token("root") != token)
        try self.transaction.deleteShare(share)
        #expect(try self.transaction.rememberedShares(in: zone).all == [])
    }

    @Test func `a change of rights expires tokens, and of one who reads nothing more none is kept`() throws {
        let share = try self.it.share("root")
        let other = try self.it.share("other")
        func expiry(of reader: DatabaseID = SharingRows.bobsShared) throws -> Int64 {
            try self.transaction.tokensExpiredThrough(in: SharingRows.notes, of: reader)
        }
        #expect(try expiry() == 0)
        try self.it.join(share)
        #expect(try expiry() == 1)
        try self.it.join(other)
        try self.it.join(share, permission: .readWrite)
        #expect(try expiry() == 3)
        try self.it.join(share, by: SharingRows.carolsShared)
        #expect(try expiry() == 3)
        #expect(try expiry(of: SharingRows.carolsShared) == 4)
        // Bob still reads the other share, and Carol nothing.
        try self.transaction.deleteShare(share)
        #expect(try expiry() == 5)
        #expect(try expiry(of: SharingRows.carolsShared) == 0)
        try self.transaction.removeReader(SharingRows.bobsShared, of: other)
        #expect(try expiry() == 0)
        #expect(try self.transaction.count(RowRange(TokenExpiryRow.byKey)) == 0)
        #expect(try self.transaction.count(RowRange(ShareReaderRow.byKey)) == 0)
    }

    @Test func `a share that is deleted leaves its memberships to be removed, and nothing else`() throws {
        let share = try self.it.share("root")
        try self.it.join(share)
        try self.transaction.noteChange(of: share.number)
        try self.transaction.deleteShare(share)
        #expect(self.bytes == 0)
        #expect(try self.transaction.count(RowRange(ShareRow.byKey)) == 0)
        #expect(try self.transaction.count(RowRange(ShareNewsRow.byKey)) == 0)
        #expect(
            try self.transaction.rows(RowRange(ShareRemovalRow.byKey)).map(\.share) == [share.number]
        )
        #expect(try MirrorOutbox(self.transaction).hasRefreshes(of: SharingRows.bobsShared))
        #expect(try self.it.share("root").number != share.number)
    }

    @Test func `the shares of a zone end with the zone`() throws {
        try self.it.join(self.it.share("a"))
        try self.it.join(self.it.share("b"), by: SharingRows.carolsShared)
        try MirrorOutbox(self.transaction).applyAll()
        #expect(try self.it.zones() == [SharingRows.viewName])
        try self.transaction.removeZone(SharingRows.notes, named: "notes", at: 100)
        #expect(try self.transaction.count(RowRange(ShareRow.byKey)) == 0)
        try MirrorOutbox(self.transaction).applyAll()
        #expect(try self.it.zones() == [])
        #expect(try self.it.zones(of: SharingRows.carolsShared) == [])
        #expect(self.transaction.noted.suffix(3).map(\.database.rawValue) == [1, 2, 3])
    }
}
