import RecordModel
import RecordStore
import Synchronization
import TestSupport
import Testing

/// Random owners, shares, trees, moves and requests; what everybody is shown is compared with what a naive evaluator says from all records.
@Suite(.timeLimit(.minutes(20)))
struct SharingModelTests {
    /// Comparisons of what somebody is shown with what he may be shown.
    private static let checksMin = 100_000

    @Test(arguments: EngineKind.allCases)
    func `nobody is shown what he may not read, and nothing is hidden from who may`(
        kind: EngineKind
    ) async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SharingModelTests: SEED=\(generator.seed)")
        var checks = 0
        while checks < Self.checksMin {
            let world = try await SharingWorld(kind, generator: generator)
            for _ in 0..<60 { try await world.step() }
            checks += world.checks
            generator = world.generator
        }
        print("SharingModelTests: \(checks) checks")
    }
}

/// An owner's zone, those who may have joined shares in it, and what each has been told of it.
private final class SharingWorld {
    private struct Reader {
        let requester: Requester
        /// Records by name, with their tags, as the feed has told.
        var known: [String: String] = [:]
        var token: [UInt8]?
        /// What the feed of the shared database has told: whether the zone is there.
        var hasZone = false
        var databaseToken: [UInt8]?
        /// Every record that was ever readable: what may be said to be gone.
        var everReadable: Set<String> = []
    }

    private static let names = (0..<14).map { "r\($0)" }

    let it: EngineUnderTest
    var generator: SeededGenerator
    private(set) var checks = 0
    private var readers: [Reader]
    /// Records without shares: the name of the parent, if it has one.
    private var parents: [String: String?] = [:]
    /// Roots by the names of their shares; `nil`: the zone.
    private var shares: [String: String?] = [:]
    /// Who has joined which share with which permission.
    private var joined: [String: [Int: SharePermission]] = [:]
    private let isZoneWide: Bool

    init(_ kind: EngineKind, generator: SeededGenerator) async throws {
        var generator = generator
        self.it = try await EngineUnderTest.withNotes(kind)
        self.isZoneWide = Int.random(in: 0..<5, using: &generator) == 0
        self.readers = try [
            Reader(requester: self.it.bobShared), Reader(requester: self.it.newUser("carol", 0xCA)),
            Reader(requester: self.it.newUser("dave", 0xDA)),
        ]
        self.generator = generator
    }

    // MARK: - Steps

    func step() async throws {
        switch Int.random(in: 0..<20, using: &self.generator) {
        case 0..<5: try await self.save(by: nil)
        case 5..<8: try await self.save(by: self.readers.indices.randomElement(using: &self.generator))
        case 8..<10: try await self.delete(by: nil)
        case 10: try await self.delete(by: self.readers.indices.randomElement(using: &self.generator))
        case 11..<14: try await self.makeShare()
        case 14..<17: try await self.join()
        case 17: try await self.leave()
        case 18: try await self.changePermission()
        default: try await self.endShare()
        }
        for reader in self.readers.indices { try await self.check(reader) }
    }

    private func name() -> String { Self.names.randomElement(using: &self.generator)! }

    /// A save of a record with a parent or without, by the owner or by a participant.
    private func save(by reader: Int?) async throws {
        let name = self.name()
        let parent: String?? =
            switch Int.random(in: 0..<4, using: &self.generator) {
            case 0: .some(nil)
            case 1: nil
            default: .some(self.parents.keys.sorted().randomElement(using: &self.generator))
            }
        let change: RecordSave.ParentChange =
            switch parent {
            case nil: .unchanged
            case .some(nil): .removed
            case .some(let parent?): .set(recordName: parent)
            }
        let fields = ["n": FieldValue.int64(Int64.random(in: 0..<1_000, using: &self.generator))]
        let record =
            reader == nil
            ? EngineConformanceTests.save(name, fields, parent: change)
            : sharedSave(name, fields, parent: change)
        let requester = reader.map { self.readers[$0].requester }
        let outcome = try await self.it.modify([record], policy: .changedKeys, by: requester)[0]
        let wanted = parent ?? self.parents[name] ?? nil
        if let reader { self.expect(outcome, ofSaving: name, under: wanted, by: reader) }
        guard outcome.isSaved else { return }
        self.parents[name] = .some(wanted)
    }

    /// A participant's save succeeds only where he may write before and after.
    private func expect(_ outcome: WriteOutcome, ofSaving name: String, under parent: String?, by reader: Int)
    {
        self.checks += 1
        guard outcome.isSaved else { return }
        if self.parents[name] != nil {
            #expect(
                self.permission(of: reader, on: name) == .readWrite,
                "\(name) was not \(reader)'s to change"
            )
        }
        var isInShare = self.isRoot(name) || self.shares.values.contains(nil)
        if let parent { isInShare = isInShare || self.permission(of: reader, on: parent) == .readWrite }
        #expect(isInShare, "\(name) came where \(reader) may not write")
    }

    private func delete(by reader: Int?) async throws {
        let name = self.name()
        let id = reader == nil ? id(name) : sharedID(name)
        let requester = reader.map { self.readers[$0].requester }
        let isThere = self.parents[name] != nil
        let outcome = try await self.it.modify([], deletes: [id], by: requester)[0]
        guard outcome == .deleted, isThere else { return }
        if let reader {
            self.checks += 1
            let permission = self.permission(of: reader, on: name)
            // What is not there for him is deleted without effect.
            guard permission != nil else { return }
            #expect(permission == .readWrite && !self.isRoot(name), "\(name) was not \(reader)'s to delete")
        }
        self.parents[name] = nil
        for (share, root) in self.shares where root == name { self.forget(share) }
    }

    private func makeShare() async throws {
        let number = Int.random(in: 0..<4, using: &self.generator)
        let root = self.isZoneWide ? nil : self.parents.keys.sorted().randomElement(using: &self.generator)
        guard self.isZoneWide || root != nil else { return }
        let name = self.isZoneWide ? ShareRecord.zoneWideName : "s\(number)"
        guard self.shares[name] == nil else { return }
        let permission: SharePermission = Bool.random(using: &self.generator) ? .readWrite : .readOnly
        let mayBe = !self.isShared(root, orBelow: true)
        do {
            try await self.it.share(root, named: name) { $0.publicPermission = permission }
            #expect(mayBe, "\(root ?? "the zone") was shared twice")
            self.shares[name] = .some(root)
            self.joined[name] = [:]
        } catch let error as StoreError {
            #expect(!mayBe, "\(root ?? "the zone"): \(error)")
        }
        self.checks += 1
    }

    private func join() async throws {
        guard let share = self.shares.keys.sorted().randomElement(using: &self.generator),
            let contents = try await self.it.share(named: share)
        else { return }
        let reader = self.readers.indices.randomElement(using: &self.generator)!
        let isOpen = contents.publicPermission != .none
        let outcome = try await self.it.accept(contents.token, by: self.readers[reader].requester)
        guard isOpen || self.joined[share]?[reader] != nil else {
            #expect(outcome == .failed(.permissionDenied(.read)))
            return
        }
        guard case .shareAccepted = outcome else {
            Issue.record("\(reader) has not joined \(share): \(outcome)")
            return
        }
        self.joined[share]?[reader] = contents.publicPermission
    }

    private func leave() async throws {
        guard let share = self.shares.keys.sorted().randomElement(using: &self.generator) else { return }
        let reader = self.readers.indices.randomElement(using: &self.generator)!
        let outcome = try await self.it.modify(
            [],
            deletes: [sharedID(share)],
            by: self.readers[reader].requester
        )[0]
        #expect(outcome == .deleted || outcome == .failed(.zoneMissing))
        self.joined[share]?[reader] = nil
    }

    private func changePermission() async throws {
        guard let share = self.shares.keys.sorted().randomElement(using: &self.generator) else { return }
        var changes = ShareChanges()
        let permission = [SharePermission.none, .readOnly, .readWrite].randomElement(using: &self.generator)!
        changes.publicPermission = permission
        _ = try await self.it.modify([saveOfShare(share, changes)], policy: .changedKeys)
        self.joined[share] = permission == .none ? [:] : self.joined[share]?.mapValues { _ in permission }
    }

    private func endShare() async throws {
        guard let share = self.shares.keys.sorted().randomElement(using: &self.generator) else { return }
        _ = try await self.it.modify([], deletes: [id(share)])
        self.forget(share)
    }

    private func forget(_ share: String) {
        self.shares[share] = nil
        self.joined[share] = nil
    }

    // MARK: - The naive evaluator

    private func isRoot(_ name: String) -> Bool { self.shares.values.contains(name) }

    /// The record and what is above it.
    private func line(_ name: String) -> [String] {
        var line: [String] = []
        var next: String? = name
        while let name = next, let parent = self.parents[name] {
            line.append(name)
            next = parent
        }
        return line
    }

    /// The share that covers a record or is it.
    private func share(of name: String) -> String? {
        if self.shares[name] != nil { return name }
        guard self.parents[name] != nil else { return nil }
        let line = self.line(name)
        return self.shares.first { $0.value == nil || line.contains($0.value!) }?.key
    }

    /// `nil`: it is not there for him.
    private func permission(of reader: Int, on name: String) -> SharePermission? {
        if let zoneWide = self.joined[ShareRecord.zoneWideName]?[reader],
            self.parents[name] != nil || self.shares[name] != nil
        {
            return zoneWide
        }
        return self.share(of: name).flatMap { self.joined[$0]?[reader] }
    }

    private func isShared(_ root: String?, orBelow: Bool) -> Bool {
        guard let root else { return !self.shares.isEmpty }
        if self.share(of: root) != nil { return true }
        return self.shares.values.contains { other in other.map { self.line($0).contains(root) } ?? true }
    }

    // MARK: - Checks

    private func check(_ reader: Int) async throws {
        let requester = self.readers[reader].requester
        let all = Self.names + (0..<4).map { "s\($0)" } + [ShareRecord.zoneWideName]
        let readable = Set(all.filter { self.permission(of: reader, on: $0) != nil })
        let hasAny = self.joined.values.contains { $0[reader] != nil }
        self.readers[reader].everReadable.formUnion(readable)
        let fetched = try await self.it.fetch(all.map { sharedID($0) }, by: requester)
        for (name, outcome) in zip(all, fetched) {
            self.checks += 1
            if readable.contains(name) {
                guard case .record(let record) = outcome else {
                    Issue.record("\(name) is hidden from \(reader): \(outcome)")
                    continue
                }
                self.expectParent(of: record, reader)
            } else {
                #expect(outcome == .failed(hasAny ? .recordMissing : .zoneMissing), "\(name) for \(reader)")
            }
        }
        guard hasAny else {
            self.readers[reader].known = [:]
            self.readers[reader].token = nil
            await #expect(throws: StoreError.zoneMissing) {
                try await self.it.all(of: aliceNotes, by: requester)
            }
            try await self.checkZones(reader, hasAny: false)
            return
        }
        try await self.checkQuery(readable, requester)
        try await self.follow(reader, readable, fetched)
        try await self.checkZones(reader, hasAny: true)
    }

    /// What is above a share is not named.
    private func expectParent(of record: Record, _ reader: Int) {
        self.checks += 1
        guard let parent = record.parent else { return }
        #expect(self.permission(of: reader, on: parent) != nil, "\(record.id.recordName) names \(parent)")
    }

    private func checkQuery(_ readable: Set<String>, _ requester: Requester) async throws {
        let records = readable.filter { self.parents[$0] != nil }
        // Of a type that nobody has saved there is nothing to ask.
        guard !self.parents.isEmpty else { return }
        var read = QueryRead(query: Query(recordType: "Note", predicate: .all), zone: aliceNotes)
        let found = try await self.it.query(read, by: requester).records.map(\.id.recordName)
        #expect(Set(found) == records)
        #expect(found.count == records.count)
        read.isCount = true
        #expect(try await self.it.query(read, by: requester).count == Int64(records.count))
        self.checks += Self.names.count + 1
    }

    /// Follows the feed and compares what it has told in all.
    private func follow(_ reader: Int, _ readable: Set<String>, _ fetched: [ReadOutcome]) async throws {
        var state = self.readers[reader]
        var read = FeedRead(
            zone: aliceNotes,
            token: state.token,
            order: Bool.random(using: &self.generator) ? .creation : .newestFirst,
            limit: Int.random(in: 1...5, using: &self.generator)
        )
        while true {
            let page: FeedItems
            do throws(StoreError) {
                page = try await self.it.changes(read, by: state.requester)
            } catch {
                guard error == .changeTokenExpired else { throw error }
                state.known = [:]
                read.token = nil
                continue
            }
            for item in page.items {
                switch item {
                case .record(let record):
                    #expect(readable.contains(record.id.recordName), "\(record.id.recordName) in a feed")
                    if let parent = record.parent {
                        #expect(state.known[parent] != nil, "\(record.id.recordName) before \(parent)")
                    }
                    state.known[record.id.recordName] = record.changeTag
                case .recordDeleted(let deleted):
                    let name = deleted.id.recordName
                    #expect(state.everReadable.contains(name), "\(name) was never there for \(reader)")
                    state.known[name] = nil
                case .zoneChanged, .zoneDeleted: Issue.record("\(item)")
                }
                self.checks += 1
            }
            read.token = page.token
            guard page.moreComing else { break }
        }
        state.token = read.token
        var tags: [String: String] = [:]
        for outcome in fetched {
            if case .record(let record) = outcome { tags[record.id.recordName] = record.changeTag }
        }
        #expect(state.known == tags, "\(reader)")
        self.checks += Self.names.count
        self.readers[reader] = state
    }

    private func checkZones(_ reader: Int, hasAny: Bool) async throws {
        let requester = self.readers[reader].requester
        let zones = try await self.it.zones(by: requester)
        #expect(zones.count == (hasAny ? 1 : 0))
        let news = try await self.it.sharedZones(
            after: self.readers[reader].databaseToken,
            by: requester
        )
        for item in news.items { self.readers[reader].hasZone = item == "notes" }
        self.readers[reader].databaseToken = news.token
        #expect(self.readers[reader].hasZone == hasAny, "\(news.items)")
        self.checks += 2
    }
}
