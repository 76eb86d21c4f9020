package import NIOCore

/// Pauses a listener while the system has no resources for another connection, such as a file
/// descriptor.
///
/// It accepts no connection for a moment, instead of retrying at once: connections wait in the
/// kernel's queue, and the event loop serves the others.
///
/// NIO's handler for this delays read requests. After a failed accept the read stays requested, and
/// the loop finds the listener ready without end. So this handler turns reads off.
package final class AcceptPause: ChannelInboundHandler {
    package typealias InboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(100)

    private let report: (IOError) -> Void

    /// - Parameter report: Called with each failure, on the event loop.
    package init(report: @escaping (IOError) -> Void) {
        self.report = report
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError else { return context.fireErrorCaught(error) }
        self.report(error)
        let listener = context.channel
        // A listener that was closed meanwhile takes no options.
        try? listener.syncOptions?.setOption(.autoRead, value: false)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            try? listener.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}
