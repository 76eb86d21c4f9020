import FileIO
import Foundation
import TestSupport
import Testing

@Suite struct OpenFileTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        self.directory = try TemporaryDirectory()
        self.path = self.directory.path + "/file"
    }

    private func write(_ bytes: [UInt8], at offset: Int64, to file: OpenFile) throws {
        // SAFETY: the bytes are used within the call only.
        try bytes.withUnsafeBytes { try file.write($0, at: offset) }
    }

    private func read(_ count: Int, at offset: Int64, of file: OpenFile) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        // SAFETY: as above.
        let read = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
        return Array(bytes[..<read])
    }

    @Test func `a read returns what was written, and less at the end of the file`() throws {
        let file = try OpenFile(path: self.path, .write)
        try self.write(Array(0..<100), at: 0, to: file)
        try self.write(Array(100..<200), at: 100, to: file)
        #expect(try file.size() == 200)
        let reader = try OpenFile(path: self.path, .read)
        #expect(try self.read(50, at: 75, of: reader) == Array(75..<125))
        #expect(try self.read(50, at: 190, of: reader) == Array(190..<200))
        #expect(try self.read(50, at: 200, of: reader).isEmpty)
        try file.cut(to: 10)
        #expect(try self.read(50, at: 0, of: reader) == Array(0..<10))
        try file.sync()
    }

    @Test func `a file that is replaced is empty, and a link is not followed`() throws {
        try self.write(Array(0..<100), at: 0, to: OpenFile(path: self.path, .write))
        let file = try OpenFile(path: self.path, .replace)
        #expect(try file.size() == 0)
        try self.write([1], at: 0, to: file)
        #expect(try OpenFile(path: self.path, .write).size() == 1)
        let link = self.path + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: self.path)
        #expect(throws: FileError(errno: ELOOP)) { try OpenFile(path: link, .replace) }
        #expect(try file.size() == 1)
    }

    @Test func `a new file is readable for its owner only`() throws {
        let status = try OpenFile(path: self.path, .write).status()
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test func `a missing file is an error, and so is a link where a file is written`() throws {
        let error = #expect(throws: FileError.self) { try OpenFile(path: self.path, .read) }
        #expect(error?.isMissing == true)
        #expect(error?.reason == "No such file or directory")
        try FileManager.default.createSymbolicLink(atPath: self.path, withDestinationPath: "target")
        #expect(throws: FileError(errno: ELOOP)) { try OpenFile(path: self.path, .write) }
    }

    @Test(.timeLimit(.minutes(10)))
    func `opening a pipe for reading does not wait for its other end`() throws {
        #expect(mkfifo(self.path, 0o600) == 0)
        let status = try OpenFile(path: self.path, .read).status()
        #expect(status.st_mode & S_IFMT == S_IFIFO)
    }

    @Test func `a file is closed with its last reference`() throws {
        var file: OpenFile? = try OpenFile(path: self.path, .write)
        let descriptor = try #require(file?.descriptor)
        let writer = file.map { FileWriter($0, isLarge: false) }
        file = nil
        #expect(fcntl(descriptor, F_GETFD) >= 0)
        withExtendedLifetime(writer) {}
    }
}
