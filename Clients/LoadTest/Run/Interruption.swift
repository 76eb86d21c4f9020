import Foundation
import Synchronization

/// Ctrl-C, or SIGTERM, while a load goes on.
///
/// The first one is noted, the second ends the process at once.
enum Interruption {
    /// How soon the first one is noticed.
    private static let beat = Duration.milliseconds(50)
    private static let signals = [SIGINT, SIGTERM]
    private static let count = Atomic<Int>(0)

    static var happened: Bool { self.count.load(ordering: .relaxed) > 0 }

    /// Notes signals from now on.
    static func arm() {
        // Made before a signal can come: nothing may be made in its handler.
        self.count.store(0, ordering: .relaxed)
        for number in self.signals {
            signal(number) { number in
                Interruption.count.add(1, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }

    /// Lets signals end the process again.
    static func disarm() {
        for number in self.signals { signal(number, SIG_DFL) }
    }

    /// Returns when it happened, or the task is cancelled.
    static func wait() async {
        while !self.happened, (try? await Task.sleep(for: self.beat)) != nil {}
    }
}
