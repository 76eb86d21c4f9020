import RecordModel
import Synchronization
import WireProtocol

/// Number of failures sent, by error: no lock, since an overloaded server refuses ten thousand
/// requests a second.
final class FailureCounts: Sendable {
    /// CloudKit's numbers are below 48, ours from 1000 on; the last index counts every other.
    private let counts = InlineArray<65, Atomic<Int64>> { _ in Atomic(0) }
    private static let other = 64

    func add(_ code: ErrorCode) {
        self.counts[Self.offset(of: code)].add(1, ordering: .relaxed)
    }

    private static func offset(of code: ErrorCode) -> Int {
        switch code.rawValue {
        case 0..<48: Int(code.rawValue)
        case 1_000..<1_016: Int(code.rawValue) - 1_000 + 48
        default: self.other
        }
    }

    /// Counts by the names of the registry, and `other`; zeros too, so that a first failure shows
    /// as an increase.
    var readings: [(name: String, count: Int64)] {
        let named = ErrorCode.names.sorted { $0.key.rawValue < $1.key.rawValue }.map { code, name in
            (name, self.counts[Self.offset(of: code)].load(ordering: .relaxed))
        }
        return named + [("other", self.counts[Self.other].load(ordering: .relaxed))]
    }
}
