import CloudKit
import Foundation
import RecordClient
import RecordModel
import Synchronization

/// A program of a user, which makes its next operation when it has the results of the last.
///
/// It reads two fields of each record, and makes each record that it saves anew.
final class SDKLoop: Sendable {
    private struct State {
        var choices: SDKChoices
        var samples = ClosedLoop.Samples()
        var recordsSeen = 0
        var failure: (any Error)?
        var sent: ContinuousClock.Instant
        var finish: CheckedContinuation<ClosedLoop.Samples, any Error>?
    }

    private let row: BenchRow
    private let database: CKDatabase
    private let period: Range<ContinuousClock.Instant>
    private let state: Mutex<State>

    init(_ row: BenchRow, database: CKDatabase, choices: SDKChoices, period: Range<ContinuousClock.Instant>) {
        self.row = row
        self.database = database
        self.period = period
        self.state = Mutex(State(choices: choices, sent: period.lowerBound))
    }

    /// A database of the SDK, by connection settings of the command.
    ///
    /// A page from anywhere in a feed is nothing to keep a ledger of: there is none without a folder.
    static func database(of target: Target, ledgerFolder: String? = nil) -> CKDatabase {
        var connection = CKServerConnection(
            url: "tidemark://\(target.host.contains(":") ? "[\(target.host)]" : target.host):\(target.port)",
            token: target.tokens[0],
            environment: target.environment == .production ? .production : .development
        )
        if case .authorities(let file) = target.trust { connection.certificateAuthority = .file(file) }
        connection.ledgerFolder = ledgerFolder
        if ledgerFolder == nil { connection.ledgerBytesMax = 0 }
        return CKContainer(identifier: target.container, connection: connection).privateCloudDatabase
    }

    func run() async throws -> ClosedLoop.Samples {
        try await withCheckedThrowingContinuation { continuation in
            self.state.withLock { $0.finish = continuation }
            self.startNext()
        }
    }

    private func startNext() {
        let choice = self.state.withLock { state in
            state.recordsSeen = 0
            state.sent = .now
            return state.choices.next(of: self.row)
        }
        self.database.add(self.operation(choice))
    }

    private func operation(_ choice: SDKChoices.Choice) -> CKDatabaseOperation {
        switch choice {
        case .fetch(let ids):
            let operation = CKFetchRecordsOperation(recordIDs: ids)
            operation.perRecordResultBlock = { self.arrived($1) }
            operation.fetchRecordsResultBlock = { self.ended($0.map { _ in () }) }
            return operation
        case .query(let query, let zone):
            let operation = CKQueryOperation(query: query)
            operation.zoneID = zone
            operation.resultsLimit = self.row.itemsPerAnswer
            operation.recordMatchedBlock = { self.arrived($1) }
            operation.queryResultBlock = { self.ended($0.map { _ in () }) }
            return operation
        case .changes(let zone, let token):
            let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
                previousServerChangeToken: token,
                resultsLimit: self.row.itemsPerAnswer
            )
            let operation = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: [zone],
                configurationsByRecordZoneID: [zone: configuration]
            )
            operation.fetchAllChanges = false
            operation.recordWasChangedBlock = { self.arrived($1) }
            operation.fetchRecordZoneChangesResultBlock = { self.ended($0) }
            return operation
        case .save(let records):
            let operation = CKModifyRecordsOperation(recordsToSave: records)
            operation.savePolicy = .changedKeys
            operation.isAtomic = false
            operation.perRecordSaveBlock = { self.arrived($1) }
            operation.modifyRecordsResultBlock = { self.ended($0) }
            return operation
        }
    }

    private func arrived(_ result: Result<CKRecord, any Error>) {
        let failure: (any Error)?
        switch result {
        case .failure(let error): failure = error
        case .success(let record):
            failure = record.isWhole ? nil : LoadFailure.recordWithoutFields
        }
        self.state.withLock { state in
            state.recordsSeen += 1
            state.failure = state.failure ?? failure
        }
    }

    private func ended(_ result: Result<Void, any Error>) {
        let now = ContinuousClock.now
        let finish: CheckedContinuation<ClosedLoop.Samples, any Error>? = self.state.withLock { state in
            state.samples.requestsAll += 1
            if self.period.contains(now) { state.samples.latencies.record(now - state.sent) }
            if case .failure(let error) = result { state.failure = state.failure ?? error }
            if state.failure == nil, state.recordsSeen != self.row.itemsPerAnswer {
                state.failure = LoadFailure(
                    .failed,
                    "an operation had \(state.recordsSeen) records: was its data set prepared (--prepare)?"
                )
            }
            return state.failure != nil || now >= self.period.upperBound ? state.finish.take() : nil
        }
        guard let finish else { return self.startNext() }
        let (samples, failure) = self.state.withLock { ($0.samples, $0.failure) }
        if let failure {
            finish.resume(throwing: failure)
        } else {
            finish.resume(returning: samples)
        }
    }
}

/// The records, queries and pages that one loop asks for, from a seed: those of the driver's requests.
struct SDKChoices: Sendable {
    enum Choice {
        case fetch([CKRecord.ID])
        case query(CKQuery, zone: CKRecordZone.ID)
        case changes(zone: CKRecordZone.ID, after: CKServerChangeToken)
        case save([CKRecord])
    }

    private let number: Int
    private let tokens: [[UInt8]]
    private var generator: SplitMix64

    init(loop number: Int, seed: UInt64, tokens: [[UInt8]]) {
        self.number = number
        self.tokens = tokens
        self.generator = SplitMix64(seed: seed &* 0x9E37_79B9 &+ UInt64(number))
    }

    mutating func next(of row: BenchRow) -> Choice {
        let count = row.itemsPerAnswer
        switch row {
        case .sdkFetch:
            let first = self.random(Items.sharedRecords - count + 1)
            let zone = Self.zone(Items.scattered(0).zone)
            return .fetch(
                (first..<first + count).map {
                    CKRecord.ID(recordName: Items.scattered($0).recordName, zoneID: zone)
                }
            )
        case .sdkQuery:
            let minute = Date(
                timeIntervalSinceReferenceDate: Double(60 * self.random(Books.recordCount - count + 1))
            )
            let query = CKQuery(
                recordType: Books.recordType,
                predicate: NSPredicate(format: "published >= %@", minute as NSDate)
            )
            query.sortDescriptors = [NSSortDescriptor(key: "published", ascending: true)]
            return .query(query, zone: Self.zone(Books.zone))
        case .sdkChanges:
            let token = CKServerChangeToken(bytes: self.tokens[self.random(self.tokens.count)])
            return .changes(zone: Self.zone(Changes.zone), after: token)
        case .sdkSave:
            let first = self.random(Items.ownRecords - count + 1)
            let zone = Self.zone(Items.owned(0, zone: self.number).zone)
            return .save((first..<first + count).map { Self.record(Items.ownName($0), in: zone) })
        default: preconditionFailure("\(row.rawValue) is no row of the SDK")
        }
    }

    private mutating func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self.generator) }

    private static func zone(_ id: ZoneID) -> CKRecordZone.ID { CKRecordZone.ID(zoneName: id.zoneName) }

    /// The bytes that bring the record to the common size.
    private static let payload: Data = {
        for field in Items.record(0).changes.fields where field.name == "payload" {
            if case .bytes(let bytes) = field.value { return Data(bytes) }
        }
        return Data()
    }()

    /// A new record with the fields of those of `Items`.
    static func record(_ name: String, in zone: CKRecordZone.ID) -> CKRecord {
        let record = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: name, zoneID: zone))
        record["title"] = "The quick brown fox jumps over the lazy dog"
        record["count"] = 1_234_567
        record["price"] = 12.5
        record["when"] = Date(timeIntervalSinceReferenceDate: 780_000_000)
        record["tags"] = ["red", "green", "blue"]
        record["payload"] = self.payload
        return record
    }
}

extension CKRecord {
    /// Whether two of the fields are there, which a program that shows the record reads.
    var isWhole: Bool { self["title"] is String && self["payload"] is Data }
}

extension LoadFailure {
    static let recordWithoutFields = LoadFailure(.failed, "a record came without its fields")
}
