internal import Foundation

/// Hears, as long as it exists, that a server's word on a token has changed.
// SAFETY: its one property is a constant, which the notification center, safe to be used by several threads, takes back.
final class AccountWatch: @unchecked Sendable {
    private let observer: any NSObjectProtocol

    init(_ heard: @escaping @Sendable () -> Void) {
        self.observer = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged,
            object: nil,
            queue: nil
        ) { _ in heard() }
    }

    deinit { NotificationCenter.default.removeObserver(self.observer) }
}
