import CloudKit
import CloudKitTesting
import Foundation
import RecordModel
import Synchronization
import TestSupport
import Testing

/// Two devices of one user change the same notes while everything goes wrong that may.
///
/// Their processes die at any point. In the end the server and both have the same.
struct SyncPropertyTests {
    /// For how long runs are begun; one takes about a quarter of a second.
    private static var seconds: Double {
        ProcessInfo.processInfo.environment["TIDEMARK_SYNC_SECONDS"].flatMap(Double.init) ?? 6
    }

    /// A run that takes longer waits for something that does not come.
    private static let runLimit = Duration.seconds(300)

    @Test(.timeLimit(.minutes(60)))
    func `no pending change is lost, whatever happens on the way`() async throws {
        var seeds = SeededGenerator.fromEnvironment()
        let isGiven = ProcessInfo.processInfo.environment["SEED"] != nil
        print("CKSyncEngine property: SEED=\(seeds.seed)")
        var options = TestServer.Options()
        // Batches that are too large come about, and feeds of several pages.
        options.bounds.requestItemsMax = SyncDevice.itemsMax
        let first = seeds
        try await TestServer.runOnChosenEngine(options) { server in
            let end = ContinuousClock.now + .seconds(Self.seconds)
            var seed = first.seed
            var runs = 0
            repeat {
                let run = try await SyncRun(server, seed: seed)
                if let wrong = await run.outcome(within: Self.runLimit) {
                    Issue.record("SEED=\(seed): \(wrong)")
                    return
                }
                seed = seeds.next()
                runs += 1
            } while ContinuousClock.now < end && !isGiven
            print("CKSyncEngine property: \(runs) runs, \(server.faults.happened) faults")
        }
    }
}

/// One run: a container of its own, two devices.
private final class SyncRun: Sendable {
    private struct Place: Sendable {
        var device: SyncDevice
        let database: CKDatabase
        let isAutomatic: Bool
    }

    private let server: TestServer
    private let random: Mutex<SeededGenerator>
    private let places: Mutex<[Place]>
    private let connections: [CKServerConnection]
    private let isAtomic: Bool
    private let clock: @Sendable () -> Int
    /// What is being done, by whom: for whoever looks why it takes so long.
    private let doing = Mutex<[String: String]>([:])
    private static let zones = ["Y", "Z"].map { CKRecordZone.ID(zoneName: $0) }

    init(_ server: TestServer, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let identifier = "iCloud.seed\(seed)"
        let isAtomic = Bool.random(using: &random)
        let clock = Clock()
        var connections: [CKServerConnection] = []
        var places: [Place] = []
        // Two addresses of one server are two connections.
        for host in ["localhost", "127.0.0.1"] {
            var connection = try await server.connection(for: "alice", identifier: identifier)
            connection.url = connection.url.replacingOccurrences(of: "localhost", with: host)
            // Each device is an installation of its own.
            connection.ledgerFolder = connection.ledgerFolder.map { "\($0)-\(seed)-\(host)" }
            connections.append(connection)
            places.append(
                Place(
                    device: SyncDevice(DeviceDisk(), isAtomic: isAtomic) { clock.next() },
                    database: CKContainer(identifier: identifier, connection: connection)
                        .privateCloudDatabase,
                    isAutomatic: Bool.random(using: &random)
                )
            )
        }
        self.server = server
        self.isAtomic = isAtomic
        self.clock = { clock.next() }
        self.connections = connections
        self.places = Mutex(places)
        self.random = Mutex(random)
    }

    private func draw<Value>(_ body: (inout SeededGenerator) -> Value) -> Value {
        self.random.withLock { body(&$0) }
    }

    private func draw(_ range: ClosedRange<Int>) -> Int { self.draw { Int.random(in: range, using: &$0) } }

    private func place(_ index: Int) -> Place { self.places.withLock { $0[index] } }

    // MARK: What happens

    /// Does everything, within a time.
    ///
    /// - Returns: What was wrong, or `nil` if nothing was.
    func outcome(within limit: Duration) async -> String? {
        let (outcomes, teller) = AsyncStream.makeStream(of: String?.self)
        // Not structured: what hangs may not hear that it is cancelled.
        let run = Task {
            do {
                try await self.go()
                let difference = try await self.difference
                self.note("run", "close")
                await self.close()
                teller.yield(difference)
            } catch {
                teller.yield("\(error)")
            }
        }
        let alarm = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            teller.yield("not done within \(limit): \(self.doing.withLock { $0 })")
        }
        defer {
            run.cancel()
            alarm.cancel()
        }
        return await outcomes.first { _ in true } ?? nil
    }

    private func note(_ who: String, _ what: String) { self.doing.withLock { $0[who] = what } }

    func go() async throws {
        for index in 0..<2 { self.launch(index) }
        await withDiscardingTaskGroup { group in
            for index in 0..<2 { group.addTask { await self.use(index) } }
            group.addTask { await self.disturb() }
        }
        self.server.faults.removeAll()
        self.note("run", "rest")
        try await self.rest()
        self.note("run", "compare")
    }

    func close() async {
        for index in 0..<2 { self.place(index).device.die() }
        for connection in self.connections { await connection.close() }
    }

    /// Starts a process, which may die by itself if it is mortal.
    private func launch(_ index: Int, isMortal: Bool = true) {
        let place = self.place(index)
        let device = SyncDevice(place.device.disk, isAtomic: self.isAtomic, clock: self.clock)
        if isMortal, self.draw(0...1) == 0 {
            let calls = self.draw(0...25)
            device.life.withLock { $0.callsLeft = calls }
        }
        self.places.withLock { $0[index].device = device }
        device.start(place.database, automatically: place.isAutomatic)
    }

    /// A user's day.
    private func use(_ index: Int) async {
        for _ in 0..<30 {
            let device = self.place(index).device
            if device.isDead || self.draw(0...14) == 0 {
                device.die()
                self.launch(index)
                continue
            }
            let zone = Self.zones[self.draw(0...1)]
            let id = CKRecord.ID(recordName: "n\(self.draw(0...5))", zoneID: zone)
            switch self.draw(0...19) {
            case 0: device.delete(zone)
            case 1...2: device.create(zone)
            case 3...5: device.delete(id)
            case 6...12: device.change(id)
            case 13...14:
                for number in 0..<6 { device.change(CKRecord.ID(recordName: "n\(number)", zoneID: zone)) }
            case 15...16:
                self.note("user \(index)", "send")
                try? await device.running?.sendChanges()
            case 17...18:
                self.note("user \(index)", "fetch")
                try? await device.running?.fetchChanges()
            default: try? await Task.sleep(for: .milliseconds(self.draw(0...5)))
            }
            self.note("user \(index)", "next")
            if !device.disk.zones.contains(zone), self.draw(0...2) > 0 { device.create(zone) }
        }
        self.note("user \(index)", "done")
    }

    /// What a network and a server do.
    private func disturb() async {
        for _ in 0..<25 {
            let occasions: [FaultPlan.Occasion] = [
                .save(.next), .save(.next), .saveZone(.next), .fetchChanges(.next),
                .fetchDatabaseChanges(.next),
            ]
            let effects: [FaultPlan.Effect] = [
                .rateLimited(retryAfter: 0.005), .zoneBusy(retryAfter: 0.003), .failure(.serviceUnavailable),
                .dropConnectionBeforeExecution, .dropConnectionAfterCommit, .delay(.milliseconds(5)),
                .failure(.networkFailure),
            ]
            switch self.draw(0...(effects.count + 3)) {
            case let number where number < effects.count:
                self.server.faults.add(occasions[self.draw(0...4)], effects[number])
            case effects.count:
                self.server.faults.add(.save(.next), .itemFailure(0, .zoneBusy, retryAfter: 0.004))
            default: self.server.faults.add(occasions[self.draw(3...4)], .changeTokenExpired)
            }
            try? await Task.sleep(for: .milliseconds(self.draw(1...4)))
        }
        self.note("network", "done")
    }

    // MARK: The end

    /// Nothing is disturbed any more, and nobody dies: everything is sent and fetched.
    private func rest() async throws {
        for index in 0..<2 {
            let device = self.place(index).device
            device.life.withLock { $0.callsLeft = nil }
            if device.isDead {
                device.die()
                self.launch(index, isMortal: false)
            }
        }
        for _ in 0..<50 {
            for index in 0..<2 {
                guard let engine = self.place(index).device.running else { continue }
                self.note("run", "send \(index)")
                // What an item failed for is resolved and sent in the next round.
                do { try await engine.sendChanges() } catch CKError.partialFailure {}
                self.note("run", "fetch \(index)")
                try await engine.fetchChanges()
            }
            let isQuiet = (0..<2).allSatisfy { index in
                let state = self.place(index).device.running?.state
                return state?.pendingRecordZoneChanges == [] && state?.pendingDatabaseChanges == []
            }
            if isQuiet, try await self.difference == nil { return }
        }
    }

    /// What is not the same, or `nil` if everything is.
    var difference: String? {
        get async throws {
            let database = self.place(0).database
            let zones = try await database.allRecordZones().map(\.zoneID).filter { $0 != .default }
            var notes: [CKRecord.ID: Int] = [:]
            for zone in zones {
                var token: CKServerChangeToken?
                var isMore = true
                while isMore {
                    let page = try await database.recordZoneChanges(inZoneWith: zone, since: token)
                    for (id, result) in page.modificationResultsByID {
                        notes[id] = try result.get().record["stamp"] as? Int
                    }
                    (token, isMore) = (page.changeToken, page.moreComing)
                }
            }
            var differences: [String] = []
            for index in 0..<2 {
                let life = self.place(index).device.life.withLock { $0 }
                differences += life.complaints
                let (disk, name) = (life.disk, "device \(index)")
                if disk.zones != Set(zones) {
                    differences.append("\(name) has zones \(disk.zones), the server \(zones)")
                }
                for id in Set(disk.notes.keys).union(notes.keys) where disk.notes[id]?.stamp != notes[id] {
                    let here = disk.notes[id].map { "\($0.stamp)" } ?? "nothing"
                    let there = notes[id].map { "\($0)" } ?? "nothing"
                    differences.append("\(name) has \(id) at \(here), the server at \(there)")
                }
                let pending = self.place(index).device.running?.state.pendingRecordZoneChanges ?? []
                if !pending.isEmpty { differences.append("\(name) has yet to send \(pending)") }
            }
            return differences.isEmpty ? nil : differences.joined(separator: "\n")
        }
    }
}

/// Numbers changes: no two are the same.
private final class Clock: Sendable {
    private let last = Mutex(0)

    func next() -> Int {
        self.last.withLock {
            $0 += 1
            return $0
        }
    }
}
