import NIOCore
import Synchronization

/// The connections that have shown no session yet.
///
/// Every user of the machine can connect, and say nothing. These connections have a bound of their
/// own, and the oldest goes for a new one, so they take no room from a browser with a session.
final class Strangers: Sendable {
    static let connectionsMax = 32

    /// In the order of their beginnings.
    private let channels = Mutex<[any Channel]>([])

    func connected(_ channel: any Channel) {
        let oldest = self.channels.withLock { channels -> (any Channel)? in
            channels.append(channel)
            return channels.count > Self.connectionsMax ? channels.removeFirst() : nil
        }
        oldest?.close(promise: nil)
    }

    /// The connection has shown a session, or is closed.
    func left(_ channel: any Channel) {
        self.channels.withLock { channels in channels.removeAll { $0 === channel } }
    }
}

/// Tells `Strangers` when a connection begins and ends.
final class StrangerHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let strangers: Strangers

    init(_ strangers: Strangers) { self.strangers = strangers }

    func handlerAdded(context: ChannelHandlerContext) { self.strangers.connected(context.channel) }

    func channelInactive(context: ChannelHandlerContext) {
        self.strangers.left(context.channel)
        context.fireChannelInactive()
    }
}
