import FileIO
import Foundation
import SystemCrypto
import TestSupport
import Testing

/// Archives: what `tar` makes of ours, and what the reader makes of anything else.
struct TarTests {
    /// Sizes around blocks and pieces.
    private static let sizes = [0, 1, 511, 512, 513, 100_000, 1_048_576, 1_048_577]

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) }
    }

    private func archive(_ sizes: [Int], at path: String) throws {
        let file = try OpenFile(path: path, .replace)
        var tar = TarWriter(descriptor: file.descriptor)
        for size in sizes {
            try tar.begin(TarEntry(path: "folder/\(size)", bytes: Int64(size), modified: 1_700_000_000))
            // SAFETY: the bytes are used in the call only.
            try Self.bytes(size).withUnsafeBytes { try tar.write($0) }
        }
        try tar.finish()
    }

    private func read(_ path: String) throws -> [String: [UInt8]] {
        let file = try OpenFile(path: path, .read)
        var tar = TarReader(descriptor: file.descriptor)
        var found: [String: [UInt8]] = [:]
        while let entry = try tar.next() {
            var bytes: [UInt8] = []
            try tar.readFile { bytes += $0 }
            found[entry.path] = bytes
        }
        return found
    }

    @Test func `tar lists and extracts what was written, byte by byte`() async throws {
        let folder = try TemporaryDirectory()
        try self.archive(Self.sizes, at: folder.path + "/a.tar")
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "cd '\(folder.path)' && tar tvf a.tar && tar xf a.tar"]
        )
        #expect(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(outcome.output.split(separator: "\n").count == Self.sizes.count)
        #expect(outcome.output.hasPrefix("-rw------- 0/0 "))
        for size in Self.sizes {
            let data = FileManager.default.contents(atPath: folder.path + "/folder/\(size)")
            #expect(data == Data(Self.bytes(size)))
        }
        let ours = try self.read(folder.path + "/a.tar")
        #expect(ours == Dictionary(uniqueKeysWithValues: Self.sizes.map { ("folder/\($0)", Self.bytes($0)) }))
    }

    @Test(arguments: [TarEntry.plainBytesMax, TarEntry.plainBytesMax + 1, 1 << 40])
    func `sizes beyond the digits of a header are read by others`(bytes: Int64) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/large.tar"
        do {
            let file = try OpenFile(path: path, .replace)
            var tar = TarWriter(descriptor: file.descriptor)
            try tar.begin(TarEntry(path: "large", bytes: bytes, modified: 1))
        }
        let script = "import sys, tarfile; print(tarfile.open(sys.argv[1], 'r|').next().size)"
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            ["-c", script, path]
        )
        #expect(outcome.output == "\(bytes)\n", "\(outcome.errors)")
        let file = try OpenFile(path: path, .read)
        var tar = TarReader(descriptor: file.descriptor)
        #expect(try tar.next()?.bytes == bytes)
    }

    @Test(arguments: [TarEntry.plainBytesMax, TarEntry.plainBytesMax + 1, 1 << 40])
    func `a header of either spelling gives its entry back, and its spelling`(bytes: Int64) {
        let entry = TarEntry(path: "assets/x", bytes: bytes, modified: 1)
        for spelling in [TarEntry.Spelling.standard, .early] {
            let blocks = entry.header(spelling).chunks(of: TarEntry.blockBytes)
            #expect(blocks.count == (bytes > TarEntry.plainBytesMax ? 3 : 1))
            func read(_ wanted: TarEntry.Spelling?) -> (entry: TarEntry, spelling: TarEntry.Spelling)? {
                var rest = blocks[...]
                return rest.popFirst().flatMap { first in
                    TarEntry.read(first, spelling: wanted) { rest.removeFirst() }
                }
            }
            #expect(read(nil)?.entry == entry)
            #expect(read(nil)?.spelling == spelling)
            #expect(read(spelling)?.entry == entry)
            #expect(read(spelling == .early ? .standard : .early) == nil)
        }
    }

    @Test func `an archive that ends anywhere before its end is cut`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.tar"
        try self.archive([0, 600, 3], at: path)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        for length in 0..<whole.count {
            try whole.prefix(length).write(to: URL(fileURLWithPath: path))
            #expect(throws: TarReader.Failure.cut(at: Int64(length))) { try self.read(path) }
        }
    }

    /// Bytes of files have hashes of their own; all else is compared by the reader.
    @Test func `a changed bit is damage, in every byte that is not a file's`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/a.tar"
        try self.archive([600], at: path)
        let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(whole.count == 512 + 1_024 + 1_024)
        for offset in whole.indices where !(512..<1_112).contains(offset) {
            var changed = whole
            changed[offset] ^= 0x10
            try Data(changed).write(to: URL(fileURLWithPath: path))
            #expect(throws: TarReader.Failure.self, "byte \(offset)") { try self.read(path) }
        }
        try Data(whole + [0]).write(to: URL(fileURLWithPath: path))
        #expect(throws: TarReader.Failure.damaged(at: 2_560)) { try self.read(path) }
    }

    @Test func `a file may be filled up with zeros`() throws {
        let folder = try TemporaryDirectory()
        do {
            let file = try OpenFile(path: folder.path + "/a.tar", .replace)
            var tar = TarWriter(descriptor: file.descriptor)
            try tar.begin(TarEntry(path: "a", bytes: 100_000, modified: 1))
            var hash = SHA256()
            try tar.fill(hashing: &hash)
            try tar.finish()
            let zeros = folder.path + "/zeros"
            try Data(count: 100_000).write(to: URL(fileURLWithPath: zeros))
            #expect(try hash.value == FileCopy.look(at: zeros).sha256)
        }
        #expect(try self.read(folder.path + "/a.tar") == ["a": [UInt8](repeating: 0, count: 100_000)])
    }
}

extension [UInt8] {
    fileprivate func chunks(of count: Int) -> [[UInt8]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<$0 + count]) }
    }
}
