import Testing

@testable import RecordStore

/// When the progress of installations is written, and by which job.
struct SeenInstallationsTests {
    private let seen = SeenInstallations()
    private static let zone = ZoneKey(database: DatabaseID(rawValue: 2), number: 1)

    private static func key(_ number: Int) -> SeenInstallations.Key {
        let installation = [UInt8(number / 256), UInt8(number % 256)]
        return SeenInstallations.Key(zone: self.zone, user: "_a", installation: installation)
    }

    private func add(_ number: Int = 0, position: Int64 = 1, at milliseconds: Int64 = 0) -> Bool {
        self.seen.add(
            SeenPosition(position: position, sent: position, atMilliseconds: milliseconds),
            of: Self.key(number)
        )
    }

    /// Writes what is due; the positions by number, and whether another job has to come.
    private func write(
        at milliseconds: Int64,
        takesAll: Bool = false
    ) -> (positions: [Int64], goesOn: Bool) {
        let job = self.seen.newJob()
        let taken = self.seen.take(for: job, nowMilliseconds: milliseconds, takesAll: takesAll)
        let goesOn = self.seen.written(by: job, nowMilliseconds: milliseconds)
        return (taken.values.map(\.position).sorted(), goesOn)
    }

    @Test func `an installation that comes all the time is written once a minute`() {
        #expect(self.add(position: 1))
        #expect(!self.add(position: 2, at: 10), "a job is on its way")
        #expect(self.write(at: 1_000) == ([2], false))
        #expect(self.add(position: 3, at: 2_000), "nothing was on its way")
        #expect(self.write(at: 3_000) == ([], true))
        #expect(self.write(at: 60_999) == ([], true))
        #expect(self.write(at: 61_000) == ([3], false))
        #expect(self.seen.known(in: Self.zone).count == 1, "it rests")
        #expect(self.add(1, at: 121_000))
        #expect(self.seen.known(in: Self.zone).keys.map { $0 } == [Self.key(1)], "it has rested")
    }

    @Test func `another installation does not wait for the one that rests, and a shutdown for none`() {
        #expect(self.add(0))
        #expect(self.write(at: 1_000) == ([1], false))
        #expect(self.add(0, position: 5, at: 1_500))
        #expect(!self.add(1, position: 7, at: 1_500))
        #expect(self.write(at: 2_500) == ([7], true))
        #expect(self.write(at: 2_600, takesAll: true) == ([5], false))
    }

    @Test func `a job that is executed again writes the same, and one that fails puts it back`() {
        #expect(self.add(position: 5))
        let job = self.seen.newJob()
        let taken = self.seen.take(for: job, nowMilliseconds: 1_000)
        #expect(self.seen.take(for: job, nowMilliseconds: 1_000) == taken)
        #expect(!self.add(position: 6, at: 1_001))
        self.seen.failed(job)
        #expect(self.write(at: 2_000) == ([6], false))
    }

    @Test func `what came while its row was written is new`() {
        #expect(self.add(position: 5))
        let job = self.seen.newJob()
        _ = self.seen.take(for: job, nowMilliseconds: 1_000)
        #expect(!self.add(position: 6, at: 1_001))
        #expect(self.seen.written(by: job, nowMilliseconds: 1_002))
        #expect(self.write(at: 61_002) == ([6], false))
    }

    @Test func `what is beyond the bound is forgotten until there is room`() {
        for number in 0..<SeenInstallations.entriesMax {
            _ = self.add(number)
        }
        let extra = SeenInstallations.Key(zone: Self.zone, user: "_b", installation: [1])
        let position = SeenPosition(position: 1, sent: 1, atMilliseconds: 0)
        #expect(!self.seen.add(position, of: extra))
        #expect(self.seen.known(in: Self.zone)[extra] == nil)
        #expect(self.write(at: 1_000).positions.count == SeenInstallations.writtenMax)
        _ = self.seen.add(SeenPosition(position: 1, sent: 1, atMilliseconds: 61_000), of: extra)
        #expect(self.seen.known(in: Self.zone)[extra] != nil, "those that were written made room")
    }
}
