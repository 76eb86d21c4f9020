package import RecordModel
package import WireProtocol

/// Where a client connects and as whom.
package struct ClientConfiguration: Sendable {
    package enum Trust: Hashable, Sendable {
        /// The system's certificate authorities.
        case system
        /// A file with certificate authorities in PEM.
        case authorities(file: String)
        /// Certificate authorities in PEM.
        case pem(String)
    }

    package var host: String
    package var port: Int
    package var trust: Trust
    package var container: String
    package var environment: Environment
    package var credential: ClientCredential
    /// 16 bytes that name this installation, or none.
    package var installationID: [UInt8]
    package var windows: Windows
    /// Longest wait for TCP, TLS and the handshake together.
    package var connectTimeout: Duration
    /// First and longest pause between attempts to connect; each is doubled and jittered.
    package var backoffMin: Duration
    package var backoffMax: Duration

    package init(
        host: String,
        port: Int = ProtocolVersion.defaultPort,
        trust: Trust = .system,
        container: String,
        environment: Environment = .development,
        accessToken: String? = nil
    ) {
        self.host = host
        self.port = port
        self.trust = trust
        self.container = container
        self.environment = environment
        self.credential = accessToken.map { .token($0) } ?? .nobody
        self.installationID = []
        self.windows = .defaults
        self.connectTimeout = .seconds(10)
        self.backoffMin = .milliseconds(50)
        self.backoffMax = .seconds(15)
    }
}
