import Foundation
import PostgreSQLCluster
import RecordModel
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

/// A primary that dies, and its standby that takes its place.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct FailoverTests {
    private final class Notices: Sendable {
        private let all = Mutex<[ClusterNotice]>([])

        func append(_ notice: ClusterNotice) { self.all.withLock { $0.append(notice) } }

        var list: [ClusterNotice] { self.all.withLock { $0 } }

        func wait(for notice: ClusterNotice) async throws {
            while !self.list.contains(notice) { try await Task.sleep(for: .milliseconds(10)) }
        }
    }

    /// Saves that were acknowledged, with their tags.
    private final class Saved: Sendable {
        private let all = Mutex<[String: String]>([:])
        private let isOver = Atomic<Bool>(false)

        var tags: [String: String] { self.all.withLock { $0 } }
        var count: Int { self.all.withLock { $0.count } }
        var isDone: Bool { self.isOver.load(ordering: .acquiring) }

        func add(_ name: String, _ tag: String?) { self.all.withLock { $0[name] = tag } }

        func end() { self.isOver.store(true, ordering: .releasing) }
    }

    /// A store in the pair, with a zone.
    private static func store(
        in pair: PostgreSQLPair,
        isSynchronous: Bool,
        _ notices: Notices
    ) async throws -> EngineUnderTest {
        let target = try pair.target
        try PostgreSQLEngine.prepare(target)
        return try await EngineUnderTest.withNotes(.postgreSQL) {
            $0.postgreSQL = { configuration in
                configuration.target = target
                configuration.isSynchronous = isSynchronous
                configuration.notice = { notices.append($0) }
            }
        }
    }

    /// Saves a new record, and repeats the request under its ID until it is known what became of it.
    private static func save(_ name: String, _ it: EngineUnderTest) async throws -> String? {
        let request = it.newRequestID()
        let operation = ModifyRecords(scope: .private, saves: [EngineConformance.save(name)])
        while true {
            switch await it.write(.modifyRecords(operation), id: request) {
            case .success(let outcomes): return outcomes[0].tag
            case .failure(.storageUnavailable): try await Task.sleep(for: .milliseconds(20))
            case .failure(let error): throw error
            }
        }
    }

    private static func epochs(_ it: EngineUnderTest) async throws -> [Int64] {
        while true {
            if let rows = try? it.rows(DatabaseRow.self) { return rows.map(\.epoch) }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test
    func `after a failover every acknowledged save is there once, and tokens stay good`() async throws {
        let pair = try PostgreSQLPair(isSynchronous: true)
        let notices = Notices()
        let it = try await Self.store(in: pair, isSynchronous: true, notices)
        let epochs = try await Self.epochs(it)
        let saved = Saved()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var number = 0
                    while !saved.isDone {
                        let name = "r\(writer)-\(number)"
                        saved.add(name, try await Self.save(name, it))
                        number += 1
                    }
                }
            }
            group.addTask {
                defer { saved.end() }
                while saved.count < 100 { try await Task.sleep(for: .milliseconds(5)) }
                try pair.failOver()
                // The new primary has no standby yet, so it takes no saves.
                try await notices.wait(for: .standby(.notConfigured))
                let before = saved.count
                try pair.addStandby()
                try pair.demandStandby()
                while saved.count < before + 50 {
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            try await group.waitForAll()
        }
        let tags = saved.tags
        #expect(Set(tags.values).count == tags.count)
        for (name, tag) in tags { #expect(try await it.record(id(name))?.changeTag == tag) }
        #expect(try await it.isOrderWhole())
        #expect(try await it.wrongCounters() == [])
        #expect(try await Self.epochs(it) == epochs)
        #expect(notices.list.contains(.otherProcess))
        #expect(!notices.list.contains { if case .newEpoch = $0 { true } else { false } })
        await it.store.shutdown()
    }

    @Test
    func `connections that find a new primary at once begin no epoch, whichever is done first`() throws {
        let pair = try PostgreSQLPair(isSynchronous: true)
        let target = try pair.target
        try PostgreSQLEngine.prepare(target)
        let notices = Notices()
        let (isHeld, mayGoOn, isDone) = (Gate(), Gate(), Gate())
        let isFirst = Atomic<Bool>(true)
        let witness = ClusterWitness(isSynchronous: true) { notice in
            notices.append(notice)
            guard notice == .otherProcess, isFirst.exchange(false, ordering: .relaxed) else { return }
            // It has the facts, and nothing else yet.
            isHeld.open()
            mayGoOn.wait()
        }
        try witness.check(PostgreSQLConnection(target))
        try pair.failOver()
        try pair.addStandby()
        try pair.demandStandby()
        let failure = Mutex<(any Error)?>(nil)
        Thread.detachNewThread {
            do {
                try witness.check(PostgreSQLConnection(target))
            } catch {
                failure.withLock { $0 = error }
            }
            isDone.open()
        }
        isHeld.wait()
        // The log goes on, and the other connection finds a later end of it.
        try pair.administer("SELECT pg_logical_emit_message(true, 'test', 'later')")
        try witness.check(PostgreSQLConnection(target))
        mayGoOn.open()
        isDone.wait()
        #expect(failure.withLock { $0 } == nil)
        #expect(notices.list.filter { $0 == .otherProcess }.count == 2)
        #expect(!notices.list.contains { if case .newEpoch = $0 { true } else { false } })
    }

    @Test
    func `a standby that no commit waited for begins another epoch when it is promoted`() async throws {
        let pair = try PostgreSQLPair(isSynchronous: false)
        let notices = Notices()
        let it = try await Self.store(in: pair, isSynchronous: false, notices)
        #expect(try await it.modify([EngineConformance.save("a")]).areSaved)
        let epochs = try await Self.epochs(it)
        try pair.failOver()
        // The zone may be among what is gone.
        while await it.write(.modifyZones(ModifyZones(scope: .private, saves: [notes]))).failure != nil {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try await Self.epochs(it) != epochs)
        #expect(notices.list.contains { if case .newEpoch = $0 { true } else { false } })
        await it.store.shutdown()
    }

    @Test
    func `saves are refused while the standby is away, and go on with it`() async throws {
        let pair = try PostgreSQLPair(isSynchronous: true)
        let notices = Notices()
        let it = try await Self.store(in: pair, isSynchronous: true, notices)
        #expect(try await it.modify([EngineConformance.save("a")]).areSaved)
        pair.stopStandby()
        try await notices.wait(for: .standby(.disconnected))
        let operation = ModifyRecords(scope: .private, saves: [EngineConformance.save("b")])
        guard case .failure(.storageUnavailable) = await it.write(.modifyRecords(operation)) else {
            Issue.record("committed without a standby")
            return
        }
        #expect(try await it.record(id("a")) != nil)
        try pair.startStandby()
        try await notices.wait(for: .standby(.confirming))
        #expect(try await Self.save("b", it) != nil)
        await it.store.shutdown()
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
