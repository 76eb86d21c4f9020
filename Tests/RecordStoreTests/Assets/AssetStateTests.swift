import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// Rows of assets and uploads, and how long they stay.
struct AssetStateTests {
    private let database = MemoryUsage.database
    private let one = MemoryUsage.file(1)

    @Test func `an upload counts from its beginning, and no more when it goes`() throws {
        let it = try MemoryUsage(owner: 1)
        let number = try it.upload(self.one, isComplete: false)
        let amount = StoredAmount(
            records: 0,
            recordBytes: 0,
            assets: 1,
            assetBytes: 100,
            rowBytes: Int64(RowBytes.asset(100))
        )
        #expect(it.counted[self.database] == amount)
        #expect(try it.completeUpload(number))
        #expect(try it.completeUpload(number))
        #expect(it.counted[self.database] == amount)
        #expect(try it.asset(self.one, in: self.database) == number)
        #expect(try it.due(since: it.nowMilliseconds) == [])
        it.nowMilliseconds += 1
        #expect(try it.due(since: it.nowMilliseconds) == [number])
        #expect(it.counted[self.database] == StoredAmount())
        #expect(try it.asset(self.one, in: self.database) == nil)
        #expect(try !it.completeUpload(number))
        try it.forgetAsset(number)
        #expect(try it.state(number) == nil)
    }

    @Test func `the grace time begins with the last byte, and anew with the last use`() throws {
        let it = try MemoryUsage(owner: 1)
        let number = try it.upload(self.one)
        try it.addUse(of: number, by: MemoryUsage.record(1))
        try it.addUse(of: number, by: MemoryUsage.record(2))
        it.nowMilliseconds += 1_000
        #expect(try it.due(since: it.nowMilliseconds) == [])
        try it.removeUse(of: number, by: MemoryUsage.record(1))
        it.nowMilliseconds += 1
        #expect(try it.due(since: it.nowMilliseconds) == [])
        let last = it.nowMilliseconds
        try it.removeUses(by: MemoryUsage.record(2))
        it.nowMilliseconds += 10
        #expect(try it.due(since: last - 1) == [])
        try it.renew(number)
        it.nowMilliseconds += 1
        #expect(try it.due(since: last) == [])
        #expect(try it.due(since: last + 10) == [number])
        #expect(it.zoneRowBytes[MemoryUsage.zone] == 0)
    }

    @Test func `the use that is there already is not counted twice`() throws {
        let it = try MemoryUsage(owner: 1)
        let number = try it.upload(self.one)
        for _ in 0..<2 { try it.addUse(of: number, by: MemoryUsage.record(1)) }
        #expect(it.zoneRowBytes[MemoryUsage.zone] == RowBytes.assetUse)
        // A record that names nothing.
        try it.removeUses(by: MemoryUsage.record(2))
        #expect(it.zoneRowBytes[MemoryUsage.zone] == RowBytes.assetUse)
        // A zone that is gone counts otherwise.
        #expect(try it.removeUses(inZone: MemoryUsage.zone, limit: 10) == 1)
        #expect(it.zoneRowBytes[MemoryUsage.zone] == RowBytes.assetUse)
        #expect(try it.state(number) == .complete)
    }

    @Test func `what has a lease is renewed instead of marked`() throws {
        let it = try MemoryUsage(owner: 1)
        let open = try it.upload(MemoryUsage.file(1), isComplete: false)
        let other = try it.upload(MemoryUsage.file(2), isComplete: false)
        it.nowMilliseconds += 1_000
        #expect(try it.due(since: it.nowMilliseconds, except: [open]) == [other])
        let renewed = it.nowMilliseconds
        it.nowMilliseconds += 1
        #expect(try it.due(since: renewed - 1) == [other])
        #expect(try it.due(since: renewed) == [other, open])
    }

    @Test func `marks come again until their rows are gone, at most as many as asked for`() throws {
        let it = try MemoryUsage(owner: 1)
        let numbers = try (1...5).map { try it.upload(MemoryUsage.file($0)) }
        it.nowMilliseconds += 1
        #expect(try it.due(since: .max, limit: 2) == Array(numbers[..<2]))
        #expect(try it.due(since: .max, limit: 3) == Array(numbers[..<3]))
        for number in numbers[..<2] { try it.forgetAsset(number) }
        #expect(try it.due(since: .max, limit: 10) == Array(numbers[2...]))
    }

    @Test func `the same bytes are kept once in a public database, for both senders`() throws {
        let it = try MemoryUsage(owner: nil)
        let first = try it.upload(self.one, by: "_a", isComplete: false)
        let second = try it.upload(self.one, by: "_b", isComplete: false)
        #expect(try it.upload(of: self.one, by: "_b", in: self.database)?.number == second)
        #expect(try it.completeUpload(first))
        #expect(try !it.isAsset(first, sentBy: "_b"))
        // The second time as after an execution whose outcome was lost.
        for _ in 0..<2 { #expect(try it.completeUpload(second)) }
        #expect(try it.state(second) == .going)
        #expect(try it.isAsset(first, sentBy: "_a") && it.isAsset(first, sentBy: "_b"))
        try it.forgetSender("_a")
        #expect(try !it.isAsset(first, sentBy: "_a") && it.isAsset(first, sentBy: "_b"))
        #expect(it.counted[self.database]?.assets == 1)
    }

    @Test func `a participant's upload becomes an asset when a record names it`() throws {
        let it = try MemoryUsage(owner: 1)
        let upload = try it.upload(self.one, by: "_b")
        #expect(try it.state(upload) == .uploading)
        #expect(try it.isAsset(upload, sentBy: "_b"))
        #expect(try it.asset(self.one, in: self.database) == nil)
        #expect(try it.takeUpload(of: self.one, by: "_b", in: self.database) == upload)
        #expect(try it.takeUpload(of: self.one, by: "_b", in: self.database) == upload)
        #expect(try it.state(upload) == .complete)
        let again = try it.upload(self.one, by: "_c")
        #expect(try it.takeUpload(of: self.one, by: "_c", in: self.database) == upload)
        #expect(try it.state(again) == .going)
    }

    @Test func `the records of a zone are found by the asset that they name`() throws {
        let it = try MemoryUsage(owner: 1)
        let number = try it.upload(self.one)
        let other = ZoneKey(database: self.database, number: 6)
        for record in 1...3 {
            try it.addUse(of: number, by: MemoryUsage.record(Int64(record)))
            try it.addUse(of: number, by: RecordKey(zone: other, number: Int64(record)))
        }
        let found = try it.records(naming: number, in: MemoryUsage.zone, limit: 2)
        #expect(found == [MemoryUsage.record(1), MemoryUsage.record(2)])
    }

    @Test func `complete assets are listed in pages without the others`() throws {
        let it = try MemoryUsage(owner: 1)
        let numbers = try (1...6).map { try it.upload(MemoryUsage.file($0), isComplete: $0 % 2 == 0) }
        let first = try it.storedAssets(after: nil, limit: 2)
        #expect(first.map(\.number) == [numbers[1], numbers[3]])
        #expect(first.map(\.asset) == [MemoryUsage.file(2), MemoryUsage.file(4)])
        #expect(try it.storedAssets(after: numbers[3], limit: 2).map(\.number) == [numbers[5]])
    }

    @Test func `a copy forgets an asset without a file that no record names, and counts it no more`() throws {
        let it = try MemoryUsage(owner: 1)
        let numbers = try (1...2).map { try it.upload(MemoryUsage.file($0)) }
        try it.addUse(of: numbers[0], by: MemoryUsage.record(1))
        var row = try #require(try it.row(DatabaseRow.byKey, self.database))
        row.stored = try #require(it.counted[self.database])
        try it.put(row)
        #expect(try !it.forgetLostAsset(numbers[0]))
        #expect(try it.forgetLostAsset(numbers[1]))
        #expect(try !it.forgetLostAsset(numbers[1]))
        #expect(try it.row(DatabaseRow.byKey, self.database)?.stored.assets == 1)
    }
}
