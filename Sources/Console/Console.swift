import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
package import RecordStore
import ServiceLifecycle
import UnixSignals

/// The web console of a store: pages over HTTP for the browser of the operator who started it.
///
/// It reads through the store. A browser with a session reads every record, as the command line does.
package struct Console: Sendable {
    /// The address of the console, and the path of the link that opens it.
    package struct Running: Hashable, Sendable {
        /// `nil` on a Unix socket.
        package var port: Int?
        /// The name in the URLs of the console, which no other one answers to.
        package var host: String
        package var linkPath: String
    }

    private static let maxConnections = 64
    private static let headerBytesMax = 16 * 1_024

    private let pages: ConsolePages
    private let configuration: ConsoleConfiguration
    private let secret: String
    private let host = ConsoleHost()

    package init(_ store: Store, configuration: ConsoleConfiguration) {
        self.secret = Secret.make()
        self.configuration = configuration
        self.pages = ConsolePages(
            store: store,
            configuration: configuration,
            sessions: Sessions(secret: self.secret, now: configuration.now)
        )
    }

    /// Serves until a signal, or until too many guessed at the link.
    ///
    /// Calls `isRunning` when connections are taken.
    ///
    /// - Returns: Why it ended.
    /// - Throws: `ConsoleFailure` if the address can't be had.
    package func run(isRunning: @escaping @Sendable (Running) -> Void) async throws -> ConsoleEnd {
        let stop = StopService()
        let port = BoundPort()
        let strangers = Strangers()
        let (bind, otherLoopback) = try self.address()
        defer { otherLoopback?.close() }
        var logger = Logger(label: "tidemark.console")
        logger.logLevel = .error
        let router = ConsoleRouter(
            pages: self.pages,
            strangers: strangers,
            host: self.host,
            port: port,
            checksPort: self.configuration.address.isLoopback,
            stop: { stop.stop() }
        ).router()
        let running = Running(port: nil, host: self.host.name, linkPath: ConsoleRouter.linkPath(self.secret))
        let application = Application(
            router: router,
            server: .http1(
                configuration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [StrangerHandler(strangers)],
                    idleTimeout: .seconds(60),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: Self.headerBytesMax,
                        maxHeaderListSize: Self.headerBytesMax,
                        maxHeaderFieldCount: 100
                    )
                )
            ),
            configuration: ApplicationConfiguration(
                address: bind,
                availableConnectionsDelegate: MaximumAvailableConnections(Self.maxConnections)
            ),
            onServerRunning: { channel in
                let taken = channel.localAddress?.port
                port.taken(taken)
                var running = running
                running.port = taken
                isRunning(running)
            },
            logger: logger
        )
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: application), .init(service: self.pages.backupJobs),
                    .init(service: stop, successTerminationBehavior: .gracefullyShutdownGroup),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        do {
            try await group.run()
        } catch let error as IOError {
            throw error.errnoCode == EADDRINUSE
                ? ConsoleFailure.addressInUse : ConsoleFailure.refused(errno: error.errnoCode)
        }
        self.pages.uploads.removeAll()
        return stop.wasStopped ? .guessed : .stopped
    }

    /// The address to listen on, and the same port of [::1], which no other process may have meanwhile.
    private func address() throws(ConsoleFailure) -> (BindAddress, OtherLoopback?) {
        switch self.configuration.address {
        case .loopback(let port):
            let other = try OtherLoopback(port: port)
            return (.hostname("127.0.0.1", port: other.port), other)
        case .socket(let path):
            try SocketFile.free(path)
            return (.unixDomainSocket(path: path), nil)
        }
    }
}

extension ConsoleConfiguration.Address {
    fileprivate var isLoopback: Bool {
        switch self {
        case .loopback: true
        case .socket: false
        }
    }
}
