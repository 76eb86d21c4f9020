import AssetStore
import Crypto
import Foundation
import NIOCore
import RecordModel
import StorageContract
import Synchronization
import TestSupport

/// A store in a folder of its own, and contents that are the same for the same seed.
struct AssetFiles {
    let directory: TemporaryDirectory
    let store: AssetStore
    /// Steps of the store so far, and which of them fails.
    let script = Script()

    /// Small chunks, so that short contents have many; steps are half of one.
    ///
    /// `before` is told of each step.
    init(
        chunkBytes: Int = 2_000,
        bytesMin: Int = 1,
        keptBytesMax: Int64 = .max,
        before: @escaping @Sendable (FileStep) -> Void = { _ in },
        reserveBytes: @escaping @Sendable () -> Int64 = { 0 }
    ) throws {
        self.directory = try TemporaryDirectory()
        var configuration = AssetStoreConfiguration(directory: self.directory.path + "/assets")
        configuration.chunks.bytes = chunkBytes
        configuration.chunks.bytesMin = bytesMin
        configuration.chunks.keptBytesMax = keptBytesMax
        configuration.reserveBytes = reserveBytes
        configuration.faults = { [script = self.script] step in
            before(step)
            return script.next(step)
        }
        self.store = AssetStore(configuration)
        try self.store.start()
    }

    static func contents(_ count: Int, using generator: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    static func asset(_ contents: [UInt8]) -> Asset {
        Asset(sha256: Array(SHA256.hash(data: contents)), size: Int64(contents.count))
    }

    func path(_ number: AssetNumber) -> String {
        let name = String(number.rawValue, radix: 16)
        let folder = ("0" + String(number.rawValue & 0xFF, radix: 16)).suffix(2)
        return "\(self.directory.path)/assets/\(folder)/\(name)"
    }

    func bytes(_ number: AssetNumber) -> [UInt8] {
        FileManager.default.contents(atPath: self.path(number)).map(Array.init) ?? []
    }

    /// Files of assets and their rows that are there.
    func names() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: self.directory.path + "/assets")
            .filter { $0.contains("/") }.sorted()
    }

    /// Makes a step fail, and counts steps.
    final class Script: Sendable {
        private struct State {
            var steps: [FileStep] = []
            var failing: (number: Int, errno: Int32)?
        }

        private let state = Mutex(State())

        var steps: [FileStep] { self.state.withLock { $0.steps } }

        /// Lets the step with this number fail, counted from now; none if `nil`.
        func fail(_ number: Int?, errno: Int32 = ENOSPC) {
            self.state.withLock { state in
                state.steps = []
                state.failing = number.map { ($0, errno) }
            }
        }

        func next(_ step: FileStep) -> Int32 {
            self.state.withLock { state in
                defer { state.steps.append(step) }
                guard let failing = state.failing, failing.number == state.steps.count else { return 0 }
                return failing.errno
            }
        }
    }
}

extension UploadFile {
    /// All steps of a recovery.
    func recovered() throws -> Int64 {
        while true {
            if let offset = try self.recover() { return offset }
        }
    }

    /// Appends bytes in pieces of some hundred.
    func append(_ contents: ArraySlice<UInt8>, pieceBytes: Int = 300) throws -> Int64 {
        var durable: Int64 = 0
        for start in stride(from: contents.startIndex, to: contents.endIndex, by: pieceBytes) {
            let piece = contents[start..<min(start + pieceBytes, contents.endIndex)]
            durable = try self.append([ByteBuffer(bytes: piece)])
            if self.wantsToBeDurable(isDue: false) { durable = try self.makeDurable() }
        }
        return durable
    }
}
