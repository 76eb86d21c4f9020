import RecordModel
import StorageContract
import Testing
import WireProtocol

@testable import RecordServer

/// What a server counts.
@Suite(.timeLimit(.minutes(10)))
struct MetricsTests {
    private func values(of name: MetricName, in metrics: [Metric]) -> [[String]: Metric.Value] {
        let samples = metrics.filter { $0.name == name }.flatMap(\.samples)
        return Dictionary(samples.map { ($0.labels.map(\.value), $0.value) }) { $1 }
    }

    @Test
    func `a disk that fails is measured, and a full one is not called so`() {
        let conditions: [(StorageCondition, Double)] = [(.works, 0), (.full, 0), (.fails(code: 10), 1)]
        for (condition, value) in conditions {
            #expect(self.values(of: .diskFailing, in: condition.readings) == [[]: .number(value)])
        }
    }

    @Test
    func `requests are counted when they arrive, timed to their end, and failures by name`() async throws {
        try await ServerUnderTest.run { server in
            // Users have records of their own.
            await (try await server.signIn()).close()
            let before = await server.server.storageMetrics()
            try await server.fill(records: 3, bytes: 10)
            let peer = try await server.signIn()
            try await peer.send(.fetch(["no such record"]), on: 1)
            _ = try await peer.answer(on: 1)
            await peer.close()
            let metrics = server.server.metrics
            let started = self.values(of: .requests, in: metrics)
            #expect(started[["modify_records"]] == .number(3))
            #expect(started[["fetch_records"]] == .number(1))
            #expect(started[["listen"]] == .number(0))
            let durations = self.values(of: .requestDuration, in: metrics)
            guard case .durations(let saves)? = durations[["modify_records"]] else {
                Issue.record("no durations of saves")
                return
            }
            #expect(saves.count == 3)
            #expect(saves.sumNanoseconds > 0)
            let failures = self.values(of: .failures, in: metrics)
            #expect(failures[["unknown_item"]] == .number(1))
            #expect(failures[["zone_busy"]] == .number(0))
            #expect(failures[["other"]] == .number(0))
            #expect(self.values(of: .recordsWritten, in: metrics)[[]] == .number(3))
            guard case .number(let bytes)? = self.values(of: .databaseBytes, in: metrics)[[]] else {
                Issue.record("no size of the database")
                return
            }
            #expect(bytes > 0)
            let stored = await server.server.storageMetrics()
            guard case .number(let users)? = self.values(of: .records, in: before)[[]] else {
                Issue.record("no number of records")
                return
            }
            #expect(self.values(of: .records, in: stored)[[]] == .number(users + 3))
        }
    }

    @Test
    func `operations are numbered as they are listed`() {
        #expect(OperationKind.allCases.map(\.number) == Array(OperationKind.allCases.indices))
    }

    @Test
    func `an error without a name counts as another one`() {
        let counts = FailureCounts()
        for code in [2, 47, 48, 999, 1_016, .max] as [UInt32] { counts.add(ErrorCode(rawValue: code)) }
        for code in ErrorCode.names.keys { counts.add(code) }
        let readings = Dictionary(uniqueKeysWithValues: counts.readings.map { ($0.name, $0.count) })
        #expect(readings.count == ErrorCode.names.count + 1)
        #expect(readings["other"] == 4)
        #expect(readings.filter { $0.key != "other" }.values.allSatisfy { $0 == 1 })
    }

    @Test
    func `a duration is in the first bucket that ends at it or after it`() {
        let bounds = DurationCounts.boundsNanoseconds
        #expect(bounds == bounds.sorted())
        #expect(DurationCounts.bucket(of: 0) == 0)
        #expect(DurationCounts.bucket(of: -1) == 0)
        for (offset, bound) in bounds.enumerated() {
            #expect(DurationCounts.bucket(of: bound) == offset)
            #expect(DurationCounts.bucket(of: bound + 1) == offset + 1)
        }
        let histogram = DurationHistogram()
        var counts = DurationCounts()
        for nanoseconds in [1, 100_001, 3_000_000_000, 11_000_000_000] as [Int64] {
            histogram.record(nanoseconds: nanoseconds)
            counts.add(nanoseconds: nanoseconds)
        }
        #expect(histogram.reading == counts)
        #expect(counts.count == 4)
        #expect(counts.quantile(0.25) == 100_000)
        #expect(counts.quantile(0.5) == 250_000)
        #expect(counts.quantile(0.75) == 10_000_000_000)
        #expect(counts.quantile(1) == nil)
        #expect(DurationCounts().quantile(0.5) == nil)
        var later = counts
        later.add(nanoseconds: 1)
        #expect(later.since(counts).counts.first == 1)
        #expect(later.since(counts).sumNanoseconds == 1)
        #expect(later.since(DurationCounts()) == later)
    }

    @Test
    func `names follow Prometheus' conventions`() throws {
        for name in MetricName.allCases {
            let text = name.rawValue
            #expect(text.wholeMatch(of: /[a-z][a-z0-9]*(_[a-z0-9]+)*/) != nil, "\(text)")
            #expect(text.hasPrefix("tidemark_") || text.hasPrefix("process_"), "\(text)")
            #expect(!name.help.isEmpty && name.help.hasSuffix(".") && !name.help.contains("\n"), "\(text)")
            // Base units, as words at the end; what belongs to histograms is no metric's own ending.
            let units = ["_ms", "_milliseconds", "_nanoseconds", "_kb", "_mb", "_percent"]
            for unit in units + ["_bucket", "_sum", "_count"] {
                #expect(!text.contains(unit), "\(text)")
            }
            if let range = text.firstRange(of: "_bytes") {
                #expect(["", "_total"].contains(text[range.upperBound...]), "\(text)")
            }
            if let range = text.firstRange(of: "_seconds") {
                #expect(["", "_total"].contains(text[range.upperBound...]), "\(text)")
            }
        }
    }
}
