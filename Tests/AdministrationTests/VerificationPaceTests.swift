import StorageContract
import Synchronization
import Testing

@testable import Administration

/// How a verification beside requests rests, and what it makes of pages that are being written.
struct VerificationPaceTests {
    /// Pages, of which some are wrong for so many looks.
    private final class ScriptedPages: StorePages {
        private let wrongLooks: Mutex<[Int: Int]>
        private let count: Int
        let pageBytes = 4_096

        init(_ count: Int, wrongLooks: [Int: Int]) {
            self.count = count
            self.wrongLooks = Mutex(wrongLooks)
        }

        func compare(
            from first: Int,
            count: Int
        ) throws(StoreCopyError) -> (compared: Int, isWrong: Bool) {
            self.wrongLooks.withLock { looks in
                for page in first..<min(first + count, self.count + 1) {
                    guard let left = looks[page], left > 0 else { continue }
                    looks[page] = left - 1
                    return (page - first + 1, true)
                }
                return (max(0, min(count, self.count + 1 - first)), false)
            }
        }
    }

    private func run(
        _ pages: ScriptedPages,
        after last: Int = 0
    ) async throws -> (wrong: [Int], compared: Int) {
        let pace = WorkPace(mebibytesPerSecond: 0)
        let verification = PageVerification(pages: pages, pace: pace, retryAfter: .zero)
        return try await verification.run(after: last) { _ in }
    }

    @Test
    func `a page that is wrong while it is written is none of the findings`() async throws {
        let (wrong, compared) = try await self.run(ScriptedPages(1_000, wrongLooks: [1: 1, 70: 3, 1_000: 2]))
        #expect(wrong == [] && compared == 1_000)
    }

    @Test
    func `pages that stay wrong are the findings, and those after a position are compared`() async throws {
        let looks = [5: 9, 64: 9, 65: 9, 1_000: 9]
        let (wrong, compared) = try await self.run(ScriptedPages(1_000, wrongLooks: looks))
        #expect(wrong == [5, 64, 65, 1_000] && compared == 1_000)
        let rest = try await self.run(ScriptedPages(1_000, wrongLooks: looks), after: 64)
        #expect(rest.wrong == [65, 1_000] && rest.compared == 936)
    }

    @Test
    func `work is followed by a rest of its part of the time, and by one of its rate`() {
        let pace = WorkPace(mebibytesPerSecond: 0, share: 0.01)
        let begin = ContinuousClock.now
        let rest = pace.seconds(after: 1, at: begin + .milliseconds(10))
        #expect((0.98...1.2).contains(rest))
        // A machine that stood still earns no hour of rest.
        #expect(pace.seconds(after: 1, at: begin + .seconds(3_600)) == 99)
        let rated = WorkPace(mebibytesPerSecond: 1)
        #expect((9.9...10).contains(rated.seconds(after: 10 * 1_048_576, at: .now)))
        #expect(WorkPace(mebibytesPerSecond: 0).seconds(after: 1 << 40, at: begin + .seconds(9)) == 0)
    }
}
