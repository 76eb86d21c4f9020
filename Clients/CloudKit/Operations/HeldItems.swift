private import Synchronization
internal import WireProtocol

/// Items that failed, kept to the end of a request: only then it is plain which of them another attempt may help.
final class HeldItems: Sendable {
    private let holds: Bool
    private let items = Mutex<[Item]>([])

    /// With `holds` failures are kept.
    init(holds: Bool) { self.holds = holds }

    /// Returns those that are not kept, in their order.
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
