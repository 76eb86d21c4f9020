import Administration
import Console
import Foundation
import TestSupport
import Testing

@testable import tidemark

/// The file of a server's figures, and the server that writes it.
@Suite(.timeLimit(.minutes(10)))
struct TelemetryFileTests {
    private static let start: Int64 = 1_700_000_100_000

    private func ring(_ value: Double = 1.5) -> TelemetryRing {
        var ring = TelemetryRing()
        var values = [Double](repeating: value, count: ring.columns.count)
        values[1] = .nan
        for slot in 0..<400 as Range<Int64> {
            ring.add(
                TelemetryRing.Sample(
                    beganMilliseconds: Self.start + slot * 10_000,
                    endedMilliseconds: Self.start + (slot + 1) * 10_000,
                    values: values
                )
            )
        }
        return ring
    }

    /// NaN is not equal to itself.
    private func texts(_ ring: TelemetryRing, at time: Int64 = 4_000_000) -> [String] {
        TelemetryRing.Level.allCases.flatMap { ring.slots(of: $0, until: Self.start + time) }.map {
            "\($0 as Any)"
        }
    }

    @Test
    func `figures are read as they were written`() throws {
        let ring = self.ring()
        let bytes = TelemetryFile.bytes(of: ring)
        #expect(self.texts(try TelemetryFile.ring(of: bytes)) == self.texts(ring))
        // A slot is written at its place alone.
        let place = TelemetryRing.SlotIndex(level: .day, offset: 17)
        let offset = TelemetryFile.offset(of: place, in: ring)
        let slot = TelemetryFile.bytes(of: ring[place], ring.columns.count)
        #expect(Array(bytes[offset..<offset + slot.count]) == slot)
    }

    @Test
    func `figures of another version are found by their names`() throws {
        var other = TelemetryRing(columns: [
            TelemetryColumn(name: "a metric of tomorrow", merging: .sum),
            TelemetryColumn(name: "tidemark_commits_total", merging: .sum),
        ])
        other.add(
            TelemetryRing.Sample(
                beganMilliseconds: Self.start,
                endedMilliseconds: Self.start + 10_000,
                values: [1, 42]
            )
        )
        let ring = try TelemetryFile.ring(of: TelemetryFile.bytes(of: other))
        let slot = try #require(ring.slots(of: .hour, until: Self.start).last ?? nil)
        let commits = try #require(TelemetryColumn.offsets["tidemark_commits_total"])
        #expect(slot.values[commits] == 42)
        #expect(slot.values.count { !$0.isNaN } == 1)
    }

    @Test
    func `a page reads the slots that it shows, and when the server was watched last`() throws {
        let whole = self.ring()
        let bytes = TelemetryFile.bytes(of: whole)
        let day = try TelemetryFile.ring(of: bytes, levels: [.day])
        let end = Self.start + 3_999_999
        #expect(
            day.slots(of: .day, until: end).map { $0?.number }
                == whole.slots(of: .day, until: end).map { $0?.number }
        )
        #expect(day.slots(of: .hour, until: end).count { $0 != nil } == 1)
        for levels: [TelemetryRing.Level] in [[.day], [.hour], []] {
            let ring = try TelemetryFile.ring(of: bytes, levels: levels)
            #expect(ring.newest?.number == whole.newest?.number)
            #expect(ring.watchedUntilMilliseconds == whole.watchedUntilMilliseconds)
        }
        // A newest slot that is spoilt is not the newest.
        let newest = try #require(whole.newest)
        let place = TelemetryRing.SlotIndex(level: .hour, offset: Int(newest.number % 360))
        var spoilt = bytes
        spoilt[TelemetryFile.offset(of: place, in: whole) + 30] ^= 1
        #expect(try TelemetryFile.ring(of: spoilt, levels: []).newest?.number == newest.number - 1)
    }

    @Test
    func `a file that is cut, longer or another is refused, and a spoilt slot is a gap`() throws {
        let bytes = TelemetryFile.bytes(of: self.ring())
        for count in [0, 1, 8, 19, 20, 500, 2_000, bytes.count / 2, bytes.count - 1] {
            #expect(throws: TelemetryFile.Failure.unreadable) {
                try TelemetryFile.ring(of: Array(bytes.prefix(count)))
            }
        }
        #expect(throws: TelemetryFile.Failure.unreadable) { try TelemetryFile.ring(of: bytes + [0]) }
        for offset in 0..<20 {
            var spoilt = bytes
            spoilt[offset] ^= 0xFF
            #expect(throws: TelemetryFile.Failure.unreadable, "\(offset)") {
                try TelemetryFile.ring(of: spoilt)
            }
        }
        let offset = TelemetryFile.offset(
            of: TelemetryRing.SlotIndex(level: .hour, offset: 100),
            in: TelemetryRing()
        )
        for part in [0, 9, 20, 500] {
            var spoilt = bytes
            spoilt[offset + part] ^= 0x10
            let ring = try TelemetryFile.ring(of: spoilt)
            #expect(ring.slots(of: .hour, until: Self.start + 3_999_999).count { $0 == nil } == 1, "\(part)")
        }
    }

    @Test
    func `a file at the path that is none of ours harms nobody`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/telemetry.ring"
        #expect(throws: TelemetryFile.Failure.missing) { try TelemetryFile.read(path) }
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: TelemetryFile.Failure.unreadable) { try TelemetryFile.read(path) }
        unlink(path)
        #expect(symlink("/etc/passwd", path) == 0)
        #expect(throws: TelemetryFile.Failure.unreadable) { try TelemetryFile.read(path) }
        // A writer puts its own in the place.
        _ = TelemetryWriter(path: path, beganMilliseconds: Self.start)
        #expect(try TelemetryFile.read(path).watchedUntilMilliseconds == nil)
        // A sparse file of a size that nobody reads.
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.truncate(atOffset: 1 << 40)
        #expect(throws: TelemetryFile.Failure.unreadable) { try TelemetryFile.read(path) }
    }

    @Test
    func `a writer goes on with the figures of the one before, in a file of one size`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/telemetry.ring"
        var first = TelemetryWriter(path: path, beganMilliseconds: Self.start)
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(first.add(TelemetryReading([]), atMilliseconds: Self.start + 10_000) == nil)
        var second = TelemetryWriter(path: path, beganMilliseconds: Self.start + 30_000)
        #expect(second.add(TelemetryReading([]), atMilliseconds: Self.start + 40_000) == nil)
        let slots = try TelemetryFile.read(path).slots(of: .hour, until: Self.start + 39_999).suffix(4)
        #expect(slots.map { $0 != nil } == [true, false, false, true])
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.size] as? Int == size)
        #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o777 } == 0o600)
        #expect((size ?? .max) < 2 * 1_024 * 1_024)
    }

    @Test
    func `a file that can't be made is told once, and made when it can be`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/absent/telemetry.ring"
        var writer = TelemetryWriter(path: path, beganMilliseconds: Self.start)
        #expect(writer.add(TelemetryReading([]), atMilliseconds: Self.start + 10_000) != nil)
        #expect(writer.add(TelemetryReading([]), atMilliseconds: Self.start + 20_000) == nil)
        try FileManager.default.createDirectory(
            atPath: folder.path + "/absent",
            withIntermediateDirectories: false
        )
        #expect(writer.add(TelemetryReading([]), atMilliseconds: Self.start + 30_000) == nil)
        let slots = try TelemetryFile.read(path).slots(of: .hour, until: Self.start + 29_999).suffix(3)
        #expect(slots.allSatisfy { $0 != nil }, "nothing of the time before is lost")
    }

    @Test
    func `a server keeps what it counted, and the next one goes on`() async throws {
        let server = try ServerProcess()
        try await server.administer(["container", "create", "iCloud.a"])
        try await server.start()
        let begun = SystemTime.milliseconds()
        #expect(await server.end(SIGTERM) == 0)
        let path = server.dataPath + "/telemetry.ring"
        let watched = try #require(try TelemetryFile.read(path).watchedUntilMilliseconds)
        #expect(abs(SystemTime.milliseconds() - watched) < 60_000)
        let telemetry = TelemetryPlots.telemetry(
            of: try TelemetryFile.read(path),
            .hour,
            nowMilliseconds: SystemTime.milliseconds()
        )
        let sizes = try #require(telemetry.plots.first { $0.id == "room" })
        #expect(sizes.lines[0].values.contains { ($0 ?? 0) > 0 })
        try await server.start()
        #expect(await server.end(SIGTERM) == 0)
        let again = try #require(try TelemetryFile.read(path).watchedUntilMilliseconds)
        #expect(again >= watched && again > begun)
        let starts = TelemetryPlots.telemetry(
            of: try TelemetryFile.read(path),
            .hour,
            nowMilliseconds: SystemTime.milliseconds()
        ).starts
        #expect(!starts.isEmpty)
    }
}
