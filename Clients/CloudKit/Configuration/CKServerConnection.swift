private import Synchronization

/// Where a server is and who connects to it.
///
/// Beyond Apple's surface: there a system's settings say it.
///
/// Code that knows nothing of this type takes its connection from the environment: `TIDEMARK_URL`, `TIDEMARK_TOKEN`,
/// `TIDEMARK_CA`, `TIDEMARK_ENVIRONMENT`. Nothing is checked here: what is wrong is told by the first request, as
/// `CKError.badContainer` with a text that names the setting.
public struct CKServerConnection: Hashable, Sendable {
    /// Whom a client believes that a server is the one it says.
    public enum CertificateAuthority: Hashable, Sendable {
        /// The authorities that the system trusts.
        case system
        /// The authorities in a file, in PEM. A server without a certificate of its own prints the path of one.
        case file(String)
        /// Authorities in PEM.
        case pem(String)
    }

    /// Which of a container's two bodies of data is meant.
    public enum Environment: String, Hashable, Sendable {
        /// Where record types and fields may still change.
        case development
        /// What users have.
        case production
    }

    /// `tidemark://host:port`; without a port 7430.
    public var url: String
    /// The access token of a user, as `tidemark user add` printed it; `nil`: nobody is signed in, and only public
    /// databases can be read.
    public var token: String?
    /// Whom to believe.
    public var certificateAuthority: CertificateAuthority
    /// Which data.
    public var environment: Environment

    /// Describes a connection; makes none.
    ///
    /// - Parameters:
    ///   - url: `tidemark://host:port`; without a port 7430.
    ///   - token: The access token of a user, or `nil`.
    ///   - certificateAuthority: Whom to believe.
    ///   - environment: Which data.
    public init(
        url: String,
        token: String? = nil,
        certificateAuthority: CertificateAuthority = .system,
        environment: Environment = .development
    ) {
        self.url = url
        self.token = token
        self.certificateAuthority = certificateAuthority
        self.environment = environment
    }

    private static let chosenDefault = Mutex<CKServerConnection?>(nil)

    /// The connection of every container that was not given one; `nil`: the environment's.
    ///
    /// To be set before the first request. A container keeps the connection of its first request.
    public static var `default`: CKServerConnection? {
        get { self.chosenDefault.withLock { $0 } }
        set { self.chosenDefault.withLock { $0 = newValue } }
    }
}
