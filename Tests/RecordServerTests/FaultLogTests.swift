import Logging
import TestSupport
import Testing

@testable import RecordServer

/// Lines of the log about faults that come with requests.
struct FaultLogTests {
    private let clock = ManualClock(milliseconds: 0)
    private let log = RecordingLog()
    private let faults: FaultLog

    init() {
        let clock = self.clock
        self.faults = FaultLog(self.log.logger, milliseconds: { clock.milliseconds })
    }

    private func fail(_ subject: String = "") {
        self.faults.tell("a fault", about: subject, metadata: ["what": "\(subject)"])
    }

    @Test func `a fault that repeats is a line at its begin, one in ten seconds, and one at its end`() {
        for _ in 0..<1_000 {
            self.fail()
            self.clock.advance(milliseconds: 25)
            self.faults.look()
        }
        #expect(self.log.lines.map(\.message) == ["a fault", "a fault", "a fault"])
        #expect(self.log.lines.map { $0.metadata["times"] } == [nil, "401", "801"])
        self.clock.advance(milliseconds: 10_000)
        self.faults.look()
        self.faults.look()
        #expect(self.log.lines.count == 4)
        let end = self.log.lines[3]
        #expect(end.message == "a fault has not come again for ten seconds")
        #expect(end.level == .notice)
        #expect(end.metadata == ["fault": "a fault", "times": "1000", "seconds": "24.9"])
        self.fail()
        #expect(self.log.lines.count == 5, "the next one is told at once")
    }

    @Test func `a fault of which every line was written has no line at its end`() {
        self.fail("a")
        self.fail("b")
        self.clock.advance(milliseconds: 60_000)
        self.faults.look()
        #expect(self.log.lines.map { $0.metadata["what"] } == ["a", "b"])
    }

    @Test func `each different subject of a fault is named, within a bound`() {
        let subjects = (0..<FaultLog.subjectsMax + 10).map(String.init)
        for subject in subjects + subjects { self.fail(subject) }
        let named = self.log.lines.map { $0.metadata["what"] }
        #expect(named == Array(subjects.prefix(FaultLog.subjectsMax)))
        // One that goes on for an hour names them anew.
        while self.clock.milliseconds < 3_600_000 {
            self.clock.advance(milliseconds: 9_000)
            self.faults.look()
            self.fail("0")
        }
        self.fail("1")
        #expect(self.log.lines.last?.metadata["what"] == "1")
    }

    @Test func `what was left out is told when the server stops`() {
        for _ in 0..<3 { self.fail() }
        self.faults.goesOn("an outage", refusing: 1, metadata: [:])
        self.faults.goesOn("an outage", refusing: 6, metadata: [:])
        self.clock.advance(milliseconds: 2_000)
        self.faults.end()
        #expect(
            self.log.lines.map(\.message) == ["a fault", "an outage", "a fault has repeated", "an outage"]
        )
        #expect(self.log.lines[2].metadata["times"] == "3")
        #expect(self.log.lines[3].metadata == ["refused": "7", "seconds": "2.0"])
    }

    @Test func `requests that are counted later belong to the outage, while it lasts`() {
        self.faults.refused(5, by: "an outage")
        self.faults.goesOn("an outage", refusing: 0, metadata: ["path": "/data"])
        self.faults.refused(5, by: "an outage")
        self.clock.advance(milliseconds: 12_000)
        self.faults.refused(5, by: "an outage")
        self.faults.ended("an outage", saying: "it works", metadata: [:])
        self.faults.refused(5, by: "an outage")
        #expect(self.log.lines.map { $0.metadata["refused"] } == ["0", "10", "10"])
        #expect(self.log.lines[1].metadata["path"] == "/data")
        #expect(self.log.lines[2].message == "it works")
    }
}
