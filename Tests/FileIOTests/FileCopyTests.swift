import FileIO
import Foundation
import TestSupport
import Testing

struct FileCopyTests {
    @Test func `nothing is written where a link in the place of a file leads`() throws {
        let folder = try TemporaryDirectory()
        let (source, link) = (folder.path + "/source", folder.path + "/link")
        try Data("asset".utf8).write(to: URL(fileURLWithPath: source))
        let victim = folder.path + "/victim"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: victim)
        #expect(throws: FileCopy.Failure.target(FileError(errno: ELOOP))) {
            try FileCopy.copy(source, to: link, progress: { _ in })
        }
        #expect(!FileManager.default.fileExists(atPath: victim))
    }

    @Test func `a copy has the bytes of its source, and nothing of what was there`() throws {
        let folder = try TemporaryDirectory()
        let (source, target) = (folder.path + "/source", folder.path + "/target")
        let contents = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        try contents.write(to: URL(fileURLWithPath: source))
        try (contents + contents).write(to: URL(fileURLWithPath: target))
        var counted = 0
        let copy = try FileCopy.copy(source, to: target, progress: { counted += $0 })
        #expect(counted == 3_000_000 && copy.bytes == 3_000_000)
        #expect(FileManager.default.contents(atPath: target) == contents)
        #expect(try FileCopy.look(at: source) == copy)
        #expect(throws: FileCopy.Failure.source(FileError(errno: ENOENT))) {
            try FileCopy.copy(folder.path + "/nothing", to: target, progress: { _ in })
        }
    }
}
