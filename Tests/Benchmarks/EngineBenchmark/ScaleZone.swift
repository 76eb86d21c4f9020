import Foundation
import RecordModel
import RecordStore
import SQLiteEngine
import StorageContract
import Synchronization
import TestSupport

/// A zone of many records with scattered names, and what is asked of it.
final class ScaleZone: Sendable {
    enum Work: String, CaseIterable {
        case save = "save of a record"
        case fetch = "fetch of a record"
        case page = "page of 200 changes"
    }

    /// What a page leaves behind: nothing.
    private final class Forgetful: FeedSink {
        /// As of a server.
        var readsFields: Bool { false }

        func enter(_ zone: ZoneID) {}
        func add(_ record: borrowing LentRecord) {}
        func removeAll() {}
        func add(_ deleted: DeletedRecord) {}
        func add(changed zone: ZoneID) {}
        func add(deleted zone: ZoneID) {}
    }

    struct Refused: Error {
        let reason: String
    }

    let name: String
    let count: Int
    private let requester: Requester
    private let store: Store
    private let generator = Mutex(SeededGenerator(seed: 11))
    /// Places in the feed, each with a page behind it.
    private let tokens = Mutex<[[UInt8]]>([])
    private let filled = Mutex(0)
    private static let tokensMax = 500
    private static let pageRecords = 200

    private var id: ZoneID { ZoneID(zoneName: self.name) }

    init(name: String, count: Int, _ requester: Requester, _ store: Store) {
        self.name = name
        self.count = count
        self.requester = requester
        self.store = store
    }

    // MARK: Filling

    func fill(recordsPerRequest: Int, underWay: Int) async {
        await self.write(.modifyZones(ModifyZones(scope: .private, saves: [self.id])))
        let keepTokenEvery = max(self.count / Self.tokensMax, 1)
        await withTaskGroup { group in
            for _ in 0..<underWay {
                group.addTask {
                    while true {
                        let first = self.filled.withLock { filled in
                            defer { filled += recordsPerRequest }
                            return filled
                        }
                        guard first < self.count else { return }
                        let part = first..<min(first + recordsPerRequest, self.count)
                        await self.write(self.operation(part))
                        let isPlace = part.contains { $0 % keepTokenEvery == 0 }
                        if isPlace, let token = await self.tokenForNow() {
                            self.tokens.withLock { $0.append(token) }
                        }
                    }
                }
            }
        }
        // Behind the last ones there may be less than a page.
        self.tokens.withLock { $0 = Array($0.prefix(max($0.count * 9 / 10, 1))) }
    }

    private func tokenForNow() async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            self.store.token(of: self.id, for: self.requester) {
                continuation.resume(returning: try? $0.get())
            }
        }
    }

    // MARK: Asking

    /// The mean of operations one after the other, on records and at places at random.
    func microseconds(of work: Work, operations: Int) async throws -> Double {
        let count = work == .page ? operations / 10 : operations
        let start = ContinuousClock.now
        for _ in 0..<count {
            switch work {
            case .save:
                let number = self.number()
                await self.write(self.operation(number..<number + 1))
            case .fetch: try await self.fetch()
            case .page: try await self.page()
            }
        }
        return (ContinuousClock.now - start) / .microseconds(1) / Double(count)
    }

    private func fetch() async throws {
        let id = RecordID(zone: self.id, recordName: Self.name(self.number()))
        let outcome = await withCheckedContinuation { continuation in
            self.store.fetchRecords([id], desiredKeys: nil, for: self.requester) { result in
                continuation.resume(returning: result.map { $0[0] })
            }
        }
        guard case .success(.record) = outcome else { throw Refused(reason: "\(outcome)") }
    }

    private func page() async throws {
        let token = self.tokens.withLock { tokens in
            self.generator.withLock { tokens.randomElement(using: &$0)! }
        }
        let read = FeedRead(zone: self.id, token: token, limit: Self.pageRecords)
        let answer = await withCheckedContinuation { continuation in
            self.store.changes(read, for: self.requester, into: Forgetful()) {
                continuation.resume(returning: $0)
            }
        }
        guard case .success = answer else { throw Refused(reason: "\(answer)") }
    }

    private func number() -> Int { self.generator.withLock { Int.random(in: 0..<self.count, using: &$0) } }

    // MARK: Writing

    private func write(_ operation: WriteRequest.Operation) async {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let request = WriteRequest(
            requester: self.requester,
            requestID: self.generator.withLock { RequestID(milliseconds: now, using: &$0) },
            operation: operation,
            bytes: 600,
            deadlineMilliseconds: .max
        )
        await withCheckedContinuation { continuation in
            self.store.write(request) { result in
                guard case .success(let outcomes) = result,
                    outcomes.allSatisfy({ if case .failed = $0 { false } else { true } })
                else { preconditionFailure("\(result)") }
                continuation.resume()
            }
        }
    }

    private static func name(_ number: Int) -> String {
        var generator = SeededGenerator(seed: UInt64(number))
        return String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
    }

    private func operation(_ numbers: Range<Int>) -> WriteRequest.Operation {
        var generator = self.generator.withLock { SeededGenerator(seed: $0.next()) }
        let saves = numbers.map {
            RecordSave(
                id: RecordID(zone: self.id, recordName: Self.name($0)),
                recordType: Contents.plain.rawValue,
                changes: Contents.plain.body(using: &generator)
            )
        }
        return .modifyRecords(ModifyRecords(scope: .private, saves: saves, policy: .changedKeys))
    }
}
