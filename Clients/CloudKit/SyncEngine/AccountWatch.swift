internal import Foundation

/// Observes, for as long as it exists, changes of a server's response to a token.
// SAFETY: its one property is a constant, an observer that the notification center removes; the
// center may be used by several threads.
final class AccountWatch: @unchecked Sendable {
    private let observer: any NSObjectProtocol

    init(_ notify: @escaping @Sendable () -> Void) {
        self.observer = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged,
            object: nil,
            queue: nil
        ) { _ in notify() }
    }

    deinit { NotificationCenter.default.removeObserver(self.observer) }
}
