import Console
import Foundation
import RecordServer
import StorageContract
import TestSupport
import Testing

@testable import tidemark

/// The figures that a server keeps, without a clock and a file.
@Suite
struct TelemetryRingTests {
    /// The begin of a slot of both levels.
    private static let start: Int64 = 1_700_000_100_000
    private static let columns = [
        TelemetryColumn(name: "count", merging: .sum), TelemetryColumn(name: "peak", merging: .highest),
        TelemetryColumn(name: "size", merging: .last),
    ]

    private func sample(_ begin: Int64, _ end: Int64, _ values: [Double]) -> TelemetryRing.Sample {
        TelemetryRing.Sample(
            beganMilliseconds: Self.start + begin,
            endedMilliseconds: Self.start + end,
            values: values
        )
    }

    private func last(
        _ ring: TelemetryRing,
        _ level: TelemetryRing.Level,
        at time: Int64
    ) throws
        -> TelemetryRing.Slot
    {
        try #require(ring.slots(of: level, until: Self.start + time).last ?? nil)
    }

    @Test
    func `samples add up in a slot, each column in its way`() throws {
        var ring = TelemetryRing(columns: Self.columns)
        #expect(ring.add(self.sample(0, 10_000, [3, 7, 100])).count == 2)
        #expect(ring.add(self.sample(10_000, 20_000, [4, 5, .nan])).count == 2)
        let ten = try self.last(ring, .hour, at: 19_999)
        #expect(ten.values[0] == 4 && ten.values[1] == 5 && ten.values[2].isNaN)
        #expect(ten.perSecond(ten.values[0]) == 0.4)
        let five = try self.last(ring, .day, at: 19_999)
        #expect(five.values == [7, 7, 100])
        #expect(five.coveredMilliseconds == 20_000)
        #expect(five.perSecond(five.values[0]) == 0.35)
        #expect(ring.watchedUntilMilliseconds == Self.start + 20_000)
    }

    @Test
    func `a sample across slots is shared by time, and its rate is the same in each`() throws {
        var ring = TelemetryRing(columns: Self.columns)
        ring.add(self.sample(5_000, 25_000, [40, 9, 1]))
        let slots = ring.slots(of: .hour, until: Self.start + 24_999).suffix(3).compactMap { $0 }
        #expect(slots.map { $0.values[0] } == [10, 20, 10])
        #expect(slots.map { $0.values[1] } == [9, 9, 9])
        #expect(slots.map(\.coveredMilliseconds) == [5_000, 10_000, 5_000])
        #expect(slots.allSatisfy { $0.perSecond($0.values[0]) == 2 })
    }

    @Test
    func `what an earlier round has left is a gap`() throws {
        var ring = TelemetryRing(columns: Self.columns)
        ring.add(self.sample(0, 10_000, [1, 1, 1]))
        let later = Self.start + 3_600_000
        #expect(ring.slots(of: .hour, until: later).allSatisfy { $0 == nil })
        #expect(ring.slots(of: .day, until: later).compactMap { $0 }.count == 1)
        #expect(ring.slots(of: .hour, until: later).count == 360)
        #expect(ring.slots(of: .day, until: later + 86_400_000).allSatisfy { $0 == nil })
        // The same place, in the next round.
        ring.add(
            TelemetryRing.Sample(
                beganMilliseconds: later,
                endedMilliseconds: later + 10_000,
                values: [5, 5, 5]
            )
        )
        #expect(ring.slots(of: .hour, until: later).last??.values == [5, 5, 5])
        // A clock that was put back reads nothing of the future.
        #expect(ring.slots(of: .hour, until: Self.start).compactMap { $0 }.isEmpty)
        #expect(ring.slots(of: .hour, until: 0).count == 360)
    }

    @Test(
        arguments: [(0, 0), (10, 5), (0, 60_001), (-1_700_000_200_000, -1_700_000_199_000)]
            as [(Int64, Int64)]
    )
    func `a sample whose time can't be is left out`(begin: Int64, end: Int64) {
        var ring = TelemetryRing(columns: Self.columns)
        #expect(ring.add(self.sample(begin, end, [1, 1, 1])).isEmpty)
        #expect(ring.add(self.sample(0, 60_000, [1, 1])).isEmpty)
        #expect(ring == TelemetryRing(columns: Self.columns))
    }

    @Test
    func `the memory of a day of samples is that of the first`() {
        var ring = TelemetryRing(columns: Self.columns)
        for slot in 0..<9_000 as Range<Int64> {
            ring.add(self.sample(slot * 10_000, slot * 10_000 + 10_000, [1, 1, 1]))
        }
        let now = Self.start + 89_999_999
        #expect(ring.slots(of: .hour, until: now).allSatisfy { $0?.values[0] == 1 })
        #expect(ring.slots(of: .day, until: now).allSatisfy { $0?.values[0] == 30 })
    }

    // MARK: Columns

    @Test
    func `every metric has columns, and names are unique`() {
        let names = TelemetryColumn.all.map(\.name)
        #expect(Set(names).count == names.count)
        for metric in MetricName.allCases where ![.buildInfo, .certificateEnd].contains(metric) {
            #expect(names.contains { $0.hasPrefix(metric.rawValue) }, "\(metric)")
        }
        #expect(TelemetryColumn.all.allSatisfy { !$0.name.contains("\n") })
    }

    @Test
    func `a reading has the counts since the one before, and gauges as they are`() throws {
        var durations = DurationCounts()
        durations.add(nanoseconds: 50_000)
        func reading(_ requests: Double, _ open: Int) -> TelemetryReading {
            TelemetryReading([
                Metric(
                    .requests,
                    samples: [.init(labels: [("operation", "listen")], value: .number(requests))]
                ),
                Metric(.connectionsOpen, open),
                Metric(
                    .requestDuration,
                    samples: ["listen", "modify_records"].map {
                        .init(labels: [("operation", $0)], value: .durations(durations))
                    }
                ),
            ])
        }
        let first = reading(5, 3)
        durations.add(nanoseconds: 60_000)
        let values = reading(12, 2).since(first)
        func value(_ name: String) throws -> Double {
            values[try #require(TelemetryColumn.offsets[name], "\(name)")]
        }
        #expect(try value("tidemark_requests_total listen") == 7)
        #expect(try value("tidemark_connections_open") == 2)
        #expect(try value("tidemark_request_duration_seconds #0") == 2, "of both operations")
        #expect(try value("tidemark_request_duration_seconds modify_records #0") == 1)
        #expect(try value("tidemark_commits_total").isNaN)
        // A counter that began anew.
        #expect(
            reading(4, 1).since(reading(9, 1))[TelemetryColumn.offsets["tidemark_requests_total listen"]!]
                == 4
        )
    }

    // MARK: Plots

    @Test
    func `plots have rates, quantiles and gaps, and the largest operations by name`() throws {
        var values = [Double](repeating: 0, count: TelemetryColumn.all.count)
        func set(_ name: String, _ value: Double) { values[TelemetryColumn.offsets[name]!] = value }
        for (offset, operation) in OperationKind.allCases.enumerated() {
            set("tidemark_requests_total \(operation.rawValue)", Double(offset) * 10)
        }
        set("tidemark_commits_total", 20)
        set("tidemark_records_written_total", 50)
        set("tidemark_request_duration_seconds #3", 99)
        set("tidemark_request_duration_seconds #6", 1)
        set("process_start_time_seconds", Double(Self.start) / 1_000)
        var ring = TelemetryRing()
        ring.add(self.sample(0, 10_000, values))
        let telemetry = TelemetryPlots.telemetry(of: ring, .hour, nowMilliseconds: Self.start + 15_000)
        #expect(telemetry.intervalCount == 360 && telemetry.starts == [358])
        #expect(telemetry.watchedUntilMilliseconds == Self.start + 10_000)
        func plot(_ id: String) throws -> Plot { try #require(telemetry.plots.first { $0.id == id }) }
        for plot in telemetry.plots {
            #expect((1...Plot.linesMax).contains(plot.lines.count), "\(plot.id)")
            #expect(plot.lines.allSatisfy { $0.values.count == 360 && $0.values[359] == nil }, "\(plot.id)")
        }
        let requests = try plot("requests")
        #expect(requests.lines.map(\.name).last == "others")
        #expect(requests.lines[0].values[358] == 18)
        let sum = requests.lines.compactMap { $0.values[358] }.reduce(0, +)
        #expect(sum == Double((0..<OperationKind.allCases.count).reduce(0, +)))
        #expect(try plot("latencies").lines.map { $0.values[358] } == [0.001, 0.001, nil])
        #expect(try plot("records-per-commit").lines[0].values[358] == 2.5)
        #expect(try plot("errors").lines.map(\.name) == ["none"])
    }
}
