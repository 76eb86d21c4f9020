import FileIO
import Foundation
import TestSupport
import Testing

@Suite struct FileErrorTests {
    @Test func `an error of the system is found below those of Foundation`() throws {
        let full = POSIXError(.ENOSPC)
        let wrapped = CocoaError(.fileWriteUnknown, userInfo: [NSUnderlyingErrorKey: full])
        let twice = CocoaError(.fileWriteUnknown, userInfo: [NSUnderlyingErrorKey: wrapped])
        let objective = NSError(domain: NSCocoaErrorDomain, code: 640)
        for error in [full, wrapped, twice, objective, CocoaError(.fileWriteOutOfSpace)] as [any Error] {
            #expect(FileError(wrapped: error)?.errno == ENOSPC, "\(error)")
        }
        #expect(FileError(wrapped: CocoaError(.fileWriteUnknown)) == nil)
        #expect(FileError(wrapped: CancellationError()) == nil)
    }

    @Test func `a file that Foundation cannot write has the system's error`() throws {
        let directory = try TemporaryDirectory()
        let none = URL(fileURLWithPath: directory.path + "/none/file")
        #expect(throws: (any Error).self) { try Data().write(to: none, options: .atomic) }
        do {
            try Data("a".utf8).write(to: none)
            Issue.record("there is no such folder")
        } catch {
            #expect(FileError(wrapped: error)?.isMissing == true, "\(error)")
        }
        do {
            let device = try #require(FileHandle(forWritingAtPath: "/dev/full"))
            try device.write(contentsOf: Data("a".utf8))
            Issue.record("the device is always full")
        } catch {
            #expect(FileError(wrapped: error)?.errno == ENOSPC, "\(error)")
        }
    }
}
