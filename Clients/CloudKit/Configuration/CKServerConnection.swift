private import Synchronization

/// Where a server is and who connects to it.
///
/// Beyond Apple's surface: there a system's settings say it.
///
/// Code that knows nothing of this type takes its connection from the environment: `TIDEMARK_URL`, `TIDEMARK_TOKEN`,
/// `TIDEMARK_SERVICE_KEY` (the path of a service's key in PEM) with `TIDEMARK_ON_BEHALF_OF`, `TIDEMARK_CA`, `TIDEMARK_ENVIRONMENT`, and `TIDEMARK_SCHEMA` for the path of a schema. Nothing is checked here: what is wrong is told by the first request, as
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
    /// The access token of a user, as `tidemark user add` printed it, or a JSON Web Token of an identity provider that the server
    /// trusts; `nil`, with no other credential: nobody is signed in, and only public databases can be read.
    public var token: String?
    /// The key of a service, in place of a token; `nil`: none.
    public var serviceKey: ServiceKey?
    /// Gives tokens when one is needed, in place of a token; `nil`: none does.
    public var tokenProvider: TokenProvider?
    /// Whom to believe.
    public var certificateAuthority: CertificateAuthority
    /// Which data.
    public var environment: Environment
    /// The schema that the code was built for, in the CloudKit Schema Language; `nil`: whatever the server has will do.
    ///
    /// A server whose schema lacks something of it gets no request: every one fails with an error that names all that is missing. It
    /// is asked again at the next request, so that a deployment is noticed without a restart.
    public var schema: String?

    /// The folder in which files of fetched assets are kept; `nil`: the one that `TIDEMARK_CACHE` names, else `tidemark` and the program's
    /// name in the user's cache folder (`$XDG_CACHE_HOME`, `~/.cache`).
    ///
    /// Everything in it may be deleted while no program uses it.
    public var cacheFolder: String?
    /// How many bytes the folder may hold of files that no asset of a living process names, and that were not used for ten minutes.
    ///
    /// Those that were not used for longest are removed. 1 GiB.
    public var cacheBytesMax: Int64 = 1 << 30
    /// The folder in which is kept what readers of changes were told is there; `nil`: `ledgers` in the program's state folder
    /// (`$XDG_STATE_HOME`, `~/.local/state`).
    ///
    /// After a change token has expired they are told from it what is there no more, which the server can't say. Everything in it may be deleted
    /// while no program uses it; what was told before is forgotten then.
    public var ledgerFolder: String?
    /// How many bytes are kept of each zone, about 40 for a record, and of each database; 0: nothing is kept.
    ///
    /// Beyond it nothing is kept of that zone until it is fetched from its beginning again. 16 MiB.
    public var ledgerBytesMax: Int64 = 16 << 20

    /// Which of several installations of this program on this machine connects; `nil` if there is one.
    ///
    /// What one of them has taken care of is still news to another.
    package var installationName: String?

    /// Describes a connection; makes none.
    ///
    /// - Parameters:
    ///   - url: `tidemark://host:port`; without a port 7430.
    ///   - token: The access token of a user, or `nil`.
    ///   - certificateAuthority: Whom to believe.
    ///   - environment: Which data.
    ///   - schema: The schema that the code was built for, or `nil`.
    public init(
        url: String,
        token: String? = nil,
        certificateAuthority: CertificateAuthority = .system,
        environment: Environment = .development,
        schema: String? = nil
    ) {
        self.url = url
        self.token = token
        self.certificateAuthority = certificateAuthority
        self.environment = environment
        self.schema = schema
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
