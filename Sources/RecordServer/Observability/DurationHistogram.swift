import StorageContract
import Synchronization

/// Durations that any thread may record: no lock, no allocation.
///
/// A record costs a search among the bounds and two additions; a concurrent reader may see the
/// count without the sum.
final class DurationHistogram: Sendable {
    private let counts = InlineArray<16, Atomic<Int64>> { _ in Atomic(0) }
    private let sum = Atomic<Int64>(0)

    init() {
        precondition(self.counts.count == DurationCounts.boundsNanoseconds.count + 1)
    }

    func record(nanoseconds: Int64) {
        self.counts[DurationCounts.bucket(of: nanoseconds)].add(1, ordering: .relaxed)
        self.sum.add(nanoseconds, ordering: .relaxed)
    }

    var reading: DurationCounts {
        DurationCounts(
            counts: self.counts.indices.map { self.counts[$0].load(ordering: .relaxed) },
            sumNanoseconds: self.sum.load(ordering: .relaxed)
        )
    }
}
