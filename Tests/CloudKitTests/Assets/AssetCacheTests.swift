import Crypto
import FileIO
import Foundation
import RecordClient
import RecordModel
import TestSupport
import Testing

@testable import CloudKit

private func asset(_ bytes: [UInt8]) -> Asset {
    Asset(sha256: Array(SHA256.hash(data: bytes)), size: Int64(bytes.count))
}

private func sample(_ count: Int, _ seed: Int = 1) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251 &+ seed) }
}

private func write(_ bytes: some Collection<UInt8>, to partial: PartialAsset, at offset: Int64 = 0) throws {
    try Array(bytes).withUnsafeBytes {
        try partial.write([$0], at: offset)
        partial.hash($0)
    }
}

struct `A cache of assets` {
    private let folder: TemporaryDirectory
    private let cache: AssetCache

    init() throws {
        self.folder = try TemporaryDirectory()
        self.cache = AssetCache.at(self.folder.path, bytesMax: 1_000)
    }

    private func add(_ bytes: [UInt8]) throws -> CachedAsset {
        let partial = try self.cache.partial(of: asset(bytes))
        try write(bytes, to: partial)
        #expect(partial.isAsset)
        return try self.cache.takeIn(partial)
    }

    private func paths(_ part: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.folder.path + "/" + part).sorted()
    }

    private func age(_ name: String, by seconds: Double, in part: String = "assets") throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -seconds)],
            ofItemAtPath: "\(self.folder.path)/\(part)/\(name)"
        )
    }

    @Test func `finds a file by its hash and makes it read-only`() async throws {
        let bytes = sample(3_000)
        let added = try self.add(bytes)
        let found = try #require(try await self.cache.find(asset(bytes)))
        #expect(found.url == added.url)
        #expect(try Array(Data(contentsOf: found.url)) == bytes)
        let mode = try FileManager.default.attributesOfItem(atPath: found.url.path)[.posixPermissions]
        #expect(mode as? Int == 0o400)
        #expect(try await self.cache.find(asset(sample(3_000, 2))) == nil)
        #expect(try self.paths("partial").isEmpty)
    }

    @Test func `leaves a large file to the disk, and goes on with it at a page`() async throws {
        let size = Int(FileWriter.largeBytesMin)
        // SAFETY: freed at the end of the test, all of it set.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: FileWriter.pageBytes)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 7)
        memory.copyBytes(from: sample(1_000))
        var sha256 = SHA256()
        sha256.update(bufferPointer: FileBytes(memory))
        let large = Asset(sha256: Array(sha256.finalize()), size: Int64(size))
        let cut = size / 2 + 77
        do {
            let first = try self.cache.partial(of: large)
            try first.write([FileBytes(rebasing: memory[..<cut])], at: 0)
            try first.write([], at: Int64(cut))
            #expect(first.length == cut)
        }
        let second = try self.cache.partial(of: large)
        try await second.recover()
        #expect(second.length == size / 2)
        let rest = FileBytes(rebasing: memory[(size / 2)...])
        let before = try ResidentPages.bytes(of: second.path)
        try second.write([rest], at: Int64(size / 2))
        second.hash(rest)
        #expect(second.isAsset)
        #expect(try ResidentPages.bytes(of: second.path) <= before)
    }

    @Test func `removes a file that is not what it should be`() async throws {
        let bytes = sample(300)
        let added = try self.add(bytes)
        chmod(added.url.path, 0o600)
        try Data(sample(300, 2)).write(to: added.url)
        #expect(try await self.cache.find(asset(bytes)) == nil)
        #expect(!FileManager.default.fileExists(atPath: added.url.path))
    }

    @Test func `continues a file of an earlier process, after hashing it`() async throws {
        let bytes = sample(300_000)
        let name = asset(bytes).name
        do {
            let first = try self.cache.partial(of: asset(bytes))
            try write(bytes[..<200_000], to: first)
        }
        let second = try self.cache.partial(of: asset(bytes))
        try await second.recover()
        #expect(second.length == 200_000 && second.path.hasSuffix(name))
        try write(bytes[200_000...], to: second, at: 200_000)
        #expect(second.isAsset)
        #expect(throws: FileFailure.self) { try write([0], to: second, at: 5) }
    }

    @Test func `forgets what is longer than the file may be, and sees what was damaged`() async throws {
        let bytes = sample(1_000)
        _ = try self.cache.partial(of: asset(bytes))
        let path = self.folder.path + "/partial/" + asset(bytes).name
        try Data(sample(1_001)).write(to: URL(fileURLWithPath: path))
        let longer = try self.cache.partial(of: asset(bytes))
        try await longer.recover()
        #expect(longer.length == 0)
        try write(sample(1_000, 9), to: longer)
        #expect(!longer.isAsset)
    }

    @Test func `gives a second download of the same file a file of its own`() throws {
        let bytes = sample(10)
        let first = try self.cache.partial(of: asset(bytes))
        let second = try self.cache.partial(of: asset(bytes))
        #expect(first.path != second.path)
        for partial in [first, second] {
            try write(bytes, to: partial)
            #expect(try Data(contentsOf: self.cache.takeIn(partial).url) == Data(bytes))
        }
    }

    @Test func `removes the least recently used files when it is too large, and none that an asset names`()
        throws
    {
        let named = try self.add(sample(900, 1))
        var others: [String] = []
        for seed in 2...4 { others.append(try self.add(sample(600, seed)).url.lastPathComponent) }
        try self.age(named.url.lastPathComponent, by: 10_000)
        for (index, name) in others.enumerated() { try self.age(name, by: 5_000 - Double(index)) }
        self.cache.sweep(now: time(nil))
        #expect(try self.paths("assets") == [named.url.lastPathComponent])
        let recent = try self.add(sample(600, 5)).url.lastPathComponent
        self.cache.sweep(now: time(nil))
        // What was used within the last minutes stays, for code that has let go of the asset and
        // reads the file.
        #expect(try self.paths("assets") == [named.url.lastPathComponent, recent].sorted())
        withExtendedLifetime(named) {}
    }

    @Test func `keeps files that another process names, until that process has ended`() throws {
        let name = try self.add(sample(2_000)).url.lastPathComponent
        try self.age(name, by: 10_000)
        let leases = self.folder.path + "/leases/1-1"
        try FileManager.default.createDirectory(atPath: leases, withIntermediateDirectories: true)
        link(self.folder.path + "/assets/" + name, leases + "/" + name)
        do {
            let alive = FolderLock(leases + ".lock", isExclusive: true, waits: false)
            self.cache.sweep(now: time(nil))
            #expect(try self.paths("assets") == [name])
            withExtendedLifetime(alive) {}
        }
        self.cache.sweep(now: time(nil))
        #expect(try self.paths("assets").isEmpty)
        #expect(!FileManager.default.fileExists(atPath: leases))
    }

    @Test func `removes the rest of an abandoned download`() throws {
        do { _ = try self.cache.partial(of: asset(sample(10))) }
        let held = try self.cache.partial(of: asset(sample(11)))
        let names = try self.paths("partial")
        #expect(names.count == 2)
        for name in names { try self.age(name, by: 8 * 86_400, in: "partial") }
        self.cache.sweep(now: time(nil))
        #expect(try self.paths("partial") == [asset(sample(11)).name])
        withExtendedLifetime(held) {}
    }

    @Test func `is in the folder that is named, or the user's`() {
        func folder(_ variables: [String: String]) -> String {
            AssetCache.defaultFolder(variables: variables, program: "/usr/bin/photos")
        }
        #expect(folder(["TIDEMARK_CACHE": "/c", "XDG_CACHE_HOME": "/x"]) == "/c")
        #expect(folder(["XDG_CACHE_HOME": "/x"]) == "/x/tidemark/photos")
        #expect(folder(["HOME": "/h"]) == "/h/.cache/tidemark/photos")
        #expect(folder([:]).hasSuffix("/.cache/tidemark/photos"))
    }
}

struct `A file that is saved` {
    private let folder: TemporaryDirectory

    init() throws { self.folder = try TemporaryDirectory() }

    private func file(_ bytes: [UInt8]) throws -> URL {
        let url = URL(fileURLWithPath: self.folder.path + "/file")
        try Data(bytes).write(to: url)
        return url
    }

    @Test(arguments: [0, 1, 256 * 1024, 9 * 1024 * 1024 + 17])
    func `is hashed as it is`(count: Int) async throws {
        let bytes = sample(count)
        let file = try AssetFile(try self.file(bytes))
        #expect(try await file.contents() == asset(bytes))
        try file.checkUnchanged()
    }

    @Test func `is refused when it is missing, a folder, or no file`() throws {
        #expect(throws: FileFailure.self) { try AssetFile(URL(fileURLWithPath: self.folder.path + "/none")) }
        for path in [self.folder.path, "/dev/null"] {
            let error = #expect(throws: FileFailure.self) { try AssetFile(URL(fileURLWithPath: path)) }
            #expect(error.map { CKError($0).code } == .invalidArguments)
        }
        let pipe = self.folder.path + "/pipe"
        mkfifo(pipe, 0o600)
        #expect(throws: FileFailure.self) { try AssetFile(URL(fileURLWithPath: pipe)) }
        let loop = self.folder.path + "/loop"
        #expect(symlink(loop, loop) == 0)
        let unopened = #expect(throws: FileFailure.self) { try AssetFile(URL(fileURLWithPath: loop)) }
        #expect(unopened.map { CKError($0).code } == .assetNotAvailable)
        #expect(CKError(FileFailure.failed("")).code == .internalError)
        #expect(CKError(FileFailure.missing("")).code == .assetFileNotFound)
        #expect(CKError(FileFailure.modified("")).code == .assetFileModified)
    }

    @Test func `is found changed when it grows, shrinks, is written to or replaced`() throws {
        let url = try self.file(sample(100))
        let changes: [() throws -> Void] = [
            { try Data(sample(101)).write(to: url) },
            { truncate(url.path, 50) },
            {
                let handle = try FileHandle(forWritingTo: url)
                try handle.write(contentsOf: Data([1]))
                try handle.close()
            },
            { try Data(sample(100)).write(to: url, options: .atomic) },
            { try FileManager.default.removeItem(at: url) },
        ]
        for change in changes {
            _ = try self.file(sample(100))
            let file = try AssetFile(url)
            // Times of files are those of the kernel's clock, which ticks a few hundred times a second.
            usleep(20_000)
            try change()
            #expect(throws: FileFailure.self) { try file.checkUnchanged() }
        }
    }

    @Test func `is found changed when it ends too early`() throws {
        let url = try self.file(sample(100))
        let file = try AssetFile(url)
        truncate(url.path, 50)
        var memory = [UInt8](repeating: 0, count: 100)
        let error = #expect(throws: FileFailure.self) {
            try memory.withUnsafeMutableBytes { try file.read(at: 0, into: $0) }
        }
        #expect(error.map { CKError($0).code } == .assetFileModified)
    }
}
