/// Whether a user is signed in.
public enum CKAccountStatus: Int, Sendable {
    /// The server could not be asked; the error says why.
    case couldNotDetermine = 0
    /// A user is signed in: the server has accepted the access token.
    case available = 1
    /// Never told by a Tidemark server.
    case restricted = 2
    /// No access token is configured, or the server does not accept it (any more).
    case noAccount = 3
    /// The server takes no connections for the moment.
    case temporarilyUnavailable = 4
}
