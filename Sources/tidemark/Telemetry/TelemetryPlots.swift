import Administration
import Console
import Foundation
import RecordServer
import RecordStore
import StorageContract

/// The plots of the console, from the columns of a ring.
///
/// Names of metrics and the words for them meet here.
struct TelemetryPlots {
    private let slots: [TelemetryRing.Slot?]

    /// The figures of a file, up to a moment.
    static func telemetry(
        of ring: TelemetryRing,
        _ span: Telemetry.Span,
        nowMilliseconds: Int64
    ) -> Telemetry {
        let level = TelemetryRing.Level(span)
        let slots = ring.slots(of: level, until: nowMilliseconds)
        let last = nowMilliseconds / level.slotMilliseconds
        var telemetry = Telemetry(
            span: span,
            beginMilliseconds: (last - Int64(slots.count) + 1) * level.slotMilliseconds,
            intervalMilliseconds: level.slotMilliseconds,
            intervalCount: slots.count
        )
        let plots = TelemetryPlots(slots: slots)
        telemetry.plots = plots.all
        telemetry.starts = plots.starts(telemetry)
        telemetry.watchedUntilMilliseconds = ring.watchedUntilMilliseconds
        return telemetry
    }

    /// The quotas of the server that runs, or ran last.
    static func quotas(of folder: DataFolder) -> StorageQuotas? {
        guard let ring = try? TelemetryFile.read(TelemetryFile.path(in: folder), levels: []),
            let slot = ring.newest,
            let user = Self.value(slot, TelemetryColumn.name(.userQuotaBytes)),
            let container = Self.value(slot, TelemetryColumn.name(.containerQuotaBytes))
        else { return nil }
        return StorageQuotas(
            userBytes: Int64(exactly: user) ?? 0,
            containerBytes: Int64(exactly: container) ?? 0
        )
    }

    private var all: [Plot] {
        [
            self.requests, self.errors, self.latencies, self.commits, self.recordsPerCommit, self.syncs,
            self.queue, self.queueBytes, self.refusals, self.connections, self.pushes, self.assets,
            self.sizes, self.room, self.processor, self.memory,
        ]
    }

    // MARK: Load

    private var requests: Plot {
        self.largest(
            Plot(
                "requests",
                "Requests",
                .perSecond,
                note: "Requests that arrived each second, by operation.",
                lines: []
            ),
            of: OperationKind.allCases.map { ($0.rawValue, TelemetryColumn.name(.requests, $0.rawValue)) },
            rest: "others",
            self.rate
        )
    }

    private var errors: Plot {
        self.largest(
            Plot(
                "errors",
                "Errors",
                .count,
                note: "Requests and items of requests that failed, by the error that clients were sent.",
                lines: []
            ),
            of: TelemetryColumn.errorNames.map { ($0, TelemetryColumn.name(.failures, $0)) },
            rest: "other errors",
            self.count
        )
    }

    private var latencies: Plot {
        let save = OperationKind.modifyRecords.rawValue
        return Plot(
            "latencies",
            "Latencies",
            .seconds,
            note: "The time that half of all responses, and 99 of 100, took at most.",
            lines: [
                self.quantile("half", 0.5, TelemetryColumn.buckets(.requestDuration)),
                self.quantile("99 of 100", 0.99, TelemetryColumn.buckets(.requestDuration)),
                self.quantile("99 of 100 saves", 0.99, TelemetryColumn.buckets(.requestDuration, save)),
            ]
        )
    }

    private var commits: Plot {
        Plot(
            "commits",
            "Commits",
            .perSecond,
            note: "Transactions, and the records that they saved or deleted.",
            lines: [self.rate("commits", .commits), self.rate("records", .recordsWritten)]
        )
    }

    private var recordsPerCommit: Plot {
        Plot(
            "records-per-commit",
            "Records in a commit",
            .level,
            note: "How many records share one sync of the disk.",
            lines: [
                self.line(
                    "records in a commit",
                    of: [.commits, .recordsWritten].map { TelemetryColumn.name($0) }
                ) {
                    _,
                    values in
                    guard let commits = values[0], let records = values[1] else { return nil }
                    return commits > 0 ? records / commits : nil
                }
            ]
        )
    }

    private var syncs: Plot {
        Plot(
            "syncs",
            "Syncs of the disk",
            .seconds,
            note: "The time that the disk took to make a commit durable.",
            lines: [
                self.quantile("half", 0.5, TelemetryColumn.buckets(.logSyncDuration)),
                self.quantile("99 of 100", 0.99, TelemetryColumn.buckets(.logSyncDuration)),
            ]
        )
    }

    private var queue: Plot {
        Plot(
            "queue",
            "Waiting for the writer",
            .level,
            note: "The most requests that waited at any look, and changes that waited for subscriptions.",
            lines: [
                self.gauge("requests", .requestsWaiting),
                self.gauge("changes for subscriptions", .notificationChangesWaiting),
                self.gauge("uploads", .uploadsWaiting),
            ]
        )
    }

    private var queueBytes: Plot {
        Plot(
            "queue-bytes",
            "Memory of what waits",
            .bytes,
            note: "The size of waiting requests, and of responses that clients have not taken.",
            lines: [self.gauge("requests", .waitingBytes), self.gauge("responses", .responsesHeldBytes)]
        )
    }

    private var refusals: Plot {
        Plot(
            "refusals",
            "Refusals and reservations",
            .count,
            note: "For want of room or of a quota; and times to come back that were given and kept.",
            lines: [
                self.count("changes refused", .requestsRefused),
                self.count("reservations given", .reservationsGiven),
                self.count("reservations kept", .reservationsKept),
                self.count("over a quota", TelemetryColumn.name(.failures, "quota_exceeded")),
                self.count("connections refused", .connectionsRefused),
            ]
        )
    }

    // MARK: Clients

    private var connections: Plot {
        Plot(
            "connections",
            "Connections",
            .level,
            note: "Connections that were open, and those that listen for notifications.",
            lines: [self.gauge("open", .connectionsOpen), self.gauge("listening", .listeners)]
        )
    }

    private var pushes: Plot {
        Plot(
            "pushes",
            "Pushes",
            .perSecond,
            note: "Notifications that were sent, and those that a later one replaced or that lost details.",
            lines: [
                self.rate("sent", .notificationsSent), self.rate("replaced", .notificationsCoalesced),
                self.rate("without details", .notificationDetailsDropped),
            ]
        )
    }

    private var assets: Plot {
        Plot(
            "assets",
            "Asset transfers",
            .bytesPerSecond,
            note: "Bytes of assets that clients uploaded and downloaded.",
            lines: [self.rate("uploaded", .assetReceivedBytes), self.rate("downloaded", .assetSentBytes)]
        )
    }

    // MARK: Machine

    private var sizes: Plot {
        Plot(
            "sizes",
            "Sizes",
            .bytes,
            note: "What users have stored, as quotas count it, and the files of the database.",
            lines: [
                self.gauge("fields of records", .recordBytes), self.gauge("assets", .assetBytes),
                self.gauge("other rows", .rowBytes), self.gauge("database", .databaseBytes),
                self.gauge("its log", .databaseLogBytes),
            ]
        )
    }

    private var room: Plot {
        Plot(
            "room",
            "Free disk space",
            .bytes,
            note: "Of the disk of the data folder; and what the reserve for deletes lacks.",
            lines: [
                self.gauge("free", .diskFreeBytes), self.gauge("reserve lacks", .diskReserveMissingBytes),
            ]
        )
    }

    private var processor: Plot {
        Plot(
            "processor",
            "Processor",
            .share,
            note: "Time of processors that the server used; 100 % is one of them.",
            lines: [self.rate("processor", .processCPU)]
        )
    }

    private var memory: Plot {
        Plot(
            "memory",
            "Memory",
            .bytes,
            note: "Memory of the server that is in RAM.",
            lines: [self.gauge("memory", .processMemory)]
        )
    }

    // MARK: Lines

    private static func value(_ slot: TelemetryRing.Slot, _ column: String) -> Double? {
        self.value(slot, at: TelemetryColumn.offsets[column])
    }

    private static func value(_ slot: TelemetryRing.Slot, at offset: Int?) -> Double? {
        guard let offset, !slot.values[offset].isNaN else { return nil }
        return slot.values[offset]
    }

    /// A line through what `value` makes of the figures of each slot.
    private func line(
        _ name: String,
        of columns: [String],
        _ value: (TelemetryRing.Slot, [Double?]) -> Double?
    ) -> Plot.Line {
        // Names are looked up once for all slots.
        let offsets = columns.map { TelemetryColumn.offsets[$0] }
        return Plot.Line(
            name: name,
            values: self.slots.map { slot in
                slot.flatMap { slot in value(slot, offsets.map { Self.value(slot, at: $0) }) }
            }
        )
    }

    /// The same for one column, which most lines have.
    private func line(
        _ name: String,
        of column: String,
        _ value: (TelemetryRing.Slot, Double) -> Double?
    ) -> Plot.Line {
        let offset = TelemetryColumn.offsets[column]
        return Plot.Line(
            name: name,
            values: self.slots.map { slot in
                slot.flatMap { slot in Self.value(slot, at: offset).flatMap { value(slot, $0) } }
            }
        )
    }

    private func gauge(_ name: String, _ metric: MetricName) -> Plot.Line {
        self.count(name, TelemetryColumn.name(metric))
    }

    private func rate(_ name: String, _ column: String) -> Plot.Line {
        self.line(name, of: column) { slot, value in slot.perSecond(value) }
    }

    private func rate(_ name: String, _ metric: MetricName) -> Plot.Line {
        self.rate(name, TelemetryColumn.name(metric))
    }

    /// Counts of a sample that two slots share are parts of one.
    private func count(_ name: String, _ column: String) -> Plot.Line {
        self.line(name, of: column) { _, value in value }
    }

    private func count(_ name: String, _ metric: MetricName) -> Plot.Line {
        self.count(name, TelemetryColumn.name(metric))
    }

    /// A quantile as the upper end of its bucket; beyond all buckets, the longest bound.
    private func quantile(_ name: String, _ fraction: Double, _ columns: [String]) -> Plot.Line {
        self.line(name, of: columns) { _, values in
            let counts = values.map { $0 ?? 0 }
            let all = counts.reduce(0, +)
            // Nothing can be said about a part of a sample.
            guard all > 0 else { return nil }
            var seen = 0.0
            for (count, bound) in zip(counts, DurationCounts.boundsNanoseconds) {
                seen += count
                if seen >= all * fraction * (1 - 1e-9) { return Double(bound) / 1e9 }
            }
            return Double(DurationCounts.boundsNanoseconds.last ?? 0) / 1e9
        }
    }

    /// The lines with the most, and one for the rest.
    private func largest(
        _ plot: Plot,
        of columns: [(name: String, column: String)],
        rest: String,
        _ line: (String, String) -> Plot.Line
    ) -> Plot {
        let lines = columns.map { line($0.name, $0.column) }
            .map { (line: $0, total: $0.values.reduce(0) { $0 + ($1 ?? 0) }) }
            .filter { $0.total > 0 }
            .sorted { ($1.total, $0.line.name) < ($0.total, $1.line.name) }
            .map(\.line)
        var plot = plot
        guard lines.count > Plot.linesMax else {
            // Also when there were none: that is a figure too.
            plot.lines =
                lines.isEmpty
                ? [self.line("none", of: []) { slot, _ in slot.coveredMilliseconds > 0 ? 0 : nil }] : lines
            return plot
        }
        plot.lines = Array(lines.prefix(Plot.linesMax - 1))
        let others = lines.dropFirst(Plot.linesMax - 1)
        plot.lines.append(
            Plot.Line(
                name: rest,
                values: self.slots.indices.map { slot in
                    let values = others.compactMap { $0.values[slot] }
                    return values.isEmpty ? nil : values.reduce(0, +)
                }
            )
        )
        return plot
    }

    /// Intervals in which a server began.
    private func starts(_ telemetry: Telemetry) -> [Int] {
        let begins = self.slots.compactMap { slot in
            slot.flatMap { Self.value($0, TelemetryColumn.name(.processStart)) }
        }
        return Set(begins).compactMap { seconds -> Int? in
            guard let milliseconds = Int64(exactly: (seconds * 1_000).rounded()) else { return nil }
            let interval = (milliseconds - telemetry.beginMilliseconds) / telemetry.intervalMilliseconds
            return milliseconds >= telemetry.beginMilliseconds && interval < telemetry.intervalCount
                ? Int(interval) : nil
        }.sorted()
    }
}

extension TelemetryRing.Level {
    fileprivate init(_ span: Telemetry.Span) {
        switch span {
        case .hour: self = .hour
        case .day: self = .day
        }
    }
}

extension TelemetryOutcome {
    /// Reads the figures of a folder.
    static func read(
        _ span: Telemetry.Span,
        of folder: DataFolder,
        nowMilliseconds: Int64
    ) -> TelemetryOutcome {
        let path = TelemetryFile.path(in: folder)
        do throws(TelemetryFile.Failure) {
            let ring = try TelemetryFile.read(path, levels: [TelemetryRing.Level(span)])
            return .found(TelemetryPlots.telemetry(of: ring, span, nowMilliseconds: nowMilliseconds))
        } catch {
            switch error {
            case .missing: return .none
            case .unreadable:
                return .unreadable(
                    "\(path) is not a file of figures that this version reads. The next start of a server makes a new one."
                )
            case .system(let code):
                return .unreadable(
                    "\(path) cannot be read: \(String(cString: strerror(code))). Check who owns it."
                )
            }
        }
    }
}
