private import Synchronization

/// The address of a server, and the credential to connect with.
///
/// Beyond Apple's API, where the system's settings have them.
///
/// ```swift
/// var connection = CKServerConnection(url: "tidemark://records.example.org")
/// connection.serviceKey = .init(.file("/etc/notes/service.pem"))
/// connection.certificateAuthority = .file("/etc/notes/ca.pem")
/// let container = CKContainer(identifier: "iCloud.org.example.notes", connection: connection)
/// ```
///
/// Code that does not use this type takes its connection from the environment: `TIDEMARK_URL`,
/// `TIDEMARK_TOKEN`, `TIDEMARK_SERVICE_KEY` (the path of a service's key in PEM) with
/// `TIDEMARK_ON_BEHALF_OF`, `TIDEMARK_CA`, `TIDEMARK_ENVIRONMENT`, and `TIDEMARK_SCHEMA` (the path
/// of a schema). Nothing is checked here. If a setting is wrong, the first request fails with
/// `CKError.badContainer` and a text that names the setting.
///
/// - Source: beyond Apple.
public struct CKServerConnection: Hashable, Sendable {
    /// The certificate authorities that a client trusts.
    public enum CertificateAuthority: Hashable, Sendable {
        /// The authorities of the system.
        case system
        /// The authorities in a PEM file; a server without a certificate of its own prints the path
        /// of one.
        case file(String)
        /// The authorities in a PEM text.
        case pem(String)
    }

    /// Which of a container's two sets of data is meant.
    public enum Environment: String, Hashable, Sendable {
        /// The data of developers: record types and fields may still change.
        case development
        /// The data of users.
        case production
    }

    /// The address of the server, `tidemark://host:port`; the default port is 7430.
    public var url: String
    /// The access token of a user, as `tidemark user add` printed it, or a JSON Web Token of an
    /// identity provider that the server trusts.
    ///
    /// If it is `nil` and there is no other credential, no user is signed in, and only public
    /// databases can be read.
    public var token: String?
    /// The key of a service, instead of a token; `nil` if there is none.
    public var serviceKey: ServiceKey?
    /// Supplies tokens on demand, instead of `token`; `nil` if there is no provider.
    public var tokenProvider: TokenProvider?
    /// The certificate authorities that the client trusts.
    public var certificateAuthority: CertificateAuthority
    /// Which of the container's two sets of data is used.
    public var environment: Environment
    /// The schema that the code was built for, in the CloudKit Schema Language; `nil` if any schema
    /// will do.
    ///
    /// If the server's schema lacks a part of it, the SDK sends no request. Each request fails with
    /// an error that names all that is missing, and asks the server again first. So a deployment is
    /// noticed without a restart.
    public var schema: String?

    /// The folder for files of fetched assets; `nil` if the default is used.
    ///
    /// The default is the folder in `TIDEMARK_CACHE`, else `tidemark` and the program's name in the
    /// user's cache folder (`$XDG_CACHE_HOME`, `~/.cache`). Everything in it may be deleted while
    /// no program uses it.
    public var cacheFolder: String?
    /// How many bytes of unused files the cache folder may hold: 1 GiB by default.
    ///
    /// A file is unused if no asset of a living process names it, and if it was not used for ten
    /// minutes. The least recently used files are removed first.
    public var cacheBytesMax: Int64 = 1 << 30
    /// The folder for the ledgers of change feeds; `nil` if it is `ledgers` in the program's state
    /// folder (`$XDG_STATE_HOME`, `~/.local/state`).
    ///
    /// A ledger has the names of the records that readers have got. After a change token has
    /// expired, the SDK compares the zone with it and reports the vanished records as deleted,
    /// which the server can't do. Everything in the folder may be deleted while no program uses it;
    /// the SDK then no longer knows what it reported before.
    public var ledgerFolder: String?
    /// The largest size of the ledger of each zone, and of each database: 16 MiB by default, 0 for
    /// no ledger.
    ///
    /// A record takes about 40 bytes. Beyond this size nothing is kept of a zone until it is
    /// fetched from its beginning again.
    public var ledgerBytesMax: Int64 = 16 << 20

    /// Which of several installations of this program on this machine connects; `nil` if there is
    /// only one.
    ///
    /// A notification that one of them has acknowledged is still delivered to the others.
    package var installationName: String?

    /// How long the connection stays open after the last container that used it was released.
    package var lingerSeconds = 60

    /// Describes a connection; does not connect.
    ///
    /// - Parameters:
    ///   - url: `tidemark://host:port`; the default port is 7430.
    ///   - token: The access token of a user, or `nil`.
    ///   - certificateAuthority: The certificate authorities that the client trusts.
    ///   - environment: Which of the container's two sets of data is used.
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

    /// The connection of every container that was not given one; `nil` if the environment's is
    /// used.
    ///
    /// Set it before the first request: a container keeps the connection of its first request.
    public static var `default`: CKServerConnection? {
        get { self.chosenDefault.withLock { $0 } }
        set { self.chosenDefault.withLock { $0 = newValue } }
    }
}
