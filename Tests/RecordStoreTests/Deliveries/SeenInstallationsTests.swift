import StorageContract
import Testing

@testable import RecordStore

/// When the progress of installations is written, and by which job.
final class SeenInstallationsTests {
    private let seen = SeenInstallations()
    /// Jobs that were asked for and not executed.
    private var jobs: [SeenInstallations.Job] = []
    private static let zone = ZoneKey(database: DatabaseID(rawValue: 2), number: 1)

    private static func key(_ number: Int) -> SeenInstallations.Key {
        let installation = [UInt8(number / 256), UInt8(number % 256)]
        return SeenInstallations.Key(zone: self.zone, user: "_a", installation: installation)
    }

    /// Adds a position, and returns the pause before the job that has to be asked for.
    private func add(_ number: Int = 0, position: Int64 = 1, at milliseconds: Int64 = 0) -> Int64? {
        let seen = SeenPosition(position: position, sent: position, atMilliseconds: milliseconds)
        let due = self.seen.add(seen, of: Self.key(number))
        if let due { self.jobs.append(due.job) }
        return due?.pauseMilliseconds
    }

    /// Executes the job that was asked for first; the positions that it writes by number, and the
    /// pause before the next one.
    private func write(at milliseconds: Int64, takesAll: Bool = false) -> (positions: [Int64], next: Int64?) {
        let job = takesAll || self.jobs.isEmpty ? self.seen.newJob() : self.jobs.removeFirst()
        let taken = self.seen.take(for: job, nowMilliseconds: milliseconds, takesAll: takesAll)
        let due = self.seen.written(by: job, nowMilliseconds: milliseconds)
        if let due { self.jobs.append(due.job) }
        return (taken.values.map(\.position).sorted(), due?.pauseMilliseconds)
    }

    @Test func `an installation that comes all the time is written once a minute, by a job a minute`() {
        #expect(self.add(position: 1) == 1_000)
        #expect(self.add(position: 2, at: 10) == nil, "a job is on its way")
        #expect(self.write(at: 1_000) == ([2], nil))
        #expect(self.add(position: 3, at: 2_000) == 59_000, "its row rests")
        #expect(self.add(position: 4, at: 60_500) == nil, "a job is on its way")
        #expect(self.write(at: 61_000) == ([4], nil))
        #expect(self.seen.known(in: Self.zone).count == 1, "it rests")
        #expect(self.add(1, at: 121_000) == 1_000)
        #expect(self.seen.known(in: Self.zone).keys.map { $0 } == [Self.key(1)], "it has rested")
    }

    @Test func `a fetch just before the end of a rest waits for its job like any other`() {
        #expect(self.add(position: 1) == 1_000)
        #expect(self.write(at: 1_000) == ([1], nil))
        #expect(self.add(position: 2, at: 60_900) == 1_000)
        #expect(self.write(at: 61_900) == ([2], nil))
    }

    @Test func `another installation does not wait for the one that rests, and a shutdown for none`() {
        #expect(self.add(0) == 1_000)
        #expect(self.write(at: 1_000) == ([1], nil))
        #expect(self.add(0, position: 5, at: 1_500) == 59_500)
        #expect(self.add(1, position: 7, at: 1_500) == 1_000)
        let early = self.jobs.removeLast()
        let taken = self.seen.take(for: early, nowMilliseconds: 2_500)
        #expect(taken.values.map(\.position) == [7])
        #expect(
            self.seen.written(by: early, nowMilliseconds: 2_500) == nil,
            "the job of the one that rests is on its way"
        )
        #expect(self.write(at: 2_600, takesAll: true) == ([5], nil))
        #expect(self.write(at: 61_000) == ([], nil), "its job finds nothing")
        #expect(self.jobs.isEmpty)
    }

    @Test func `however many rest and come again, few jobs are on their way`() {
        for number in 0..<500 {
            _ = self.add(number, at: Int64(number) * 100)
            while let job = self.jobs.popLast() {
                _ = self.seen.take(for: job, nowMilliseconds: Int64(number) * 100 + 10)
                if let due = self.seen.written(by: job, nowMilliseconds: Int64(number) * 100 + 10) {
                    self.jobs.append(due.job)
                }
            }
        }
        // The last ones come first, so each would be due before all that were asked for.
        for number in (0..<500).reversed() { _ = self.add(number, position: 2, at: 50_000) }
        #expect(self.jobs.count > 5)
        #expect(self.jobs.count <= 60)
    }

    @Test func `a job that is executed again writes the same, and one that fails puts it back`() throws {
        #expect(self.add(position: 5) == 1_000)
        let job = self.jobs.removeFirst()
        let taken = self.seen.take(for: job, nowMilliseconds: 1_000)
        #expect(self.seen.take(for: job, nowMilliseconds: 1_000) == taken)
        #expect(self.add(position: 6, at: 1_001) == nil)
        let due = try #require(self.seen.failed(job, nowMilliseconds: 1_002))
        #expect(due.pauseMilliseconds == 1_000)
        self.jobs.append(due.job)
        #expect(self.write(at: 2_002) == ([6], nil))
    }

    @Test func `what came while its row was written is new`() {
        #expect(self.add(position: 5) == 1_000)
        let job = self.jobs.removeFirst()
        _ = self.seen.take(for: job, nowMilliseconds: 1_000)
        #expect(self.add(position: 6, at: 1_001) == nil)
        let due = self.seen.written(by: job, nowMilliseconds: 1_002)
        #expect(due?.pauseMilliseconds == 60_000)
        self.jobs += [due?.job].compactMap(\.self)
        #expect(self.write(at: 61_002) == ([6], nil))
    }

    @Test func `what is beyond the bound is forgotten until there is room`() {
        for number in 0..<SeenInstallations.entriesMax {
            _ = self.add(number)
        }
        let extra = SeenInstallations.Key(zone: Self.zone, user: "_b", installation: [1])
        let position = SeenPosition(position: 1, sent: 1, atMilliseconds: 0)
        #expect(self.seen.add(position, of: extra) == nil)
        #expect(self.seen.known(in: Self.zone)[extra] == nil)
        #expect(self.write(at: 1_000).positions.count == SeenInstallations.writtenMax)
        _ = self.seen.add(SeenPosition(position: 1, sent: 1, atMilliseconds: 61_000), of: extra)
        #expect(self.seen.known(in: Self.zone)[extra] != nil, "those that were written made room")
    }
}
