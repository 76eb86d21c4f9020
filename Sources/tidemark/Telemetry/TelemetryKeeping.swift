import FileIO
import Foundation
import Logging
import RecordServer
import ServiceLifecycle

/// Keeps the figures of the last hour and day in a file, from samples that it takes every ten
/// seconds and once more at the end.
///
/// A file that cannot be written costs one warning, and is tried again with each sample: the server
/// is of use without figures.
struct TelemetryKeeping: Service {
    /// Samples for which sizes are those of an earlier one: counting them takes time.
    private static let samplesPerSize = 30

    let path: String
    let reading: MetricsReading
    /// Milliseconds since 1970.
    let clock: @Sendable () -> Int64
    let logger: Logger

    func run() async throws {
        var writer = TelemetryWriter(path: self.path, beganMilliseconds: self.clock())
        let ticks = TelemetryTicks(
            width: TelemetryRing.Level.hour.slotMilliseconds,
            clock: self.clock
        )
        var sizes: [Metric] = []
        var count = 0
        for await slotBegin in ticks.cancelOnGracefulShutdown() {
            if count.isMultiple(of: Self.samplesPerSize) { sizes = await self.reading.stored() }
            count += 1
            self.sample(sizes, &writer, atMilliseconds: slotBegin)
        }
        self.sample(sizes, &writer, atMilliseconds: self.clock())
    }

    private func sample(
        _ sizes: [Metric],
        _ writer: inout TelemetryWriter,
        atMilliseconds now: Int64
    ) {
        let reading = TelemetryReading(self.reading.counted + sizes)
        guard let failure = writer.add(reading, atMilliseconds: now) else { return }
        self.logger.warning(
            "figures for the console cannot be kept",
            metadata: [LogKeys.path: "\(self.path)", LogKeys.reason: "\(failure)"]
        )
    }
}

/// The time at each begin of a slot, so that a sample fills one; until the task is cancelled.
private struct TelemetryTicks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    /// A tick that is later has its own time.
    private static let lateMillisecondsMax: Int64 = 500

    let width: Int64
    let clock: @Sendable () -> Int64

    func makeAsyncIterator() -> TelemetryTicks { self }

    func next() async -> Int64? {
        do {
            try await Task.sleep(for: .milliseconds(self.width - self.clock() % self.width))
        } catch {
            return nil
        }
        let now = self.clock()
        let late = now % self.width
        return late <= Self.lateMillisecondsMax ? now - late : now
    }
}

/// The ring of a server that runs, and its file.
struct TelemetryWriter {
    private let path: String
    private var ring: TelemetryRing
    private var last: (reading: TelemetryReading?, milliseconds: Int64)
    /// `nil` if the file could not be made yet.
    private var file: FileHandle?
    private var hasFailed = false

    /// Takes the figures of earlier servers from the file.
    init(path: String, beganMilliseconds: Int64) {
        self.path = path
        // A spoilt file is begun anew, because its figures are no data.
        self.ring = (try? TelemetryFile.read(path)) ?? TelemetryRing()
        self.last = (nil, beganMilliseconds)
        _ = self.open()
    }

    /// Adds what was counted since the last reading.
    ///
    /// - Returns: Why the file cannot be written, the first time.
    mutating func add(_ reading: TelemetryReading, atMilliseconds now: Int64) -> String? {
        let sample = TelemetryRing.Sample(
            beganMilliseconds: self.last.milliseconds,
            endedMilliseconds: now,
            values: reading.since(self.last.reading)
        )
        self.last = (reading, now)
        let failure = self.write(self.ring.add(sample))
        defer { self.hasFailed = failure != nil }
        return self.hasFailed ? nil : failure
    }

    private mutating func write(_ changed: [TelemetryRing.SlotIndex]) -> String? {
        guard let file else { return self.open() }
        do {
            for index in changed {
                try file.seek(toOffset: UInt64(TelemetryFile.offset(of: index, in: self.ring)))
                try file.write(
                    contentsOf: Data(TelemetryFile.bytes(of: self.ring[index], self.ring.columns.count))
                )
            }
            return nil
        } catch {
            return FileError.reason(error)
        }
    }

    /// Writes the whole file beside the old one, replaces that, and keeps the new one open.
    private mutating func open() -> String? {
        let draft = self.path + ".new"
        unlink(draft)
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = Foundation.open(draft, flags, 0o600)
        guard descriptor >= 0 else { return String(cString: strerror(errno)) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data(TelemetryFile.bytes(of: self.ring)))
        } catch {
            unlink(draft)
            return FileError.reason(error)
        }
        guard rename(draft, self.path) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(draft)
            return reason
        }
        self.file = file
        return nil
    }
}
