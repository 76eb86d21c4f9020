import ArgumentParser
import RecordModel
import Testing

@testable import tidemark_load

/// The rows with listeners that fetch what they are told of.
@Suite
struct FollowingTests {
    @Test
    func `saves are due at their rate, and those of the warm-up do not count`() {
        let schedule = Following.Schedule(rate: 40, warmUp: 0.5, duration: 3)
        #expect(schedule.count == 140)
        #expect(schedule.uncounted == 20)
        #expect((0..<3).map { schedule.secondsUntil($0) } == [0, 0.025, 0.05])
    }

    @Test(arguments: [0, 7, 19_999])
    func `the name of a record has the number of its save`(number: Int) {
        let name = Following.save(number).id.recordName
        #expect(name.utf8.count == 36)
        #expect(Following.number(in: name) == number)
    }

    @Test
    func `a name of another form has no number`() {
        #expect(Following.number(in: "watched") == nil)
    }

    @Test(
        arguments: [
            ["follow-rate"], ["fetch", "--rate", "40"], ["follow-rate", "--rate", "0"],
            ["follow-rate", "--rate", "20000"], ["follow-rate", "--rate", "40", "--duration", "600"],
        ]
    )
    func `a rate is for follow-rate alone, and for no more saves than there are records`(
        arguments: [String]
    ) {
        #expect(throws: (any Error).self) { try BenchCommand.parse(arguments) }
    }

    @Test
    func `the command line of a rate is taken`() throws {
        let command = try BenchCommand.parse([
            "follow-rate", "--connections", "1000", "--rate", "40", "--duration", "3", "--warm-up", "0.5",
        ])
        #expect(command.schedule == Following.Schedule(rate: 40, warmUp: 0.5, duration: 3))
    }

    @Test
    func `memory is read as the kernel has it`() throws {
        let (now, most) = (
            try BenchCommand.kib("VmRSS", of: "self"), try BenchCommand.kib("VmHWM", of: "self")
        )
        #expect(now > 0 && most > 0)
        #expect(throws: LoadFailure.self) { try BenchCommand.kib("VmRSS", of: "none") }
    }

    @Test(arguments: BenchRow.allCases.filter(\.isOfSDK))
    func `an operation of the SDK counts as its base does`(row: BenchRow) {
        let bases: [BenchRow: BenchRow] = [
            .sdkFetch: .fetchBatch, .sdkQuery: .querySorted, .sdkChanges: .changePage,
            .sdkSave: .batchOwnZone, .engineFetch: .zoneFetch, .engineSend: .zoneSave,
        ]
        guard let base = bases[row] else { return }
        #expect(row.itemsPerAnswer == base.itemsPerAnswer)
    }
}

/// Listeners that come back after a restart of their server.
@Suite
struct StormTests {
    private let start = ContinuousClock.now

    @Test
    func `a listener counts when it was away, has the record and is current`() {
        var storm = Following.Storm()
        storm.current(1, at: self.start)
        #expect(storm.start == nil)
        storm.interrupted(1, at: self.start)
        // It is back before the record is saved.
        storm.current(1, at: self.start + .seconds(1))
        #expect(storm.latencies.count == 0)
        storm.informed(1)
        storm.current(1, at: self.start + .seconds(2))
        storm.current(1, at: self.start + .seconds(3))
        #expect(storm.latencies.count == 1)
        #expect(abs(storm.latencies.maxMilliseconds - 2_000) < 2)
    }

    @Test
    func `the time counts from the first end, also for a listener with the record before its own`() {
        var storm = Following.Storm()
        storm.interrupted(1, at: self.start)
        storm.informed(2)
        storm.current(2, at: self.start + .seconds(1))
        #expect(storm.latencies.count == 0)
        storm.interrupted(2, at: self.start + .seconds(2))
        storm.current(2, at: self.start + .seconds(4))
        #expect(storm.start == self.start)
        #expect(storm.latencies.count == 1)
        #expect(abs(storm.latencies.maxMilliseconds - 4_000) < 4)
    }
}
