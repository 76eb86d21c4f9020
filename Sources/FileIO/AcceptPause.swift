package import NIOCore

/// The pause of a listener while the system has no room for another connection, such as a file
/// descriptor.
///
/// It accepts nobody for a moment, instead of trying again at once: connections wait in the
/// kernel's queue, and the event loop serves the others.
///
/// NIO's handler for this holds back reads that are asked for. One that failed goes on being asked
/// for, and then the loop finds the listener ready without end. So this one turns reads off.
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
        // A listener that is closed meanwhile takes no options.
        try? listener.syncOptions?.setOption(.autoRead, value: false)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            try? listener.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}
