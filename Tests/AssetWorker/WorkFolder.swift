import Foundation
import RecordModel
import RecordStore
import SQLiteEngine
import StorageContract
import Synchronization
import TestSupport

/// A store, and beside it a folder with an empty file for each asset, named by its number.
final class WorkFolder: Sendable {
    static let workers = 4
    static let files = 24
    static let zone = ZoneID(zoneName: "notes")
    /// Time goes so much faster here: the grace time is a second.
    private static let pace: Int64 = 10
    private static let graceSeconds = 10

    let store: Store
    let requester: Requester
    let filesPath: String
    private let ids: Mutex<SeededGenerator>

    init(path: String, isAhead: Bool) throws {
        self.filesPath = path + "/files"
        try FileManager.default.createDirectory(atPath: self.filesPath, withIntermediateDirectories: true)
        let clock: @Sendable () -> Int64 = { Self.now + (isAhead ? 3_600_000 : 0) }
        let engine = try SQLiteEngine(
            configuration: SQLiteEngineConfiguration(directory: path, housekeeping: Housekeeping.maker()),
            clock: clock
        ) { event in
            AssetWorker.say("event \(event)")
        }
        var rules = StoreConfiguration(clock: clock)
        rules.assetGraceSeconds = Self.graceSeconds
        self.store = Store(engine, configuration: rules)
        let token = [UInt8](repeating: 7, count: 32)
        if try self.store.directory.containers().isEmpty {
            try self.store.directory.createContainer("work")
            try self.store.directory.addUser(
                named: "user",
                userRecordName: "_" + String(repeating: "0", count: 32),
                tokenHash: token,
                toContainer: "work"
            )
        }
        let signIn = try self.store.directory.signIn(
            container: "work",
            environment: .development,
            tokenHash: token
        )
        self.requester = Requester(
            database: signIn.privateDatabase!,
            scope: .private,
            environment: signIn.environment,
            userRecordName: signIn.userRecordName
        )
        self.ids = Mutex(SeededGenerator(seed: UInt64.random(in: 0...UInt64.max)))
    }

    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) * self.pace }

    static func file(_ number: Int) -> Asset {
        Asset(sha256: [UInt8](repeating: UInt8(number), count: Asset.hashBytes), size: Int64(number))
    }

    func path(of number: AssetNumber) -> String { "\(self.filesPath)/\(number.rawValue)" }

    func write(_ operation: WriteRequest.Operation) async throws -> [WriteOutcome] {
        let request = WriteRequest(
            requester: self.requester,
            requestID: self.ids.withLock { RequestID(milliseconds: Self.now, using: &$0) },
            operation: operation,
            bytes: 100,
            deadlineMilliseconds: .max
        )
        let result = await withCheckedContinuation { continuation in
            self.store.write(request) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Uploads what is missing, as a server would: a row, then a file, then the word that it is complete.
    func upload(_ assets: [Asset]) async throws {
        let begun = await withCheckedContinuation { continuation in
            self.store.assets.begin(assets, in: nil, for: self.requester) {
                continuation.resume(returning: $0)
            }
        }
        let numbers = try begun.get().compactMap(\.number)
        defer { self.store.assets.release(numbers) }
        for number in numbers {
            let isMade = FileManager.default.createFile(atPath: self.path(of: number), contents: nil)
            guard isMade else { throw CocoaError(.fileWriteUnknown) }
            let completed = await withCheckedContinuation { continuation in
                self.store.assets.complete(number) { continuation.resume(returning: $0) }
            }
            // No sweep can have come first.
            try completed.get()
        }
    }

    /// Removes some of what is due; returns how many.
    func sweep(limit: Int, pause: Duration = .zero) async throws -> Int {
        let due = await withCheckedContinuation { continuation in
            self.store.assets.removals(limit: limit) { continuation.resume(returning: $0) }
        }
        let numbers = try due.get()
        // Most kills come when rows are marked and files are still there, or when only the rows are.
        try await Task.sleep(for: pause)
        for number in numbers { unlink(self.path(of: number)) }
        try await Task.sleep(for: pause)
        let removed = await withCheckedContinuation { continuation in
            self.store.assets.removed(numbers) { continuation.resume(returning: $0) }
        }
        try removed.get()
        return numbers.count
    }

    func sweepForEver(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        while true {
            _ = try await self.sweep(
                limit: Int.random(in: 1...5, using: &generator),
                pause: .milliseconds(10)
            )
        }
    }

    /// Deletes a zone with all that its records name, and makes it again.
    func replaceZoneForEver() async throws {
        while true {
            _ = try await self.write(.modifyZones(ModifyZones(scope: .private, saves: [Self.zone])))
            try await Task.sleep(for: .milliseconds(30))
            _ = try await self.write(
                .modifyZones(ModifyZones(scope: .private, saves: [], deletes: [Self.zone]))
            )
        }
    }
}
