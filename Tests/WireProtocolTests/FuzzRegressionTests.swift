import Foundation
import FuzzInput
import TestSupport
import Testing

@Suite struct FuzzRegressionTests {
    @Test func `what made-up bytes once broke holds`() throws {
        let folder = ProtocolFiles.folder.deletingLastPathComponent().appendingPathComponent(
            "Tests/Fuzz/Regressions"
        )
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            FuzzInput.run([UInt8](try Data(contentsOf: file)))
        }
    }

    /// The fuzzer's own loop, short and seeded, for machines that do not run the fuzzer.
    @Test func `vectors with bytes changed, cut and repeated keep the property`() throws {
        var generator = SeededGenerator.fromEnvironment()
        print("seed \(generator.seed)")
        let vectors = try Vector.all().filter { $0.bytes.count < 2_000 }
        for _ in 0..<5_000 {
            guard let vector = vectors.randomElement(using: &generator) else { break }
            var bytes = vector.bytes
            for _ in 0..<Int.random(in: 0...3, using: &generator) where !bytes.isEmpty {
                let index = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.removeSubrange(index...)
                default: bytes.insert(contentsOf: bytes[index...].prefix(20), at: index)
                }
            }
            FuzzInput.run([UInt8(FuzzInput.subjects.firstIndex(of: vector.message) ?? 0)] + bytes)
        }
    }
}
