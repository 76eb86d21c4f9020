import Crypto
import Foundation
import Testing

/// What a server, or a client's cache, has of one asset on its disk: read without any code of theirs.
struct ServerFiles {
    let folder: String
    let size: Int64
    let sha256: [UInt8]

    init(folder: String, of file: URL) throws {
        let contents = try Data(contentsOf: file)
        self.folder = folder
        self.size = Int64(contents.count)
        self.sha256 = Array(SHA256.hash(data: contents))
    }

    /// Files of assets and their notes, below the folder of all.
    func names() -> [String] {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: self.folder)) ?? []
        return names.filter { $0.contains("/") }.sorted()
    }

    /// The last place up to which the file has the bytes that a note or the asset's own hash names; 0: none.
    func durable() throws -> Int64 {
        let files = self.names().filter { !$0.hasSuffix(".chunks") }
        guard let name = files.first else { return 0 }
        #expect(files.count == 1)
        let contents = try Data(contentsOf: URL(fileURLWithPath: self.folder + "/" + name))
        if contents.count >= self.size, self.isHash(self.sha256, of: contents.prefix(Int(self.size))) {
            return self.size
        }
        let path = self.folder + "/" + name + ".chunks"
        let notes = FileManager.default.contents(atPath: path) ?? Data()
        var durable: Int64 = 0
        for start in stride(from: 0, through: notes.count - 40, by: 40) {
            let offset = notes[start..<start + 8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            guard offset <= contents.count else { continue }
            let hash = Array(notes[start + 8..<start + 40])
            if self.isHash(hash, of: contents.prefix(Int(offset))) { durable = offset }
        }
        return durable
    }

    private func isHash(_ hash: [UInt8], of bytes: Data) -> Bool {
        SHA256.hash(data: bytes).elementsEqual(hash)
    }

    /// Whether a process has a file below the folder open.
    func isOpen(by processID: Int32) -> Bool {
        let descriptors =
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/fd")) ?? []
        return descriptors.contains { name in
            let path = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/\(processID)/fd/\(name)"
            )
            return path?.hasPrefix(self.folder + "/") == true
        }
    }

    /// Bytes of the unfinished file in a cache.
    static func partialBytes(in cache: String) -> Int64 {
        let folder = cache + "/partial"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let sizes = names.map { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            return (attributes?[.size] as? Int).map { Int64($0) } ?? 0
        }
        return sizes.max() ?? 0
    }
}
