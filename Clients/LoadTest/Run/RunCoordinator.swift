import Foundation
import RecordClient
import RecordModel
import WireProtocol

/// Coordinates several processes of one run through records in a zone of the first user, on the
/// tested server.
///
/// The zone belongs to the run, and the first process deletes it.
///
///     RUN-member-P      one per process; the one that creates number P is process P
///     RUN-ready-P       its records are there, and it listens
///     RUN-start         when the load begins, by the server's clock;
///                       process 0 writes it when all are ready
///     RUN-result-P-I    part I of its measurements
struct RunCoordinator: Sendable {
    private static let recordType = "LoadProcess"
    /// Records of an aborted run are ignored after this time.
    private static let staleMilliseconds: Int64 = 600_000
    private static let partBytes = 400_000
    private static let pollInterval = Duration.milliseconds(100)

    private static func zone(of run: String) -> ZoneID { ZoneID(zoneName: "load-\(run)-processes") }
    private var zone: ZoneID { Self.zone(of: self.run) }

    let client: RecordClient
    let run: String
    let processes: Int
    let process: Int
    /// How long each process waits for the others.
    let waitMax: Duration

    /// Becomes a process of a run.
    ///
    /// - Throws: `usage` if the run has all its processes already.
    static func join(
        _ client: RecordClient,
        run: String,
        processes: Int,
        waitMax: Duration
    ) async throws(LoadFailure) -> RunCoordinator {
        try await client.require(
            .modifyZones(ModifyZones(scope: .private, saves: [self.zone(of: run)])),
            to: "create the zone of the processes"
        )
        for process in 0..<processes {
            let coordinator = RunCoordinator(
                client: client,
                run: run,
                processes: processes,
                process: process,
                waitMax: waitMax
            )
            if try await coordinator.claim() { return coordinator }
        }
        throw LoadFailure(
            .usage,
            "the run \(run) has \(processes) processes already: use another --run, or wait ten minutes if it was aborted"
        )
    }

    /// Takes the number.
    ///
    /// Returns `false` if another process has it.
    private func claim() async throws(LoadFailure) -> Bool {
        let name = "\(self.run)-member-\(self.process)"
        do throws(ClientError) {
            let outcomes = try await self.client.perform(
                self.save(name, [], isNew: true),
                timeout: .seconds(30)
            )
            switch outcomes[0] {
            case .recordSaved: return true
            case .failure(let failure) where failure.code == .serverRecordChanged:
                guard let other = failure.serverRecord?.system.modifiedMilliseconds else { return false }
                let now = try await self.client.welcome(timeout: .seconds(10)).serverTimeMilliseconds
                guard now - other > Self.staleMilliseconds else { return false }
                _ = try await self.client.perform(self.save(name, []), timeout: .seconds(30))
                return true
            case .failure(let failure): throw ClientError.refused(failure)
            default: return false
            }
        } catch {
            throw LoadFailure(error, to: "coordinate with the other processes")
        }
    }

    // MARK: Start

    /// Announces that this process is ready, waits for all others, and returns when the load
    /// begins.
    func awaitStart() async throws(LoadFailure) -> ContinuousClock.Instant {
        let before = ContinuousClock.now
        let ready = try await self.write("ready-\(self.process)", [])
        // The server's clock had this value when the response was half-way.
        let then = before + (ContinuousClock.now - before) / 2
        if self.process == 0 {
            for other in 0..<self.processes { _ = try await self.read("ready-\(other)", "is ready") }
            let now = ready + Int64((ContinuousClock.now - then).milliseconds)
            let start = Field(name: "start", value: .int64(now + 2_000))
            _ = try await self.write("start", [start])
        }
        let fields = try await self.read("start", "says when to begin")
        guard case .int64(let start)? = fields.first(where: { $0.name == "start" })?.value else {
            throw LoadFailure(.unavailable, "the first process of the run \(self.run) named no start time")
        }
        return then + .milliseconds(start - ready)
    }

    // MARK: Results

    /// Stores a result for the first process.
    func leave(_ result: LoadResult) async throws(LoadFailure) {
        let data: Data
        do {
            data = try JSONEncoder().encode(result)
        } catch {
            throw LoadFailure(.failed, "the result has no JSON: \(error.localizedDescription)")
        }
        let count = (data.count + Self.partBytes - 1) / Self.partBytes
        for part in 0..<count {
            let bytes = data.dropFirst(part * Self.partBytes).prefix(Self.partBytes)
            _ = try await self.write(
                "result-\(self.process)-\(part)",
                [
                    Field(name: "bytes", value: .bytes([UInt8](bytes))),
                    Field(name: "parts", value: .int64(Int64(count))),
                ]
            )
        }
    }

    /// Waits for the results of all others.
    func gather() async throws(LoadFailure) -> [LoadResult] {
        var results: [LoadResult] = []
        for other in 1..<self.processes {
            var data = Data()
            var parts = 1
            var part = 0
            while part < parts {
                for field in try await self.read("result-\(other)-\(part)", "has a result") {
                    if case .bytes(let bytes) = field.value { data += bytes }
                    if case .int64(let count) = field.value { parts = Int(count) }
                }
                part += 1
            }
            do {
                results.append(try JSONDecoder().decode(LoadResult.self, from: data))
            } catch {
                throw LoadFailure(
                    .failed,
                    "the result of process \(other) cannot be read: is it of the same version?"
                )
            }
        }
        return results
    }

    /// Removes the zone, even if others still wait: without the first process there is nothing to
    /// wait for.
    func remove() async throws(LoadFailure) {
        try await self.client.require(
            .modifyZones(ModifyZones(scope: .private, saves: [], deletes: [self.zone])),
            to: "delete the zone of the processes",
            orEnds: [.unknownItem, .zoneNotFound],
            within: .seconds(30)
        )
    }

    func end() async { await self.client.shutdown() }

    // MARK: Records

    private func save(_ name: String, _ fields: [Field], isNew: Bool = false) -> RecordModel.Operation {
        let save = RecordSave(
            id: RecordID(zone: self.zone, recordName: name),
            recordType: Self.recordType,
            changes: RecordBody(fields)
        )
        return .modifyRecords(
            ModifyRecords(scope: .private, saves: [save], policy: isNew ? .ifServerRecordUnchanged : .allKeys)
        )
    }

    /// - Returns: When it was saved, by the server's clock, in milliseconds since 1970.
    private func write(_ name: String, _ fields: [Field]) async throws(LoadFailure) -> Int64 {
        do throws(ClientError) {
            let save = self.save("\(self.run)-\(name)", fields)
            switch try await self.client.perform(save, timeout: .seconds(30))[0] {
            case .recordSaved(let saved): return saved.system.modifiedMilliseconds
            case .failure(let failure): throw ClientError.refused(failure)
            default: return 0
            }
        } catch {
            throw LoadFailure(error, to: "coordinate with the other processes")
        }
    }

    /// Waits until a record exists.
    private func read(_ name: String, _ meaning: String) async throws(LoadFailure) -> [Field] {
        let id = RecordID(zone: self.zone, recordName: "\(self.run)-\(name)")
        let limit = ContinuousClock.now + self.waitMax
        while ContinuousClock.now < limit {
            let fetch = FetchRecords(scope: .private, ids: [id])
            let (items, _) = try await self.client.page(
                of: .fetchRecords(fetch),
                to: "coordinate with the other processes"
            )
            if case .record(let message)? = items.first?.outcome { return try message.read().body.fields }
            try? await Task.sleep(for: Self.pollInterval)
        }
        throw LoadFailure(
            .unavailable,
            "no process of the run \(self.run) \(meaning) (\(name)) after \(Digits.rate(self.waitMax.seconds)) s: "
                + "are all \(self.processes) running, with the same --run and the first of the same users?"
        )
    }
}
