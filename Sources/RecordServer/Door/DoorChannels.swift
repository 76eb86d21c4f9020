import NIOCore
import Synchronization

/// The listeners of other protocols, and their connections.
final class DoorChannels: Sendable {
    private struct State {
        var listeners: [any Channel] = []
        var open: [ObjectIdentifier: any Channel] = [:]
        var isDraining = false
    }

    private let state = Mutex(State())

    func listens(_ listener: any Channel) {
        self.state.withLock { $0.listeners.append(listener) }
    }

    /// Notes a connection until it is closed.
    func opened(_ channel: any Channel) {
        let isDraining = self.state.withLock { state in
            state.open[ObjectIdentifier(channel)] = channel
            return state.isDraining
        }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { _ = $0.open.removeValue(forKey: ObjectIdentifier(channel)) }
        }
        if isDraining { self.tellToEnd(channel) }
    }

    /// Accepts no further connections, and has the others end when nothing is asked of them.
    func drain() async {
        let (listeners, open) = self.state.withLock { state in
            state.isDraining = true
            defer { state.listeners = [] }
            return (state.listeners, Array(state.open.values))
        }
        for listener in listeners { try? await listener.close().get() }
        for channel in open { self.tellToEnd(channel) }
    }

    /// Closes all connections.
    func breakOff() {
        for channel in self.state.withLock({ Array($0.open.values) }) { channel.close(promise: nil) }
    }

    private func tellToEnd(_ channel: any Channel) {
        channel.eventLoop.execute {
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
    }
}
