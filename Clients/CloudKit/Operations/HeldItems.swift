private import Synchronization
internal import WireProtocol

/// Failed items that are kept until the end of a request: only then it is known which of them to
/// send again.
final class HeldItems: Sendable {
    private let holds: Bool
    private let items = Mutex<[Item]>([])

    /// With `holds`, failures are kept.
    init(holds: Bool) { self.holds = holds }

    /// Returns the items that are not kept, in order.
    func passing(_ items: [Item]) -> [Item] {
        guard self.holds else { return items }
        var passing: [Item] = []
        var failed: [Item] = []
        for item in items {
            if case .failure = item.outcome { failed.append(item) } else { passing.append(item) }
        }
        self.items.withLock { $0 += failed }
        return passing
    }

    func take() -> [Item] {
        self.items.withLock { items in
            defer { items = [] }
            return items
        }
    }
}
