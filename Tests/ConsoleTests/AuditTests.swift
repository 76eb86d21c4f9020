import Foundation
import TestSupport
import Testing

@testable import Console

/// The record of what people changed from pages.
@Suite(.timeLimit(.minutes(10)))
struct AuditTests {
    private let folder: TemporaryDirectory
    private let path: String
    private let clock = ManualClock()

    init() throws {
        self.folder = try TemporaryDirectory()
        self.path = self.folder.path + "/console.log"
    }

    private func audit(_ echo: @escaping @Sendable (String) -> Void = { _ in }) -> ConsoleAudit {
        let clock = self.clock
        return ConsoleAudit(path: self.path, person: "ops", now: { clock.milliseconds }, echo: echo)
    }

    @Test
    func `a change is there with its outcome, and without one if the console ended before`() throws {
        let audit = self.audit()
        let first = try audit.begin(
            "do\n\u{202E}this",
            container: "c",
            environment: "production",
            sentence: ""
        )
        audit.end(first, .done)
        _ = try audit.begin("do that", container: "c", environment: "development", sentence: "")
        let third = try audit.begin("fail", container: "d", environment: "development", sentence: "")
        audit.end(third, .refused, text: "Because.")
        let entries = self.audit().entries(limit: 10)
        #expect(entries.map(\.what) == ["fail", "do that", "do\n\u{202E}this"])
        #expect(entries.map(\.outcome) == [.refused, nil, .done])
        #expect(entries.map(\.text) == ["Because.", "", ""])
        #expect(entries.allSatisfy { $0.person == "ops" && $0.atMilliseconds == self.clock.milliseconds })
        #expect(self.audit().entries(limit: 1).map(\.what) == ["fail"])
        let mode = try FileManager.default.attributesOfItem(atPath: self.path)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
    }

    @Test
    func `lines that are none are left out, and what cannot be written is refused`() throws {
        try "no JSON\n{}\n{\"id\":\"x\",\"at\":1,\"outcome\":\"done\"}\n{\"id\":"
            .write(toFile: self.path, atomically: false, encoding: .utf8)
        #expect(self.audit().entries(limit: 10).isEmpty)
        try FileManager.default.removeItem(atPath: self.path)
        // Not even somebody else's file behind a link.
        try FileManager.default.createSymbolicLink(
            atPath: self.path,
            withDestinationPath: self.folder.path + "/other"
        )
        #expect(throws: ConsoleAudit.Failure.self) {
            _ = try self.audit().begin("x", container: "c", environment: "production", sentence: "")
        }
        #expect(!FileManager.default.fileExists(atPath: self.folder.path + "/other"))
    }

    @Test
    func `a file that is full gives room, and keeps its last lines under another name`() throws {
        let line = "{\"id\":\"old\",\"at\":1,\"what\":\"old\"}\n"
        let count = ConsoleAudit.fileBytesMax / line.utf8.count + 1
        try String(repeating: line, count: count)
            .write(toFile: self.path, atomically: false, encoding: .utf8)
        #expect(self.audit().entries(limit: .max).count < count, "a page reads the end alone")
        _ = try self.audit().begin("new", container: "c", environment: "production", sentence: "")
        #expect(self.audit().entries(limit: 10).map(\.what) == ["new"])
        #expect(FileManager.default.fileExists(atPath: self.path + ".1"))
    }
}
