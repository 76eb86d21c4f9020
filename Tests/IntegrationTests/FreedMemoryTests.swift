import Foundation
import Testing

@testable import tidemark

/// Memory that a request has used stays for the next one.
@Suite(.timeLimit(.minutes(10)))
struct FreedMemoryTests {
    private static let rounds = 200
    private static let bytes = 1 << 19
    private static let pageBytes = 4_096

    /// Pages that the kernel has given to a process that fills and frees a block again and again.
    private static func pagesTaken() -> Int {
        var before = rusage()
        var after = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &before)
        for _ in 0..<self.rounds {
            // SAFETY: the block is filled within its length and freed once, before the next one is made.
            let block = UnsafeMutableRawPointer.allocate(byteCount: self.bytes, alignment: 16)
            block.initializeMemory(as: UInt8.self, repeating: 1, count: self.bytes)
            block.deallocate()
        }
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &after)
        return after.ru_minflt - before.ru_minflt
    }

    @Test
    func `memory of a request is there for the next one`() async {
        await #expect(processExitsWith: .success) {
            precondition(FreedMemory.keep())
            // Once each page, and not in each round.
            precondition(Self.pagesTaken() < 2 * Self.bytes / Self.pageBytes)
        }
    }
}
