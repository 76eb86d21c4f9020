import Administration
import Foundation
import Logging
import RecordServer
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import tidemark

/// What an engine reports, as an operator reads it.
struct EngineLogTests {
    private final class Lines: Sendable {
        private let written = Mutex<[String]>([])

        var all: [String] { self.written.withLock { $0 } }

        func add(_ line: String) { self.written.withLock { $0.append(line) } }
    }

    private let lines = Lines()
    private let clock = ManualClock(milliseconds: 0)
    private let log: EngineLog

    init() {
        let (lines, clock) = (self.lines, self.clock)
        let logger = Logger(label: "test") { label in
            LineLogHandler(label: label, format: .json, hasPriorities: false) { lines.add($0) }
        }
        let faults = FaultLog(logger, milliseconds: { clock.milliseconds })
        self.log = EngineLog(faults, of: DataFolder(path: "/data"))
    }

    /// Requests of a client that repeats them 40 times a second.
    private func refuse(seconds: Int, _ event: EngineEvent) {
        for _ in 0..<(seconds * 40) {
            self.log.tell(event)
            self.clock.advance(milliseconds: 25)
        }
    }

    @Test func `an outage of the files is a line at its begin, one in ten seconds, and one at its end`()
        throws
    {
        self.refuse(seconds: 25, .storageUnavailable(code: 266))
        self.log.tell(.storageAvailable)
        try #require(self.lines.all.count == 4, "\(self.lines.all)")
        for line in self.lines.all.prefix(3) {
            #expect(line.contains("the files of the store could not be used") && line.contains("266"))
        }
        let end = self.lines.all[3]
        #expect(end.contains("the files of the store can be used again"))
        #expect(end.contains("\"seconds\":25") && end.contains("\"refused\":1000"), "\(end)")
    }

    @Test(arguments: [
        (EngineEvent.diskFull, EngineEvent.diskHasRoom), (.writesFail(code: 778), .writesWork),
    ])
    func `a disk that takes no changes is told of in the same way`(
        begin: EngineEvent,
        end: EngineEvent
    ) throws {
        self.log.tell(.changesRefused(1))
        self.log.tell(begin)
        self.refuse(seconds: 15, .changesRefused(2))
        self.log.tell(end)
        self.log.tell(.changesRefused(1))
        try #require(self.lines.all.count == 3, "\(self.lines.all)")
        #expect(self.lines.all[0].contains("\"refused\":0"))
        #expect(
            self.lines.all[2].contains("\"seconds\":15") && self.lines.all[2].contains("\"refused\":1200")
        )
    }
}
