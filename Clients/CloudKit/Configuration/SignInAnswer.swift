private import Foundation
private import Synchronization

/// What the server last said to a connection's token: accepted or not.
final class SignInAnswer: Sendable {
    /// `nil`: it has not said anything yet.
    private let last = Mutex<Bool?>(nil)

    /// Takes up what the server said, and posts `CKAccountChanged` when it said something else before.
    func note(isAccepted: Bool) {
        let before = self.last.withLock { last in
            defer { last = isAccepted }
            return last
        }
        guard let before, before != isAccepted else { return }
        NotificationCenter.default.post(name: .CKAccountChanged, object: nil)
    }
}
