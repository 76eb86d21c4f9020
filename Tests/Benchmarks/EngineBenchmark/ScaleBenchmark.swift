import Foundation
import RecordModel
import RecordStore
import SQLiteEngine
import StorageContract
import TestSupport

/// What size costs: `EngineBenchmark scale [folder] [users] [records]`.
///
/// Adds users whose databases are empty, and looks at the file and at how long one takes to sign
/// in; then fills a zone of 10,000 records and one of so many, and compares what a save, a fetch
/// and a page of changes take in each. What is written is not synced: a flush takes the same in
/// both, and would hide the rest.
struct ScaleBenchmark {
    private static let container = "org.example.scale"
    private static let smallCount = 10_000
    private static let recordsPerRequest = 400
    private static let requestsUnderWay = 16
    private static let rounds = 7
    private static let operationsPerRound = 2_000

    private let store: Store
    private let folder: String

    static func run(folder: String, users: Int, records: Int) async throws {
        let path = folder + "/tidemark-scale-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var configuration = SQLiteEngineConfiguration(directory: path, housekeeping: Housekeeping.maker())
        configuration.durability = .relaxed
        let store = Store(
            try SQLiteEngine(
                configuration: configuration,
                clock: EngineBenchmark.clock,
                report: { print("event: \($0)") }
            ),
            configuration: StoreConfiguration(clock: EngineBenchmark.clock)
        )
        let benchmark = ScaleBenchmark(store: store, folder: path)
        try store.directory.createContainer(self.container)
        try await benchmark.compareUsers(users)
        try await benchmark.compareZones(records)
        await store.shutdown()
    }

    // MARK: Users

    private func compareUsers(_ count: Int) async throws {
        let few = min(1_000, count)
        try self.addUsers(0..<few)
        let bytesBefore = try await self.fileBytes()
        let before = try self.signInMicroseconds(of: few)
        let start = Date()
        try self.addUsers(few..<count)
        let seconds = Date().timeIntervalSince(start)
        let bytes = try await self.fileBytes()
        let after = try self.signInMicroseconds(of: count)
        print(
            "\(count) users with empty databases: \(bytes / 1_000_000) MB, \((bytes - bytesBefore) / max(count - few, 1)) bytes each, "
                + "added in \(Int(seconds)) s; opening one of \(few): \(before) µs, of \(count): \(after) µs"
        )
    }

    private func addUsers(_ numbers: Range<Int>) throws {
        for number in numbers {
            try self.store.directory.addUser(
                named: "user\(number)",
                userRecordName: Self.user(number),
                tokenHash: Self.token(number),
                toContainer: Self.container
            )
            _ = try self.signIn(number)
        }
    }

    /// Makes the user's databases the first time.
    private func signIn(_ number: Int) throws -> SignIn {
        try self.store.directory.signIn(
            container: Self.container,
            environment: .development,
            tokenHash: Self.token(number)
        )
    }

    /// The middle one of users at random.
    private func signInMicroseconds(of count: Int) throws -> Int {
        var generator = SeededGenerator(seed: 3)
        let times = try (0..<Self.operationsPerRound).map { _ in
            let number = Int.random(in: 0..<count, using: &generator)
            return try Self.microseconds { _ = try self.signIn(number) }
        }
        return Int(Self.middle(times))
    }

    private static func user(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "_" + String(repeating: "0", count: 32 - digits.utf8.count) + digits
    }

    private static func token(_ number: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(number))
        return (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// Of the file, when the engine has copied into it what is in the log, which has a bound of its own.
    private func fileBytes() async throws -> Int {
        var last = -1
        while true {
            try await Task.sleep(for: .seconds(3))
            let attributes = try FileManager.default.attributesOfItem(
                atPath: self.folder + "/tidemark.sqlite"
            )
            guard let size = attributes[.size] as? Int, size != last else { return last }
            last = size
        }
    }

    /// Returns how many seconds it took.
    private func readFile() throws -> Double {
        let start = Date()
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: self.folder + "/tidemark.sqlite"))
        while let bytes = try file.read(upToCount: 1 << 20), !bytes.isEmpty {}
        try file.close()
        return Date().timeIntervalSince(start)
    }

    // MARK: Zones

    private func compareZones(_ count: Int) async throws {
        let signIn = try self.signIn(0)
        let requester = Requester(
            database: signIn.privateDatabase!,
            scope: .private,
            environment: signIn.environment,
            userRecordName: Self.user(0)
        )
        let small = ScaleZone(name: "small", count: Self.smallCount, requester, self.store)
        let large = ScaleZone(name: "large", count: count, requester, self.store)
        for zone in [small, large] {
            let start = Date()
            await zone.fill(recordsPerRequest: Self.recordsPerRequest, underWay: Self.requestsUnderWay)
            print("zone of \(zone.count) records filled in \(Int(Date().timeIntervalSince(start))) s")
        }
        // What is asked for later is in the file, as it is in the life of a large zone, and in the
        // kernel's memory: disks are not compared.
        let bytes = try await self.fileBytes()
        print("the file has \(bytes / 1_000_000) MB, read in \(Int(try self.readFile())) s")
        var times: [ScaleZone.Work: [String: [Double]]] = [:]
        for round in 0...Self.rounds {
            for zone in round.isMultiple(of: 2) ? [small, large] : [large, small] {
                for work in ScaleZone.Work.allCases {
                    let time = try await zone.microseconds(of: work, operations: Self.operationsPerRound)
                    // The first round warms up.
                    if round > 0 { times[work, default: [:]][zone.name, default: []].append(time) }
                }
            }
        }
        for work in ScaleZone.Work.allCases {
            let (few, many) = (Self.middle(times[work]![small.name]!), Self.middle(times[work]![large.name]!))
            let ratio = (many / few * 100).rounded() / 100
            print(
                "\(work.rawValue): \(Int(few)) µs in a zone of \(small.count), \(Int(many)) µs in one of \(count): \(ratio)"
            )
        }
    }

    // MARK: Figures

    private static func microseconds(_ work: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try work()
        return (ContinuousClock.now - start) / .microseconds(1)
    }

    private static func middle(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
