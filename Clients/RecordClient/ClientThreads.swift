import NIOCore
import NIOPosix

/// Threads on which clients run, and call back.
///
/// A callback that blocks stops all clients of its thread, so a caller that blocks needs threads
/// of its own. The threads stay until the process ends.
package final class ClientThreads: Sendable {
    /// One a processor, for all who do not ask for others.
    package static let shared = ClientThreads(.singleton)

    private let group: MultiThreadedEventLoopGroup

    package convenience init(count: Int) {
        self.init(MultiThreadedEventLoopGroup(numberOfThreads: count))
    }

    private init(_ group: MultiThreadedEventLoopGroup) { self.group = group }

    /// A thread for one more client, each in turn.
    func next() -> any EventLoop { self.group.next() }
}
