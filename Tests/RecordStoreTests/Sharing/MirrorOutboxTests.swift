import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// How shared databases follow what happens in the zones that they show.
struct MirrorOutboxTests {
    private let it: SharingRows
    private var transaction: SharingTestTransaction { self.it.transaction }
    private var outbox: MirrorOutbox { MirrorOutbox(self.transaction) }

    init() throws { self.it = try SharingRows() }

    private func view(of reader: DatabaseID = SharingRows.bobsShared) throws -> ZoneRow? {
        try self.transaction.row(ZoneRow.byKey, reader, SharingRows.viewName)
    }

    private var kinds: [CommittedChange.Kind] { self.transaction.noted.map(\.kind) }

    @Test func `a zone comes with the first share that is joined and goes with the last`() throws {
        let share = try self.it.share("root")
        try self.it.join(share)
        #expect(try self.it.zones() == [], "the reader's database follows later")
        try self.outbox.applyAll()
        let view = try #require(try self.view())
        #expect(view.targetDatabase == SharingRows.notes.database)
        #expect(view.targetZone == SharingRows.notes.number)
        #expect(view.number == 1 && view.position == 1)
        #expect(
            self.transaction.databaseBytes[SharingRows.bobsShared]
                == RowBytes.zone(named: SharingRows.viewName)
        )
        // A second time there is nothing to apply.
        #expect(try !self.outbox.apply(max: 1))
        #expect(self.transaction.noted.count == 1)
        try self.it.join(share, permission: .readWrite)
        try self.outbox.applyAll()
        #expect(try self.view()?.position == 2)
        try self.transaction.removeReader(SharingRows.bobsShared, of: share)
        #expect(try self.view() != nil)
        try self.outbox.applyAll()
        #expect(try self.view() == nil)
        #expect(
            self.kinds == [
                .zoneCreated(SharingRows.viewName), .zoneChanged(SharingRows.viewName),
                .zoneDeleted(SharingRows.viewName),
            ]
        )
    }

    @Test func `what one connection did is told as its own, and what several did as nobody's`() throws {
        let share = try self.it.share("root")
        let first = SharingRows.connection(1)
        self.transaction.origin = first
        try self.it.join(share)
        try self.it.join(share, by: SharingRows.carolsShared)
        self.transaction.origin = SharingRows.connection(2)
        try self.it.join(share, by: SharingRows.carolsShared, permission: .readWrite)
        try self.outbox.applyAll()
        #expect(self.transaction.noted.map(\.origin) == [first, nil])
        #expect(self.transaction.origin == SharingRows.connection(2), "as it was before")
        self.transaction.origin = first
        try self.transaction.noteChange(of: share.number)
        try self.transaction.noteChange(of: share.number)
        try self.outbox.applyAll()
        #expect(self.transaction.noted.suffix(2).map(\.origin) == [first, first])
        for connection in [1, 2, 1] as [UInt64] {
            self.transaction.origin = SharingRows.connection(connection)
            try self.transaction.noteChange(of: share.number)
        }
        try self.outbox.applyAll()
        #expect(self.transaction.noted.suffix(2).map(\.origin) == [nil, nil])
    }

    @Test func `news is written once, and anew after it was applied`() throws {
        let share = try self.it.share("root")
        try self.it.join(share)
        try self.outbox.applyAll()
        try self.transaction.noteChange(of: share.number)
        let reads = self.transaction.readsCount
        try self.transaction.noteChange(of: share.number)
        #expect(self.transaction.readsCount == reads)
        try self.outbox.applyAll()
        try self.transaction.noteChange(of: share.number)
        #expect(try self.transaction.count(RowRange(ShareNewsRow.byKey)) == 1)
        try self.outbox.applyAll()
        #expect(try self.view()?.position == 3)
    }

    @Test func `a step applies so many refreshes in the order of readers, and so much news`() throws {
        let shares = try ["a", "b", "c"].map { try self.it.share($0) }
        try self.it.join(shares[0], by: SharingRows.carolsShared)
        try self.it.join(shares[0])
        for share in shares { try self.transaction.noteChange(of: share.number) }
        #expect(try self.outbox.apply(max: 1))
        #expect(try self.it.zones() == [SharingRows.viewName])
        #expect(try !self.outbox.hasRefreshes(of: SharingRows.bobsShared))
        #expect(try self.outbox.hasRefreshes(of: SharingRows.carolsShared))
        let news = try self.transaction.rows(RowRange(ShareNewsRow.byKey)).map(\.share)
        #expect(news == shares.dropFirst().map(\.number))
        #expect(try self.outbox.apply(max: 2))
        #expect(try !self.outbox.apply(max: 2))
    }

    @Test func `the refreshes of one reader are applied alone, and the news of all readers together`() throws
    {
        let share = try self.it.share("root")
        try self.it.join(share)
        try self.it.join(share, by: SharingRows.carolsShared)
        try self.outbox.applyRefreshes(of: SharingRows.bobsShared)
        #expect(try self.view() != nil)
        #expect(try self.view(of: SharingRows.carolsShared) == nil)
        try self.outbox.applyAll()
        try self.transaction.noteChange(of: share.number)
        try self.outbox.applyAll()
        #expect(try self.view()?.position == 2)
        #expect(try self.view(of: SharingRows.carolsShared)?.position == 2)
    }

    @Test func `entries of what is gone go as well`() throws {
        let share = try self.it.share("root")
        try self.it.join(share)
        try self.transaction.put(ShareNewsRow(share: ShareNumber(rawValue: 77), origin: nil))
        try self.transaction.delete(
            ZoneRow(database: SharingRows.alicesPrivate, name: "notes", number: 7)
        )
        try self.outbox.applyAll()
        #expect(try self.it.zones() == [])
        #expect(try self.transaction.count(RowRange(ShareNewsRow.byKey)) == 0)
        #expect(try self.transaction.count(RowRange(ViewRefreshRow.byKey)) == 0)
    }

    @Test func `a step waits until 20 milliseconds after the last one, unless it is alone`() throws {
        var pace = ViewPace()
        let share = try self.it.share("root")
        try self.it.join(share)
        #expect(try !pace.step(isAlone: false, in: self.transaction))
        #expect(try self.view()?.position == 1)
        try self.transaction.noteChange(of: share.number)
        self.transaction.nowMilliseconds += 19
        #expect(pace.milliseconds(untilStepFrom: self.transaction.nowMilliseconds) == 1)
        #expect(try pace.step(isAlone: false, in: self.transaction))
        #expect(try self.view()?.position == 1)
        #expect(try !pace.step(isAlone: true, in: self.transaction))
        #expect(try self.view()?.position == 2)
        try self.transaction.noteChange(of: share.number)
        #expect(pace.milliseconds(untilStepFrom: self.transaction.nowMilliseconds) == 20)
        self.transaction.nowMilliseconds += 20
        #expect(pace.milliseconds(untilStepFrom: self.transaction.nowMilliseconds) == 0)
        #expect(try !pace.step(isAlone: false, in: self.transaction))
        #expect(try self.view()?.position == 3)
    }

    @Test func `a step waits for nothing after the clock was set back`() throws {
        var pace = ViewPace()
        let share = try self.it.share("root")
        try self.it.join(share)
        #expect(try !pace.step(isAlone: false, in: self.transaction))
        try self.transaction.noteChange(of: share.number)
        self.transaction.nowMilliseconds -= 1
        #expect(pace.milliseconds(untilStepFrom: self.transaction.nowMilliseconds) == 0)
        #expect(try !pace.step(isAlone: false, in: self.transaction))
        #expect(try self.view()?.position == 2)
    }

    @Test func `entries that a step leaves wait for nothing when nothing else is to be done`() throws {
        var pace = ViewPace()
        for number in 0..<21 {
            try self.transaction.noteChange(of: try self.it.share("root \(number)").number)
        }
        #expect(try pace.step(isAlone: false, in: self.transaction))
        #expect(pace.milliseconds(untilStepFrom: self.transaction.nowMilliseconds) == 0)
        #expect(try !pace.step(isAlone: true, in: self.transaction))
        #expect(try self.transaction.count(RowRange(ShareNewsRow.byKey)) == 0)
        #expect(pace.milliseconds(untilStepFrom: self.transaction.nowMilliseconds) == 20)
    }
}
