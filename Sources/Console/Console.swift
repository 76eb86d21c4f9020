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
        package var linkPath: String
    }

    private static let maxConnections = 64
    private static let headerBytesMax = 16 * 1_024

    private let pages: ConsolePages
    private let configuration: ConsoleConfiguration
    private let secret: String

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
        if case .socket(let path) = self.configuration.address { try SocketFile.free(path) }
        var logger = Logger(label: "tidemark.console")
        logger.logLevel = .error
        let router = ConsoleRouter(
            pages: self.pages,
            port: port,
            checksPort: self.configuration.address.isLoopback,
            stop: { stop.stop() }
        ).router()
        let linkPath = ConsoleRouter.linkPath(self.secret)
        let application = Application(
            router: router,
            server: .http1(
                configuration: HTTP1Channel.Configuration(
                    idleTimeout: .seconds(60),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: Self.headerBytesMax,
                        maxHeaderListSize: Self.headerBytesMax,
                        maxHeaderFieldCount: 100
                    )
                )
            ),
            configuration: ApplicationConfiguration(
                address: self.configuration.address.bind,
                availableConnectionsDelegate: MaximumAvailableConnections(Self.maxConnections)
            ),
            onServerRunning: { channel in
                let taken = channel.localAddress?.port
                port.taken(taken)
                isRunning(Running(port: taken, linkPath: linkPath))
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
}

extension ConsoleConfiguration.Address {
    fileprivate var isLoopback: Bool {
        switch self {
        case .loopback: true
        case .socket: false
        }
    }

    fileprivate var bind: BindAddress {
        switch self {
        case .loopback(let port): .hostname("127.0.0.1", port: port)
        case .socket(let path): .unixDomainSocket(path: path)
        }
    }
}
