import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// What is read of shares, from rows in memory.
struct SharedAccessTests {
    private let it: SharingRows
    private var transaction: SharingTestTransaction { self.it.transaction }

    init() throws { self.it = try SharingRows() }

    /// Few shares of a zone are read all; of many only those that the reader has joined.
    @Test(arguments: [2, SharedAccess.sharesReadMax, SharedAccess.sharesReadMax + 1, 40])
    func `a reader has the shares of a zone that they have joined`(count: Int) throws {
        for number in 1...count {
            let share = try self.it.share("root \(number)")
            if number <= 2 { try self.it.join(share) }
            if number == 2 { try self.it.join(share, by: SharingRows.carolsShared) }
        }
        try self.it.join(self.it.share("elsewhere", in: SharingRows.other))
        #expect(try self.it.roots() == ["root 1", "root 2"])
        #expect(try self.it.roots(of: SharingRows.carolsShared) == ["root 2"])
        #expect(try self.it.roots(in: SharingRows.other) == ["elsewhere"])
        let access = try self.transaction.sharedAccess(to: SharingRows.notes, of: SharingRows.bobsShared)
        #expect(access.zoneWide == nil && access.shares.allSatisfy { !$0.mayWrite })
    }

    @Test func `a right to nothing is none, and a number that is none of ours is no right`() throws {
        let share = try self.it.share(nil)
        try self.it.join(share, permission: .none)
        #expect(try self.it.roots() == [])
        let row = try #require(
            try self.transaction.row(ShareReaderRow.byKey, SharingRows.bobsShared, share.number)
        )
        var values = row.values
        values[2] = .integer(77)
        try self.transaction.put([values], in: ShareReaderRow.table)
        #expect(try self.it.roots() == [])
        try self.it.join(share, permission: .readWrite)
        let access = try self.transaction.sharedAccess(to: SharingRows.notes, of: SharingRows.bobsShared)
        #expect(access.zoneWide?.mayWrite == true)
        #expect(try self.transaction.zoneWideShares(of: [SharingRows.notes]) == [share])
        #expect(try self.transaction.zoneWideShares(of: [SharingRows.other]) == [nil])
    }

    @Test func `a membership counts as long as its share is there`() throws {
        let share = try self.it.share("root")
        try self.it.join(share)
        let keys = [3, 1, 2].map { RecordKey(zone: SharingRows.notes, number: $0) }
        try self.transaction.put(MembershipRow(record: 1, share: share.number, since: 5))
        try self.transaction.put(
            MembershipRow(record: 2, share: ShareNumber(rawValue: 77), since: 6)
        )
        func visible() throws -> [Int64] {
            let access = try self.transaction.sharedAccess(
                to: SharingRows.notes,
                of: SharingRows.bobsShared
            )
            let memberships = try self.transaction.memberships(of: keys)
            return zip(keys, memberships).filter { access.grant(coveredBy: $1?.share) != nil }.map(\.0.number)
        }
        #expect(try self.transaction.memberships(of: keys).map { $0?.since } == [nil, 5, 6])
        #expect(try visible() == [1])
        try self.transaction.deleteShare(share)
        #expect(try visible() == [])
    }

    @Test func `changes of memberships are told in order, with the names of types`() throws {
        let share = try self.it.share("root")
        func change(_ position: Int64, isArrival: Bool) -> MembershipChange {
            MembershipChange(
                position: position,
                share: share.number,
                isArrival: isArrival,
                record: position,
                name: "record \(position)",
                recordType: "Note"
            )
        }
        let changes = (1...5).map { change($0, isArrival: $0 % 2 == 0) }
        let before = self.transaction.zoneBytes[SharingRows.notes] ?? 0
        try self.transaction.note(
            changes,
            in: SharingRows.notes,
            environment: SharingRows.environment
        )
        #expect(self.transaction.advanced == [SharingRows.notes: 5])
        #expect(
            self.transaction.zoneBytes[SharingRows.notes] == before
                + 5 * RowBytes.coverChange(named: "record 1")
        )
        func told(after position: Int64, limit: Int) throws -> [MembershipChange] {
            try self.transaction.membershipChanges(
                after: position,
                in: SharingRows.notes,
                limit: limit
            )
        }
        #expect(try told(after: 0, limit: 10) == changes)
        #expect(try told(after: 2, limit: 2) == Array(changes[2..<4]))
        #expect(try told(after: 5, limit: 2) == [])
    }

    @Test func `a user is found by name and by address, in their container`() throws {
        let user = try #require(try self.transaction.row(UserRow.byRecordName, SharingRows.bob))
        let contact = try #require(UserContact(.emailAddress("bob@example.org")))
        try self.transaction.put(
            UserContactRow(container: user.container, contact: contact, user: user.number)
        )
        func find(_ lookup: IdentityLookup, in environment: Int64 = 1) throws -> String? {
            try self.transaction.user(lookup, in: EnvironmentID(rawValue: environment))
        }
        #expect(try find(.userRecordName(SharingRows.bob)) == SharingRows.bob)
        #expect(try find(.emailAddress("Bob@Example.org")) == SharingRows.bob)
        #expect(try find(.emailAddress("eve@example.org")) == nil)
        #expect(try find(.userRecordName("_eve")) == nil)
        #expect(try find(.userRecordName(SharingRows.bob), in: 2) == nil)
        #expect(
            try self.transaction.sharedDatabase(ofUser: SharingRows.bob, in: SharingRows.environment)
                == SharingRows.bobsShared
        )
        #expect(
            try self.transaction.sharedDatabase(ofUser: SharingRows.alice, in: SharingRows.environment)
                == nil
        )
        var gone = user
        gone.kind = .deleted
        try self.transaction.put(gone)
        #expect(try find(.userRecordName(SharingRows.bob)) == nil)
    }
}
